"""Generators in an event loop."""

import asyncio
import functools
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from snowmint import Layout, NodesExhaustedError, Snowflake, Window, WindowClosedError, layouts, text
from snowmint.stores import MemoryStore

ONE_NODE = Layout("unused:1,time:41,sequence:12;epoch=2025-01-01T00:00:00Z")


class SlowStore(MemoryStore):
    """A store that answers each read after a while, outside of the event loop's thread."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: set[int] = set()

    def read(self, key: str) -> tuple[bytes, int] | None:
        self.threads.add(threading.get_ident())
        time.sleep(0.1)
        return super().read(key)


def in_loop(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """Runs a test in an event loop."""

    @functools.wraps(test)
    def run() -> None:
        asyncio.run(test())

    return run


async def turns_while(work: "asyncio.Future[Any]") -> int:
    """Counts the turns of the event loop until the work is done."""
    turns = 0
    while not work.done():
        turns += 1
        await asyncio.sleep(0.005)
    return turns


@in_loop
async def test_the_loop_goes_on_while_a_slow_store_grants_a_lease() -> None:
    store = SlowStore()
    lease = asyncio.ensure_future(Snowflake.lease_async(store=store, namespace="orders", layout="twitter"))
    assert await turns_while(lease) >= 3
    assert threading.get_ident() not in store.threads
    with await lease as generator:
        assert generator.layout == layouts.TWITTER
        assert isinstance(generator.window, Window)
        assert (generator.window.start, generator.window.end) == tuple(generator.window)
        ids = [await generator.next_id_async() for _ in range(100)]
        assert ids == sorted(set(ids))


@in_loop
async def test_the_loop_goes_on_while_an_id_is_not_free() -> None:
    now_ms = 1_767_225_600_000
    generator = Snowflake(Layout("time:40,node:10;epoch=2025-01-01T00:00:00Z"), node=5, clock=lambda: now_ms)
    first = generator.next_id()
    second = asyncio.ensure_future(generator.next_id_async())
    await asyncio.sleep(0.05)
    assert not second.done()
    now_ms += 1
    assert await second > first


@in_loop
async def test_a_cancelled_lease_is_given_back() -> None:
    store = SlowStore()
    lease = asyncio.ensure_future(Snowflake.lease_async(layout=ONE_NODE, store=store, namespace="one"))
    await asyncio.sleep(0.05)
    lease.cancel()
    with pytest.raises(asyncio.CancelledError):
        await lease
    with await Snowflake.lease_async(layout=ONE_NODE, store=store, namespace="one", max_wait_ms=60_000) as generator:
        assert generator.node == 0


@in_loop
async def test_errors_come_through() -> None:
    store = MemoryStore()
    with Snowflake(ONE_NODE, store=store, namespace="one") as holder:
        holder.next_id()
        with pytest.raises(NodesExhaustedError):
            await Snowflake.lease_async(layout=ONE_NODE, store=store, namespace="one", exclude=[0], max_wait_ms=0)
    with pytest.raises(TypeError, match="layot"):
        await Snowflake.lease_async(layot="twitter")  # type: ignore[call-arg]
    closed = Snowflake(node=77)
    closed.close()
    with pytest.raises(WindowClosedError):
        await closed.next_id_async()


def test_an_id_comes_as_text() -> None:
    generator = Snowflake(node=78)
    before = generator.next_id()
    assert text.decode(generator.next_str("base62"), "base62") > before
    assert len(generator.next_str("hex")) == 16
