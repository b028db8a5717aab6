"""Generators in an event loop: a call that has to wait does so in a thread, and no longer than its caller waits."""

import asyncio

# Before the handler below, which has to run before the handler of this module.
import concurrent.futures.thread  # noqa: F401  # pyright: ignore[reportUnusedImport]
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack
from weakref import WeakSet

from snowmint._errors import ClockBackwardsError, ExhaustedError, WindowClosedError
from snowmint._snowmint import Stop

if TYPE_CHECKING:
    from snowmint._options import Options
    from snowmint._snowmint import Snowflake

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
