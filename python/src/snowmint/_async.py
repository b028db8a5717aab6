"""Generators in an event loop: a call that has to wait does so in a thread."""

import asyncio
from typing import TYPE_CHECKING, Unpack

from snowmint._errors import ClockBackwardsError, ExhaustedError, WindowClosedError

if TYPE_CHECKING:
    from snowmint._options import Options
    from snowmint._snowmint import Snowflake


async def lease(make: "type[Snowflake]", **options: "Unpack[Options]") -> "Snowflake":
    """Makes a generator in a thread. If the caller is cancelled, another thread closes the generator."""
    making = asyncio.get_running_loop().run_in_executor(None, lambda: make(**options))
    try:
        return await asyncio.shield(making)
    except asyncio.CancelledError:
        making.add_done_callback(_close)
        raise


def _close(making: "asyncio.Future[Snowflake]") -> None:
    if not making.cancelled() and making.exception() is None:
        making.get_loop().run_in_executor(None, making.result().close)


async def next_id(generator: "Snowflake") -> int:
    """Returns an ID at once if one is free, and otherwise waits in a thread."""
    try:
        return generator.try_next_id()
    except (ExhaustedError, ClockBackwardsError, WindowClosedError):
        return await asyncio.to_thread(generator.next_id)
