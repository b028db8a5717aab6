"""mint.json: the IDs that a process mints one after the other, with a scripted clock and scripted random bits."""

from collections.abc import Callable
from typing import Protocol

from cases import Case, agree
from errors import Refused
from wide import MAX_32, MAX_48, MAX_60, TO_1970, Counting, Gregorian, Monotonic, Random, Seven, uuid1, uuid6

COMMENT = (
    "kind: what is minted; last: what was minted last, if anything. A call has now_ms or, of versions 1 and 6, now_100ns (100 ns "
    "since 1970, a decimal string), and random: numbers of 32 bits, exactly those that are taken, in order. The answer is "
    "an id or the code of an error."
)

NOW_MS = 1793491200000
NOW_100NS = NOW_MS * 10_000


class State(Protocol):
    """The minting state of one kind."""

    def next(self, now: int, random: Random, /) -> str:
        """Mints the next ID."""


KINDS: dict[str, tuple[Callable[[], State], Callable[[str], State] | None]] = {
    "uuid1": (lambda: Gregorian(uuid1), None),
    "uuid6": (lambda: Gregorian(uuid6), None),
    "uuid7": (Seven, Seven.after),
    "ulid": (Monotonic, Monotonic.after),
    "object_id": (Counting, None),
}

# Name, kind, the last ID, and the calls, each with a clock and the available random numbers.
RUNS: tuple[tuple[str, str, str | None, tuple[tuple[int, tuple[int, ...]], ...]], ...] = (
    (
        "version 1 goes on from a clock that stands still or steps back",
        "uuid1",
        None,
        (
            (NOW_100NS, (0x01234567, 0x89ABCDEF)),
            (NOW_100NS, ()),
            (NOW_100NS - 36_000_000_000, ()),
            (-(2**63), ()),
            (NOW_100NS + 3, ()),
            (NOW_100NS + 10_000_000, ()),
        ),
    ),
    (
        "version 6 goes on from a clock that stands still or steps back",
        "uuid6",
        None,
        ((NOW_100NS, (MAX_32, MAX_32)), (NOW_100NS, ()), (NOW_100NS - 1, ()), (NOW_100NS + 2, ()), (0, ())),
    ),
    ("the node of no random bits has the multicast bit", "uuid6", None, ((0, (0, 0)),)),
    (
        "versions 1 and 6 begin in 1582",
        "uuid1",
        None,
        ((-TO_1970 - 1, ()), (-TO_1970, (1, 2)), (-TO_1970, ()), (-(2**63), ())),
    ),
    (
        "versions 1 and 6 end in 5236",
        "uuid6",
        None,
        ((MAX_60 - TO_1970 + 1, ()), (MAX_60 - TO_1970 - 1, (3, 4)), (0, ()), (0, ()), (2**63 - 1, ())),
    ),
    (
        "version 7 counts within a ms and begins anew in the next",
        "uuid7",
        None,
        (
            (NOW_MS, (0x00000123, 0x456789AB, 0xCDEF0123)),
            (NOW_MS, (0,)),
            (NOW_MS, (MAX_32,)),
            (NOW_MS + 1, (MAX_32, MAX_32, MAX_32)),
            (NOW_MS + 1, (7,)),
        ),
    ),
    (
        "version 7 never steps back with the clock",
        "uuid7",
        None,
        ((NOW_MS, (1, 2, 3)), (NOW_MS - 1, (4,)), (0, (5,)), (-(2**53 - 1), (6,)), (NOW_MS + 1, (0, 0, 0))),
    ),
    (
        "the counter of version 7 passes from its low bits to its high ones",
        "uuid7",
        "017f22e2-79b0-7000-bfff-ffffffffffff",
        ((1645557742000, (0,)), (1645557742000, (1,))),
    ),
    (
        "version 7 moves the ms on when the counter is used up",
        "uuid7",
        "017f22e2-79b0-7fff-bfff-fffe00000000",
        (
            (1645557742000, (9,)),
            (1645557742000, (MAX_32, MAX_32, 10)),
            (1645557741000, (11,)),
            (1645557742001, (12,)),
            (1645557742002, (0, 5, 6)),
        ),
    ),
    (
        "version 7 ends in 10889",
        "uuid7",
        "ffffffff-ffff-7fff-bfff-fffe00000000",
        ((MAX_48 + 1, ()), (0, (1,)), (0, ()), (MAX_48, ())),
    ),
    ("version 7 does not begin before 1970", "uuid7", None, ((-1, ()), (0, (0, 0, 0)), (-1, (1,)))),
    (
        "the specification's ULIDs in order",
        "ulid",
        "01BX5ZZKBKACTAV9WEVGEMMVRY",
        ((1508808576371, ()), (1508808576371, ()), (1508808576371, ())),
    ),
    (
        "the specification's end of a ms",
        "ulid",
        "01BX5ZZKBKZZZZZZZZZZZZZZZX",
        (
            (1508808576371, ()),
            (1508808576371, ()),
            (1508808576371, ()),
            (1508808576000, ()),
            (1508808576372, (1, 2, 3)),
        ),
    ),
    (
        "ULIDs go on from a clock that stands still or steps back",
        "ulid",
        None,
        (
            (NOW_MS, (0xFFFF0000, 0, MAX_32)),
            (NOW_MS, ()),
            (NOW_MS - 1, ()),
            (-5, ()),
            (NOW_MS + 1, (MAX_32, MAX_32, MAX_32 - 1)),
            (NOW_MS + 1, ()),
            (NOW_MS + 1, ()),
        ),
    ),
    (
        "ULIDs begin in 1970 and end in 10889",
        "ulid",
        None,
        ((-1, ()), (2**48, ()), (MAX_48, (0, 0, 0)), (2**48, ()), (0, ())),
    ),
    (
        "ObjectIds count on over seconds and clock steps",
        "object_id",
        None,
        ((NOW_MS, (0x01020304, 0x05000010)), (NOW_MS + 999, ()), (NOW_MS + 1000, ()), (NOW_MS, ()), (0, ()), (-1, ())),
    ),
    (
        "the counter of ObjectIds goes round to 0",
        "object_id",
        None,
        ((NOW_MS, (MAX_32, MAX_32)), (NOW_MS, ()), (NOW_MS, ())),
    ),
    (
        "the seconds of ObjectIds are unsigned and end in 2106",
        "object_id",
        None,
        (
            (-1, ()),
            ((MAX_32 + 1) * 1000, ()),
            (2**31 * 1000, (0, 0)),
            (MAX_32 * 1000 + 999, ()),
            ((MAX_32 + 1) * 1000, ()),
            (0, ()),
        ),
    ),
)

# Consecutive ULIDs in the ULID specification.
PUBLISHED = {
    "the specification's ULIDs in order": (
        "01BX5ZZKBKACTAV9WEVGEMMVRZ",
        "01BX5ZZKBKACTAV9WEVGEMMVS0",
        "01BX5ZZKBKACTAV9WEVGEMMVS1",
    ),
    "the specification's end of a ms": ("01BX5ZZKBKZZZZZZZZZZZZZZZY", "01BX5ZZKBKZZZZZZZZZZZZZZZZ", "EXHAUSTED"),
}


def cases() -> list[Case]:
    return [_run(*run) for run in RUNS]


def _run(name: str, kind: str, last: str | None, calls: tuple[tuple[int, tuple[int, ...]], ...]) -> Case:
    begin, after = KINDS[kind]
    if last is None:
        state = begin()
    else:
        assert after is not None, name
        state = after(last)
    answers = [_call(name, state, kind, now, words) for now, words in calls]
    short = [answer.get("id", answer.get("error")) for answer in answers]
    stated = PUBLISHED.get(name, ())
    agree(name, stated, tuple(short[: len(stated)]))
    begun: Case = {"name": name, "kind": kind} | ({} if last is None else {"last": last})
    return {**begun, "calls": answers}


def _call(name: str, state: State, kind: str, now: int, words: tuple[int, ...]) -> Case:
    ready = list(words)
    asked: Case = {"now_100ns": str(now)} if kind in ("uuid1", "uuid6") else {"now_ms": now}
    try:
        answer: Case = {"id": state.next(now, lambda: ready.pop(0))}
    except Refused as refusal:
        answer = {"error": refusal.code, **refusal.detail}
    assert not ready, f"{name}: {ready} are not taken"
    return {**asked, "random": list(words), **answer}
