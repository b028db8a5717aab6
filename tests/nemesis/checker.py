"""Reads all ledgers of a run, and counts what breaks a promise."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ledger
import numpy as np
from ledger import UNCHECKED, Call, Generator, Ids
from numpy.typing import NDArray

SLACK_MS = 5000
"""How much later than its deadline a call may return on a busy machine."""
SECTION = 100_000
"""How many users have one allocator at a time."""
SAMPLES = 5
"""How many violations of each kind the report describes in words."""
ORDER = {
    "segment": "session",
    "key": "session",
    "ticket": "all",
    "sequence": "all",
    "cached": "session",
    "user": "user",
    "native": "none",
    "flickr": "none",
}
"""Over what the numbers of each kind increase: a session (a source of numbers that a process opened, or a connection to a
service), all processes, or all numbers of a user. A session's numbers are in one ledger."""

Stops = Mapping[int, Sequence[tuple[int, int]]]
"""When each process stood still, by process number: from and to, ns of the monotonic clock."""

VIOLATIONS = {
    "duplicates": "an ID was minted twice",
    "order": "an ID is not above all IDs that its generator, or the service by that connection, had returned before the call",
    "outside": "an ID has another node, or lies outside of the window that its worker had written down",
    "beyond": "an ID lies at or beyond the end of its node's record in the store",
    "shared": "two generators or services minted on one node in overlapping times",
    "late": "a call returned seconds after its deadline",
    "repeated": "a number of a segment, key, ticket, sequence or user was given twice",
    "unordered": "a number is not above all numbers of its order that had come before the request",
    "unexplained": "a process ended with an error that no fault explains",
    "silent": "a worker minted nothing, or no number of a kind was taken",
}


@dataclass
class Findings:
    """The counts of a run.

    Attributes:
        ids: How many IDs the ledgers hold.
        numbers: How many numbers of each kind; of kind `id`, how many of the IDs came from services.
        takers: How many numbers of each kind each process took, by name of the process and kind.
        generators: How many generators and services minted.
        takeovers: How often a node changed from one generator or service to another.
        successions: How often a section of users changed from one ledger to another.
        refusals: How many calls were refused, by code.
        violations: How often each promise was broken.
        latest_ms: The longest time by which a call passed its deadline.
        samples: Some violations in words.
    """

    ids: int = 0
    numbers: Counter[str] = field(default_factory=Counter)
    takers: Counter[tuple[str, str]] = field(default_factory=Counter)
    generators: int = 0
    takeovers: int = 0
    successions: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    violations: Counter[str] = field(default_factory=Counter)
    latest_ms: int = 0
    samples: list[str] = field(default_factory=list)

    def broken(self, violation: str, sentence: str, times: int = 1) -> None:
        """Counts violations of a promise, and keeps the first sentences."""
        if self.violations[violation] < SAMPLES:
            self.samples.append(f"{violation}: {sentence}")
        self.violations[violation] += times


def check_ids(ledgers: Iterable[Path], stops: Stops, findings: Findings) -> None:
    """Checks the ledgers of workers that mint, and of clients that ask services for IDs."""
    threads: defaultdict[str, list[Generator]] = defaultdict(list)
    for path in sorted(ledgers):
        for generator in ledger.read(path):
            threads[generator.name].append(generator)
    minted: list[tuple[str, Ids]] = []
    spans: defaultdict[int, list[tuple[int, int, str]]] = defaultdict(list)
    sources: set[str] = set()
    for name, generators in threads.items():
        calls = [call for generator in generators for call in generator.calls]
        for call in calls:
            _check_deadline(name, generators[0].process, call, stops, findings)
        findings.refusals.update(call.code for call in calls if call.code)
        calls = [call for call in calls if len(call.ids)]
        if not calls:
            continue
        ids = np.concatenate([call.ids for call in calls])
        minted.append((name, ids))
        nodes, times = ledger.nodes_of(ids), ledger.ms_of(ids)
        # Connections to one service lead to the same generator.
        service = generators[0].service
        sources.add(service or name)
        for node in np.unique(nodes):
            of_node = times[nodes == node]
            spans[int(node)].append((int(of_node.min()), int(of_node.max()), service or name))
        if service:
            findings.numbers["id"] += len(ids)
            # A service that has lost its node takes another one, and begins a new order.
            for node in np.unique(nodes):
                _check_order(name, [call for call in calls if ledger.nodes_of(call.ids)[0] == node], findings)
        else:
            for call in calls:
                _check_window(name, call, findings)
            _check_order(name, calls, findings)
    findings.generators += len(sources)
    _check_spans(spans, findings)
    if minted:
        ids = np.concatenate([ids for _, ids in minted])
        findings.ids = len(ids)
        values, counts = np.unique(ids, return_counts=True)
        for value, count in zip(values[counts > 1], counts[counts > 1], strict=True):
            # The report describes the first duplicates only.
            is_described = findings.violations["duplicates"] < SAMPLES
            holders = [name for name, ids in minted if is_described and (ids == value).any()]
            findings.broken(
                "duplicates", f"{value} was minted {count} times, by {' and '.join(holders)}", int(count) - 1
            )


def _check_deadline(name: str, process: int, call: Call, stops: Stops, findings: Findings) -> None:
    if call.deadline_ms == UNCHECKED:
        return
    stood = sum(max(0, min(call.back, to) - max(call.call, since)) for since, to in stops.get(process, ()))
    late_ms = (call.back - call.call - stood) // 1_000_000 - call.deadline_ms
    findings.latest_ms = max(findings.latest_ms, late_ms)
    if late_ms > SLACK_MS:
        findings.broken("late", f"a call of {name} returned {late_ms} ms after its deadline of {call.deadline_ms} ms")


def _check_window(name: str, call: Call, findings: Findings) -> None:
    if call.window is None:
        findings.broken("outside", f"{name} minted {call.ids[0]} before it wrote down a window", len(call.ids))
        return
    node, start, end = call.window
    times = ledger.ms_of(call.ids)
    wrong = (times < start) | (times >= end) | (ledger.nodes_of(call.ids) != node)
    if wrong.any():
        first = int(np.argmax(wrong))
        sentence = f"{name} minted {call.ids[first]} at {times[first]}, in the window {start} to {end} of node {node}"
        findings.broken("outside", sentence, int(wrong.sum()))


def _check_order(name: str, calls: list[Call], findings: Findings) -> None:
    for call in calls:
        steps = call.ids[1:] <= call.ids[:-1]
        if steps.any():
            at = int(np.argmax(steps))
            sentence = f"{name} minted {call.ids[at + 1]} after {call.ids[at]}, in one call"
            findings.broken("order", sentence, int(steps.sum()))
    # Threads overlap: a call counts as earlier if it had returned before the other one was made.
    asked = np.array([call.call for call in calls])
    back = np.array([call.back for call in calls])
    lowest = np.array([call.ids.min() for call in calls], np.uint64)
    highest = np.array([call.ids.max() for call in calls], np.uint64)
    wrong, before = not_above(asked, back, lowest, highest)
    for at in np.flatnonzero(wrong).tolist():
        findings.broken("order", f"{name} minted {lowest[at]} in a call after it had returned {before[at]}")


def not_above(
    asked: NDArray[Any], back: NDArray[Any], lowest: NDArray[Any], highest: NDArray[Any]
) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Finds calls whose lowest value is not above the highest value of all calls that had returned before.

    Returns whether each call is wrong, and that highest value.
    """
    order = np.argsort(back, kind="stable")
    tops = np.maximum.accumulate(highest[order])
    earlier = np.searchsorted(back[order], asked, "left")
    before = tops[np.maximum(earlier, 1) - 1]
    return (earlier > 0) & (lowest <= before), before


def _check_spans(spans: Mapping[int, list[tuple[int, int, str]]], findings: Findings) -> None:
    for node, found in spans.items():
        found.sort()
        findings.takeovers += sum(one[2] != other[2] for one, other in itertools.pairwise(found))
        last, holder = -1, ""
        for first, end, name in found:
            if first <= last and name != holder:
                findings.broken("shared", f"{holder} and {name} minted on node {node}, at {first} and until {last}")
            if end > last:
                last, holder = end, name


def last_ms(ledgers: Iterable[Path]) -> dict[int, int]:
    """Returns the Unix ms of the last ID of each node in the ledgers."""
    last: dict[int, int] = {}
    for path in ledgers:
        found = [call.ids for generator in ledger.read(path) for call in generator.calls if len(call.ids)]
        if not found:
            continue
        ids = np.concatenate(found)
        nodes, times = ledger.nodes_of(ids), ledger.ms_of(ids)
        for node in np.unique(nodes):
            last[int(node)] = max(last.get(int(node), 0), int(times[nodes == node].max()))
    return last


def check_records(last: Mapping[int, int], ends: Mapping[int, int], findings: Findings) -> None:
    """Checks that the store's record of each node ends after the node's last ID.

    Args:
        last: The Unix ms of the last ID of each node, as the ledgers said before the store was read.
        ends: The end of each node's window, as the store says.
        findings: Gets the violations.
    """
    for node, ms in last.items():
        end = ends.get(node)
        if end is None or ms >= end:
            sentence = f"node {node} minted at {ms}, and its record in the store ends at {end}"
            findings.broken("beyond", sentence)


def check_takes(ledgers: Iterable[Path], findings: Findings) -> None:
    """Checks the ledgers of numbers. Their names begin with the kind and a dot, and their folders name the processes."""
    kinds: defaultdict[str, list[NDArray[np.void]]] = defaultdict(list)
    for path in sorted(ledgers):
        kind, takes = path.name.partition(".")[0], ledger.read_takes(path)
        if len(takes):
            findings.takers[path.parent.name, kind] += len(takes)
            kinds[kind].append(takes)
    for kind, found in kinds.items():
        takes, order = np.concatenate(found), ORDER[kind]
        numbers = np.repeat(np.arange(len(found), dtype=np.uint64), [len(one) for one in found])
        findings.numbers[kind] += len(takes)
        if order == "user":
            findings.successions += _successions(takes, numbers)
        values = takes[["whose", "low", "high"]].copy()
        if order != "user":
            values["whose"] = 0
        distinct, counts = np.unique(values, return_counts=True)
        for value, count in zip(distinct[counts > 1], counts[counts > 1], strict=True):
            whose = f" of user {value['whose']}" if order == "user" else ""
            findings.broken("repeated", f"{kind} {value['low']}{whose} was given {count} times", int(count) - 1)
        if order == "session":
            takes["whose"] |= numbers << np.uint64(32)
        elif order != "user":
            takes["whose"] = 0
        if order != "none":
            _check_increase(kind, takes, findings)


def _check_increase(kind: str, takes: NDArray[np.void], findings: Findings) -> None:
    """Checks that the numbers of each user or session increase."""
    takes = takes[np.argsort(takes["whose"], kind="stable")]
    for own in np.split(takes, np.flatnonzero(np.diff(takes["whose"])) + 1):
        wrong, before = not_above(own["call"], own["back"], own["low"], own["low"])
        for at in np.flatnonzero(wrong).tolist():
            whose = f" of user {own['whose'][at]}" if ORDER[kind] == "user" else ""
            findings.broken("unordered", f"{kind} {own['low'][at]}{whose} was asked for after {before[at]} had come")


def _successions(takes: NDArray[np.void], ledgers: NDArray[np.uint64]) -> int:
    """Counts how often a section of users changed from one ledger to another."""
    sections = takes["whose"] // SECTION
    order = np.lexsort((takes["call"], sections))
    return int(((np.diff(ledgers[order]) != 0) & (np.diff(sections[order]) == 0)).sum())
