"""The command line."""

def main(arguments: list[str]) -> int:
    """Runs the command line, of which the first word is the name of the program. Returns the exit code."""
