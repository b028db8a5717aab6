"""Layouts as SQL, on real servers: IDs minted in PostgreSQL, and taken apart there and in MariaDB."""

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pymysql
import pytest
from psycopg import sql as psql

import servers
from snowmint import InvalidIdError, InvalidLayoutError, InvalidNodeError, InvalidTextError, Layout, Parts, layouts

CONNECTIONS = 8
# Bit 63 is 1 since 2024-11.
NEGATIVE = Layout("time:41,shard:13,sequence:10;epoch=1990-01-01T00:00:00Z")
# Fields in an unusual order, a node in two pieces, an unusual tick, an epoch before 1970.
MIXED = Layout("high:3,time:38,random:9,sequence:10,low:4;epoch=1960-05-05T00:00:00Z;tick=10ms")
NASTY = [
    'a"b',
    "'; DROP TABLE canary; --",
    "$snowmint0$",
    "x$snowmint1$",
    "back\\slash",
    "%s :p ?",
    "line\nbreak",
    "ü ñ 号",
]


class Database:
    """A database of PostgreSQL with a schema `app`, and connections to it that commit every statement."""

    def __init__(self, url: str) -> None:
        self.url = url.replace("+psycopg", "")
        self.name = url.rpartition("/")[2]
        self.run("CREATE SCHEMA IF NOT EXISTS app")

    def connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        return psycopg.connect(self.url, autocommit=True)

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """Does the statements, and gives the rows of the last one."""
        with self.connect() as connection:
            for statement in statements:
                cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def id(self, function: str) -> int:
        return int(self.run(f"SELECT {function}")[0][0])

    def at_once(
        self,
        work: Callable[[psycopg.Connection[tuple[Any, ...]]], list[int]],
        begun: Callable[[], None] | None = None,
    ) -> list[list[int]]:
        """Returns the result of each of eight connections. All start together, right after `begun` is called."""
        barrier = threading.Barrier(CONNECTIONS, begun, timeout=60)

        def each(_: int) -> list[int]:
            with self.connect() as connection:
                barrier.wait()
                return work(connection)

        with ThreadPoolExecutor(CONNECTIONS) as pool:
            return list(pool.map(each, range(CONNECTIONS)))


@pytest.fixture(scope="module")
def database(postgres: servers.Shared) -> Database:
    return Database(postgres.new_database())


@pytest.fixture(scope="module", name="mariadb")
def connection_to_mariadb(mariadb: servers.Shared) -> Iterator["pymysql.Connection[Any]"]:
    name = mariadb.new_database().rpartition("/")[2]
    connection = pymysql.connect(host="127.0.0.1", port=mariadb.port, user="root", database=name, autocommit=True)
    yield connection
    connection.close()


def mint(connection: psycopg.Connection[tuple[Any, ...]], function: str) -> int:
    row = connection.execute(f"SELECT {function}".encode()).fetchone()
    assert row is not None
    return int(row[0])


def expressions(layout: Layout, dialect: Any) -> str:
    """A select list of everything that there is about `id`."""
    id = layout.decode_sql(dialect, "id")
    return ", ".join(["id", id.timestamp_ms, id.tick, id.node, id.sequence, id.timestamp, *id.fields.values()])


def assert_decoded(row: tuple[Any, ...], layout: Layout) -> Parts:
    """Asserts that a row of `expressions` equals the result of `decode`."""
    id, timestamp_ms, tick, node, sequence, timestamp, *fields = row
    parts = layout.decode(id)
    assert (timestamp_ms, tick, node, sequence) == (parts.timestamp_ms, parts.tick, parts.node, parts.sequence)
    assert fields == list(parts.fields.values())
    assert timestamp == (parts.timestamp if timestamp.tzinfo else parts.timestamp.replace(tzinfo=None))
    return parts


@pytest.mark.parametrize(
    ("layout", "node", "start"),
    [
        (layouts.SNOWMINT, 5, "zero"),
        (layouts.SONYFLAKE2, 40_000, "zero"),
        (NEGATIVE, 8191, "random"),
        (MIXED, 77, "carry"),
    ],
    ids=["snowmint", "sonyflake2", "negative", "mixed"],
)
def test_ids_minted_in_the_database_are_those_of_the_node_and_unique_from_eight_connections(
    database: Database, mariadb: "pymysql.Connection[Any]", layout: Layout, node: int, start: Any
) -> None:
    rows = int(os.environ.get("SNOWMINT_ROWS", "20000")) if layout == layouts.SNOWMINT else 8_000
    # Sonyflake's 256 IDs in 10 ms are soon used up: who waits its turn waits for many.
    script = layout.postgres_function("app", "next_id", node, sequence_start=start, max_wait_ms=60_000)
    database.run("DROP TABLE IF EXISTS minted", script)
    database.run("CREATE TABLE minted (id bigint PRIMARY KEY DEFAULT app.next_id(), n int NOT NULL)")

    def insert(connection: psycopg.Connection[tuple[Any, ...]]) -> list[int]:
        found = []
        for size in (1, 9, 990, rows // CONNECTIONS - 1000):
            query = "INSERT INTO minted (n) SELECT generate_series(1, %s) RETURNING id"
            found += [int(id) for (id,) in connection.execute(query, [size])]
        return found

    runs = database.at_once(insert)
    for run in runs:
        ticks = [(layout.decode(id).tick, layout.decode(id).sequence) for id in run]
        assert ticks == sorted(set(ticks))
    decoded = database.run(f"SELECT {expressions(layout, 'postgres')} FROM minted")
    assert {row[0] for row in decoded} == {id for run in runs for id in run}
    assert len(decoded) == rows
    assert {assert_decoded(row, layout).node for row in decoded} == {node}
    per_tick = Counter(layout.decode(row[0]).tick for row in decoded)
    assert max(per_tick.values()) <= layout.ids_per_tick
    now_ms = time.time_ns() // 1_000_000
    assert now_ms - 300_000 < min(map(lambda row: row[1], decoded)) <= max(row[1] for row in decoded) <= now_ms

    for dialect, kind in (("mariadb", "BIGINT UNSIGNED"), ("mariadb_signed", "BIGINT")):
        with mariadb.cursor() as cursor:
            cursor.execute(f"CREATE OR REPLACE TABLE minted (id {kind} PRIMARY KEY)")
            cursor.executemany(
                "INSERT INTO minted VALUES (%s)",
                [(row[0] if dialect == "mariadb_signed" else row[0] % 2**64,) for row in decoded],
            )
            cursor.execute(f"SELECT {expressions(layout, dialect)} FROM minted")
            there = cursor.fetchall()
        assert len(there) == rows
        for row in there:
            assert_decoded(row, layout)


@pytest.mark.parametrize("max_wait_ms", [0, 10_000])
def test_a_sequence_that_is_used_up_waits_or_fails_and_never_wraps(database: Database, max_wait_ms: int) -> None:
    layout = Layout("time:40,node:4,sequence:2;epoch=2025-01-01T00:00:00Z;tick=100ms")
    database.run(layout.postgres_function("app", "few", 3, max_wait_ms=max_wait_ms))
    failures = []

    def work(connection: psycopg.Connection[tuple[Any, ...]]) -> list[int]:
        found = []
        for _ in range(6):
            try:
                found.append(mint(connection, "app.few()"))
            except psycopg.Error as error:
                assert error.sqlstate == "SN001"
                assert str(error).startswith("EXHAUSTED: no ID is free now: retry in ")
                failures.append(error)
        return found

    ids = [id for run in database.at_once(work) for id in run]
    assert len(set(ids)) == len(ids)
    assert len(ids) + len(failures) == 48
    assert bool(failures) == (max_wait_ms == 0)
    assert max(Counter(layout.decode(id).tick for id in ids).values()) <= 4


def test_ids_run_ahead_of_the_clock_as_far_as_they_may(database: Database) -> None:
    layout = Layout("time:40,sequence:1;epoch=2025-01-01T00:00:00Z;tick=1s")
    database.run(layout.postgres_function("app", "ahead", 0, max_ahead_ms=10_000, max_wait_ms=0))
    before_ms = time.time_ns() // 1_000_000
    with database.connect() as connection:
        ids = [mint(connection, "app.ahead()") for _ in range(20)]
        # Without gaps, except where a second of the clock begins meanwhile.
        assert ids == sorted(set(ids))
        assert before_ms + 8_000 < layout.decode(ids[-1]).timestamp_ms <= time.time_ns() // 1_000_000 + 10_000
        with pytest.raises(psycopg.Error, match="EXHAUSTED"):
            [mint(connection, "app.ahead()") for _ in range(20)]


def test_a_clock_set_back_is_waited_for_or_told(database: Database) -> None:
    database.run(layouts.SNOWMINT.postgres_function("app", "back", 9, max_wait_ms=100))
    first = database.id("app.back()")
    (sequence,) = database.run("SELECT oid::regclass::text FROM pg_class WHERE relkind = 'S' AND relname LIKE 'back%'")[
        0
    ]
    # To the function it is the same: the last ID is ahead of the clock, by 100 seconds and then by two.
    ((last,),) = database.run(f"SELECT last_value FROM {sequence}")
    database.run(f"SELECT setval('{sequence}', {last + (100_000 << 12)})")
    begun = time.monotonic()
    with pytest.raises(
        psycopg.Error, match=r"CLOCK_BACKWARDS: the clock is \d\d\d\d\d ms behind the last ID"
    ) as caught:
        database.id("app.back()")
    assert caught.value.sqlstate == "SN002"
    assert time.monotonic() - begun > 0.1
    database.run(f"SELECT setval('{sequence}', {last + (2000 << 12)})")
    database.run(layouts.SNOWMINT.postgres_function("app", "back", 9, max_wait_ms=60_000))
    second = database.id("app.back()")
    assert layouts.SNOWMINT.decode(second).timestamp_ms >= layouts.SNOWMINT.decode(first).timestamp_ms + 2000


def test_outside_the_times_of_the_layout_there_is_no_id(database: Database) -> None:
    database.run(layouts.BAIDU.postgres_function("app", "over", 1))
    with pytest.raises(psycopg.Error, match="TIME_OVERFLOW: .* 2024-11-20T13:24:15") as caught:
        database.id("app.over()")
    assert caught.value.sqlstate == "SN003"
    later = Layout("time:41,node:1,sequence:2;epoch=2200-01-01T00:00:00Z")
    database.run(later.postgres_function("app", "early", 1, max_ahead_ms=2**64 - 1))
    with pytest.raises(psycopg.Error, match="BEFORE_EPOCH: .* 2200-01-01T00:00:00") as caught:
        database.id("app.early()")
    assert caught.value.sqlstate == "SN004"


def test_what_is_rolled_back_does_not_come_again_and_an_open_transaction_holds_nobody_up(database: Database) -> None:
    layout = Layout("time:20,node:4,sequence:24;epoch=2025-01-01T00:00:00Z;tick=3600s")
    database.run(layout.postgres_function("app", "rolled", 3))
    with database.connect() as one, database.connect() as other:
        one.execute("BEGIN")
        ids = [mint(one, "app.rolled()"), mint(other, "app.rolled()"), mint(one, "app.rolled()")]
        one.execute("SAVEPOINT s")
        ids.append(mint(one, "app.rolled()"))
        one.execute("ROLLBACK TO s")
        ids.append(mint(one, "app.rolled()"))
        one.execute("ROLLBACK")
        ids += [mint(one, "app.rolled()"), mint(other, "app.rolled()")]
    assert [layout.decode(id).sequence for id in ids] == list(range(7))


def test_a_call_that_is_cancelled_while_it_waits_leaves_no_lock(database: Database) -> None:
    layout = Layout("time:20,node:4;epoch=2025-01-01T00:00:00Z;tick=3600s")
    database.run(layout.postgres_function("app", "cancelled", 3, max_wait_ms=600_000))
    database.id("app.cancelled()")
    with database.connect() as connection:
        connection.execute("SET statement_timeout = 200")
        with pytest.raises(psycopg.errors.QueryCanceled):
            mint(connection, "app.cancelled()")
        ours = "database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        assert database.run(f"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND {ours}") == [(0,)]


def test_a_session_that_is_stopped_inside_holds_others_up_for_a_bounded_time(database: Database) -> None:
    database.run(layouts.SNOWMINT.postgres_function("app", "held", 4, max_wait_ms=0))
    ((body,),) = database.run("SELECT prosrc FROM pg_proc WHERE proname = 'held'")
    key = body.partition("pg_advisory_xact_lock(")[2].partition(")")[0]
    with database.connect() as connection:
        connection.execute(f"SELECT pg_advisory_lock({key})".encode())
        with pytest.raises(psycopg.errors.LockNotAvailable):
            database.id("app.held()")
    assert database.id("app.held()") > 0


@pytest.mark.parametrize("synchronous_commit", ["on", "off"])
def test_no_id_comes_again_after_the_server_was_killed(synchronous_commit: str) -> None:
    # So that only the sequence on disk, and not the clock, keeps the IDs apart.
    layout = Layout("time:20,node:4,sequence:30;epoch=2025-01-01T00:00:00Z;tick=86400s")
    options = ["-c", f"synchronous_commit={synchronous_commit}", "-c", "wal_writer_delay=10s"]
    with servers.Server("postgres", options) as server:
        database = Database(server.url)
        database.run(layout.postgres_function("app", "next_id", 3, max_ahead_ms=86_400_000))
        database.run("CREATE TABLE minted (id bigint PRIMARY KEY DEFAULT app.next_id(), n int NOT NULL)")
        told: list[int] = []
        for n in range(5):
            killing = threading.Timer(0.4, server.kill)

            def work(connection: psycopg.Connection[tuple[Any, ...]], n: int = n) -> list[int]:
                mine = []
                try:
                    while True:
                        # Seen by a client, and in no row.
                        mine.append(mint(connection, "app.next_id()"))
                        query = "INSERT INTO minted (n) VALUES (%s) RETURNING id"
                        mine += [int(id) for (id,) in connection.execute(query, [n])]
                except psycopg.OperationalError:
                    return mine

            told += [id for run in database.at_once(work, killing.start) for id in run]
            killing.join()
            server.restart()
        assert len(told) > 100
        again = [id for id, count in Counter(told).items() if count > 1]
        assert again == []
        kept = {id for (id,) in database.run("SELECT id FROM minted")}
        assert {layout.decode(id).node for id in kept} == {3}


def test_made_again_it_goes_on_and_for_another_node_or_layout_it_begins_anew(database: Database) -> None:
    layout = Layout("time:20,node:4,sequence:24;epoch=2025-01-01T00:00:00Z;tick=3600s")
    other = Layout("time:22,node:4,sequence:22;epoch=2025-01-01T00:00:00Z;tick=3600s")

    def sequence_of_next(layout: Layout, node: int) -> int:
        database.run(layout.postgres_function("app", "again", node))
        return layout.decode(database.id("app.again()")).sequence

    made = [(layout, 3), (layout, 3), (layout, 4), (other, 3), (layout, 3), (layout, 4)]
    assert [sequence_of_next(*each) for each in made] == [0, 1, 0, 0, 2, 1]


def test_a_role_mints_without_any_right_on_the_sequence(database: Database) -> None:
    database.run(layouts.SNOWMINT.postgres_function("app", "granted", 6))
    # Roles are of the whole server.
    role = f"minter_{database.name}"
    database.run(f"CREATE ROLE {role}", f"GRANT USAGE ON SCHEMA app TO {role}")
    (sequence,) = database.run(
        "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'S' AND relname LIKE 'granted%'"
    )[0]
    with database.connect() as connection:
        connection.execute(f"SET ROLE {role}".encode())
        # An object with the name of an object that the function uses. The session's search path finds it first; the
        # function must not.
        connection.execute("CREATE TEMPORARY TABLE pg_class (n int)")
        connection.execute("SET search_path = pg_temp, pg_catalog")
        assert layouts.SNOWMINT.decode(mint(connection, "app.granted()")).node == 6
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(f"SELECT pg_catalog.setval('{sequence}', 1)".encode())


def test_the_function_is_marked_as_one_that_changes_something(database: Database) -> None:
    database.run(layouts.SNOWMINT.postgres_function("app", "marked", 7))
    query = "SELECT provolatile, proparallel, prosecdef FROM pg_proc WHERE proname = 'marked'"
    assert database.run(query) == [("v", "u", True)]


@pytest.mark.parametrize(
    ("layout", "told"),
    [
        (layouts.SNOWMINT, "No ID is negative in a signed bigint."),
        (layouts.INSTAGRAM, "From 2046-06-27T17:00:49.497Z on IDs are negative in a signed bigint."),
        (layouts.DISCORD, "From 2084-09-06T15:47:35.552Z on IDs are negative in a signed bigint."),
        (Layout("node:4,time:48,sequence:12;epoch=0"), "any ID may be negative"),
    ],
    ids=["snowmint", "instagram", "discord", "node first"],
)
def test_the_comment_tells_when_ids_become_negative(database: Database, layout: Layout, told: str) -> None:
    database.run(layout.postgres_function("app", "told", 1))
    ((comment,),) = database.run("SELECT obj_description('app.told'::regproc)")
    assert told in comment
    if layout.signed_until and told.startswith("From"):
        assert layout.signed_until.isoformat(timespec="milliseconds").replace("+00:00", "Z") in told


def test_names_do_nothing_but_name(database: Database) -> None:
    database.run("CREATE TABLE IF NOT EXISTS canary (n int)")
    for at, schema in enumerate(NASTY):
        for name in (NASTY[at], NASTY[at - 1]):
            with database.connect() as connection:
                connection.execute(psql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(psql.Identifier(schema)))
                connection.execute("SET standard_conforming_strings = off")
                connection.execute(layouts.TWITTER.postgres_function(schema, name, 5).encode())
                row = connection.execute(psql.SQL("SELECT {}()").format(psql.Identifier(schema, name))).fetchone()
                assert row is not None
                assert layouts.TWITTER.decode(row[0]).node == 5
    assert database.run("SELECT count(*) FROM canary") == [(0,)]


def test_names_and_nodes_that_cannot_be_are_refused() -> None:
    with pytest.raises(InvalidNodeError, match="node 1024 does not fit this layout: it takes 0 to 1023"):
        layouts.SNOWMINT.postgres_function("app", "next_id", 1024)
    for schema, name in (("", "f"), ("app", ""), ("a\0", "f"), ("app", "f\0"), ("a" * 64, "f"), ("app", "é" * 27)):
        with pytest.raises(InvalidTextError, match="an SQL name has 1 to"):
            layouts.SNOWMINT.postgres_function(schema, name, 5)
    layouts.SNOWMINT.postgres_function("a" * 63, "é" * 26, 5)
    for column in ("", "t.", ".id", "a..b", "a\0"):
        with pytest.raises(InvalidTextError, match="an SQL name has 1 to 64 bytes here"):
            layouts.SNOWMINT.decode_sql("mariadb", column)
    dialect: Any = "oracle"
    with pytest.raises(InvalidTextError, match="no such SQL dialect: choose postgres, mariadb, mariadb_signed, "):
        layouts.SNOWMINT.decode_sql(dialect, "id")
    with pytest.raises(InvalidLayoutError):
        MIXED.decode_sql("postgres", "id").between(0, 1)
    with pytest.raises(UnicodeEncodeError):
        layouts.SNOWMINT.decode_sql("postgres", "\ud800")


def test_a_layout_that_no_bigint_counts_through_ends_before_its_time(database: Database) -> None:
    database.run(layouts.MASTODON.postgres_function("app", "status", 0))
    assert layouts.MASTODON.decode(database.id("app.status()")).sequence == 0
    ((comment,),) = database.run("SELECT obj_description('app.status'::regproc)")
    # Tick 2^47 - 1.
    assert "Its last tick is 6429-10-17T02:45:55.327Z." in comment
    (sequence,) = database.run(
        "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'S' AND relname LIKE 'status%'"
    )[0]
    database.run(f"SELECT setval('{sequence}', {2**63 - 2})")
    with pytest.raises(psycopg.Error, match="TIME_OVERFLOW"):
        database.id("app.status()")
    with pytest.raises(InvalidIdError):
        layouts.SNOWMINT.decode(2**63)
