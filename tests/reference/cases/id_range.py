"""id_range.json: time ranges to ID ranges."""

from cases import Case, agree, result_of
from cases.decode import FIXED_INSIDE, MICROSECONDS, NODE_ABOVE_TIME, RANDOM_TAIL, SENTRY
from grammar import parse
from layout import MAX_SAFE_INTEGER
from parts import id_range

COMMENT = (
    "Layout.id_range. from_ms, to_ms: Unix ms, both included. lowest, highest: decimal strings. "
    "error: the code, where it must fail."
)

EPOCH = 1735689600000
DAY_FROM, DAY_TO = 1656374400000, 1656460799999
SEQUENCE_ABOVE_TIME = "unused:1,sequence:10,time:43,node:10;epoch=0;tick=1ms"

# Name, layout, from_ms, to_ms, error or None.
ROWS: tuple[tuple[str, str, int, int, str | None], ...] = (
    ("one instant is a whole tick of ten ms", "sonyflake", 1735689600005, 1735689600005, None),
    ("one ms after the last tick", "twitter", DAY_FROM, 3487858230209, "TIME_OVERFLOW"),
    ("a day of tweets", "twitter", DAY_FROM, DAY_TO, None),
    ("one ms is one tick", "snowmint", EPOCH + 1, EPOCH + 1, None),
    ("the epoch starts at ID 0", "snowmint", EPOCH, EPOCH, None),
    ("the whole life of a layout leaves the unused bit alone", "snowmint", EPOCH, EPOCH + 2**41 - 1, None),
    ("the whole life of discord is all 64 bits", "discord", 1420070400000, 1420070400000 + 2**42 - 1, None),
    ("the last tick of discord", "discord", 1420070400000 + 2**42 - 1, 1420070400000 + 2**42 - 1, None),
    ("a range of discord across bit 63", "discord", 3619093655551, 3619093655552, None),
    ("both ends are rounded down to a second", "baidu", 1709210096789, 1709210097789, None),
    ("the last ms of the last tick of ten ms", "sonyflake", 1409529600000, 1409529600000 + 2**39 * 10 - 1, None),
    ("the whole life of safe53 stays below 2^53", "safe53", EPOCH, EPOCH + 2**41 - 1, None),
    ("fields below time are filled whatever their names", RANDOM_TAIL, EPOCH + 1000, EPOCH + 1999, None),
    ("a layout of nothing but time", "time:41;epoch=-5;tick=1ms", -5, 5, None),
    ("a start one ms before the epoch", "snowmint", EPOCH - 1, EPOCH + 1, "BEFORE_EPOCH"),
    ("both ends before the epoch", "snowmint", EPOCH - 2, EPOCH - 1, "BEFORE_EPOCH"),
    ("a start far before the epoch", "snowmint", -(2**53) + 1, EPOCH, "BEFORE_EPOCH"),
    ("both ends after the last tick", "baidu", 1763683200000, 1763769600000, "TIME_OVERFLOW"),
    ("an end far after the last tick", "snowmint", EPOCH, 2**53 - 1, "TIME_OVERFLOW"),
    ("a start of -10^40 ms", "snowmint", -(10**40), EPOCH, "BEFORE_EPOCH"),
    ("an end of 2^63 ms", "snowmint", EPOCH, 2**63, "TIME_OVERFLOW"),
    ("an end of 10^40 ms", "snowmint", EPOCH, 10**40, "TIME_OVERFLOW"),
    ("both ends beyond 64 bits", "snowmint", -(10**40), 10**40, "BEFORE_EPOCH"),
    ("a reversed range beyond 64 bits", "snowmint", 10**40, -(10**40), "INVALID_ID"),
    ("a layout led by a node has no ranges", NODE_ABOVE_TIME, EPOCH, EPOCH + 1, "INVALID_LAYOUT"),
    ("a fixed value above time is part of both ends", SENTRY, EPOCH, EPOCH + 5000, None),
    ("a fixed value below time is part of both ends", FIXED_INSIDE, EPOCH, EPOCH + 1, None),
    ("a ms holds 1000 ticks of a microsecond, and its first counts", MICROSECONDS, EPOCH, EPOCH, None),
    ("a layout with opaque bits has ranges", "time:42,opaque:22;epoch=0", EPOCH, EPOCH, None),
    ("an end one ms before the start", "twitter", DAY_TO, DAY_TO - 1, "INVALID_ID"),
    ("an end before the start in one tick of ten ms", "sonyflake", 1735689600005, 1735689600004, "INVALID_ID"),
    ("a reversed range whose start has no tick", "snowmint", 2**53 - 1, EPOCH, "INVALID_ID"),
    ("a reversed range of a layout without ranges", NODE_ABOVE_TIME, EPOCH + 1, EPOCH, "INVALID_LAYOUT"),
    ("a layout led by a sequence has no ranges", SEQUENCE_ABOVE_TIME, EPOCH, EPOCH + 1, "INVALID_LAYOUT"),
)

PUBLISHED = {
    "one instant is a whole tick of ten ms": ("547205677056000000", "547205677072777215"),
    "a day of tweets": ("1541572081873846272", "1541934469739446271"),
}


def cases() -> list[Case]:
    written = [_case(*row) for row in ROWS]
    ends = {str(case["name"]): (case.get("lowest"), case.get("highest")) for case in written}
    for name, published in PUBLISHED.items():
        agree(name, published, ends[name])
    return written


def _case(name: str, text: str, from_ms: int, to_ms: int, error: str | None) -> Case:
    layout = parse(text)

    def ask() -> Case:
        lowest, highest = id_range(layout, from_ms, to_ms)
        return {"lowest": str(lowest), "highest": str(highest)}

    ends = {"from_ms": _json(from_ms), "to_ms": _json(to_ms)}
    return {"name": name, "layout": text, **ends, **result_of(name, ask, error)}


def _json(ms: int) -> int | str:
    """A number that a reader with doubles would round is a decimal string."""
    return ms if abs(ms) <= MAX_SAFE_INTEGER else str(ms)
