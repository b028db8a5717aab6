"""The shared part of the package checks: arguments, output and exit code."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path


def sbom_faults(text: bytes | None, purl: str, crate: str) -> list[str]:
    """Lists the faults of a package's SBOM, which must name the package and one crate that the package links."""
    if text is None:
        return ["without an SBOM"]
    sbom = json.loads(text)
    found = [] if sbom["metadata"]["component"]["purl"] == purl else [f"its SBOM is not of {purl}"]
    if crate not in {each["name"] for each in sbom["components"]}:
        found.append(f"its SBOM lacks {crate}")
    return found + [f"its SBOM has {each} of a machine" for each in ("file:", '"/') if each.encode() in text]


def check(
    usage: str,
    kind: str,
    pattern: str,
    faults: Callable[[Path], list[str]],
    incomplete: Callable[[Path, str], list[str]],
) -> int:
    """Returns the exit code: 1 if anything is wrong.

    Args:
        usage: The text of `--help`.
        kind: The name of this kind of file, for messages.
        pattern: The pattern of the file names.
        faults: Lists the faults of a file.
        incomplete: Lists the files that a release of a tag lacks, or has in excess.
    """
    parser = argparse.ArgumentParser(description=usage)
    parser.add_argument("--release", metavar="TAG")
    parser.add_argument("directory", type=Path)
    options = parser.parse_args()
    files = sorted(options.directory.glob(pattern))
    wrong = [] if files else [f"there is no {kind}"]
    for file in files:
        print(f"{file.stat().st_size:>9}  {file.name}")
        wrong += [f"{file.name}: {fault}" for fault in faults(file)]
    if options.release:
        wrong += incomplete(options.directory, options.release)
    for fault in wrong:
        print(fault, file=sys.stderr)
    return 1 if wrong else 0
