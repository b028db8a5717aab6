"""Waits that are cancelled, interrupted, or ended by the exit of the interpreter."""

import asyncio
import itertools
import operator
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import processes
from quick import nightly
from snowmint import Layout, Snowflake, audit, layouts
from snowmint.stores import MemoryStore

HOUR_MS = 3_600_000
FROZEN_MS = 1_767_225_600_000
ONE_A_MS = Layout("time:41,node:10;epoch=2025-01-01T00:00:00Z")


def waiting_threads() -> list[threading.Thread]:
    """The threads of the event loop's executor that are in a call."""
    return [thread for thread in threading.enumerate() if thread.name.startswith("asyncio_")]


def test_a_cancelled_wait_for_an_id_ends_its_thread() -> None:
    generator = Snowflake(ONE_A_MS, 5, clock=lambda: FROZEN_MS, max_wait_ms=HOUR_MS)
    generator.next_id()

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(generator.next_id_async(), 0.1)

    # Returns when the threads of the executor have ended.
    asyncio.run(main())
    assert not waiting_threads()


def test_a_cancelled_wait_for_a_lease_ends_its_thread() -> None:
    answers = threading.Event()

    class Silent(MemoryStore):
        def read(self, key: str) -> tuple[bytes, int] | None:
            answers.wait()
            return super().read(key)

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(Snowflake.lease_async(store=Silent(), max_wait_ms=HOUR_MS), 0.1)

    asyncio.run(main())
    assert not waiting_threads()
    answers.set()


def test_a_cancelled_wait_leaves_the_generator_usable() -> None:
    now_ms = FROZEN_MS
    generator = Snowflake(ONE_A_MS, 5, clock=lambda: now_ms, max_wait_ms=HOUR_MS)
    first = generator.next_id()

    async def main() -> int:
        nonlocal now_ms
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(generator.next_id_async(), 0.05)
        waiting = asyncio.ensure_future(generator.next_id_async())
        await asyncio.sleep(0)
        now_ms += 1
        return await waiting

    assert asyncio.run(main()) == first + 1024


WRITES_NOTHING = """
    import os
    # What the interpreter prints of the interrupt is of no interest.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
"""

WAITS = """
    import asyncio, sys
    from snowmint import Snowflake

    generator = Snowflake("time:41,node:10;epoch=2025-01-01T00:00:00Z", 5, clock=lambda: 1_767_225_600_000,
                          max_wait_ms=3_600_000)
    generator.next_id()

    async def main():
        task = asyncio.ensure_future(generator.next_id_async())
        await asyncio.sleep(0.05)
        print("waiting", flush=True)
        await task
"""


@pytest.mark.parametrize(
    "run",
    [
        "asyncio.run(main())",
        "loop = asyncio.new_event_loop(); loop.run_until_complete(main())",
    ],
)
def test_ctrl_c_ends_a_program_that_waits(run: str) -> None:
    program = processes.start(f"{WRITES_NOTHING}{WAITS}\n    {run}")
    assert program.stdout
    assert program.stdout.readline() == "waiting\n"
    program.send_signal(signal.SIGINT)
    try:
        assert program.wait(processes.PATIENCE_S / 4) in (1, 130, -signal.SIGINT)
    finally:
        program.kill()
        program.communicate()


def test_a_program_that_forgets_a_wait_ends() -> None:
    out = processes.run(
        f"""{WAITS}
    loop = asyncio.new_event_loop()
    async def forget():
        loop.create_task(generator.next_id_async())
        await asyncio.sleep(0.05)
    loop.run_until_complete(forget())
    print("over")
    """
    )
    assert out == "over\n"


class Interrupt(Exception):
    """The error that the handler of the signal raises."""


@pytest.fixture
def interrupts() -> Iterator[Callable[[Callable[[], object]], None]]:
    """Sets what a signal does, and sends it to the main thread soon."""
    before = signal.getsignal(signal.SIGALRM)

    def send(act: Callable[[], object]) -> None:
        signal.signal(signal.SIGALRM, lambda *_: act())
        signal.setitimer(signal.ITIMER_REAL, 0.02)

    yield send
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def many_ids() -> "np.ndarray[Any, np.dtype[np.uint64]]":
    """So many that each call takes much longer than it takes the signal to come."""
    start = layouts.TWITTER.encode(timestamp_ms=FROZEN_MS)
    return np.arange(start, start + 4_000_000, dtype="u8")


long_calls = pytest.mark.parametrize(
    "call",
    [pytest.param(layouts.TWITTER.decode_array, id="decode_array", marks=nightly), pytest.param(audit, id="audit")],
)


@long_calls
def test_long_calls_handle_signals(
    call: Callable[[object], object], interrupts: Callable[[Callable[[], object]], None]
) -> None:
    results: list[object] = []
    seen: list[int] = []
    ids = many_ids()
    interrupts(lambda: seen.append(len(results)))
    # In C from the call to its result in the list, so a handler behind the call would see the result.
    results.extend(map(call, [ids]))
    assert seen == [0]


@long_calls
def test_long_calls_release_the_interpreters_lock(call: Callable[[object], object]) -> None:
    results: list[object] = []
    seen: list[int] = []
    ids = many_ids()

    def other() -> None:
        time.sleep(0.02)
        seen.append(len(results))

    interval = sys.getswitchinterval()
    # With this interval no thread is asked to release the GIL: the main thread releases it by itself, or not at all.
    sys.setswitchinterval(3600)
    try:
        thread = threading.Thread(target=other)
        thread.start()
        results.extend(map(call, [ids]))
        thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert seen == [0]


def test_an_interrupt_ends_an_audit_of_an_iterator(interrupts: Callable[[Callable[[], object]], None]) -> None:
    def interrupt() -> None:
        raise Interrupt

    ids = itertools.repeat(layouts.SNOWMINT.encode(timestamp_ms=FROZEN_MS), 20_000_000)
    interrupts(interrupt)
    with pytest.raises(Interrupt):
        audit(ids)
    assert operator.length_hint(ids) > 0
