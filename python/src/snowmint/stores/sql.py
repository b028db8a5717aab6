"""A store in a database, by SQLAlchemy."""

import itertools
import os
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.pool import StaticPool

from snowmint._errors import InvalidStoreError, StoreUnavailableError, UnsafeStoreError
from snowmint._snowmint import engine_settings, is_overtaken, misconfigured, refuse_lossy_place
from snowmint.stores import _sql
from snowmint.stores._findings import Findings
from snowmint.stores._forked import OfProcess
from snowmint.stores._leaf import LeafTable
from snowmint.stores._sequence import DatabaseSequence
from snowmint.stores._store import MAX_COUNT, full, new_version, refuse_green_threads
from snowmint.stores._tickets import TicketTable

TRIES = 20
"""How often to try to make the tables while other processes make them."""
PAUSE_S = 0.01
"""How long to wait in between."""


class SqlStore:
    """Records and counters in two tables of a PostgreSQL, MySQL, MariaDB or SQLite database.

        Snowflake(store=SqlStore(create_engine("postgresql+psycopg://ids@db/app")), namespace="orders")

    The tables `snowmint_records` and `snowmint_counters` (MySQL: also `snowmint_guards`; PostgreSQL: `records` and
    `counters` in a schema `snowmint`) are made when first used, if they are missing, and so is Leaf's table
    `leaf_alloc`, which only `Segments` use. A database that can lose
    confirmed writes is refused with `UnsafeStoreError`, which names setting, value and cure; that is looked at behind
    each write, which counts only then. `synchronous_commit=off` and SQLite's `synchronous=NORMAL` are cured for the
    store's own transactions. A standby or replica that is not waited for, to which a failover can lose confirmed
    writes, is refused at first and by each claim; leases that are held go on, and `Snowflake.status().standby_risk` and
    the log of `snowmint` say so.

    A pooler such as PgBouncer may stand before PostgreSQL, in any mode. In statement mode the engine needs
    `isolation_level="AUTOCOMMIT"` and `use_native_hstore=False`, since SQLAlchemy begins transactions without them.

    Args:
        engine: A `sqlalchemy.Engine`, which stays the caller's. A forked child disposes of the connections that it
            inherits. Beside an `AsyncEngine` make a second engine, because a thread without an event loop renews
            leases: `create_engine(engine.url.set(drivername="postgresql+psycopg"))`.
        allow_unsafe: Whether such databases are accepted.
        allow_standby: Whether such standbys are accepted, as `snowmint fence` follows every failover.
    """

    def __init__(self, engine: Engine, *, allow_unsafe: bool = False, allow_standby: bool = False) -> None:
        _sql.refuse_async(engine)
        if not isinstance(engine, Engine):
            raise TypeError(
                f"SqlStore needs a sqlalchemy.Engine, not {type(engine).__qualname__}: pass the result of create_engine"
            )
        if isinstance(engine.pool, StaticPool):
            raise TypeError("SqlStore needs an engine that gives each thread a connection of its own, not StaticPool")
        refuse_green_threads("SqlStore")
        self._sql = _sql.of_dialect(engine.dialect.name)
        # Each statement sees all transactions committed before it.
        self._engine = engine.execution_options(isolation_level=self._sql.isolation)
        self._allow_unsafe = allow_unsafe
        self._made: set[str] = set()
        self._checked = False
        self._write_ahead_log: str | None = None
        # Its options may have a password too.
        self._name = f"{engine.dialect.name} at {engine.url.set(query={}).render_as_string(hide_password=True)}"
        self._findings = Findings(self._name, self._sql.engine, allow_standby=allow_standby)
        self._process = OfProcess(self._engine, str(self))
        self.segments = LeafTable(self._name, self._sql.leaf, self._transaction)
        """Leaf's table, which `snowmint.Segments` use."""

    def read(self, key: str) -> tuple[bytes, int] | None:
        """As `Store.read`."""
        with self._transaction() as connection:
            row = self._sql.verbs.read(connection, key)
        return None if row is None else (bytes(row[1]), int(row[0]))

    def write(self, key: str, value: bytes, expected_version: int) -> int | None:
        """As `Store.write`."""
        try:
            with self._transaction(writing=True) as connection:
                version = new_version()
                written = self._sql.verbs.write(connection, key, value, expected_version, version)
                return version if written else None
        except IntegrityError:
            return None

    def list(self, prefix: str) -> Sequence[tuple[str, bytes, int]]:
        """As `Store.list`."""
        # A range from the slash to the next character, as LIKE has wildcards.
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        with self._transaction() as connection:
            rows = self._sql.verbs.list(connection, prefix, end)
        parts = [(_sql.as_text(name).removeprefix(prefix), bytes(value), int(version)) for name, version, value in rows]
        return [each for each in parts if "/" not in each[0]]

    def add(self, counter: str, delta: int, start: int) -> int:
        """As `Store.add`."""
        if delta > MAX_COUNT or start > MAX_COUNT:
            raise full(self, counter)
        while True:
            with suppress(IntegrityError), self._transaction(writing=True) as connection:
                count = self._sql.verbs.add(connection, counter, delta, start)
                if count is None:
                    raise full(self, counter)
                return count
            # Another session was the first: there is something to add to now.

    def lower(self, counter: str, end: int, start: int) -> bool:
        """Sets a counter from `end` back to `start`; False if it is not at `end`."""
        with self._transaction(writing=True) as connection:
            return self._sql.verbs.lower(connection, counter, end, start)

    def clock_ms(self) -> int | None:
        """As `Store.clock_ms`."""
        if self._sql.clock is None:
            return None
        with self._transaction() as connection:
            return int(self._sql.verbs.ask(connection, self._sql.clock)[0][0])

    def refuse_standby(self) -> None:
        """Refuses a claim where a failover could lose it, unless `allow_standby`."""
        if not self._allow_unsafe:
            with self._transaction(writing=True):
                pass
            self._findings.refuse_standby()

    def standby_risk(self) -> str | None:
        """The writes that a failover could lose, by the last look at the settings."""
        return self._findings.risk

    def settings(self) -> tuple[str, dict[str, str]]:
        """Returns the engine, and its settings that decide whether it keeps confirmed writes."""
        with self._transaction() as connection:
            return self._sql.engine, self._settings(connection)

    def tickets(self, table: str, increment: int, offset: int, stub: str = "a") -> TicketTable:
        """Opens a table of tickets of MySQL or MariaDB, such as Flickr's `Tickets64`; see `snowmint.Tickets.of_tables`.

        Raises:
            InvalidStoreError: The database is another one.
        """
        if self._sql.engine != "mysql":
            raise InvalidStoreError(f"{self}: tables of tickets are for MySQL and MariaDB: open tickets over the store")
        return TicketTable(
            self._name,
            self._transaction,
            table=table,
            stub=stub,
            increment=increment,
            offset=offset,
            allow_unsafe=self._allow_unsafe,
        )

    def sequence(self, name: str) -> DatabaseSequence:
        """Opens a sequence that the database has; see `snowmint.NativeNumbers`."""
        sql = self._sql
        return DatabaseSequence(
            f"{self._name}, sequence {name}",
            sql.engine,
            allow_unsafe=self._allow_unsafe,
            name=name,
            statements=sql.sequence,
            ask=sql.verbs.ask,
            transaction=self._transaction,
        )

    @contextmanager
    def _transaction(self, writing: bool = False, schema: str | None = None) -> Generator[Connection]:
        try:
            with self._process.use():
                schema = schema or self._sql.schema
                if schema not in self._made:
                    self._make_tables(schema)
                    self._made.add(schema)
                with self._engine.connect() as connection, self._sql.cured(connection):
                    if writing and not self._allow_unsafe and not self._checked:
                        # A server that is refused at first is not written.
                        self._check(connection)
                        self._checked = True
                        connection.rollback()
                    yield connection
                    connection.commit()
                    # Behind the commit: it counts only if the server keeps it.
                    if writing and not self._allow_unsafe:
                        self._check(connection)
        except IntegrityError:
            raise
        except DBAPIError as error:
            # Without the statement and its parameters, which do not help the reader.
            code, message = _sql.code_of(error.orig), str(error.orig)
            cure = misconfigured(self._sql.engine, code, message)
            if cure:
                # Other lines show our statement, which needs no reading.
                message = message.partition("\n")[0] + cure
            failed = StoreUnavailableError if cure is None else InvalidStoreError
            raise failed(f"{self}: {type(error.orig).__name__}: {message}") from error
        if writing and self._write_ahead_log is not None and not os.path.exists(self._write_ahead_log):
            raise UnsafeStoreError(
                f"{self}: {self._write_ahead_log} was removed while it is in use, so the write is lost"
            )

    def _make_tables(self, schema: str) -> None:
        for tries in itertools.count(1):
            with self._engine.connect() as connection:
                if not self._sql.verbs.missing(connection, _sql.tables(schema)):
                    return
            try:
                with self._engine.begin() as connection:
                    self._sql.verbs.make(connection, schema)
            except DBAPIError as error:
                if tries == TRIES or not is_overtaken(self._sql.engine, _sql.code_of(error.orig)):
                    raise
                time.sleep(PAUSE_S)

    def _settings(self, connection: Connection) -> dict[str, str]:
        names = {name.lower(): name for name in engine_settings(self._sql.engine)}
        found: dict[str, str] = {}
        for query in self._sql.settings(list(names.values())):
            for name, value in self._sql.verbs.ask(connection, query):
                # MySQL reports names in another case than it accepts.
                found[names.get(str(name).lower(), str(name))] = str(value)
        return found

    def _check(self, connection: Connection) -> None:
        found = self._settings(connection)
        self._findings.judge(found)
        self._write_ahead_log = f"{found['file']}-wal" if found.get("journal_mode") == "wal" else None
        if "file" in found:
            refuse_lossy_place(str(self), found["file"])

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"SqlStore({self._name})"
