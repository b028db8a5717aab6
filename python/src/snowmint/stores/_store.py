"""What a store has to do."""

import sys
from collections.abc import Iterable
from typing import Protocol

from snowmint._errors import StoreUnavailableError


class Store(Protocol):
    """Four verbs, each durable and linearizable before it returns, and a clock if there is one.

    Keys are ASCII of `a-z A-Z 0-9 . _ - % @ /`, at most 512 long, such as `leases/orders/5`; values are at most 1,024
    bytes. Records are never deleted. `str()` of a store is what sentences call it: no password.

    An exception leaves open whether a write was done, and becomes a `StoreUnavailableError`; `UnsafeStoreError` and
    `ForkedError` come through as they are. Each call has to end by itself. After a fork the child uses the same object:
    no connection may be shared with the parent then.
    """

    def read(self, key: str, /) -> tuple[bytes, int] | None:
        """The record of that key and its version, 1 or more; None if there is none."""
        ...

    def write(self, key: str, value: bytes, expected_version: int, /) -> int | None:
        """Writes the record if it still is of that version (0: it is not there); the new version, or None if not."""
        ...

    def list(self, prefix: str, /) -> Iterable[tuple[str, bytes, int]]:
        """All records right under `prefix`, a key with a slash at its end: the key after it, the value, the version."""
        ...

    def add(self, counter: str, delta: int, start: int, /) -> int:
        """Raises a counter by `delta`, from `start` if it is not there yet; the counter after that, at most 2^63-1.

        Raises:
            OverflowError: It would pass 2^63-1; it stays as it was.
        """
        ...

    def clock_ms(self) -> int | None:
        """The store's clock, Unix ms, if it has one."""
        ...


MAX_COUNT = 2**63 - 1


def refuse_green_threads(store: str) -> None:
    """Refuses sockets that gevent or eventlet has put its own in place of.

    They belong to the thread that made them, and leases are renewed on another.

    Raises:
        StoreUnavailableError: They are patched.
    """
    gevent, eventlet = sys.modules.get("gevent.monkey"), sys.modules.get("eventlet.patcher")
    if (gevent and gevent.is_module_patched("socket")) or (eventlet and eventlet.is_monkey_patched("socket")):
        raise StoreUnavailableError(
            f"{store} does not work with sockets that gevent or eventlet has patched: use FileStore, or give each "
            "process a node by SNOWMINT_NODE"
        )


def full(store: object, counter: str) -> OverflowError:
    """What `add` raises beyond the end."""
    return OverflowError(f"{store}: {counter} has no more numbers up to 2^63-1")
