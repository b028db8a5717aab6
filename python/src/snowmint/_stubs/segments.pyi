"""Segments: numbers from memory, fetched ahead."""

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, final

from typing_extensions import Buffer

from snowmint._stubs._arguments import Array, Int
from snowmint.stores import FileStore, Lessor, Store

@final
class Segments:
    """Numbers of one tag, from memory.

    They are Leaf's segments. Memory holds a range of a counter in a store. The next range is fetched in the background
    when a tenth of the present one is used, and ranges grow and shrink with the demand. On an `SqlStore` the tag is a
    row of Leaf's table `leaf_alloc`, which servers of Leaf and other languages may use at the same time.

    >>> from snowmint import Segments
    >>> from snowmint.stores import MemoryStore
    >>> with Segments(MemoryStore(), "orders") as orders:
    ...     orders.next(), next(orders), orders.next_block(3)
    (1, 2, range(3, 6))

    Numbers are unique over all processes, and increase within a thread. Unused numbers are skipped, unless `close`
    gives them back. During an outage of the store, calls get numbers until memory is empty. A forked child cannot use
    the segments of its parent, and opens its own.

    Args:
        store: One of `snowmint.stores`, any object with the verbs of a `Store`, or a URL that `snowmint.stores.connect`
            takes, such as `sqlite:numbers.db` or `redis://HOST`. A store with a method `lower(counter, end, start)`
            gets unused numbers back.
        tag: The name of the numbers. It is made if it is missing, except at a service.
        start: The first number of a new tag: 1. A tag that exists keeps its own.
        step: How many numbers the first fetches of a new tag take: 1000.
        max_wait_ms: How long a call may wait for the store while memory is empty: 1000.

    Raises:
        InvalidTextError: The tag is not 1 to 128 bytes long, or a new tag has a character that no name may have.
        InvalidIdError: `start` is not 0 to 2^63-2, or `step` is not 1 to 2^31-1.
        InvalidStoreError: The store cannot keep numbers, or its configuration is wrong.
        UnsafeStoreError: The store's settings can lose confirmed writes.
        StoreUnavailableError: The store cannot be reached; its exception is the cause.
        TypeError: `store` is not a store.
    """

    def __new__(
        cls,
        store: str | Store | Lessor | FileStore,
        tag: str,
        *,
        start: Int | None = None,
        step: Int | None = None,
        max_wait_ms: Int | None = None,
    ) -> Self: ...
    def next(self) -> int:
        """The next number; waits at most `max_wait_ms`.

        It waits only if memory is empty. Other threads run meanwhile, and signals are heeded. Iterating does the same.

        Raises:
            ExhaustedError: A fetch takes longer; or without `retry_after_ms`, all numbers up to 2^63-2 are used.
            StoreUnavailableError: Memory is empty, and the last fetch failed.
            WindowClosedError: The segments are closed.
            ForkedError: They are the parent's, in a forked child.
        """

    def __iter__(self) -> Self: ...
    def __next__(self) -> int: ...
    async def next_async(self) -> int:
        """The next number; an event loop goes on while it waits.

        >>> import asyncio
        >>> from snowmint import Segments
        >>> from snowmint.stores import MemoryStore
        >>> asyncio.run(Segments(MemoryStore(), "orders").next_async())
        1

        Raises what `next` raises.
        """

    def next_block(self, n: Int) -> range:
        """The next n consecutive numbers.

        Waits as `next`. Later numbers are higher. Fewer numbers that are left in memory are skipped.

        Args:
            n: Up to 2^63-1; 0 counts as 1.

        Raises:
            InvalidIdError: n is out of range.
            ExhaustedError, StoreUnavailableError, WindowClosedError, ForkedError: As `next`.
        """

    async def next_block_async(self, n: Int) -> range:
        """The next n consecutive numbers; an event loop goes on while it waits. Raises what `next_block` raises."""

    def fill(self, buffer: Buffer | Array) -> None:
        """Fills a buffer of 64-bit integers with consecutive numbers.

        Waits as `next`.

        >>> from array import array
        >>> from snowmint import Segments
        >>> from snowmint.stores import MemoryStore
        >>> numbers = array("Q", bytes(8 * 1000))
        >>> Segments(MemoryStore(), "orders").fill(numbers)
        >>> numbers[0], numbers[-1]
        (1, 1000)

        Args:
            buffer: Writable and C-contiguous, at most 2^24 items: `array("Q")`, a numpy array of `uint64`, or one of
                signed integers.

        Raises:
            TypeError: No buffer, or other items.
            BufferError: Not writable or not contiguous.
            InvalidIdError: Too many items.
            ExhaustedError, StoreUnavailableError, WindowClosedError, ForkedError: As `next`.
        """

    def close(self) -> int:
        """Closes the segment, gives unused numbers back, and returns how many.

        Numbers go back only if no other holder of the tag has fetched since. Leaving a `with` block does the same. Over
        Redis and DynamoDB none go back, as their clients may send a request twice.

        Raises:
            StoreUnavailableError: It is open whether the numbers went back.
            ExhaustedError: A fetch under way takes too long, and no number went back.
            ForkedError: They are the parent's, in a forked child.
        """

    async def close_async(self) -> int:
        """Closes the segments; an event loop goes on while it waits. Raises what `close` raises."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

@final
class Call:
    """Work that a coroutine waits for."""

    def on_end(self, callback: Callable[[], object]) -> None:
        """Calls a function without arguments at the end, on any thread."""

    def answer(self) -> Any:
        """Takes the answer, or raises the error."""

    def stop(self) -> None:
        """Stops the work."""
