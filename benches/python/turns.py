"""Contenders that take turns in one process, so that other load of the machine slows all of them alike."""

import json
import operator
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice, repeat
from time import perf_counter_ns
from typing import Any

ROUNDS = 301
IDS_A_TURN = 8192


@dataclass
class Contender:
    """A function that mints.

    Args:
        name: The name in the table.
        mint: Takes no arguments, and returns an ID or a sequence of IDs.
        by_next: Call `next(mint)` instead.
        as_text: Call `str(mint())` instead.
        ids_a_call: How many IDs one call returns.
        increasing: Whether each ID must be above the last one. Otherwise it may be equal, as with a clock.
        ordered: Whether IDs have an order. Otherwise they must only be unique.
    """

    name: str
    mint: Any
    by_next: bool = False
    as_text: bool = False
    ids_a_call: int = 1
    increasing: bool = True
    ordered: bool = True
    ns: list[float] = field(default_factory=list)
    last: Any = None

    def turn(self) -> None:
        """Measures a turn. Checks the IDs of some calls before it, and its last answer."""
        calls = IDS_A_TURN // self.ids_a_call
        self._check([self._call() for _ in range(max(1, 256 // self.ids_a_call))])
        loop = _by_next if self.by_next else _as_text if self.as_text else _by_call
        started = perf_counter_ns()
        kept = loop(self.mint, calls)
        self.ns.append((perf_counter_ns() - started) / IDS_A_TURN)
        self._check([kept])

    def _call(self) -> Any:
        answer = next(self.mint) if self.by_next else self.mint()
        if self.as_text:
            return str(answer)
        # A buffer is written to again.
        return answer if self.ids_a_call == 1 else list(answer)

    def _check(self, answers: Sequence[Any]) -> None:
        # A measurement of something that repeats is worth nothing.
        ids = list(answers) if self.ids_a_call == 1 else [id for answer in answers for id in answer]
        assert len(ids) == len(answers) * self.ids_a_call, f"{self.name}: {len(ids)} IDs"
        if not self.ordered:
            assert len(set(ids)) == len(ids), f"{self.name}: an ID came twice"
            return
        if self.last is not None:
            ids.insert(0, self.last)
        in_order = operator.lt if self.increasing else operator.le
        assert all(map(in_order, ids, islice(ids, 1, None))), f"{self.name}: an ID is not above the one before"
        self.last = ids[-1]


def _by_call(mint: Callable[[], Any], calls: int) -> Any:
    kept = None
    for _ in repeat(None, calls):
        kept = mint()
    return kept


def _by_next(mint: Any, calls: int) -> Any:
    kept = None
    for _ in repeat(None, calls):
        kept = next(mint)
    return kept


def _as_text(mint: Callable[[], Any], calls: int) -> Any:
    kept = None
    for _ in repeat(None, calls):
        kept = str(mint())
    return kept


def compare(title: str, contenders: Sequence[Contender]) -> None:
    """Prints a table as a line of JSON: ns an ID, and the ratio to the first contender's, turn by turn."""
    for turn in range(ROUNDS):
        # Each goes first in turn.
        for i in range(len(contenders)):
            contenders[(turn + i) % len(contenders)].turn()
    first = contenders[0].ns
    rows = [
        row(each.name, each.ns, ratio=statistics.median(map(operator.truediv, each.ns, first))) for each in contenders
    ]
    table(title, "ns", rows)


def row(name: str, values: Sequence[float], **more: float) -> dict[str, object]:
    """A row of a table: the median, the 10th and the 90th percentile."""
    deciles = statistics.quantiles(values, n=10)
    return {"name": name, "p10": deciles[0], "median": statistics.median(values), "p90": deciles[8], **more}


def table(title: str, unit: str, rows: Sequence[dict[str, object]]) -> None:
    """Prints a table as a line of JSON, which `benches/run.py` reads."""
    print(json.dumps({"title": title, "unit": unit, "rows": rows}), flush=True)
