"""The parts of `SqlStore` that differ between databases. Tables, queries and the checks of settings are core's."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from sqlalchemy import Connection, text

from snowmint._snowmint import (
    MYSQL_CLOCK,
    MYSQL_FLUSH,
    MYSQL_SCHEMA,
    MYSQL_TABLES,
    POSTGRES_CLOCK,
    POSTGRES_FLUSH,
    POSTGRES_SCHEMA,
    POSTGRES_SETTINGS,
    SQLITE_SCHEMA,
)

READ = "SELECT version, value FROM snowmint_records WHERE name = :name"
INSERT = "INSERT INTO snowmint_records (name, version, value) VALUES (:name, 1, :value)"
UPDATE = "UPDATE snowmint_records SET value = :value, version = version + 1 WHERE name = :name AND version = :version"
LIST = "SELECT name, version, value FROM snowmint_records WHERE name >= :begin AND name < :end"
ADD = "UPDATE snowmint_counters SET value = value + :delta WHERE name = :name AND value <= :most"
COUNT = "SELECT value FROM snowmint_counters WHERE name = :name"
BEGIN = "INSERT INTO snowmint_counters (name, value) VALUES (:name, :value)"


@dataclass(frozen=True)
class Dialect:
    """One of the databases."""

    engine: str
    """Whose rules of durability hold."""
    isolation: str
    """Each statement sees all earlier commits, and they take effect together."""
    schema: str
    """Makes the tables, each by a statement."""
    settings: Callable[[Sequence[str]], Sequence[str]]
    """Queries for the names and values of settings, and for the tables that a crash can empty."""
    clock: str | None = None
    """A query for Unix ms."""
    flush: str | None = None
    """A statement that ends a read, where what a read saw may not be durable yet."""
    cured: Callable[[Connection], AbstractContextManager[None]] = lambda _: nullcontext()
    """Sets what makes our own transactions durable, for as long as they take."""

    @property
    def tables(self) -> Mapping[str, str]:
        """The statements that make the tables, by the tables' names."""
        definitions = [definition.strip() for definition in self.schema.split(";") if definition.strip()]
        return {definition.split()[5]: definition for definition in definitions}


def as_text(name: str | bytes | bytearray | memoryview) -> str:
    """A name, as some drivers give it."""
    return name if isinstance(name, str) else bytes(name).decode()


@contextmanager
def _cured_postgres(connection: Connection) -> Generator[None]:
    # A statement's time limit would turn the wait for a synchronous standby into a mere warning; one for locks not.
    # A process that stops in the middle of a transaction keeps a record locked until the server ends its session.
    connection.execute(
        text(
            "SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', '5000', true), "
            "set_config('idle_in_transaction_session_timeout', '5000', true), "
            "set_config('synchronous_commit', CASE current_setting('synchronous_commit') "
            "WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true)"
        )
    )
    yield


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


_POSTGRES = Dialect(
    engine="postgres",
    isolation="READ COMMITTED",
    schema=POSTGRES_SCHEMA,
    settings=lambda _: [POSTGRES_SETTINGS],
    clock=POSTGRES_CLOCK,
    flush=POSTGRES_FLUSH,
    cured=_cured_postgres,
)

_MYSQL = Dialect(
    engine="mysql",
    isolation="READ COMMITTED",
    schema=MYSQL_SCHEMA,
    settings=_mysql_settings,
    clock=MYSQL_CLOCK,
    flush=MYSQL_FLUSH,
)

_SQLITE = Dialect(
    engine="sqlite",
    isolation="SERIALIZABLE",
    schema=SQLITE_SCHEMA,
    settings=_sqlite_settings,
    cured=_cured_sqlite,
)

_DIALECTS = {"postgresql": _POSTGRES, "mysql": _MYSQL, "mariadb": _MYSQL, "sqlite": _SQLITE}


def of_dialect(name: str) -> Dialect:
    """The one of SQLAlchemy's name."""
    try:
        return _DIALECTS[name]
    except KeyError:
        raise TypeError(f"SqlStore is for PostgreSQL, MySQL, MariaDB and SQLite, not {name}") from None
