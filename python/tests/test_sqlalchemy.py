"""The column type and the default for SQLAlchemy, on SQLite, PostgreSQL and MariaDB."""

import asyncio
import copy
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from alembic.autogenerate import compare_metadata, produce_migrations, render_python_code
from alembic.migration import MigrationContext
from alembic.operations import Operations
from pydantic import BaseModel, Field
from sqlalchemy import (
    BigInteger,
    Column,
    Engine,
    ForeignKey,
    MetaData,
    Table,
    create_engine,
    func,
    insert,
    inspect,
    literal,
    select,
)
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.exc import (
    CompileError,
    IntegrityError,
    InvalidRequestError,
    OperationalError,
    SAWarning,
    StatementError,
)
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, MappedAsDataclass, Session, mapped_column
from sqlalchemy.orm.exc import FlushError
from sqlalchemy.schema import CreateTable

import processes
from losses import lose, wait_until
from servers import Shared
from snowmint import (
    ExhaustedError,
    InvalidIdError,
    InvalidLayoutError,
    InvalidNodeError,
    Snowflake,
    WindowClosedError,
    layouts,
)
from snowmint.sqlalchemy import SnowflakeDefault, SnowflakeID
from snowmint.stores import MemoryStore

mint = SnowflakeDefault(layout="twitter")
snowflake_pk = Annotated[int, mapped_column(SnowflakeID, primary_key=True, default=mint)]
generator = Snowflake("twitter", node=5)


class Base(DeclarativeBase): ...


class Author(Base):
    __tablename__ = "author"
    id: Mapped[snowflake_pk]


class Post(Base):
    __tablename__ = "post"
    id: Mapped[int] = mapped_column(SnowflakeID, primary_key=True, default=mint)
    author_id: Mapped[int | None] = mapped_column(ForeignKey(Author.id))
    reply_to: Mapped[int | None] = mapped_column(SnowflakeID)


class Event(Base):
    __tablename__ = "event"
    id: Mapped[int] = mapped_column(SnowflakeID, primary_key=True, default=generator.next_id)
    trace: Mapped[int] = mapped_column(SnowflakeID, default=generator)


class Note(MappedAsDataclass, Base):
    __tablename__ = "note"
    id: Mapped[int] = mapped_column(SnowflakeID, primary_key=True, insert_default=mint, init=False)
    words: Mapped[int] = mapped_column(default=0)


class Unminted(Base):
    __tablename__ = "unminted"
    id: Mapped[int] = mapped_column(SnowflakeID, primary_key=True)
    words: Mapped[int | None]


TABLES = Base.metadata.tables
posts, unminted = TABLES["post"], TABLES["unminted"]


@pytest.fixture(scope="module", params=["sqlite", "postgres", "mariadb"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path_factory.mktemp('ids')}/ids.db"
    server: Shared = request.getfixturevalue(request.param)
    return server.new_database()


def created(table: Table, dialect: Any) -> str:
    """The statement that creates a table there."""
    return str(CreateTable(table).compile(dialect=dialect.dialect()))


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    """An engine with the tables, empty."""
    engine = create_engine(url)
    Base.metadata.create_all(engine)
    yield engine
    Base.metadata.drop_all(engine)
    engine.dispose()


def test_every_object_of_a_flush_gets_an_id_of_its_own(engine: Engine) -> None:
    with Session(engine) as session:
        session.add_all([made := Author(), *(Post(author_id=None) for _ in range(1000)), Event(), Note(), Note()])
        session.commit()
        ids = list(session.scalars(select(Post.id).order_by(Post.id)))
        assert len(set(ids)) == 1000
        assert all(type(id) is int for id in ids)
        assert layouts.TWITTER.decode(ids[0]).node == mint.generator.node
        assert session.get(Author, made.id) is made
        event = session.scalars(select(Event)).one()
        assert event.id != event.trace
        assert layouts.TWITTER.decode(event.id).node == layouts.TWITTER.decode(event.trace).node == 5
        assert len(set(session.scalars(select(Note.id)))) == 2


def test_every_row_of_a_core_insert_gets_an_id_of_its_own(engine: Engine) -> None:
    with engine.begin() as connection:
        one = connection.execute(insert(Post)).inserted_primary_key
        assert one is not None and layouts.TWITTER.decode(one[0]).node == mint.generator.node
        connection.execute(insert(Post), [{"reply_to": one[0]} for _ in range(1000)])
        connection.execute(insert(Post).values([{"reply_to": one[0]} for _ in range(100)]))
        count = connection.scalar(select(func.count(Post.id.distinct())))
    assert count == 1101


def test_an_id_of_the_callers_own_is_kept(engine: Engine) -> None:
    with Session(engine) as session:
        session.add(Author(id=1))
        session.add(Post(id=2**63 - 1, author_id=1, reply_to=0))
        session.commit()
        post = session.scalars(select(Post)).one()
        assert (post.id, post.author_id, post.reply_to) == (2**63 - 1, 1, 0)


def test_the_ids_of_a_time_are_between_the_ends_of_its_range(engine: Engine) -> None:
    midnight = datetime(2026, 1, 1, tzinfo=UTC)
    times = [midnight + timedelta(milliseconds=ms) for ms in (-1, 0, 1, 86_399_999, 86_400_000)]
    ids = [layouts.TWITTER.encode(timestamp=time, node=1023, sequence=4095) for time in times]
    range = layouts.TWITTER.id_range(midnight, midnight + timedelta(days=1, milliseconds=-1))
    with engine.begin() as connection:
        connection.execute(insert(Post), [{"id": id} for id in ids])
        found = list(connection.scalars(select(Post.id).where(Post.id.between(*range)).order_by(Post.id)))
    assert found == ids[1:4]


def test_ids_are_compared_and_counted_with(engine: Engine) -> None:
    top = 2**62 + 1
    with engine.begin() as connection:
        connection.execute(insert(Post), [{"id": id} for id in (1, 2, top)])
        assert connection.scalar(select(func.max(Post.id))) == top
        assert list(connection.scalars(select(Post.id).where(Post.id.in_([2, top])).order_by(Post.id))) == [2, top]
        assert list(connection.scalars(select(Post.id).where(Post.id > 2))) == [top]
        assert connection.scalar(select(Post.id % 10).where(Post.id == np.uint64(top))) == top % 10


def test_literals_are_checked_and_written_as_numbers(engine: Engine) -> None:
    statement = select(Post.id).where(Post.id == literal(2**53 + 1, SnowflakeID))
    sql = str(statement.compile(engine, compile_kwargs={"literal_binds": True}))
    assert sql.endswith("= 9007199254740993")
    with pytest.raises(CompileError) as caught:
        select(literal(2**63, SnowflakeID)).compile(engine, compile_kwargs={"literal_binds": True})
    assert isinstance(caught.value.__cause__, InvalidIdError)


@pytest.mark.parametrize("bad", [-1, 2**63, 2**64 - 1, 2**100])
def test_a_number_out_of_range_is_refused_before_it_is_sent(engine: Engine, bad: int) -> None:
    for statement in (insert(Post).values(id=bad), select(Post).where(Post.id == bad)):
        with engine.connect() as connection, pytest.raises(StatementError) as caught:
            connection.execute(statement)
        assert isinstance(caught.value.orig, InvalidIdError)
        assert ("2^63-1" in str(caught.value)) == (bad > 0)


@pytest.mark.parametrize("bad", [True, "1", 1.0, b"1", datetime(2026, 1, 1)])
def test_another_type_is_refused_before_it_is_sent(engine: Engine, bad: object) -> None:
    for statement in (insert(Post).values(id=bad), select(Post).where(Post.id == literal(bad, SnowflakeID))):
        with engine.connect() as connection, pytest.raises(StatementError) as caught:
            connection.execute(statement)
        assert isinstance(caught.value.orig, TypeError)
        assert f"an ID is an int, not {type(bad).__name__}" in str(caught.value)


def test_a_row_without_an_id_is_refused(engine: Engine) -> None:
    with Session(engine) as session, pytest.warns(SAWarning, match="no Python-side or server-side default"):
        session.add(Unminted(words=1))
        # SQLite itself would number an INTEGER key; the session does not take that for the object's.
        with pytest.raises((IntegrityError, OperationalError, FlushError)):
            session.flush()


@pytest.mark.parametrize(
    ("dialect", "column"),
    [(postgresql, "id BIGINT NOT NULL"), (mysql, "id BIGINT NOT NULL"), (sqlite, "id INTEGER NOT NULL")],
)
def test_a_key_without_a_default_is_no_serial(dialect: Any, column: str) -> None:
    for table in (posts, unminted, unminted.to_metadata(MetaData())):
        lines = created(table, dialect).splitlines()
        assert f"\t{column}, " in lines


def test_autoincrement_is_for_who_asks_for_it() -> None:
    table = Table("t", MetaData(), Column("id", SnowflakeID, primary_key=True, autoincrement=True))
    assert "BIGSERIAL" in created(table, postgresql)


def test_a_foreign_key_has_the_type_of_what_it_refers_to() -> None:
    assert isinstance(posts.c.author_id.type, SnowflakeID)
    assert "author_id BIGINT" in created(posts, postgresql)


def test_the_type_is_a_good_key_of_caches() -> None:
    statements = [select(Post).where(Post.id == id) for id in (1, 2)]
    keys = [statement._generate_cache_key() for statement in statements]
    assert keys[0] is not None and keys[1] is not None
    assert keys[0].key == keys[1].key


def test_alembic_writes_a_migration_that_runs_and_then_finds_no_difference(engine: Engine) -> None:
    Base.metadata.drop_all(engine)
    with engine.begin() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "target_metadata": Base.metadata})
        upgrade = produce_migrations(context, Base.metadata).upgrade_ops
        assert upgrade is not None
        code = render_python_code(upgrade)
        assert "sa.Column('id', snowmint.sqlalchemy.SnowflakeID(), " in code
        program = "import sqlalchemy as sa\nimport snowmint.sqlalchemy\ndef upgrade():\n    " + code
        with Operations.context(context) as operations:
            names: dict[str, Any] = {"op": operations}
            exec(program, names)
            names["upgrade"]()
        assert set(TABLES) <= set(inspect(connection).get_table_names())
        differences = compare_metadata(context, Base.metadata)
        assert differences == []


def test_rows_of_many_threads_repeat_nothing(engine: Engine) -> None:
    def add(_: int) -> list[int]:
        with engine.begin() as connection:
            connection.execute(insert(Post), [{"reply_to": None} for _ in range(50)])
        return [mint() for _ in range(50)]

    with ThreadPoolExecutor(8) as pool:
        apart = [id for ids in pool.map(add, range(16)) for id in ids]
    with engine.connect() as connection:
        stored = list(connection.scalars(select(Post.id)))
    assert len(stored) == 800
    assert len({*stored, *apart}) == 1600


def test_an_async_engine_mints_as_well(postgres: Shared) -> None:
    async def use() -> list[int]:
        engine = create_async_engine(postgres.url)
        async with engine.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)
        async with AsyncSession(engine) as session:
            session.add_all([Post(), Post()])
            await session.commit()
            ids = list(await session.scalars(select(Post.id)))
        async with engine.begin() as connection:
            await connection.run_sync(Base.metadata.drop_all)
        await engine.dispose()
        return ids

    assert len(set(asyncio.run(use()))) == 2


def test_importing_models_takes_no_lease_and_the_first_row_does(tmp_path: Path) -> None:
    program = """
        import os, sys
        from pathlib import Path
        from sqlalchemy import Column, MetaData, Table, create_engine, insert
        from snowmint.sqlalchemy import SnowflakeDefault, SnowflakeID
        store = Path(sys.argv[1])
        default = SnowflakeDefault(store=f"file:{store}", namespace="lazy")
        table = Table("t", MetaData(), Column("id", SnowflakeID, primary_key=True, default=default))
        engine = create_engine("sqlite://")
        table.metadata.create_all(engine)
        assert list(store.iterdir()) == []
        with engine.begin() as connection:
            connection.execute(insert(table))
        assert list(store.iterdir()) != []
        assert default.generator.status().namespace == "lazy"
    """
    processes.run(program, str(tmp_path))


@pytest.mark.parametrize("used", ["used before", "unused before"])
def test_forked_workers_of_a_preloaded_application_repeat_nothing(used: str, tmp_path: Path) -> None:
    program = """
        import os, sys
        from sqlalchemy import Column, MetaData, Table, create_engine, insert, select
        from snowmint import layouts
        from snowmint.sqlalchemy import SnowflakeDefault, SnowflakeID
        directory, used = sys.argv[1:]
        default = SnowflakeDefault(store=f"file:{directory}")
        table = Table("t", MetaData(), Column("id", SnowflakeID, default=default))
        def add(worker):
            engine = create_engine(f"sqlite:///{directory}/{worker}.db")
            table.metadata.create_all(engine)
            with engine.begin() as connection:
                connection.execute(insert(table), [{} for _ in range(500)])
                return list(connection.scalars(select(table.c.id)))
        ids = add("parent") if used == "used before" else []
        children = []
        for worker in range(4):
            child = os.fork()
            if child == 0:
                add(worker)
                os._exit(0)
            children.append(child)
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
        for worker in range(4):
            with create_engine(f"sqlite:///{directory}/{worker}.db").begin() as connection:
                ids += connection.scalars(select(table.c.id))
        assert len(set(ids)) == len(ids), (len(set(ids)), len(ids))
        print(len(ids))
    """
    count = 2500 if used == "used before" else 2000
    assert processes.run(program, str(tmp_path), used) == f"{count}\n"


def test_what_minting_raises_is_the_cause_of_the_statements_error(engine: Engine) -> None:
    layout = "time:41,node:4;epoch=2025-01-01T00:00:00Z"
    stuck = SnowflakeDefault(layout=layout, node=1, clock=lambda: 1767225600000, max_wait_ms=0)
    table = Table("author", MetaData(), Column("id", SnowflakeID, primary_key=True, default=stuck))
    with engine.begin() as connection:
        connection.execute(insert(table))
        with pytest.raises(StatementError) as caught:
            connection.execute(insert(table))
    assert isinstance(caught.value.orig, ExhaustedError)


def test_a_default_refuses_one_id_for_all_rows_of_a_select(engine: Engine) -> None:
    copies = Table(
        "copies", MetaData(), Column("author_id", BigInteger, primary_key=True), Column("id", SnowflakeID, default=mint)
    )
    with engine.begin() as connection:
        copies.drop(connection, checkfirst=True)
        copies.create(connection)
        connection.execute(insert(Author), [{} for _ in range(5)])
    with engine.begin() as connection:
        with pytest.raises(StatementError, match="INSERT INTO copies .* SELECT") as caught:
            connection.execute(insert(copies).from_select(["author_id"], select(Author.id)))
        assert isinstance(caught.value.orig, InvalidRequestError)
    with engine.begin() as connection:
        assert connection.scalars(select(copies.c.id)).all() == []
        rows = [{"author_id": id} for id in connection.scalars(select(Author.id))]
        connection.execute(insert(copies), rows)
        connection.execute(insert(copies).values([{"author_id": -row["author_id"]} for row in rows]))
        # One row, and a column that the SELECT fills.
        connection.execute(insert(copies).values(author_id=select(func.max(Author.id) + 1).scalar_subquery()))
        connection.execute(insert(copies).from_select(["author_id", "id"], select(Author.id + 1000, Author.id)))
        ids = connection.scalars(select(copies.c.id)).all()
    assert len(set(ids)) == len(ids) == 16


def test_a_default_serves_without_sqlalchemy() -> None:
    class Draft(BaseModel):
        id: int = Field(default_factory=SnowflakeDefault(layout="twitter"))

    assert Draft().id < Draft().id < SnowflakeDefault(layout="twitter")()


def test_a_default_of_bad_options_is_refused() -> None:
    with pytest.raises(TypeError, match="'nod'"):
        SnowflakeDefault(nod=5)  # type: ignore[call-arg]
    with pytest.raises(InvalidLayoutError):
        SnowflakeDefault(layout="nothing")()


def test_a_default_checks_its_layout_and_node_when_it_is_made() -> None:
    with pytest.raises(InvalidLayoutError):
        SnowflakeDefault(layout="twiter")
    with pytest.raises(InvalidNodeError):
        SnowflakeDefault(layout="twitter", node=1024)


def test_a_default_whose_lease_was_lost_makes_a_new_generator() -> None:
    store = MemoryStore()
    default = SnowflakeDefault(store=store, namespace="lost", window_ms=1000, max_wait_ms=60_000)
    first, lost = default(), default.generator
    lose(store, "lost")
    wait_until(lambda: lost.status().lost is not None)
    second, new = default(), default.generator
    assert new is not lost and first != second
    assert lost.node != new.node
    new.close()


def test_a_default_whose_generator_was_closed_stays_closed() -> None:
    default = SnowflakeDefault(store=MemoryStore(), namespace="closed")
    default.generator.close()
    with pytest.raises(WindowClosedError):
        default()


def test_a_closed_default_gives_its_node_back_and_leases_at_the_next_row() -> None:
    default = SnowflakeDefault(store=MemoryStore(), namespace="closed", node=3)
    default.close()
    first = default()
    closed = default.generator
    default.close()
    with pytest.raises(WindowClosedError):
        closed.next_id()
    assert default() > first
    default.close()


def test_a_default_is_copied_and_pickled_without_its_generator() -> None:
    default = SnowflakeDefault(layout=layouts.TWITTER, node=7)
    ids = [default()]
    assert default.generator is default.generator
    for other in (copy.copy(default), copy.deepcopy(default), pickle.loads(pickle.dumps(default))):
        assert (other.generator.node, other.generator.layout) == (7, layouts.TWITTER)
        assert other.generator is not default.generator
        ids += [other(), default()]
    assert len(set(ids)) == len(ids) == 7
