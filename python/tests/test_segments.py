"""Segments over every store: no number twice, whatever happens to processes, servers and answers."""

import asyncio
import gc
import subprocess
import time
import weakref
from array import array
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy
import pytest
import sqlalchemy

import processes
import servers
from hanging import Gated
from snowmint import (
    ExhaustedError,
    InvalidIdError,
    InvalidTextError,
    Segments,
    StoreUnavailableError,
    WindowClosedError,
)
from snowmint.stores import MemoryStore, SqlStore
from test_stores import Place, named, place  # noqa: F401

PATIENT_MS = 20_000


def test_a_tag_is_made_once_and_keeps_its_first_start_and_step(place: Place, namespace: str) -> None:  # noqa: F811
    store = place.store()
    first = Segments(store, namespace, start=100, step=10, max_wait_ms=PATIENT_MS)
    assert [first.next(), next(first), next(iter(first))] == [100, 101, 102]
    second = Segments(store, namespace, start=7, step=7, max_wait_ms=PATIENT_MS)
    # The first fetch has taken 10 numbers, and perhaps a second one as many ahead.
    assert second.next() in (110, 120)


def test_a_block_is_consecutive_and_a_buffer_is_filled_with_one(place: Place, namespace: str) -> None:  # noqa: F811
    numbers = Segments(place.store(), namespace, max_wait_ms=PATIENT_MS)
    blocks = [numbers.next_block(count) for count in (1, 5, 3000, 10)]
    assert [len(block) for block in blocks] == [1, 5, 3000, 10]
    assert all(before[-1] < after[0] for before, after in zip(blocks, blocks[1:], strict=False))
    unsigned, signed, none = array("Q", bytes(8 * 100)), numpy.zeros(700, dtype=numpy.int64), array("Q")
    for buffer in (unsigned, signed, none):
        numbers.fill(buffer)
    assert list(unsigned) == list(range(unsigned[0], unsigned[0] + 100))
    assert list(signed) == list(range(int(signed[0]), int(signed[0]) + 700))
    assert blocks[-1][-1] < unsigned[0] <= unsigned[-1] < signed[0]


def test_unused_numbers_go_back(place: Place, namespace: str) -> None:  # noqa: F811
    store = place.store()
    with Segments(store, namespace, max_wait_ms=PATIENT_MS) as numbers:
        assert numbers.next() == 1
    with pytest.raises(WindowClosedError):
        numbers.next()
    assert numbers.close() == 0
    goes_back = not place.kind.startswith(("redis", "dynamodb"))
    again = Segments(store, namespace, max_wait_ms=PATIENT_MS)
    assert again.next() == (2 if goes_back else 1001)
    gone = again.close()
    assert gone >= 999 if goes_back else gone == 0


def test_threads_and_segments_of_one_tag_repeat_nothing(place: Place, namespace: str) -> None:  # noqa: F811
    store = place.store()
    all_segments = [Segments(store, namespace, step=50, max_wait_ms=PATIENT_MS) for _ in range(2)]

    def take(thread: int) -> list[int]:
        return [all_segments[thread % 2].next() for _ in range(500)]

    with ThreadPoolExecutor(6) as pool:
        taken = list(pool.map(take, range(6)))
    assert all(numbers == sorted(numbers) for numbers in taken)
    assert len({number for numbers in taken for number in numbers}) == 3000


def test_coroutines_of_an_event_loop_repeat_nothing(place: Place, namespace: str) -> None:  # noqa: F811
    async def main() -> None:
        numbers = Segments(place.store(), namespace, step=10, max_wait_ms=PATIENT_MS)
        taken = await asyncio.gather(*(numbers.next_async() for _ in range(300)))
        block = await numbers.next_block_async(1000)
        assert len({*taken, *block}) == 1300
        assert (await numbers.close_async() > 0) == (not place.kind.startswith(("redis", "dynamodb")))
        with pytest.raises(WindowClosedError):
            await numbers.next_async()

    asyncio.run(main())


TAKER = """
    import sys
    from snowmint import Segments
    numbers = Segments(sys.argv[1], sys.argv[2], step=20, max_wait_ms=20_000)
    while True:
        print(numbers.next(), flush=True)
"""


def test_processes_that_are_killed_repeat_nothing(named: Place, namespace: str) -> None:  # noqa: F811
    def take(count: int) -> list[int]:
        return processes.taken_until_killed(TAKER, named.url, namespace, count=count)

    with ThreadPoolExecutor(3) as pool:
        numbers = [number for each in pool.map(take, (39, 74, 109, 50, 32, 89)) for number in each]
    assert len(set(numbers)) == len(numbers) >= 393


def test_a_forked_child_opens_its_own_segments(named: Place, namespace: str) -> None:  # noqa: F811
    program = """
        import os, struct, sys
        from snowmint import ForkedError, Segments
        from snowmint.stores import connect
        store = connect(sys.argv[1])
        numbers = Segments(store, sys.argv[2], step=30, max_wait_ms=20_000)
        mine = [numbers.next() for _ in range(50)]
        for child in range(4):
            if os.fork() == 0:
                for refused in (numbers.next, numbers.close, lambda: numbers.next_block(5)):
                    try:
                        refused()
                    except ForkedError:
                        pass
                    else:
                        os._exit(1)
                mine = []
                own = Segments(store, sys.argv[2], max_wait_ms=20_000)
                mine = [own.next() for _ in range(1000)]
                break
        else:
            for child in range(4):
                assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
            mine += [numbers.next() for _ in range(200)]
        sys.stdout.buffer.write(struct.pack(f"{len(mine)}Q", *mine))
    """
    numbers = processes.minted(program, named.url, namespace)
    assert len(numbers) == 4 * 1000 + 250 == len(set(numbers))


def test_leaf_rust_and_python_share_a_row_of_the_table(tmp_path: Path) -> None:
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/ids.db")
    numbers = Segments(SqlStore(engine), "orders", start=5, step=10, max_wait_ms=PATIENT_MS)
    assert numbers.next() == 5
    with engine.connect() as connection:
        query = sqlalchemy.text("SELECT step, description FROM leaf_alloc WHERE biz_tag = 'orders'")
        assert connection.execute(query).all() == [(10, "")]
    command = [servers.SNOWMINT, "segment", "--store", f"sqlite:{tmp_path}/ids.db", "next", "orders", "--count", "300"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    theirs = [int(line) for line in done.stdout.split()]
    ours = [numbers.next() for _ in range(300)]
    assert len({*theirs, *ours}) == 600


def test_a_row_without_a_description_serves(tmp_path: Path) -> None:
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/ids.db")
    store = SqlStore(engine)
    assert store.segments.tags() == []
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('old', 77, 5)"))
    assert store.segments.tag("old") == (77, 5, "")
    assert Segments(store, "old", max_wait_ms=PATIENT_MS).next() == 77


def test_the_end_of_the_numbers_is_an_error_without_a_time(place: Place, namespace: str) -> None:  # noqa: F811
    numbers = Segments(place.store(), namespace, start=2**63 - 11, max_wait_ms=PATIENT_MS)
    assert list(numbers.next_block(5)) == list(range(2**63 - 11, 2**63 - 6))
    taken = []
    with pytest.raises(ExhaustedError) as refused:
        while True:
            taken.append(numbers.next())
    assert taken == list(range(2**63 - 6, 2**63 - 1))
    assert refused.value.retry_after_ms is None


def test_wrong_arguments_are_typed_errors() -> None:
    store = MemoryStore()
    for tag in ("", "x" * 129, "a\nb", "\ud800"):
        with pytest.raises(InvalidTextError):
            Segments(store, tag)
    for options in ({"start": -1}, {"start": 2**63 - 1}, {"start": 2**200}, {"step": 0}, {"step": -1}, {"step": 2**31}):
        with pytest.raises(InvalidIdError):
            Segments(store, "orders", **options)
    with pytest.raises(TypeError):
        Segments(store, b"orders")  # type: ignore[arg-type]
    for wrong in ({"step": 1.5}, {"start": "1"}, {"step": True}, {"max_wait_ms": "1"}):
        with pytest.raises(TypeError):
            Segments(store, "orders", **wrong)
    numbers = Segments(store, "orders")
    for count in (-1, 2**63, 2**100):
        with pytest.raises(InvalidIdError):
            numbers.next_block(count)
    with pytest.raises(TypeError):
        numbers.fill(array("I", bytes(8)))
    with pytest.raises(BufferError):
        numbers.fill(memoryview(bytes(16)).cast("Q"))


def test_an_answer_that_is_no_counter_is_a_fault_of_the_store() -> None:
    class Odd(MemoryStore):
        def add(self, counter: str, delta: int, start: int) -> int:
            return True

    with pytest.raises(StoreUnavailableError, match="an int"):
        Segments(Odd(), "orders", max_wait_ms=200).next()


def test_the_exception_of_the_store_is_the_cause() -> None:
    class Broken(MemoryStore):
        def add(self, counter: str, delta: int, start: int) -> int:
            raise ConnectionError("no route")

    with pytest.raises(StoreUnavailableError, match="no route") as refused:
        Segments(Broken(), "orders", max_wait_ms=200).next()
    assert isinstance(refused.value.__cause__, ConnectionError)


def test_memory_serves_while_the_store_is_unreachable() -> None:
    class Away(MemoryStore):
        is_away = False

        def add(self, counter: str, delta: int, start: int) -> int:
            if self.is_away:
                raise ConnectionError("away")
            return super().add(counter, delta, start)

    store = Away()
    numbers = Segments(store, "orders", step=100, max_wait_ms=200)
    assert numbers.next() == 1
    store.is_away = True
    with pytest.raises(StoreUnavailableError):
        while True:
            last = numbers.next()
    assert last >= 100
    store.is_away = False
    assert Segments(store, "orders", max_wait_ms=PATIENT_MS).next() > last


def test_a_store_that_hangs_stops_no_other_store() -> None:
    hanging = Gated()
    stuck = [Segments(hanging, f"stuck-{number}", max_wait_ms=100) for number in range(20)]
    for each in stuck:
        with pytest.raises(ExhaustedError) as refused:
            each.next()
        assert refused.value.retry_after_ms
    numbers = Segments(MemoryStore(), "orders", step=10, max_wait_ms=PATIENT_MS)
    assert [numbers.next() for _ in range(500)] == list(range(1, 501))
    hanging.gate.set()
    assert all(each.next() == 1 for each in stuck[:1])


def test_other_threads_run_while_a_call_waits() -> None:
    store = Gated()
    numbers = Segments(store, "orders", max_wait_ms=PATIENT_MS)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(numbers.next)
        assert store.entered.wait(60)
        assert not waiting.done()
        store.gate.set()
        assert waiting.result(60) == 1


def test_a_coroutine_that_is_cancelled_frees_its_event_loop() -> None:
    async def main() -> None:
        store = Gated()
        numbers = Segments(store, "orders", max_wait_ms=600_000)
        waiting = asyncio.create_task(numbers.next_async())
        while not store.entered.is_set():
            await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(numbers.next_async(), 0.05)
        store.gate.set()
        assert await numbers.next_async() == 1

    asyncio.run(main())


@pytest.mark.parametrize("waiter", ["nobody", "a thread", "an event loop"])
def test_a_process_ends_while_a_fetch_is_under_way(waiter: str) -> None:
    program = """
        import asyncio, sys, threading, time
        from hanging import Gated
        from snowmint import Segments
        # Threads change so often that some always are in the middle of a call.
        sys.setswitchinterval(1e-6)
        store = Gated()
        numbers = Segments(store, "orders", max_wait_ms=600_000)
        def take():
            numbers.next()
        if sys.argv[1] == "an event loop":
            async def main():
                waiting = asyncio.create_task(numbers.next_async())
                await asyncio.sleep(0.05)
            asyncio.run(main())
        else:
            threading.Thread(target=take, daemon=True).start()
        assert store.entered.wait(60)
        if sys.argv[1] == "nobody":
            store.gate.set()
            # Fetches go on to the end.
            for number in range(50):
                busy = Segments(Gated(), str(number), max_wait_ms=600_000)
                threading.Thread(target=busy.next, daemon=True).start()
        print("over")
    """
    # An interpreter that ends stops threads at any place.
    with ExitStack() as until_the_end:
        running = [until_the_end.enter_context(processes.start(program, waiter)) for _ in range(8)]
        ended = [process.communicate(timeout=processes.PATIENCE_S)[0] for process in running]
    assert [(process.returncode, out) for process, out in zip(running, ended, strict=True)] == [(0, "over\n")] * 8


def test_segments_that_refer_to_themselves_are_collected() -> None:
    class Own(MemoryStore):
        numbers: Any

    store = Own()
    store.numbers = Segments(store, "orders", max_wait_ms=PATIENT_MS)
    assert store.numbers.next() == 1
    gone = weakref.ref(store)
    del store
    deadline = time.monotonic() + 60
    while gone() is not None and time.monotonic() < deadline:
        gc.collect()
    assert gone() is None


def test_a_call_in_a_child_of_a_signals_handler_is_refused() -> None:
    # The work of a call that waits belongs to the parent.
    program = """
        import os, signal, sys, threading
        from hanging import Gated
        from snowmint import ForkedError, Segments
        numbers = Segments(Gated(), "orders", max_wait_ms=600_000)
        child = None
        def fork(*_):
            global child
            child = os.fork()
            if child:
                raise KeyboardInterrupt
        signal.signal(signal.SIGUSR1, fork)
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        try:
            numbers.next()
        except ForkedError:
            os._exit(7)
        except KeyboardInterrupt:
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert processes.run(program) == "7\n"


def test_segments_are_not_pickled() -> None:
    import pickle

    with pytest.raises(TypeError):
        pickle.dumps(Segments(MemoryStore(), "orders"))


def test_a_memory_store_of_the_parent_is_refused_in_a_child() -> None:
    program = """
        import os
        from snowmint import ForkedError, Segments
        from snowmint.stores import MemoryStore
        store = MemoryStore()
        if os.fork() == 0:
            try:
                Segments(store, "orders")
            except ForkedError:
                os._exit(5)
        print(os.waitstatus_to_exitcode(os.wait()[1]))
    """
    assert processes.run(program) == "5\n"
