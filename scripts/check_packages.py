"""Checks the packages that users would download: check_packages.py DIRECTORY [TAG COUNT].

Each wheel and npm tarball is small, has both licences, and has an SBOM of itself that names no path of a machine. For a
release the directory has COUNT files, all of the version of TAG.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

# A wheel and an addon have the command line, and a wheel a runtime for numbers. The npm package has each wasm module as a file and as a
# text for either kind of JavaScript module.
LIMITS = {"snowmint-*.whl": 1_850_000, "snowmint-[0-9]*.tgz": 1_200_000, "snowmint-[a-z]*.tgz": 1_150_000}
SBOM = "snowmint.cdx.json"


def faults(file: Path, limit: int) -> list[str]:
    """Lists the faults of a package."""
    with tempfile.TemporaryDirectory() as directory:
        shutil.unpack_archive(file, directory, "zip" if file.suffix == ".whl" else "gztar")
        found = {path.name: path.read_bytes() for path in Path(directory).rglob("*") if path.is_file()}
    wrong = [f"lacks {name}" for name in ("LICENSE-APACHE", "LICENSE-MIT", SBOM) if name not in found]
    if file.stat().st_size >= limit:
        wrong.append(f"{file.stat().st_size} bytes, which is not below {limit}")
    if text := found.get(SBOM):
        sbom = json.loads(text)
        made = sbom["metadata"]["component"]
        if not file.name.startswith(f"{made['name']}-{made['version']}") or not sbom["components"]:
            wrong.append(f"its SBOM is of {made['purl']}, with {len(sbom['components'])} crates")
        wrong += [f"its SBOM has {each} of a machine" for each in ("file:", '"/') if each.encode() in text]
    return wrong


def main() -> int:
    """Returns 1 if anything is wrong."""
    directory = Path(sys.argv[1])
    limits = {file: limit for pattern, limit in LIMITS.items() for file in sorted(directory.rglob(pattern))}
    wrong = [] if limits else [f"no package in {directory}"]
    for file, limit in limits.items():
        print(f"{file.stat().st_size:>9}  {file.name}")
        wrong += [f"{file.name}: {fault}" for fault in faults(file, limit)]
    if len(sys.argv) > 2:
        tag, count = sys.argv[2], int(sys.argv[3])
        names = [file.name for file in directory.iterdir()]
        wrong += [f"{name} is not of {tag}" for name in names if f"-{tag.removeprefix('v')}" not in name]
        wrong += [f"{len(names)} files instead of {count}"] if len(names) != count else []
    for fault in wrong:
        print(fault, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
