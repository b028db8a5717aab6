"""Stores far away, and settings that change while a request is on its way."""

import re
from typing import Any

import pytest
import redis
import sqlalchemy

import servers
from distant import Distant
from losses import wait_until
from snowmint import Snowflake, UnsafeStoreError
from snowmint.stores import RedisStore, SqlStore, Store


def store_through(proxy: Distant, url: str) -> Store:
    url = re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{proxy.port}", url)
    if url.startswith("redis"):
        return RedisStore(redis.Redis.from_url(url, socket_timeout=60))
    return SqlStore(sqlalchemy.create_engine(url))


@pytest.mark.parametrize(("kind", "most"), [("redis", 9), ("postgres", 13)])
def test_each_step_of_a_claim_is_one_round_trip(kind: servers.Engine, most: int, namespace: str) -> None:
    server = servers.shared(kind)
    with Distant(server.port, 0.02) as proxy:
        store = store_through(proxy, server.url)
        # It connects, and makes its tables.
        store.clock_ms()
        before = proxy.round_trips
        with Snowflake(store=store, namespace=namespace, max_wait_ms=20_000) as generator:
            took = proxy.round_trips - before
            assert generator.node == 0
        assert took <= most


def test_a_claim_over_a_slow_store_may_take_longer(namespace: str) -> None:
    server = servers.shared("redis")
    with Distant(server.port, 1.4) as proxy:
        store = store_through(proxy, server.url)
        # Nine answers take more than the ten seconds that a silent store is waited for.
        with Snowflake(store=store, namespace=namespace, max_wait_ms=500) as generator:
            assert generator.node == 0


FLIPS: dict[servers.Engine, tuple[bytes, str, list[str]]] = {
    "redis": (b"EVAL", "appendonly=no", ["CONFIG SET appendonly no"]),
    "postgres": (
        b"INSERT INTO snowmint.counters",
        "fsync=off",
        ["ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()"],
    ),
    "mariadb": (
        b"UPDATE snowmint_counters",
        "innodb_flush_log_at_trx_commit=0",
        ["SET GLOBAL innodb_flush_log_at_trx_commit = 0"],
    ),
}


@pytest.mark.parametrize("kind", FLIPS)
def test_a_write_after_which_a_setting_can_lose_it_does_not_count(kind: servers.Engine) -> None:
    marker, told, statements = FLIPS[kind]
    with servers.Server(kind) as server, Distant(server.port) as proxy:
        store = store_through(proxy, server.url)
        assert store.add("numbers", 1, 0) == 1
        proxy.before(marker, lambda: flip(server, statements, told))
        with pytest.raises(UnsafeStoreError, match=told):
            store.add("numbers", 1, 0)


def flip(server: servers.Server, statements: list[str], told: str) -> None:
    if server.url.startswith("redis"):
        redis.Redis.from_url(server.url).execute_command(*statements[0].split())  # type: ignore[no-untyped-call]
        return
    setting, _, value = told.partition("=")
    show = f"SHOW {setting}" if server.url.startswith("postgres") else f"SELECT @@{setting}"
    engine = sqlalchemy.create_engine(server.url, isolation_level="AUTOCOMMIT")

    def run(statement: str) -> Any:
        # Each time on a new connection, which has the settings of now.
        engine.dispose()
        with engine.connect() as connection:
            result = connection.execute(sqlalchemy.text(statement))
            return str(result.scalar()) if result.returns_rows else None

    for statement in statements:
        run(statement)
    wait_until(lambda: run(show) == value)
    engine.dispose()
