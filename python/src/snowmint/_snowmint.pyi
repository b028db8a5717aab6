from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, Final, Literal, Protocol, Self, SupportsIndex, TypeAlias, TypeVar, Unpack, final
from uuid import UUID

from typing_extensions import Buffer

from snowmint._errors import WindowClosedError
from snowmint._options import Options
from snowmint._status import Status
from snowmint._window import Window
from snowmint.stores import FileStore, Lessor, Store

# An int, or what is one by `__index__`, such as a numpy integer. A bool is refused.
_Int: TypeAlias = SupportsIndex

_T = TypeVar("_T")

# In classes that have it as a property.
_Bytes: TypeAlias = bytes

class _HasBytes(Protocol):
    @property
    def bytes(self) -> _Bytes: ...

# numpy declares its buffers for type checkers only from Python 3.12 on.
class _Array(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

__all__ = [
    "AuditFinding",
    "AuditNode",
    "AuditReader",
    "AuditReport",
    "Candidate",
    "KSUID",
    "Layout",
    "Mask",
    "ObjectId",
    "Parts",
    "Snowflake",
    "SqlParts",
    "Stop",
    "ULID",
    "UuidMask",
    "XID",
    "__version__",
    "after_fork_in_parent",
    "audit",
    "audit_finding",
    "audit_node",
    "audit_report",
    "before_fork",
    "candidate",
    "engine_settings",
    "is_misconfigured",
    "examine",
    "find_layout",
    "error_classes",
    "inspect",
    "ksuid",
    "object_id",
    "postgres_wide_function",
    "prefix_decode_id",
    "prefix_decode_uuid",
    "prefix_encode",
    "prefix_is_uuid",
    "no_column",
    "presets",
    "refuse_lossy_place",
    "refuse_unsafe",
    "release_leases",
    "render_audit",
    "render_candidates",
    "render_decoded",
    "render_layouts",
    "reverse_bits",
    "rotate_digits",
    "shard_high",
    "shown",
    "standby_risk",
    "text_decode",
    "text_encode",
    "text_forms",
    "type_id_parts",
    "ulid",
    "ulid_str",
    "unrotate_digits",
    "unshard_high",
    "uuid1",
    "uuid3",
    "uuid4",
    "uuid4_str",
    "uuid5",
    "uuid6",
    "uuid7",
    "uuid7_range",
    "uuid7_str",
    "uuid8",
    "uuid_from_bin",
    "uuid_from_text",
    "uuid_to_bin",
    "uuid_to_text",
    "xid",
]

__version__: Final[str]

@final
class Layout:
    """The bit fields of an ID from high to low, with the epoch and the length of a tick.

    >>> from snowmint import Layout
    >>> layout = Layout("time:40,shard:12,sequence:11;epoch=2025-01-01T00:00:00Z")
    >>> layout
    Layout('time:40,shard:12,sequence:11;epoch=1735689600000;tick=1ms')
    >>> layout.nodes, layout.ids_per_tick, layout.ids_per_second, layout.ends_at.year
    (4096, 2048, 2048000, 2059)

    The text form is the same in every language. Exactly one field is `time`; `unused` (only first), `sequence`,
    and one of `random` and `opaque` are there at most once; every other field is a node field, unless it has a fixed
    value (`version:5=16`). The node is all node fields concatenated, high to low. Layouts are equal if their texts are.

    A layout with ticks below 1 ms (`tick=10us`), or with bits that only their minter understands (`opaque`), decodes
    and encodes IDs, and no generator takes it.
    """

    def __new__(cls, text: str) -> Self: ...
    @staticmethod
    def parse(text: str) -> Layout:
        """The layout with that text form.

        >>> from snowmint import Layout
        >>> str(Layout.parse("unused:1,time:41,node:10,sequence:12;epoch=2025-01-01T00:00:00Z"))
        'unused:1,time:41,node:10,sequence:12;epoch=1735689600000;tick=1ms'

        Raises:
            InvalidLayoutError: It breaks a rule; the sentence says which.
        """

    @staticmethod
    def preset(name: str) -> Layout:
        """The preset of that name.

        >>> from snowmint import Layout
        >>> Layout.preset("sonyflake").tick_ms
        10

        Raises:
            InvalidLayoutError: No preset has this name.
        """

    @property
    def name(self) -> str | None:
        """The name of the preset that this layout is, or None."""

    @property
    def fields(self) -> dict[str, int]:
        """The fields but `unused`, high to low, with their bits.

        >>> from snowmint import layouts
        >>> layouts.TWITTER.fields
        {'time': 41, 'datacenter': 5, 'worker': 5, 'sequence': 12}

        The dict is a fresh one.
        """

    @property
    def bits(self) -> int:
        """The bits of all fields together, 1 to 64."""

    @property
    def epoch_ms(self) -> int:
        """The instant of tick 0, Unix ms."""

    @property
    def epoch(self) -> datetime | None:
        """The instant of tick 0, or None where datetime cannot hold it."""

    @property
    def tick_ms(self) -> int:
        """The length of a tick in ms, rounded down.

        0 for ticks below 1 ms: read `tick_us`.
        """

    @property
    def tick_us(self) -> int:
        """The length of a tick in microseconds."""

    @property
    def mintable(self) -> bool:
        """Whether a generator can mint in this layout: it has no opaque bits, and its ticks are whole ms."""

    @property
    def ends_at_ms(self) -> int:
        """The start of the last tick, Unix ms."""

    @property
    def ends_at(self) -> datetime | None:
        """The start of the last tick, or None where datetime cannot hold it.

        >>> from snowmint import layouts
        >>> layouts.BAIDU.ends_at.isoformat()
        '2024-11-20T13:24:15+00:00'
        >>> layouts.MASTODON.ends_at is None, layouts.MASTODON.ends_at_ms
        (True, 281474976710655)

        It is aware, in UTC, as every datetime here.
        """

    @property
    def signed_until_ms(self) -> int | None:
        """When bit 63 of an ID first becomes 1, Unix ms; None if it never does.

        From then on IDs are negative in a signed 64-bit column.
        """

    @property
    def signed_until(self) -> datetime | None:
        """When bit 63 of an ID first becomes 1; None if it never does or datetime cannot hold it."""

    @property
    def js_safe(self) -> bool:
        """Whether every ID fits the 53 bits that a JavaScript number holds exactly."""

    @property
    def nodes(self) -> int:
        """How many nodes there are."""

    @property
    def ids_per_tick(self) -> int:
        """The most IDs that a node can mint in one tick."""

    @property
    def ids_per_second(self) -> int:
        """The most IDs that a node can mint in a second on average."""

    def decode(self, id: _Int) -> Parts:
        """Takes an ID apart.

        >>> from snowmint import layouts
        >>> layouts.DISCORD.decode(175928847299117063).timestamp_ms
        1462015105796

        Args:
            id: 64 bits; a negative value is the signed form of the same bits.

        Raises:
            InvalidIdError: The layout cannot have minted it: bits above the layout, or unused bits set, or a field
                with another value than its fixed one.
        """

    def decode_array(self, ids: Any) -> dict[str, Any]:
        """Takes an array of IDs apart, with numpy.

        >>> import numpy
        >>> from snowmint import layouts
        >>> parts = layouts.TWITTER.decode_array(numpy.array([1541815603606036480], "uint64"))
        >>> parts["timestamp"], parts["fields"]["worker"]
        (array(['2022-06-28T16:07:40.105'], dtype='datetime64[ms]'), array([26], dtype=uint64))

        Args:
            ids: A numpy array of `uint64` or `int64`, of any shape; a negative value is the signed form of the
                same bits.

        Returns:
            Arrays of the same shape: `timestamp` (`datetime64[ms]`, UTC), `timestamp_ms` (`int64`), `tick`, `node`,
            `sequence` (`uint64`), and in the dict `fields` each field by its name (`uint64`). If ticks are not whole
            ms, `timestamp` is `datetime64[us]`, and `timestamp_us` (`int64`) is there too.

        Raises:
            TypeError: The array has other items.
            InvalidIdError: The layout cannot have minted one of the IDs.
            ImportError: numpy is not installed.
        """

    def encode(
        self,
        parts: Parts | None = None,
        *,
        timestamp_ms: _Int | None = None,
        timestamp: datetime | None = None,
        timestamp_us: _Int | None = None,
        node: _Int | Mapping[str, _Int] | str | None = None,
        sequence: _Int | None = None,
        random: _Int | None = None,
        opaque: _Int | None = None,
    ) -> int:
        """Puts an ID together: the inverse of decode.

        It takes `Parts` alone, or one of `timestamp_ms`, `timestamp` and `timestamp_us` with the others, which are 0 if
        not given.
        Nothing keeps an ID made this way from being minted too.

        >>> from snowmint import layouts
        >>> layouts.TWITTER.encode(timestamp_ms=1656432460105, node={"datacenter": 11, "worker": 26})
        1541815603606036480
        >>> layouts.TWITTER.encode(layouts.TWITTER.decode(1541815603606036480))
        1541815603606036480

        Args:
            parts: The `Parts` that `decode` returned, also from another layout.
            timestamp_ms: Unix ms, rounded down to the tick.
            timestamp: An aware datetime, rounded down to the tick.
            timestamp_us: Unix microseconds, rounded down to the tick.
            node: A number, a mapping of every node field, or a text such as `datacenter=0,worker=5`.
            sequence: The counter within the tick.
            random: The field `random`.
            opaque: The field `opaque`, of a layout that has it instead of `random`.

        Raises:
            BeforeEpochError, TimeOverflowError: The layout has no such time.
            InvalidNodeError: The node or a node field does not fit, is missing or unknown.
            InvalidIdError: `sequence`, `random` or `opaque` does not fit.
            ValueError: The datetime is naive.
            TypeError: Not exactly one time was given, or both `random` and `opaque`.
        """

    def id_range(self, dt_from: datetime | _Int, dt_to: datetime | _Int) -> tuple[int, int]:
        """The lowest and highest ID between two instants, both included.

        Instants are aware datetimes or Unix ms, each rounded down to its tick. Made for `WHERE id BETWEEN` on a
        primary key.

        >>> from snowmint import layouts
        >>> layouts.TWITTER.id_range(1656374400000, 1656460799999)
        (1541572081873846272, 1541934469739446271)

        Raises:
            InvalidLayoutError: Another field than `time` leads (`unused` aside).
            InvalidIdError: `dt_to` is before `dt_from`.
            BeforeEpochError, TimeOverflowError: The layout has no such time.
            ValueError: A datetime is naive.
        """

    def postgres_function(
        self,
        schema: str,
        name: str,
        node: _Int | Mapping[str, _Int] | str,
        *,
        max_ahead_ms: _Int | None = None,
        max_wait_ms: _Int | None = None,
        sequence_start: Literal["zero", "random", "carry"] | None = None,
    ) -> str:
        """A script that creates the function `schema.name()`, which mints IDs in SQL.

        It is for PostgreSQL, and mints the IDs of a node. Made to be the default of a column,
        `id bigint PRIMARY KEY DEFAULT app.next_id()`. It follows the rules of a `Snowflake` with these options: it
        waits or fails where the sequence is used up or the clock went back, and never repeats an ID, whatever the
        number of connections. Names are quoted, whatever they hold. The comment on the function names the time from
        which its IDs are negative in a `bigint`, if there is one.

        >>> from snowmint import layouts
        >>> script = layouts.SNOWMINT.postgres_function("app", "next_id", node=5)
        >>> 'CREATE OR REPLACE FUNCTION "app"."next_id"() RETURNS bigint' in script
        True

        It raises SQLSTATE `SN001` (EXHAUSTED), `SN002` (CLOCK_BACKWARDS), `SN003` (TIME_OVERFLOW) and `SN004`
        (BEFORE_EPOCH). Its last tick and sequence are kept in a sequence beside it.

        Args:
            schema: A schema that is there, as the database has its name.
            name: The function's name.
            node: A number, a mapping of every node field, or a text such as `datacenter=0,worker=5`. Nothing else, in
                the database or outside, may mint with it.
            max_ahead_ms: How far IDs may run ahead of the clock; the default is 0.
            max_wait_ms: How long a call may wait for the clock; the default is 1000.
            sequence_start: Where the sequence begins in a new tick.

        Raises:
            InvalidNodeError: The layout has no such node.
            InvalidTextError: A name is empty, has a NUL or is too long for PostgreSQL.
        """

    def mariadb_function(
        self,
        schema: str,
        name: str,
        node: _Int | Mapping[str, _Int] | str,
        *,
        max_ahead_ms: _Int | None = None,
        max_wait_ms: _Int | None = None,
        sequence_start: Literal["zero", "random", "carry"] | None = None,
    ) -> list[str]:
        """Statements that create the stored function `schema.name()`, which mints IDs in SQL.

        It is for MariaDB from 10.6 on, tested on 10.11, and mints the IDs of a node. Run the statements in their order.
        MariaDB allows no stored function as the default of a column, so call it in a statement, or in a trigger. It
        follows the rules of a `Snowflake` with these options: it waits or fails where the sequence is used up or the
        clock went back, and never repeats an ID, whatever the number of connections and whatever their transactions do.

        >>> from snowmint import layouts
        >>> table, drop, create = layouts.SNOWMINT.mariadb_function("app", "next_id", node=5)
        >>> drop
        'DROP FUNCTION IF EXISTS `app`.`next_id`'

        It raises SQLSTATE `SN001` (EXHAUSTED), `SN002` (CLOCK_BACKWARDS), `SN003` (TIME_OVERFLOW), `SN004`
        (BEFORE_EPOCH) and `SN006` (UNSAFE_STORE: a binary log of statements). Its last tick and sequence are kept in a
        table beside it, of an engine without transactions.

        Args:
            schema: A database that is there.
            name: The function's name.
            node: A number, a mapping of every node field, or a text such as `datacenter=0,worker=5`. Nothing else, in
                the database or outside, may mint with it.
            max_ahead_ms: How far IDs may run ahead of the clock; the default is 0.
            max_wait_ms: How long a call may wait for the clock; the default is 1000.
            sequence_start: Where the sequence begins in a new tick.

        Raises:
            InvalidNodeError: The layout has no such node.
            InvalidTextError: A name is empty, has a NUL or is too long for MariaDB.
        """

    def decode_sql(
        self,
        dialect: Literal[
            "postgres",
            "mariadb",
            "mariadb_signed",
            "clickhouse",
            "clickhouse_signed",
            "duckdb",
            "duckdb_unsigned",
            "sqlite",
            "cockroach",
            "tidb",
            "tidb_signed",
        ],
        column: str,
    ) -> SqlParts:
        """Expressions that take the IDs of a column apart.

        >>> from snowmint import layouts
        >>> layouts.TWITTER.decode_sql("postgres", "orders.id").node
        '(("orders"."id" >> 12) & 1023)'

        Args:
            dialect: The database and its type of the column. `postgres` (`bigint`), `mariadb` (`BIGINT UNSIGNED`),
                `mariadb_signed` (`BIGINT`), `clickhouse` (`UInt64`), `clickhouse_signed` (`Int64`), `duckdb`
                (`BIGINT`), `duckdb_unsigned` (`UBIGINT`), `sqlite` (`INTEGER`), `cockroach` (`INT8`), `tidb`
                (`BIGINT UNSIGNED`) or `tidb_signed` (`BIGINT`). MySQL takes the expressions of `mariadb`. No test runs
                those of CockroachDB, TiDB and MySQL in these databases.
            column: The column's name in the database, with the schema and table before it if needed, separated by dots.

        Raises:
            InvalidTextError: The dialect is unknown, or a name is empty, has a NUL or is too long.
        """

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class SqlParts:
    """Expressions of SQL that take the IDs of a column apart, as `Layout.decode` does; see `Layout.decode_sql`.

    >>> from snowmint import layouts
    >>> id = layouts.TWITTER.decode_sql("mariadb", "id")
    >>> id.timestamp_ms
    '(CAST(((`id` >> 22) & 2199023255551) AS SIGNED) + 1288834974657)'
    >>> f"SELECT * FROM orders WHERE {id.between(1656374400000, 1656460799999)}"
    'SELECT * FROM orders WHERE (`id` BETWEEN 1541572081873846272 AND 1541934469739446271)'

    They do not refuse an ID that the layout cannot have minted.
    """

    @property
    def timestamp(self) -> str:
        """The first instant of the ID's tick, as the database's type of instants.

        It is a `timestamptz` in PostgreSQL and CockroachDB, a `DATETIME(6)` in UTC in MariaDB and TiDB, a
        `DateTime64(3, 'UTC')` in ClickHouse, a `TIMESTAMP` in UTC in DuckDB, and a text in SQLite. It is `NULL` from
        the year 10000 on in MariaDB, TiDB and SQLite, and before 1900 and from 2300 on in ClickHouse.
        """

    @property
    def timestamp_ms(self) -> str:
        """The first instant of the ID's tick, Unix ms."""

    @property
    def tick(self) -> str:
        """The value of the time field: ticks since the epoch."""

    @property
    def node(self) -> str:
        """All node fields, concatenated high to low."""

    @property
    def sequence(self) -> str:
        """The counter within the tick; 0 if the layout has none."""

    @property
    def fields(self) -> dict[str, str]:
        """Every field but `unused`, high to low."""

    def between(self, dt_from: datetime | _Int, dt_to: datetime | _Int) -> str:
        """Whether an ID lies between two instants, both included; an index on the column serves.

        Raises:
            InvalidLayoutError, InvalidIdError, BeforeEpochError, TimeOverflowError, ValueError: As `Layout.id_range`.
        """

    def __reduce__(self) -> tuple[Any, ...]: ...

def postgres_wide_function(kind: Literal["uuid7", "ulid", "typeid"], schema: str, name: str) -> str:
    """A script that creates the function `schema.name()`, which mints 128-bit IDs in SQL.

    It is for PostgreSQL 13 and later, and needs no extension. Made to be the default of a column: `id uuid PRIMARY KEY
    DEFAULT app.uuid7()`, or `id text PRIMARY KEY DEFAULT app.typeid('user')`. IDs of one function strictly increase
    over all connections, whatever the clock does, and it never waits for the clock.

    >>> import snowmint
    >>> script = snowmint.postgres_wide_function("uuid7", "app", "uuid7")
    >>> 'CREATE OR REPLACE FUNCTION "app"."uuid7"() RETURNS uuid' in script
    True

    It raises SQLSTATE `SN003` (TIME_OVERFLOW), `SN004` (BEFORE_EPOCH), and `SN005` (INVALID_TEXT) for a prefix that is
    not valid or is `NULL`. The time of its last ID is kept in a sequence beside it.

    Args:
        kind: `uuid7` returns a `uuid`, `ulid` a `text` of 26 characters, and `typeid` a `text` with the prefix that the
            function takes as its argument.
        schema: A schema that is there, as the database has its name.
        name: The function's name.

    Raises:
        InvalidTextError: The kind is unknown, or a name is empty, has a NUL or is too long for PostgreSQL.
    """

@final
class Parts:
    """The parts of an ID under a layout.

    >>> from snowmint import layouts
    >>> layouts.TWITTER.decode(1541815603606036480)
    Parts(timestamp=2022-06-28T16:07:40.105Z, tick=367597485448, node=378, datacenter=11, worker=26, sequence=0)

    Parts are equal if they are of one ID under equal layouts.
    """

    @property
    def timestamp(self) -> datetime:
        """The first instant of the ID's tick, in UTC.

        Raises:
            TimeOverflowError: It lies outside the years 1 to 9999, which `datetime` can hold; read `timestamp_ms`.
        """

    @property
    def timestamp_ms(self) -> int:
        """The first instant of the ID's tick, Unix ms."""

    @property
    def timestamp_us(self) -> int:
        """The first instant of the ID's tick in Unix microseconds.

        >>> from snowmint import Layout
        >>> bluesky = Layout("unused:1,time:53,clock:10;epoch=0;tick=1us")
        >>> bluesky.decode(1773100373128903691).timestamp_us
        1731543333133695

        A multiple of 1000 if ticks are whole ms.
        """

    @property
    def tick(self) -> int:
        """Ticks since the epoch."""

    @property
    def node(self) -> int:
        """All node fields as one number, concatenated high to low."""

    @property
    def sequence(self) -> int:
        """The counter within the tick; 0 if the layout has none."""

    @property
    def fields(self) -> dict[str, int]:
        """Every field but `unused`, high to low, with its value.

        >>> from snowmint import layouts
        >>> layouts.TWITTER.decode(1541815603606036480).fields
        {'time': 367597485448, 'datacenter': 11, 'worker': 26, 'sequence': 0}

        The dict is a fresh one.
        """

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Snowflake:
    """A generator of IDs for one node.

    Without a node it leases one, so that its IDs cannot repeat: a slot of this machine, if nothing else is said. A
    lease is a node and a window of time, which is on disk before the first ID in it is minted. Every process gets its
    own node, a forked child when it first uses the generator.

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
        node: A number, a mapping of every node field, or a text such as `datacenter=0,worker=5`. If neither this nor
            `store` nor `namespace` is given, the text in the environment variable `SNOWMINT_NODE`.
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
            most; a crashed holder's node is free after as much. The default is 3000 for slots, else 30,000.

    Raises:
        InvalidLayoutError: The preset does not exist, the text breaks a rule, or the namespace has another layout.
        InvalidNodeError: The node does not fit the layout, or is leased in this process; the slots of this machine
            are evidently private, as in Kubernetes; or there is a `clock` beside a service's.
        NodesExhaustedError: No node is free within `max_wait_ms`.
        StoreUnavailableError: The state directory cannot be used, or the store cannot be reached; the store's exception
            is the cause.
        InvalidStoreError: The store cannot work as it is configured, such as by an unknown URL or a wrong password.
        UnsafeStoreError: The directory lies where locks or writes may be lost (NFS, SMB, 9p, FUSE, tmpfs), or the
            store's settings can lose confirmed writes. A store with `allow_unsafe` accepts that setting.
        TimeOverflowError, BeforeEpochError: The layout is over, or has not begun.
    """

    def __new__(
        cls,
        layout: str | Layout | None = None,
        node: _Int | Mapping[str, _Int] | str | None = None,
        *,
        store: str | Store | Lessor | FileStore | None = None,
        namespace: str | None = None,
        max_ahead_ms: _Int | None = None,
        max_wait_ms: _Int | None = None,
        sequence_start: Literal["zero", "random", "carry"] | None = None,
        clock: Callable[[], _Int] | None = None,
        on_lost: Callable[[WindowClosedError], object] | None = None,
        exclude: Iterable[_Int | Mapping[str, _Int] | str] | None = None,
        window_ms: _Int | None = None,
    ) -> Self: ...
    @property
    def layout(self) -> Layout:
        """The layout of the IDs."""

    @property
    def node(self) -> int:
        """The node in the IDs.

        In a forked child that is the parent's until the child has leased its own.
        """

    @property
    def window(self) -> Window | None:
        """The interval of time granted to this generator, Unix ms; None for a node that the caller vouches for.

        The end is not included, and moves on at every half window.
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

    def next_ids(self, n: _Int) -> list[int]:
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

    def fill(self, buffer: Buffer | _Array) -> None:
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
        """Ends this generator; others of the same node go on. The last one of a lease gives the rest of it back.

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
class Candidate:
    """A system that could have minted the inspected value.

    >>> from snowmint import inspect
    >>> inspect("01ARZ3NDEKTSV4RRFFQ69G5FAV", now=1790000000000)
    [Candidate(ulid, read as ulid: time 2016-07-30, 10.1 years before now)]

    Candidates are equal if they are the same reading of the same value, whenever it was inspected.
    """

    @property
    def kind(self) -> str:
        """The kind of the ID, such as `snowflake`, `uuid7`, `ulid` or `ksuid`.

        One of `snowflake`, `uuid1` to `uuid8`, `uuid_nil`, `uuid_max`, `uuid` (another variant or version), `ulid`,
        `object_id`, `type_id`, `ksuid`, `xid`, `firebase_push_id`, `cuid`, `scru128`, `redis_stream_id`,
        `xray_trace_id`, `aidx`.
        """

    @property
    def layout(self) -> str | None:
        """The name of the system of a snowflake, or None.

        The name of a preset, or of a system whose IDs are only read: `tiktok`, `linkedin`, `bluesky`, `pinterest`,
        `sentry`, `cockroachdb`, `tidb`, `clickhouse`, `tsid`, `seata`, `shardingsphere`, `hazelcast`,
        `yitter_typescript`, `yitter_csharp`.
        """

    @property
    def layout_text(self) -> str | None:
        """The text form of that layout, or None.

        Pinterest's IDs have no time, and so no layout.
        """

    @property
    def parts(self) -> Parts | None:
        """The parts of a snowflake under that layout, or None."""

    @property
    def form(self) -> str:
        """How the value was read, such as `integer`, `decimal`, `base62`, `uuid_braces`.

        One of `integer`, a name of `text.FORMS`, `base64url` (as Instagram writes IDs), `base32_sortable` (as Bluesky
        does), `prefixed`, `uuid`, `uuid_braces`, `uuid_urn`, `uuid_hex` (without hyphens), `uuid_swapped` (a version 1
        as MySQL's `UUID_TO_BIN(uuid, 1)` stores it), `ulid`, `object_id`, and the other kinds of texts by their name.
        """

    @property
    def timestamp(self) -> datetime | None:
        """The time in the ID, in UTC; None if the ID has no time or datetime cannot hold it."""

    @property
    def timestamp_ms(self) -> int | None:
        """The time in the ID, Unix ms; None if the ID has no time."""

    @property
    def timestamp_us(self) -> int | None:
        """The time in the ID in Unix microseconds; None if the ID has no time."""

    @property
    def confidence(self) -> Literal["high", "medium", "tied", "low", "unlikely"]:
        """How sure the place of the candidate is: `high`, `medium`, `tied`, `low` or `unlikely`.

        `high`: all others explain the ID far worse. `medium`: no other explains it as well. `tied`: another one
        explains it equally well. `low`: another one explains it better, or an ID of an unknown system would look the
        same. `unlikely`: its time speaks against it.
        """

    @property
    def plausible(self) -> bool:
        """False if the time in the ID makes the candidate unlikely."""

    @property
    def reason(self) -> str:
        """Why it is plausible or not: a short sentence."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]:
        """Inspects the value again."""

def inspect(value: _Int | str, *, now: datetime | _Int | None = None) -> list[Candidate]:
    """Lists everything that could have minted a value, the most plausible first; of garbage, an empty list.

    A candidate is weighed by how often people meet IDs of that system, by its time, and by what is known of its other
    bits; `confidence` says how sure its place is. For a number the list has every system that can decode it. Those
    whose time lies before their system began, within a day of their epoch or in the future come last.

    >>> from snowmint import inspect
    >>> first, *others = inspect("1541815603606036480", now=1790000000000)
    >>> first.layout, first.parts.node, first.confidence, first.reason
    ('twitter', 378, 'high', 'time 2022-06-28, 4.2 years before now; sequence 0')
    >>> inspect("DW1nTDiDvnF")[0].layout, inspect(6854717870488702213)[0].layout
    ('instagram', 'tiktok')
    >>> inspect("8c45583a-0e1f-11ec-804d-005056219395")[0].kind
    'uuid1'
    >>> inspect("garbage")
    []

    Args:
        value: An int of any size (a negative one is the signed form of 64 bits), or a text: a 64-bit ID in decimal, in
            hex with or without `0x`, in base 32, 36, 58 or 62 of full width, in base 64 as Instagram writes it, in base
            32 as Bluesky writes it, or with a prefix; a UUID, also in braces, after `urn:uuid:` or without hyphens; a
            ULID, ObjectId, TypeID, KSUID, xid, push ID of Firebase, cuid, SCRU128 ID, ID of a stream in Redis, trace ID
            of X-Ray, or aidx of Misskey.
        now: The present, by which times are judged: an aware datetime or Unix ms. The system's clock if not given.

    Raises:
        TypeError: The value is neither int nor str.
        ValueError: The datetime is naive.
    """

@final
class AuditFinding:
    """One finding of an audit.

    Its text is a sentence.
    """

    @property
    def kind(self) -> str:
        """The kind, such as `shared_node`.

        One of `layout_ended`, `truncated`, `outside`, `before_begin`, `future`, `forked`, `shared_node`, `clock_back`,
        `wrapped`, `duplicates`.
        """

    @property
    def node(self) -> int | None:
        """The node, or None if the finding is about the whole input."""

    @property
    def ids(self) -> int:
        """The number of IDs that show the fault."""

    @property
    def repeated(self) -> int:
        """The number of IDs that occur more than once because of the fault."""

    @property
    def times(self) -> int:
        """How often it happened: steps of a clock, ticks with a wrapped sequence, or surplus lines of duplicates."""

    @property
    def by_ms(self) -> int:
        """The length of the longest step back, ms."""

    @property
    def id(self) -> int:
        """The first ID that shows the fault."""

    @property
    def line(self) -> int:
        """The line of that ID, or its place among the IDs, from 1."""

    @property
    def from_ms(self) -> int | None:
        """The time of the first ID that shows the fault, Unix ms; None without a time."""

    @property
    def to_ms(self) -> int | None:
        """The time of the last ID that shows the fault, Unix ms; None without a time."""

    @property
    def before(self) -> int:
        """The IDs of the node before the second process came, if the log shows them."""

    @property
    def cure(self) -> str:
        """What would have prevented it: a sentence."""

    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class AuditNode:
    """What an audit saw of one node."""

    @property
    def node(self) -> int:
        """The node."""

    @property
    def ids(self) -> int:
        """The number of its IDs."""

    @property
    def from_ms(self) -> int:
        """The time of its earliest ID, Unix ms."""

    @property
    def to_ms(self) -> int:
        """The time of its latest ID, Unix ms."""

    @property
    def ids_per_second(self) -> float:
        """IDs a second, from the earliest ID to the latest."""

    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class AuditReport:
    """What an audit found.

    Its text is the report of the command line.
    """

    @property
    def ids(self) -> int:
        """The number of IDs."""

    @property
    def order(self) -> str:
        """The order of the IDs: `written`, `ascending`, `descending` or `unordered`."""

    @property
    def nodes(self) -> list[AuditNode]:
        """The nodes, ascending."""

    @property
    def findings(self) -> list[AuditFinding]:
        """The findings, in the order of their kinds and nodes."""

    def json(self) -> str:
        """The report as an object of JSON on one line."""

    def svg(self) -> str:
        """A picture of the nodes over time, with the findings marked, for light and dark pages."""

    def __reduce__(self) -> tuple[Any, ...]: ...

def audit(
    ids: Any,
    layout: str | Layout | None = None,
    *,
    since: datetime | _Int | None = None,
    until: datetime | _Int | None = None,
    jitter_ms: _Int | None = None,
    unordered: bool | None = None,
) -> AuditReport:
    """Says why IDs repeat, and what else is wrong with them.

    >>> from snowmint import audit, layouts
    >>> first = layouts.TWITTER.encode(timestamp_ms=1772323200000, node=378, sequence=0)
    >>> report = audit([first, first + (9 << 22), first], "twitter")
    >>> [(finding.kind, finding.node, finding.by_ms) for finding in report.findings]
    [('clock_back', 378, 9), ('duplicates', None, 0)]

    Args:
        ids: The IDs in the order in which they were written down: an iterable of ints, or an array of numpy, or an
            object that becomes one, of `uint64` or `int64`. A negative value is the signed form of the same bits.
        layout: A name of a preset, a text of a layout, or a Layout; `snowmint` if not given.
        since: When the system began, an aware datetime or Unix ms: earlier IDs are findings. The epoch if not given.
        until: Later IDs are in the future. A minute from now if not given.
        jitter_ms: How late an ID is written down at most: smaller steps back are no finding. 10 if not given.
        unordered: True: the IDs stand in no order, and findings that need one are left out.

    Raises:
        InvalidLayoutError: No such layout.
        InvalidIdError: An int outside of -2^63 to 2^64-1.
        TypeError: An item is not an int, or the array has other items.
        ValueError: A datetime is naive, or jitter_ms is negative.
    """

def uuid1(node: _Int | None = None, clock_seq: _Int | None = None) -> UUID:
    """A version 1: the time, a node and a clock sequence.

    >>> import snowmint
    >>> first, second = snowmint.uuid1(), snowmint.uuid1()
    >>> first.node == second.node, first.time < second.time
    (True, True)

    Args:
        node: 48 bits. If not given, random bytes of this process (never the address of a network card, which would
            reveal the machine); a forked child has other bytes. If several processes pass the same node, they must
            prevent repeats themselves.
        clock_seq: 14 bits. If not given, random bits of this process.

    Raises:
        InvalidIdError: A number does not fit.
    """

def uuid3(namespace: UUID | _HasBytes | str, name: str | bytes) -> UUID:
    """The MD5 of a name in a namespace.

    >>> import uuid, snowmint
    >>> snowmint.uuid3(uuid.NAMESPACE_DNS, "python.org")
    UUID('6fa459ea-ee8a-3ca4-894e-db77e160355e')

    Raises:
        InvalidTextError: The namespace is a str and no UUID.
    """

def uuid4() -> UUID:
    """122 random bits.

    >>> import snowmint
    >>> snowmint.uuid4().version
    4

    """

def uuid4_str() -> str:
    """The text of a new version 4.

    >>> import snowmint
    >>> len(snowmint.uuid4_str())
    36

    """

def uuid5(namespace: UUID | _HasBytes | str, name: str | bytes) -> UUID:
    """The SHA-1 of a name in a namespace.

    >>> import uuid, snowmint
    >>> snowmint.uuid5(uuid.NAMESPACE_DNS, "python.org")
    UUID('886313e1-3b8a-5372-9b90-0c9aee199e5d')

    Raises:
        InvalidTextError: The namespace is a str and no UUID.
    """

def uuid6(node: _Int | None = None, clock_seq: _Int | None = None) -> UUID:
    """A version 6: as 1, in order of time.

    >>> import snowmint
    >>> snowmint.uuid6() < snowmint.uuid6()
    True

    Args and errors are those of `uuid1`.
    """

def uuid7(timestamp: datetime | _Int | None = None) -> UUID:
    """A version 7: Unix ms, a counter and random bits, greater than every one minted before; or of an instant.

    >>> import snowmint
    >>> snowmint.uuid7() < snowmint.uuid7()
    True
    >>> snowmint.uuid7(1645557742000).hex[:12]
    '017f22e279b0'

    The counter has 42 bits and a random start in each ms (RFC 9562, section 6.2, method 1). So UUIDs increase across
    threads, and when the clock stands still or steps back: the ms never goes back. A forked child begins anew.

    Args:
        timestamp: An aware datetime or Unix ms. The UUID then has 74 random bits, and no place in the order of the
            others.

    Raises:
        BeforeEpochError: The time is before 1970.
        TimeOverflowError: The time is beyond the year 10889.
    """

def uuid7_range(dt_from: datetime | _Int, dt_to: datetime | _Int) -> tuple[UUID, UUID]:
    """The lowest and the highest version 7 between two instants, both included.

    >>> import snowmint
    >>> lowest, highest = snowmint.uuid7_range(1645488000000, 1645574399999)
    >>> lowest, lowest < snowmint.uuid7(1645557742000) < highest
    (UUID('017f1eba-4c00-7000-8000-000000000000'), True)

    Made for `WHERE id BETWEEN ? AND ?`. An instant is an aware datetime or Unix ms.

    Raises:
        InvalidIdError: `dt_to` is before `dt_from`.
        BeforeEpochError: A time is before 1970.
        TimeOverflowError: A time is beyond the year 10889.
    """

def uuid7_str() -> str:
    """The text of a new version 7.

    >>> import snowmint
    >>> snowmint.uuid7_str() < snowmint.uuid7_str()
    True

    """

def uuid8(a: _Int | None = None, b: _Int | None = None, c: _Int | None = None) -> UUID:
    """A version 8 of 48, 12 and 62 bits from the caller; a missing part is random.

    >>> import snowmint
    >>> snowmint.uuid8(0x2489E9AD2EE2, 0xE00, 0x0EC932D5F69181C0)
    UUID('2489e9ad-2ee2-8e00-8ec9-32d5f69181c0')

    Raises:
        InvalidIdError: A number does not fit.
    """

def uuid_to_bin(uuid: UUID | _HasBytes | str, swap: bool = True) -> bytes:
    """The 16 bytes of a UUID, as `MySQL`'s `UUID_TO_BIN(uuid, swap)` returns them.

    >>> import snowmint
    >>> snowmint.uuid_to_bin("6ccd780c-baba-1026-9564-5b8c656024db").hex()
    '1026baba6ccd780c95645b8c656024db'

    Swapped, the high bits of the time of a version 1 come first, so that an index is in order of time. MySQL itself
    swaps only if the caller passes 1. Versions 6 and 7 are in order as they are: `uuid.bytes`.

    Raises:
        InvalidTextError: It is a str and no UUID.
    """

def uuid_from_bin(bytes: bytes, swap: bool = True) -> UUID:
    """The UUID of 16 bytes, as `MySQL`'s `BIN_TO_UUID(bytes, swap)` returns it.

    >>> import snowmint
    >>> snowmint.uuid_from_bin(bytes.fromhex("1026baba6ccd780c95645b8c656024db"))
    UUID('6ccd780c-baba-1026-9564-5b8c656024db')

    Raises:
        InvalidIdError: They are not 16.
    """

def uuid_to_text(uuid: UUID | _HasBytes | str, form: str) -> str:
    """The short text of a UUID.

    >>> from uuid import UUID
    >>> import snowmint
    >>> uuid = UUID("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
    >>> snowmint.uuid_to_text(uuid, "base62"), snowmint.uuid_to_text(uuid, "base64url")
    ('02p5oQZoHTv0zeY5yG21K3', 'AX8i4nmwfMOYxNwMDAc5jw')

    Args:
        uuid: A UUID, its text, or what has 16 bytes, such as a ULID.
        form: `base32` (26 characters, as of ULIDs), `base58`, `base62` or `base64url` (22). All but the last sort like
            UUIDs.

    Raises:
        InvalidTextError: No form has this name, or the text is no UUID.
        InvalidIdError: The bytes are not 16.
    """

def uuid_from_text(text: str, form: str) -> UUID:
    """The UUID of a short text.

    >>> import snowmint
    >>> snowmint.uuid_from_text("AX8i4nmwfMOYxNwMDAc5jw", "base64url")
    UUID('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')

    Raises:
        InvalidTextError: A wrong length, a character of no meaning, more than 128 bits, or an unknown form.
    """

@final
class KSUID:
    """A KSUID: 32 bits of seconds since 2014-05-13, then 128 random ones.

    >>> from snowmint import KSUID
    >>> ksuid = KSUID("0ujtsYcgvSTl8PAuAdqWYSMnLOv")
    >>> ksuid.timestamp.isoformat(), ksuid.payload.hex()
    ('2017-10-10T04:00:47+00:00', 'b5a1cd34b5f99d1154fb6853345c9735')
    >>> KSUID() != KSUID()
    True

    Ordered as its text is, by the second; hashable, and made anew by pickles and copies.

    Args:
        value: 27 characters, 20 bytes, or what has them. Without it the KSUID is new, as by `ksuid`.

    Raises:
        InvalidTextError: The text is no KSUID.
        InvalidIdError: The bytes are not 20.
    """

    def __new__(cls, value: str | _HasBytes | _Bytes | None = None) -> Self: ...
    @staticmethod
    def from_parts(timestamp: datetime | _Int, payload: _HasBytes | _Bytes | None = None) -> KSUID:
        """The KSUID of an instant, rounded down to its second, and 16 random bytes.

        >>> from snowmint import KSUID
        >>> str(KSUID.from_parts(1507608047000))
        '0ujtsT5xN49RIv7vRkXBy3rhkHI'

        Without bytes it is the lowest of its second: for ranges in queries.

        Raises:
            InvalidIdError: The bytes are not 16.
            BeforeEpochError: The time is before 2014-05-13.
            TimeOverflowError: The time is beyond the year 2150.
        """

    @property
    def bytes(self) -> _Bytes:
        """The 20 bytes."""

    @property
    def timestamp(self) -> datetime:
        """The time, a whole second, in UTC."""

    @property
    def timestamp_ms(self) -> int:
        """The time, a whole second, in Unix ms."""

    @property
    def payload(self) -> _Bytes:
        """The 16 random bytes."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any: ...
    def __bytes__(self) -> _Bytes: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __lt__(self, other: KSUID, /) -> bool: ...
    def __le__(self, other: KSUID, /) -> bool: ...
    def __gt__(self, other: KSUID, /) -> bool: ...
    def __ge__(self, other: KSUID, /) -> bool: ...
    def __reduce__(self) -> tuple[type[KSUID], tuple[_Bytes]]: ...

def ksuid() -> KSUID:
    """A new KSUID.

    >>> import snowmint
    >>> snowmint.ksuid() != snowmint.ksuid()
    True

    KSUIDs of the same second have no order.

    Raises:
        TimeOverflowError: The clock stands beyond the year 2150.
    """

@final
class XID:
    """An xid: 32 bits of Unix seconds, 40 bits of machine and process, a counter of 24.

    >>> from snowmint import XID
    >>> xid = XID("9m4e2mr0ui3e8a215n4g")
    >>> xid.timestamp.isoformat(), hex(xid.machine), xid.process, xid.counter
    ('2011-03-22T17:50:19+00:00', '0x60f486', 58408, 4271561)
    >>> XID() != XID()
    True

    Ordered as its text is, by the second; hashable, and made anew by pickles and copies.

    Args:
        value: 20 characters, 12 bytes, or what has them. Without it the xid is new, as by `xid`.

    Raises:
        InvalidTextError: The text is no xid.
        InvalidIdError: The bytes are not 12.
    """

    def __new__(cls, value: str | _HasBytes | _Bytes | None = None) -> Self: ...
    @staticmethod
    def from_parts(timestamp: datetime | _Int, random: _Int | None = None, counter: _Int | None = None) -> XID:
        """The xid of an instant, rounded down to its second, of 40 bits and of 24.

        >>> from snowmint import XID
        >>> XID.from_parts(1300816219000, 0x60F486E428, 4271561)
        XID('9m4e2mr0ui3e8a215n4g')

        Without bits it is the lowest of its second: for ranges in queries.

        Raises:
            InvalidIdError: A number does not fit.
            BeforeEpochError: The time is before 1970.
            TimeOverflowError: The time is beyond the year 2106.
        """

    @property
    def bytes(self) -> _Bytes:
        """The 12 bytes."""

    @property
    def timestamp(self) -> datetime:
        """The time, a whole second, in UTC."""

    @property
    def timestamp_ms(self) -> int:
        """The time, a whole second, in Unix ms."""

    @property
    def machine(self) -> int:
        """The machine, 24 bits; random in xids of this package."""

    @property
    def process(self) -> int:
        """The process, 16 bits; random in xids of this package."""

    @property
    def counter(self) -> int:
        """The counter, 24 bits."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any: ...
    def __bytes__(self) -> _Bytes: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __lt__(self, other: XID, /) -> bool: ...
    def __le__(self, other: XID, /) -> bool: ...
    def __gt__(self, other: XID, /) -> bool: ...
    def __ge__(self, other: XID, /) -> bool: ...
    def __reduce__(self) -> tuple[type[XID], tuple[_Bytes]]: ...

def xid() -> XID:
    """A new xid.

    >>> import snowmint
    >>> first, second = snowmint.xid(), snowmint.xid()
    >>> first.machine == second.machine, first != second
    (True, True)

    The counter goes round after 2**24; if that is within a second, the second moves on, so that none comes twice. A
    forked child has other random bits.

    Raises:
        TimeOverflowError: The clock stands beyond the year 2106.
    """

@final
class Mask:
    """A reversible public form of 64-bit IDs, which shows neither time nor order.

    >>> from snowmint import Mask
    >>> mask = Mask("2b7e151628aed2a6abf7158809cf4f3c")
    >>> mask.decode(mask.encode(1541815603606036480))
    1541815603606036480

    It is FF1 of NIST SP 800-38G with AES-128. An ID of 63 bits becomes another one, which fits a signed `bigint`. With
    `digits` the numbers of up to that many decimal digits are masked among themselves:

    >>> Mask("2b7e151628aed2a6abf7158809cf4f3c", digits=10).encode(123456789)
    2433477484

    A mask hides, and does not authenticate: every number unmasks to some number, so check who may see an object.

    Args:
        key: The secret: 16 bytes, or 32 hexadecimal digits, as `secrets.token_hex(16)` makes them.
        tweak: Public bytes or a text, such as the name of a table, at most 64 bytes. Masks of one key with different
            tweaks are different.
        digits: 6 to 18.

    Raises:
        InvalidTextError: The key or the tweak has another length, or the key is not hexadecimal.
        InvalidIdError: The digits are out of range.
    """

    def __new__(cls, key: _Bytes | str, *, tweak: _Bytes | str | None = None, digits: _Int | None = None) -> Self: ...
    def encode(self, id: _Int) -> int:
        """The masked form of an ID.

        Raises:
            InvalidIdError: The ID is not from 0 to 2**63-1, or has more digits than the mask.
        """

    def decode(self, masked: _Int) -> int:
        """The ID of a masked form.

        Raises:
            InvalidIdError: The number is not from 0 to 2**63-1, or has more digits than the mask.
        """

    def __reduce__(self) -> tuple[Any, ...]:
        """With its key: as secret as that."""

@final
class UuidMask:
    """A reversible public form of UUIDs of version 7, which looks like a version 4: `UUIDv47`.

    >>> from uuid import UUID
    >>> from snowmint import UuidMask
    >>> mask = UuidMask("efcdab89674523011032547698badcfe")
    >>> mask.encode(UUID("018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f"))
    UUID('2463c780-7fca-4def-8c3f-7b1a2c4d5e6f')
    >>> mask.decode(UUID("2463c780-7fca-4def-8c3f-7b1a2c4d5e6f"))
    UUID('018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f')

    The time is masked by SipHash-2-4 of the random bits, which stay as they are. It hides, and does not authenticate.

    Args:
        key: The secret: 16 bytes, or 32 hexadecimal digits. The first 8 bytes are `k0` of other implementations, the
            lowest byte first, and the others `k1`.

    Raises:
        InvalidTextError: The key has another length, or is not hexadecimal.
    """

    def __new__(cls, key: _Bytes | str) -> Self: ...
    def encode(self, uuid: UUID | _HasBytes) -> UUID:
        """The masked form of a version 7.

        Raises:
            InvalidIdError: The UUID has another version.
        """

    def decode(self, masked: UUID | _HasBytes) -> UUID:
        """The version 7 of a masked form.

        Raises:
            InvalidIdError: The UUID has another version than 4.
        """

    def __reduce__(self) -> tuple[Any, ...]:
        """With its key: as secret as that."""

@final
class ULID:
    """A ULID: 48 bits of Unix ms, then 80 random ones.

    >>> from snowmint import ULID
    >>> ulid = ULID("01ARZ3NDEKTSV4RRFFQ69G5FAV")
    >>> ulid.timestamp.isoformat(), ulid.to_uuid()
    ('2016-07-30T23:54:10.259000+00:00', UUID('01563e3a-b5d3-d676-4c61-efb99302bd5b'))
    >>> ULID() < ULID()
    True

    Ordered as its text is, by time; hashable, and made anew by pickles and copies.

    Args:
        value: 26 characters in either case, 16 bytes, or what has them, such as a UUID. Without it the ULID is a new
            one, as by `ulid`.

    Raises:
        InvalidTextError: The text is no ULID.
        InvalidIdError: The bytes are not 16.
    """

    def __new__(cls, value: str | _HasBytes | _Bytes | None = None) -> Self: ...
    @staticmethod
    def from_parts(timestamp: datetime | _Int, randomness: _Int | None = None) -> ULID:
        """The ULID of an instant and 80 bits.

        >>> from snowmint import ULID
        >>> str(ULID.from_parts(1469918176385))
        '01ARYZ6S410000000000000000'

        Without bits it is the lowest of its ms: for ranges in queries.

        Args:
            timestamp: An aware datetime or Unix ms.
            randomness: 0 to 2**80-1; 0 if not given.

        Raises:
            InvalidIdError: The randomness does not fit.
            BeforeEpochError: The time is before 1970.
            TimeOverflowError: The time is beyond the year 10889.
        """

    @property
    def bytes(self) -> _Bytes:
        """The 16 bytes."""

    @property
    def timestamp(self) -> datetime | None:
        """The time, in UTC; None where datetime cannot hold it."""

    @property
    def timestamp_ms(self) -> int:
        """The time, Unix ms."""

    @property
    def randomness(self) -> int:
        """The 80 random bits."""

    def to_uuid(self) -> UUID:
        """The UUID of the same 128 bits."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any: ...
    def __bytes__(self) -> _Bytes: ...
    def __int__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __lt__(self, other: ULID, /) -> bool: ...
    def __le__(self, other: ULID, /) -> bool: ...
    def __gt__(self, other: ULID, /) -> bool: ...
    def __ge__(self, other: ULID, /) -> bool: ...
    def __reduce__(self) -> tuple[type[ULID], tuple[_Bytes]]: ...

def ulid() -> ULID:
    """A new ULID, greater than every ULID that this process has minted.

    >>> import snowmint
    >>> snowmint.ulid() < snowmint.ulid()
    True

    So it is across threads, and when the clock stands still or steps back: then it is the last one plus 1. A forked
    child begins anew.

    Raises:
        ExhaustedError: The 80 bits of the last ms are used up, which takes a clock that stands still and luck.
    """

def ulid_str() -> str:
    """The text of a new ULID.

    >>> import snowmint
    >>> snowmint.ulid_str() < snowmint.ulid_str()
    True

    """

@final
class ObjectId:
    """An `ObjectId` of `MongoDB`: 32 bits of Unix seconds, 40 random ones of the process, a counter of 24.

    >>> from snowmint import ObjectId
    >>> id = ObjectId("507f1f77bcf86cd799439011")
    >>> id.timestamp.isoformat(), id.bytes.hex()
    ('2012-10-17T21:13:27+00:00', '507f1f77bcf86cd799439011')
    >>> ObjectId() != ObjectId()
    True

    Ordered as its text is, by the second; hashable, and made anew by pickles and copies. `inspect` shows the other
    parts, also of IDs from before 2018, with machine and process in the middle. For pymongo: `bson.ObjectId(id.bytes)`.

    Args:
        value: 24 hexadecimal digits in either case, 12 bytes, or what has them. Without it the ObjectId is new, as
            by `object_id`.

    Raises:
        InvalidTextError: The text is no ObjectId.
        InvalidIdError: The bytes are not 12.
    """

    def __new__(cls, value: str | _HasBytes | _Bytes | None = None) -> Self: ...
    @staticmethod
    def from_parts(timestamp: datetime | _Int, random: _Int | None = None, counter: _Int | None = None) -> ObjectId:
        """The `ObjectId` of an instant, rounded down to its second, of 40 bits and of 24.

        >>> from datetime import UTC, datetime
        >>> from snowmint import ObjectId
        >>> ObjectId.from_parts(datetime(2012, 10, 17, tzinfo=UTC))
        ObjectId('507df5000000000000000000')

        Without bits it is the lowest of its second: for ranges in queries.

        Raises:
            InvalidIdError: A number does not fit.
            BeforeEpochError: The time is before 1970.
            TimeOverflowError: The time is beyond the year 2106.
        """

    @property
    def bytes(self) -> _Bytes:
        """The 12 bytes."""

    @property
    def timestamp(self) -> datetime:
        """The time, a whole second, in UTC."""

    @property
    def timestamp_ms(self) -> int:
        """The time, a whole second, in Unix ms."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any: ...
    def __bytes__(self) -> _Bytes: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __lt__(self, other: ObjectId, /) -> bool: ...
    def __le__(self, other: ObjectId, /) -> bool: ...
    def __gt__(self, other: ObjectId, /) -> bool: ...
    def __ge__(self, other: ObjectId, /) -> bool: ...
    def __reduce__(self) -> tuple[type[ObjectId], tuple[_Bytes]]: ...

def object_id() -> ObjectId:
    """A new `ObjectId`.

    >>> import snowmint
    >>> first, second = snowmint.object_id(), snowmint.object_id()
    >>> first.bytes[4:9] == second.bytes[4:9], first != second
    (True, True)

    The counter goes round after 2**24; if that is within a second, the second moves on, so that none comes twice. A
    forked child has other random bits.

    Raises:
        TimeOverflowError: The clock stands beyond the year 2106.
    """

def rotate_digits(id: _Int, digits: _Int) -> int:
    """Moves the last `digits` decimal digits behind the first one.

    >>> from snowmint import scatter
    >>> scatter.rotate_digits(561632371724517376, 1)
    566163237172451737

    The first digit stays, so no zero comes to lead and the number of digits stays the same.

    Args:
        id: 0 to 2**63-1.
        digits: 0 to one less than the ID has.

    Raises:
        InvalidIdError: Out of range, or the result is above 2**63-1, which IDs from 9 * 10**18 on can come to.
    """

def unrotate_digits(id: _Int, digits: _Int) -> int:
    """The inverse of `rotate_digits`.

    >>> from snowmint import scatter
    >>> scatter.unrotate_digits(566163237172451737, 1)
    561632371724517376

    Raises:
        InvalidIdError: `rotate_digits` gives no such ID.
    """

def reverse_bits(id: _Int) -> int:
    """Turns the low 63 bits round, so that the lowest comes to lead; its own inverse.

    >>> from snowmint import scatter
    >>> scatter.reverse_bits(1) == 2**62, scatter.reverse_bits(2**62)
    (True, 1)

    Raises:
        InvalidIdError: The ID is not from 0 to 2**63-1.
    """

def shard_high(id: _Int, bits: _Int) -> int:
    """Puts one of 2**bits shard numbers on top, made of the low bits and a hash of the others.

    It spreads rows as TiDB's `AUTO_RANDOM(bits)` and `SHARD_ROW_ID_BITS` do, and it is reversible: of the 63
    bits the low `bits` move to the top, combined by exclusive or with a hash of the others, which move down. So the
    IDs of a shard are in order of time.

    >>> from snowmint import scatter
    >>> scattered = scatter.shard_high(1541815603606036480, 4)
    >>> scattered >> 59, scattered % 2**59 == 1541815603606036480 >> 4
    (1, True)

    Args:
        id: 0 to 2**63-1.
        bits: 0 to 63.

    Raises:
        InvalidIdError: Out of range.
    """

def unshard_high(id: _Int, bits: _Int) -> int:
    """The inverse of `shard_high`.

    >>> from snowmint import scatter
    >>> scatter.unshard_high(scatter.shard_high(1541815603606036480, 4), 4)
    1541815603606036480

    Raises:
        InvalidIdError: Out of range.
    """

def text_encode(id: _Int, form: str) -> str:
    """The text of a 64-bit ID.

    >>> from snowmint import text
    >>> text.encode(1541815603606036480, "base62"), text.encode(-1, "hex")
    ('1ptWyK4WgZU', 'ffffffffffffffff')

    Args:
        id: 64 bits; a negative value is the signed form of the same bits.
        form: One of `text.FORMS`.

    Raises:
        InvalidIdError: The ID is no 64-bit integer.
        InvalidTextError: No form has this name.
    """

def text_decode(text: str, form: str) -> int:
    """The ID of a text, unsigned.

    >>> from snowmint import text
    >>> text.decode("1ptWyK4WgZU", "base62")
    1541815603606036480

    Raises:
        InvalidTextError: A wrong length, a character of no meaning, a value above 2^64-1, or an unknown form.
    """

def prefix_encode(prefix: str, id: _Int | UUID | _HasBytes) -> str:
    """The text of a 64-bit ID or a UUID after a prefix.

    >>> from uuid import UUID
    >>> from snowmint import prefix
    >>> prefix.encode("user", 1541815603606036480)
    'user_1asd13xh1f800'
    >>> prefix.encode("user", UUID("01890a5d-ac96-774b-bcce-b302099a8057"))
    'user_01h455vb4pex5vsknk084sn02q'

    Args:
        prefix: At most 63 characters `a-z` and `_`, with a letter at each end; or empty.
        id: 64 bits, of which a negative number is the signed form; or a UUID, or what has its 16 bytes.

    Raises:
        InvalidTextError: The prefix is not valid.
        InvalidIdError: The number has more than 64 bits, or the bytes are not 16.
    """

def prefix_decode_id(prefix: str, text: str) -> int:
    """The 64-bit ID of a text with this prefix.

    Raises:
        InvalidTextError: Another prefix, another length, or a character that has no meaning.
    """

def prefix_decode_uuid(prefix: str, text: str) -> UUID:
    """The UUID of a text with this prefix.

    Raises:
        InvalidTextError: Another prefix, another length, or a character that has no meaning.
    """

def prefix_is_uuid(text: str) -> bool:
    """Whether the characters after the prefix are as many as those of a UUID."""

def type_id_parts(text: str) -> tuple[str, UUID]:
    """The prefix and the UUID of a `TypeID`.

    Raises:
        InvalidTextError: The text is no TypeID.
    """

def text_forms() -> list[str]:
    """The names of the text forms."""

def presets() -> dict[str, Layout]:
    """Every preset by name."""

def error_classes() -> list[tuple[str, str]]:
    """Lists the code of every error kind with the name of its exception."""

def find_layout(layout: str | Layout | None = None) -> Layout:
    """Finds the layout of an argument of `Snowflake`.

    Raises:
        InvalidLayoutError: No layout has this name.
    """

def render_layouts(layouts: list[Layout], pictures: bool, json: bool, bold: bool) -> str:
    """Returns a table of layouts or a picture of each one, as the command line prints them."""

def render_decoded(id: _Int, layout: Layout, json: bool) -> str:
    """Returns the parts of an ID on one line, as the command line prints them.

    Raises:
        InvalidIdError: The layout cannot have minted the ID.
    """

def render_candidates(value: str, found: list[Candidate], json: bool, bold: bool) -> str:
    """Returns a value and its candidates, as the command line prints them."""

@final
class AuditReader:
    """Reads the IDs of `python -m snowmint audit`."""

    def __new__(
        cls,
        layout: str | None,
        since: int | None,
        until: int | None,
        jitter_ms: int | None,
        unordered: bool,
        format: str | None,
        prefix: str | None,
        column: str | None,
    ) -> Self: ...
    def push(self, bytes: bytes) -> None:
        """Reads the next bytes of a text.

        Raises:
            ValueError: The text has no such column, or many lines and no ID.
        """

    def add(self, value: int | str | None) -> None:
        """Adds the ID of the next row of a table; None is a row without one.

        Raises:
            ValueError: Many rows and no ID.
        """

    def end(self) -> tuple[AuditReport, int, list[str]]:
        """Ends the audit. Returns the report, how many lines are no ID, and sentences about them.

        Raises:
            ValueError: The text has no ID, or no such column.
        """

def no_column(name: str, columns: list[str]) -> str:
    """Returns the sentence for a missing column, with the names of the existing columns."""

def audit_finding(*values: Any) -> AuditFinding:
    """Makes the finding of a report of its values."""

def audit_node(*values: Any) -> AuditNode:
    """Makes the node of a report of its values."""

def audit_report(*values: Any) -> AuditReport:
    """Makes a report of its values."""

def candidate(value: _Int | str, now: datetime | _Int, kind: str, layout: str | None, form: str) -> Candidate:
    """Finds a candidate again, for pickles and copies."""

def render_audit(report: AuditReport, json: bool, bold: bool) -> str:
    """Returns a report as the command line prints it."""

def examine(
    layout: str | None, node: str | None, store: str | None, namespace: str | None, json: bool, bold: bool
) -> tuple[str, bool]:
    """Examines what a generator would do here. Returns the findings as text, and whether nothing must be mended."""

def engine_settings(engine: str) -> list[str]:
    """Lists the settings of an engine that decide whether it keeps confirmed writes."""

def refuse_unsafe(store: str, engine: str, found: dict[str, str]) -> None:
    """Refuses unsafe settings of an engine, given by name.

    Raises:
        UnsafeStoreError: With setting, value and cure.
    """

def is_misconfigured(engine: str, code: str, sentence: str) -> bool:
    """Returns whether an error of an engine, by its code and sentence, means a wrong configuration of the store."""
    ...

def refuse_lossy_place(store: str, path: str) -> None:
    """Refuses the path of a database file that can be lost, or that other processes cannot reach by the same path.

    Raises:
        UnsafeStoreError: With what to name instead.
    """

def standby_risk(store: str, engine: str, found: dict[str, str]) -> str | None:
    """Says how a failover could lose confirmed writes under settings of an engine, by name; None if it cannot."""

def shown(text: str) -> str:
    """Escapes the control and format characters of a text that another party wrote, as errors show it."""

def release_leases() -> None:
    """Gives the nodes of all leases of this process back, before it ends by `os._exit`."""

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

# Only for the stores of this package.
MYSQL_CLOCK: Final[str]
MYSQL_FLUSH: Final[str]
MYSQL_SCHEMA: Final[str]
MYSQL_TABLES: Final[str]
POSTGRES_ADD: Final[str]
POSTGRES_CLOCK: Final[str]
POSTGRES_CURE: Final[str]
POSTGRES_INSERT: Final[str]
POSTGRES_RAISE: Final[str]
POSTGRES_READ: Final[str]
POSTGRES_SCHEMA: Final[str]
POSTGRES_SETTINGS: Final[str]
POSTGRES_UPDATE: Final[str]
SQLITE_SCHEMA: Final[str]
REDIS_LOOK: Final[str]
REDIS_WRITE: Final[str]
REDIS_ADD: Final[str]
SERVICE_REFUSALS: Final[list[str]]
SERVICE_TOKEN_REFUSED: Final[str]
SERVICE_NOT_SNOWMINT: Final[str]
