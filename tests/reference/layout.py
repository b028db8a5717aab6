"""A layout: the bit fields of an ID from high to low, with epoch and tick, and the facts that follow from them.

```text
63      62 ... 22  21 ... 12  11 ... 0
unused  time       node       sequence    epoch 2025-01-01T00:00:00Z, tick 1 ms
```
"""

from dataclasses import dataclass

from errors import Refused

MAX_SAFE_INTEGER = 2**53 - 1
MAX_I64 = 2**63 - 1
MAX_U64 = 2**64 - 1
MAX_FIELDS = 16
MAX_NODE_BITS = 32
RESERVED_NAMES = ("unused", "time", "sequence", "random", "opaque")


@dataclass(frozen=True)
class Field:
    """A run of 1 to 64 bits; `fixed` is the one value that it has in every ID, or None."""

    name: str
    bits: int
    fixed: int | None = None

    @property
    def max(self) -> int:
        """The greatest value that fits."""
        return (1 << self.bits) - 1


@dataclass(frozen=True)
class Layout:
    """Fields high to low, the epoch in Unix ms, the tick in microseconds. A broken rule raises INVALID_LAYOUT."""

    fields: tuple[Field, ...]
    epoch_ms: int
    tick_us: int

    def __post_init__(self) -> None:
        names = [field.name for field in self.fields]
        sound = (
            len(names) <= MAX_FIELDS
            and len(set(names)) == len(names)
            and "time" in names
            and "unused" not in names[1:]
            and all(1 <= field.bits <= 64 for field in self.fields)
            and self.bits <= 64
            and sum(field.bits for field in self.node_fields) <= MAX_NODE_BITS
            and all(field.fixed is None or self._may_be_fixed(field) for field in self.fields)
            and not {"random", "opaque"} <= set(names)
            and 1 <= self.tick_us <= MAX_SAFE_INTEGER * 1000
            and (self.tick_us % 1000 == 0 or self.tick_us <= MAX_SAFE_INTEGER // 1000)
            and -MAX_SAFE_INTEGER <= self.epoch_ms <= MAX_SAFE_INTEGER
            and (self.start_us(self.max_tick) if self.tick_us % 1000 else self.ends_at_ms) <= MAX_I64
        )
        if not sound:
            raise Refused("INVALID_LAYOUT")

    @staticmethod
    def _may_be_fixed(field: Field) -> bool:
        return field.name not in RESERVED_NAMES and field.fixed is not None and field.fixed <= field.max

    @property
    def bits(self) -> int:
        """The sum of all widths, `unused` among them: 1 to 64."""
        return sum(field.bits for field in self.fields)

    @property
    def node_fields(self) -> tuple[Field, ...]:
        """Every field whose name is not reserved and whose value is not fixed, high to low."""
        return tuple(field for field in self.fields if field.name not in RESERVED_NAMES and field.fixed is None)

    @property
    def tick_ms(self) -> int:
        """The length of a tick in ms, rounded down."""
        return self.tick_us // 1000

    @property
    def unmintable(self) -> bool:
        """Whether no generator can mint in this layout: it has opaque bits, or its ticks are not whole ms."""
        return self.width("opaque") > 0 or self.tick_us % 1000 > 0

    def width(self, name: str) -> int:
        """Bits of a field; 0 for a field that the layout does not have."""
        return next((field.bits for field in self.fields if field.name == name), 0)

    def shift(self, name: str) -> int:
        """Bits below a field of this layout."""
        names = [field.name for field in self.fields]
        return sum(field.bits for field in self.fields[names.index(name) + 1 :])

    @property
    def leading_field(self) -> Field:
        """The highest field that is neither `unused` nor fixed."""
        return next(field for field in self.fields if field.name != "unused" and field.fixed is None)

    @property
    def max_tick(self) -> int:
        """The last tick that the time field can hold."""
        return (1 << self.width("time")) - 1

    def start_us(self, tick: int) -> int:
        """Unix microseconds of the first instant of a tick."""
        return self.epoch_ms * 1000 + tick * self.tick_us

    def start_ms(self, tick: int) -> int:
        """Unix ms of the first instant of a tick, rounded down."""
        return self.start_us(tick) // 1000

    def tick_at(self, unix_ms: int) -> int:
        """The tick that holds an instant, rounded down; negative before the epoch."""
        return (unix_ms - self.epoch_ms) * 1000 // self.tick_us

    def checked_tick_at(self, unix_ms: int, extra_us: int = 0) -> int:
        """The tick that holds an instant, 0 to `max_tick`; else BEFORE_EPOCH or TIME_OVERFLOW."""
        tick = ((unix_ms - self.epoch_ms) * 1000 + extra_us) // self.tick_us
        if tick < 0:
            raise Refused("BEFORE_EPOCH")
        if tick > self.max_tick:
            raise Refused("TIME_OVERFLOW")
        return tick

    @property
    def ends_at_ms(self) -> int:
        """Unix ms at which the last tick starts."""
        return self.start_ms(self.max_tick)

    @property
    def signed_until_ms(self) -> int | None:
        """Unix ms of the first tick at which bit 63 may be 1; None where it never is."""
        if self.bits < 64 or self.fields[0].name == "unused":
            return None
        if self.fields[0].fixed is not None:
            return self.epoch_ms if self.fields[0].fixed >> (self.fields[0].bits - 1) else None
        if self.fields[0].name == "time":
            return self.start_ms(1 << (self.width("time") - 1))
        return self.epoch_ms

    @property
    def js_safe(self) -> bool:
        """Whether every ID fits the 53 bits of a JavaScript number."""
        return self.bits - self.width("unused") <= 53

    @property
    def nodes(self) -> int:
        """The number of different nodes, 1 to 2^32."""
        return 1 << sum(field.bits for field in self.node_fields)

    @property
    def ids_per_tick(self) -> int:
        """How many IDs one node has in one tick, 1 to 2^63."""
        return 1 << self.width("sequence")

    @property
    def ids_per_second(self) -> int:
        """How many IDs one node can sustain a second, rounded down; at most 2^64-1."""
        return min(self.ids_per_tick * 1_000_000 // self.tick_us, MAX_U64)
