"""text.json: fixed-width text forms of 64-bit IDs."""

from cases import Case, agree, result_of
from errors import Refused
from idtext import FORMS, decode, encode

COMMENT = (
    "text.encode and text.decode. id: a decimal string. Without decode_only the pair goes both ways; "
    "with decode_only the text only decodes. error: the code, where decoding must fail, or encoding the integer write."
)

VALUES = {
    "0": 0,
    "1": 1,
    "2^31": 2**31,
    "2^53-1": 2**53 - 1,
    "2^53": 2**53,
    "2^63-1": 2**63 - 1,
    "2^63": 2**63,
    "2^64-1": 2**64 - 1,
    "a tweet": 1541815603606036480,
}

# In the order of FORMS without decimal.
PUBLISHED: dict[str, tuple[str, ...]] = {
    "2^53": ("0020000000000000", "0080000000000", "002gosa7pa2gw", "12DLNrMSKuh", "00fFgnDxSe8"),
    "2^63-1": ("7fffffffffffffff", "7ZZZZZZZZZZZZ", "1y2p0ij32e8e7", "NQm6nKp8qFC", "AzL8n0Y58m7"),
    "2^64-1": ("ffffffffffffffff", "FZZZZZZZZZZZZ", "3w5e11264sgsf", "jpXCZedGfVQ", "LygHa16AHYF"),
    "a tweet": ("1565a11f6217a000", "1ASD13XH1F800", "0bppc0m3ju134", "4aaW4SzAyQK", "1ptWyK4WgZU"),
}

TWEET = VALUES["a tweet"]

# The highest texts in capitals: valid, and other IDs.
CASE_MATTERS = {"base58": "JPXCZEDGFVQ", "base62": "LYGHA16AHYF"}

# Name, form, text, ID.
DECODE_ONLY = (
    ("hex in upper case", "hex", "1565A11F6217A000", TWEET),
    ("hex in mixed case", "hex", "1565a11F6217A000", TWEET),
    ("the highest hex in upper case", "hex", "FFFFFFFFFFFFFFFF", 2**64 - 1),
    ("base32 in lower case", "base32", "1asd13xh1f800", TWEET),
    ("base32 with I and L for 1", "base32", "IASDL3XHIF800", TWEET),
    ("base32 with i and l for 1", "base32", "iasdl3xhif800", TWEET),
    ("base32 with O and o for 0", "base32", "1ASD13XH1F8Oo", TWEET),
    ("base32 with a leading O", "base32", "O080000000000", 2**53),
    ("the highest base32 in lower case", "base32", "fzzzzzzzzzzzz", 2**64 - 1),
    ("base36 in upper case", "base36", "0BPPC0M3JU134", TWEET),
    ("base36 in mixed case", "base36", "0bPpC0m3Ju134", TWEET),
    ("the highest base36 in upper case", "base36", "3W5E11264SGSF", 2**64 - 1),
)

# Texts of the right width for 2^64; hex has none.
OVERFLOWS = {
    "decimal": ("18446744073709551616", "99999999999999999999"),
    "base32": ("G000000000000", "ZZZZZZZZZZZZZ"),
    "base36": ("3w5e11264sgsg", "zzzzzzzzzzzzz"),
    "base58": ("jpXCZedGfVR", "zzzzzzzzzzz"),
    "base62": ("LygHa16AHYG", "zzzzzzzzzzz"),
}

# Name, form, text.
REFUSED = (
    ("a decimal sign of plus", "decimal", "+1541815603606036480"),
    ("a decimal sign of minus", "decimal", "-1541815603606036480"),
    ("a decimal point", "decimal", "01541815603606036.80"),
    ("a decimal exponent", "decimal", "0000000000000000001e"),
    ("a decimal underscore", "decimal", "0_541815603606036480"),
    ("a decimal padded with a blank", "decimal", " 1541815603606036480"),
    ("a decimal with a line feed for its last digit", "decimal", "0154181560360603648\n"),
    ("a decimal that is not padded", "decimal", "1541815603606036480"),
    ("fullwidth decimal digits", "decimal", "\uff10\uff11541815603606036480"),
    ("arabic decimal digits", "decimal", "0154181560360603648\u0660"),
    ("a superscript decimal digit", "decimal", "0154181560360603648\u00b2"),
    ("a decimal digit outside the basic plane", "decimal", "0154181560360603648\U0001d7ce"),
    ("a decimal with a NUL", "decimal", "0154181560360603648\u0000"),
    ("a hex prefix", "hex", "0x1565a11f6217a0"),
    ("the character g in hex", "hex", "1565a11f6217a00g"),
    ("2^64 in hex, a digit too long", "hex", "10000000000000000"),
    ("a hyphen in hex", "hex", "1565a11f-6217a00"),
    ("a minus sign before hex", "hex", "-565a11f6217a000"),
    ("a letter of two bytes that fills hex to sixteen bytes", "hex", "1565a11f6217a0\u00e9"),
    ("a fullwidth letter in hex", "hex", "1565\uff4111f6217a000"),
    ("the letter U in base32", "base32", "1ASD13XH1F80U"),
    ("the letter u in base32", "base32", "1asd13xh1f80u"),
    ("a hyphen in base32", "base32", "1ASD13-XH1F80"),
    ("a check symbol in base32", "base32", "1ASD13XH1F80*"),
    ("a first character above F in base32", "base32", "g000000000000"),
    ("a dotted capital I in base32", "base32", "\u0130ASD13XH1F800"),
    ("a dotless i in base32", "base32", "\u0131asd13xh1f800"),
    ("a kelvin sign in base36", "base36", "0bppc0m3ju13\u212a"),
    ("a long s in base36", "base36", "0bppc0m3ju13\u017f"),
    ("a hyphen in base36", "base36", "0bppc0m3-u134"),
    ("a plus sign before base36", "base36", "+bppc0m3ju134"),
    ("overflow in upper-case base36", "base36", "3W5E11264SGSG"),
    ("a zero in base58", "base58", "0aaW4SzAyQK"),
    ("a capital O in base58", "base58", "4aaW4SzAyQO"),
    ("a capital I in base58", "base58", "4aaW4SzAyQI"),
    ("a small l in base58", "base58", "4aaW4SzAyQl"),
    ("an underscore in base62", "base62", "1ptWyK4WgZ_"),
    ("a hyphen in base62", "base62", "1ptWyK4-gZU"),
    ("a slash in base62", "base62", "1ptWyK4/gZU"),
    ("a letter outside ASCII in base62", "base62", "1ptWyK4WgZ\u00dc"),
)


# Name, form, integer, the error of encode.
UNWRITTEN = (
    ("2^64 is not an ID", "hex", 2**64, "INVALID_ID"),
    ("-2^63-1 is not an ID", "base62", -(2**63) - 1, "INVALID_ID"),
    ("10^40 is not an ID", "decimal", 10**40, "INVALID_ID"),
    ("an ID in a form that does not exist", "base99", 5, "INVALID_TEXT"),
    ("a form is checked before its ID", "base99", 2**64, "INVALID_TEXT"),
    ("a form in capitals is checked before its ID", "HEX", -(10**40), "INVALID_TEXT"),
    ("a form without a name is checked before its ID", "", 10**40, "INVALID_TEXT"),
)


def cases() -> list[Case]:
    return [*_round_trips(), *_decode_only(), *_refusals(), *(_unwritten(*row) for row in UNWRITTEN)]


def _round_trips() -> list[Case]:
    for name, texts in PUBLISHED.items():
        agree(name, texts, tuple(encode(VALUES[name], form) for form in FORMS if form != "decimal"))
    written = [_round_trip(f"{name} in {form}", form, value) for name, value in VALUES.items() for form in FORMS]
    for form, text in CASE_MATTERS.items():
        written.append(_round_trip(f"case matters in {form}", form, decode(text, form)))
        agree(f"{form} keeps its case", text, written[-1]["text"])
    return written


def _round_trip(name: str, form: str, value: int) -> Case:
    text = encode(value, form)
    agree(name, value, decode(text, form))
    return {"name": name, "form": form, "id": str(value), "text": text}


def _decode_only() -> list[Case]:
    written: list[Case] = []
    for name, form, text, value in DECODE_ONLY:
        agree(name, value, decode(text, form))
        written.append({"name": name, "form": form, "text": text, "id": str(value), "decode_only": True})
    return written


def _refusals() -> list[Case]:
    written = []
    for form, (lowest, highest) in OVERFLOWS.items():
        agree(f"the successor in {form}", encode(2**64, form), lowest)
        written.append(_refused(f"2^64 in {form} is refused", form, lowest))
        written.append(_refused(f"the last text in {form} order is refused", form, highest))
    for form in FORMS:
        text = encode(TWEET, form)
        written.append(_refused(f"an empty {form} text is refused", form, ""))
        written.append(_refused(f"a {form} text one character short is refused", form, text[1:]))
        written.append(_refused(f"a {form} text one zero longer is refused", form, encode(0, form)[0] + text))
        written.append(_refused(f"a blank before a {form} text is refused", form, " " + text))
        written.append(_refused(f"a line feed after a {form} text is refused", form, text + "\n"))
        written.append(_refused(f"a blank for the last character of a {form} text is refused", form, text[:-1] + " "))
    return [*written, *(_refused(f"{name} is refused", form, text) for name, form, text in REFUSED)]


def _unwritten(name: str, form: str, value: int, error: str) -> Case:
    def ask() -> Case:
        if form not in FORMS:
            raise Refused("INVALID_TEXT")
        if not -(2**63) <= value < 2**64:
            raise Refused("INVALID_ID")
        return {"text": encode(value % 2**64, form)}

    return {"name": name, "form": form, "write": str(value), **result_of(name, ask, error)}


def _refused(name: str, form: str, text: str) -> Case:
    answer = result_of(name, lambda: {"id": decode(text, form)}, "INVALID_TEXT")
    return {"name": name, "form": form, "text": text, **answer}
