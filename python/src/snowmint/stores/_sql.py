"""What each database of `SqlStore` has in its own way. Tables and statements are the same in all languages."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from sqlalchemy import Connection, text

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
    tables: Mapping[str, str]
    settings: Callable[[Sequence[str]], Sequence[str]]
    """Queries for the names and values of settings."""
    lossy_tables: str | None
    """A query for the tables that a crash can empty: the name, why, and the cure."""
    clock: str | None
    """A query for Unix ms."""
    after_read: str | None = None
    """A statement that ends a read, where what is read may not be durable yet."""
    cured: Callable[[Connection], AbstractContextManager[None]] = lambda _: nullcontext()
    """Sets what makes our own transactions durable, for as long as they take."""


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


def _postgres_settings(_: Sequence[str]) -> Sequence[str]:
    # A subscriber of logical replication and the tools that take backups are nothing that is failed over to.
    return [
        "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit')",
        "SELECT 'pg_is_in_recovery()', CAST(pg_is_in_recovery() AS text)",
        "SELECT 'asynchronous_standby', coalesce((SELECT "
        "coalesce(r.application_name, 'one that only members of pg_monitor see') FROM pg_stat_replication r "
        "WHERE current_setting('synchronous_standby_names') = '' AND (r.state IS NULL "
        "OR r.sync_state = 'async' AND r.state IN ('catchup', 'streaming') "
        "AND r.application_name NOT IN ('pg_basebackup', 'pg_receivewal')) "
        "AND NOT EXISTS (SELECT FROM pg_replication_slots s WHERE s.active_pid = r.pid AND s.slot_type = 'logical') "
        "LIMIT 1), '')",
    ]


def _mysql_settings(names: Sequence[str]) -> Sequence[str]:
    # Those of a list that is our own.
    among = ", ".join(f"'{name}'" for name in names)
    return [f"SHOW GLOBAL {what} WHERE Variable_name IN ({among})" for what in ("VARIABLES", "STATUS")]


def _sqlite_settings(_: Sequence[str]) -> Sequence[str]:
    return [
        "SELECT 'file', file FROM pragma_database_list WHERE name = 'main'",
        "SELECT 'journal_mode', journal_mode FROM pragma_journal_mode",
        "SELECT 'synchronous', synchronous FROM pragma_synchronous",
    ]


_POSTGRES = Dialect(
    engine="postgres",
    isolation="READ COMMITTED",
    tables={
        "snowmint_records": "CREATE TABLE IF NOT EXISTS snowmint_records "
        '(name text COLLATE "C" NOT NULL PRIMARY KEY, version bigint NOT NULL, value bytea NOT NULL)',
        "snowmint_counters": "CREATE TABLE IF NOT EXISTS snowmint_counters "
        '(name text COLLATE "C" NOT NULL PRIMARY KEY, value bigint NOT NULL)',
    },
    settings=_postgres_settings,
    lossy_tables="SELECT relname, 'unlogged', 'ALTER TABLE ' || relname || ' SET LOGGED' FROM pg_class "
    "WHERE oid IN (to_regclass('snowmint_records'), to_regclass('snowmint_counters')) AND relpersistence <> 'p'",
    clock="SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)",
    # A commit is visible even if its wait for a synchronous standby was cut short. A commit by this store waits for all
    # earlier ones.
    after_read="SELECT pg_logical_emit_message(true, 'snowmint', 'read')",
    cured=_cured_postgres,
)

_MYSQL = Dialect(
    engine="mysql",
    isolation="READ COMMITTED",
    tables={
        "snowmint_records": "CREATE TABLE IF NOT EXISTS snowmint_records (name VARBINARY(512) NOT NULL PRIMARY KEY, "
        "version BIGINT NOT NULL, value VARBINARY(1024) NOT NULL) ENGINE=InnoDB",
        "snowmint_counters": "CREATE TABLE IF NOT EXISTS snowmint_counters (name VARBINARY(512) NOT NULL PRIMARY KEY, "
        "value BIGINT NOT NULL) ENGINE=InnoDB",
        "snowmint_guards": "CREATE TABLE IF NOT EXISTS snowmint_guards (name VARBINARY(512) NOT NULL PRIMARY KEY, "
        "uses BIGINT NOT NULL) ENGINE=InnoDB",
    },
    settings=_mysql_settings,
    lossy_tables="SELECT table_name, concat('of ', engine), concat('ALTER TABLE ', table_name, ' ENGINE=InnoDB') "
    "FROM information_schema.tables WHERE table_schema = DATABASE() AND engine <> 'InnoDB' "
    "AND table_name IN ('snowmint_records', 'snowmint_counters', 'snowmint_guards')",
    clock="SELECT FLOOR(UNIX_TIMESTAMP(SYSDATE(6)) * 1000)",
    # InnoDB shows a commit before it is flushed. A commit by this store flushes the log up to there.
    after_read="INSERT INTO snowmint_guards (name, uses) VALUES ('read', 1) ON DUPLICATE KEY UPDATE uses = uses + 1",
)

_SQLITE = Dialect(
    engine="sqlite",
    isolation="SERIALIZABLE",
    tables={
        "snowmint_records": "CREATE TABLE IF NOT EXISTS snowmint_records "
        "(name TEXT COLLATE BINARY NOT NULL PRIMARY KEY, version INTEGER NOT NULL, value BLOB NOT NULL)",
        "snowmint_counters": "CREATE TABLE IF NOT EXISTS snowmint_counters "
        "(name TEXT COLLATE BINARY NOT NULL PRIMARY KEY, value INTEGER NOT NULL)",
    },
    settings=_sqlite_settings,
    lossy_tables=None,
    clock=None,
    cured=_cured_sqlite,
)

_DIALECTS = {"postgresql": _POSTGRES, "mysql": _MYSQL, "mariadb": _MYSQL, "sqlite": _SQLITE}


def of_dialect(name: str) -> Dialect:
    """The one of SQLAlchemy's name."""
    try:
        return _DIALECTS[name]
    except KeyError:
        raise TypeError(f"SqlStore is for PostgreSQL, MySQL, MariaDB and SQLite, not {name}") from None
