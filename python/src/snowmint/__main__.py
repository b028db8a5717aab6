"""The command line: `snowmint`, or `python -m snowmint`."""

import signal
import sys

from snowmint import _snowmint


def main() -> int:
    """Runs the command line of this process. Returns the exit code."""
    # Python's handler would wait for the end of the verb.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _snowmint.main(["snowmint", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
