"""A sequence for each user."""

from types import TracebackType
from typing import Self, final

from snowmint._stubs._arguments import Int
from snowmint.stores import FileStore, Lessor, Store

def users(
    store: str | Store | Lessor | FileStore,
    set: str | None = None,
    *,
    size: Int | None = None,
    step: Int | None = None,
    window_ms: Int | None = None,
    max_wait_ms: Int | None = None,
    label: str | None = None,
) -> Users:
    """Opens an allocator of numbers for a set of users.

    Each user has a sequence, as in WeChat's seqsvr.

    >>> from snowmint import users
    >>> from snowmint.stores import MemoryStore
    >>> with users(MemoryStore(), "messages") as messages:
    ...     messages.next(7), messages.next(7), messages.next(8)
    (1, 2, 1)

    Args:
        store: One of `snowmint.stores`, any object with the verbs of a `Store`, or a URL that
            `snowmint.stores.connect` takes. With an `HttpStore` the only option is `max_wait_ms`, because the service
            sets the others.
        set: The name of the set: `users`. The users of two sets have nothing in common.
        size: How many users share a record, at most 1,000,000: 100,000. The store keeps the size of a set's first
            allocator, and refuses another.
        step: The amount by which the limit of a section rises: 10,000.
        window_ms: How long the section of a crashed allocator stays unavailable, 1000 at least: 30,000.
        max_wait_ms: How long a call may take: 1000.
        label: The name of this allocator for people: program, process and host.

    Raises:
        InvalidIdError: An option is out of range.
        InvalidTextError: The name of the set is not 1 to 128 bytes long.
        InvalidStoreError: The store cannot keep numbers.
        TypeError: `store` is not a store, or it is a service and options of an allocator are given.
    """

@final
class Users:
    """An allocator of numbers for users.

    A user's numbers increase by one, and by more when the section of the user changes its allocator or forgets its
    users because the memory is full. Several processes may serve one set; each section belongs to one of them at a
    time. An allocator claims a section at the first request, and gives it back after two windows without a request, at
    least a minute. A forked child cannot use the allocator of its parent, and opens its own. The sections of a process
    that ends without `close` are free after `window_ms`.
    """

    def next(self, user: Int) -> int:
        """The next number of a user; waits at most `max_wait_ms`.

        A user is a number from 0 to 2^64-1. If another allocator holds the section, the call waits only if the section
        may become free in time.

        Raises:
            WindowClosedError: Another allocator holds the section, with its label; or this one is closed.
            StoreUnavailableError: The store does not answer in time, or another server of the service has the user.
            ExhaustedError: All sections are in use; or without `retry_after_ms`, all numbers up to 2^63-1.
            InvalidIdError: The user is out of range, or the set has another size of sections.
            ForkedError: The allocator is the parent's, in a forked child.
        """

    async def next_async(self, user: Int) -> int:
        """The next number of a user; an event loop goes on while it waits. Raises what `next` raises."""

    def close(self) -> None:
        """Closes the allocator, and gives every section back.

        So other allocators need not wait. Leaving a `with` block does the same.

        Raises:
            ForkedError: The allocator is the parent's, in a forked child.
        """

    async def close_async(self) -> None:
        """Closes the allocator; an event loop goes on while it waits. Raises what `close` raises."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...
