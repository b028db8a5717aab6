"""One generator with one node, on one thread, under a clock that the caller scripts."""

from dataclasses import dataclass

from errors import Refused
from layout import Layout
from parts import compose

MAX_BATCH = 2**24


@dataclass
class Generator:
    """The next free position is (`tick`, `sequence`). `max_ahead_ms` is 0 or more; `carry` is `sequence_start`."""

    layout: Layout
    node: int
    max_ahead_ms: int = 0
    carry: bool = False
    tick: int = 0
    sequence: int = 0
    issued: bool = False

    def next_ids(self, now_ms: int, count: int) -> list[int]:
        """Mints `count` IDs, 0 to 2^24, at a clock of Unix ms. A refused call changes nothing."""
        if not 0 <= count <= MAX_BATCH:
            raise Refused("INVALID_ID")
        if count == 0:
            return []
        tick, sequence = self._place(now_ms, count)
        ids = []
        for _ in range(count):
            ids.append(compose(self.layout, tick, self.node, sequence))
            tick, sequence = (tick, sequence + 1) if sequence + 1 < self.layout.ids_per_tick else (tick + 1, 0)
        self.tick, self.sequence, self.issued = tick, sequence, True
        return ids

    def _place(self, now_ms: int, count: int) -> tuple[int, int]:
        """The position of the first of `count` IDs."""
        layout, per_tick = self.layout, self.layout.ids_per_tick
        if now_ms < layout.epoch_ms and not self.issued:
            raise Refused("BEFORE_EPOCH")
        now_tick = layout.tick_at(now_ms)
        limit = layout.tick_at(now_ms + self.max_ahead_ms)
        tick, sequence = self.tick, self.sequence
        if now_tick > self.tick:
            tick, sequence = now_tick, self.sequence if self.carry else 0
        if tick > layout.max_tick:
            raise Refused("TIME_OVERFLOW")
        if tick > limit:
            last_tick = self.tick if self.sequence > 0 else self.tick - 1
            if last_tick > limit:
                raise Refused("CLOCK_BACKWARDS", by_ms=layout.start_ms(last_tick) - now_ms)
            raise self._exhausted(now_ms, self._needed(tick, sequence, count))
        rest_of_tick = per_tick - sequence
        if count > rest_of_tick + per_tick * (min(limit, layout.max_tick) - tick):
            raise self._exhausted(now_ms, self._needed(tick, sequence, count))
        return tick, sequence

    def _needed(self, tick: int, sequence: int, count: int) -> int:
        """The tick of the last of `count` IDs from a position."""
        needed_tick = tick + (sequence + count - 1) // self.layout.ids_per_tick
        if needed_tick > self.layout.max_tick:
            raise Refused("TIME_OVERFLOW")
        return needed_tick

    def _exhausted(self, now_ms: int, needed_tick: int) -> Refused:
        retry_after_ms = self.layout.start_ms(needed_tick) - self.max_ahead_ms - now_ms
        return Refused("EXHAUSTED", retry_after_ms=max(retry_after_ms, 1))
