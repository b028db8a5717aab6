"""Settings of a server: each store asks for them, and refuses those by which confirmed writes can be lost.

`tests/vectors/server_settings.json` holds the answers of real servers, which a test in Rust records.
"""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import redis
import sqlalchemy

import servers
from losses import wait_until
from snowmint import Snowflake, UnsafeStoreError
from snowmint._snowmint import POSTGRES_SCHEMA
from snowmint.stores import RedisStore, SqlStore, Store, _sql
from snowmint.stores._findings import Findings

FILE = Path(__file__).parents[2] / "tests" / "vectors" / "server_settings.json"
CASES: list[dict[str, Any]] = json.loads(FILE.read_text())["cases"]


def store_on(url: str, **options: Any) -> Store:
    if url.startswith("redis"):
        return RedisStore(redis.Redis.from_url(url, socket_timeout=5), **options)
    return SqlStore(sqlalchemy.create_engine(url), **options)


@pytest.mark.parametrize("case", CASES, ids=[f"{case['engine']}: {case['name']}" for case in CASES])
def test_what_servers_told_is_judged_as_in_rust(case: dict[str, Any]) -> None:
    findings = Findings("ids", case["engine"], allow_standby=True)
    if case["refusal"] is None:
        findings.judge(case["settings"])
    else:
        with pytest.raises(UnsafeStoreError, match=re.escape(case["refusal"])):
            findings.judge(case["settings"])
    assert (findings.risk is None) == (case["standby_risk"] is None)
    if case["standby_risk"] is not None:
        assert case["standby_risk"] in (findings.risk or "")
        with pytest.raises(UnsafeStoreError, match=re.escape(case["standby_risk"])):
            Findings("ids", case["engine"], allow_standby=False).judge(case["settings"])


@pytest.mark.parametrize(("engine", "kind"), [("postgres", "postgres"), ("mysql", "mariadb"), ("redis", "redis")])
def test_a_store_is_told_what_the_recorded_server_told(
    engine: str, kind: servers.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: dict[str, str] = {}
    monkeypatch.setattr(Findings, "judge", lambda _, found: told.update(found))
    assert store_on(servers.shared(kind).url).write("leases/told/0", b"", 7) is None
    [new] = [case for case in CASES if (case["engine"], case["name"]) == (engine, "a new server")]
    assert {name: told[name] for name in new["settings"]} == new["settings"]


@pytest.mark.parametrize(
    ("kind", "options", "found", "cure"),
    [
        ("postgres", ["-c", "fsync=off"], "fsync=off", "set fsync=on"),
        ("mariadb", ["--innodb-flush-log-at-trx-commit=2"], "innodb_flush_log_at_trx_commit=2", "SET GLOBAL"),
        ("redis", ["--appendfsync", "everysec"], "appendfsync=everysec", "set appendfsync always"),
    ],
)
def test_settings_that_can_lose_confirmed_writes_are_refused(
    kind: servers.Engine, options: list[str], found: str, cure: str
) -> None:
    with servers.Server(kind, options) as server:
        with pytest.raises(UnsafeStoreError, match=re.escape(found)) as caught:
            Snowflake(store=store_on(server.url))
        assert cure in str(caught.value)
        assert "allow_unsafe" in str(caught.value)
        with Snowflake(store=store_on(server.url, allow_unsafe=True)) as generator:
            assert generator.next_id() > 0
        Snowflake(store=f"{server.url}?allow_unsafe=true").close()


@pytest.mark.parametrize(
    ("commands", "told"),
    [
        # A backup runs, so the first file is not begun.
        (["BGSAVE", "CONFIG SET appendonly yes"], "aof_rewrite_scheduled=1"),
        (["CONFIG SET appendonly yes"], "aof_rewrite_in_progress=1"),
    ],
)
def test_a_log_that_is_turned_on_again_is_not_complete_at_first(commands: list[str], told: str) -> None:
    with servers.Server("redis") as server:
        client = redis.Redis.from_url(server.url)
        # The size of this file stays when the log is turned off.
        client.set("key", "value")
        client.bgrewriteaof()
        wait_until(lambda: not client.info("persistence")["aof_rewrite_in_progress"])
        for command in ("CONFIG SET rdb-key-save-delay 10000000", "CONFIG SET appendonly no", *commands):
            client.execute_command(*command.split())  # type: ignore[no-untyped-call]
        with pytest.raises(UnsafeStoreError, match=f"{told}, its append-only file is not complete"):
            Snowflake(store=store_on(server.url))


def test_tables_that_another_session_makes_are_waited_for() -> None:
    engine = sqlalchemy.create_engine(servers.shared("postgres").new_database())
    waiting = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'transactionid'"
    )
    with ThreadPoolExecutor(1) as pool, engine.connect() as other, engine.connect() as viewer:
        viewer = viewer.execution_options(isolation_level="AUTOCOMMIT")
        other.execute(sqlalchemy.text(_sql.definitions(POSTGRES_SCHEMA)[0]))
        # It finds no table, and its own statement waits for ours, and fails then.
        reading = pool.submit(SqlStore(engine).read, "leases/none/0")
        wait_until(lambda: viewer.scalar(sqlalchemy.text(waiting)))
        other.commit()
        assert reading.result(60) is None
