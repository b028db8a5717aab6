"""Green threads, of gevent or eventlet: many of them share one thread of the system."""

import sys
import time
from collections.abc import Callable


def patched(module: str) -> bool:
    """Returns whether gevent or eventlet has replaced a module of the standard library by its own."""
    gevent, eventlet = sys.modules.get("gevent.monkey"), sys.modules.get("eventlet.patcher")
    return bool((gevent and gevent.is_module_patched(module)) or (eventlet and eventlet.is_monkey_patched(module)))


def sleep() -> Callable[[float], object] | None:
    """Returns the sleep, in s, during which other green threads run; None without green threads."""
    return time.sleep if patched("time") else None
