"""Writes the SBOM of a package, in CycloneDX: sbom.py PACKAGE [--target TRIPLE]... FILE.

PACKAGE is `wheel`, `npm`, `npm/platforms/PLATFORM`, `program` or the name of a published crate. The SBOM lists the crates
that the package links, without macros, build scripts and tests. Wheels and programs have targets, by default this machine.
Users of a published crate choose platform and features: its SBOM has all, and marks what only a feature links as optional.

`cargo tree` selects crates as a build does. Tools over `cargo metadata` add the features of the whole workspace:
cargo-cyclonedx lists 282 crates for a wheel with 42, and paths of this machine.
"""

import argparse
import json
import subprocess
import tomllib
import uuid
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.contrib.this.builders import this_component
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

ROOT = Path(__file__).parents[1]
WASM = ["wasm32-unknown-unknown"]
# Each feature is a module.
MODULES = ["snowmint-wasm"]
# The targets of npm's addons, which are all platforms of a release.
ADDONS = {
    "darwin-arm64": "aarch64-apple-darwin",
    "darwin-x64": "x86_64-apple-darwin",
    "linux-arm64-gnu": "aarch64-unknown-linux-gnu",
    "linux-arm64-musl": "aarch64-unknown-linux-musl",
    "linux-x64-gnu": "x86_64-unknown-linux-gnu",
    "linux-x64-musl": "x86_64-unknown-linux-musl",
    "win32-arm64-msvc": "aarch64-pc-windows-msvc",
    "win32-x64-msvc": "x86_64-pc-windows-msvc",
}
# The service contains the inspector.
INSPECTOR = [*MODULES, "snowmint-fleet-wasm"]


def output(*words: str) -> str:
    """Returns the output of a command in the repository."""
    return subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


class Crates:
    """The linked crates, as NAME@VERSION.

    Attributes:
        licences: The SPDX expression of each crate.
        links: The crates that each crate links.
        roots: The crates that no other crate brought.
    """

    def __init__(self) -> None:
        self.licences: dict[str, str] = {}
        self.links: defaultdict[str, set[str]] = defaultdict(set)
        self.roots: set[str] = set()

    def add(self, crates: Iterable[str], targets: Iterable[str], *options: str) -> None:
        """Adds crates of the workspace and all that they link on some targets."""
        words = [*(f"--package={crate}" for crate in crates), *(f"--target={target}" for target in targets), *options]
        tree = output(
            "cargo", "tree", "--locked", "--edges=normal,no-proc-macro", "--prefix=depth", "--format=|{p}|{l}|", *words
        )
        above: list[str] = []
        # Such as "2|aes v0.9.4|MIT OR Apache-2.0|". Crates of the workspace have their folder behind the version.
        for line in filter(None, tree.splitlines()):
            depth, package, licence, _ = line.split("|")
            crate = "@".join(package.split()[:2]).replace("@v", "@")
            # An old form of `OR`.
            self.licences[crate] = licence.replace("/", " OR ")
            above[int(depth) :] = [crate]
            if len(above) == 1:
                self.roots.add(crate)
            else:
                self.links[above[-2]].add(crate)


def sbom(package: str, targets: list[str]) -> Bom:
    """Makes the SBOM of a package."""
    workspace = json.loads(output("cargo", "metadata", "--locked", "--no-deps", "--format-version=1"))["packages"]
    published = {each["name"] for each in workspace if each["publish"] is None}
    (facade,) = (each for each in workspace if each["name"] == "snowmint")
    version, licence = facade["version"], facade["license"]
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    checksums = {f"{each['name']}@{each['version']}": each["checksum"] for each in locked if "checksum" in each}
    licences = LicenseFactory()

    def component(kind: str, name: str, version: str, licence: str, **further: Any) -> Component:
        return Component(
            bom_ref=f"{kind}:{name}@{version}",
            name=name,
            version=version,
            licenses=[licences.make_from_string(licence)],
            **{"purl": PackageURL(kind, name=name, version=version), **further},
        )

    crates = Crates()
    addons: list[Component] = []
    if package == "wheel":
        made = component("pypi", "snowmint", version, licence)
        crates.add(["snowmint-python"], targets)
    elif package == "npm":
        made = component("npm", "snowmint", version, licence)
        crates.add(MODULES, WASM, "--all-features")
        needed = json.loads((ROOT / "npm/package.json").read_text())["optionalDependencies"]
        addons = [component("npm", each, needed[each], licence, scope=ComponentScope.OPTIONAL) for each in needed]
    elif package.startswith("npm/platforms/"):
        platform = Path(package).name
        made = component("npm", f"snowmint-{platform}", version, licence)
        crates.add(["snowmint-node"], [ADDONS[platform]])
    elif package == "program":
        made = component("generic", "snowmint", version, licence, type=ComponentType.APPLICATION)
        crates.add(["snowmint-server"], targets, "--features=etcd")
        crates.add(INSPECTOR, WASM, "--all-features")
    else:
        made = component("cargo", package, version, licence)
        crates.add([package], ADDONS.values())
        if package == "snowmint-server":
            crates.add(INSPECTOR, WASM, "--all-features")
    always = set(crates.licences)
    if package in published:
        crates.add([package], ADDONS.values(), "--all-features")
        # The package is its first crate.
        own = f"{package}@{version}"
        crates.roots = crates.roots - {own} | crates.links[own]
        del crates.licences[own]

    def linked(crate: str) -> Component:
        name, version = crate.split("@")
        further: dict[str, Any] = {}
        if crate in checksums:
            further["hashes"] = [HashType(alg=HashAlgorithm.SHA_256, content=checksums[crate])]
        elif name not in published:
            further["purl"] = None  # it has no page to lead to
        scope = ComponentScope.REQUIRED if crate in always else ComponentScope.OPTIONAL
        return component("cargo", name, version, crates.licences[crate], scope=scope, **further)

    parts = {crate: linked(crate) for crate in crates.licences}
    bom = Bom(components=[*parts.values(), *addons])
    # The same sources make the same file.
    made_at = output("git", "log", "-1", "--format=%cI").strip()
    bom.metadata.timestamp = datetime.fromisoformat(made_at)
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, " ".join([made_at, made.bom_ref.value or "", *sorted(parts)]))
    bom.metadata.component = made
    bom.metadata.tools.components.add(this_component())
    bom.register_dependency(made, [*(parts[crate] for crate in crates.roots), *addons])
    for crate, part in parts.items():
        bom.register_dependency(part, [parts[each] for each in crates.links[crate]])
    return bom


def main() -> None:
    """Writes the file if it is valid."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package")
    parser.add_argument("file", type=Path)
    parser.add_argument("--target", action="append", metavar="TRIPLE")
    options = parser.parse_args()
    targets = options.target or [output("rustc", "--print=host-tuple").strip()]
    text = JsonV1Dot6(sbom(options.package, targets)).output_as_string(indent=2)
    if fault := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise SystemExit(f"the SBOM is not valid: {fault}")
    options.file.parent.mkdir(parents=True, exist_ok=True)
    options.file.write_text(f"{text}\n")


if __name__ == "__main__":
    main()
