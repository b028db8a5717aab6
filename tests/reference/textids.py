"""Text IDs that are no 64-bit integers: each kind with its shape, its time and what else it says."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase, digits

import prefix
from civil import DAY_MS, days_from_civil
from errors import Refused
from wide import read_ksuid, read_xid

BASE36 = digits + ascii_lowercase
PUSH = "-" + digits + ascii_uppercase + "_" + ascii_lowercase


def _day(year: int, month: int, day: int) -> int:
    return days_from_civil(year, month, day) * DAY_MS


@dataclass(frozen=True)
class Kind:
    """The texts of a kind, Unix ms at which its use began, its time in a text, and what else the text says."""

    shape: re.Pattern[str]
    begins_ms: int
    unix_ms: Callable[[str], int | None]
    rest: Callable[[str], str] = lambda _: ""


def number(text: str, alphabet: str) -> int:
    """The number of a text, whatever its width."""
    value = 0
    for character in text:
        value = value * len(alphabet) + alphabet.index(character)
    return value


def _ksuid(text: str) -> int | None:
    try:
        return read_ksuid(text)[0]
    except Refused:
        return None


def _xid(text: str) -> int | None:
    try:
        return int(read_xid(text)[:8], 16) * 1000
    except Refused:
        return None


def _xid_rest(text: str) -> str:
    value = read_xid(text)
    return f"; machine {value[8:14]}, process {int(value[14:18], 16)}; counter {int(value[18:], 16)}"


def _scru128(text: str) -> int | None:
    value = number(text.lower(), BASE36)
    return value >> 80 if value < 2**128 else None


def _redis(text: str) -> int | None:
    milliseconds, sequence = text.split("-")
    return int(milliseconds) if int(sequence) < 2**64 else None


KINDS: dict[str, Kind] = {
    # segmentio/ksuid
    "ksuid": Kind(re.compile("[0-9A-Za-z]{27}"), _day(2017, 6, 1), _ksuid),
    # rs/xid: the oldest text in its tests is of 2011.
    "xid": Kind(re.compile("[0-9a-v]{19}[0g]"), _day(2011, 1, 1), _xid, _xid_rest),
    # Firebase blog, "The 2^120 Ways to Ensure Unique Identifiers"
    "firebase_push_id": Kind(re.compile("-[-0-9A-Z_a-z]{19}"), _day(2012, 4, 1), lambda text: number(text[:8], PUSH)),
    # paralleldrive/cuid: c, time, counter, fingerprint of the host, random
    "cuid": Kind(
        re.compile("c[0-9a-z]{24}"),
        _day(2012, 9, 1),
        lambda text: number(text[1:9], BASE36),
        lambda text: f"; counter {number(text[9:13], BASE36)}",
    ),
    # scru128/spec
    "scru128": Kind(re.compile("[0-9A-Za-z]{25}"), _day(2021, 1, 1), _scru128),
    # Redis documentation, streams
    "redis_stream_id": Kind(
        re.compile("[1-9][0-9]{12}-(0|[1-9][0-9]{0,19})"),
        _day(2017, 10, 1),
        _redis,
        lambda text: f"; sequence {text.partition('-')[2]}",
    ),
    # AWS documentation, trace header of X-Ray
    "xray_trace_id": Kind(
        re.compile("1-[0-9a-fA-F]{8}-[0-9a-fA-F]{24}"), _day(2016, 11, 1), lambda text: int(text[2:10], 16) * 1000
    ),
    # misskey-dev/misskey, misc/id/aidx.ts
    "aidx": Kind(
        re.compile("[0-9a-z]{16}"),
        _day(2023, 10, 1),
        lambda text: number(text[:8], BASE36) + _day(2000, 1, 1),
        lambda text: f"; counter {number(text[12:], BASE36)}",
    ),
}


def prefixed(text: str) -> int | None:
    """The 64-bit ID of a text with a prefix that is not empty, or None."""
    return _after_prefix(text, prefix.ID)


def type_id(text: str) -> str | None:
    """The 32 digits of the UUID of a TypeID with a prefix that is not empty, or None."""
    value = _after_prefix(text, prefix.UUID)
    return None if value is None else f"{value:032x}"


def _after_prefix(text: str, shape: tuple[int, int]) -> int | None:
    try:
        start, value = prefix.parse(text, shape)
    except Refused:
        return None
    return value if start else None
