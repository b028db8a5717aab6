"""Text forms of a 64-bit ID: fixed width and zero-padded, so that text order is number order."""

from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase, digits

from errors import Refused
from layout import MAX_U64


@dataclass(frozen=True)
class Form:
    """An alphabet, a width in characters, and the spellings that decoding accepts besides the alphabet."""

    alphabet: str
    width: int
    also: dict[str, str]


_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_BITCOIN = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def _other_case(alphabet: str) -> dict[str, str]:
    return {character.swapcase(): character for character in alphabet if character.isalpha()}


FORMS: dict[str, Form] = {
    "decimal": Form(digits, 20, {}),
    "hex": Form(digits + "abcdef", 16, _other_case("abcdef")),
    "base32": Form(_CROCKFORD, 13, _other_case(_CROCKFORD) | dict.fromkeys("Oo", "0") | dict.fromkeys("IiLl", "1")),
    "base36": Form(digits + ascii_lowercase, 13, _other_case(ascii_lowercase)),
    "base58": Form(_BITCOIN, 11, {}),
    "base62": Form(digits + ascii_uppercase + ascii_lowercase, 11, {}),
}


def encode(value: int, form: str) -> str:
    """The text of an ID from 0 to 2^64-1."""
    alphabet, width = FORMS[form].alphabet, FORMS[form].width
    text = ""
    for _ in range(width):
        value, digit = divmod(value, len(alphabet))
        text = alphabet[digit] + text
    return text


def decode(text: str, form: str) -> int:
    """The ID of a text; INVALID_TEXT for a wrong length, a character outside the form, or a value beyond 2^64-1."""
    alphabet, width, also = FORMS[form].alphabet, FORMS[form].width, FORMS[form].also
    if len(text) != width:
        raise Refused("INVALID_TEXT")
    value = 0
    for character in text:
        digit = alphabet.find(also.get(character, character))
        if digit < 0:
            raise Refused("INVALID_TEXT")
        value = value * len(alphabet) + digit
    if value > MAX_U64:
        raise Refused("INVALID_TEXT")
    return value
