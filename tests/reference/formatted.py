"""Formatted numbers: patterns as regular expressions, and check digits by the definitions of the standards."""

import re
import unicodedata
from dataclasses import dataclass

from civil import DAY_MS, days_from_civil, days_in_month
from errors import Refused

NEEDS = {"none": "", "year": "y", "month": "yM", "day": "yMd"}
DATES = {"yyyy": ("y", 4), "yy": ("y", 2), "MM": ("M", 2), "dd": ("d", 2), "HH": ("H", 2)}
PARTS = {"y": "year", "M": "month", "d": "day", "H": "hour"}
_TOKEN = re.compile(r"\{\{|\}\}|\{(yyyy|yy|MM|dd|HH|0+|luhn|mod97)\}|[^{}]")


@dataclass(frozen=True)
class Pattern:
    """The tokens: a name for a token in braces, else `=` and the character."""

    tokens: tuple[str, ...]
    period: str
    offset_minutes: int
    grows: bool


def pattern(text: str, period: str, zone: str, overflow: str) -> Pattern:
    """Refused with INVALID_TEXT, if the text or a name breaks a rule."""
    hidden = any(unicodedata.category(letter) in {"Cc", "Cf", "Zl", "Zp"} for letter in text)
    if hidden or not 1 <= len(text.encode()) <= 64 or period not in NEEDS or overflow not in {"error", "grow"}:
        raise Refused("INVALID_TEXT")
    tokens: list[str] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise Refused("INVALID_TEXT")
        tokens.append(match[1] or f"={match[0][0]}")
        at = match.end()
    counters = [token for token in tokens if token[0] == "0"]
    parts = [DATES[token][0] for token in tokens if token in DATES]
    checks = [at for at, token in enumerate(tokens) if token in {"luhn", "mod97"}]
    if (
        len(counters) != 1
        or len(counters[0]) > 18
        or len(parts) != len(set(parts))
        or checks not in ([], [len(tokens) - 1])
        or not set(NEEDS[period]) <= set(parts)
    ):
        raise Refused("INVALID_TEXT")
    return Pattern(tuple(tokens), period, offset(zone), overflow == "grow")


def offset(zone: str) -> int:
    """The minutes east of UTC."""
    if zone in {"Z", "UTC"}:
        return 0
    match = re.fullmatch(r"([+-])([0-9]{2}):([0-9]{2})", zone)
    if match is None or int(match[2]) > 23 or int(match[3]) > 59:
        raise Refused("INVALID_TEXT")
    return int(match[1] + "1") * (int(match[2]) * 60 + int(match[3]))


def date_at(pattern: Pattern, at_ms: int) -> dict[str, int]:
    """The parts of the date that a text shows, of the letters of `PARTS`."""
    days, ms = divmod(at_ms + pattern.offset_minutes * 60_000, DAY_MS)
    year = 1970 + days * 400 // 146_097 + 1
    while days_from_civil(year, 1, 1) > days:
        year -= 1
    month = 12
    while days_from_civil(year, month, 1) > days:
        month -= 1
    every = {"y": year, "M": month, "d": days - days_from_civil(year, month, 1) + 1, "H": ms // 3_600_000}
    shown = [token for token in pattern.tokens if token in DATES]
    if ("yyyy" in shown and not 0 <= year <= 9999) or ("yy" in shown and not 2000 <= year <= 2099):
        raise Refused("TIME_OVERFLOW")
    return {DATES[token][0]: every[DATES[token][0]] for token in shown}


def sequence(pattern: Pattern, date: dict[str, int], name: str) -> str:
    """The name of the sequence of the period."""
    shown = [f"{date[part]:0{4 if part == 'y' else 2}}" for part in NEEDS[pattern.period]]
    return f"{name}@{'-'.join(shown)}" if shown else name


def write(pattern: Pattern, number: int, date: dict[str, int]) -> str:
    """The text of a number. EXHAUSTED or INVALID_ID, if it has none."""
    text = ""
    for token in pattern.tokens:
        if token[0] == "=":
            text += token[1]
        elif token in DATES:
            part, width = DATES[token]
            text += f"{date[part]:04}"[-width:]
        elif token[0] == "0":
            if number >= 10 ** len(token) and not pattern.grows:
                raise Refused("EXHAUSTED")
            if not 0 <= number < 2**64:
                raise Refused("INVALID_ID")
            text += str(number).zfill(len(token))
        else:
            digits = range(10) if token == "luhn" else range(2, 99)
            text += next(end for digit in digits if is_checked(token, text + (end := f"{digit:0{token_width(token)}}")))
    return text


def token_width(token: str) -> int:
    return 1 if token == "luhn" else 2


def is_checked(token: str, text: str) -> bool:
    """Whether a text with its check digits is valid, by the definitions of ISO/IEC 7812-1 and ISO/IEC 7064."""
    if token == "luhn":
        digits = [int(letter) for letter in re.findall("[0-9]", text)]
        doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
        return (sum(digits[::-2]) + sum(doubled)) % 10 == 0
    return int("".join(str(int(letter, 36)) for letter in re.findall("[0-9A-Za-z]", text))) % 97 == 1


def read(pattern: Pattern, text: str) -> tuple[int, dict[str, int]]:
    """The number and the date of a text. INVALID_TEXT for any other text."""
    parts = []
    for token in pattern.tokens:
        if token[0] == "=":
            parts.append(re.escape(token[1]))
        elif token[0] == "0":
            longer = f"|[1-9][0-9]{{{len(token)},19}}" if pattern.grows else ""
            parts.append(f"(?P<n>[0-9]{{{len(token)}}}{longer})")
        elif token in DATES:
            parts.append(f"(?P<{token}>[0-9]{{{DATES[token][1]}}})")
        else:
            parts.append(f"(?P<check>[0-9]{{{token_width(token)}}})")
    match = re.fullmatch("".join(parts), text)
    if match is None or int(match["n"]) >= 2**64:
        raise Refused("INVALID_TEXT")
    check = pattern.tokens[-1]
    if check in {"luhn", "mod97"} and (not is_checked(check, text) or match["check"] in {"00", "01", "99"}):
        raise Refused("INVALID_TEXT")
    date = {DATES[token][0]: int(match[token]) + 2000 * (token == "yy") for token in pattern.tokens if token in DATES}
    year, month, day = date.get("y", 2000), date.get("M", 1), date.get("d", 1)
    if not 1 <= month <= 12 or not 1 <= day <= days_in_month(year, month) or date.get("H", 0) > 23:
        raise Refused("INVALID_TEXT")
    return int(match["n"]), date
