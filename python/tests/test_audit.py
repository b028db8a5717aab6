"""`snowmint.audit`."""

import json
from array import array
from datetime import UTC, datetime

import numpy
import pytest

from snowmint import InvalidIdError, InvalidLayoutError, Layout, audit, layouts

# 2026-03-01
NOW_MS = 1772323200000
TWO = [176477214392320000, 176477214392320001]


def ids_of(
    node: int, ticks: range, *, each: int = 1, layout: Layout = layouts.SNOWMINT, sequence: int = 0
) -> list[int]:
    first = layout.encode(timestamp_ms=NOW_MS, node=node, sequence=sequence)
    tick = layout.encode(timestamp_ms=NOW_MS + 1, node=node, sequence=sequence) - first
    return [first + tick * at + number for at in ticks for number in range(each)]


def kinds(ids: object, layout: str | Layout | None = None) -> list[tuple[str, int | None]]:
    return [(finding.kind, finding.node) for finding in audit(ids, layout).findings]


def test_a_clean_log_has_no_finding() -> None:
    ids = [id for pair in zip(ids_of(1, range(5000)), ids_of(2, range(5000)), strict=True) for id in pair]
    report = audit(ids)
    assert (report.findings, report.order, report.ids) == ([], "ascending", 10_000)
    assert [(node.node, node.ids, node.from_ms, node.to_ms) for node in report.nodes] == [
        (1, 5000, NOW_MS, NOW_MS + 4999),
        (2, 5000, NOW_MS, NOW_MS + 4999),
    ]
    assert report.nodes[0].ids_per_second == 1000
    assert [node.repeated for node in audit([*ids, ids[1], ids[3]], unordered=True).nodes] == [0, 2]
    assert str(report).endswith("\nno finding\n")


def test_each_prepared_fault_is_found() -> None:
    first, second = ids_of(3, range(1000), each=2), ids_of(3, range(0, 1000, 3))
    shared = sorted(first + second, key=lambda id: id >> 22)
    assert kinds(shared) == [("shared_node", 3), ("duplicates", None)]
    assert kinds(ids_of(3, range(1000)) + ids_of(3, range(500, 2000))) == [("clock_back", 3), ("duplicates", None)]
    wrapped = [id for tick in range(50) for id in ids_of(5, range(tick, tick + 1), each=1024, layout=layouts.INSTAGRAM)]
    wrapped += ids_of(5, range(49, 50), each=700, layout=layouts.INSTAGRAM)
    assert kinds(wrapped, "instagram") == [("wrapped", 5), ("duplicates", None)]
    alone, both = ids_of(7, range(200)), ids_of(7, range(200, 900), each=3)
    assert kinds(alone + [id for id in both for _ in range(2)]) == [("forked", 7), ("duplicates", None)]
    short = Layout("time:31,node:10,sequence:12;epoch=2026-01-01T00:00:00Z")
    ended = [((2**31 - 500 + tick) % 2**31) << 22 for tick in range(1000)]
    assert kinds(ended, short) == [("layout_ended", None)]
    exact = [id + number % 4096 for number, id in enumerate(ids_of(3, range(9000)))]
    assert kinds([int(float(id)) for id in exact])[0] == ("truncated", None)


def test_a_finding_has_numbers_a_sentence_and_a_cure() -> None:
    report = audit(ids_of(3, range(1000)) + ids_of(3, range(500, 2000)))
    clock, duplicates = report.findings
    assert (clock.node, clock.times, clock.by_ms, clock.line, clock.repeated) == (3, 1, 499, 1001, 500)
    assert (clock.id, clock.from_ms) == (ids_of(3, range(500, 501))[0], NOW_MS + 999)
    assert str(clock).startswith("the clock of node 3 stepped back by 499 ms at 2026-03-01T00:00:00.999Z (line 1001)")
    assert "CLOCK_BACKWARDS" in clock.cure
    assert (duplicates.ids, duplicates.times, duplicates.node) == (500, 500, None)
    assert repr(report) == "AuditReport(2500 IDs, 2 findings)"
    assert repr(clock) == f"AuditFinding(clock_back: {clock})"
    written = json.loads(report.json())
    assert [finding["message"] for finding in written["findings"]] == [str(clock), str(duplicates)]
    assert "prefers-color-scheme:dark" in report.svg()


def test_iterables_and_arrays_are_read() -> None:
    expected = [("duplicates", None)]
    ids = [*TWO, TWO[1]]
    assert kinds(iter(ids)) == kinds(array("Q", ids)) == kinds(numpy.array(ids, "uint64")) == expected
    assert kinds(numpy.array(ids, ">i8")) == expected
    with pytest.raises(TypeError, match="uint64 or int64, not of float64"):
        audit(numpy.array(ids, float))
    with pytest.raises(TypeError, match="an int is needed, not str"):
        audit(["5"])
    with pytest.raises(InvalidIdError):
        audit([2**64])
    with pytest.raises(InvalidLayoutError):
        audit(ids, "none")


def test_the_time_of_the_system_is_an_argument() -> None:
    ids = ids_of(3, range(1000))
    since = datetime.fromtimestamp(NOW_MS / 1000 + 0.5, UTC)
    report = audit(ids, since=since, until=NOW_MS + 899)
    assert [(finding.kind, finding.ids) for finding in report.findings] == [("before_begin", 500), ("future", 100)]
    with pytest.raises(ValueError, match="naive"):
        audit(ids, since=datetime(2026, 1, 1))  # noqa: DTZ001
    with pytest.raises(ValueError, match="jitter_ms"):
        audit(ids, jitter_ms=-1)
    late = ids[:20] + ids[5:6] + ids[20:]
    assert kinds(late) == [("clock_back", 3), ("duplicates", None)]
    assert [finding.kind for finding in audit(late, jitter_ms=1000, unordered=True).findings] == ["duplicates"]


# The command line
