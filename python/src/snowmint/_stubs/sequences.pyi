"""Named sequences."""

from typing import Literal, Self, final

from snowmint._stubs._arguments import Int
from snowmint.stores import FileStore, Lessor, Store

@final
class Sequences:
    """A session on the sequences of a store.

    It has the calls of a database: `nextval`, `currval`, `lastval`, `setval`.

    >>> from snowmint import Sequences
    >>> from snowmint.stores import MemoryStore
    >>> session = Sequences(MemoryStore())
    >>> session.create("invoices", start=100, increment=10)
    True
    >>> session.next("invoices"), session.next("invoices"), session.current("invoices")
    (100, 110, 110)
    >>> session.set("invoices", 500), session.next("invoices"), session.last()
    (500, 510, 510)

    Without `create` the first use gives a sequence PostgreSQL's defaults. Each session has its own cache, and skips the
    values that it does not use. Calls of one session run one after the other. Calls that wait for the same sequence at
    the same time share a write. A forked child cannot use the session of its parent, and begins its own.

    Args:
        store: One of `snowmint.stores`, any object with the verbs of a `Store`, or a URL that
            `snowmint.stores.connect` takes, such as `sqlite:numbers.db`.
        max_wait_ms: How long a call may take: 1000.

    Raises:
        InvalidStoreError: The store cannot keep numbers.
        TypeError: `store` is not a store.
    """

    def __new__(cls, store: str | Store | Lessor | FileStore, *, max_wait_ms: Int | None = None) -> Self: ...
    def create(
        self,
        name: str,
        *,
        start: Int | None = None,
        increment: Int | None = None,
        min: Int | None = None,
        max: Int | None = None,
        cache: Int | None = None,
        cycle: bool | None = None,
        dialect: Literal["pg", "mariadb", "tidb"] | None = None,
        kind: Literal["smallint", "integer", "bigint", "bigint unsigned"] | None = None,
    ) -> bool:
        """`CREATE SEQUENCE`. Returns False if the sequence exists.

        A sequence that exists stays unchanged.

        Args:
            name: 1 to 128 bytes.
            start: The first value; by default `min`, or `max` if the sequence goes down.
            increment: The step, negative for a sequence that goes down: 1.
            min: The lowest value; the dialect decides the default.
            max: The highest value; the dialect decides the default.
            cache: How many values a session takes at once: 1, in `mariadb` and `tidb` 1000.
            cycle: Whether the sequence begins again at its end: no.
            dialect: The database whose rules and defaults hold: `pg`.
            kind: The type of the values: `bigint`.

        Raises:
            InvalidIdError: The options do not fit each other, or the type.
            InvalidTextError: The name or the dialect is wrong.
            StoreUnavailableError: The store does not answer in time.
            ForkedError: The session is the parent's, in a forked child.
        """

    async def create_async(
        self,
        name: str,
        *,
        start: Int | None = None,
        increment: Int | None = None,
        min: Int | None = None,
        max: Int | None = None,
        cache: Int | None = None,
        cycle: bool | None = None,
        dialect: Literal["pg", "mariadb", "tidb"] | None = None,
        kind: Literal["smallint", "integer", "bigint", "bigint unsigned"] | None = None,
    ) -> bool:
        """`CREATE SEQUENCE`; an event loop goes on while it waits. As `create`."""

    def next(self, name: str) -> int:
        """`nextval`: the next value.

        Raises:
            ExhaustedError: The sequence is at its end, and does not cycle.
            InvalidTextError: The name is wrong.
            StoreUnavailableError: The store does not answer in time. Its value is skipped.
            ForkedError: The session is the parent's, in a forked child.
        """

    async def next_async(self, name: str) -> int:
        """`nextval`; an event loop goes on while it waits. As `next`."""

    def current(self, name: str) -> int | None:
        """`currval`: the last value of the sequence in this session.

        Before the first value it is None in the dialects `mariadb` and `tidb`.

        Raises:
            InvalidIdError: The session has taken no value yet, in the dialect `pg`.
            InvalidTextError, StoreUnavailableError, ForkedError: As `next`.
        """

    async def current_async(self, name: str) -> int | None:
        """`currval`; an event loop goes on while it waits. As `current`."""

    def last(self) -> int:
        """`lastval`: the last value of the sequence that this session used last.

        Raises:
            InvalidIdError: The session has taken no value yet.
            ForkedError: The session is the parent's, in a forked child.
        """

    async def last_async(self) -> int:
        """`lastval`; an event loop goes on while it waits. As `last`."""

    def set(self, name: str, value: Int, called: bool | None = None, *, round: Int | None = None) -> int | None:
        """`setval`: sets the value, and returns it; None if the dialect leaves the sequence unchanged.

        Args:
            name: The sequence.
            value: The last value, or the next one.
            called: Whether `value` counts as taken: yes. Not in the dialect `tidb`.
            round: How often the sequence has begun again, in the dialect `mariadb` alone: 0.

        Raises:
            InvalidIdError: The sequence cannot have this value, or the dialect has no such argument.
            ExhaustedError, InvalidTextError, StoreUnavailableError, ForkedError: As `next`.
        """

    async def set_async(
        self, name: str, value: Int, called: bool | None = None, *, round: Int | None = None
    ) -> int | None:
        """`setval`; an event loop goes on while it waits. As `set`."""

    def sequence(self, name: str) -> Sequence:
        """One sequence, to pass on.

        >>> from snowmint import Sequences
        >>> from snowmint.stores import MemoryStore
        >>> invoices = Sequences(MemoryStore()).sequence("invoices")
        >>> invoices.next(), invoices.next(), invoices.current()
        (1, 2, 2)

        Args:
            name: The sequence, which need not exist: wrong names are refused by the calls.
        """

@final
class Sequence:
    """One sequence of a session.

    `Sequences.sequence` returns it. Each call runs in its session, and raises the same exceptions as there.
    """

    def next(self) -> int:
        """`nextval`: the next value. As `Sequences.next`."""

    async def next_async(self) -> int:
        """`nextval`; an event loop goes on while it waits. As `Sequences.next`."""

    def current(self) -> int | None:
        """`currval`: the last value in this session. As `Sequences.current`."""

    async def current_async(self) -> int | None:
        """`currval`; an event loop goes on while it waits. As `Sequences.current`."""

    def set(self, value: Int, called: bool | None = None, *, round: Int | None = None) -> int | None:
        """`setval`: sets the value, and returns it; None if the dialect leaves the sequence unchanged.

        As `Sequences.set`.
        """

    async def set_async(self, value: Int, called: bool | None = None, *, round: Int | None = None) -> int | None:
        """`setval`; an event loop goes on while it waits. As `Sequences.set`."""

def virtual_range(name: str) -> range:
    """Returns the range of a name such as `seq_1_to_15_step_3`.

    MariaDB's SEQUENCE engine uses the same names.

    >>> from snowmint import sequence
    >>> sequence.virtual("seq_5_to_1"), len(sequence.virtual("seq_0_to_1000000000_step_7"))
    (range(5, 0, -1), 142857143)

    A range that goes down lists the numbers of the range that goes up.

    Raises:
        InvalidTextError: The name is not `seq_A_to_B` or `seq_A_to_B_step_S`, with numbers up to 2^64-1 and S above 0.
    """
