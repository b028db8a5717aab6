"""IDs in SQL."""

from typing import Any, Literal, final

from snowmint._stubs._arguments import Instant

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

    def between(self, dt_from: Instant, dt_to: Instant) -> str:
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
