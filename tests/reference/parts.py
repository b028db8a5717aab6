"""An ID to its parts and back, and time ranges as ID ranges."""

from collections.abc import Iterator
from dataclasses import dataclass

from errors import Refused
from layout import MAX_U64, Layout


@dataclass(frozen=True)
class Parts:
    """What an ID says: `timestamp_us` are the Unix microseconds at which its tick starts, `node` all node fields in one."""

    tick: int
    timestamp_ms: int
    timestamp_us: int
    node: int
    sequence: int
    fields: dict[str, int]


def decode(layout: Layout, value: int) -> Parts:
    """Takes an ID from -2^63 to 2^64-1 apart; INVALID_ID for an ID that the layout cannot have minted."""
    if not -(2**63) <= value <= MAX_U64:
        raise Refused("INVALID_ID")
    rest = value % 2**64
    fields: dict[str, int] = {}
    for field in reversed(layout.fields):
        rest, fields[field.name] = divmod(rest, 2**field.bits)
    if rest or fields.pop("unused", 0):
        raise Refused("INVALID_ID")
    if any(field.fixed not in (None, fields[field.name]) for field in layout.fields if field.name != "unused"):
        raise Refused("INVALID_ID")
    fields = {field.name: fields[field.name] for field in layout.fields if field.name != "unused"}
    node = 0
    for field in layout.node_fields:
        node = node * 2**field.bits + fields[field.name]
    tick = fields["time"]
    return Parts(tick, layout.start_ms(tick), layout.start_us(tick), node, fields.get("sequence", 0), fields)


def encode(
    layout: Layout,
    timestamp_ms: int,
    node: int | dict[str, int] = 0,
    sequence: int = 0,
    random: int = 0,
    opaque: int = 0,
    extra_us: int = 0,
) -> int:
    """The ID of these parts, 0 to 2^64-1. The time is `timestamp_ms`, Unix ms, and `extra_us`, rounded down to its tick.

    A node is a number, or a value for each node field by name. Out of range, in the order of the arguments:
    BEFORE_EPOCH or TIME_OVERFLOW, INVALID_NODE, INVALID_ID.
    """
    tick = layout.checked_tick_at(timestamp_ms, extra_us)
    node_number = _node_number(layout, node)
    for name, value in (("sequence", sequence), ("random", random), ("opaque", opaque)):
        if not 0 <= value < 2 ** layout.width(name):
            raise Refused("INVALID_ID")
    return compose(layout, tick, node_number, sequence, random, opaque)


def compose(layout: Layout, tick: int, node: int, sequence: int, random: int = 0, opaque: int = 0) -> int:
    """The ID of parts that are known to be in range."""
    values = {"unused": 0, "time": tick, "sequence": sequence, "random": random, "opaque": opaque}
    values |= {field.name: field.fixed for field in layout.fields if field.fixed is not None}
    for field in reversed(layout.node_fields):
        node, values[field.name] = divmod(node, 2**field.bits)
    value = 0
    for field in layout.fields:
        value = value * 2**field.bits + values[field.name]
    return value


def id_range(layout: Layout, from_ms: int, to_ms: int) -> tuple[int, int]:
    """The lowest and highest ID between two instants in Unix ms, both included, each rounded down to its tick.

    INVALID_LAYOUT where a field other than `unused` is above `time`; INVALID_ID where the end is before the start;
    BEFORE_EPOCH, TIME_OVERFLOW.
    """
    if layout.leading_field.name != "time":
        raise Refused("INVALID_LAYOUT")
    if to_ms < from_ms:
        raise Refused("INVALID_ID")
    first, last = layout.checked_tick_at(from_ms), layout.checked_tick_at(to_ms)
    names = [field.name for field in layout.fields]
    below = layout.fields[names.index("time") + 1 :]
    highest = {field.name: field.max for field in below if field.fixed is None}
    return _with_values(layout, {"time": first}), _with_values(layout, {"time": last, **highest})


def _with_values(layout: Layout, values: dict[str, int]) -> int:
    value = 0
    for field in layout.fields:
        value = value * 2**field.bits + (values.get(field.name, 0) if field.fixed is None else field.fixed)
    return value


def _node_number(layout: Layout, node: int | dict[str, int]) -> int:
    if isinstance(node, int):
        if not 0 <= node < layout.nodes:
            raise Refused("INVALID_NODE")
        return node
    fixed = {field.name: field.fixed for field in layout.fields if field.fixed is not None}
    node = {name: value for name, value in node.items() if name not in fixed or fixed[name] != value}
    if set(node) != {field.name for field in layout.node_fields}:
        raise Refused("INVALID_NODE")
    number = 0
    for field in layout.node_fields:
        if not 0 <= node[field.name] <= field.max:
            raise Refused("INVALID_NODE")
        number = number * 2**field.bits + node[field.name]
    return number


def encode_given(
    layout: Layout,
    ms: list[int],
    us: list[int],
    ticks: list[int],
    nodes: list[int | dict[str, int]],
    sequences: list[int],
    randoms: list[int],
) -> int:
    """The ID of parts of which each may be given more than once; INVALID_ID for values that differ, or without a time.

    Each value has to fit, and to be the one that the part has already: the finest time first, a coarser one being its tick
    or its start in whole ms.
    """
    found: list[int] = []

    def add(value: int, same: bool) -> None:
        if found and not same:
            raise Refused("INVALID_ID")
        found.append(value)

    for value in ticks:
        add(value, value == [*found, 0][0])
    for value, extra_us, whole in [
        *((*divmod(value, 1000), False) for value in us),
        *((value, 0, True) for value in ms),
    ]:
        at = layout.checked_tick_at(value, extra_us)
        add(at, at == [*found, 0][0] or (whole and found != [] and value == layout.start_ms(found[0])))
    if not found:
        raise Refused("INVALID_ID")
    tick = found[0]
    values: list[int] = []
    random_width = layout.width("random") or layout.width("opaque")
    node_numbers = (_node_number(layout, node) for node in nodes)
    for part in (node_numbers, _fitting(sequences, layout.width("sequence")), _fitting(randoms, random_width)):
        found = []
        for value in part:
            add(value, value == [*found, 0][0])
        values.append([*found, 0][0])
    node, sequence, random = values
    return compose(layout, tick, node, sequence, random, random)


def _fitting(values: list[int], width: int) -> Iterator[int]:
    for value in values:
        if not 0 <= value < 2**width:
            raise Refused("INVALID_ID")
        yield value
