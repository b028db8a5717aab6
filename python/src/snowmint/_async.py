"""Generators in an event loop: a call that has to wait waits in a thread, and only as long as its caller waits."""

import asyncio

# Before the handler below, which has to run before the handler of this module.
import concurrent.futures.thread  # noqa: F401  # pyright: ignore[reportUnusedImport]
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar, Unpack
from weakref import WeakSet

from snowmint._errors import ClockBackwardsError, ExhaustedError, WindowClosedError
from snowmint._snowmint import Stop

if TYPE_CHECKING:
    from snowmint._options import Options
    from snowmint._snowmint import Call, Snowflake

_stops: "WeakSet[Stop]" = WeakSet()


def _stop_all() -> None:
    """Stops all waits, since the interpreter waits for the threads when it ends."""
    for stop in list(_stops):
        stop.set()


# Handlers of `atexit` run after the wait for the threads.
_at_exit: Callable[[Callable[[], None]], None] | None = getattr(threading, "_register_atexit", None)
if _at_exit:
    _at_exit(_stop_all)


def _new_stop() -> Stop:
    stop = Stop()
    _stops.add(stop)
    return stop


async def lease(make: "type[Snowflake]", **options: "Unpack[Options]") -> "Snowflake":
    """Makes a generator in a thread. If the caller is cancelled, the thread stops, or another one closes it."""
    stop = _new_stop()
    making: asyncio.Future[Any] = asyncio.get_running_loop().run_in_executor(None, stop.run, lambda: make(**options))
    try:
        return await asyncio.shield(making)
    except asyncio.CancelledError:
        making.add_done_callback(_close)
        raise
    finally:
        stop.set()


def _close(making: "asyncio.Future[Snowflake]") -> None:
    if not making.cancelled() and making.exception() is None:
        making.get_loop().run_in_executor(None, making.result().close)


async def next_id(generator: "Snowflake") -> int:
    """Returns an ID at once if one is free, and otherwise waits in a thread."""
    try:
        return generator.try_next_id()
    except (ExhaustedError, ClockBackwardsError, WindowClosedError):
        pass
    stop = _new_stop()
    try:
        return await asyncio.to_thread(stop.run, generator.next_id)
    finally:
        stop.set()


T = TypeVar("T")


async def ready(value: T) -> T:
    """Returns an answer that was there at once."""
    return value


async def answer(call: "Call") -> Any:
    """Waits for the answer to a call, which stops if its caller is cancelled."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def settle() -> None:
        if not ended.done():
            ended.set_result(None)

    def tell() -> None:
        # A loop that is closed needs no answer.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle)

    call.on_end(tell)
    try:
        await ended
        return call.answer()
    finally:
        call.stop()
