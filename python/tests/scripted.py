"""Clocks that tests set."""


class Clock:
    """Reads whatever was last put into `now_ms`; a new one has states of its own."""

    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms
        self.readings = 0

    def __call__(self) -> int:
        self.readings += 1
        return self.now_ms
