"""decode.json: IDs to parts."""

from dataclasses import dataclass

from cases import Case, agree, result_of
from cases.layouts import BAIDU_TEST
from civil import format_rfc3339
from grammar import parse
from layout import Layout
from parts import Parts, decode, encode
from presets import READ_ONLY

COMMENT = (
    "Layout.decode. id: a decimal string, maybe negative or beyond 64 bits. tick, node, sequence and the values of "
    "fields: decimal strings. timestamp_ms: Unix ms of the start of the tick; timestamp_us: the same in microseconds, a "
    "decimal string. error: the code, where it must fail."
)

TIDB_ARTICLE = "unused:1,time:41,datacenter:5,worker:5,sequence:12;epoch=1480166465631;tick=1ms"
FORTY_BITS = "time:30,node:10;epoch=1735689600000;tick=1s"
RANDOM_TAIL = "unused:1,time:41,node:6,sequence:8,random:8;epoch=1735689600000;tick=1ms"
RANDOM_INSIDE = "unused:1,time:41,random:8,rack:3,sequence:8,host:3;epoch=1735689600000;tick=1ms"
NODE_ABOVE_TIME = "node:10,time:42,sequence:12;epoch=1735689600000;tick=1ms"
UNUSED_BELOW = "unused:2,time:31,node:4,sequence:10;epoch=0;tick=1s"
SPLIT_NODE = "unused:1,region:4,time:41,sequence:8,worker:10;epoch=1735689600000;tick=1ms"

SENTRY = READ_ONLY["sentry"]
FIXED_INSIDE = "unused:1,time:41,kind:4=5,node:8,sequence:10;epoch=0;tick=1ms"
MICROSECONDS = READ_ONLY["bluesky"]
TEN_MICROSECONDS = READ_ONLY["cockroachdb"]


@dataclass(frozen=True)
class Known:
    """An ID whose time (maybe cut short) and other fields are stated; `tick` too, where a source states it."""

    name: str
    layout: str
    id: int
    time: str
    fields: dict[str, int]
    tick: int | None = None


# Real IDs: every value here is published with the ID or stated by the system's own documentation.
PUBLIC = (
    Known(
        "the example of Discord's documentation",
        "discord",
        175928847299117063,
        "2016-04-30T11:18:25.796Z",
        {"worker": 1, "process": 0, "sequence": 7},
        41944705796,
    ),
    Known(
        "the tweet of Wikipedia's article on Snowflake IDs",
        "twitter",
        1541815603606036480,
        "2022-06-28T16:07:40.105Z",
        {"datacenter": 11, "worker": 26, "sequence": 0},
        367597485448,
    ),
    *(
        Known(
            f"sapphire's tests: {id}",
            f"time:42,worker:5,process:5,sequence:12;epoch={epoch}",
            id,
            time,
            {"worker": 1, "process": 1, "sequence": sequence},
        )
        for id, epoch, time, sequence in (
            (3971046231244935169, 1577836800000, "2050-01-01T00:00:00Z", 1),
            (3971046231244935168, 1577836800000, "2050-01-01T00:00:00Z", 0),
            (1823945883910279168, 1142974214000, "2020-01-01T00:00:00Z", 0),
        )
    ),
    Known(
        "an Instagram post of 2020-08-26 13:43:27",
        "instagram",
        2384288897814875714,
        "2020-08-26T13:43:27.313Z",
        {"shard": 2675, "sequence": 578},
    ),
    Known(
        "an Instagram post of 2020-08-25 13:52:46",
        "instagram",
        2383568809444681765,
        "2020-08-25T13:52:46.090Z",
        {"shard": 2474, "sequence": 37},
    ),
    Known(
        "the worked example of Instagram's blog",
        "instagram",
        11637205501278089,
        "2011-09-09T22:28:04.721Z",
        {"shard": 31341 % 2000, "sequence": 5001 % 1024},
        1387263000,
    ),
    Known(
        "the README example of uid-generator under its own test configuration",
        BAIDU_TEST,
        180363646902239241,
        "2017-01-19T04:15:46Z",
        {"worker": 4, "sequence": 9},
    ),
    Known(
        "the README example of uid-generator under its default layout, another time",
        "baidu",
        180363646902239241,
        "2016-07-19T10:07:53Z",
        {"worker": 4, "sequence": 9},
    ),
    Known(
        "the ID of CosId's unit test",
        "cosid",
        295913926632165376,
        "2022-03-20T05:36:17.924Z",
        {"machine": 5, "sequence": 0},
    ),
    Known(
        "the ID of CosId's documentation",
        "cosid",
        266300479548424192,
        "2021-12-28T12:23:01.948Z",
        {"machine": 0, "sequence": 0},
    ),
    Known(
        "the status of Mastodon's API documentation",
        "mastodon",
        103270115826048975,
        "2019-12-08T03:48:33.849Z",
        {"sequence": 40911},
    ),
    Known(
        "the sample output of yitter's TypeScript README",
        READ_ONLY["yitter_typescript"],
        234712552579141,
        "2021-10-25T05:27:49.282Z",
        {"worker": 1, "sequence": 5},
    ),
    Known(
        "the parts in the comment on Leaf's decode endpoint",
        "leaf",
        1169786042799259000,
        "2019-09-06T01:35:00.834Z",
        {"worker": 39, "sequence": 3448},
    ),
    Known(
        "the CalliCoder example with the sequence that the article names",
        "callicoder",
        454947766275222906,
        "2018-06-09T10:00:00Z",
        {"node": 786, "sequence": 3450},
        108468000000,
    ),
    Known(
        "the CalliCoder example as printed, which lacks its sequence",
        "callicoder",
        454947766275219456,
        "2018-06-09T10:00:00Z",
        {"node": 786, "sequence": 0},
        108468000000,
    ),
    Known(
        "an ID of a TiDB article under the epoch of a widely copied Java class",
        TIDB_ARTICLE,
        561632049706827776,
        "2021-02-23T08:46:20.900Z",
        {"datacenter": 0, "worker": 0, "sequence": 0},
    ),
)

LEAP_DAY = "2024-02-29T12:34:56.789Z"
MARCH = "2026-03-01T00:00:00Z"

# First node field 1, second 2, sequence 3; the times are cut to the tick.
CONSTRUCTED = (
    Known("twitter", "twitter", 1763181056258875395, LEAP_DAY, {"datacenter": 1, "worker": 2, "sequence": 3}),
    Known("discord", "discord", 1212739786801029123, LEAP_DAY, {"worker": 1, "process": 2, "sequence": 3}),
    Known("instagram", "instagram", 3313416903636026371, LEAP_DAY, {"shard": 1, "sequence": 3}),
    Known("sonyflake", "sonyflake", 502780442546733057, "2024-02-29T12:34:56.780Z", {"sequence": 3, "machine": 1}),
    Known("leaf", "leaf", 1763181056258740227, LEAP_DAY, {"worker": 1, "sequence": 3}),
    Known("baidu", "baidu", 8436569762355486723, "2024-02-29T12:34:56Z", {"worker": 1, "sequence": 3}),
    Known("cosid", "cosid", 553677055229693955, LEAP_DAY, {"machine": 1, "sequence": 3}),
    Known("mastodon", "mastodon", 112014792903163907, LEAP_DAY, {"sequence": 3}),
    Known("yitter", "yitter", 520493853855811, LEAP_DAY, {"worker": 1, "sequence": 3}),
    Known("gosnowflake", "gosnowflake", 983175093452541955, LEAP_DAY, {"worker": 1, "sequence": 3}),
    Known("callicoder", "callicoder", 1212739786800893955, LEAP_DAY, {"node": 1, "sequence": 3}),
    Known("iteye", "iteye", 5692724919682051, LEAP_DAY, {"worker": 1, "sequence": 3}),
    Known("snowmint", "snowmint", 153652455014404099, MARCH, {"node": 1, "sequence": 3}),
    Known("sonyflake2", "sonyflake2", 61460982005956609, MARCH, {"sequence": 3, "machine": 1}),
    Known("safe53", "safe53", 150051225600515, MARCH, {"node": 1, "sequence": 3}),
)

BOUNDARIES = {
    "0": 0,
    "2^53-1": 2**53 - 1,
    "2^53": 2**53,
    "2^63-1": 2**63 - 1,
    "2^63": 2**63,
    "2^64-1": 2**64 - 1,
}

# The error of each refused boundary, by layout.
BOUNDARY_LAYOUTS: dict[str, tuple[str, ...]] = {
    "discord": (),
    "mastodon": (),
    "snowmint": ("2^63", "2^64-1"),
    "sonyflake": ("2^63", "2^64-1"),
    "safe53": ("2^53", "2^63-1", "2^63", "2^64-1"),
}

# Name, layout, ID, error or None.
Row = tuple[str, str, int, str | None]

OTHERS: tuple[Row, ...] = (
    ("-1 is the highest discord ID", "discord", -1, None),
    ("-2^63 is the first discord ID with bit 63", "discord", -(2**63), None),
    ("the negative form of a discord ID of 2090", "discord", encode(parse("discord"), 3_786_912_000_000) - 2**64, None),
    ("the same discord ID of 2090 without its sign", "discord", encode(parse("discord"), 3_786_912_000_000), None),
    ("the negative form of an instagram ID after 2046", "instagram", -9223372036854775000, None),
    ("a node above time may make an ID negative", NODE_ABOVE_TIME, -(2**54) + 5 * 2**12 + 7, None),
    ("a node field above time and one below the sequence", SPLIT_NODE, (9 << 59) | (5_000_000 << 18) | 262_143, None),
    ("a random tail is a field of its own", RANDOM_TAIL, (36_633_600_000 << 22) | (5 << 16) | (3 << 8) | 171, None),
    ("a random field among the node fields", RANDOM_INSIDE, (36_633_600_000 << 22) | (171 << 14) | 2**14 - 1, None),
    ("a layout of one bit has the ID 0", "time:1;epoch=0", 0, None),
    ("a layout of one bit has the ID 1", "time:1;epoch=0", 1, None),
    ("a layout of one bit has no ID 2", "time:1;epoch=0", 2, "INVALID_ID"),
    ("a time before 1970", "time:41;epoch=-86400000;tick=1ms", 86_399_999, None),
    ("the highest ID of a layout of 40 bits", FORTY_BITS, 2**40 - 1, None),
    ("a bit above a layout of 40 bits is refused", FORTY_BITS, 2**40, "INVALID_ID"),
    ("-1 sets the unused bit of twitter", "twitter", -1, "INVALID_ID"),
    ("the unused bit above a real tweet is refused", "twitter", 2**63 + 1541815603606036480, "INVALID_ID"),
    ("-1 sets bits above the 53 of safe53", "safe53", -1, "INVALID_ID"),
    ("an unused bit below bit 63 is refused", UNUSED_BELOW, 2**45, "INVALID_ID"),
    ("the bits below an unused bit may all be 1", UNUSED_BELOW, 2**45 - 1, None),
    ("2^64 is no 64-bit ID", "discord", 2**64, "INVALID_ID"),
    ("-2^63-1 is no 64-bit ID", "discord", -(2**63) - 1, "INVALID_ID"),
    ("-2^64 is no 64-bit ID", "discord", -(2**64), "INVALID_ID"),
    ("10^40 is no 64-bit ID", "discord", 10**40, "INVALID_ID"),
    ("-10^40 is no 64-bit ID", "discord", -(10**40), "INVALID_ID"),
    ("2^64 is not taken for 0 in a small layout", "safe53", 2**64, "INVALID_ID"),
    ("a fixed value is read", SENTRY, 16 << 48 | 123_456_789 << 16 | 5 << 4 | 3, None),
    ("another value than the fixed one is refused", SENTRY, 17 << 48 | 123_456_789 << 16 | 5 << 4 | 3, "INVALID_ID"),
    ("0 lacks the fixed value", SENTRY, 0, "INVALID_ID"),
    ("a fixed value inside", FIXED_INSIDE, 2**40 << 22 | 5 << 18 | 77, None),
    ("another value than the fixed one inside is refused", FIXED_INSIDE, 2**40 << 22 | 4 << 18 | 77, "INVALID_ID"),
    ("a tick of a microsecond", MICROSECONDS, 1_731_543_333_133_695 << 10 | 11, None),
    ("the last tick of a microsecond", MICROSECONDS, 2**63 - 1, None),
    ("a tick of ten microseconds", TEN_MICROSECONDS, 7_177_480_621_001 << 15 | 1, None),
    ("a tick of a microsecond before 1970", "time:40,node:10;epoch=-1;tick=1us", 1 << 10 | 5, None),
    ("ticks of 1500 microseconds", "time:40,node:10;epoch=0;tick=1500us", 3 << 10 | 5, None),
    ("opaque bits are a field", "time:42,opaque:22;epoch=0", 1_594_061_971_226 << 22 | 102_400, None),
)


def written(parts: Parts) -> Case:
    """Parts in the form of the file."""
    return {
        "tick": str(parts.tick),
        "timestamp_ms": parts.timestamp_ms,
        "timestamp_us": str(parts.timestamp_us),
        "node": str(parts.node),
        "sequence": str(parts.sequence),
        "fields": {name: str(value) for name, value in parts.fields.items()},
    }


def rows() -> list[Row]:
    """Returns the boundaries under each layout, then the single cases."""
    boundaries = [
        (f"{boundary} under {layout}", layout, value, "INVALID_ID" if boundary in refused else None)
        for layout, refused in BOUNDARY_LAYOUTS.items()
        for boundary, value in BOUNDARIES.items()
    ]
    return [*boundaries, *OTHERS]


def cases() -> list[Case]:
    return [
        *(_known(known.name, known) for known in PUBLIC),
        *(_known(f"a constructed ID of {known.name}", known) for known in CONSTRUCTED),
        *(_case(*row) for row in rows()),
    ]


def _known(name: str, known: Known) -> Case:
    parts = decode(parse(known.layout), known.id)
    agree(name, known.time, format_rfc3339(parts.timestamp_ms))
    agree(name, list({"time": parts.tick, **known.fields}.items()), list(parts.fields.items()))
    if known.tick is not None:
        agree(name, known.tick, parts.tick)
    return _case(name, known.layout, known.id, None)


def _case(name: str, text: str, value: int, error: str | None) -> Case:
    layout = parse(text)
    return {
        "name": name,
        "layout": text,
        "id": str(value),
        **result_of(name, lambda: written(_checked(layout, value)), error),
    }


def _checked(layout: Layout, value: int) -> Parts:
    parts = decode(layout, value)
    random, opaque = parts.fields.get("random", 0), parts.fields.get("opaque", 0)
    extra_us = parts.timestamp_us - parts.timestamp_ms * 1000
    again = encode(layout, parts.timestamp_ms, parts.node, parts.sequence, random, opaque, extra_us)
    agree("decode and encode are inverse", value % 2**64, again)
    return parts
