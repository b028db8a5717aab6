"""Unix ms to RFC 3339 and back, on the proleptic Gregorian calendar, without leap seconds."""

import re

DAY_MS = 86_400_000

_DATE_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]"
    r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)


def days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01; negative before it."""
    # A year that begins in March puts the leap day last, so month lengths follow one linear formula.
    year -= month <= 2
    day_of_year = (153 * ((month - 3) % 12) + 2) // 5 + day - 1
    return year * 365 + year // 4 - year // 100 + year // 400 + day_of_year - 719_468


def days_in_month(year: int, month: int) -> int:
    """28 to 31, for month 1 to 12."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]


def parse_rfc3339(text: str) -> int:
    """Unix ms of a date-time of the years 0000 to 9999; digits below 1 ms are dropped.

    Raises ValueError for anything else, second 60 among it.
    """
    match = _DATE_TIME.fullmatch(text)
    if match is None:
        raise ValueError(f"not an RFC 3339 date-time: {text!r}")
    year, month, day, hour, minute, second = (int(group) for group in match.groups()[:6])
    fraction, sign, offset_hour, offset_minute = match.groups()[6:]
    if not 1 <= month <= 12 or not 1 <= day <= days_in_month(year, month):
        raise ValueError(f"no such day: {text!r}")
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError(f"no such time of day: {text!r}")
    offset_minutes = 0
    if sign is not None:
        if int(offset_hour) > 23 or int(offset_minute) > 59:
            raise ValueError(f"no such offset: {text!r}")
        offset_minutes = int(sign + "1") * (int(offset_hour) * 60 + int(offset_minute))
    seconds = (hour * 60 + minute - offset_minutes) * 60 + second
    return days_from_civil(year, month, day) * DAY_MS + seconds * 1000 + int(((fraction or "") + "000")[:3])


def format_rfc3339(unix_ms: int) -> str:
    """UTC date-time of any year from 0 up, with ms only where they are not zero."""
    days, ms = divmod(unix_ms, DAY_MS)
    # 400 years are exactly 146,097 days, so this guess is at most one year late.
    year = 1970 + days * 400 // 146_097 + 1
    while days_from_civil(year, 1, 1) > days:
        year -= 1
    month = 12
    while days_from_civil(year, month, 1) > days:
        month -= 1
    day = days - days_from_civil(year, month, 1) + 1
    hour, minute, second = ms // 3_600_000, ms // 60_000 % 60, ms // 1000 % 60
    fraction = f".{ms % 1000:03}" if ms % 1000 else ""
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z"
