"""The checker turns red: each test writes ledgers by hand, first without and then with one violation."""

import random
import time
from pathlib import Path

import checker
import ledger
import pytest
from checker import ORDER, SLACK_MS, Findings
from ledger import EPOCH_MS, Writer
from plan import FAULTS, plan

from stores import ENGINES

START = EPOCH_MS + 10_000
WINDOW = (3, START, START + 1000)
"""A node and its window."""


def id_at(ms: int, sequence: int = 0, node: int = 3) -> int:
    """Returns the ID of a time after the start of the window."""
    return (START + ms - EPOCH_MS) << 16 | node << 12 | sequence


def write(path: Path, *calls: list[int], window: tuple[int, int, int] | None = WINDOW, number: int = 0) -> None:
    """Writes the ledger of one generator, a record for each call."""
    book = Writer(path)
    book.opened(number, time.monotonic_ns())
    if window:
        book.granted(*window)
    for ids in calls:
        call = time.monotonic_ns()
        book.minted(call, time.monotonic_ns(), 200, ids)


def serve(path: Path, *calls: tuple[int, list[int]], service: int = 0) -> None:
    """Writes the ledger of a client of a service, a record for each call, with the number of its connection."""
    book = Writer(path)
    for connection, ids in calls:
        call = time.monotonic_ns()
        book.served(service, connection, call)
        book.minted(call, time.monotonic_ns(), ledger.UNCHECKED, ids)


def violations(directory: Path) -> dict[str, int]:
    """Checks the ledgers of a directory."""
    findings = Findings()
    checker.check_ids(directory.iterdir(), {}, findings)
    return dict(findings.violations)


def test_sound_ledgers_have_no_violation(tmp_path: Path) -> None:
    write(tmp_path / "one.0", [id_at(0), id_at(0, 1)], [id_at(7)])
    write(tmp_path / "two.0", [id_at(0, node=4)], window=(4, *WINDOW[1:]))
    # The next holder of node 3.
    write(tmp_path / "three.0", [id_at(1000)], window=(3, START + 1000, START + 2000))
    findings = Findings()
    checker.check_ids(tmp_path.iterdir(), {}, findings)
    assert findings.violations == {}
    assert (findings.ids, findings.generators, findings.takeovers) == (5, 3, 1)


def test_a_duplicate_is_found(tmp_path: Path) -> None:
    write(tmp_path / "one.0", [id_at(5)])
    write(tmp_path / "two.0", [id_at(5)])
    found = violations(tmp_path)
    assert found["duplicates"] == 1
    assert found["shared"] == 1


def test_a_step_back_is_found(tmp_path: Path) -> None:
    write(tmp_path / "one.0", [id_at(5)], [id_at(4)])
    assert violations(tmp_path) == {"order": 1}


def test_a_step_back_within_a_call_is_found(tmp_path: Path) -> None:
    write(tmp_path / "one.0", [id_at(5, 1), id_at(5, 0)])
    assert violations(tmp_path) == {"order": 1}


def test_a_step_back_across_threads_is_found(tmp_path: Path) -> None:
    write(tmp_path / "one.0", [id_at(5)])
    write(tmp_path / "one.1", [id_at(4)])
    assert violations(tmp_path) == {"order": 1}


@pytest.mark.parametrize("ms", [-1, 1000])
def test_an_id_outside_of_its_window_is_found(tmp_path: Path, ms: int) -> None:
    write(tmp_path / "one.0", [id_at(ms)])
    assert violations(tmp_path) == {"outside": 1}


def test_an_id_of_another_node_is_found(tmp_path: Path) -> None:
    write(tmp_path / "one.0", [id_at(5, node=9)])
    assert violations(tmp_path) == {"outside": 1}


def test_an_id_before_any_window_is_found(tmp_path: Path) -> None:
    write(tmp_path / "one.0", [id_at(5)], window=None)
    assert violations(tmp_path) == {"outside": 1}


def test_two_holders_of_one_node_at_a_time_are_found(tmp_path: Path) -> None:
    write(tmp_path / "one.0", [id_at(5)], [id_at(9)])
    write(tmp_path / "two.0", [id_at(7)])
    assert violations(tmp_path) == {"shared": 1}


def test_a_late_call_is_found_unless_its_process_stood_still(tmp_path: Path) -> None:
    book = Writer(tmp_path / "one.0")
    book.opened(0, 0)
    back = (200 + SLACK_MS + 1) * 1_000_000
    book.refused(0, back, 200, "EXHAUSTED")
    assert violations(tmp_path) == {"late": 1}
    process = next(ledger.read(tmp_path / "one.0")).process
    findings = Findings()
    checker.check_ids(tmp_path.iterdir(), {process: [(0, back // 2)]}, findings)
    assert findings.violations == {}
    assert findings.refusals == {"EXHAUSTED": 1}


def test_a_torn_last_record_is_left_out(tmp_path: Path) -> None:
    write(tmp_path / "one.0", [id_at(5)], [id_at(6)])
    content = (tmp_path / "one.0").read_bytes()
    (tmp_path / "one.0").write_bytes(content[:-3])
    findings = Findings()
    checker.check_ids(tmp_path.iterdir(), {}, findings)
    assert (findings.ids, findings.violations) == (1, {})


def test_an_id_beyond_the_stores_record_is_found(tmp_path: Path) -> None:
    write(tmp_path / "one.0", [id_at(5)])
    last = checker.last_ms(tmp_path.iterdir())
    assert last == {3: START + 5}
    for ends, broken in [({3: START + 6}, 0), ({3: START + 5}, 1), ({}, 1)]:
        findings = Findings()
        checker.check_records(last, ends, findings)
        assert findings.violations["beyond"] == broken


def test_sound_ids_of_services_have_no_violation(tmp_path: Path) -> None:
    write(tmp_path / "one.0", [id_at(0)])
    # Two clients of one service, and a service that took another node.
    serve(tmp_path / "two.0", (0, [id_at(5)]), (1, [id_at(9)]), (1, [id_at(4, node=5)]))
    serve(tmp_path / "three.0", (0, [id_at(6)]), (1, [id_at(5, 1)]))
    findings = Findings()
    checker.check_ids(tmp_path.iterdir(), {}, findings)
    assert findings.violations == {}
    assert (findings.ids, findings.numbers["id"], findings.generators, findings.takeovers) == (6, 5, 2, 1)


def test_an_id_of_a_worker_and_a_service_is_found(tmp_path: Path) -> None:
    write(tmp_path / "one.0", [id_at(5)])
    serve(tmp_path / "two.0", (0, [id_at(5)]))
    assert violations(tmp_path) == {"duplicates": 1, "shared": 1}


def test_two_services_on_one_node_at_a_time_are_found(tmp_path: Path) -> None:
    serve(tmp_path / "one.0", (0, [id_at(5), id_at(9)]))
    serve(tmp_path / "two.0", (0, [id_at(7)]), service=1)
    assert violations(tmp_path) == {"shared": 1}


def test_a_step_back_of_a_service_within_a_connection_is_found(tmp_path: Path) -> None:
    serve(tmp_path / "one.0", (0, [id_at(5)]), (0, [id_at(4)]))
    assert violations(tmp_path) == {"order": 1}


def takes(directory: Path, kind: str, *entries: tuple[int, int, int, int]) -> dict[str, int]:
    """Writes numbers of a kind, in the ledgers of two processes, and checks them."""
    for at, entry in enumerate(entries):
        (directory / str(at % 2)).mkdir(parents=True, exist_ok=True)
        with (directory / str(at % 2) / f"{kind}.0").open("ab") as book:
            book.write(ledger.take(*entry))
    findings = Findings()
    checker.check_takes(directory.glob("*/*"), findings)
    assert findings.numbers == {kind: len(entries)}
    return dict(findings.violations)


@pytest.mark.parametrize("kind", ORDER)
def test_a_repeated_number_is_found(tmp_path: Path, kind: str) -> None:
    # The requests overlap, so their order does not count.
    assert takes(tmp_path, kind, (7, 5, 0, 4), (7, 5, 2, 3)) == {"repeated": 1}


def test_numbers_of_two_users_may_be_equal(tmp_path: Path) -> None:
    assert takes(tmp_path, "user", (7, 5, 0, 2), (8, 5, 0, 2), (7, 6, 3, 4)) == {}


@pytest.mark.parametrize("kind", ORDER)
def test_numbers_of_overlapping_requests_have_no_order(tmp_path: Path, kind: str) -> None:
    assert takes(tmp_path, kind, (7, 2, 0, 5), (7, 1, 4, 6)) == {}


@pytest.mark.parametrize("kind", [kind for kind, order in ORDER.items() if order == "session"])
def test_a_step_back_within_a_session_is_found(tmp_path: Path, kind: str) -> None:
    first, between = (7, 5, 0, 1), (7, 8, 0, 1)
    assert takes(tmp_path / "a", kind, first, between, (7, 4, 2, 3)) == {"unordered": 1}
    # Another session of the process.
    assert takes(tmp_path / "b", kind, first, between, (8, 4, 2, 3)) == {}


@pytest.mark.parametrize("kind", [kind for kind, order in ORDER.items() if order == "all"])
def test_a_step_back_over_sessions_of_one_order_is_found(tmp_path: Path, kind: str) -> None:
    assert takes(tmp_path / "a", kind, (7, 5, 0, 1), (8, 4, 2, 3)) == {"unordered": 1}
    # The answer of the first request was lost, or came after the second request was sent.
    assert takes(tmp_path / "b", kind, (7, 5, 0, 3), (8, 4, 2, 4)) == {}


def test_a_users_step_back_over_a_takeover_is_found(tmp_path: Path) -> None:
    assert takes(tmp_path, "user", (7, 5, 0, 1), (7, 4, 2, 3)) == {"unordered": 1}


@pytest.mark.parametrize("kind", [kind for kind, order in ORDER.items() if order == "none"])
def test_kinds_without_an_order_may_step_back(tmp_path: Path, kind: str) -> None:
    assert takes(tmp_path, kind, (7, 5, 0, 1), (0, 0, 0, 1), (7, 4, 2, 3)) == {}


def test_changes_of_the_server_of_users_are_counted(tmp_path: Path) -> None:
    takes(tmp_path, "user", (7, 1, 0, 1), (99_999, 1, 2, 3), (8, 1, 4, 5), (100_000, 1, 6, 7))
    findings = Findings()
    checker.check_takes(tmp_path.glob("*/*"), findings)
    assert findings.successions == 2


def test_a_plan_is_a_function_of_its_seed() -> None:
    for engine in ENGINES:
        seed = random.randrange(2**31)
        faults = plan(seed, engine, 60, 0.4)
        assert faults == plan(seed, engine, 60, 0.4)
        assert faults != plan(seed + 1, engine, 60, 0.4)
        assert 90 < len(faults) < 240
        assert {fault.kind for fault in faults} <= set(FAULTS)
