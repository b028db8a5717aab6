"""Sequences that PostgreSQL and MariaDB have."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from snowmint._snowmint import is_run_out
from snowmint.stores._sql import Rows, SequenceStatements, as_text, code_of


class DatabaseSequence:
    """A sequence of a database. Core reads its state, and refuses one that cannot serve.

    Args:
        source: The store and the sequence, in messages.
        engine: Whose sequence it is.
        allow_unsafe: Whether a sequence whose numbers can repeat is accepted.
        name: The sequence.
        statements: Those of the database; None for one without sequences.
        ask: Runs a statement.
        transaction: Begins a transaction of the store.
    """

    def __init__(
        self,
        source: str,
        engine: str,
        *,
        allow_unsafe: bool,
        name: str,
        statements: SequenceStatements | None,
        ask: Callable[[Connection, str], Rows],
        transaction: Callable[..., AbstractContextManager[Connection]],
    ) -> None:
        self.engine, self.allow_unsafe = engine, allow_unsafe
        self._source, self._name, self._ask, self._transaction = source, name, ask, transaction
        self._statements = statements or SequenceStatements(object="", state="", nextval="")

    def object(self) -> Sequence[str | None]:
        """The server's version, and the type of the object; None without one."""
        return self._read(self._statements.object)[0]

    def state(self) -> Sequence[str | None] | None:
        """The state, as texts; None without a row."""
        rows = self._read(self._statements.state)
        return rows[0] if rows else None

    def take(self, count: int) -> list[int] | None:
        """The next numbers; None if the sequence has fewer."""
        statements = self._statements
        with self._transaction(writing=True) as connection:
            try:
                rows = self._ask(connection, self._filled(statements.nextval, count))
                if statements.guard:
                    connection.exec_driver_sql(self._filled(statements.guard))
            except DBAPIError as error:
                if is_run_out(self.engine, code_of(error.orig)):
                    return None
                raise
            return [int(number) for (number,) in rows]

    def _read(self, statement: str) -> list[tuple[str | None, ...]]:
        with self._transaction() as connection:
            rows = self._ask(connection, self._filled(statement))
        return [tuple(None if cell is None else _text(cell) for cell in row) for row in rows]

    def _filled(self, statement: str, count: int = 0) -> str:
        return statement.replace("{sequence}", self._name).replace("{count}", str(count))

    def __str__(self) -> str:
        return self._source


def _text(cell: Any) -> str:
    return as_text(cell) if isinstance(cell, bytes | bytearray) else str(cell)
