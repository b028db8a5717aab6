"""Layouts, the parts of their IDs, and presets."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, Self, final

from snowmint._stubs._arguments import Datetime64, Instant, Int
from snowmint._stubs.sql import SqlParts

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
            InvalidLayoutError: It breaks a rule; the message says which.
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

    def decode(self, id: Int) -> Parts:
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
            ids: A numpy array of `uint64` or `int64`, of any shape, or a column of pandas, polars or pyarrow. A
                negative value is the signed form of the same bits.

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
        timestamp_ms: Int | None = None,
        timestamp: datetime | Datetime64 | None = None,
        timestamp_us: Int | None = None,
        node: Int | Mapping[str, Int] | str | None = None,
        sequence: Int | None = None,
        random: Int | None = None,
        opaque: Int | None = None,
    ) -> int:
        """Puts an ID together: the inverse of decode.

        It needs a time; other parts are 0 if not given. A part that is given more than once, as a time in several units
        or beside `parts`, has to be the same each time.
        Nothing keeps an ID made this way from being minted too.

        >>> from snowmint import layouts
        >>> layouts.TWITTER.encode(timestamp_ms=1656432460105, node={"datacenter": 11, "worker": 26})
        1541815603606036480
        >>> layouts.TWITTER.encode(layouts.TWITTER.decode(1541815603606036480))
        1541815603606036480

        Args:
            parts: The `Parts` that `decode` returned, also from another layout.
            timestamp_ms: Unix ms, rounded down to the tick.
            timestamp: An aware datetime, or a `datetime64` of numpy in UTC, rounded down to the tick.
            timestamp_us: Unix microseconds, rounded down to the tick.
            node: A number, a mapping of every node field, or a text such as `datacenter=0,worker=5`.
            sequence: The counter within the tick.
            random: The field `random`.
            opaque: The field `opaque`, of a layout that has it instead of `random`.

        Raises:
            BeforeEpochError, TimeOverflowError: The layout has no such time.
            InvalidNodeError: The node or a node field does not fit, is missing or unknown.
            InvalidIdError: `sequence`, `random` or `opaque` does not fit, the time is missing, or a part has two
                values.
            ValueError: The datetime is naive.
        """

    def id_range(self, dt_from: Instant, dt_to: Instant) -> tuple[int, int]:
        """The lowest and highest ID between two instants, both included.

        Instants are aware datetimes, such as a `Timestamp` of pandas with a time zone, or a `datetime64` of numpy in
        UTC, or Unix ms. Each is rounded down to its tick. Made for `WHERE id BETWEEN` on a primary key.

        >>> from snowmint import layouts
        >>> layouts.TWITTER.id_range(1656374400000, 1656460799999)
        (1541572081873846272, 1541934469739446271)

        Raises:
            InvalidLayoutError: Another field than `time` leads (`unused` aside).
            InvalidIdError: `dt_to` is before `dt_from`.
            BeforeEpochError, TimeOverflowError: The layout has no such time.
            ValueError: A datetime is naive, or `NaT`.
        """

    def postgres_function(
        self,
        schema: str,
        name: str,
        node: Int | Mapping[str, Int] | str,
        *,
        max_ahead_ms: Int | None = None,
        max_wait_ms: Int | None = None,
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
        node: Int | Mapping[str, Int] | str,
        *,
        max_ahead_ms: Int | None = None,
        max_wait_ms: Int | None = None,
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
                the expressions in CockroachDB, TiDB or MySQL.
            column: The column's name in the database, with the schema and table before it if needed, separated by dots.

        Raises:
            InvalidTextError: The dialect is unknown, or a name is empty, has a NUL or is too long.
        """

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

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

def find_layout(layout: str | Layout | None = None) -> Layout:
    """Finds the layout of an argument of `Snowflake`.

    Raises:
        InvalidLayoutError: No layout has this name.
    """

def presets() -> dict[str, Layout]:
    """Every preset by name."""
