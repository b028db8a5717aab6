"""Checks the npm tarballs that users would download: check_npm.py [--release TAG] DIRECTORY.

Each is small, licensed, needs no package of others, has an SBOM, and is of one version, and snowmint names all of its
platforms. With a tag it is that version's, and there is a tarball for each platform.
"""

import json
import sys
import tarfile
from pathlib import Path
from typing import Any

from checking import check, sbom_faults

PLATFORMS: dict[str, dict[str, list[str]]] = {
    "darwin-arm64": {"os": ["darwin"], "cpu": ["arm64"]},
    "darwin-x64": {"os": ["darwin"], "cpu": ["x64"]},
    "linux-arm64-gnu": {"os": ["linux"], "cpu": ["arm64"], "libc": ["glibc"]},
    "linux-arm64-musl": {"os": ["linux"], "cpu": ["arm64"], "libc": ["musl"]},
    "linux-x64-gnu": {"os": ["linux"], "cpu": ["x64"], "libc": ["glibc"]},
    "linux-x64-musl": {"os": ["linux"], "cpu": ["x64"], "libc": ["musl"]},
    "win32-arm64-msvc": {"os": ["win32"], "cpu": ["arm64"]},
    "win32-x64-msvc": {"os": ["win32"], "cpu": ["x64"]},
}
# Each wasm module is there as a file and as a text for either kind of JavaScript module.
LIMIT = 850_000
# An addon has the command line.
ADDON_LIMIT = 1_150_000
SBOM = "snowmint.cdx.json"
LICENSES = {"LICENSE-APACHE", "LICENSE-MIT"}
MAIN = {
    "README.md",
    "dist/cli.mjs",
    "dist/node.mjs",
    "dist/node.cjs",
    "dist/browser.mjs",
    "dist/edge.mjs",
    "dist/edge-light.mjs",
    "dist/stores.node.mjs",
    "dist/stores.node.cjs",
    "dist/stores.browser.mjs",
    "dist/stores.edge.mjs",
    "dist/stores/index.d.ts",
    "stores/package.json",
    "dist/stores.cloudflare.mjs",
    "dist/stores/cloudflare.d.ts",
    "stores/cloudflare/package.json",
    "dist/stores.deno.mjs",
    "dist/stores.deno.cjs",
    "dist/stores/deno.d.ts",
    "stores/deno/package.json",
    "dist/sql.node.mjs",
    "dist/sql.node.cjs",
    "dist/sql.browser.mjs",
    "dist/sql.edge.mjs",
    "dist/sql/index.d.ts",
    "sql/package.json",
    "dist/lease.wasm",
    "dist/mint.wasm",
    "dist/sql.wasm",
    "dist/tools.wasm",
    "dist/index.d.ts",
}


def read(tarball: Path) -> tuple[dict[str, Any], bytes | None, set[str]]:
    """Reads a tarball's package.json, its SBOM, and the names of its files."""
    with tarfile.open(tarball) as archive:
        names = {name.removeprefix("package/") for name in archive.getnames()}
        manifest, sbom = (
            file.read() if name in names and (file := archive.extractfile(f"package/{name}")) else None
            for name in ("package.json", SBOM)
        )
        assert manifest is not None
        return json.loads(manifest), sbom, names


def faults(tarball: Path) -> list[str]:
    """Lists the faults of a tarball."""
    manifest, sbom, names = read(tarball)
    name, version = manifest["name"], manifest["version"]
    size, limit = tarball.stat().st_size, LIMIT if name == "snowmint" else ADDON_LIMIT
    found = [f"{size} bytes, which is not below {limit}"] if size >= limit else []
    if name == "snowmint":
        needed = MAIN | LICENSES
        wanted = {f"snowmint-{platform}": version for platform in PLATFORMS}
        if manifest.get("optionalDependencies") != wanted:
            found.append("its optional dependencies are not the platforms of its version")
    else:
        platform = name.removeprefix("snowmint-")
        needed = {f"snowmint.{platform}.node"} | LICENSES
        if {key: manifest[key] for key in ("os", "cpu", "libc") if key in manifest} != PLATFORMS.get(platform):
            found.append("its os, cpu and libc are not those of its name")
    found += [f"requires {each}" for each in manifest.get("dependencies", {})]
    found += [f"without {each}" for each in sorted(needed - names)]
    crate = "snowmint-wasm" if name == "snowmint" else "napi"
    return found + sbom_faults(sbom, f"pkg:npm/{name}@{version}", crate)


def incomplete(directory: Path, tag: str) -> list[str]:
    """Lists the files that a release of that tag lacks, or has in excess."""
    version = tag.removeprefix("v")
    names = ["snowmint", *(f"snowmint-{platform}" for platform in PLATFORMS)]
    wanted = {f"{name}-{version}.tgz" for name in names}
    found = {file.name for file in directory.iterdir()}
    return [f"no {name}" for name in sorted(wanted - found)] + [
        f"{name} is not of {tag}" for name in sorted(found - wanted)
    ]


if __name__ == "__main__":
    sys.exit(check(__doc__, "tarball", "*.tgz", faults, incomplete))
