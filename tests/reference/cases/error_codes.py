"""errors.json: every error kind."""

from cases import Case
from errors import CODES

COMMENT = "The error kinds. name: when it is raised. code: the same word in every language."


def cases() -> list[Case]:
    return [{"name": meaning, "code": code} for code, meaning in CODES.items()]
