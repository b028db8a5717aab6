"""The shared part of the package checks: arguments, output and exit code."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path


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
