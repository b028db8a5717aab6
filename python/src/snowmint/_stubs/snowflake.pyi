"""Generators."""

from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Literal, Self, SupportsIndex, TypeVar, Unpack, final

from typing_extensions import Buffer

from snowmint._errors import WindowClosedError
from snowmint._options import Options
from snowmint._status import Status
from snowmint._stubs._arguments import Array, Int
from snowmint._stubs.layouts import Layout
from snowmint._window import Window
from snowmint.stores import FileStore, Lessor, Store

_T = TypeVar("_T")

@final
class Snowflake:
    """A generator of IDs for one node.

    Without a node it leases one, so that its IDs cannot repeat. By default the lease is a slot of this machine. A lease
    is a node and a window of time, which is on disk before the first ID in it is minted. Every process gets its own
    node, a forked child when it first uses the generator.

    >>> from snowmint import Snowflake
    >>> with Snowflake() as generator:
    ...     generator.next_id() < generator.next_id()
    True

    With a node, the caller vouches that no other process uses it, now or after a restart with the clock set back. A
    forked child cannot use such a generator.

    >>> generator = Snowflake(layout="twitter", node={"datacenter": 0, "worker": 5})
    >>> generator
    Snowflake('twitter', node=5)
    >>> generator.next_id() < generator() < next(generator)
    True

    IDs strictly increase, across threads too (unless the layout puts other bits above `time`). In one process,
    generators of the same layout and node share one state as long as the process lives, also under other names of the
    fields. Generators of the same store, namespace and layout share one lease. Generators with a `clock` share if the
    clock is the same object; their state lives as long as that object.

    Args:
        layout: A preset's name, a text form or a `Layout`; the default is `SNOWMINT_LAYOUT`, or else `snowmint`.
        node: A number, a mapping of every node field, or a text such as `datacenter=0,worker=5`; for a lease also some
            of the fields, `{"datacenter": 0}`, for any node with these values. The default is the text in
            `SNOWMINT_NODE`.
        store: Where to lease a node: one of `snowmint.stores`, any object with their verbs, or a URL: `file:DIRECTORY`,
            for the processes of one machine, or what `snowmint.stores.connect` takes, such as `redis://HOST` or
            `http://HOST`. The default is `SNOWMINT_STORE`, or else the slots of this machine: in
            `SNOWMINT_STATE_DIR`, or `/var/tmp/snowmint`.
        namespace: Leases of one namespace never have the same node. 1 to 64 of `a-z A-Z 0-9 . _ -`; the default is
            `SNOWMINT_NAMESPACE`, or else one for each layout. A namespace keeps its first layout.
        max_ahead_ms: How far IDs may run ahead of the clock, which bounds rollback, a frozen clock and bursts.
        max_wait_ms: How long one call may wait for the clock.
        sequence_start: Where the sequence begins in a new tick: at 0, at random in the lower half, or one after the
            last ID's.
        clock: Returns Unix ms as an int. Its exceptions are passed on unchanged. An object that takes weak references,
            such as a function. Not with a service, whose own clock counts.
        on_lost: Called with a `WindowClosedError`, from another thread, if the lease is lost: its file cannot be
            written, or its file or record belongs to another holder.
        exclude: Nodes that a lease is not to get, each as `node` takes it.
        window_ms: How long the windows of a lease are, 1000 and four ticks at least, and with max_ahead_ms an hour at
            most; a crashed holder's node is free after as much. The default is 3000 for slots and reservations, else
            30,000.
        reserve: For how long the store grants a node to a directory of this machine, such as "24h": 1m to 7d. Within
            that time processes of the machine start and mint even if the store does not answer. The directory is the
            one where slots are kept. The default of the option is `SNOWMINT_RESERVE`. A machine that is gone, or was
            started anew, blocks its nodes for the rest of the time. A claim waits up to a window for a node that its
            directory already has.

    Raises:
        InvalidLayoutError: The preset does not exist, the text breaks a rule, or the namespace has another layout.
        InvalidNodeError: The node does not fit the layout, or is leased in this process; the slots of this machine
            are evidently private, as in Kubernetes; or there is a `clock` beside a service's.
        NodesExhaustedError: No node is free within `max_wait_ms`.
        StoreUnavailableError: The state directory cannot be used, or the store cannot be reached; the store's exception
            is the cause.
        InvalidStoreError: The configuration of the store is wrong, such as an unknown URL or a wrong password.
        UnsafeStoreError: The directory lies where locks or writes may be lost (NFS, SMB, 9p, FUSE, tmpfs), or the
            store's settings can lose confirmed writes. A store with `allow_unsafe` accepts that setting.
        TimeOverflowError, BeforeEpochError: The layout is over, or has not begun.
    """

    def __new__(
        cls,
        layout: str | Layout | None = None,
        node: Int | Mapping[str, Int] | str | None = None,
        *,
        store: str | Store | Lessor | FileStore | None = None,
        namespace: str | None = None,
        max_ahead_ms: Int | None = None,
        max_wait_ms: Int | None = None,
        sequence_start: Literal["zero", "random", "carry"] | None = None,
        clock: Callable[[], Int] | None = None,
        on_lost: Callable[[WindowClosedError], object] | None = None,
        exclude: Iterable[Int | Mapping[str, Int] | str] | None = None,
        window_ms: Int | None = None,
        reserve: str | None = None,
    ) -> Self: ...
    @property
    def layout(self) -> Layout:
        """The layout of the IDs."""

    @property
    def node(self) -> int:
        """The node in the IDs.

        A forked child returns the node of its parent until it has leased another node.
        """

    @property
    def window(self) -> Window | None:
        """The interval of time granted to this generator, Unix ms; None for a node that the caller vouches for.

        The end is not included, and moves on within each half window.
        """

    @staticmethod
    async def lease_async(**options: Unpack[Options]) -> Snowflake:
        """Makes a generator in a thread, so that an event loop goes on meanwhile.

        >>> import asyncio
        >>> from snowmint import Snowflake
        >>> async def main() -> int:
        ...     generator = await Snowflake.lease_async(layout="twitter", node=5)
        ...     return await generator.next_id_async()
        >>> asyncio.run(main()) > 0
        True

        Takes the arguments of `Snowflake`, and raises its exceptions. If the caller is cancelled, the thread
        stops, and a lease is given back.
        """

    async def next_id_async(self) -> int:
        """The next ID; waits at most `max_wait_ms`, in a thread, so that an event loop goes on meanwhile.

        An ID that is free now comes without a thread. If the caller is cancelled, the thread stops. Raises the
        exceptions of `next_id`.
        """

    def next_str(self, form: str) -> str:
        """The next ID as text of that form; waits at most `max_wait_ms`.

        >>> from snowmint import Snowflake
        >>> len(Snowflake(node=5).next_str("base62"))
        11

        Args:
            form: `decimal`, `hex`, `base32`, `base36`, `base58` or `base62`.

        Raises:
            InvalidTextError: No form has this name.
            ExhaustedError, ClockBackwardsError, TimeOverflowError, BeforeEpochError, WindowClosedError, ForkedError: As
                `next_id`.
        """

    def next_id(self) -> int:
        """The next ID; waits at most `max_wait_ms`.

        Other threads run meanwhile, and signals are heeded. Calling the generator and `next()` do the same.

        Raises:
            ExhaustedError: The IDs up to now are used up.
            ClockBackwardsError: The clock went back by more than `max_ahead_ms`.
            TimeOverflowError, BeforeEpochError: The layout cannot represent the time.
            WindowClosedError: The generator is closed, or its lease was lost or cannot be renewed.
            ForkedError: A vouched node in a forked child. On a lease the child claims another node, so the call can
                raise the errors of the constructor.
        """

    def __call__(self) -> int:
        """Call self as a function."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> int: ...
    def try_next_id(self) -> int:
        """The next ID; never waits.

        In a forked child it raises `WindowClosedError` until a node is leased in the background.

        Raises:
            ExhaustedError, ClockBackwardsError, TimeOverflowError, BeforeEpochError, WindowClosedError: As `next_id`.
        """

    def next_ids(self, n: Int) -> list[int]:
        """The next n IDs; waits at most `max_wait_ms` in all.

        If the batch cannot be complete in that time, the call fails at once and takes nothing.

        >>> from snowmint import Snowflake
        >>> ids = Snowflake(node=5).next_ids(1000)
        >>> len(ids), ids == sorted(set(ids))
        (1000, True)

        Args:
            n: 0 to 2^24.

        Raises:
            InvalidIdError: n is out of range.
            ExhaustedError, ClockBackwardsError, TimeOverflowError, BeforeEpochError, WindowClosedError: As `next_id`.
        """

    def fill(self, buffer: Buffer | Array) -> None:
        """Fills a buffer of 64-bit integers; waits at most `max_wait_ms` in all.

        >>> from array import array
        >>> from snowmint import Snowflake
        >>> ids = array("Q", bytes(8 * 1000))
        >>> Snowflake(node=5).fill(ids)
        >>> list(ids) == sorted(set(ids))
        True

        Args:
            buffer: Writable and C-contiguous, at most 2^24 items: `array("Q")`, a numpy array of `uint64`, a
                `memoryview` cast to `"Q"`, or one of signed integers: `array("q")`, `int64`. If the call fails on its
                way, its first items may be overwritten.

        Raises:
            TypeError: No buffer, or other items.
            BufferError: Not writable or not contiguous.
            InvalidIdError: Too many items; or the integers are signed, and an ID may be above 2^63-1, see
                `Layout.signed_until`. No ID is taken then.
            ExhaustedError, ClockBackwardsError, TimeOverflowError, BeforeEpochError, WindowClosedError: As `next_id`.
        """

    def status(self) -> Status:
        """Returns the state and the options of the generator.

        >>> from snowmint import Snowflake
        >>> status = Snowflake("leaf", node=5, max_ahead_ms=20).status()
        >>> status.node, status.max_ahead_ms, status.sequence_start, status.window, status.closed
        (5, 20, 'zero', None, False)

        """

    def close(self) -> None:
        """Ends this generator; others of the same node continue. The last one of a lease gives the rest of it back.

        Drops the clock and the callback. Leaving a `with` block does the same, and so does the end of the process, or
        of the generator, if nothing refers to it but its own callbacks. In a forked child this call does not touch the
        parent's lease.
        """

    def __del__(self) -> None:
        """Closes a generator that the cycle collector has found, while its store still works."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...
    def __reduce_ex__(self, protocol: SupportsIndex, /) -> Any:
        """Refuses to be copied or pickled."""

@final
class Stop:
    """Stops the call of a thread that waits, from another thread."""

    def __new__(cls) -> Self: ...
    def set(self) -> None:
        """Ends the wait of the call that runs."""

    def run(self, function: Callable[[], _T]) -> _T:
        """Calls a function without arguments.

        Raises:
            concurrent.futures.CancelledError: It was stopped. A result is dropped.
        """

def before_fork() -> float:
    """Waits until no thread of this package calls a store, for 2 s at most. Returns the seconds left of them."""

def after_fork_in_parent() -> None:
    """Lets calls go on in the parent. A child counts from 0."""

def release_leases() -> None:
    """Gives the nodes of all leases of this process back, before it ends by `os._exit`."""
