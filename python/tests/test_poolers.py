"""PostgreSQL behind PgBouncer and Pgpool-II, in their modes, on a server whose commits do not wait."""

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import sqlalchemy

import processes
from quick import nightly
from servers import Server
from snowmint import StoreUnavailableError
from snowmint.stores import SqlStore, Store, connect

KILLS = int(os.environ.get("SNOWMINT_KILLS", "1"))
NUMBERS = int(os.environ.get("SNOWMINT_NUMBERS", "0"))
# Eight processes that mint without rest leave no processor to the tests beside them.
proof = pytest.mark.skipif(not NUMBERS, reason="one of the proofs, which say by SNOWMINT_NUMBERS how many numbers")
PROCESSES = 8
OFF = ["-c", "synchronous_commit=off", "-c", "wal_writer_delay=10000"]

# The modes of PgBouncer, and Pgpool-II with one server and with a standby for reads.
MODES = ["session", "transaction", "statement", "pgpool", pytest.param("balanced", marks=nightly)]
modes = pytest.mark.parametrize("mode", MODES)


@contextmanager
def pooled(mode: str) -> Iterator[tuple[Server, Server]]:
    """A server and its pooler. Except in session mode clients share a few sessions."""
    with ExitStack() as stack:
        server = stack.enter_context(Server("postgres", OFF))
        if mode in ("pgpool", "balanced"):
            lines = ["backend_clustering_mode='raw'", f"num_init_children={10 + 3 * PROCESSES}"]
            if mode == "balanced":
                standby = stack.enter_context(Server("postgres", standby_of=server.port))
                lines = [
                    "backend_clustering_mode='streaming_replication'",
                    "load_balance_mode=on",
                    "backend_weight0=0",
                    "backend_hostname1='127.0.0.1'",
                    f"backend_port1={standby.port}",
                    "backend_weight1=1",
                    "backend_flag1='DISALLOW_TO_FAILOVER'",
                    lines[1],
                ]
            yield server, stack.enter_context(Server("pgpool", lines, pooler_of=server.port))
            return
        lines = [f"pool_mode={mode}", f"default_pool_size={80 if mode == 'session' else 5}"]
        yield server, stack.enter_context(Server("pgbouncer", lines, pooler_of=server.port))


def add_soon(store: Store) -> int:
    """Adds 1 to a counter, once the store answers."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return store.add("c", 1, 0)
        except StoreUnavailableError:
            assert time.monotonic() < deadline
            time.sleep(0.02)


def ours(url: str) -> Store:
    """The store of a URL. Nothing is promoted here."""
    store = connect(f"{url}?allow_standby=true")
    assert isinstance(store, SqlStore)
    return store


def engine_of(url: str) -> sqlalchemy.Engine:
    """An engine of an application, as statement mode needs it."""
    return sqlalchemy.create_engine(url, isolation_level="AUTOCOMMIT", use_native_hstore=False, pool_size=8)


@modes
def test_confirmed_numbers_outlast_a_kill(mode: str) -> None:
    with pooled(mode) as (server, pooler):
        for store in [ours(pooler.url), SqlStore(engine_of(pooler.url), allow_standby=True)]:
            for _ in range(2):
                last = add_soon(store)
                server.kill()
                server.restart()
                assert add_soon(store) > last


@modes
def test_threads_share_sessions(mode: str) -> None:
    with pooled(mode) as (_, pooler):
        # Also with the defaults of an application, if PgBouncer allows its transactions.
        engines = [engine_of(pooler.url)]
        if mode != "statement":
            engines.append(sqlalchemy.create_engine(pooler.url, pool_size=8))
        for number, engine in enumerate(engines):
            store = SqlStore(engine, allow_standby=True)
            with ThreadPoolExecutor(8) as pool:
                sums = list(pool.map(lambda _, store=store, number=number: store.add(f"t{number}", 1, 0), range(200)))
            assert sorted(sums) == list(range(1, 201))
            key = f"leases/t/{number}"
            version = store.write(key, b"'\\\0\xff", 0)
            # psycopg prepares a statement that it has seen five times.
            for _ in range(8):
                assert store.read(key) == (b"'\\\0\xff", version)
            assert store.write(key, b"", 0) is None
            assert store.write(key, b"", 2) is None
            assert [each[0] for each in store.list("leases/t/")] == [str(each) for each in range(number + 1)]
            with engine.connect() as connection:
                driver = connection.connection.dbapi_connection
                assert driver is not None
                assert driver.prepare_threshold == 5, "the application's own statements"
            engine.dispose()


@proof
@modes
def test_kills_of_the_server_and_of_its_pooler_repeat_nothing(mode: str, tmp_path: Path) -> None:
    with pooled(mode) as (server, pooler):
        program = str(Path(__file__).parent / "pooled.py")
        ledgers = [tmp_path / str(number) for number in range(PROCESSES)]
        workers = [
            subprocess.Popen(
                [sys.executable, program, f"{pooler.url}?allow_standby=true", str(ledger), str(NUMBERS)],
                env=processes.environment(),
            )
            for ledger in ledgers
        ]
        for _ in range(KILLS):
            for victim in (server, pooler):
                time.sleep(random.uniform(0.1, 0.7))
                victim.kill()
                time.sleep(random.uniform(0, 0.3))
                victim.restart()
        assert [worker.wait(600) for worker in workers] == [0] * PROCESSES
        lines = [line.split() for ledger in ledgers for line in ledger.read_text().splitlines()]
        ids = Counter(each for line in lines for each in line[:-1])
        assert len(ids) == ids.total() == PROCESSES * NUMBERS
        assert len({line[-1] for line in lines}) == len(lines)
