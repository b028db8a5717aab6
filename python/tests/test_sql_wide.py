"""UUIDs of version 7, ULIDs and TypeIDs minted by functions of PostgreSQL, on real servers."""

import contextlib
import json
import os
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest

import processes
import servers
from snowmint import ULID, InvalidTextError, TypeID, postgres_wide_function

SESSIONS = 8
VECTORS = Path(__file__).parents[2] / "tests" / "vectors" / "prefix.json"
KINDS = {"uuid7": "uuid7()", "ulid": "ulid()", "typeid": "typeid('user')"}
NASTY = [
    'a"b',
    "'; DROP TABLE canary; --",
    "$snowmint0$",
    "x$snowmint1$",
    "back\\slash",
    "%s :p ?",
    "line\nbreak",
    "ü ñ",
]

Session = psycopg.Connection[tuple[Any, ...]]


class Database:
    """A database of PostgreSQL with the functions in the schema `app`."""

    def __init__(self, url: str) -> None:
        self.url = url.replace("+psycopg", "")
        self.run("CREATE SCHEMA app", *(postgres_wide_function(kind, "app", kind) for kind in kinds()))

    def connect(self, autocommit: bool = True) -> Session:
        return psycopg.connect(self.url, autocommit=autocommit)

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        with self.connect() as session:
            for statement in statements:
                cursor = session.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def at_once(
        self, work: Callable[[Session, random.Random], list[str]], begun: Callable[[], None] | None = None
    ) -> list[list[str]]:
        """Returns the result of each of eight sessions. All start together, right after `begun` is called."""
        barrier = threading.Barrier(SESSIONS, begun, timeout=60)

        def each(number: int) -> list[str]:
            session = self.connect(autocommit=False)
            barrier.wait()
            try:
                return work(session, random.Random(number))
            finally:
                session.close()

        with ThreadPoolExecutor(SESSIONS) as pool:
            return list(pool.map(each, range(SESSIONS)))


def kinds() -> list[Any]:
    return list(KINDS)


def mint(session: Session, kind: str, count: int = 1) -> list[str]:
    rows = session.execute(f"SELECT app.{KINDS[kind]}::text FROM generate_series(1, {count})".encode()).fetchall()
    return [str(id) for (id,) in rows]


def bits(kind: str, text: str) -> int:
    """The 128 bits of a text, by the readers of this package."""
    match kind:
        case "uuid7":
            return UUID(text).int
        case "ulid":
            return int.from_bytes(bytes(ULID(text)))
        case _:
            assert TypeID(text).prefix == "user"
            return TypeID(text).uuid.int


@pytest.fixture(scope="module")
def database(postgres: servers.Shared) -> Database:
    return Database(postgres.new_database())


@pytest.mark.parametrize("kind", KINDS)
def test_eight_sessions_that_roll_back_mint_unique_increasing_ids(database: Database, kind: str) -> None:
    rows = int(os.environ.get("SNOWMINT_ROWS", "20000")) // SESSIONS
    before_ms = time.time_ns() // 1_000_000

    def work(session: Session, chance: random.Random) -> list[str]:
        found: list[str] = []
        while len(found) < rows:
            found += mint(session, kind, chance.choice([1, 1, 1, 50]))
            match chance.randrange(10):
                case 0:
                    session.rollback()
                case 1:
                    session.commit()
                case 2:
                    session.execute("SAVEPOINT s")
                    found += mint(session, kind)
                    session.execute("ROLLBACK TO s")
        return found

    runs = database.at_once(work)
    for ids in runs:
        assert ids == sorted(set(ids))
        assert [bits(kind, id) for id in ids] == sorted(bits(kind, id) for id in ids)
    all_ids = [bits(kind, id) for ids in runs for id in ids]
    # The time alone keeps them apart, without the random bits.
    assert len({id >> (64 if kind != "ulid" else 68) for id in all_ids}) == len(all_ids)
    now_ms = time.time_ns() // 1_000_000
    assert before_ms <= min(all_ids) >> 80 <= max(all_ids) >> 80 <= now_ms
    if kind != "ulid":
        assert {id >> 76 & 15 for id in all_ids} == {7}
        assert {id >> 62 & 3 for id in all_ids} == {2}
    # Each random bit is 0 in some of them, and 1 in others.
    random_bits = (1 << (62 if kind != "ulid" else 68)) - 1
    both = [0, 0]
    for id in all_ids[:1000]:
        both = [both[0] | id, both[1] | ~id]
    assert both[0] & both[1] & random_bits == random_bits


@pytest.mark.parametrize("kind", KINDS)
def test_ids_are_defaults_of_columns_in_the_order_of_inserts(database: Database, kind: str) -> None:
    of = "uuid" if kind == "uuid7" else 'text COLLATE "C"'
    table = f"of_{kind}"
    database.run(f"CREATE TABLE {table} (id {of} PRIMARY KEY DEFAULT app.{KINDS[kind]}, n int)")
    database.run(f"INSERT INTO {table} (n) SELECT generate_series(1, 3000)")
    assert [n for (n,) in database.run(f"SELECT n FROM {table} ORDER BY id")] == list(range(1, 3001))


def test_every_prefix_of_the_vectors_is_taken_or_refused(database: Database) -> None:
    cases = json.loads(VECTORS.read_text())["cases"]
    # A case without a text only tests writing, so its error is about the prefix.
    valid = {case["prefix"] for case in cases if "error" not in case}
    refused = {case["prefix"] for case in cases if "error" in case and "text" not in case}
    assert len(valid) > 5
    assert len(refused) > 5
    with database.connect() as session:
        for prefix in valid:
            row = session.execute("SELECT app.typeid(%s)", [prefix]).fetchone()
            assert row is not None
            assert TypeID(row[0]).prefix == prefix
        more = ["user\n", "\nuser", "a" * 64, "usér", "ａ", "user\\", "USER", "a-b", "1"]
        for prefix in [*refused, *more, None]:
            with pytest.raises(psycopg.Error, match="^INVALID_TEXT: ") as caught:
                session.execute("SELECT app.typeid(%s)", [prefix])
            assert caught.value.sqlstate == "SN005"
            assert "NULL" in str(caught.value) if prefix is None else prefix[:80] in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_a_clock_set_back_changes_nothing(kind: str) -> None:
    with processes.scripted_clock() as (env, set_clock), servers.Server("postgres", env=env) as server:
        database = Database(server.url)
        session = database.connect()
        ids: list[str] = []
        for offset_s in (0, -3600, -3601, 0, 7200, 100):
            set_clock(offset_s)
            ids += mint(session, kind, 3000)
        session.close()
    assert ids == sorted(set(ids))
    times = [bits(kind, id) >> 80 for id in ids]
    assert 7_100_000 < times[-1] - times[0] < 7_300_000


def test_outside_of_48_bits_of_ms_there_is_no_id(database: Database) -> None:
    database.run(postgres_wide_function("uuid7", "app", "late"))
    database.run(f"SELECT setval('app.late_last', {2**60 - 2})")
    assert UUID(str(database.run("SELECT app.late()")[0][0])).int >> 64 == 0xFFFFFFFFFFFF7FFF
    with pytest.raises(psycopg.Error, match="TIME_OVERFLOW") as caught:
        database.run("SELECT app.late()")
    assert caught.value.sqlstate == "SN003"


@pytest.mark.parametrize("kind", KINDS)
def test_no_id_comes_again_after_kills_of_calls_sessions_and_the_server(kind: str) -> None:
    # A sequence that a crash sets back leaves the random bits, so the commit need not be on disk.
    with servers.Server("postgres", ["-c", "synchronous_commit=off", "-c", "wal_writer_delay=10s"]) as server:
        database = Database(server.url)
        # Without it the first kill may undo the functions.
        database.run("CHECKPOINT")
        told: list[str] = []
        rounds = int(os.environ.get("SNOWMINT_KILLS", "3"))
        for number in range(1, rounds + 1):

            def disturb(number: int = number) -> None:
                """Cancels calls and ends sessions until there are enough IDs, then kills the server."""
                others = "FROM pg_stat_activity WHERE query LIKE 'SELECT app.%' AND pid <> pg_backend_pid()"
                until = time.monotonic() + 600
                try:
                    with database.connect() as session:
                        while len(told) < 400 * number and time.monotonic() < until:
                            for what in ("pg_cancel_backend", "pg_terminate_backend"):
                                session.execute(f"SELECT {what}(pid) {others} ORDER BY random() LIMIT 1".encode())
                                time.sleep(0.05)
                finally:
                    # Whatever happens here, the sessions end with the server.
                    server.kill()

            def work(session: Session, chance: random.Random) -> list[str]:
                while True:
                    try:
                        told.extend(mint(session, kind, chance.choice([1, 100])))
                    except psycopg.Error:
                        # A session may end between the call that was cancelled and its rollback.
                        with contextlib.suppress(psycopg.Error):
                            session.rollback()
                        if session.closed:
                            try:
                                session = database.connect(autocommit=False)
                            except psycopg.OperationalError:
                                return []

            disturbing = threading.Thread(target=disturb)
            database.at_once(work, disturbing.start)
            disturbing.join()
            server.restart()
        assert len(told) >= 400 * rounds
        assert len(set(told)) == len(told)


def test_a_role_mints_without_any_right_on_the_sequence(database: Database) -> None:
    # Roles are of the whole server.
    role = f"minter_{database.url.rpartition('/')[2]}"
    database.run(f"CREATE ROLE {role}", f"GRANT USAGE ON SCHEMA app TO {role}")
    with database.connect() as session:
        session.execute(f"SET ROLE {role}".encode())
        session.execute("CREATE TEMPORARY TABLE pg_class (n int)")
        session.execute("SET search_path = pg_temp, pg_catalog")
        for kind in KINDS:
            assert mint(session, kind)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                session.execute(f"SELECT pg_catalog.setval('app.{kind}_last', 1)".encode())


def test_names_do_nothing_but_name(database: Database) -> None:
    database.run("CREATE TABLE canary (n int)")
    for schema, name in zip(NASTY, NASTY[1:] + NASTY[:1], strict=True):
        quoted, called = (part.replace('"', '""') for part in (schema, name))
        database.run(f'CREATE SCHEMA "{quoted}"')
        for kind in kinds():
            argument = "'user'" if kind == "typeid" else ""
            # The kinds return different types, and a script replaces only its own function.
            script = postgres_wide_function(kind, schema, name + kind)
            database.run("SET standard_conforming_strings = off", script)
            assert database.run(f'SELECT "{quoted}"."{called}{kind}"({argument})')
    assert database.run("SELECT count(*) FROM canary") == [(0,)]


def test_names_and_kinds_that_cannot_be_are_refused() -> None:
    for schema, name in (("", "f"), ("app", ""), ("a\0", "f"), ("a" * 64, "f"), ("app", "f" * 59)):
        with pytest.raises(InvalidTextError, match="an SQL name has 1 to"):
            postgres_wide_function("uuid7", schema, name)
    postgres_wide_function("uuid7", "a" * 63, "f" * 58)
    kind: Any = "uuid4"
    with pytest.raises(InvalidTextError, match="no such kind of 128-bit ID: choose uuid7, ulid or typeid"):
        postgres_wide_function(kind, "app", "f")
