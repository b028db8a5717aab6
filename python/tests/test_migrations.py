"""Tools that compare a database with models leave the tables of leases and numbers alone."""

from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, inspect, text

import servers
from snowmint import InvalidStoreError, Segments, Snowflake
from snowmint.stores import SqlStore

# The relevant part of the file that `alembic init` writes, and the line of the documentation.
ENV = """
import os
from alembic import context
from sqlalchemy import BigInteger, Column, MetaData, Table, create_engine
import snowmint.sqlalchemy

models = MetaData()
Table("post", models, Column("id", BigInteger, primary_key=True))

with create_engine(os.environ["URL"]).connect() as connection:
    context.configure(
        connection=connection,
        target_metadata=models,
        OPTIONS
    )
    with context.begin_transaction():
        context.run_migrations()
"""
TEMPLATE = """
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
import sqlalchemy as sa
from alembic import op
def upgrade():
    ${upgrades if upgrades else "pass"}
def downgrade():
    ${downgrades if downgrades else "pass"}
"""


FILTER = "include_object=snowmint.sqlalchemy.include_object,"


def written(directory: Path, url: str, options: str) -> str:
    """Returns the migration that autogenerate writes, after the database has run it."""
    directory.mkdir()
    (directory / "env.py").write_text(ENV.replace("OPTIONS", options))
    (directory / "script.py.mako").write_text(TEMPLATE)
    (directory / "versions").mkdir()
    config = Config()
    config.set_main_option("script_location", str(directory))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("URL", url)
        command.revision(config, "posts", autogenerate=True)
        command.upgrade(config, "head")
    [migration] = (directory / "versions").glob("*.py")
    return migration.read_text()


@pytest.mark.parametrize("kind", ["sqlite", "postgres", "mariadb"])
def test_alembics_autogenerate_keeps_the_tables_of_leases(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if kind == "sqlite":
        url = f"sqlite:///{tmp_path}/ids.db"
    else:
        url = request.getfixturevalue(kind).new_database()
    engine = create_engine(url)
    # Those that other parts of the package make in the same database.
    with engine.begin() as connection:
        for table in ("leaf_alloc", "Tickets64"):
            name = engine.dialect.identifier_preparer.quote(table)
            connection.execute(text(f"CREATE TABLE {name} (id INTEGER NOT NULL PRIMARY KEY)"))
        connection.execute(text("CREATE TABLE leftover (id INTEGER NOT NULL PRIMARY KEY)"))
    generator = Snowflake(store=SqlStore(engine), namespace="orders")
    ours = set(inspect(engine).get_table_names()) - {"leftover"}
    assert {"Tickets64", "leaf_alloc"} <= ours
    assert ("snowmint_records" in ours) == (kind != "postgres")

    migration = written(tmp_path / "filtered", url, FILTER)
    assert "op.create_table('post'" in migration
    assert "op.drop_table('leftover')" in migration
    assert [name for name in sorted(ours) if f"drop_table('{name}')" in migration] == []
    assert ours <= set(inspect(engine).get_table_names())
    with Snowflake(store=SqlStore(create_engine(url)), namespace="orders") as other:
        assert other.node != generator.node
    generator.close()
    engine.dispose()


def test_alembic_without_the_filter_drops_them(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ids.db"
    Snowflake(store=SqlStore(create_engine(url)), namespace="orders").close()
    migration = written(tmp_path / "plain", url, "")
    assert "op.drop_table('snowmint_records')" in migration


@pytest.mark.parametrize("options", ["", f"include_schemas=True, {FILTER}"])
def test_on_postgres_alembic_finds_none_of_our_tables_to_drop(
    postgres: servers.Shared, tmp_path: Path, options: str
) -> None:
    url = postgres.new_database()
    engine = create_engine(url)
    with Snowflake(store=SqlStore(engine), namespace="orders") as generator:
        assert "snowmint" not in written(tmp_path / "migrations", url, options)
        assert sorted(inspect(engine).get_table_names(schema="snowmint")) == ["counters", "records"]
        with Snowflake(store=SqlStore(create_engine(url)), namespace="orders") as other:
            assert other.node != generator.node
    engine.dispose()


def test_the_filter_knows_the_tables_where_their_schema_is_the_default(
    postgres: servers.Shared, tmp_path: Path
) -> None:
    url = postgres.new_database()
    with create_engine(url).begin() as connection:
        connection.execute(text("CREATE ROLE snowmint SUPERUSER LOGIN"))
    as_role = url.replace("postgres@", "snowmint@")
    with Snowflake(store=SqlStore(create_engine(as_role)), namespace="orders"):
        # The first schema of the search path of each role has its name.
        assert "drop_table" not in written(tmp_path / "migrations", as_role, FILTER).partition("def downgrade")[0]


def test_roles_with_other_search_paths_lease_from_the_same_records(postgres: servers.Shared) -> None:
    url = postgres.new_database()
    # Roles are of the whole server.
    role = f"ids_{url.rpartition('/')[2]}"
    setup = [
        f"CREATE ROLE {role} LOGIN",
        f"CREATE SCHEMA ids AUTHORIZATION {role}",
        f"ALTER ROLE {role} SET search_path = ids",
        f"CREATE SCHEMA snowmint AUTHORIZATION {role}",
    ]
    with create_engine(url).begin() as connection:
        for statement in setup:
            connection.execute(text(statement))
    as_role = url.replace("postgres@", f"{role}@")
    with (
        Snowflake(store=SqlStore(create_engine(as_role)), namespace="orders") as generator,
        Snowflake(store=SqlStore(create_engine(url)), namespace="orders") as other,
    ):
        assert generator.node != other.node
        assert Segments(SqlStore(create_engine(as_role)), "orders").next() == 1
        # A table of its own would give 1 again.
        with pytest.raises(InvalidStoreError, match='"leaf_alloc" does not exist.* search_path of this role'):
            Segments(SqlStore(create_engine(url)), "orders").next()


def test_tables_of_an_earlier_version_are_refused_with_the_way_to_move_them(postgres: servers.Shared) -> None:
    engine = create_engine(postgres.new_database())
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE snowmint_records (name text PRIMARY KEY, version bigint, value bytea)"))
    with pytest.raises(InvalidStoreError, match="stop all programs that use them, run CREATE SCHEMA snowmint"):
        Snowflake(store=SqlStore(engine), namespace="orders")
