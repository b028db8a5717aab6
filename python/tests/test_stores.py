"""One suite for every store: its verbs, and leases over it, against real servers."""

import itertools
import os
import re
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import redis
import sqlalchemy
import sqlalchemy.orm
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import create_async_engine

import dynamo
import prefork
import processes
import servers
from losses import wait_until
from quick import IS_QUICK
from snowmint import (
    ExhaustedError,
    ForkedError,
    InvalidLayoutError,
    InvalidStoreError,
    NodesExhaustedError,
    Snowflake,
    StoreUnavailableError,
    UnsafeStoreError,
    WindowClosedError,
    layouts,
)
from snowmint.stores import DynamoDbStore, EtcdStore, FileStore, MemoryStore, RedisStore, SqlStore, Store, connect

ONE_NODE = "time:41,sequence:12;epoch=2025-01-01T00:00:00Z"


ENGINES: dict[str, servers.Engine] = {
    "postgres": "postgres",
    "mariadb": "mariadb",
    "redis": "redis",
    "redis decoding": "redis",
    "etcd": "etcd",
    "service": "service",
}


@dataclass
class Place:
    """Where a test's store is, in a database that others use too."""

    kind: str
    url: str
    client: Callable[[], Any] = lambda: None

    @property
    def engine(self) -> servers.Engine | None:
        """The kind of its server."""
        return ENGINES.get(self.kind)

    def store(self, **options: Any) -> Store:
        """A store there."""
        client = self.client()
        if self.kind == "memory":
            return MemoryStore()
        if self.kind == "etcd":
            return EtcdStore(self.url, **options)
        if self.kind == "dynamodb":
            return DynamoDbStore(client, dynamo.TABLE, **options)
        return RedisStore(client, **options) if isinstance(client, redis.Redis) else SqlStore(client, **options)


def place_of(kind: str, url: str) -> Place:
    def client() -> Any:
        if kind.startswith("redis"):
            decode = kind == "redis decoding"
            return redis.Redis.from_url(url, socket_timeout=5, decode_responses=decode, protocol=2 if decode else 3)
        if kind == "etcd":
            return None
        if kind == "dynamodb":
            return dynamo.client()
        return sqlalchemy.create_engine(url.replace("sqlite:/", "sqlite:////"))

    return Place(kind, url, client)


def place_for(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """The place that the parameter of a fixture names."""
    kind = str(request.param)
    if kind in ("memory", "sqlite"):
        return place_of(kind, f"sqlite:{tmp_path}/ids.db")
    if kind == "dynamodb":
        return place_of(kind, dynamo.url())
    return place_of(kind, servers.shared(ENGINES[kind]).url)


@pytest.fixture(params=["sqlite", "postgres", "mariadb", "redis", "redis decoding", "etcd", "dynamodb"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A place that processes share."""
    return place_for(request, tmp_path)


# All stores have the same leases and numbers.
@pytest.fixture(
    params=["sqlite", "postgres"] if IS_QUICK else ["sqlite", "postgres", "mariadb", "redis", "etcd", "dynamodb"]
)
def named(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A place that processes share by its URL."""
    return place_for(request, tmp_path)


@pytest.fixture(params=["memory", "sqlite", "postgres", "mariadb", "redis", "redis decoding", "etcd", "dynamodb"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Any place with the four verbs."""
    return place_for(request, tmp_path)


# The verbs


def test_a_record_is_written_only_in_the_place_of_its_version(place: Place, namespace: str) -> None:
    store, key = place.store(), f"leases/{namespace}/5"
    assert store.read(key) is None
    assert store.write(key, b"first", 1) is None
    first = store.write(key, b"first", 0)
    assert first
    assert store.write(key, b"again", 0) is None
    assert store.read(key) == (b"first", first)
    second = store.write(key, b"second", first)
    assert second
    assert store.write(key, b"late", first) is None
    assert store.read(key) == (b"second", second)
    if place.kind != "memory":
        # A version that counts would come back in a restored backup.
        assert second != first + 1


def test_any_bytes_come_back_as_they_are(place: Place, namespace: str) -> None:
    store = place.store()
    values = [b"", bytes(range(256)), b":" * 1024, b"\x00\xff" * 512, b"12:34"]
    for number, value in enumerate(values):
        version = store.write(f"leases/{namespace}/{number}", value, 0)
        assert store.read(f"leases/{namespace}/{number}") == (value, version)


def test_a_list_has_what_is_right_under_its_prefix(place: Place, namespace: str) -> None:
    store = place.store()
    keys = ["a/1", "a/2", "a/2/3", "a", "ab/4", "b/5", "a%/6", "a_/7"]
    first = {key: store.write(f"{namespace}/{key}", key.encode(), 0) or 0 for key in keys}
    second = store.write(f"{namespace}/a/2", b"changed", first["a/2"])
    assert sorted(store.list(f"{namespace}/a/")) == [("1", b"a/1", first["a/1"]), ("2", b"changed", second)]
    assert list(store.list(f"{namespace}/none/")) == []


def test_a_counter_is_exact_up_to_its_end(place: Place, namespace: str) -> None:
    store = place.store()
    assert store.add(f"{namespace}/a", 5, 100) == 105
    assert store.add(f"{namespace}/a", 5, 100) == 110
    assert store.add(f"{namespace}/b", 0, 7) == 7
    assert store.add(f"{namespace}/b", 2**63 - 9, 7) == 2**63 - 2
    assert store.add(f"{namespace}/b", 1, 7) == 2**63 - 1
    for counter, delta, start in [("b", 1, 0), ("c", 1, 2**63 - 1), ("c", 2**63, 0)]:
        with pytest.raises(OverflowError, match="no more numbers"):
            store.add(f"{namespace}/{counter}", delta, start)
    assert store.add(f"{namespace}/b", 0, 0) == 2**63 - 1
    assert store.add(f"{namespace}/c", 3, 0) == 3


def test_of_writers_at_once_one_wins_each_version(place: Place, namespace: str) -> None:
    store, key, won = place.store(), f"{namespace}/race", []

    def race(_: int) -> None:
        for _ in range(10):
            found = store.read(key)
            written = store.write(key, b"mine", found[1] if found else 0)
            if written is not None:
                won.append(written)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(race, range(4)))
    # A version that two writes had replaced would be there twice or lost.
    assert len(set(won)) == len(won)
    found = store.read(key)
    assert found is not None
    assert found[0] == b"mine"
    assert found[1] in won


def test_counts_of_sessions_at_once_are_all_different(place: Place, namespace: str) -> None:
    first = place.store()
    stores = [first, first if place.kind == "memory" else place.store()]
    with ThreadPoolExecutor(4) as pool:
        # Most errors can only happen while a counter is created.
        for counter in range(10):
            adding = [pool.submit(stores[number % 2].add, f"{namespace}/{counter}", 3, 0) for number in range(8)]
            assert sorted(done.result() for done in adding) == list(range(3, 27, 3))


def test_the_clock_of_a_server_is_near_ours(shared: Place) -> None:
    clock_ms = shared.store().clock_ms()
    if shared.kind in ("sqlite", "etcd", "dynamodb"):
        assert clock_ms is None
    else:
        assert clock_ms is not None
        assert abs(clock_ms - time.time() * 1000) < 60_000


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.binary(max_size=9), st.integers(0, 4)), max_size=30))
def test_the_stores_agree_with_a_model(steps: list[tuple[str, bytes, int]]) -> None:
    store = MemoryStore()
    model: dict[str, tuple[bytes, int]] = {}
    for key, value, version in steps:
        matches = model.get(key, (b"", 0))[1] == version
        assert store.write(key, value, version) == (version + 1 if matches else None)
        if matches:
            model[key] = (value, version + 1)
        assert store.read(key) == model.get(key)


# Leases


def test_a_lease_has_a_node_and_a_window_that_moves_on(place: Place, namespace: str) -> None:
    with Snowflake(store=place.store(), namespace=namespace, window_ms=1000, max_wait_ms=60_000) as generator:
        assert generator.node == 0
        assert generator.window is not None
        before = generator.window
        ids = generator.next_ids(5000)
        deadline = time.monotonic() + 60
        while generator.window[1] <= before[1] + 400 and time.monotonic() < deadline:
            time.sleep(0.05)
        start, end = generator.window
        assert start == before[0]
        assert end > before[1] + 400
        ids.append(generator.next_id())
        assert all(a < b for a, b in itertools.pairwise(ids))
        status = generator.status()
        assert (status.namespace, status.lost, status.renewal_failures) == (namespace, None, 0)
        if place.kind not in ("memory", "sqlite", "etcd", "dynamodb"):
            assert status.skew_ms is not None
            assert abs(status.skew_ms) < 60_000
            # Generators of a service read its clock.
            error_ms = 0 if place.kind == "service" else abs(status.skew_ms)
            assert status.disorder_ms == error_ms + 1
        else:
            assert status.disorder_ms is None


def test_a_closed_lease_is_free_at_once_and_goes_on_above_its_last_id(place: Place, namespace: str) -> None:
    store = place.store()
    first = Snowflake(ONE_NODE, store=store, namespace=namespace)
    last = first.next_ids(5000)[-1]
    first.close()
    with pytest.raises(WindowClosedError, match="closed"):
        first.next_id()
    with Snowflake(ONE_NODE, store=store, namespace=namespace) as second:
        assert second.next_id() > last


def test_a_generator_that_is_dropped_gives_its_node_back(place: Place, namespace: str) -> None:
    store = place.store()
    for _ in range(3):
        Snowflake(ONE_NODE, store=store, namespace=namespace).next_id()


def test_generators_of_one_store_object_share_a_lease_and_of_two_do_not(shared: Place, namespace: str) -> None:
    store = shared.store()
    with (
        Snowflake(store=store, namespace=namespace) as first,
        Snowflake(store=store, namespace=namespace) as second,
        Snowflake(store=shared.store(), namespace=namespace) as other,
    ):
        assert first.node == second.node < other.node
        ids = [next(generator) for _ in range(1000) for generator in (first, second)]
        assert all(a < b for a, b in itertools.pairwise(ids))


def test_excluded_nodes_are_not_leased_and_a_namespace_keeps_its_layout(place: Place, namespace: str) -> None:
    store = place.store()
    exclude: list[Any] = [0, {"datacenter": 0, "worker": 1}, "2"]
    with Snowflake("twitter", store=store, namespace=namespace, exclude=exclude) as generator:
        # Nor is a node that another test of this process vouches for.
        assert generator.node > 2
    with pytest.raises(InvalidLayoutError, match="is of layout"):
        Snowflake("snowmint", store=store, namespace=namespace)


def test_a_part_of_a_node_is_leased_with_any_values_of_its_other_fields(place: Place, namespace: str) -> None:
    layout = "time:41,region:2,worker:1,sequence:12;epoch=2025-01-01T00:00:00Z"
    store = place.store()
    held = [Snowflake(layout, {"region": 2}, store=store, namespace=namespace)]
    # Another `exclude` is another lease.
    held.append(Snowflake(layout, "region=2", store=store, namespace=namespace, exclude=[0]))
    assert [generator.node for generator in held] == [4, 5]
    with pytest.raises(NodesExhaustedError, match="all 2 nodes"):
        Snowflake(layout, {"region": 2}, store=store, namespace=namespace, exclude=[1], max_wait_ms=10)
    held.append(Snowflake(layout, {"worker": 1}, store=store, namespace=namespace))
    assert held[2].node == 1
    for generator in held:
        generator.close()


def test_every_node_of_a_small_layout_can_be_held_and_no_more(place: Place, namespace: str) -> None:
    store = place.store()
    layout = "time:41,node:2,sequence:12;epoch=2025-01-01T00:00:00Z"
    # Another `exclude` is another lease.
    held = [Snowflake(layout, store=store, namespace=namespace, exclude=range(number)) for number in range(4)]
    assert [generator.node for generator in held] == [0, 1, 2, 3]
    with pytest.raises(NodesExhaustedError, match="all 4 nodes"):
        Snowflake(layout, store=store, namespace=namespace, exclude=[0, 0], max_wait_ms=10)
    for generator in held:
        generator.close()


def test_a_lease_works_the_same_within_an_event_loop(place: Place, namespace: str) -> None:
    import asyncio

    async def mint() -> list[int]:
        with Snowflake(store=place.store(), namespace=namespace, window_ms=1000, max_wait_ms=60_000) as generator:
            ids = []
            for _ in range(30):
                ids.append(generator.next_id())
                await asyncio.sleep(0.05)
            return ids

    ids = asyncio.run(mint())
    assert all(a < b for a, b in itertools.pairwise(ids))


ROUNDS_OF_KILLS = int(os.environ.get("SNOWMINT_KILLS", "2"))
# Each of the ledgers gets a process that mints into it. The processes claim their nodes at the same time: before it
# forks, the first one imports the client of the store, which takes longer than a claim, and uses nothing of it.
MINTER = """
    import importlib, os, struct, sys, time
    from contextlib import suppress
    from snowmint import Snowflake, StoreUnavailableError
    layout, store, namespace, window_ms, *ledgers = sys.argv[1:]
    drivers = {"sqlite": "", "postgresql+psycopg": "psycopg", "mysql+pymysql": "pymysql", "redis": "redis",
               "dynamodb": "boto3"}
    driver = drivers.get(store.partition(":")[0])
    if driver is not None:
        importlib.import_module(driver if driver in ("redis", "boto3") else "sqlalchemy")
        importlib.import_module(driver or "sqlite3")
    for ledger in ledgers[1:]:
        if os.fork() == 0:
            break
    else:
        ledger = ledgers[0]
    options = {"store": store, "namespace": namespace, "window_ms": int(window_ms), "max_wait_ms": 20_000}
    generator = None
    while generator is None:
        # A busy machine is slow to answer.
        with suppress(StoreUnavailableError):
            generator = Snowflake(layout, **options)
    with open(ledger, "ab", buffering=0) as file:
        # In one piece, as the processes share the pipe.
        os.write(1, b"%d" % generator.node + os.linesep.encode())
        while True:
            file.write(struct.pack("<Q", generator.next_id()))
            time.sleep(0.0005)
"""


def ids_of(*ledgers: Path) -> list[int]:
    found = []
    for ledger in ledgers:
        data = ledger.read_bytes()
        found += memoryview(data[: len(data) // 8 * 8]).cast("Q").tolist()
    return found


def has_size(ledger: Path, size: int) -> bool:
    return ledger.exists() and ledger.stat().st_size >= size


def minters(
    url: str, namespace: str, *ledgers: Path, layout: str = "snowmint", window_ms: int = 30_000
) -> "subprocess.Popen[str]":
    """Starts a process for each ledger. They end together."""
    return processes.start(MINTER, layout, url, namespace, str(window_ms), *map(str, ledgers))


def node_of(holder: "subprocess.Popen[str]") -> int:
    assert holder.stdout is not None
    return int(holder.stdout.readline())


def pause(holder: "subprocess.Popen[str]", place: str) -> None:
    """Stops a holder outside of its writes: within one, it would keep SQLite's file or MariaDB's row locked."""
    while True:
        holder.send_signal(signal.SIGSTOP)
        found = os.waitid(os.P_PID, holder.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        assert found is not None
        assert found.si_code == os.CLD_STOPPED, "the holder has ended"
        if not is_locked(place):
            return
        holder.send_signal(signal.SIGCONT)
        # Its write needs time to end.
        time.sleep(0.01)


def is_locked(place: str) -> bool:
    """Whether a transaction that writes is open."""
    if place.startswith("sqlite:"):
        with closing(sqlite3.connect(place.removeprefix("sqlite:"), timeout=0, isolation_level=None)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return True
    elif place.startswith("mysql"):
        with sqlalchemy.create_engine(place).connect() as connection:
            try:
                connection.execute(sqlalchemy.text("SELECT name FROM snowmint_records FOR UPDATE NOWAIT")).all()
            except sqlalchemy.exc.OperationalError:
                return True
    # A transaction of PostgreSQL is one message.
    return False


def end(holder: "subprocess.Popen[str]", number: int = signal.SIGKILL) -> None:
    with suppress(ProcessLookupError):
        os.killpg(holder.pid, number)
    holder.communicate(timeout=60)


def test_eight_processes_started_at_once_have_eight_nodes(named: Place, namespace: str, tmp_path: Path) -> None:
    ledgers = [tmp_path / str(number) for number in range(8)]
    holders = minters(named.url, namespace, *ledgers)
    try:
        assert len({node_of(holders) for _ in ledgers}) == 8
        for ledger in ledgers:
            wait_until(partial(has_size, ledger, 8 * 100))
    finally:
        end(holders)
    ids = ids_of(*ledgers)
    assert len(ids) == len(set(ids)) > 8


def test_a_stopped_holder_that_wakes_after_its_node_was_given_away_mints_nothing_more(
    named: Place, namespace: str, tmp_path: Path
) -> None:
    ledgers = [tmp_path / "first", tmp_path / "second"]
    holders = []
    try:
        for ledger in ledgers:
            holders.append(minters(named.url, namespace, ledger, layout=ONE_NODE, window_ms=1000))
            assert node_of(holders[-1]) == 0
            wait_until(partial(has_size, ledger, 8 * 100))
            if len(holders) == 1:
                pause(holders[0], named.url)
        holders[0].send_signal(signal.SIGCONT)
        # It finds its node in other hands, and says so.
        holders[0].communicate(timeout=60)
        assert holders[0].returncode == 1
    finally:
        for holder in holders:
            holder.send_signal(signal.SIGCONT)
            end(holder)
    first, second = (ids_of(ledger) for ledger in ledgers)
    assert len(first) > 10
    assert len(second) > 10
    assert max(first) < min(second)


# Prints its node, or the error that ends it.
HOLDER_OF_5 = """
    import select, struct, sys
    from contextlib import suppress
    from snowmint import Snowflake, SnowmintError, StoreUnavailableError
    store, namespace, ledger, max_wait_ms = sys.argv[1:]
    try:
        # A holder on a busy machine may wait for seconds.
        options = {"store": store, "namespace": namespace, "window_ms": 3000, "max_wait_ms": int(max_wait_ms)}
        generator = None
        while generator is None:
            # A busy machine is slow to answer.
            with suppress(StoreUnavailableError):
                generator = Snowflake(node=5, **options)
        print(generator.node, flush=True)
        with open(ledger, "ab", buffering=0) as file:
            while True:
                file.write(struct.pack("<Q", generator.next_id()))
                # libfaketime breaks `time.sleep`.
                select.select([], [], [], 0.0005)
    except SnowmintError as error:
        print(error.code, error, flush=True)
        sys.exit(1)
"""


def given_node(url: str, namespace: str, folder: Path, *, own_clock: bool = True, locked: bool = False) -> None:
    """Plays the story of a node that is named: its holder is paused, is killed, and restarts with its clock set back.

    `own_clock`: holders go by the clock of their machine. `locked`: the node of a stopped holder stays locked.
    """
    ledgers: list[Path] = []
    holders: list[subprocess.Popen[str]] = []

    def start(max_wait_ms: int = 20_000, clock_off: float | None = None) -> tuple["subprocess.Popen[str]", Path]:
        ledgers.append(folder / f"given-{len(ledgers)}")
        ledgers[-1].touch()
        words = [url, namespace, str(ledgers[-1]), str(max_wait_ms)]
        holders.append(processes.start(HOLDER_OF_5, *words, clock_off=clock_off))
        return holders[-1], ledgers[-1]

    def wait_for_more(ledger: Path) -> None:
        wait_until(partial(has_size, ledger, ledger.stat().st_size + 8 * 100))

    def minting(**options: Any) -> tuple["subprocess.Popen[str]", Path]:
        holder, ledger = start(**options)
        assert node_of(holder) == 5
        wait_for_more(ledger)
        return holder, ledger

    def refused(**options: Any) -> None:
        said = start(**options)[0].communicate(timeout=60)[0]
        assert said.startswith("NODES_EXHAUSTED "), said
        assert "node 5 " in said, said

    try:
        first, ledger = minting()
        refused(max_wait_ms=50)
        wait_for_more(ledger)

        pause(first, url)
        if locked:
            refused(max_wait_ms=1500)
            first.send_signal(signal.SIGCONT)
            wait_for_more(ledger)
            end(first)
        else:
            second, later = minting()
            first.send_signal(signal.SIGCONT)
            assert "WINDOW_CLOSED" in first.communicate(timeout=60)[0]
            wait_for_more(later)
            end(second)

        if own_clock:
            refused(max_wait_ms=1500, clock_off=-3600)
        else:
            end(minting(clock_off=-3600)[0])
        end(minting()[0])
    finally:
        for holder in holders:
            holder.send_signal(signal.SIGCONT)
            end(holder)
    ids = ids_of(*ledgers)
    assert all(a < b for a, b in itertools.pairwise(ids))
    assert {layouts.SNOWMINT.decode(id).node for id in ids} == {5}


def test_a_given_node_repeats_nothing_under_any_fault(named: Place, namespace: str, tmp_path: Path) -> None:
    given_node(named.url, namespace, tmp_path, own_clock=named.kind != "service")


def test_a_given_slot_repeats_nothing_under_any_fault(namespace: str, tmp_path: Path) -> None:
    given_node(f"file:{tmp_path}/slots", namespace, tmp_path, locked=True)


def test_kills_of_holders_and_of_the_server_repeat_nothing(named: Place, namespace: str, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    ledger.touch()
    with ExitStack() as until_the_end:
        url, server = named.url, None
        if named.engine is not None:
            # A separate server, since the test kills it.
            server = until_the_end.enter_context(servers.Server(named.engine))
            url = server.url
        for number in range(ROUNDS_OF_KILLS):
            size = ledger.stat().st_size + 8 * 200
            pair = minters(url, namespace, ledger, ledger, window_ms=1000)
            try:
                wait_until(partial(has_size, ledger, size))
                if server is not None and number % 2:
                    server.kill()
            finally:
                end(pair)
            if server is not None and number % 2:
                server.restart()
    ids = ids_of(ledger)
    assert len(ids) >= 200 * ROUNDS_OF_KILLS
    assert len(set(ids)) == len(ids)


def test_forked_children_take_nodes_of_their_own_and_leave_the_parents_connection_alone(
    named: Place, namespace: str
) -> None:
    program = """
        import os, struct, sys, time
        from snowmint import Snowflake
        from snowmint.stores import connect
        store = connect(sys.argv[1])
        # The children claim before the parent's first window ends, or one of them could get its node.
        generator = Snowflake(store=store, namespace=sys.argv[2], window_ms=6000, max_wait_ms=30_000)
        ids, first = [generator.next_id()], generator.window
        children = []
        for number in range(4):
            child = os.fork()
            if child == 0:
                ids = [generator.next_id() for _ in range(1000)] + generator.next_ids(1000)
                assert generator.node != 0, generator
                assert store.write(f"{sys.argv[2]}/{number}", b"child", 0)
                os.write(1, struct.pack(f"<{len(ids)}Q", *ids))
                os._exit(0)
            children.append(child)
        version = 0
        for number in range(20):
            version = store.write(f"{sys.argv[2]}/parent", b"%d" % number, version)
            assert version
        ids += [generator.next_id() for _ in range(1000)] + generator.next_ids(1000)
        assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 4
        deadline = time.monotonic() + 30
        while generator.window == first and time.monotonic() < deadline:
            time.sleep(0.02)
        assert generator.window != first, "it was renewed"
        assert generator.node == 0
        os.write(1, struct.pack(f"<{len(ids)}Q", *ids))
    """
    ids = processes.minted(program, named.url, namespace)
    assert len(ids) == len(set(ids)) == 5 * 2000 + 1


def test_prefork_workers_of_gunicorn_repeat_nothing(named: Place) -> None:
    prefork.workers_repeat_nothing(SNOWMINT_STORE=named.url)


def test_the_end_of_the_process_gives_the_node_back(named: Place, namespace: str) -> None:
    program = """
        import sys
        from snowmint import Snowflake
        generator = Snowflake(sys.argv[1], store=sys.argv[2], namespace=sys.argv[3], max_wait_ms=100)
        print(generator.next_id())
    """
    ids = [int(processes.run(program, ONE_NODE, named.url, namespace)) for _ in range(2)]
    assert ids == sorted(set(ids))


def test_a_memory_store_is_not_for_forked_children() -> None:
    program = """
        import os
        from snowmint import ForkedError, Snowflake
        from snowmint.stores import MemoryStore
        generator = Snowflake(store=MemoryStore())
        generator.next_id()
        child = os.fork()
        if child == 0:
            try:
                generator.next_id()
            except ForkedError:
                os._exit(77)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 77
        generator.next_id()
    """
    processes.run(program)


# Trouble


@pytest.mark.parametrize("kind", ["postgres", "mariadb", "redis", "etcd"])
def test_a_server_that_is_away_is_told_in_time_and_found_again(kind: servers.Engine, namespace: str) -> None:
    with servers.Server(kind) as server:
        generator = Snowflake(store=connect(server.url), namespace=namespace, window_ms=1000, max_wait_ms=2000)
        last = generator.next_id()
        server.kill()
        deadline = time.monotonic() + 30
        with pytest.raises(WindowClosedError):
            while time.monotonic() < deadline:
                last = max(last, generator.next_id())
                time.sleep(0.01)
        wait_until(lambda: generator.status().renewal_failures > 0)
        began = time.monotonic()
        with pytest.raises(StoreUnavailableError) as caught:
            Snowflake(store=place_of(kind, server.url).store(), namespace=namespace)
        assert time.monotonic() - began < 60
        assert caught.value.__cause__ is not None
        server.restart()
        while time.monotonic() < deadline + 30:
            try:
                assert generator.next_id() > last
                break
            except WindowClosedError:
                time.sleep(0.05)
        else:
            pytest.fail("it is not found again")
        assert generator.node == 0
        assert generator.status().lost is None


def test_settings_that_change_later_are_noticed_at_the_next_write(namespace: str) -> None:
    with servers.Server("redis") as server:
        store = place_of("redis", server.url).store()
        version = store.write(f"{namespace}/a", b"safe", 0)
        assert version
        client = redis.Redis.from_url(server.url)
        client.config_set("appendfsync", "everysec")
        with pytest.raises(UnsafeStoreError, match="appendfsync=everysec"):
            store.write(f"{namespace}/a", b"unsafe", version)
        client.acl_setuser("app", enabled=True, passwords=["+secret"], keys="*", commands=["+@all", "-config"])
        blind = RedisStore(redis.Redis(port=server.port, username="app", password="secret"))
        with pytest.raises(UnsafeStoreError, match="CONFIG GET appendonly is refused.*nobody knows"):
            blind.write(f"{namespace}/b", b"unsafe", 0)


def test_postgres_commits_of_ours_are_flushed_whatever_the_server_says(namespace: str) -> None:
    options = ["-c", "synchronous_commit=off", "-c", "wal_writer_delay=10000"]
    with servers.Server("postgres", options) as server:
        store = place_of("postgres", server.url).store()
        counts = [store.add(f"{namespace}/c", 1, 0) for _ in range(20)]
        server.kill()
        server.restart()
        assert counts == list(range(1, 21))
        assert place_of("postgres", server.url).store().add(f"{namespace}/c", 1, 0) == 21


@pytest.mark.parametrize(
    ("kind", "statement", "found"),
    [
        ("postgres", "ALTER TABLE snowmint.records SET UNLOGGED", "ALTER TABLE snowmint.records SET LOGGED"),
        ("mariadb", "ALTER TABLE snowmint_records ENGINE=MyISAM", "ALTER TABLE snowmint_records ENGINE=InnoDB"),
    ],
)
def test_tables_that_a_crash_can_empty_are_refused(
    kind: servers.Engine, statement: str, found: str, namespace: str
) -> None:
    with servers.Server(kind) as server:
        store = place_of(kind, server.url).store()
        version = store.write(f"{namespace}/a", b"", 0)
        assert version
        with sqlalchemy.create_engine(server.url).begin() as connection:
            connection.execute(sqlalchemy.text(statement))
        with pytest.raises(UnsafeStoreError, match=found):
            store.write(f"{namespace}/a", b"", version)


@pytest.mark.parametrize("begins", [False, True])
def test_sqlite_syncs_our_writes_also_where_the_application_does_not(tmp_path: Path, begins: bool) -> None:
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/ids.db")

    @sqlalchemy.event.listens_for(engine, "connect")
    def relax(connection: Any, _: Any) -> None:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        if begins:
            connection.isolation_level = None

    if begins:

        @sqlalchemy.event.listens_for(engine, "begin")
        def begin(connection: Any) -> None:
            connection.exec_driver_sql("BEGIN")

    with Snowflake(store=SqlStore(engine)) as generator:
        assert generator.next_id() > 0
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == 1


def test_a_fork_does_not_wait_for_the_end_of_a_call_over_a_locked_sqlite_file(tmp_path: Path) -> None:
    program = """
        import os, sqlite3, sys, threading, time
        import sqlalchemy
        from snowmint import StoreUnavailableError
        from snowmint.stores import SqlStore
        # The call gives up by itself, after 9 s.
        engine = sqlalchemy.create_engine(f"sqlite:///{sys.argv[1]}", connect_args={"timeout": 9})
        store = SqlStore(engine)
        version = store.write("a", b"1", 0)
        locking = sqlite3.connect(sys.argv[1], isolation_level=None)
        locking.execute("BEGIN EXCLUSIVE")
        ended = threading.Event()
        def write():
            try:
                store.write("a", b"2", version)
            except StoreUnavailableError:
                pass
            ended.set()
        threading.Thread(target=write, daemon=True).start()
        while engine.pool.checkedout() == 0:
            time.sleep(0.001)
        if os.fork() == 0:
            os._exit(0)
        print("waited for the call" if ended.is_set() else "the call goes on", flush=True)
        os.wait()
        os._exit(0)
    """
    with processes.start(program, str(tmp_path / "ids.db")) as forking:
        assert forking.stdout is not None and forking.stdout.readline() == "the call goes on\n"


def test_children_of_a_process_that_uses_sqlite_keep_their_leases_when_it_is_gone(tmp_path: Path) -> None:
    program = """
        import os, sqlite3, subprocess, sys, time
        import sqlalchemy
        from snowmint import NodesExhaustedError, Snowflake
        from snowmint.stores import SqlStore
        def lease(**options):
            engine = sqlalchemy.create_engine(f"sqlite:///{path}")
            sqlalchemy.event.listen(engine, "connect", lambda c, _: c.execute("PRAGMA journal_mode=wal"))
            layout = "time:41,node:1,sequence:12;epoch=2025-01-01T00:00:00Z"
            store = SqlStore(engine)
            return engine, Snowflake(layout, store=store, namespace="a", window_ms=3000, max_wait_ms=100, **options)
        def wait_for_a_renewal():
            window, deadline = generator.window, time.monotonic() + 40
            while generator.window == window and time.monotonic() < deadline:
                time.sleep(0.02)
            assert generator.window != window
        path, role = sys.argv[1:]
        if role == "other":
            try:
                lease(exclude=[0])
            except NodesExhaustedError:
                sys.exit(77)
            sys.exit(1)
        if role == "reader":
            sqlite3.connect(path).execute("SELECT 1 FROM snowmint_records").fetchall()
            sys.exit()
        engine, generator = lease()
        told, tell = os.pipe()
        child = os.fork()
        if child == 0:
            generator.next_id()
            assert generator.node == 1
            os.write(tell, b"leased")
            # The parent has ended.
            wait_for_a_renewal()
            wait_for_a_renewal()
            # The last one to close the file removes the write-ahead log.
            subprocess.run([*sys.orig_argv[:3], path, "reader"], check=True)
            wait_for_a_renewal()
            other = subprocess.run([*sys.orig_argv[:3], path, "other"], check=False)
            generator.next_id()
            os._exit(other.returncode)
        os.read(told, 6)
        generator.close()
        engine.dispose()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 77
    """
    processes.run(program, str(tmp_path / "ids.db"), "first")


def test_a_child_of_a_process_with_an_open_sqlite_connection_is_refused(tmp_path: Path) -> None:
    program = """
        import os, sys
        import sqlalchemy
        from snowmint import ForkedError, Snowflake
        from snowmint.stores import SqlStore
        engine = sqlalchemy.create_engine(f"sqlite:///{sys.argv[1]}")
        generator = Snowflake(store=SqlStore(engine))
        with engine.connect() as connection:
            child = os.fork()
            if child == 0:
                try:
                    generator.next_id()
                except ForkedError as error:
                    os._exit(77 if "close them before" in str(error) else 1)
                os._exit(2)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 77
        generator.next_id()
    """
    processes.run(program, str(tmp_path / "ids.db"))


def test_sqlite_in_memory_and_on_tmpfs_is_refused() -> None:
    with pytest.raises(UnsafeStoreError, match="file=, the database is in memory"):
        Snowflake(store=SqlStore(sqlalchemy.create_engine("sqlite://")))
    path = Path("/dev/shm/snowmint-test.db")
    try:
        with pytest.raises(UnsafeStoreError, match="tmpfs.*local disk"):
            Snowflake(store=f"sqlite:{path}")
    finally:
        path.unlink(missing_ok=True)


# The checks of a store's methods


def test_file_stores_are_the_slots_of_their_directory(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "slots")
    with Snowflake(store=store) as first, Snowflake(store=f"file:{tmp_path}/slots") as second:
        assert first.node == second.node == 0
        assert (tmp_path / "slots").is_dir()
    with pytest.raises(UnsafeStoreError, match="tmpfs"):
        Snowflake(store=FileStore("/dev/shm/snowmint-test"))


def test_the_environment_names_any_of_them(named: Place, namespace: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNOWMINT_STORE", named.url)
    monkeypatch.setenv("SNOWMINT_NAMESPACE", namespace)
    with Snowflake() as generator, Snowflake(store=connect(named.url), namespace=namespace) as same:
        assert generator.status().namespace == namespace
        assert generator.node == same.node == 0


class Own:
    """A store that a user wrote."""

    def __init__(self, failure: BaseException | None = None) -> None:
        self.inner, self.failure = MemoryStore(), failure

    def read(self, key: str) -> tuple[bytes, int] | None:
        if self.failure is not None:
            raise self.failure
        return self.inner.read(key)

    def write(self, key: str, value: bytes, expected_version: int) -> int | None:
        return self.inner.write(key, value, expected_version)

    def list(self, prefix: str) -> Any:
        return iter(self.inner.list(prefix))

    def add(self, counter: str, delta: int, start: int) -> int:
        return self.inner.add(counter, delta, start)

    def clock_ms(self) -> int | None:
        return None

    def __str__(self) -> str:
        return "our own"


def test_any_object_with_the_verbs_is_a_store() -> None:
    with Snowflake(store=Own()) as generator:
        assert generator.next_id() > 0


def test_what_a_store_raises_is_the_cause_and_interrupts_come_through() -> None:
    broken = OSError("no route to host")
    with pytest.raises(StoreUnavailableError, match="our own: OSError: no route to host") as caught:
        Snowflake(store=Own(broken))
    assert caught.value.__cause__ is broken
    with pytest.raises(KeyboardInterrupt):
        Snowflake(store=Own(KeyboardInterrupt()))
    refused = ForkedError("not here")
    with pytest.raises(ForkedError, match="not here") as own:
        Snowflake(store=Own(refused))
    assert own.value is refused


def test_an_interrupt_in_a_renewal_ends_no_later_call() -> None:
    class Interrupted(Own):
        interrupting = False

        def write(self, key: str, value: bytes, expected_version: int) -> int | None:
            if self.interrupting:
                raise KeyboardInterrupt
            return super().write(key, value, expected_version)

    store = Interrupted()
    with Snowflake(ONE_NODE, store=store, window_ms=1000, max_wait_ms=0) as generator:
        store.interrupting = True
        wait_until(lambda: generator.status().renewal_failures > 0)
        store.interrupting = False
        wait_until(lambda: generator.status().renewal_failures == 0)
        with pytest.raises(ExhaustedError):
            generator.next_ids(100_000)


def test_what_a_store_raises_in_a_forked_childs_first_call_is_the_cause() -> None:
    program = """
        import os
        from snowmint import Snowflake, StoreUnavailableError
        from snowmint.stores import MemoryStore
        class Failing(MemoryStore):
            broken = None
            def _check(self):
                if self.broken:
                    raise self.broken
        store = Failing()
        generator = Snowflake(store=store)
        child = os.fork()
        if child == 0:
            store.broken = OSError("no route to host")
            try:
                generator.next_id()
            except StoreUnavailableError as error:
                os._exit(77 if error.__cause__ is store.broken else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 77
    """
    processes.run(program)


def test_an_interrupt_during_a_write_grants_nothing() -> None:
    class Interrupted(Own):
        def write(self, key: str, value: bytes, expected_version: int) -> int | None:
            written = super().write(key, value, expected_version)
            if key.startswith("leases/"):
                raise KeyboardInterrupt
            return written

    with pytest.raises(KeyboardInterrupt):
        Snowflake(store=Interrupted())


def test_an_exit_in_a_forked_childs_first_call_comes_through() -> None:
    program = """
        import os
        from snowmint import Snowflake
        from snowmint.stores import MemoryStore
        class Leaving(MemoryStore):
            leaving = False
            def _check(self):
                if self.leaving:
                    raise SystemExit(7)
        store = Leaving()
        generator = Snowflake(store=store)
        child = os.fork()
        if child == 0:
            store.leaving = True
            for call in (generator.next_id, generator, lambda: next(generator), lambda: generator.next_ids(3)):
                try:
                    call()
                except SystemExit as exit:
                    assert exit.code == 7
                else:
                    os._exit(1)
            os._exit(77)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 77
    """
    processes.run(program)


def test_versions_of_a_store_may_fall() -> None:
    class Falling(MemoryStore):
        def write(self, key: str, value: bytes, expected_version: int) -> int | None:
            _, version = self._records.get(key, (b"", 0))
            if version != expected_version:
                return None
            self._records[key] = (value, version - 1 if version else 2**50)
            return self._records[key][1]

    with Snowflake(store=Falling(), window_ms=1000, max_wait_ms=60_000) as generator:
        first = generator.status().window
        assert first is not None
        for _ in range(1_000_000):
            generator.next_id()
            status = generator.status()
            assert status.renewal_error is None
            if status.window is not None and status.window.end > first.end + 2000:
                return
            time.sleep(0.01)
        pytest.fail("no window was renewed")


@pytest.mark.parametrize("answer", [False, True, 0, "1", 1.0, -1, 2**53, 10**40])
def test_an_answer_to_a_write_that_is_no_version_grants_nothing(answer: Any) -> None:
    class Odd(Own):
        def write(self, key: str, value: bytes, expected_version: int) -> int | None:
            super().write(key, value, expected_version)
            return answer  # type: ignore[no-any-return]

    with pytest.raises(StoreUnavailableError, match="as a version: a version is an integer from 1 to 2\\^53-1"):
        Snowflake(store=Odd())


@pytest.mark.parametrize("ms", [2**63, 10**40, -(10**40)])
def test_a_store_clock_beyond_64_bits_is_the_nearest_time(ms: int) -> None:
    class Far(Own):
        def clock_ms(self) -> int | None:
            return ms

    if ms > 0:
        with Snowflake(store=Far()) as generator:
            assert generator.next_id() > 0
    else:
        with pytest.raises(StoreUnavailableError, match="more than an hour after the store's clock, -292275055-"):
            Snowflake(store=Far())


@pytest.mark.parametrize("version", [False, True, 0, "1", 1.0, -1, 2**53, 10**40, None])
def test_a_record_with_an_answer_that_is_no_version_is_not_read(version: Any) -> None:
    class Odd(Own):
        def read(self, key: str) -> tuple[bytes, int] | None:
            return b"", version

    with pytest.raises(StoreUnavailableError, match="as a version: a version is an integer from 1 to 2\\^53-1"):
        Snowflake(store=Odd())


@pytest.mark.parametrize("timeout_s", ["0.5", "1", "2.3"])
def test_a_process_that_ends_while_its_store_hangs_ends_as_it_should(namespace: str, timeout_s: str) -> None:
    program = """
        import sys, time
        import redis
        from snowmint import Snowflake
        from snowmint.stores import RedisStore
        client = redis.Redis(port=int(sys.argv[1]), socket_timeout=float(sys.argv[2]))
        generator = Snowflake(store=RedisStore(client), namespace=sys.argv[3], window_ms=1000, max_wait_ms=30_000)
        print(generator.next_id(), flush=True)
        sys.stdin.readline()
        time.sleep(0.7)
    """
    with servers.Server("redis") as server:
        holder = processes.start(program, str(server.port), timeout_s, namespace)
        assert holder.stdout is not None
        holder.stdout.readline()
        server.pause(True)
        holder.communicate("\n", timeout=60)
        server.pause(False)
        assert holder.returncode == 0


def test_a_process_that_ends_while_it_is_told_of_a_loss_ends_as_it_should() -> None:
    program = """
        import time
        from snowmint import Snowflake
        from snowmint.stores import MemoryStore
        class Taken(MemoryStore):
            taken = False
            def read(self, key):
                return None if self.taken else super().read(key)
            def write(self, key, value, expected_version):
                return None if self.taken else super().write(key, value, expected_version)
        told = []
        def on_lost(error):
            told.append(error)
            while True:
                time.sleep(0.001)
        store = Taken()
        generator = Snowflake(store=store, window_ms=1000, on_lost=on_lost)
        store.taken = True
        deadline = time.monotonic() + 60
        while not told and time.monotonic() < deadline:
            time.sleep(0.01)
        assert told
    """
    processes.run(program)


def test_patched_sockets_are_refused() -> None:
    program = """
        from gevent import monkey
        monkey.patch_all()
        import redis, sqlalchemy
        from snowmint import InvalidStoreError, Snowflake
        from snowmint.stores import EtcdStore, HttpStore, RedisStore, SqlStore
        engine = sqlalchemy.create_engine("mysql+pymysql://localhost/ids")
        over_http = [lambda: HttpStore("http://ids"), lambda: EtcdStore("etcd://ids")]
        for make in [lambda: RedisStore(redis.Redis()), lambda: SqlStore(engine), *over_http]:
            try:
                make()
            except InvalidStoreError as error:
                assert "gevent" in str(error) and "FileStore" in str(error), error
            else:
                raise SystemExit("taken")
        assert Snowflake().next_id() > 0
    """
    processes.run(program)


def test_clients_whose_connection_cannot_be_ours_alone_are_refused(tmp_path: Path) -> None:
    with servers.Server("redis") as server:
        client = redis.Redis(port=server.port, single_connection_client=True)
        client.ping()
        with pytest.raises(TypeError, match="single_connection_client"):
            RedisStore(client)
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/a.db", poolclass=sqlalchemy.pool.StaticPool)
    with pytest.raises(TypeError, match="StaticPool"):
        SqlStore(engine)


def test_a_client_for_event_loops_is_refused_with_what_to_make() -> None:
    import redis.asyncio

    for client in (redis.asyncio.Redis(), redis.asyncio.RedisCluster(host="localhost")):
        with pytest.raises(TypeError, match=r"redis\.asyncio\..*: a thread without an event loop renews leases"):
            RedisStore(client)
    url = "postgresql+{}://ids:secret@localhost/ids"
    asynchronous = create_async_engine(url.format("psycopg"))
    inside = sqlalchemy.create_engine(url.format("psycopg_async"))
    for engine in (asynchronous, asynchronous.sync_engine, asynchronous.connect(), inside):
        with pytest.raises(TypeError) as refused:
            SqlStore(engine)  # type: ignore[arg-type]
        written = re.search(r"create_engine\(engine\.url\.set\(.*\)\)", str(refused.value))
        assert written and "secret" not in str(refused.value)
        names = {"create_engine": sqlalchemy.create_engine, "engine": inside}
        assert str(SqlStore(eval(written[0], names))) == "postgresql at postgresql+psycopg://ids:***@localhost/ids"


@pytest.mark.parametrize(
    ("scheme", "driver", "instead"),
    [
        ("postgres", "asyncpg", "postgresql+psycopg"),
        ("postgresql", "psycopg_async", "postgresql+psycopg"),
        ("mysql", "aiomysql", "mysql+pymysql"),
        ("mysql", "asyncmy", "mysql+pymysql"),
        ("mariadb", "asyncmy", "mariadb+pymysql"),
        ("sqlite", "aiosqlite", "sqlite"),
    ],
)
def test_a_url_with_a_driver_for_event_loops_is_refused(scheme: str, driver: str, instead: str) -> None:
    with pytest.raises(InvalidStoreError) as refused:
        Snowflake(store=f"{scheme}+{driver}://ids:secret@localhost/ids")
    assert f"leave out +{driver}, which means {instead}" in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_client_of_a_cluster_is_refused() -> None:
    client = redis.RedisCluster.__new__(redis.RedisCluster)
    with pytest.raises(TypeError, match=r"a redis\.Redis, not redis\.cluster\.RedisCluster"):
        RedisStore(client)


def test_what_is_no_store_is_refused_with_what_would_be_one() -> None:
    for wrong in (5, object(), b"redis://"):
        with pytest.raises(TypeError, match="snowmint.stores"):
            Snowflake(store=wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="redis.Redis"):
        RedisStore("redis://localhost")
    engine = sqlalchemy.create_engine("postgresql+psycopg://localhost/ids")
    for wrong in ("sqlite://", engine.url, sqlalchemy.orm.Session(engine), sqlalchemy.orm.sessionmaker(engine)):
        with pytest.raises(TypeError, match="sqlalchemy.Engine, not .*: pass the result of create_engine"):
            SqlStore(wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidStoreError, match="needs pg8000, which is not installed: pip install 'pg8000'"):
        Snowflake(store="postgresql+pg8000://localhost/ids")
    with pytest.raises(InvalidStoreError, match=r"no driver postgresql\+nothing"):
        Snowflake(store="postgresql+nothing://localhost/ids")
    with pytest.raises(InvalidStoreError, match='invalid connection option "ssl"'):
        Snowflake(store="postgresql://localhost/ids?ssl=require")
    for url in ("oracle://db", "nonsense", "nats://db"):
        with pytest.raises(InvalidStoreError, match="no such store.*redis://"):
            Snowflake(store=url)


@pytest.mark.parametrize(
    ("module", "url", "extra"),
    [
        ("psycopg", "postgres://localhost/ids", "postgres"),
        ("pymysql", "mariadb://localhost/ids", "mysql"),
        ("redis", "redis://localhost", "redis"),
        ("sqlalchemy", "sqlite:ids.db", "sqlalchemy"),
        ("sqlalchemy", "mysql+pymysql://localhost/ids", "mysql"),
    ],
)
def test_a_missing_driver_names_the_extra(module: str, url: str, extra: str) -> None:
    program = """
        import sys
        module, url, extra = sys.argv[1:]
        sys.modules[module] = None
        from snowmint import InvalidStoreError, Snowflake
        try:
            Snowflake(store=url)
        except InvalidStoreError as error:
            assert str(error).endswith(f"needs {module}, which is not installed: pip install 'snowmint[{extra}]'")
        else:
            raise SystemExit("it connects")
    """
    processes.run(program, module, url, extra)


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("postgres", lambda url: url.replace("postgres@", "nobody@")),
        ("postgres", lambda url: f"{url.rpartition('/')[0]}/nothing"),
        ("mariadb", lambda url: url.replace("root@", "nobody:x@")),
        ("mariadb", lambda url: f"{url.rpartition('/')[0]}/nothing"),
        ("redis", lambda url: url.replace("redis://", "redis://nobody:x@")),
        ("redis", lambda url: f"{url.rstrip('/')}/9999"),
        ("etcd", lambda url: url.replace("etcd://", "etcd://nobody:x@")),
        ("etcd", lambda url: f"{url}/9999"),
    ],
)
def test_a_wrong_user_or_database_never_passes_by_itself(
    kind: servers.Engine, wrong: Callable[[str], str], namespace: str
) -> None:
    with pytest.raises(InvalidStoreError) as caught:
        Snowflake(store=wrong(servers.shared(kind).url), namespace=namespace)
    assert isinstance(caught.value, ValueError)
    assert not isinstance(caught.value, StoreUnavailableError)


def test_no_text_shows_a_password(namespace: str) -> None:
    url = "postgresql://me:s3cret@127.0.0.1:1/db"
    with pytest.raises(StoreUnavailableError) as caught:
        Snowflake(store=url, namespace=namespace)
    redis_store = RedisStore(redis.Redis.from_url("redis://me:s3cret@127.0.0.1:1"))
    etcd_store = EtcdStore("etcd://me:s3cret@127.0.0.1:1")
    by_option = SqlStore(sqlalchemy.create_engine("postgresql+psycopg://127.0.0.1/db?user=me&password=s3cret"))
    with pytest.raises(InvalidStoreError, match="not valid") as invalid:
        Snowflake(store="redis://:s3cret/x@127.0.0.1")
    assert "s3cret" not in str(invalid.value)
    for text in (
        str(caught.value),
        repr(connect(url)),
        str(by_option),
        repr(redis_store),
        str(redis_store),
        repr(etcd_store),
    ):
        assert "s3cret" not in text
        assert "127.0.0.1" in text


@pytest.mark.parametrize(
    "scheme", ["postgresql", "postgresql+psycopg", "mysql", "mariadb+pymysql", "redis", "rediss", "etcd"]
)
@pytest.mark.parametrize(
    "password",
    [
        "pa@s3cret",
        "@s3cret",
        "a/b@s3cret",
        "pa@s3cret/b",
        "1/s3cret",
        "1?s3cret",
        "pa@s3cret?b",
        "pa@1:s3cret",
        "a#s3cret",
    ],
)
def test_no_error_of_a_malformed_url_shows_its_password(scheme: str, password: str, namespace: str) -> None:
    url = f"{scheme}://me:{password}@127.0.0.1:1/db"
    with pytest.raises((InvalidStoreError, StoreUnavailableError)) as caught:
        Snowflake(store=url, namespace=namespace, max_wait_ms=0)
    seen: BaseException | None = caught.value
    while seen:
        assert "s3cret" not in f"{seen} {seen!r}"
        seen = seen.__cause__ or seen.__context__


def test_threads_that_mint_while_the_store_is_slow_do_not_wait_for_it() -> None:
    inner = MemoryStore()
    hold = threading.Event()
    asked = threading.Event()

    class Slow(Own):
        def write(self, key: str, value: bytes, expected_version: int) -> int | None:
            # A claim counts its node in the namespace's own record; that write is not a renewal.
            if expected_version and not key.startswith("layouts/"):
                asked.set()
                assert hold.wait(30)
            return inner.write(key, value, expected_version)

        def list(self, prefix: str) -> Any:
            return inner.list(prefix)

    generator = Snowflake(store=Slow(), window_ms=8_000)
    # The renewal comes within half a window.
    assert asked.wait(60)
    ids = [generator.next_id() for _ in range(10_000)]
    assert len(set(ids)) == 10_000
    hold.set()
    generator.close()


def test_a_process_ends_also_while_its_store_hangs(namespace: str) -> None:
    program = """
        import os, signal, sys
        import redis
        from snowmint import Snowflake
        from snowmint.stores import RedisStore
        store = RedisStore(redis.Redis(port=int(sys.argv[1])))
        generator = Snowflake(store=store, namespace=sys.argv[2], window_ms=1000, max_wait_ms=30_000)
        print(generator.next_id(), flush=True)
        sys.stdin.readline()
    """
    with servers.Server("redis") as server:
        holder = processes.start(program, str(server.port), namespace)
        assert holder.stdout is not None
        assert int(holder.stdout.readline()) > 0
        server.pause(True)
        # A renewal has begun.
        time.sleep(1)
        holder.communicate("\n", timeout=60)
        assert holder.returncode == 0
        server.pause(False)


def test_rust_and_python_lease_from_one_store_together(named: Place, namespace: str, tmp_path: Path) -> None:
    target = Path(os.environ.get("CARGO_TARGET_DIR", Path(__file__).parents[2] / "target"))
    if named.kind == "dynamodb":
        pytest.skip("Rust has no client for DynamoDB")
    minter = target / "debug" / "snowmint-minter"
    assert minter.exists(), "build it: cargo build --workspace --features snowmint-tests/engines"
    url = re.sub(r"\+\w+:", ":", named.url)
    ours, theirs = tmp_path / "python", tmp_path / "rust"
    words = ["mint", f"store={url}", f"namespace={namespace}", f"ledger={theirs}", "pace_us=500"]
    first = minters(named.url, namespace, ours)
    assert node_of(first) == 0
    rust = subprocess.Popen([str(minter), *words], stdout=subprocess.PIPE, text=True, process_group=0)
    holders = [first, rust]
    try:
        wait_until(lambda: has_size(theirs, 8 * 100) or rust.poll() is not None)
        assert rust.poll() is None, "build it with the engines"
        holders.append(minters(named.url, namespace, ours))
        assert node_of(holders[-1]) == 2
    finally:
        for holder in holders:
            end(holder)
    assert {layouts.SNOWMINT.decode(id).node for id in ids_of(theirs)} == {1}
    ids = ids_of(ours, theirs)
    assert len(ids) == len(set(ids)) > 100
