"""Rules for all classes and functions: pickles, copies, weak references, arguments."""

import copy
import json
import pickle
import weakref
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import processes
from snowmint import (
    Layout,
    Mask,
    Snowflake,
    UuidMask,
    audit,
    inspect,
    ksuid,
    layouts,
    object_id,
    scatter,
    text,
    ulid,
    uuid7,
    xid,
)

ID = 1541815603606036480
KEY = bytes(range(16))
REPORT = audit([ID, ID, ID + 1, ID - (1 << 30), ID + 2], "twitter")
VECTORS = json.loads((Path(__file__).parents[2] / "tests/vectors/audit.json").read_text())


def copies(one: Any) -> list[Any]:
    """Copies of an object, by each way."""
    pickled = [pickle.loads(pickle.dumps(one, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    return [copy.copy(one), copy.deepcopy(one), *pickled]


@pytest.mark.parametrize(
    "value", [str(ID), ID, -5, "017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "01ARZ3NDEKTSV4RRFFQ69G5FAV"]
)
def test_candidates_are_copied(value: Any) -> None:
    for candidate in inspect(value, now=1790000000000):
        for again in copies(candidate):
            assert again == candidate and hash(again) == hash(candidate)
            assert (repr(again), again.parts) == (repr(candidate), candidate.parts)
            assert (again.confidence, again.timestamp) == (candidate.confidence, candidate.timestamp)


def test_reports_of_audits_are_copied() -> None:
    reports = [REPORT, *(audit(map(int, case["ids"]), case["layout"]) for case in VECTORS["cases"])]
    kinds = {finding.kind for report in reports for finding in report.findings}
    assert kinds >= {"truncated", "shared_node", "duplicates", "clock_back"}
    for report in reports:
        for again in copies(report):
            assert (str(again), again.json(), again.svg()) == (str(report), report.json(), report.svg())
        for one in [*report.findings, *report.nodes]:
            for again in copies(one):
                assert (repr(again), type(again)) == (repr(one), type(one))


def test_masks_are_copied_with_their_keys() -> None:
    for mask in (Mask(KEY), Mask(KEY, tweak="users"), Mask(KEY, tweak=b"\xff", digits=8)):
        for again in copies(mask):
            assert again.encode(12345678) == mask.encode(12345678)
    uuid, uuid_mask = uuid7(), UuidMask(KEY)
    for again in copies(uuid_mask):
        assert again.encode(uuid) == uuid_mask.encode(uuid)


def test_expressions_of_sql_are_copied() -> None:
    parts = Layout("time:41,node:10,sequence:12;epoch=0").decode_sql("mariadb", "a b")
    for again in copies(parts):
        assert (repr(again), again.fields) == (repr(parts), parts.fields)


@pytest.mark.parametrize(
    "one",
    [
        *(REPORT, REPORT.nodes[0], REPORT.findings[0], inspect(ID)[0], Mask(KEY), UuidMask(KEY), Snowflake(node=5)),
        *(layouts.TWITTER, layouts.TWITTER.decode(ID), layouts.TWITTER.decode_sql("postgres", "id")),
        *(ulid(), ksuid(), xid(), object_id(), uuid7()),
    ],
    ids=lambda one: type(one).__name__,
)
def test_classes_take_weak_references(one: object) -> None:
    assert weakref.ref(one)() is one


class Mine(Exception):
    """The error that the number raises."""


class Number:
    """A number whose conversion fails."""

    def __index__(self) -> int:
        raise Mine


@pytest.mark.parametrize(
    "call",
    [
        layouts.TWITTER.decode,
        inspect,
        lambda number: layouts.TWITTER.encode(timestamp_ms=1656432460105, node=number),
        lambda number: layouts.TWITTER.encode(timestamp_ms=1656432460105, node={"datacenter": number, "worker": 0}),
        lambda number: layouts.TWITTER.encode(timestamp_ms=number),
        lambda number: Snowflake(node=number),
        lambda number: Snowflake(node=5, max_wait_ms=number),
        lambda number: Snowflake(exclude=[number]),
        lambda number: Snowflake(node=5, clock=lambda: number).next_id(),
        lambda number: Snowflake(node=5).next_ids(number),
        lambda number: text.encode(number, "hex"),
        lambda number: scatter.reverse_bits(number),
        lambda number: audit([number]),
        lambda number: Mask(KEY).encode(number),
    ],
)
def test_an_exception_of_index_comes_through(call: Callable[[Any], object]) -> None:
    with pytest.raises(Mine):
        call(Number())


@pytest.mark.parametrize(
    "ids", [b"1541815603606036480", bytearray(b"15"), memoryview(b"15"), array("B", [1]), array("b", [1])]
)
def test_an_audit_of_bytes_is_refused(ids: Any) -> None:
    with pytest.raises(TypeError, match="audit takes IDs, not the bytes of"):
        audit(ids)


def test_an_audit_takes_arrays_of_ids() -> None:
    for ids in (array("Q", [ID, ID]), memoryview(array("Q", [ID, ID])), array("q", [ID, ID])):
        assert audit(ids, "twitter").ids == 2


def test_a_wait_under_gevent_leaves_the_hub_free() -> None:
    program = """
        from gevent import monkey
        monkey.patch_all()
        import threading
        from snowmint import Snowflake

        now_ms = 1_767_225_600_000
        generator = Snowflake("time:41,node:10;epoch=0", 5, clock=lambda: now_ms, max_wait_ms=3_600_000)
        first = generator.next_id()
        ids = []
        waits = threading.Thread(target=lambda: ids.append(generator.next_id()))
        waits.start()
        # Runs while the other one waits, and lets it go on.
        import gevent
        for _ in range(3):
            gevent.sleep(0)
            assert not ids
        now_ms += 1
        waits.join()
        assert ids == [first + 1024], ids
    """
    processes.run(program)
