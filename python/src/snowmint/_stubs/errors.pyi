"""The functions of the exceptions."""

def error_classes() -> list[tuple[str, str]]:
    """Lists the code of every error kind with the name of its exception."""

def shown(text: str) -> str:
    """Escapes the control and format characters of a text that another party wrote, as errors show it."""
