"""Clocks that tests set."""


class Clock:
    """Returns the last value of `now_ms`; a new clock has separate states."""

    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms
        self.readings = 0

    def __call__(self) -> int:
        self.readings += 1
        return self.now_ms
