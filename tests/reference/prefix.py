"""Prefixed IDs: TypeIDs of UUIDs (specification 0.3.0), and the same form for 64-bit IDs."""

import re

from errors import Refused

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
# Characters and bits of the value.
ID = (13, 64)
UUID = (26, 128)

# As the specification writes it.
_PREFIX = re.compile(r"([a-z]([a-z_]{0,61}[a-z])?)?")


def check(prefix: str) -> str:
    """Returns a prefix; INVALID_TEXT for any other text."""
    if not _PREFIX.fullmatch(prefix):
        raise Refused("INVALID_TEXT")
    return prefix


def encode(prefix: str, value: int, shape: tuple[int, int]) -> str:
    """The text of a value with this shape."""
    start = f"{check(prefix)}_" if prefix else ""
    characters = ""
    for _ in range(shape[0]):
        value, digit = divmod(value, 32)
        characters = ALPHABET[digit] + characters
    return start + characters


def parse(text: str, shape: tuple[int, int]) -> tuple[str, int]:
    """The prefix and the value of a text with any prefix."""
    width, bits = shape
    start, characters = text[:-width], text[-width:]
    if start == "_" or start[-1:] not in ("", "_"):
        raise Refused("INVALID_TEXT")
    prefix = check(start[:-1])
    if len(characters) != width or not set(characters) <= set(ALPHABET):
        raise Refused("INVALID_TEXT")
    value = 0
    for character in characters:
        value = value * 32 + ALPHABET.index(character)
    if value >= 2**bits:
        raise Refused("INVALID_TEXT")
    return prefix, value


def decode(prefix: str, text: str, shape: tuple[int, int]) -> int:
    """The value of a text with this prefix."""
    given, value = parse(text, shape)
    if given != check(prefix):
        raise Refused("INVALID_TEXT")
    return value
