"""given.json: parts of an ID that are given once, twice or not at all."""

from cases import Case, result_of
from cases.decode import MICROSECONDS, RANDOM_TAIL, SENTRY
from cases.encode import EPOCH, MARCH, NO_NODE, OPAQUE
from grammar import parse
from parts import decode, encode_given

COMMENT = (
    "Layout.encode with parts that may be given twice. of: an ID, all of whose parts are given. timestamp_ms, timestamp_us, "
    "node, sequence, random, opaque: decimal strings, or an object of one for each node field; each is given besides. "
    "id: a decimal string. error: the code, where it must fail."
)

TWEET = 1541815603606036480
TWEET_MS = 1656432460105
TICKLESS = 1773100373128903691
TICKLESS_US = 1731543333133695
RANDOM = 176477214392324119

Given = dict[str, int | dict[str, int]]

# Name, layout, the parts, error or None.
ROWS: tuple[tuple[str, str, Given, str | None], ...] = (
    ("the parts of an ID give the ID", "twitter", {"of": TWEET}, None),
    ("the parts of an ID below a ms give the ID", MICROSECONDS, {"of": TICKLESS}, None),
    ("the parts of an ID with random bits give the ID", RANDOM_TAIL, {"of": RANDOM}, None),
    ("no part at all", "twitter", {}, "INVALID_ID"),
    ("a node without a time", "twitter", {"node": 5}, "INVALID_ID"),
    ("a node that does not fit, without a time", "twitter", {"node": 1024}, "INVALID_ID"),
    ("ms and microseconds of one instant", "snowmint", {"timestamp_ms": MARCH, "timestamp_us": MARCH * 1000}, None),
    (
        "ms that are the microseconds rounded down",
        "snowmint",
        {"timestamp_ms": MARCH, "timestamp_us": MARCH * 1000 + 999},
        None,
    ),
    ("ms before the microseconds", "snowmint", {"timestamp_ms": MARCH - 1, "timestamp_us": MARCH * 1000}, "INVALID_ID"),
    (
        "ms after the microseconds",
        "snowmint",
        {"timestamp_ms": MARCH + 1, "timestamp_us": MARCH * 1000 + 999},
        "INVALID_ID",
    ),
    (
        "ms and microseconds of one tick of 10 ms",
        "sonyflake",
        {"timestamp_ms": EPOCH + 1, "timestamp_us": EPOCH * 1000 + 9999},
        None,
    ),
    (
        "microseconds of the next tick of 10 ms",
        "sonyflake",
        {"timestamp_ms": EPOCH + 1, "timestamp_us": EPOCH * 1000 + 10_000},
        "INVALID_ID",
    ),
    (
        "ms beside the microseconds that a tick of 1 us needs",
        MICROSECONDS,
        {"timestamp_ms": TICKLESS_US // 1000, "timestamp_us": TICKLESS_US},
        None,
    ),
    (
        "ms of another ms than the tick of 1 us",
        MICROSECONDS,
        {"timestamp_ms": TICKLESS_US // 1000 + 1, "timestamp_us": TICKLESS_US},
        "INVALID_ID",
    ),
    (
        "microseconds before the epoch beside ms that fit",
        "snowmint",
        {"timestamp_ms": MARCH, "timestamp_us": EPOCH * 1000 - 1},
        "BEFORE_EPOCH",
    ),
    (
        "ms before the epoch beside microseconds that fit",
        "snowmint",
        {"timestamp_ms": EPOCH - 1, "timestamp_us": MARCH * 1000},
        "BEFORE_EPOCH",
    ),
    ("the parts of an ID and its time", "twitter", {"of": TWEET, "timestamp_ms": TWEET_MS}, None),
    (
        "the parts of an ID and its time in microseconds",
        "twitter",
        {"of": TWEET, "timestamp_us": TWEET_MS * 1000},
        None,
    ),
    ("the parts of an ID and a later time", "twitter", {"of": TWEET, "timestamp_ms": TWEET_MS + 9}, "INVALID_ID"),
    ("the parts of an ID and a time before the epoch", "twitter", {"of": TWEET, "timestamp_ms": 0}, "BEFORE_EPOCH"),
    (
        "the parts of an ID and microseconds of a later time",
        "twitter",
        {"of": TWEET, "timestamp_us": TWEET_MS * 1000 + 1000},
        "INVALID_ID",
    ),
    ("the parts of an ID and its node", "twitter", {"of": TWEET, "node": 378}, None),
    (
        "the parts of an ID and its node by fields",
        "twitter",
        {"of": TWEET, "node": {"datacenter": 11, "worker": 26}},
        None,
    ),
    ("the parts of an ID and another node", "twitter", {"of": TWEET, "node": 7}, "INVALID_ID"),
    (
        "the parts of an ID and another worker",
        "twitter",
        {"of": TWEET, "node": {"datacenter": 11, "worker": 27}},
        "INVALID_ID",
    ),
    ("the parts of an ID and a node that does not fit", "twitter", {"of": TWEET, "node": 1024}, "INVALID_NODE"),
    ("the parts of an ID and its sequence", "twitter", {"of": TWEET, "sequence": 0}, None),
    ("the parts of an ID and another sequence", "twitter", {"of": TWEET, "sequence": 1}, "INVALID_ID"),
    ("the parts of an ID and a sequence that does not fit", "twitter", {"of": TWEET, "sequence": 4096}, "INVALID_ID"),
    ("the parts of an ID and other random bits", RANDOM_TAIL, {"of": RANDOM, "random": 0}, "INVALID_ID"),
    ("opaque bits twice", OPAQUE, {"timestamp_ms": MARCH, "random": 5, "opaque": 5}, None),
    (
        "opaque bits twice, with different values",
        OPAQUE,
        {"timestamp_ms": MARCH, "random": 5, "opaque": 6},
        "INVALID_ID",
    ),
    (
        "the time is checked before parts that differ",
        OPAQUE,
        {"timestamp_ms": -1, "random": 5, "opaque": 6},
        "BEFORE_EPOCH",
    ),
    (
        "a node that does not fit is refused before random bits that differ",
        OPAQUE,
        {"timestamp_ms": MARCH, "node": 1, "random": 5, "opaque": 6},
        "INVALID_NODE",
    ),
    ("an empty object is the node of a layout without node fields", NO_NODE, {"timestamp_ms": MARCH, "node": {}}, None),
    (
        "a field with its fixed value beside the node field",
        SENTRY,
        {"timestamp_ms": MARCH, "node": {"version": 16, "region": 5}},
        None,
    ),
    (
        "a field with another value than its fixed one",
        SENTRY,
        {"timestamp_ms": MARCH, "node": {"version": 17, "region": 5}},
        "INVALID_NODE",
    ),
    ("2^63 ms are after every layout", "twitter", {"timestamp_ms": 2**63}, "TIME_OVERFLOW"),
    ("10^40 ms are after every layout", "twitter", {"timestamp_ms": 10**40}, "TIME_OVERFLOW"),
    ("-2^63-1 ms are before every layout", "twitter", {"timestamp_ms": -(2**63) - 1}, "BEFORE_EPOCH"),
    ("-10^40 ms are before every layout", "twitter", {"timestamp_ms": -(10**40)}, "BEFORE_EPOCH"),
    ("2^64 microseconds are in the year 586524", "twitter", {"timestamp_us": 2**64}, "TIME_OVERFLOW"),
    ("10^40 microseconds are after every layout", "twitter", {"timestamp_us": 10**40}, "TIME_OVERFLOW"),
    ("-10^40 microseconds are before every layout", "twitter", {"timestamp_us": -(10**40)}, "BEFORE_EPOCH"),
)


def cases() -> list[Case]:
    return [_case(*row) for row in ROWS]


def _case(name: str, text: str, given: Given, error: str | None) -> Case:
    layout = parse(text)
    parts = {key: _text(value) for key, value in given.items()}

    def ask() -> Case:
        def all_of(*keys: str) -> list:  # type: ignore[type-arg]
            return [given[key] for key in keys if key in given]

        ticks, nodes, sequences, randoms = [], all_of("node"), all_of("sequence"), all_of("random", "opaque")
        for value in all_of("of"):
            of = decode(layout, value)
            ticks, nodes, sequences = [of.tick], [of.node, *nodes], [of.sequence, *sequences]
            randoms = [of.fields.get("random", of.fields.get("opaque", 0)), *randoms]
        value = encode_given(layout, all_of("timestamp_ms"), all_of("timestamp_us"), ticks, nodes, sequences, randoms)
        return {"id": str(value)}

    return {"name": name, "layout": text, **parts, **result_of(name, ask, error)}


def _text(value: int | dict[str, int]) -> str | dict[str, str]:
    return str(value) if isinstance(value, int) else {name: str(number) for name, number in value.items()}
