"""Tickets: numbers of several independent servers."""

from collections.abc import Iterable, Sequence
from typing import Self, final

from snowmint._stubs._arguments import Int
from snowmint.stores import FileStore, Lessor, Store

@final
class Tickets:
    """Numbers that are one round trip each, to one of several stores.

    They are Flickr's tickets: any store may be down. With two stores the first gives the odd numbers and the second the
    even ones; of n stores each counts in steps of n.

    >>> from snowmint import Tickets
    >>> from snowmint.stores import MemoryStore
    >>> photos = Tickets([MemoryStore(), MemoryStore()], "photos")
    >>> [photos.next() for _ in range(4)]
    [1, 2, 3, 4]

    Numbers are unique over all stores and clients. The numbers of one store increase from call to call. They are not
    fetched ahead. Each store keeps its place and the number of stores, and refuses another. So all stores must answer
    for the first ticket of a name. A forked child cannot use the tickets of its parent, and opens its own.

    Args:
        stores: A store, or up to 32 in the order of their places: each one of `snowmint.stores`, any object with the
            verbs of a `Store`, or a URL that `snowmint.stores.connect` takes. An `HttpStore` cannot be combined with
            other stores.
        name: The name of the tickets.
        max_wait_ms: How long a call may take: 1000. Each store gets an equal part of the time that is left.

    Raises:
        InvalidIdError: There are not 1 to 32 stores.
        InvalidTextError: The name is not 1 to 128 bytes long.
        InvalidStoreError: A store cannot keep numbers.
        TypeError: An object is not a store.
    """

    def __new__(
        cls,
        stores: str | Store | Lessor | FileStore | Iterable[str | Store | Lessor | FileStore],
        name: str,
        *,
        max_wait_ms: Int | None = None,
    ) -> Self: ...
    @staticmethod
    def of_tables(
        stores: str | Store | Iterable[str | Store],
        table: str,
        *,
        stub: str | None = None,
        increment: Int | None = None,
        offsets: Sequence[Int] | None = None,
        max_wait_ms: Int | None = None,
    ) -> Tickets:
        """Opens tables of tickets, such as Flickr's `Tickets64`.

            photos = Tickets.of_tables([SqlStore(first), SqlStore(second)], "Tickets64")

        Each ticket is a `REPLACE INTO` and its `LAST_INSERT_ID`, on one connection, in a database of MySQL or MariaDB.
        The table stays unchanged, and other clients may use it at the same time. All stubs of a table share its
        numbers. The variables of the connection's session are restored after each ticket.

        Args:
            stores: A store, or several: each an `SqlStore`, or the URL of one.
            table: The table of each store, which exists: an `AUTO_INCREMENT` column, and a column `stub`.
            stub: The row whose number is replaced: `a`.
            increment: The step of all servers; by default their number.
            offsets: The offset of each store, 1 to `increment`; by default its place in the list, from 1.
            max_wait_ms: How long a call may take: 1000.

        Raises:
            InvalidIdError: The offsets do not fit the increment or the stores.
            InvalidStoreError: A store has no tables of tickets. A table that cannot serve shows at the first ticket.
        """

    def next(self) -> int:
        """The next ticket; waits at most `max_wait_ms`.

        Stores that failed lately are asked last. Iterating does the same.

        Raises:
            StoreUnavailableError: No store answers; the message has the error of each.
            InvalidIdError: A store has another place, or another number of stores.
            InvalidTextError: A new name has a character that no name may have.
            ExhaustedError: The tickets up to 2^63-1 are used, or a table has no number left.
            ForkedError: The tickets are the parent's, in a forked child.
        """

    def __iter__(self) -> Self: ...
    def __next__(self) -> int: ...
    async def next_async(self) -> int:
        """The next ticket; an event loop goes on while it waits.

        >>> import asyncio
        >>> from snowmint import Tickets
        >>> from snowmint.stores import MemoryStore
        >>> asyncio.run(Tickets(MemoryStore(), "photos").next_async())
        1

        Raises what `next` raises.
        """
