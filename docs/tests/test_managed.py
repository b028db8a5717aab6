"""The rights that the guide to managed databases grants are enough, and an error names those that are missing."""

from typing import Any

import pytest
import redis
from servers import Server
from snowmint import InvalidStoreError, Snowflake
from snowmint.stores import RedisStore, SqlStore
from sqlalchemy import create_engine, make_url, text
from test_blocks import blocks


def statements(name: str) -> list[str]:
    """Returns the statements of a block, without their comments."""
    [found] = [code for info, code in blocks("docs/managed.md") if info == name]
    return [line.split(" -- ")[0].rstrip("; ") for line in found.splitlines()]


def run(url: str, *commands: str) -> None:
    """Runs statements as the administrator."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for command in commands:
            connection.execute(text(command))
    engine.dispose()


def as_user(server: Server) -> SqlStore:
    """Returns a store on the server for the user of the guide."""
    return SqlStore(create_engine(make_url(server.url).set(username="ids", password="...")))


def mint_and_count(store: SqlStore | RedisStore) -> None:
    """Takes an ID and a number, each of which writes."""
    with Snowflake(store=store, namespace="orders") as generator:
        generator.next_id()
    assert store.add("orders", 5, 1) > 5


def test_a_role_of_postgresql_that_owns_the_schema_has_enough_rights() -> None:
    with Server("postgres") as server:
        run(server.url, *statements("sql postgres rights"))
        mint_and_count(as_user(server))


def test_a_role_of_postgresql_has_enough_rights_on_the_tables_of_another() -> None:
    with Server("postgres") as server:
        administrator = SqlStore(create_engine(server.url))
        administrator.add("orders", 1, 1)
        administrator.segments.create("orders", 1, 10, "")
        run(server.url, "CREATE ROLE ids LOGIN PASSWORD '...'", "CREATE SEQUENCE invoices_id_seq")
        with pytest.raises(InvalidStoreError, match="grant this role USAGE on the schema"):
            as_user(server).add("invoices", 5, 1)
        run(server.url, *statements("sql postgres tables"))
        store = as_user(server)
        assert store.add("invoices", 5, 1) == 6
        with pytest.raises(InvalidStoreError, match="for segments SELECT, INSERT and UPDATE on leaf_alloc"):
            store.segments.fetch("orders", 10)
        run(server.url, *statements("sql postgres numbers"))
        assert store.segments.fetch("orders", 10) == 11


def test_a_role_of_postgresql_that_may_not_make_tables_hears_what_it_needs() -> None:
    with Server("postgres") as server:
        run(server.url, "CREATE ROLE ids LOGIN PASSWORD '...'")
        with pytest.raises(InvalidStoreError, match="permission denied for database postgres: grant this role USAGE"):
            as_user(server).add("orders", 5, 1)


def test_a_user_of_mariadb_has_enough_rights() -> None:
    with Server("mariadb") as server:
        # The server of the test has this database, without a table.
        run(server.url, "DROP DATABASE ids")
        without = make_url(server.url)._replace(database=None).render_as_string(hide_password=False)
        run(without, *statements("sql mariadb rights"))
        mint_and_count(as_user(server))
        run(server.url, *statements("sql mariadb later"))
        mint_and_count(as_user(server))
        run(server.url, "REVOKE INSERT ON ids.* FROM ids@'%'")
        with pytest.raises(InvalidStoreError, match="grant this user SELECT, INSERT and UPDATE"):
            as_user(server).add("invoices", 5, 1)


def test_a_user_of_redis_has_enough_rights() -> None:
    with Server("redis") as server:
        administrator: Any = redis.Redis.from_url(server.url)
        for line in statements("text redis rights"):
            administrator.execute_command(*line.split())
        user = redis.Redis(port=server.port, username="ids", password="PASSWORD")
        mint_and_count(RedisStore(user))
        administrator.execute_command("ACL", "SETUSER", "ids", "-eval")
        with pytest.raises(InvalidStoreError, match="allow this user the keys of the store, and EVAL"):
            RedisStore(user).add("orders", 5, 1)
