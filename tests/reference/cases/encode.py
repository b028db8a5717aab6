"""encode.json: parts to IDs."""

from cases import Case, agree, result_of
from cases.decode import (
    CONSTRUCTED,
    FIXED_INSIDE,
    MICROSECONDS,
    PUBLIC,
    RANDOM_INSIDE,
    RANDOM_TAIL,
    SENTRY,
    SPLIT_NODE,
    TEN_MICROSECONDS,
    Known,
)
from cases.decode import rows as decode_rows
from cases.layouts import BAIDU_TEST
from grammar import parse
from parts import decode, encode

COMMENT = (
    "Layout.encode. timestamp_ms: Unix ms, rounded down to its tick. node: a decimal string, or an object of one for "
    "each node field. sequence, random, opaque: decimal strings. What is absent is 0. timestamp_us: a decimal string, the "
    "same instant in microseconds, where timestamp_ms is not exact. id: a decimal string. "
    "error: the code, where it must fail."
)

EPOCH = 1735689600000
MARCH = 1772323200000
NEGATIVE_EPOCH = "time:41,node:10;epoch=-86400000;tick=1s"
OPAQUE = "time:42,opaque:22;epoch=0"
NO_NODE = "time:41,sequence:12;epoch=1735689600000;tick=1ms"

Node = int | dict[str, int]

# Name, layout, timestamp_ms, node, sequence, random, error or None. None as a number: absent.
Row = tuple[str, str, int, Node | None, int | None, int | None, str | None]

GOOD: tuple[Row, ...] = (
    ("everything but the time may be absent", "snowmint", MARCH, None, None, None, None),
    ("the epoch itself is tick 0", "snowmint", EPOCH, None, None, None, None),
    ("the last tick with everything at its highest", "snowmint", EPOCH + 2**41 - 1, 1023, 4095, None, None),
    ("the last tick of discord fills all 64 bits", "discord", 1420070400000 + 2**42 - 1, 1023, 4095, None, None),
    ("the first tick of discord with bit 63 set", "discord", 1420070400000 + 2**41, 0, 0, None, None),
    ("the last tick of mastodon lies in year 10889", "mastodon", 2**48 - 1, None, 65535, None, None),
    ("a tick of 10 ms takes its first ms", "sonyflake", 1409529600010, 1, 3, None, None),
    ("a tick of 10 ms takes its last ms", "sonyflake", 1409529600019, 1, 3, None, None),
    ("the last ms of the last tick of 10 ms", "sonyflake", 1409529600000 + 2**39 * 10 - 1, 65535, 255, None, None),
    ("a tick of a second takes its last ms", BAIDU_TEST, 1484799346999, 4, 9, None, None),
    ("the last ms of the last tick of baidu", "baidu", 1463673600000 + 2**28 * 1000 - 1, 2**22 - 1, 8191, None, None),
    ("a time before 1970 is rounded down, not towards zero", NEGATIVE_EPOCH, -1, 5, None, None, None),
    ("the first ms of a negative epoch", NEGATIVE_EPOCH, -86_400_000, 5, None, None, None),
    ("an object names one node field", "snowmint", MARCH, {"node": 5}, 1, None, None),
    ("the order inside an object does not matter", "twitter", MARCH, {"worker": 26, "datacenter": 11}, 0, None, None),
    ("the number of the same two node fields", "twitter", MARCH, 378, 0, None, None),
    ("an object of node fields that stand apart", SPLIT_NODE, MARCH, {"region": 9, "worker": 513}, 7, None, None),
    ("a layout without node fields takes an empty object", NO_NODE, MARCH, {}, 9, None, None),
    ("a layout without node fields takes node 0", NO_NODE, MARCH, 0, 9, None, None),
    ("a random field takes its highest value", RANDOM_TAIL, MARCH, 63, 255, 255, None),
    ("a random field inside takes its value", RANDOM_INSIDE, MARCH, {"rack": 5, "host": 2}, 7, 170, None),
)

REFUSED: tuple[Row, ...] = (
    ("one ms before the epoch", "snowmint", EPOCH - 1, 0, 0, None, "BEFORE_EPOCH"),
    ("a ms before a coarse epoch is not rounded up", "sonyflake", 1409529599999, 0, 0, None, "BEFORE_EPOCH"),
    ("1970 under an epoch of 2025", "snowmint", 0, 0, 0, None, "BEFORE_EPOCH"),
    ("a negative time", "snowmint", -1, 0, 0, None, "BEFORE_EPOCH"),
    ("the earliest safe integer as time", "snowmint", -(2**53) + 1, 0, 0, None, "BEFORE_EPOCH"),
    ("one ms before a negative epoch", NEGATIVE_EPOCH, -86_400_001, 0, 0, None, "BEFORE_EPOCH"),
    ("one ms after the last tick", "snowmint", EPOCH + 2**41, 0, 0, None, "TIME_OVERFLOW"),
    ("one ms after the last tick of 10 ms", "sonyflake", 1409529600000 + 2**39 * 10, 0, 0, None, "TIME_OVERFLOW"),
    ("one ms after the last tick of baidu", "baidu", 1732109056000, 0, 0, None, "TIME_OVERFLOW"),
    ("one ms after all 64 bits of discord", "discord", 1420070400000 + 2**42, 0, 0, None, "TIME_OVERFLOW"),
    ("the latest safe integer as time", "snowmint", 2**53 - 1, 0, 0, None, "TIME_OVERFLOW"),
    ("node 1024 in 10 bits", "snowmint", MARCH, 1024, 0, None, "INVALID_NODE"),
    ("a negative node", "snowmint", MARCH, -1, 0, None, "INVALID_NODE"),
    ("node 2^32 in 10 bits", "snowmint", MARCH, 2**32, 0, None, "INVALID_NODE"),
    ("node 2^64 is not taken for 0", "snowmint", MARCH, 2**64, 0, None, "INVALID_NODE"),
    ("node 10^30", "snowmint", MARCH, 10**30, 0, None, "INVALID_NODE"),
    ("node -10^30", "snowmint", MARCH, -(10**30), 0, None, "INVALID_NODE"),
    ("node 1 in a layout without node fields", NO_NODE, MARCH, 1, 0, None, "INVALID_NODE"),
    ("datacenter 32 in 5 bits", "twitter", MARCH, {"datacenter": 32, "worker": 0}, 0, None, "INVALID_NODE"),
    ("worker 32 does not spill over", "twitter", MARCH, {"datacenter": 0, "worker": 32}, 0, None, "INVALID_NODE"),
    ("a negative worker", "twitter", MARCH, {"datacenter": 1, "worker": -1}, 0, None, "INVALID_NODE"),
    ("worker 10^30", "twitter", MARCH, {"datacenter": 1, "worker": 10**30}, 0, None, "INVALID_NODE"),
    ("a missing worker", "twitter", MARCH, {"datacenter": 1}, 0, None, "INVALID_NODE"),
    ("an empty object where two fields are asked for", "twitter", MARCH, {}, 0, None, "INVALID_NODE"),
    ("a field of another layout", "twitter", MARCH, {"datacenter": 1, "machine": 2}, 0, None, "INVALID_NODE"),
    ("one field too many", "twitter", MARCH, {"datacenter": 1, "worker": 2, "rack": 0}, 0, None, "INVALID_NODE"),
    ("a field name in capitals", "twitter", MARCH, {"Datacenter": 1, "worker": 2}, 0, None, "INVALID_NODE"),
    ("a sequence among the node fields", "snowmint", MARCH, {"node": 2, "sequence": 3}, 0, None, "INVALID_NODE"),
    ("a node field by name in a layout without any", NO_NODE, MARCH, {"node": 0}, 0, None, "INVALID_NODE"),
    ("sequence 4096 in 12 bits", "snowmint", MARCH, 5, 4096, None, "INVALID_ID"),
    ("a negative sequence", "snowmint", MARCH, 5, -1, None, "INVALID_ID"),
    ("sequence 2^64 is not taken for 0", "snowmint", MARCH, 5, 2**64, None, "INVALID_ID"),
    ("sequence 10^30", "snowmint", MARCH, 5, 10**30, None, "INVALID_ID"),
    ("sequence 1 in a layout without a sequence", NEGATIVE_EPOCH, 0, 5, 1, None, "INVALID_ID"),
    ("random 256 in 8 bits", RANDOM_TAIL, MARCH, 5, 3, 256, "INVALID_ID"),
    ("a negative random", RANDOM_TAIL, MARCH, 5, 3, -1, "INVALID_ID"),
    ("random 10^30", RANDOM_TAIL, MARCH, 5, 3, 10**30, "INVALID_ID"),
    ("random 1 in a layout without a random field", "snowmint", MARCH, 5, 3, 1, "INVALID_ID"),
    ("the time is checked before the node", "snowmint", EPOCH - 1, 1024, 4096, None, "BEFORE_EPOCH"),
    ("a time too late is told before a bad sequence", "snowmint", EPOCH + 2**41, 0, 4096, None, "TIME_OVERFLOW"),
    ("the node is checked before the sequence", "snowmint", MARCH, 1024, 4096, None, "INVALID_NODE"),
)

# A row, the opaque bits, and the microseconds after its timestamp_ms.
FINE: tuple[tuple[Row, int | None, int], ...] = (
    (("a microsecond of its own tick", MICROSECONDS, MARCH, 5, None, None, None), None, 999),
    (("microseconds are rounded down to ten", TEN_MICROSECONDS, MARCH, 5, None, None, None), None, 999),
    (("microseconds do not change a tick of a ms", "snowmint", MARCH, 5, None, None, None), None, 999),
    (("a tick of a microsecond takes a whole ms", MICROSECONDS, MARCH, 5, None, None, None), None, 0),
    (("the last microsecond", MICROSECONDS, (2**53 - 1) // 1000, 0, None, None, None), None, (2**53 - 1) % 1000),
    (("one microsecond after the last", MICROSECONDS, 2**53 // 1000, 0, None, None, "TIME_OVERFLOW"), None, 992),
    (("one microsecond before an epoch", TEN_MICROSECONDS, 1420070399999, 0, None, None, "BEFORE_EPOCH"), None, 999),
    (("a fixed value is written", SENTRY, MARCH, 5, 3, None, None), None, 0),
    (("a fixed value inside is written", FIXED_INSIDE, MARCH, 5, 3, None, None), None, 0),
    (("a node as large as the fixed field would allow", SENTRY, MARCH, 4096, 3, None, "INVALID_NODE"), None, 0),
    (("opaque bits are written", OPAQUE, MARCH, None, None, None, None), 2**22 - 1, 0),
    (("opaque bits may be absent", OPAQUE, MARCH, None, None, None, None), None, 0),
    (("opaque 2^22 in 22 bits", OPAQUE, MARCH, None, None, None, "INVALID_ID"), 2**22, 0),
    (("opaque 1 in a layout without opaque bits", "snowmint", MARCH, None, None, None, "INVALID_ID"), 1, 0),
)


def cases() -> list[Case]:
    return [
        *(_known(known.name, known) for known in PUBLIC),
        *(_known(f"a constructed ID of {known.name}", known) for known in CONSTRUCTED),
        *_round_trips(),
        *(_case(row) for row in GOOD + REFUSED),
        *(_case(row, opaque, extra_us) for row, opaque, extra_us in FINE),
    ]


def _known(name: str, known: Known) -> Case:
    """The published parts, node fields by name, give the published ID."""
    layout = parse(known.layout)
    node = {field.name: known.fields[field.name] for field in layout.node_fields}
    timestamp_ms = decode(layout, known.id).timestamp_ms
    case = _case((name, known.layout, timestamp_ms, node, known.fields["sequence"], None, None))
    agree(name, str(known.id), case["id"])
    return case


def _round_trips() -> list[Case]:
    """The parts of every other ID that decodes, its node as one number."""
    written = []
    for name, text, value, error in decode_rows():
        if error is not None or value < 0:
            continue
        parts = decode(parse(text), value)
        random = parts.fields.get("random")
        row = (f"back again: {name}", text, parts.timestamp_ms, parts.node, parts.sequence, random, None)
        extra_us = parts.timestamp_us - parts.timestamp_ms * 1000
        written.append(_case(row, parts.fields.get("opaque"), extra_us))
        agree(name, str(value), written[-1]["id"])
    return written


def _case(row: Row, opaque: int | None = None, extra_us: int = 0) -> Case:
    name, text, timestamp_ms, node, sequence, random, error = row
    layout = parse(text)
    case: Case = {"name": name, "layout": text, "timestamp_ms": timestamp_ms}
    if node is not None:
        case["node"] = str(node) if isinstance(node, int) else {field: str(value) for field, value in node.items()}
    if sequence is not None:
        case["sequence"] = str(sequence)
    if random is not None:
        case["random"] = str(random)
    if opaque is not None:
        case["opaque"] = str(opaque)
    if extra_us:
        case["timestamp_us"] = str(timestamp_ms * 1000 + extra_us)

    def ask() -> Case:
        value = encode(
            layout, timestamp_ms, 0 if node is None else node, sequence or 0, random or 0, opaque or 0, extra_us
        )
        return {"id": str(value)}

    return {**case, **result_of(name, ask, error)}
