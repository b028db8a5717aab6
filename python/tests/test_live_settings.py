"""Settings that change under a live fleet: settings by which the server itself loses writes end renewals; settings that
matter in a failover are reported."""

from collections.abc import Callable
from functools import partial

import pytest
import redis
import sqlalchemy

import servers
from snowmint import Snowflake, UnsafeStoreError, WindowClosedError
from snowmint.stores import RedisStore, SqlStore, Store, connect

ONE_NODE = "time:41,sequence:12;epoch=2025-01-01T00:00:00Z"


def store_at(url: str, *, allow_standby: bool = False) -> Store:
    if url.startswith("redis"):
        return RedisStore(redis.Redis.from_url(url, socket_timeout=5), allow_standby=allow_standby)
    return SqlStore(sqlalchemy.create_engine(url), allow_standby=allow_standby)


def risk_of(generator: Snowflake) -> str | None:
    risk: str | None = generator.status().standby_risk
    return risk


def end_of(generator: Snowflake) -> int:
    assert generator.window is not None
    return generator.window[1]


def reaches(generator: Snowflake, end_ms: int) -> bool:
    return end_of(generator) >= end_ms


def says(url: str, *statements: str) -> None:
    with sqlalchemy.create_engine(url, isolation_level="AUTOCOMMIT").connect() as connection:
        for statement in statements:
            connection.execute(sqlalchemy.text(statement))


def stop_postgres_syncing(url: str) -> None:
    says(url, "ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()")


def stop_mariadb_flushing(url: str) -> None:
    says(url, "SET GLOBAL innodb_flush_log_at_trx_commit = 2")


def stop_redis_logging(url: str) -> None:
    redis.Redis.from_url(url).config_set("appendonly", "no")


@pytest.mark.parametrize(
    ("kind", "spoil", "setting"),
    [
        ("postgres", stop_postgres_syncing, "fsync=off"),
        ("mariadb", stop_mariadb_flushing, "innodb_flush_log_at_trx_commit=2"),
        ("redis", stop_redis_logging, "appendonly=no"),
    ],
)
def test_renewals_end_with_their_reason_when_a_server_begins_to_lose_writes(
    kind: servers.Engine,
    spoil: Callable[[str], None],
    setting: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with servers.Server(kind) as server:
        lost: list[WindowClosedError] = []
        generator = Snowflake(ONE_NODE, store=store_at(server.url), namespace="a", window_ms=2000, on_lost=lost.append)
        generator.next_id()
        spoil(server.url)

        def reason() -> str:
            # On a busy machine the lease may be over before the first refusal.
            status = generator.status()
            return status.renewal_error or status.lost or ""

        servers.until("the reason", lambda: setting in reason())
        end_ms = generator.window and generator.window[1]
        servers.until("the end", lambda: lost)
        assert setting in str(lost[0])
        assert "the lease of node 0 was lost" in str(lost[0])
        assert setting in str(generator.status().lost)
        assert generator.window is None or generator.window[1] == end_ms
        with pytest.raises(WindowClosedError, match=setting):
            generator.next_id()
        with pytest.raises(UnsafeStoreError, match=setting):
            Snowflake(ONE_NODE, store=store_at(server.url), namespace="a")
        told = [each.message for each in caplog.records if each.name == "snowmint" and setting in each.message]
        assert told[0].startswith("nothing new is granted: ")


def standby_of(primary: servers.Server, kind: servers.Engine) -> servers.Server:
    """Starts a standby or a replica, and waits until the primary knows it."""
    if kind == "postgres":
        return servers.Server(kind, standby_of=primary.port)
    replica = servers.Server(kind, ["--replicaof", "127.0.0.1", str(primary.port)])
    client = redis.Redis.from_url(primary.url)
    servers.until("the replica", lambda: client.info("replication")["connected_slaves"])
    return replica


@pytest.mark.parametrize(
    ("kind", "setting", "price"),
    [
        (
            "postgres",
            "asynchronous_standby=walreceiver",
            "every commit of this server wait for the standby",
        ),
        ("redis", "connected_slaves=1", "no other server replaces while it is down"),
    ],
)
def test_a_fleet_goes_on_when_a_standby_is_attached_and_new_claims_are_refused(
    kind: servers.Engine,
    setting: str,
    price: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with servers.Server(kind) as server:
        store = store_at(server.url)
        lost: list[WindowClosedError] = []
        fleet = [
            Snowflake(store=store, namespace=f"fleet{at}", window_ms=2000, max_wait_ms=60_000, on_lost=lost.append)
            for at in range(3)
        ]
        assert [risk_of(generator) for generator in fleet] == [None] * 3
        with standby_of(server, kind):
            for generator in fleet:
                servers.until("the report", partial(risk_of, generator))
                risk = risk_of(generator) or ""
                assert setting in risk
                assert price in risk
                assert "allow_standby=true if `snowmint fence` follows every failover" in risk
            for generator, end_ms in [(generator, end_of(generator)) for generator in fleet]:
                servers.until("renewals", partial(reaches, generator, end_ms + 4000))
                assert generator.next_id() > 0
                assert generator.status().renewal_error is None
            assert not lost
            assert [each.message for each in caplog.records if setting in each.message] == [risk], "told once"
            # By the store that there is, and by a new one.
            for refusing in (store, store_at(server.url)):
                with pytest.raises(UnsafeStoreError, match=setting):
                    Snowflake(store=refusing, namespace="newcomers")
            assert store.read("leases/newcomers/0") is None
            with Snowflake(store=store_at(server.url, allow_standby=True), namespace="newcomers") as accepted:
                assert setting in str(accepted.status().standby_risk)
            Snowflake(store=connect(f"{server.url}?allow_standby=true"), namespace="others").close()
        for generator in fleet:
            generator.close()
