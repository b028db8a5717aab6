"""The window of a lease."""

from typing import NamedTuple


class Window(NamedTuple):
    """An interval of time that a store has granted to a generator, Unix ms."""

    start: int
    """The first ms."""
    end: int
    """The first ms after the window."""
