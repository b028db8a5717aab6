"""Checks the wheels that users would download: check_wheels.py [--release TAG] DIRECTORY.

Each wheel is small, typed, licensed, needs no other package, has an SBOM, and is of one version. With a tag it is that
version's, and there is a wheel for each platform, and an sdist.
"""

import email
import sys
import zipfile
from pathlib import Path

from checking import check, sbom_faults

LIMIT = 1_000_000
NEEDED = ["snowmint/__init__.py", "snowmint/__main__.py", "snowmint/_stubs/layouts.pyi", "snowmint/py.typed"]
LICENSES = ["LICENSE-APACHE", "LICENSE-MIT"]
PYTHONS = ["cp311-abi3", "cp314-cp314t"]
PLATFORMS = [
    "manylinux_2_17_x86_64",
    "manylinux_2_17_aarch64",
    "musllinux_1_2_x86_64",
    "musllinux_1_2_aarch64",
    "macosx_*_x86_64",
    "macosx_*_arm64",
    "win_amd64",
    "win_arm64",
]


def faults(wheel: Path) -> list[str]:
    """Lists the faults of a wheel."""
    size = wheel.stat().st_size
    found = [f"{size} bytes, which is not below {LIMIT}"] if size >= LIMIT else []
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        ends = {each.partition(".dist-info/")[2]: archive.read(each) for each in names if ".dist-info/" in each}
    metadata = email.message_from_bytes(ends["METADATA"])
    missing = [name for name in NEEDED if name not in names]
    missing += [name for name in LICENSES if f"licenses/{name}" not in ends]
    required = [each for each in metadata.get_all("Requires-Dist", []) if "extra ==" not in each]
    found += [f"without {name}" for name in missing] + [f"requires {each}" for each in required]
    return found + sbom_faults(ends.get("sboms/snowmint.cdx.json"), f"pkg:pypi/snowmint@{metadata['Version']}", "pyo3")


def incomplete(directory: Path, tag: str) -> list[str]:
    """Lists the files that a release of that tag lacks, or has in excess."""
    version = tag.removeprefix("v")
    wanted = [f"snowmint-{version}-{python}-*{platform}*.whl" for python in PYTHONS for platform in PLATFORMS]
    wanted.append(f"snowmint-{version}.tar.gz")
    found = {pattern: list(directory.glob(pattern)) for pattern in wanted}
    expected = {file for files in found.values() for file in files}
    lacking = [f"no {pattern}" for pattern, files in found.items() if not files]
    return lacking + [f"{file.name} is not of {tag}" for file in directory.iterdir() if file not in expected]


if __name__ == "__main__":
    sys.exit(check(__doc__, "wheel", "*.whl", faults, incomplete))
