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

Alembic's autogenerate drops tables that no model describes. On PostgreSQL it does not look into the schema of our
tables. On other databases that a `SqlStore` or the service uses too, one line in `env.py` keeps them:

    context.configure(..., include_object=snowmint.sqlalchemy.include_object)

Other IDs have types too: `PrefixedIdType(UserId)` of a subclass of `PrefixedId` or `TypeID`, `ULIDType`, `ObjectIdType`
and `UUID7Type`.
"""

from typing import Any, Generic, TypeVar
from uuid import UUID

from snowmint import ULID, InvalidIdError, ObjectId, PrefixedId, TypeID
from snowmint._ids import for_bigint
from snowmint._lazy import LazySnowflake

try:
    from sqlalchemy import CHAR, BigInteger, Column, Dialect, ExecutionContext, Insert, Integer, Uuid, event
    from sqlalchemy.exc import InvalidRequestError
    from sqlalchemy.types import TypeDecorator, TypeEngine
except ImportError as error:
    raise ImportError("snowmint.sqlalchemy needs SQLAlchemy 2: pip install 'snowmint[sqlalchemy]'") from error

__all__ = [
    "ObjectIdType",
    "PrefixedIdType",
    "SnowflakeDefault",
    "SnowflakeID",
    "ULIDType",
    "UUID7Type",
    "Uuid",
    "include_object",
]

T = TypeVar("T", PrefixedId, TypeID)

# Those of the schema, which are reflected without its name if it is the default schema, as for a role called snowmint.
_IN_SCHEMA = {"records": frozenset({"name", "version", "value"}), "counters": frozenset({"name", "value"})}
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
        """Refuses a value that is not an ID, or does not fit a `BIGINT`."""
        return None if value is None else for_bigint(value)


class PrefixedIdType(TypeDecorator[T], Generic[T]):
    """An ID with a prefix: in Python an object of its class, in the database the bare value.

    >>> from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
    >>> from snowmint import PrefixedId, TypeID
    >>> class UserId(PrefixedId, prefix="user"): ...
    >>> class OrderId(TypeID, prefix="order"): ...
    >>> class Base(DeclarativeBase): ...
    >>> class Order(Base):
    ...     __tablename__ = "orders"
    ...     id: Mapped[OrderId] = mapped_column(PrefixedIdType(OrderId), primary_key=True, default=OrderId)
    ...     user: Mapped[UserId] = mapped_column(PrefixedIdType(UserId))

    The column of a `PrefixedId` is a `BIGINT`, as of `SnowflakeID`; the column of a `TypeID` is SQLAlchemy's `Uuid`. A
    value is an object of the class, or a value that the class reads. Refusals are the `orig` of a `StatementError`: an
    `InvalidTextError` for another prefix, an `InvalidIdError` for a number above 2^63-1, a `TypeError` for an object of
    another class.

    Alembic writes the type of the column alone into migrations, `SnowflakeID()` or `Uuid()`.
    """

    impl = BigInteger
    cache_ok = True

    def __init__(self, kind: type[T]) -> None:
        super().__init__()
        self.kind: type[T] = kind

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """`BIGINT` or `Uuid`, by the class."""
        if issubclass(self.kind, TypeID):
            return dialect.type_descriptor(Uuid())
        return dialect.type_descriptor(Integer() if dialect.name == "sqlite" else BigInteger())

    def process_bind_param(self, value: Any, dialect: Dialect) -> int | UUID | None:
        """The bare value."""
        if value is None:
            return None
        bare: int | UUID = self.kind(value).value
        return bare if isinstance(bare, UUID) else for_bigint(bare)

    def process_result_value(self, value: Any, dialect: Dialect) -> T | None:
        """The ID with its prefix."""
        return None if value is None else self.kind(value)

    def __repr__(self) -> str:
        return "Uuid()" if issubclass(self.kind, TypeID) else "SnowflakeID()"


class ULIDType(TypeDecorator[ULID]):
    """A ULID in a column of its 26 characters, which sort as ULIDs do; a `ULID` in Python.

    A value is a `ULID`, its text, or a UUID: `mapped_column(ULIDType, primary_key=True, default=snowmint.ulid)`.
    """

    # No column of UUIDs: MariaDB's type refuses 128 bits that are no UUID.
    impl = CHAR(26)
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """The characters."""
        return None if value is None else str(value if isinstance(value, ULID) else ULID(value))

    def process_result_value(self, value: Any, dialect: Dialect) -> ULID | None:
        """The ULID."""
        return None if value is None else ULID(value)


class ObjectIdType(TypeDecorator[ObjectId]):
    """An `ObjectId` in a column of its 24 hexadecimal digits; an `ObjectId` in Python.

    A value is an `ObjectId`, its text, or its 12 bytes.
    """

    impl = CHAR(24)
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """The digits."""
        return None if value is None else str(value if isinstance(value, ObjectId) else ObjectId(value))

    def process_result_value(self, value: Any, dialect: Dialect) -> ObjectId | None:
        """The `ObjectId`."""
        return None if value is None else ObjectId(value)


class UUID7Type(TypeDecorator[UUID]):
    """A UUID of version 7 in a column of SQLAlchemy's `Uuid`; a `UUID` in Python.

    `mapped_column(UUID7Type, primary_key=True, default=snowmint.uuid7)`. A UUID of another version is refused before it
    is sent: an `InvalidIdError` as the `orig` of a `StatementError`.
    """

    impl = Uuid
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> UUID | None:
        """The UUID, if it is of version 7."""
        if value is None:
            return None
        uuid = value if isinstance(value, UUID) else UUID(value)
        if uuid.version != 7:
            raise InvalidIdError(f"{uuid} is no UUID of version 7: mint it by snowmint.uuid7, or use sqlalchemy.Uuid")
        return uuid


@event.listens_for(PrefixedIdType, "before_parent_attach")
@event.listens_for(SnowflakeID, "before_parent_attach")
def _without_autoincrement(_: object, parent: object) -> None:
    # An integer primary key without a default would be BIGSERIAL or AUTO_INCREMENT, and count 1, 2, 3.
    if isinstance(parent, Column) and parent.autoincrement == "auto":
        parent.autoincrement = False


class SnowflakeDefault(LazySnowflake):
    """A column default that mints: each row of each insert gets a new ID.

    It takes what `snowmint.Snowflake` takes, by name. Layout and node are checked at once. The generator is made when
    the first row is inserted, so that importing models takes no lease; a generator whose lease was lost is replaced by
    a new one. A default may be shared by many columns and threads; a forked child leases its own
    node. A generator that you made serves as well: `default=generator.next_id`. `close` frees the node when an
    application ends.

    An `INSERT ... SELECT` asks a default once for all of its rows, so this one refuses it: an `InvalidRequestError` as
    the `orig` of a `StatementError`. SQLAlchemy does not show the statement to other callables, such as
    `generator.next_id`, `uuid7` or a subclass of `TypeID`: they give one ID to all rows of such an insert. Each default
    as `onupdate=` also gives one ID to all rows of an `UPDATE`.

    Minting may wait, up to `max_wait_ms`, and an event loop with it: with asyncio `max_ahead_ms=1000, max_wait_ms=0`
    are better. SQLAlchemy wraps its errors: they are the `orig` of a `StatementError`.
    """

    @staticmethod
    def __func__(context: ExecutionContext) -> None:
        """Has the one parameter for which SQLAlchemy looks before it passes the context to a default."""

    def __call__(self, context: object = None) -> int:
        """The next ID, as `Snowflake.next_id`.

        Raises:
            InvalidRequestError: The context is of an `INSERT ... SELECT`.
        """
        statement = getattr(getattr(context, "compiled", None), "statement", None)
        if isinstance(statement, Insert) and statement.select is not None:
            raise InvalidRequestError(
                f"INSERT INTO {statement.table} ... SELECT gets one default for all of its rows, so they would share "
                "an ID: select the rows, and insert them with session.execute(insert(...), rows), or use a default of "
                "the database (Layout.postgres_function, Layout.mariadb_function)"
            )
        return super().__call__()


def include_object(item: object, name: str | None, type_: str, reflected: bool, compare_to: object) -> bool:
    """Tells Alembic's autogenerate to leave the tables of leases and numbers alone.

        context.configure(..., include_object=snowmint.sqlalchemy.include_object)

    Without it, the next migration drops `snowmint_records`, and the nodes of running generators are granted again. On
    PostgreSQL that happens only with `include_schemas=True`. The tables are all of the schema `snowmint`, and
    `snowmint_records`, `snowmint_counters`, `snowmint_guards`, `leaf_alloc` and `Tickets64`; a table that one of your
    models describes is compared as ever. A filter of your own calls this one first:

        def include_object(*what):
            return snowmint.sqlalchemy.include_object(*what) and mine(*what)
    """
    columns: frozenset[str] = frozenset(getattr(item, "columns", {}).keys())
    is_ours = name in _TABLES or getattr(item, "schema", None) == "snowmint" or _IN_SCHEMA.get(name or "") == columns
    return not (type_ == "table" and reflected and compare_to is None and is_ours)
