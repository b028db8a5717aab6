"""The methods of a store, and of a lessor."""

import secrets
from collections.abc import Iterable
from typing import NamedTuple, Protocol

from snowmint._errors import InvalidStoreError
from snowmint._green import patched


class Store(Protocol):
    """Four verbs, each durable and linearizable before it returns, and a clock if there is one.

    Keys are ASCII of `a-z A-Z 0-9 . _ - % @ /`, at most 512 long, such as `leases/orders/5`; values are at most 1,024
    bytes. Records are never deleted. `str()` of a store is its name in messages, without a password.

    An exception leaves open whether a write was done, and becomes a `StoreUnavailableError`; `InvalidStoreError`,
    `UnsafeStoreError` and `ForkedError` come through as they are. Each call has to end by itself. After a fork the
    child uses the same object: no connection may be shared with the parent then.

    A store may have more methods: `refuse_standby()`, which a claim calls before it writes, raises an
    `UnsafeStoreError` if a failover could lose the claim. `standby_risk()` returns this risk as a text, or None,
    without a new request. `settings()`, for `snowmint doctor`, returns the name of the engine (`postgres`, `mysql`,
    `redis`, `sqlite` or `dynamodb`) and the settings that decide whether it keeps confirmed writes, or None.
    """

    def read(self, key: str, /) -> tuple[bytes, int] | None:
        """The record of that key and its version, 1 to 2^53; None without a record.

        A version never repeats, also after the store was restored from a backup. So take a random number, do not count.
        """
        ...

    def write(self, key: str, value: bytes, expected_version: int, /) -> int | None:
        """Writes the record if its version is `expected_version` (0: it is missing); the new version, or None."""
        ...

    def list(self, prefix: str, /) -> Iterable[tuple[str, bytes, int]]:
        """All records right under `prefix`, a key with a slash at its end: the key after it, the value, the version."""
        ...

    def add(self, counter: str, delta: int, start: int, /) -> int:
        """Raises a counter by `delta`, from `start` if the counter is new. Returns the new count, at most 2^63-1.

        Raises:
            OverflowError: The sum would pass 2^63-1; the counter keeps its value.
        """
        ...

    def clock_ms(self) -> int | None:
        """The store's clock, Unix ms, if it has one."""
        ...


def new_version() -> int:
    """Returns a random version for a write, 1 to 2^52.

    Versions that count would come back in a restored backup: a holder that was suspended meanwhile would find the
    version that it knows, and overwrite the record of its successor.
    """
    return secrets.randbits(52) + 1


class LessorGrant(NamedTuple):
    """A node that a lessor granted; times are of its clock, Unix ms."""

    node: int
    start_ms: int
    """Where the window begins."""
    end_ms: int
    """Where it ends."""
    window_ms: int
    """How long its windows are, which the lessor may have cut."""
    now_ms: int
    """When it answered."""


class Renewal(NamedTuple):
    """A window that a lessor moved on; times are of its clock, Unix ms."""

    start_ms: int
    end_ms: int
    now_ms: int


class Lessor(Protocol):
    """Grants nodes by a separate clock, such as a service's clock. Generators of its leases use this clock.

    A window is durable before it is returned. Each call may be made again: its `nonce`, 128 random bits as 32 hex
    digits, new for each claim, marks a repeated claim. After an exception it is open whether the call took effect; the
    exception becomes a `StoreUnavailableError`. Exceptions of this package are passed on unchanged. All other rules of
    a `Store` apply too.
    """

    def claim(
        self, namespace: str, nonce: str, layout: str, label: str, window_ms: int, max_ahead_ms: int, /, *exclude: int
    ) -> LessorGrant:
        """Grants a node that is not among `exclude`. A nonce that holds a node gets that node again.

        A claim of one node adds the keyword argument `node`; a claim of any node with given field values adds `nodes`,
        such as "datacenter=3". Other calls have neither.

        A window reaches `window_ms` and `max_ahead_ms` past the clock. `layout` is a text form, `label` for people.

        Raises:
            NodesExhaustedError: All nodes are used. With `retry_after_ms` the claim is repeated after this time, within
                `max_wait_ms`.
        """
        ...

    def renew(
        self, namespace: str, nonce: str, node: int, unused_from_ms: int, window_ms: int, max_ahead_ms: int, /
    ) -> Renewal:
        """Extends a window. The first unused tick of the generator begins at `unused_from_ms`, Unix ms.

        Raises:
            WindowClosedError: The node is not held with this nonce, or no longer. After any other exception it is still
                held.
        """
        ...

    def release(self, namespace: str, nonce: str, node: int, unused_from_ms: int, /) -> None:
        """Takes a node back. No ID at or past `unused_from_ms` (Unix ms) was minted."""
        ...


MAX_COUNT = 2**63 - 1


def refuse_green_threads(store: str) -> None:
    """Refuses sockets that gevent or eventlet has replaced.

    They belong to the thread that made them, and leases are renewed on another.

    Raises:
        InvalidStoreError: They are patched.
    """
    if patched("socket"):
        raise InvalidStoreError(
            f"{store} does not work with sockets that gevent or eventlet has patched: use FileStore, or give each "
            "process a node by SNOWMINT_NODE"
        )


def full(store: object, counter: str) -> OverflowError:
    """Makes the error of `add` for a sum beyond the end."""
    return OverflowError(f"{store}: {counter} has no more numbers up to 2^63-1")


def is_async(client: object) -> bool:
    """Whether a client is for event loops."""
    return hasattr(client, "__aenter__")


def wrong_client(store: str, needed: str, client: object) -> TypeError:
    """Makes the error of a store for an object that is not a client for it."""
    reason = ": a thread without an event loop renews leases, so make a second client" if is_async(client) else ""
    return TypeError(f"{store} needs {needed}, not {type(client).__module__}.{type(client).__qualname__}{reason}")


def prefixed(prefix: str) -> str:
    """Returns the part of a store's name for the prefix of its keys. A reservation on disk is found by the name."""
    return "" if prefix == "snowmint" else f" with prefix {prefix}"
