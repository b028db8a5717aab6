"""Flickr's tables of tickets, in MySQL and MariaDB."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from snowmint._errors import InvalidStoreError, UnsafeStoreError
from snowmint.stores._sql import code_of

COLUMNS = (
    "SELECT CAST(t.engine AS CHAR), MAX(c.extra LIKE '%auto_increment%') FROM information_schema.tables t "
    "JOIN information_schema.columns c USING (table_schema, table_name) "
    "WHERE t.table_schema = DATABASE() AND t.table_name = :table GROUP BY t.engine"
)
SESSION = "SELECT @@SESSION.auto_increment_increment, @@SESSION.auto_increment_offset, @@SESSION.sql_mode"
SET_SESSION = "SET SESSION auto_increment_increment = :increment, auto_increment_offset = :offset, sql_mode = :sql_mode"
# Another mode would give the last number of a full table again.
STRICT = "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION"
# "Failed to read auto-increment value", and "out of range" of a column, a number and MariaDB's AUTO_INCREMENT.
NO_NUMBER_LEFT = ("1467", "1264", "1690", "167")


class TicketTable:
    """A table such as `Tickets64`, as a server that gives the numbers `offset` modulo `increment`.

    Args:
        name: Names the database in messages.
        transaction: Begins a transaction of the store.
        table: The table, which exists.
        stub: The row whose number is replaced.
        increment: The number of servers.
        offset: The place of this server, from 1.
        allow_unsafe: Whether a table of another storage engine than InnoDB is accepted.
    """

    def __init__(
        self,
        name: str,
        transaction: Callable[..., AbstractContextManager[Connection]],
        *,
        table: str,
        stub: str,
        increment: int,
        offset: int,
        allow_unsafe: bool,
    ) -> None:
        self._name, self._transaction, self._table, self._stub = f"{name}, table {table}", transaction, table, stub
        self._session = {"increment": increment, "offset": offset, "sql_mode": STRICT}
        self._allow_unsafe = allow_unsafe
        self._checked = False

    def take(self) -> int:
        """The next ticket.

        Raises:
            OverflowError: The table has no number left.
        """
        with self._transaction(writing=True) as connection:
            if not self._checked:
                self._check(connection)
                self._checked = True
            with self._own_session(connection):
                table = connection.dialect.identifier_preparer.quote_identifier(self._table)
                try:
                    done = connection.exec_driver_sql(f"REPLACE INTO {table} (stub) VALUES (%s)", (self._stub,))
                except DBAPIError as error:
                    if code_of(error.orig) in NO_NUMBER_LEFT:
                        raise OverflowError(f"{self} has no more numbers") from error
                    raise
                return int(done.lastrowid)

    @contextmanager
    def _own_session(self, connection: Connection) -> Generator[None]:
        """Sets the variables of the session, which the application uses too, for as long as a ticket takes."""
        before = connection.execute(text(SESSION)).one()
        try:
            connection.execute(text(SET_SESSION), self._session)
            yield
        finally:
            try:
                connection.execute(text(SET_SESSION), dict(zip(self._session, before, strict=True)))
            except BaseException:
                # Nobody may use it with other variables.
                connection.invalidate()
                raise

    def _check(self, connection: Connection) -> None:
        row = connection.execute(text(COLUMNS), {"table": self._table}).one_or_none()
        if row is None:
            raise InvalidStoreError(f"{self} does not exist: make it, or open tickets over the store itself")
        if not row[1]:
            raise InvalidStoreError(f"{self} has no AUTO_INCREMENT column")
        if str(row[0]).lower() != "innodb" and not self._allow_unsafe:
            raise UnsafeStoreError(
                f"{self} has ENGINE={row[0]}, which can lose confirmed writes: ALTER TABLE ... ENGINE=InnoDB"
            )

    def __str__(self) -> str:
        return self._name
