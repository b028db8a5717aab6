"""Writes the SBOM of a package, in CycloneDX: sbom.py PACKAGE FILE [TARGET...].

PACKAGE is `wheel`, `npm`, `npm/platforms/PLATFORM`, `program` or the name of a published crate. The SBOM lists the crates
that the package links, without macros, build scripts and tests. Wheels and programs have targets, by default this machine.
Users of a published crate choose platform and features: its SBOM lists the crates of all features on the platforms of a release.

`cargo tree` selects crates as a build does. Tools over `cargo metadata`, such as cargo-cyclonedx and maturin, add the
features of the whole workspace: cargo-cyclonedx lists 282 crates for a wheel with 42, and paths of this machine.
"""

import json
import subprocess
import sys
import tomllib
import uuid
from collections import defaultdict
from pathlib import Path
from typing import Any

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = Path(__file__).parents[1]
WASM = ["--package=snowmint-wasm", "--target=wasm32-unknown-unknown", "--all-features"]
# The service contains the inspector.
INSPECTOR = [*WASM, "--package=snowmint-fleet-wasm"]
CPUS = {"arm64": "aarch64", "x64": "x86_64"}
SYSTEMS = {
    "darwin": "apple-darwin",
    "linux-gnu": "unknown-linux-gnu",
    "linux-musl": "unknown-linux-musl",
    "win32-msvc": "pc-windows-msvc",
}
PLATFORMS = [f"--target={cpu}-{system}" for cpu in CPUS.values() for system in SYSTEMS.values()]


def output(*words: str) -> str:
    """Returns the output of a command in the repository."""
    return subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def builds(package: str, targets: list[str]) -> list[list[str]]:
    """Returns the arguments of `cargo tree` for each build that a package contains."""
    match package.split("/"):
        case ["wheel"]:
            return [["--package=snowmint-python", *targets]]
        case ["npm"]:
            return [WASM]
        case ["npm", _, platform]:
            system, cpu, *libc = platform.split("-")
            triple = f"{CPUS[cpu]}-{SYSTEMS['-'.join([system, *libc])]}"
            return [["--package=snowmint-node", f"--target={triple}"]]
        case ["program"]:
            return [["--package=snowmint-server", "--features=etcd", *targets], INSPECTOR]
        case _:
            crate = [f"--package={package}", "--all-features", *PLATFORMS]
            return [crate, INSPECTOR] if package == "snowmint-server" else [crate]


def component(kind: str, name: str, version: str, licence: str, **further: Any) -> dict[str, Any]:
    """Describes a package or a crate."""
    return {
        "type": "library",
        "bom-ref": f"{kind}:{name}@{version}",
        "name": name,
        "version": version,
        "licenses": [{"expression": licence}],
        **further,
    }


def sbom(package: str, targets: list[str]) -> dict[str, Any]:
    """Makes the SBOM of a package."""
    workspace = json.loads(output("cargo", "metadata", "--locked", "--no-deps", "--format-version=1"))["packages"]
    private = {each["name"] for each in workspace if each["publish"] is not None}
    version, licence = next((each["version"], each["license"]) for each in workspace if each["name"] == "snowmint")
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    checksums = {(each["name"], each["version"]): each["checksum"] for each in locked if "checksum" in each}

    kind = {"wheel": "pypi", "npm": "npm", "program": "generic"}.get(package.split("/")[0], "cargo")
    name = package if kind == "cargo" else package.replace("npm/platforms/", "snowmint-").replace(package, "snowmint")
    made = component(kind, name, version, licence, purl=f"pkg:{kind}/{name}@{version}")
    parts = {made["bom-ref"]: made}
    links: defaultdict[str, set[str]] = defaultdict(set)
    if package == "npm":
        for addon, needed in json.loads((ROOT / "npm/package.json").read_text())["optionalDependencies"].items():
            part = component("npm", addon, needed, licence, purl=f"pkg:npm/{addon}@{needed}", scope="optional")
            parts[part["bom-ref"]] = part
            links[made["bom-ref"]].add(part["bom-ref"])
    for words in builds(package, targets):
        above = [made["bom-ref"]]
        tree = ["cargo", "tree", "--locked", "--edges=normal,no-proc-macro", "--prefix=depth", "--format=|{p}|{l}|"]
        # Such as "2|aes v0.9.4|MIT OR Apache-2.0|". Crates of the workspace have their folder behind the version.
        for line in filter(None, output(*tree, *words).splitlines()):
            depth, crate, terms, _ = line.split("|")
            name, number = crate.split()[0], crate.split()[1].removeprefix("v")
            further: dict[str, Any] = {} if name in private else {"purl": f"pkg:cargo/{name}@{number}"}
            if checksum := checksums.get((name, number)):
                further["hashes"] = [{"alg": "SHA-256", "content": checksum}]
            # A slash is an old form of `OR`.
            part = component("cargo", name, number, terms.replace("/", " OR "), **further)
            parts[part["bom-ref"]] = part
            above[int(depth) + 1 :] = [part["bom-ref"]]
            links[above[-2]].add(part["bom-ref"])

    # The same sources make the same file.
    made_at = output("git", "log", "-1", "--format=%cI").strip()
    serial = uuid.uuid5(uuid.NAMESPACE_URL, " ".join([made_at, *sorted(parts)]))
    made = parts.pop(made["bom-ref"])
    links[made["bom-ref"]].discard(made["bom-ref"])
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "metadata": {"timestamp": made_at, "component": made},
        "components": [parts[each] for each in sorted(parts)],
        "dependencies": [{"ref": each, "dependsOn": sorted(links[each])} for each in sorted(links)],
    }


def main() -> None:
    """Writes the file if it is valid."""
    package, file, *targets = sys.argv[1:]
    targets = targets or [output("rustc", "--print=host-tuple").strip()]
    text = json.dumps(sbom(package, [f"--target={target}" for target in targets]), indent=2)
    if fault := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise SystemExit(f"the SBOM is not valid: {fault}")
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    Path(file).write_text(f"{text}\n")


if __name__ == "__main__":
    main()
