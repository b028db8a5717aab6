"""What the checks of packages have in common: their arguments, what they print, and how they end."""

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
    """The exit code: 1 if anything is wrong.

    Args:
        usage: What `--help` says.
        kind: What one of the files is called.
        pattern: Which files those are.
        faults: What is wrong with one of them.
        incomplete: What a release of a tag lacks, or has too much.
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
