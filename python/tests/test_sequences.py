"""Named sequences over every store, and virtual ranges."""

import asyncio
import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import processes
import servers
from snowmint import (
    ExhaustedError,
    InvalidIdError,
    InvalidTextError,
    Sequences,
    SnowmintError,
    sequence,
)
from snowmint.stores import MemoryStore
from test_stores import Place, named, place  # noqa: F401

CASES = json.loads((Path(__file__).parents[2] / "tests/vectors/sequence.json").read_text())["cases"]
PATIENT_MS = 20_000


def answer_of(session: Sequences, statement: str) -> str | None:
    """The answer to a statement of the vectors: a number, None for SQL's NULL, or the code of an error."""
    verb, *values = re.findall(r"[^(,)]+", statement)
    try:
        match verb:
            case "nextval":
                value: int | None = session.next("s")
            case "currval":
                value = session.current("s")
            case "lastval":
                value = session.last()
            case _:
                called = values[1] == "true" if len(values) > 1 else None
                value = session.set("s", int(values[0]), called, round=int(values[2]) if len(values) > 2 else None)
    except SnowmintError as error:
        return error.code
    return None if value is None else str(value)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_sessions_answer_as_the_databases_own_tests_state(case: dict[str, Any]) -> None:
    options: dict[str, Any] = {
        name: value if name == "cycle" else int(value) for name, value in case["options"].items()
    }
    session = Sequences(MemoryStore(), max_wait_ms=PATIENT_MS)
    if "error" in case:
        with pytest.raises(SnowmintError) as refused:
            session.create("s", dialect=case["dialect"], **options)
        assert refused.value.code == case["error"]
        return
    assert session.create("s", dialect=case["dialect"], **options)
    for statement, answer in case["steps"]:
        if statement == "lastval" and case["dialect"] != "pg":
            # The vectors have one sequence, whose last value a session without a name has too.
            statement = "currval"
        assert answer_of(session, statement) == answer, statement


def test_a_session_answers_like_psql(place: Place, namespace: str) -> None:  # noqa: F811
    session = Sequences(place.store(), max_wait_ms=PATIENT_MS)
    assert [session.next(namespace), session.next(namespace)] == [1, 2]
    assert session.set(namespace, 41) == 41
    assert [session.next(namespace), session.current(namespace), session.last()] == [42, 42, 42]
    assert session.set(namespace, 7, called=False) == 7
    assert session.next(namespace) == 7
    assert not session.create(namespace, start=5), "a use has made it"
    assert session.create(f"{namespace}-down", increment=-3, max=10, min=0, cycle=True)
    assert [session.next(f"{namespace}-down") for _ in range(5)] == [10, 7, 4, 1, 10]


def test_sessions_and_threads_repeat_nothing(place: Place, namespace: str) -> None:  # noqa: F811
    store = place.store()
    sessions = [Sequences(store, max_wait_ms=60_000) for _ in range(2)]
    sessions[0].create(namespace, cache=5)

    def take(thread: int) -> list[int]:
        return [sessions[thread % 2].next(namespace) for _ in range(25)]

    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(take, range(4)))
    assert all(values == sorted(values) for values in taken)
    assert len({value for values in taken for value in values}) == 100


def test_coroutines_that_wait_at_once_share_writes() -> None:
    class Counting(MemoryStore):
        writes = 0

        def write(self, key: str, value: bytes, expected_version: int) -> int | None:
            self.writes += 1
            return super().write(key, value, expected_version)

    async def main() -> None:
        store = Counting()
        session = Sequences(store, max_wait_ms=PATIENT_MS)
        values = await asyncio.gather(*(session.next_async("invoices") for _ in range(500)))
        assert sorted(values) == list(range(1, 501))
        assert store.writes < 100
        assert await session.create_async("tens", increment=10)
        assert await session.set_async("tens", 50) == 50
        assert await session.next_async("tens") == await session.current_async("tens") == await session.last_async()

    asyncio.run(main())


TAKER = """
    import sys
    from snowmint import Sequences
    session = Sequences(sys.argv[1], max_wait_ms=60_000)
    session.create(sys.argv[2], cache=3)
    while True:
        print(session.next(sys.argv[2]), flush=True)
"""


def test_processes_that_are_killed_repeat_nothing(named: Place, namespace: str) -> None:  # noqa: F811
    def take(count: int) -> list[int]:
        return processes.taken_until_killed(TAKER, named.url, namespace, count=count)

    with ThreadPoolExecutor(2) as pool:
        values = [value for each in pool.map(take, (20, 33, 15, 26)) for value in each]
    assert len(set(values)) == len(values) >= 90


def test_a_forked_child_begins_its_own_session(named: Place, namespace: str) -> None:  # noqa: F811
    program = """
        import os, struct, sys
        from snowmint import ForkedError, Sequences
        from snowmint.stores import HttpStore, connect
        # A service skips the values of an answer for which nobody waits any more.
        store = HttpStore(sys.argv[1], timeout_s=60) if sys.argv[1].startswith("http") else connect(sys.argv[1])
        session = Sequences(store, max_wait_ms=60_000)
        mine = [session.next(sys.argv[2]) for _ in range(5)]
        for child in range(3):
            if os.fork() == 0:
                calls = [lambda: session.next(sys.argv[2]), lambda: session.current(sys.argv[2]), session.last,
                         lambda: session.set(sys.argv[2], 7), lambda: session.create("other")]
                for call in calls:
                    try:
                        call()
                    except ForkedError:
                        pass
                    else:
                        os._exit(1)
                own = Sequences(store, max_wait_ms=60_000)
                mine = [own.next(sys.argv[2]) for _ in range(20)]
                break
        else:
            for child in range(3):
                assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
            mine += [session.next(sys.argv[2]) for _ in range(5)]
        sys.stdout.buffer.write(struct.pack(f"{len(mine)}Q", *mine))
    """
    values = processes.minted(program, named.url, namespace)
    assert sorted(values) == list(range(1, 71))


def test_rust_and_python_use_one_sequence(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path}/ids.db"
    session = Sequences(url, max_wait_ms=PATIENT_MS)
    assert session.create("invoices", start=-5, min=-5, increment=5)
    values = [session.next("invoices")]
    for _ in range(2):
        command = [servers.SNOWMINT, "sequence", "--store", url, "next", "invoices"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        values += [int(done.stdout), session.next("invoices")]
    assert values == [-5, 0, 5, 10, 15]


def test_integers_of_64_bits_pass_and_larger_ones_are_refused() -> None:
    session = Sequences(MemoryStore())
    assert session.create("low", start=-(2**63), min=-(2**63), max=2**63 - 1)
    assert session.next("low") == -(2**63)
    assert session.set("low", 2**63 - 1) == 2**63 - 1
    with pytest.raises(ExhaustedError) as refused:
        session.next("low")
    assert refused.value.retry_after_ms is None
    assert session.create("unsigned", kind="bigint unsigned", start=2**64 - 1)
    assert session.next("unsigned") == 2**64 - 1
    for huge in (2**63, 2**127, 2**128, 2**200, -(2**63) - 1, -(2**200)):
        for option in ("start", "increment", "min", "max", "cache"):
            given: dict[str, Any] = {option: huge}
            with pytest.raises(InvalidIdError):
                session.create("huge", **given)
        with pytest.raises(InvalidIdError):
            session.set("low", huge)


def test_wrong_arguments_are_typed_errors() -> None:
    session = Sequences(MemoryStore())
    for name in ("", "x" * 129, "a\nb", "\ud800"):
        for call in (session.next, session.current, session.create):
            with pytest.raises(InvalidTextError):
                call(name)
        with pytest.raises(InvalidTextError):
            session.set(name, 5)
    refused: list[dict[str, Any]] = [{"increment": 0}, {"min": 5, "max": 5}, {"cache": 0}, {"start": 0}]
    for options in refused:
        with pytest.raises(InvalidIdError):
            session.create("s", **options)
    for texts in ({"dialect": "oracle"}, {"kind": "decimal"}):
        with pytest.raises(InvalidTextError):
            session.create("s", **texts)  # type: ignore[arg-type]
    for wrong in ({"start": 1.5}, {"cycle": "yes"}, {"dialect": 5}, {"cache": True}):
        with pytest.raises(TypeError):
            session.create("s", **wrong)
    with pytest.raises(TypeError):
        session.next(5)  # type: ignore[arg-type]
    with pytest.raises(InvalidIdError):
        session.last()
    with pytest.raises(InvalidIdError):
        session.current("s")
    with pytest.raises(InvalidIdError):
        session.set("s", 5, round=1)


def test_a_virtual_range_lists_the_numbers_of_its_name() -> None:
    assert list(sequence.virtual("seq_1_to_15_step_3")) == [1, 4, 7, 10, 13]
    assert list(sequence.virtual("seq_15_to_1_step_3")) == [13, 10, 7, 4, 1]
    assert list(sequence.virtual("seq_5_to_5_step_7")) == [5]
    top = 2**64 - 1
    assert list(sequence.virtual(f"seq_{top}_to_0_step_{top}")) == [top, 0]
    assert sequence.virtual(f"seq_0_to_{top}") == range(2**64)
    assert sequence.virtual(f"seq_{top}_to_0")[2**63] == 2**63 - 1
    for name in ("seq_1", "seq_1_to_5_step_0", "seq_-1_to_5", f"seq_1_to_{top + 1}", "", "\ud800"):
        with pytest.raises(InvalidTextError):
            sequence.virtual(name)
    with pytest.raises(TypeError):
        sequence.virtual(5)  # type: ignore[arg-type]
