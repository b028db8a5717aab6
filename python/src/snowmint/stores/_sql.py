"""The parts of `SqlStore` that differ between databases. Tables, queries and the checks of settings are core's."""

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import DBAPIError

from snowmint._snowmint import (
    MYSQL_CLOCK,
    MYSQL_FLUSH,
    MYSQL_GUARD,
    MYSQL_NEXTVAL,
    MYSQL_OBJECT,
    MYSQL_SCHEMA,
    MYSQL_SEQUENCE,
    MYSQL_TABLES,
    POSTGRES_ADD,
    POSTGRES_CLOCK,
    POSTGRES_CURE,
    POSTGRES_EXISTING,
    POSTGRES_INSERT,
    POSTGRES_NEXTVAL,
    POSTGRES_OBJECT,
    POSTGRES_RAISE,
    POSTGRES_READ,
    POSTGRES_SCHEMA,
    POSTGRES_SEQUENCE,
    POSTGRES_SETTINGS,
    POSTGRES_UPDATE,
    SQLITE_SCHEMA,
    is_undone,
)
from snowmint.stores._leaf import MYSQL, SQLITE, LeafPostgres, LeafVerbs
from snowmint.stores._store import MAX_COUNT

READ = "SELECT version, value FROM snowmint_records WHERE name = :name"
INSERT = "INSERT INTO snowmint_records (name, version, value) VALUES (:name, :version, :value)"
UPDATE = "UPDATE snowmint_records SET value = :value, version = :version WHERE name = :name AND version = :expected"
LIST = "SELECT name, version, value FROM snowmint_records WHERE name >= :begin AND name < :end"
ADD = "UPDATE snowmint_counters SET value = value + :delta WHERE name = :name AND value <= :most"
COUNT = "SELECT value FROM snowmint_counters WHERE name = :name"
LOWER = "UPDATE snowmint_counters SET value = :start WHERE name = :name AND value = :end"
BEGIN = "INSERT INTO snowmint_counters (name, value) VALUES (:name, :value)"
POSTGRES_LIST = "SELECT name, version, value FROM snowmint.records WHERE name >= $1 AND name < $2"
POSTGRES_LOWER = "UPDATE snowmint.counters SET value = $1 WHERE name = $2 AND value = $3 RETURNING value"

Rows = Sequence[Sequence[Any]]


def code_of(error: Any) -> str:
    """Returns the code of a driver's error: the `SQLSTATE` of PostgreSQL, the number of MySQL; empty if it has none."""
    first = next(iter(getattr(error, "args", ())), None)
    if isinstance(first, int):
        return str(first)
    # pg8000 has a dictionary; psycopg and psycopg2 have attributes.
    state = first.get("C") if isinstance(first, dict) else None
    return str(state or getattr(error, "sqlstate", None) or getattr(error, "pgcode", None) or "")


class Verbs(Protocol):
    """The verbs of a store, on a connection."""

    def ask(self, connection: Connection, query: str) -> Rows:
        """Runs a query without parameters."""
        ...

    def missing(self, connection: Connection, tables: Sequence[str]) -> bool:
        """Whether a table is missing."""
        ...

    def make(self, connection: Connection, schema: str) -> None:
        """Makes the tables that are missing."""
        ...

    def read(self, connection: Connection, key: str) -> Sequence[Any] | None:
        """Version and value of a record, once the write is durable; None without a record."""
        ...

    def write(self, connection: Connection, key: str, value: bytes, expected: int, version: int) -> bool:
        """Replaces a record of version `expected`, or adds one for 0. False or an IntegrityError if it is another."""
        ...

    def list(self, connection: Connection, begin: str, end: str) -> Rows:
        """Name, value and version of the records from `begin` to before `end`."""
        ...

    def add(self, connection: Connection, counter: str, delta: int, start: int) -> int | None:
        """Adds to a counter; None beyond 2^63-1. An IntegrityError if another session was the first."""
        ...

    def lower(self, connection: Connection, counter: str, end: int, start: int) -> bool:
        """Sets a counter from `end` back to `start`."""
        ...


class Steps:
    """Verbs of several statements, in the transaction of the connection.

    Args:
        flush: A statement that ends a read, where what a read saw may not be durable yet.
    """

    def __init__(self, flush: str | None = None) -> None:
        self._flush = flush

    def ask(self, connection: Connection, query: str) -> Rows:
        """As `Verbs.ask`."""
        return connection.execute(text(query)).all()

    def missing(self, connection: Connection, tables: Sequence[str]) -> bool:
        """As `Verbs.missing`."""
        return not all(inspect(connection).has_table(table) for table in tables)

    def make(self, connection: Connection, schema: str) -> None:
        """As `Verbs.make`."""
        for definition in definitions(schema):
            connection.execute(text(definition))

    def read(self, connection: Connection, key: str) -> Sequence[Any] | None:
        """As `Verbs.read`."""
        row = connection.execute(text(READ), {"name": key}).one_or_none()
        if row is not None and self._flush:
            connection.execute(text(self._flush))
        return row

    def write(self, connection: Connection, key: str, value: bytes, expected: int, version: int) -> bool:
        """As `Verbs.write`."""
        row = {"name": key, "value": value, "version": version}
        if expected:
            return connection.execute(text(UPDATE), row | {"expected": expected}).rowcount == 1
        return connection.execute(text(INSERT), row).rowcount == 1

    def list(self, connection: Connection, begin: str, end: str) -> Rows:
        """As `Verbs.list`."""
        return connection.execute(text(LIST), {"begin": begin, "end": end}).all()

    def add(self, connection: Connection, counter: str, delta: int, start: int) -> int | None:
        """As `Verbs.add`."""
        row = {"name": counter, "delta": delta, "most": MAX_COUNT - delta}
        while True:
            added = connection.execute(text(ADD), row).rowcount == 1
            count = connection.execute(text(COUNT), row).scalar_one_or_none()
            if added and count is not None:
                return int(count)
            if start + delta > MAX_COUNT if count is None else count + delta > MAX_COUNT:
                return None
            if count is None:
                connection.execute(text(BEGIN), row | {"value": start + delta})
                return start + delta
            # Another session was the first: there is something to add to now.

    def lower(self, connection: Connection, counter: str, end: int, start: int) -> bool:
        """As `Verbs.lower`."""
        return connection.execute(text(LOWER), {"name": counter, "end": end, "start": start}).rowcount == 1


class PostgresSteps:
    """Verbs of one statement each, which is a transaction: it holds its values and the settings for its commit.

    A pooler such as PgBouncer may give every statement to another session of the server.
    """

    def ask(self, connection: Connection, query: str, *values: str | int | bytes) -> Rows:
        """As `Verbs.ask`, with the values of `$1`, `$2` and so on."""
        statement = (
            f"WITH done AS MATERIALIZED ({filled(query, values)}) "
            # The join sets the settings before the statement begins. It adds a row of NULLs if the statement has none.
            f"SELECT done.* FROM ({POSTGRES_CURE}) AS cured LEFT JOIN done ON true"
        )
        return [row for row in _alone(connection, statement) if row[0] is not None]

    def missing(self, connection: Connection, tables: Sequence[str]) -> bool:
        """As `Verbs.missing`."""
        return not {row[0] for row in _alone(connection, POSTGRES_EXISTING)}.issuperset(tables)

    def make(self, connection: Connection, schema: str) -> None:
        """As `Verbs.make`."""
        with _unprepared(connection):
            for definition in definitions(schema):
                connection.exec_driver_sql(definition, execution_options=_AS_IT_IS)

    def read(self, connection: Connection, key: str) -> Sequence[Any] | None:
        """As `Verbs.read`."""
        rows = self.ask(connection, POSTGRES_READ, key)
        return rows[0] if rows else None

    def write(self, connection: Connection, key: str, value: bytes, expected: int, version: int) -> bool:
        """As `Verbs.write`."""
        if expected:
            return len(self.ask(connection, POSTGRES_UPDATE, value, version, key, expected)) == 1
        return len(self.ask(connection, POSTGRES_INSERT, value, version, key)) == 1

    def list(self, connection: Connection, begin: str, end: str) -> Rows:
        """As `Verbs.list`."""
        return self.ask(connection, POSTGRES_LIST, begin, end)

    def add(self, connection: Connection, counter: str, delta: int, start: int) -> int | None:
        """As `Verbs.add`."""
        if start + delta > MAX_COUNT:
            rows = self.ask(connection, POSTGRES_RAISE, delta, counter)
        else:
            rows = self.ask(connection, POSTGRES_ADD, start + delta, counter, delta)
        return int(rows[0][0]) if rows else None

    def lower(self, connection: Connection, counter: str, end: int, start: int) -> bool:
        """As `Verbs.lower`."""
        return len(self.ask(connection, POSTGRES_LOWER, start, counter, end)) == 1


def _alone(connection: Connection, statement: str) -> Rows:
    """Runs a statement that is a transaction. Where a level above READ COMMITTED is the default, it may be undone."""
    for tries in range(1, TRIES + 1):
        try:
            with _unprepared(connection):
                return connection.exec_driver_sql(statement, execution_options=_AS_IT_IS).all()
        except DBAPIError as error:
            if tries == TRIES or not is_undone("postgres", code_of(error.orig)):
                raise
    raise AssertionError


@contextmanager
def _unprepared(connection: Connection) -> Generator[None]:
    # psycopg prepares a statement that it sees for the fifth time, which another session behind a pooler does not know.
    driver: Any = connection.connection.dbapi_connection
    threshold = getattr(driver, "prepare_threshold", None)
    if threshold is None:
        yield
        return
    driver.prepare_threshold = None
    try:
        yield
    finally:
        driver.prepare_threshold = threshold


# Without parameters drivers send it as one message.
_AS_IT_IS = {"no_parameters": True}

TRIES = 10


def filled(statement: str, values: Sequence[str | int | bytes]) -> str:
    """A statement with its values as literals of digits alone, whatever the session's rules for quotes are."""
    # Without values a dollar belongs to a name.
    return re.sub(r"\$(\d)", lambda place: _literal(values[int(place[1]) - 1]), statement) if values else statement


def _literal(value: str | int | bytes) -> str:
    if isinstance(value, int):
        return f"({value}::bigint)"
    if isinstance(value, str):
        return f"convert_from({_literal(value.encode())}, 'UTF8')"
    return f"decode('{value.hex()}', 'hex')"


def definitions(schema: str) -> Sequence[str]:
    """The statements that make the tables, with blank lines between them."""
    return schema.split("\n\n")


@dataclass(frozen=True)
class SequenceStatements:
    """Statements on a sequence of the database, whose name replaces `{sequence}`."""

    object: str
    """Reads the server's version and the object's type."""
    state: str
    """Reads the state."""
    nextval: str
    """Takes numbers, whose number replaces `{count}`."""
    guard: str | None = None
    """Makes the transaction of the numbers durable."""


@dataclass(frozen=True)
class Dialect:
    """One of the databases."""

    engine: str
    """The engine whose rules of durability hold."""
    isolation: str
    """Each statement sees all earlier commits, and all statements of a verb take effect together."""
    schema: str
    """Makes the tables, each by a statement."""
    settings: Callable[[Sequence[str]], Sequence[str]]
    """Queries for the names and values of settings, and for the tables that a crash can empty."""
    leaf: LeafVerbs
    """Statements on Leaf's table."""
    clock: str | None = None
    """A query for Unix ms."""
    verbs: Verbs = Steps()
    cured: Callable[[Connection], AbstractContextManager[None]] = lambda _: nullcontext()
    """Makes the store's transactions durable while they run, if the verbs do not."""
    sequence: SequenceStatements | None = None
    """Statements on a sequence, where the database has sequences."""


def tables(schema: str) -> Sequence[str]:
    """The names of the tables that these statements make."""
    return re.findall(r"CREATE TABLE IF NOT EXISTS (\S+)", schema)


def as_text(name: str | bytes | bytearray | memoryview) -> str:
    """A name, as some drivers give it."""
    return name if isinstance(name, str) else bytes(name).decode()


@contextmanager
def _cured_sqlite(connection: Connection) -> Generator[None]:
    # By the driver's connection, which begins no transaction: within one it cannot be changed.
    driver = connection.connection.dbapi_connection
    assert driver is not None
    before = [driver.execute(f"PRAGMA {name}").fetchone()[0] for name in ("synchronous", "fullfsync")]
    # On macOS a plain fsync leaves it to the drive when to write.
    driver.execute("PRAGMA synchronous = EXTRA")
    driver.execute("PRAGMA fullfsync = ON")
    try:
        yield
    finally:
        connection.rollback()
        driver.execute(f"PRAGMA synchronous = {int(before[0])}")
        driver.execute(f"PRAGMA fullfsync = {int(before[1])}")


def _mysql_settings(names: Sequence[str]) -> Sequence[str]:
    # Those of a list that is our own.
    among = ", ".join(f"'{name}'" for name in names)
    variables = [f"SHOW GLOBAL {what} WHERE Variable_name IN ({among})" for what in ("VARIABLES", "STATUS")]
    return [*variables, MYSQL_TABLES]


def _sqlite_settings(_: Sequence[str]) -> Sequence[str]:
    return [
        "SELECT 'file', file FROM pragma_database_list WHERE name = 'main'",
        "SELECT 'journal_mode', journal_mode FROM pragma_journal_mode",
        "SELECT 'synchronous', synchronous FROM pragma_synchronous",
    ]


_POSTGRES_STEPS = PostgresSteps()
_POSTGRES = Dialect(
    engine="postgres",
    isolation="AUTOCOMMIT",
    schema=POSTGRES_SCHEMA,
    settings=lambda _: [POSTGRES_SETTINGS],
    leaf=LeafPostgres(_POSTGRES_STEPS.ask),
    clock=POSTGRES_CLOCK,
    sequence=SequenceStatements(object=POSTGRES_OBJECT, state=POSTGRES_SEQUENCE, nextval=POSTGRES_NEXTVAL),
    verbs=_POSTGRES_STEPS,
)

_MYSQL = Dialect(
    engine="mysql",
    isolation="READ COMMITTED",
    schema=MYSQL_SCHEMA,
    settings=_mysql_settings,
    leaf=MYSQL,
    clock=MYSQL_CLOCK,
    sequence=SequenceStatements(object=MYSQL_OBJECT, state=MYSQL_SEQUENCE, nextval=MYSQL_NEXTVAL, guard=MYSQL_GUARD),
    verbs=Steps(MYSQL_FLUSH),
)

_SQLITE = Dialect(
    engine="sqlite",
    isolation="SERIALIZABLE",
    schema=SQLITE_SCHEMA,
    settings=_sqlite_settings,
    leaf=SQLITE,
    cured=_cured_sqlite,
)

_DIALECTS = {"postgresql": _POSTGRES, "mysql": _MYSQL, "mariadb": _MYSQL, "sqlite": _SQLITE}


def of_dialect(name: str) -> Dialect:
    """The one of SQLAlchemy's name."""
    try:
        return _DIALECTS[name]
    except KeyError:
        raise TypeError(f"SqlStore is for PostgreSQL, MySQL, MariaDB and SQLite, not {name}") from None


DRIVERS = {
    "postgresql": "postgresql+psycopg",
    "mysql": "mysql+pymysql",
    "mariadb": "mariadb+pymysql",
    "sqlite": "sqlite",
}
"""The drivers by default, by SQLAlchemy's name of the dialect."""


def refuse_async(engine: object) -> None:
    """Refuses an engine whose driver needs an event loop, and shows how to make a second engine.

    Raises:
        TypeError: The engine is asynchronous, or the engine inside of an asynchronous one.
    """
    sync = getattr(engine, "sync_engine", engine)
    if not isinstance(sync, Engine) or not sync.dialect.is_async:
        return
    # A dialect that has no store is refused as such.
    of_dialect(sync.dialect.name)
    raise TypeError(
        "SqlStore needs an engine without asyncio: a thread without an event loop renews leases, so make a second "
        f'engine, create_engine(engine.url.set(drivername="{DRIVERS[sync.dialect.name]}"))'
    )
