"""The parts that the text of a formatted number shows."""

from typing import NamedTuple


class Reading(NamedTuple):
    """The number, the period and the date in a text. A part of the date is None if the pattern does not show it."""

    number: int
    """The value of the counter."""
    period: str
    """The year, month or day in which the counter runs, such as `2026-11`; empty if the counter never begins again."""
    year: int | None
    """The year, also where the text shows its last two digits."""
    month: int | None
    """1 to 12."""
    day: int | None
    """1 to 31."""
    hour: int | None
    """0 to 23."""
