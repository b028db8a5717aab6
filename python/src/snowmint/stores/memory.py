"""A store in the memory of one process, for tests."""

import os
import threading
from collections.abc import Sequence

from snowmint._errors import ForkedError
from snowmint.stores._store import MAX_COUNT, full


class MemoryStore:
    """Records and counters that end with the process. A forked child cannot use it.

    >>> from snowmint.stores import MemoryStore
    >>> store = MemoryStore()
    >>> store.write("leases/orders/5", b"mine", 0), store.write("leases/orders/5", b"mine", 0)
    (1, None)
    >>> list(store.list("leases/orders/"))
    [('5', b'mine', 1)]
    """

    def __init__(self) -> None:
        self._records: dict[str, tuple[bytes, int]] = {}
        self._counters: dict[str, int] = {}
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def read(self, key: str) -> tuple[bytes, int] | None:
        """As `Store.read`."""
        self._check()
        return self._records.get(key)

    def write(self, key: str, value: bytes, expected_version: int) -> int | None:
        """As `Store.write`."""
        self._check()
        with self._lock:
            _, version = self._records.get(key, (b"", 0))
            if version != expected_version:
                return None
            self._records[key] = (value, version + 1)
            return version + 1

    def list(self, prefix: str) -> Sequence[tuple[str, bytes, int]]:
        """As `Store.list`."""
        self._check()
        parts = [
            (key.removeprefix(prefix), found) for key, found in self._records.copy().items() if key.startswith(prefix)
        ]
        return [(part, *found) for part, found in parts if "/" not in part]

    def add(self, counter: str, delta: int, start: int) -> int:
        """As `Store.add`."""
        self._check()
        with self._lock:
            count = self._counters.get(counter, start) + delta
            if count > MAX_COUNT:
                raise full(self, counter)
            self._counters[counter] = count
            return count

    def lower(self, counter: str, end: int, start: int) -> bool:
        """Sets a counter from `end` back to `start`; False if it is not at `end`."""
        self._check()
        with self._lock:
            if self._counters.get(counter) != end:
                return False
            self._counters[counter] = start
            return True

    def clock_ms(self) -> int | None:
        """It has none."""
        return None

    def _check(self) -> None:
        # Parent and child would each lease from a copy of it.
        if os.getpid() != self._pid:
            raise ForkedError(f"{self} is its parent's in a forked process: use a store that processes share")

    def __repr__(self) -> str:
        return "MemoryStore()"
