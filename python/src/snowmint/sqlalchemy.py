"""A column type and a default for SQLAlchemy 2: `pip install snowmint[sqlalchemy]`.

>>> from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
>>> from snowmint.sqlalchemy import SnowflakeDefault, SnowflakeID
>>> class Base(DeclarativeBase): ...
>>> class Post(Base):
...     __tablename__ = "post"
...     id: Mapped[int] = mapped_column(SnowflakeID, primary_key=True, default=SnowflakeDefault(layout="twitter"))

The posts of a time, by the primary key alone:

>>> from sqlalchemy import select
>>> from snowmint import layouts
>>> day = select(Post).where(Post.id.between(*layouts.TWITTER.id_range(1656374400000, 1656460799999)))

Alembic's autogenerate drops tables that no model describes, and the tables of leases are such tables. Where a
`SqlStore` or the service uses the same database, one line in `env.py` keeps them:

    context.configure(..., include_object=snowmint.sqlalchemy.include_object)
"""

from typing import Any

from snowmint._ids import for_bigint
from snowmint._lazy import LazySnowflake

try:
    from sqlalchemy import BigInteger, Column, Dialect, Integer, event
    from sqlalchemy.types import TypeDecorator, TypeEngine
except ImportError as error:
    raise ImportError("snowmint.sqlalchemy needs SQLAlchemy 2: pip install snowmint[sqlalchemy]") from error

__all__ = ["SnowflakeDefault", "SnowflakeID", "include_object"]

_TABLES = frozenset({"snowmint_records", "snowmint_counters", "snowmint_guards", "leaf_alloc", "Tickets64"})


class SnowflakeID(TypeDecorator[int]):
    """An ID in a `BIGINT` column, `INTEGER` on SQLite; an `int` in Python.

    The column is signed: it takes 0 to 2^63-1, so rows sort as IDs do. The database never numbers it by
    itself (unless `autoincrement=True` asks for that): without a default, a row needs its ID.

    What cannot be stored is refused before it is sent. SQLAlchemy wraps that in its `StatementError`, whose `orig` is
    an `InvalidIdError` for a number out of range, and a `TypeError` for a `bool`, a `str` or another type.

    Alembic writes `snowmint.sqlalchemy.SnowflakeID()` into migrations: add `import snowmint.sqlalchemy` to your
    `script.py.mako`.
    """

    impl = BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """On SQLite `INTEGER`, which as a primary key is the row's own number, with no second index."""
        return dialect.type_descriptor(Integer() if dialect.name == "sqlite" else BigInteger())

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int | None:
        """Refuses what is no ID, or no `BIGINT`."""
        return None if value is None else for_bigint(value)


@event.listens_for(SnowflakeID, "before_parent_attach")
def _without_autoincrement(_: SnowflakeID, parent: object) -> None:
    # An integer primary key without a default would be BIGSERIAL or AUTO_INCREMENT, and count 1, 2, 3.
    if isinstance(parent, Column) and parent.autoincrement == "auto":
        parent.autoincrement = False


class SnowflakeDefault(LazySnowflake):
    """A column default that mints: each row of each insert gets a new ID.

    It takes what `snowmint.Snowflake` takes, by name. Layout and node are checked at once. The generator is made when
    the first row is inserted, so that importing models takes no lease; a generator whose lease was lost is replaced by
    a new one. A default may be shared by many columns and threads; a forked child leases its own
    node. A generator of your own serves as well: `default=generator.next_id`.

    Minting may wait, up to `max_wait_ms`, and an event loop with it: with asyncio `max_ahead_ms=1000, max_wait_ms=0`
    are better. SQLAlchemy wraps its errors: they are the `orig` of a `StatementError`.
    """


def include_object(item: object, name: str | None, type_: str, reflected: bool, compare_to: object) -> bool:
    """Tells Alembic's autogenerate to leave the tables of leases and numbers alone.

        context.configure(..., include_object=snowmint.sqlalchemy.include_object)

    Without it, the next migration drops `snowmint_records`, and the nodes of running generators are granted again.
    The tables are `snowmint_records`, `snowmint_counters`, `snowmint_guards`, `leaf_alloc` and `Tickets64`; a table
    that one of your models describes is compared as ever. A filter of your own calls this one first:

        def include_object(*what):
            return snowmint.sqlalchemy.include_object(*what) and mine(*what)
    """
    return not (type_ == "table" and reflected and compare_to is None and name in _TABLES)
