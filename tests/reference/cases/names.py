"""names.json: new names of keys, tags, sequences and tickets. The standard library knows the characters."""

import unicodedata

from cases import Case
from cases.shown import HIDDEN

COMMENT = (
    "Names of keys, segment tags, sequences, tickets and sets of users. key: the name as a part of a key of the store. error: "
    "the code, where no such name may come into being."
)

NAMES = {
    "one letter": "a",
    "a path": "orders/2026",
    "blanks, quotes and signs": "1 kg; 'DROP' \"x\" 100% <b> \\ $(id)",
    "dots": "..",
    "capitals": "ORDERS",
    "a composed letter": "K\u00e4se",
    "the same letter in two characters": "Ka\u0308se",
    "a ligature, which NFC keeps": "\ufb01le",
    "the sign of Angstrom, which NFC replaces": "5 \u212b",
    "Hangul in syllables": "\ud55c\uae00",
    "Hangul in letters": "\u1112\u1161\u11ab",
    "a letter with two marks in order": "a\u0323\u0302".replace("a\u0323", "\u1ea1"),
    "a letter with two marks in the wrong order": "q\u0307\u0323",
    "a mark that is composed with nothing": "q\u0308",
    "an emoji": "\U0001f600",
    "128 bytes": "\u00e9" * 64,
    "129 bytes": "\u00e9" * 64 + "a",
    "nothing": "",
    "a line end": "a\nb",
    "a carriage return": "a\r",
    "NUL": "a\0",
    "an escape": "\x1b[2J",
    "delete": "a\x7f",
    "a control of Latin 1": "a\x85b",
    "a separator of lines": "a\u2028b",
    "a mark that turns the text around": "a\u202eb",
    "a zero-width space": "a\u200bb",
    "a zero-width joiner": "\U0001f468\u200d\U0001f4bb",
    "a byte order mark": "\ufeffa",
    "a soft hyphen": "a\u00adb",
}
PLAIN = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def key(name: str) -> str:
    """The name as a part of a key: other bytes become %XX, and a dot at the beginning too."""
    letters = [chr(byte) for byte in name.encode()]
    kept = [letter in PLAIN or (letter == "." and at > 0) for at, letter in enumerate(letters)]
    return "".join(letter if keep else f"%{ord(letter):02X}" for letter, keep in zip(letters, kept, strict=True))


def is_name(name: str) -> bool:
    """Whether a text is allowed as a new name."""
    fits = 1 <= len(name.encode()) <= 128
    hidden = any(unicodedata.category(letter) in HIDDEN for letter in name)
    return fits and not hidden and unicodedata.is_normalized("NFC", name)


def cases() -> list[Case]:
    """The cases of the file."""
    return [
        {"name": name, "text": text, **({"key": key(text)} if is_name(text) else {"error": "INVALID_TEXT"})}
        for name, text in NAMES.items()
    ]
