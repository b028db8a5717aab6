"""Numbers of a sequence that a database has."""

from typing import Self, final

from snowmint._stubs._arguments import Int
from snowmint.stores import Store

@final
class NativeNumbers:
    """Numbers of a sequence that a database has, from memory: many in one round trip.

        invoices = NativeNumbers(SqlStore(engine), "invoices_id_seq")

    They come from PostgreSQL or MariaDB over the application's own engine, and are fetched ahead. Other sessions may
    use the sequence at the same time by `nextval`, and it has its own increment, so the numbers need not be
    consecutive. A number never repeats, also after a crash of the server. Numbers in memory at the end of the process
    are skipped. A forked child cannot use the numbers of its parent, and opens its own.

    Args:
        store: An `SqlStore`, or the URL of one.
        sequence: The sequence, which exists: 1 to 64 of A-Z a-z 0-9 _ $, without a leading digit or $.
        step: How many numbers the first fetches take: 1000. It adapts to the demand.
        max_wait_ms: How long a call may wait for the database while memory is empty: 1000.

    Raises:
        InvalidStoreError: The store has no sequences, or the name is not allowed. A sequence that is missing shows at
            the first number.
        InvalidIdError: `step` is not 1 to 2^31-1.
        TypeError: `store` is not a store.
    """

    def __new__(
        cls,
        store: str | Store,
        sequence: str,
        *,
        step: Int | None = None,
        max_wait_ms: Int | None = None,
    ) -> Self: ...
    def next(self) -> int:
        """The next number; waits at most `max_wait_ms`.

        It waits only if memory is empty. Other threads run meanwhile, and signals are heeded. Iterating does the same.

        Raises:
            ExhaustedError: A fetch takes longer; or without `retry_after_ms`, the sequence has no more numbers.
            StoreUnavailableError: Memory is empty, and the last fetch failed.
            InvalidStoreError: The sequence does not exist.
            UnsafeStoreError: Its numbers can repeat: it has CYCLE, or a crash empties it.
            ForkedError: The numbers are the parent's, in a forked child.
        """

    def __iter__(self) -> Self: ...
    def __next__(self) -> int: ...
    async def next_async(self) -> int:
        """The next number; an event loop goes on while it waits. Raises what `next` raises."""
