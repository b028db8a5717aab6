"""Leaf's table of segments, `leaf_alloc`, which servers of Leaf and other languages use at the same time."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError

from snowmint._snowmint import MYSQL_LEAF, POSTGRES_LEAF
from snowmint.stores._store import MAX_COUNT, full

ROW = "SELECT max_id, step, description FROM leaf_alloc WHERE biz_tag = :tag"
TAGS = "SELECT biz_tag FROM leaf_alloc ORDER BY biz_tag"
CREATE = "INSERT INTO leaf_alloc (biz_tag, max_id, step, description) VALUES (:tag, :next, :step, :description)"
FETCH = (
    "UPDATE leaf_alloc SET max_id = max_id + :amount, update_time = CURRENT_TIMESTAMP "
    "WHERE biz_tag = :tag AND max_id BETWEEN 0 AND :most"
)
LOWER = "UPDATE leaf_alloc SET max_id = :start, update_time = CURRENT_TIMESTAMP WHERE biz_tag = :tag AND max_id = :end"


class LeafVerbs(Protocol):
    """Statements on the table, on a connection."""

    schema: str

    def select(self, connection: Connection, statement: str, values: Mapping[str, Any], /) -> list[Any]:
        """The rows of a query."""
        ...

    def change(self, connection: Connection, statement: str, values: Mapping[str, Any], /) -> bool:
        """Whether a statement changed a row."""
        ...

    def fetch(self, connection: Connection, values: Mapping[str, Any], /) -> int | None:
        """Adds to a row, and returns its number; None without such a row."""
        ...


class LeafSteps:
    """Statements in the transaction of the connection.

    Args:
        schema: Makes the table.
    """

    def __init__(self, schema: str) -> None:
        self.schema = schema

    def select(self, connection: Connection, statement: str, values: Mapping[str, Any]) -> list[Any]:
        """As `LeafVerbs.select`."""
        return list(connection.execute(text(statement), values))

    def change(self, connection: Connection, statement: str, values: Mapping[str, Any]) -> bool:
        """As `LeafVerbs.change`."""
        return connection.execute(text(statement), values).rowcount == 1

    def fetch(self, connection: Connection, values: Mapping[str, Any]) -> int | None:
        """As `LeafVerbs.fetch`."""
        if not self.change(connection, FETCH, values):
            return None
        return int(self.select(connection, ROW, values)[0][0])


class LeafPostgres:
    """Statements that are a transaction each.

    Args:
        ask: Runs a query with the values of `$1`, `$2` and so on.
    """

    schema = POSTGRES_LEAF

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def select(self, connection: Connection, statement: str, values: Mapping[str, Any]) -> list[Any]:
        """As `LeafVerbs.select`."""
        names = [name for name in values if f":{name}" in statement]
        for place, name in enumerate(names, start=1):
            statement = statement.replace(f":{name}", f"${place}")
        return list(self._ask(connection, statement, *(values[name] for name in names)))

    def change(self, connection: Connection, statement: str, values: Mapping[str, Any]) -> bool:
        """As `LeafVerbs.change`."""
        if statement.startswith("INSERT"):
            statement += " ON CONFLICT DO NOTHING"
        return len(self.select(connection, f"{statement} RETURNING max_id", values)) == 1

    def fetch(self, connection: Connection, values: Mapping[str, Any]) -> int | None:
        """As `LeafVerbs.fetch`."""
        rows = self.select(connection, FETCH + " RETURNING max_id", values)
        return int(rows[0][0]) if rows else None


SQLITE = LeafSteps(POSTGRES_LEAF)
MYSQL = LeafSteps(MYSQL_LEAF)


class LeafTable:
    """The table of a database, made when first used. An existing table stays unchanged.

    Args:
        name: Names the database in messages.
        verbs: The statements of the database.
        transaction: Begins a transaction of the store, for the tables of this schema.
    """

    def __init__(
        self, name: str, verbs: LeafVerbs, transaction: Callable[..., AbstractContextManager[Connection]]
    ) -> None:
        self._name, self._verbs, self._transaction = name, verbs, transaction

    def tag(self, tag: str) -> tuple[int, int, str] | None:
        """The next number, the step and the description of a tag; None if it does not exist."""
        with self._transaction(schema=self._verbs.schema) as connection:
            rows = self._verbs.select(connection, ROW, {"tag": tag})
        return None if not rows else (int(rows[0][0]), int(rows[0][1]), str(rows[0][2] or ""))

    def create(self, tag: str, next_number: int, step: int, description: str) -> bool:
        """Makes a tag; False if it exists."""
        values = {"tag": tag, "next": next_number, "step": step, "description": description}
        try:
            with self._transaction(writing=True, schema=self._verbs.schema) as connection:
                return self._verbs.change(connection, CREATE, values)
        except IntegrityError:
            return False

    def tags(self) -> list[str]:
        """All tags."""
        with self._transaction(schema=self._verbs.schema) as connection:
            return [str(row[0]) for row in self._verbs.select(connection, TAGS, {})]

    def fetch(self, tag: str, amount: int) -> int | None:
        """Adds to the number of a tag and returns the sum; None without such a tag.

        Raises:
            OverflowError: The sum would pass 2^63-1.
        """
        if amount <= MAX_COUNT:
            values = {"tag": tag, "amount": amount, "most": MAX_COUNT - amount}
            with self._transaction(writing=True, schema=self._verbs.schema) as connection:
                end = self._verbs.fetch(connection, values)
            if end is not None:
                return end
            if self.tag(tag) is None:
                return None
        raise full(self._name, tag)

    def lower(self, tag: str, end: int, start: int) -> bool:
        """Sets the number of a tag from `end` back to `start`; False if it is not at `end`."""
        with self._transaction(writing=True, schema=self._verbs.schema) as connection:
            return self._verbs.change(connection, LOWER, {"tag": tag, "end": end, "start": start})
