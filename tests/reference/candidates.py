"""Lists the systems that could have minted an integer or a text, the most plausible first."""

from dataclasses import dataclass

import idtext
from civil import DAY_MS, days_from_civil, format_rfc3339
from errors import Refused
from grammar import parse
from parts import decode
from presets import PRESETS, READ_ONLY

YEAR_MS = DAY_MS * 1461 // 4
UNITS = ((DAY_MS, "day"), (3_600_000, "hour"), (60_000, "minute"), (1000, "second"))
# Candidates that differ by fewer bits than this count as equally plausible.
TOLERANCE = 6


def _day(year: int, month: int, day: int) -> int:
    return days_from_civil(year, month, day) * DAY_MS


# Unix ms at which a system began, None if that is its epoch. The systems with the most common IDs come first.
SYSTEMS: dict[str, int | None] = {
    "twitter": None,
    "discord": None,
    "instagram": None,
    "mastodon": _day(2017, 9, 4),
    "snowmint": _day(2026, 1, 1),
    "sonyflake": _day(2015, 6, 1),
    "sonyflake2": _day(2025, 5, 5),
    "leaf": _day(2018, 12, 11),
    "baidu": None,
    "cosid": _day(2021, 6, 23),
    "yitter": _day(2021, 3, 11),
    "yitter_typescript": _day(2021, 3, 11),
    "yitter_csharp": _day(2021, 3, 11),
    "gosnowflake": None,
    "callicoder": _day(2018, 6, 1),
    "iteye": None,
    "safe53": _day(2026, 1, 1),
}
# The meanings of the local number of a version 2, by its domain.
DOMAINS = ("user", "group", "organisation")

UUID_V1, UUID_V7, ULID, OBJECT_ID = _day(1990, 1, 1), _day(2020, 1, 1), _day(2016, 1, 1), _day(2007, 1, 1)

# How many bits of chance it takes that a text of the form has no letter.
DIGITS_ALONE = {"hex": 11, "base32": 22, "base36": 24, "base58": 30, "base62": 29}


@dataclass
class Candidate:
    """`doubt`: 0 none, 1 before the system began, 2 within a day of the epoch, 3 more than a day from now."""

    kind: str
    layout: str | None
    form: str
    timestamp_ms: int | None
    doubt: int
    surprise: int
    reason: str


def inspect(value: int | str, now_ms: int) -> list[Candidate]:
    """Lists the candidates for an integer of any size or a text; an empty list for garbage."""
    found: list[Candidate] = []
    if isinstance(value, int):
        found += _ids("integer", value, 0, now_ms)
    else:
        text = value.strip(" \t\n\f\r")
        for form, number, surprise in _readings(text):
            found += _ids(form, number, surprise, now_ms)
        found += _others(text, now_ms)
    least = {doubt: min(one.surprise for one in found if one.doubt == doubt) for doubt in {one.doubt for one in found}}
    return sorted(found, key=lambda one: (one.doubt, (one.surprise - least[one.doubt]) // TOLERANCE))


def _readings(text: str) -> list[tuple[str, int, int]]:
    readings = []
    ascii_digits = text.isascii() and text.isdecimal()
    if len(text) <= 20 and (ascii_digits or (text[:1] == "-" and text[1:].isascii() and text[1:].isdecimal())):
        readings.append(("decimal", int(text), 0))
    if text[:2] in ("0x", "0X") and 1 <= len(text) - 2 <= 16 and _is_hex(text[2:]):
        readings.append(("hex", int(text, 0), 0))
    if len(text) == 15 and _is_hex(text):
        readings.append(("hex", int(text, 16), 10 if ascii_digits else 0))
    for form, surprise in DIGITS_ALONE.items():
        try:
            readings.append((form, idtext.decode(text, form), surprise if ascii_digits else 0))
        except Refused:
            continue
    return readings


def _ids(form: str, number: int, surprise: int, now_ms: int) -> list[Candidate]:
    found = []
    for name, begins_ms in SYSTEMS.items():
        layout = parse((PRESETS | READ_ONLY)[name])
        try:
            parts = decode(layout, number)
        except Refused:
            continue
        begins = layout.epoch_ms if begins_ms is None else begins_ms
        span_ms = max(now_ms, parts.timestamp_ms) - min(begins, parts.timestamp_ms)
        if abs(parts.timestamp_ms - now_ms) < DAY_MS:
            span_ms = DAY_MS
        node_bits = layout.nodes.bit_length() - 1
        unexplained = (
            (span_ms // layout.tick_ms).bit_length()
            + (node_bits + parts.node.bit_length()) // 2
            + parts.sequence.bit_length()
        )
        doubt, time = _time(parts.timestamp_ms, now_ms, begins, layout.epoch_ms, name)
        zeros = ("; node 0" if node_bits and not parts.node else "") + ("" if parts.sequence else "; sequence 0")
        reason = _unlikely(doubt) + time + zeros
        found.append(Candidate("snowflake", name, form, parts.timestamp_ms, doubt, unexplained + surprise, reason))
    return found


def _time(timestamp_ms: int, now_ms: int, begins_ms: int, epoch_ms: int, name: str) -> tuple[int, str]:
    """Returns the doubt and the sentence that explains it."""
    if timestamp_ms > now_ms + DAY_MS:
        doubt, other_ms, relation = 3, now_ms, "after now"
    elif timestamp_ms < begins_ms:
        doubt, other_ms, relation = 1, begins_ms, f"before {name} began"
    elif timestamp_ms < epoch_ms + DAY_MS:
        doubt, other_ms, relation = 2, epoch_ms, "after the epoch"
    else:
        doubt, other_ms, relation = 0, now_ms, "after now" if timestamp_ms > now_ms else "before now"
    date = format_rfc3339(timestamp_ms).partition("T")[0]
    if len(date) > len("9999-12-31"):
        date = f"+{date:0>12}"
    return doubt, f"time {date}, {_span(abs(timestamp_ms - other_ms))} {relation}"


def _unlikely(doubt: int) -> str:
    return "unlikely: " if doubt else ""


def _span(ms: int) -> str:
    if ms >= YEAR_MS:
        return f"{ms // YEAR_MS}.{ms % YEAR_MS * 10 // YEAR_MS} years"
    for length, unit in UNITS:
        if ms >= length:
            return f"{ms // length} {unit}{'s' if ms // length > 1 else ''}"
    return f"{ms} ms"


def _is_hex(text: str) -> bool:
    return all(character in "0123456789abcdefABCDEF" for character in text)


def _others(text: str, now_ms: int) -> list[Candidate]:
    found = []
    for form, digits in _uuid_texts(text):
        found.append(_uuid(form, digits, now_ms))
        swapped = digits[8:16] + digits[4:8] + digits[:4] + digits[16:]
        if form == "uuid_hex" and swapped[12] == "1" and swapped[16] in "89abAB":
            found.append(_uuid("uuid_swapped", swapped, now_ms))
    if len(text) == 26 and text[0] in "01234567iIlLoO":
        crockford = idtext.FORMS["base32"]
        values = [crockford.alphabet.find(crockford.also.get(character, character)) for character in text]
        if min(values) >= 0:
            milliseconds = 0
            for value in values[:10]:
                milliseconds = milliseconds * 32 + value
            doubt, time = _time(milliseconds, now_ms, ULID, 0, "such IDs")
            found.append(Candidate("ulid", None, "ulid", milliseconds, doubt, 0, _unlikely(doubt) + time))
    if len(text) == 24 and _is_hex(text):
        timestamp_ms = int(text[:8], 16) * 1000
        doubt, time = _time(timestamp_ms, now_ms, OBJECT_ID, 0, "such IDs")
        middle = text[8:18].lower()
        reason = (
            f"{_unlikely(doubt)}{time}; random {middle}, or machine {middle[:6]} and process {int(middle[6:], 16)}; "
            f"counter {int(text[18:], 16)}"
        )
        found.append(Candidate("object_id", None, "object_id", timestamp_ms, doubt, 0, reason))
    return found


def _uuid_texts(text: str) -> list[tuple[str, str]]:
    """Returns the form in which a text is a UUID, with its 32 digits."""
    if len(text) == 32 and _is_hex(text):
        return [("uuid_hex", text)]
    form = "uuid"
    if text[:1] == "{" and text[-1:] == "}":
        form, text = "uuid_braces", text[1:-1]
    elif text[:9].lower() == "urn:uuid:":
        form, text = "uuid_urn", text[9:]
    groups = text.split("-")
    if [len(group) for group in groups] == [8, 4, 4, 4, 12] and _is_hex("".join(groups)):
        return [(form, "".join(groups))]
    return []


def _uuid(form: str, digits: str, now_ms: int) -> Candidate:
    number = int(digits, 16)
    variant, version = int(digits[16], 16), int(digits[12], 16)
    kind, reason, timestamp_ms, doubt = "uuid", "", None, 0
    if number in (0, 2**128 - 1):
        kind = "uuid_max" if number else "uuid_nil"
        reason = f"the {kind[5:]} UUID"
    elif not 8 <= variant <= 11:
        family = "NCS" if variant < 8 else "Microsoft" if variant < 14 else "reserved"
        reason = f"a UUID of the {family} variant, without a version"
    elif 1 <= version <= 8:
        kind = f"uuid{version}"
        reason = f"version {version}" + {
            2: ", DCE security",
            3: ", MD5 of a name",
            4: ", random",
            5: ", SHA-1 of a name",
            8: ", defined by its minter",
        }.get(version, "")
    else:
        reason = f"version {version}, which is not defined"
    if kind in ("uuid1", "uuid2", "uuid6", "uuid7"):
        if version == 7:
            timestamp_ms = int(digits[:12], 16)
        else:
            low, middle, high = digits[:8], digits[8:12], digits[13:16]
            if version == 2:
                low = "0" * 8
            intervals = int(low + middle + high, 16) if version == 6 else int(high + middle + low, 16)
            timestamp_ms = (intervals + days_from_civil(1582, 10, 15) * DAY_MS * 10_000) // 10_000
        doubt, time = _time(timestamp_ms, now_ms, UUID_V1 if version < 3 else UUID_V7, 0, "such IDs")
        reason = f"{_unlikely(doubt)}{reason}, {time}"
        if version != 7:
            node = digits[20:].lower()
            mac = ":".join(node[at : at + 2] for at in range(0, 12, 2))
            sequence = int(digits[16:20], 16) % 2**14
            if version == 2:
                sequence, domain = divmod(sequence, 256)
                local = int(digits[:8], 16)
                reason += f"; {DOMAINS[domain]} {local}" if domain < 3 else f"; number {local} of domain {domain}"
            reason += f"; node {mac}; clock sequence {sequence}"
    return Candidate(kind, None, form, timestamp_ms, doubt, 0 if timestamp_ms is not None else TOLERANCE, reason)
