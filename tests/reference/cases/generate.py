"""generate.json: runs of one generator under a scripted clock."""

from copy import copy
from dataclasses import dataclass
from functools import partial

from cases import Case, agree, result_of
from cases.layouts import BAIDU_TEST
from errors import Refused
from generator import MAX_BATCH, Generator
from grammar import parse
from layout import Layout
from parts import decode

COMMENT = (
    "One generator a case, max_wait_ms 0. calls in order: at a clock of now_ms (Unix ms), n IDs are asked for. "
    "ids, first, last: decimal strings. error: the code, with retry_after_ms or by_ms where the kind has one; "
    "a refused call changes nothing."
)

# A batch of up to this many is written out, a longer one by its first and last ID.
WRITTEN_OUT = 12

EPOCH = 1735689600000
T = 1772323200000
SMALL = "time:41,node:10,sequence:2;epoch=1735689600000;tick=1ms"
SMALL_TENS = "time:39,node:10,sequence:1;epoch=1735689600000;tick=10ms"
SMALL_HIGH = "unused:1,time:39,sequence:2,machine:16;epoch=1735689600000;tick=10ms"
SIXTEEN_TICKS = "time:4,node:4,sequence:2;epoch=1735689600000;tick=1ms"
NO_SEQUENCE = "time:41,node:10;epoch=1735689600000;tick=1ms"
NODE_FIRST = "node:10,time:42,sequence:2;epoch=1735689600000;tick=1ms"
NEGATIVE_EPOCH = "time:41,node:4,sequence:2;epoch=-1000;tick=1ms"

DISCORD_SIGN_MS = 3619093655552
DISCORD_2090_MS = 3786912000000


@dataclass(frozen=True)
class Call:
    """`count` IDs at a clock of `now_ms`; the error that must come, or None."""

    now_ms: int
    count: int = 1
    error: str | None = None


@dataclass(frozen=True)
class Run:
    """A generator and its calls."""

    name: str
    layout: str
    calls: tuple[Call, ...]
    node: int = 1
    max_ahead_ms: int = 0
    sequence_start: str = "zero"


def calls(*rows: tuple[int] | tuple[int, int] | tuple[int, int, str]) -> tuple[Call, ...]:
    return tuple(Call(*row) for row in rows)


EXHAUSTED, BACKWARDS, OVERFLOW = "EXHAUSTED", "CLOCK_BACKWARDS", "TIME_OVERFLOW"

SEQUENCE = (
    Run("IDs of one ms count up", "snowmint", calls((T,), (T,), (T,), (T,), (T,)), node=5),
    Run("each new ms starts at sequence 0", "snowmint", calls((T,), (T,), (T + 1,), (T + 1,), (T + 2,)), node=5),
    Run("a clock that jumps an hour ahead leaves the time between unused", SMALL, calls((T, 3), (T + 3600000, 2))),
    Run(
        "the four numbers of a tick are used up by the fifth call",
        SMALL,
        calls((T,), (T,), (T,), (T,), (T, 1, EXHAUSTED), (T, 1, EXHAUSTED), (T + 1,)),
    ),
    Run(
        "twitter has exactly 4096 numbers a ms",
        "twitter",
        calls((T, 4096), (T, 1, EXHAUSTED), (T + 1, 4096), (T + 1, 1, EXHAUSTED), (T + 2,)),
        node=378,
    ),
    Run(
        "a frozen clock gives a tick's numbers and no more",
        SMALL,
        calls((T, 4), (T, 1, EXHAUSTED), (T, 1, EXHAUSTED), (T, 2, EXHAUSTED), (T + 5,)),
    ),
    Run("the highest node of twitter", "twitter", calls((T,), (T,), (T + 1,)), node=1023),
    Run("node 0", "snowmint", calls((T,), (T,), (T + 1,)), node=0),
    Run("a layout without node fields runs as node 0", "mastodon", calls((T, 3), (T + 1, 2)), node=0),
    Run("a layout of 53 bits", "safe53", calls((T, 512), (T, 1, EXHAUSTED), (T + 1, 2)), node=7),
    Run("without a sequence there is one ID a tick", NO_SEQUENCE, calls((T,), (T, 1, EXHAUSTED), (T + 1,), (T + 2,))),
    Run(
        "without a sequence max_ahead_ms borrows whole ticks",
        NO_SEQUENCE,
        calls((T, 3), (T, 1, EXHAUSTED), (T + 1,), (T + 2,), (T + 2, 1, EXHAUSTED)),
        max_ahead_ms=2,
    ),
    Run("a node above time", NODE_FIRST, calls((T, 4), (T, 1, EXHAUSTED), (T + 1, 2)), node=1000),
    Run("a sequence above the machine counts in steps of 65536", "sonyflake", calls((T, 3), (T + 10, 2)), node=4660),
    Run(
        "a sequence above the machine carries into the next tick",
        SMALL_HIGH,
        calls((T, 6), (T, 2), (T, 1, EXHAUSTED)),
        node=65535,
        max_ahead_ms=10,
    ),
)

CLOCK = (
    Run(
        "a clock set back by 5 ms is refused until it is back",
        SMALL,
        calls((T, 2), (T - 5, 1, BACKWARDS), (T - 1, 1, BACKWARDS), (T, 2), (T, 1, EXHAUSTED), (T + 1,)),
    ),
    Run(
        "a clock set back after a tick is full is still behind the tick issued",
        SMALL,
        calls((T, 4), (T - 1, 1, BACKWARDS), (T, 1, EXHAUSTED), (T + 1,)),
    ),
    Run("a clock set back by a year tells by how much", SMALL, calls((T,), (T - 31536000000, 1, BACKWARDS), (T,))),
    Run(
        "a rollback within max_ahead_ms goes on in the last tick",
        SMALL,
        calls((T, 2), (T - 5,), (T - 5,), (T - 5, 1, EXHAUSTED), (T - 4,), (T,)),
        max_ahead_ms=5,
    ),
    Run(
        "a rollback one ms beyond max_ahead_ms is refused",
        SMALL,
        calls((T,), (T - 6, 1, BACKWARDS), (T - 5,)),
        max_ahead_ms=5,
    ),
    Run(
        "a full tick at the very bound is exhausted, beyond the bound the clock is backwards",
        SMALL,
        calls((T, 4), (T - 5, 1, EXHAUSTED), (T - 6, 1, BACKWARDS), (T - 4,)),
        max_ahead_ms=5,
    ),
    Run(
        "a frozen clock borrows up to max_ahead_ms",
        SMALL,
        calls((T, 4), (T, 4), (T, 4), (T, 1, EXHAUSTED), (T + 1, 4), (T + 1, 1, EXHAUSTED), (T + 9,)),
        max_ahead_ms=2,
    ),
    Run(
        "borrowed ticks are not given again when the clock reaches them",
        SMALL,
        calls((T, 10), (T + 1,), (T + 2,), (T + 3,)),
        max_ahead_ms=2,
    ),
    Run(
        "after borrowing, a clock set back by one ms is backwards",
        SMALL,
        calls((T, 12), (T - 1, 1, BACKWARDS), (T, 1, EXHAUSTED), (T + 1,)),
        max_ahead_ms=2,
    ),
    Run(
        "a generator that starts before the epoch waits for it",
        SMALL,
        calls((0, 1, "BEFORE_EPOCH"), (EPOCH - 1, 1, "BEFORE_EPOCH"), (EPOCH,), (EPOCH,)),
    ),
    Run(
        "max_ahead_ms does not reach over the epoch for a first ID",
        SMALL,
        calls((EPOCH - 1, 1, "BEFORE_EPOCH"), (EPOCH - 1, 5, "BEFORE_EPOCH"), (EPOCH, 5)),
        max_ahead_ms=10,
    ),
    Run("a clock exactly at the epoch gives tick 0", "snowmint", calls((EPOCH,), (EPOCH,), (EPOCH + 1,))),
    Run(
        "once an ID is issued, a clock before the epoch is only backwards",
        SMALL,
        calls((EPOCH + 3,), (EPOCH - 2, 1, BACKWARDS), (EPOCH + 3,)),
    ),
    Run(
        "once an ID is issued, max_ahead_ms reaches over the epoch",
        SMALL,
        calls((EPOCH, 2), (EPOCH - 5,), (EPOCH - 6, 1, BACKWARDS)),
        max_ahead_ms=5,
    ),
    Run(
        "a negative epoch and a clock before 1970",
        NEGATIVE_EPOCH,
        calls((-1001, 1, "BEFORE_EPOCH"), (-1000,), (-1, 2), (0,), (-2, 1, BACKWARDS)),
    ),
)

COARSE = (
    Run(
        "sonyflake has 256 numbers in 10 ms",
        "sonyflake",
        calls((T, 256), (T, 1, EXHAUSTED), (T + 7, 1, EXHAUSTED), (T + 9, 1, EXHAUSTED), (T + 10,)),
        node=4660,
    ),
    Run("a clock set back within one tick of 10 ms is not backwards", SMALL_TENS, calls((T + 7,), (T + 2,), (T + 10,))),
    Run(
        "backwards is measured from the start of the last tick of 10 ms",
        SMALL_TENS,
        calls((T + 7,), (T - 1, 1, BACKWARDS), (T - 25, 1, BACKWARDS), (T,)),
    ),
    Run(
        "max_ahead_ms of half a tick borrows in the second half of a tick",
        SMALL_TENS,
        calls((T, 2), (T + 4, 1, EXHAUSTED), (T + 5,), (T + 5,), (T + 5, 1, EXHAUSTED)),
        max_ahead_ms=5,
    ),
    Run(
        "ticks of a second",
        BAIDU_TEST,
        calls((T + 250, 8192), (T + 250, 1, EXHAUSTED), (T + 999, 1, EXHAUSTED), (T + 1000, 2), (T + 1999,)),
        node=4,
    ),
    Run("ticks of a second and a clock set back", BAIDU_TEST, calls((T + 100,), (T - 150, 1, BACKWARDS), (T,)), node=4),
)

END = (
    Run("the layout baidu is over since 2024", "baidu", calls((T, 1, OVERFLOW), (T, 2, OVERFLOW)), node=4),
    Run(
        "the last tick of baidu is good for a whole second",
        "baidu",
        calls((1732109055000, 8191), (1732109055999,), (1732109055999, 1, OVERFLOW), (1732109056000, 1, OVERFLOW)),
        node=4,
    ),
    Run(
        "the last tick is used up number by number",
        SIXTEEN_TICKS,
        calls((EPOCH + 15,), (EPOCH + 15,), (EPOCH + 15,), (EPOCH + 15,), (EPOCH + 15, 1, OVERFLOW)),
        node=15,
    ),
    Run(
        "a batch larger than the rest of the last tick is an overflow and leaves the rest",
        SIXTEEN_TICKS,
        calls((EPOCH + 15, 2), (EPOCH + 15, 3, OVERFLOW), (EPOCH + 15, 2), (EPOCH + 15, 1, OVERFLOW)),
    ),
    Run(
        "a batch asks for the wait of its last ID, whether its tick is used up or not",
        SMALL,
        calls((T, 4), (T, 9, EXHAUSTED), (T, 1, EXHAUSTED), (T + 3, 4), (T + 3, 4, EXHAUSTED)),
    ),
    Run(
        "a batch that the rest of the layout cannot hold is an overflow whatever the clock says",
        SIXTEEN_TICKS,
        calls((EPOCH + 10, 1), (EPOCH + 10, 24, OVERFLOW), (EPOCH + 10, 23, EXHAUSTED), (EPOCH + 10, 3)),
    ),
    Run(
        "max_ahead_ms does not reach over the last tick",
        SIXTEEN_TICKS,
        calls((EPOCH + 14, 9, OVERFLOW), (EPOCH + 14, 8), (EPOCH + 14, 1, OVERFLOW), (EPOCH + 15, 1, OVERFLOW)),
        max_ahead_ms=100,
    ),
    Run(
        "after the last ID of a layout a clock set back is an overflow too",
        SIXTEEN_TICKS,
        calls((EPOCH + 15, 4), (EPOCH + 9, 1, OVERFLOW)),
    ),
    Run(
        "a clock beyond the last tick is an overflow, and nothing is lost when it comes back",
        SIXTEEN_TICKS,
        calls((EPOCH + 14,), (EPOCH + 16, 1, OVERFLOW), (EPOCH + 14,), (EPOCH + 15,)),
    ),
    Run("the last ms of twitter", "twitter", calls((3487858230208, 4096), (3487858230208, 1, OVERFLOW)), node=378),
    Run(
        "discord IDs pass 2^63 from one ms to the next",
        "discord",
        calls((DISCORD_SIGN_MS - 1, 4096), (DISCORD_SIGN_MS,), (DISCORD_SIGN_MS,)),
        node=1023,
    ),
    Run(
        "discord IDs of 2090 are unsigned",
        "discord",
        calls((DISCORD_2090_MS, 3), (DISCORD_2090_MS - 1, 1, BACKWARDS), (DISCORD_2090_MS + 1,)),
    ),
)

CARRY = (
    Run(
        "carry goes on counting from tick to tick",
        SMALL,
        calls((T,), (T + 1,), (T + 2,), (T + 3,), (T + 4,), (T + 9,)),
        sequence_start="carry",
    ),
    Run(
        "carry does not wrap inside a tick",
        SMALL,
        calls((T, 3), (T + 1,), (T + 1, 1, EXHAUSTED), (T + 2, 4), (T + 2, 1, EXHAUSTED), (T + 3,)),
        sequence_start="carry",
    ),
    Run(
        "carry keeps its place over a rollback",
        SMALL,
        calls((T, 2), (T - 5, 1, BACKWARDS), (T,), (T + 1,), (T + 2,)),
        sequence_start="carry",
    ),
    Run(
        "carry goes on in the last tick after a rollback within max_ahead_ms",
        SMALL,
        calls((T,), (T + 5,), (T + 3,), (T + 3,), (T + 4,), (T + 7,)),
        max_ahead_ms=5,
        sequence_start="carry",
    ),
    Run(
        "carry borrows the next tick from its sequence 0",
        SMALL,
        calls((T, 3), (T + 1, 3), (T + 1, 2), (T + 1, 1, EXHAUSTED), (T + 3, 2)),
        max_ahead_ms=1,
        sequence_start="carry",
    ),
    Run("carry in ticks of 10 ms", SMALL_TENS, calls((T,), (T + 10,), (T + 20,), (T + 35,)), sequence_start="carry"),
)

BATCHES = (
    Run(
        "a batch spans ticks within max_ahead_ms",
        SMALL,
        calls((T,), (T, 10), (T, 2, EXHAUSTED), (T,), (T, 1, EXHAUSTED)),
        max_ahead_ms=2,
    ),
    Run(
        "a long batch spans ticks of 4096",
        "snowmint",
        calls((T, 10000), (T, 2288), (T, 1, EXHAUSTED), (T + 1, 4096)),
        node=5,
        max_ahead_ms=2,
    ),
    Run(
        "a batch that does not fit is refused whole and takes nothing",
        SMALL,
        calls((T, 3), (T, 2, EXHAUSTED), (T, 1), (T + 1, 4)),
    ),
    Run(
        "a refused batch tells when all of it will fit",
        SMALL,
        calls((T, 3), (T, 10, EXHAUSTED), (T + 1, 10), (T + 1, 3, EXHAUSTED), (T + 2, 3)),
        max_ahead_ms=2,
    ),
    Run(
        "a batch refused for the clock takes nothing",
        SMALL,
        calls((T, 2), (T - 2, 2, BACKWARDS), (T, 2), (T + 1, 4)),
    ),
    Run("a batch refused before the epoch takes nothing", SMALL, calls((EPOCH - 1, 3, "BEFORE_EPOCH"), (EPOCH, 4))),
    Run("a batch of none is empty and changes nothing", SMALL, calls((T, 2), (T + 1, 0), (T, 2), (T, 1, EXHAUSTED))),
    Run("a batch of fewer than none is refused", SMALL, calls((T, 2), (T, -1, "INVALID_ID"), (T, 2))),
    Run("a batch of 2^24+1 is refused as a size", "snowmint", calls((T,), (T, MAX_BATCH + 1, "INVALID_ID"), (T,))),
    Run("a batch of 2^24 is a size, and merely does not fit", "snowmint", calls((T,), (T, MAX_BATCH, EXHAUSTED), (T,))),
)


def cases() -> list[Case]:
    return [_case(run) for run in SEQUENCE + CLOCK + COARSE + END + CARRY + BATCHES]


def _case(run: Run) -> Case:
    layout = parse(run.layout)
    assert 0 <= run.node < layout.nodes, run.name
    generator = Generator(layout, run.node, run.max_ahead_ms, run.sequence_start == "carry")
    issued: list[int] = []
    written = []
    for call in run.calls:
        before = copy(generator)
        answer = result_of(run.name, partial(_answer, generator, call, issued), call.error)
        if call.error is not None:
            agree(f"{run.name}: a refused call changes nothing", before, generator)
        if call.error == EXHAUSTED:
            _check_retry(run.name, generator, call, answer["retry_after_ms"])
        written.append({"now_ms": call.now_ms, "n": call.count, **answer})
    agree(f"{run.name}: IDs strictly increase", sorted(set(issued)), issued)
    for value in issued:
        agree(f"{run.name}: every ID carries the node", run.node, decode(layout, value).node)
    return {
        "name": run.name,
        "layout": run.layout,
        "node": str(run.node),
        "options": {"max_ahead_ms": run.max_ahead_ms, "sequence_start": run.sequence_start},
        "calls": written,
    }


def _answer(generator: Generator, call: Call, issued: list[int]) -> Case:
    ids = generator.next_ids(call.now_ms, call.count)
    issued += ids
    if len(ids) > WRITTEN_OUT:
        return {"first": str(ids[0]), "last": str(ids[-1])}
    return {"ids": [str(value) for value in ids]}


def _check_retry(name: str, generator: Generator, call: Call, retry_after_ms: object) -> None:
    """Checks that `retry_after_ms` is the shortest wait after which the same call succeeds, if it can ever succeed."""
    assert isinstance(retry_after_ms, int)
    if call.count > _most_at_once(generator.layout, generator):
        return
    copy(generator).next_ids(call.now_ms + retry_after_ms, call.count)
    try:
        copy(generator).next_ids(call.now_ms + retry_after_ms - 1, call.count)
    except Refused:
        return
    raise AssertionError(f"{name}: a shorter wait would do")


def _most_at_once(layout: Layout, generator: Generator) -> int:
    """Returns the number of IDs in a new tick and all the ticks that `max_ahead_ms` allows after it."""
    start = generator.sequence if generator.carry else 0
    return layout.ids_per_tick * (generator.max_ahead_ms // layout.tick_ms + 1) - start
