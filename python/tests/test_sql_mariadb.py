"""IDs minted by the stored function of MariaDB, on real servers."""

import contextlib
import os
import random
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, TypeAlias

import pymysql
import pytest

import processes
import servers
from quick import nightly
from snowmint import InvalidNodeError, InvalidTextError, Layout, layouts

SESSIONS = 8
# Of one tick as long as a day: only the counter keeps its IDs apart, and not the clock.
DAY = Layout("time:20,node:4,sequence:30;epoch=2025-01-01T00:00:00Z;tick=86400s")
# Fields in an unusual order, a node in two pieces, an unusual tick, an epoch before 1970.
MIXED = Layout("high:3,time:38,random:9,sequence:10,low:4;epoch=1960-05-05T00:00:00Z;tick=10ms")
# Bit 63 is 1 since 2024-11.
NEGATIVE = Layout("time:41,shard:13,sequence:10;epoch=1990-01-01T00:00:00Z")
NASTY = [
    'a"b',
    "'; DROP TABLE canary; --",
    "*/ ; // $$",
    "back\\slash",
    "back`tick",
    "%s :p ?",
    "line\nbreak",
    "ü ñ 号",
]

Session: TypeAlias = "pymysql.Connection[Any]"


class Database:
    """A database of MariaDB."""

    def __init__(self, port: int, name: str, user: str = "root") -> None:
        self.port, self.name, self.user = port, name, user

    def connect(self, autocommit: bool = True) -> Session:
        return pymysql.connect(
            host="127.0.0.1",
            port=self.port,
            user=self.user,
            database=self.name,
            autocommit=autocommit,
            # Waiting for another session's transaction is a fault here.
            init_command="SET innodb_lock_wait_timeout = 2",
        )

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """Does the statements, and gives the rows of the last one."""
        session = self.connect()
        try:
            for statement in statements:
                rows = run(session, statement)
            return rows
        finally:
            session.close()

    def install(self, layout: Layout, name: str, node: int, **options: Any) -> None:
        self.run(*layout.mariadb_function(self.name, name, node, **options))

    def at_once(
        self, work: Callable[[Session, random.Random], list[int]], begun: Callable[[], None] | None = None
    ) -> list[list[int]]:
        """Returns the result of each of eight sessions. All start together, right after `begun` is called."""
        barrier = threading.Barrier(SESSIONS, begun, timeout=60)

        def each(number: int) -> list[int]:
            session = self.connect(autocommit=False)
            barrier.wait()
            return work(session, random.Random(number))

        with ThreadPoolExecutor(SESSIONS) as pool:
            return list(pool.map(each, range(SESSIONS)))

    def table_of(self, function: str) -> str:
        query = "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE"
        return str(self.run(f"{query} '{function}\\_%'")[0][0])


def run(session: Session, statement: str) -> list[tuple[Any, ...]]:
    with session.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())


def mint(session: Session, function: str, count: int = 1) -> list[int]:
    return [int(id) for (id,) in run(session, f"SELECT {function} FROM seq_1_to_{count}")]


def refusal(database: Database, statement: str) -> tuple[str, str]:
    """The SQLSTATE and the message of a statement that fails."""
    with pytest.raises(pymysql.MySQLError) as caught:
        database.run(
            f"BEGIN NOT ATOMIC DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN GET DIAGNOSTICS CONDITION 1 "
            f"@state = RETURNED_SQLSTATE, @text = MESSAGE_TEXT; SET @both = CONCAT(@state, @text); "
            f"SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = @both; END; {statement}; END"
        )
    text = str(caught.value.args[1])
    return text[:5], text[5:]


@pytest.fixture(scope="module")
def database(mariadb: servers.Shared) -> Database:
    return Database(mariadb.port, mariadb.new_database().rpartition("/")[2])


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
def test_eight_sessions_that_roll_back_mint_unique_increasing_ids(
    database: Database, layout: Layout, node: int, start: Any
) -> None:
    rows = int(os.environ.get("SNOWMINT_ROWS", "20000")) if layout == layouts.SNOWMINT else 8_000
    # Sonyflake's 256 IDs in 10 ms are soon used up: a session that waits its turn waits for many.
    database.install(layout, "next_id", node, sequence_start=start, max_wait_ms=60_000)

    def work(session: Session, chance: random.Random) -> list[int]:
        found: list[int] = []
        while len(found) < rows // SESSIONS:
            found += mint(session, "next_id()", chance.choice([1, 1, 1, 50]))
            match chance.randrange(10):
                case 0:
                    session.rollback()
                case 1:
                    session.commit()
                case 2:
                    run(session, "SAVEPOINT s")
                    found += mint(session, "next_id()")
                    run(session, "ROLLBACK TO s")
        return found

    runs = database.at_once(work)
    for ids in runs:
        places = [(layout.decode(id).tick, layout.decode(id).sequence) for id in ids]
        assert places == sorted(set(places))
    all_ids = [id for ids in runs for id in ids]
    assert len(all_ids) >= rows
    # Without random fields, so that they cannot hide a place that is given out twice.
    places = [(layout.decode(id).tick, layout.decode(id).sequence) for id in all_ids]
    assert len(set(places)) == len(places)
    assert {layout.decode(id).node for id in all_ids} == {node}
    assert max(Counter(tick for tick, _ in places).values()) <= layout.ids_per_tick
    times = [layout.decode(id).timestamp_ms for id in all_ids]
    now_ms = time.time_ns() // 1_000_000
    assert now_ms - 300_000 < min(times) <= max(times) <= now_ms
    assert database.run(f"SELECT COUNT(*) FROM `{database.table_of('next_id')}`") == [(1,)]
    database.run(f"DROP TABLE `{database.table_of('next_id')}`")


@nightly
def test_large_statements_of_eight_sessions_end_and_repeat_nothing(database: Database) -> None:
    database.install(layouts.SNOWMINT, "large", 8, max_wait_ms=10_000)

    def work(session: Session, _: random.Random) -> list[int]:
        session.autocommit(True)
        return [id for _round in range(20) for id in mint(session, "large()", 250)]

    ids = [id for run in database.at_once(work) for id in run]
    assert len(set(ids)) == len(ids) == SESSIONS * 20 * 250


@pytest.mark.parametrize("isolation", ["REPEATABLE READ", "READ COMMITTED", "SERIALIZABLE"])
def test_an_open_transaction_holds_nobody_up(database: Database, isolation: str) -> None:
    name = f"open_{isolation.replace(' ', '_')}"
    database.install(DAY, name, 3)
    function = f"{name}()"
    one, other = database.connect(autocommit=False), database.connect(autocommit=False)
    for session in (one, other):
        run(session, f"SET TRANSACTION ISOLATION LEVEL {isolation}")
    ids = mint(one, function) + mint(other, function) + mint(one, function, 20) + mint(other, function, 20)
    one.rollback()
    ids += mint(other, function) + mint(one, function)
    other.rollback()
    ids += mint(one, function)
    assert ids == sorted(set(ids))
    one.close()
    other.close()


@pytest.mark.parametrize("max_wait_ms", [0, 20_000])
def test_a_sequence_that_is_used_up_waits_or_fails_and_never_wraps(database: Database, max_wait_ms: int) -> None:
    layout = Layout("time:40,node:4,sequence:2;epoch=2025-01-01T00:00:00Z;tick=100ms")
    database.install(layout, "few", 3, max_wait_ms=max_wait_ms)
    failures = []

    def work(session: Session, _: random.Random) -> list[int]:
        found = []
        for _call in range(6):
            try:
                found += mint(session, "few()")
            except pymysql.MySQLError as error:
                failures.append(str(error.args[1]))
        return found

    ids = [id for run in database.at_once(work) for id in run]
    assert len(set(ids)) == len(ids)
    assert len(ids) + len(failures) == 48
    assert bool(failures) == (max_wait_ms == 0)
    assert {text.partition(":")[0] for text in failures} <= {"EXHAUSTED", "CLOCK_BACKWARDS"}
    assert max(Counter(layout.decode(id).tick for id in ids).values()) <= 4


def test_errors_have_a_state_and_say_what_is_wrong(database: Database) -> None:
    layout = Layout("time:40,node:4;epoch=2025-01-01T00:00:00Z;tick=3600s")
    database.install(layout, "one_an_hour", 3, max_wait_ms=50)
    database.run("SELECT one_an_hour()")
    state, text = refusal(database, "SELECT one_an_hour()")
    assert (state, text.partition(":")[0]) == ("SN001", "EXHAUSTED")
    database.install(layouts.BAIDU, "ended", 1)
    state, text = refusal(database, "SELECT ended()")
    assert state == "SN003"
    assert text == "TIME_OVERFLOW: the last tick of this function was 2024-11-20T13:24:15.000Z"
    later = Layout("time:41,node:1,sequence:2;epoch=2200-01-01T00:00:00Z")
    database.install(later, "early", 1, max_ahead_ms=2**64 - 1)
    state, text = refusal(database, "SELECT early()")
    assert state == "SN004"
    assert text == "BEFORE_EPOCH: the clock reads a time before the layout's epoch, 2200-01-01T00:00:00.000Z"


def test_ids_run_ahead_of_the_clock_as_far_as_they_may(database: Database) -> None:
    layout = Layout("time:40,sequence:1;epoch=2025-01-01T00:00:00Z;tick=1s")
    database.install(layout, "ahead", 0, max_ahead_ms=10_000, max_wait_ms=0)
    before_ms = time.time_ns() // 1_000_000
    session = database.connect()
    ids = [id for _ in range(20) for id in mint(session, "ahead()")]
    assert ids == sorted(set(ids))
    assert before_ms + 8_000 < layout.decode(ids[-1]).timestamp_ms <= time.time_ns() // 1_000_000 + 10_000
    with pytest.raises(pymysql.MySQLError, match="EXHAUSTED"):
        [mint(session, "ahead()") for _ in range(20)]
    session.close()


def test_a_clock_set_back_is_waited_for_or_told() -> None:
    with processes.scripted_clock() as (env, set_clock), servers.Server("mariadb", env=env) as server:
        database = Database(server.port, "ids")
        layout = layouts.SNOWMINT
        database.install(layout, "next_id", 9, max_wait_ms=100)
        session = database.connect()
        first = mint(session, "next_id()", 100)[-1]
        set_clock(-3600)
        begun = time.monotonic()
        with pytest.raises(pymysql.MySQLError, match=r"CLOCK_BACKWARDS: the clock is 3[56]\d{5} ms behind the last ID"):
            mint(session, "next_id()")
        assert time.monotonic() - begun > 0.1
        # Half a second back, for which a call may wait.
        set_clock(-0.5)
        database.install(layout, "next_id", 9, max_wait_ms=60_000)
        second = mint(session, "next_id()")[0]
        assert second > first
        # An hour on, and back once more while IDs may run ahead.
        set_clock(3600)
        third = mint(session, "next_id()")[0]
        assert layout.decode(third).timestamp_ms > layout.decode(second).timestamp_ms + 3_500_000
        set_clock(0)
        database.install(layout, "next_id", 9, max_ahead_ms=4_000_000, max_wait_ms=0)
        ids = [third, *mint(session, "next_id()", 5000)]
        assert ids == sorted(set(ids))
        session.close()


# A server's zone, and two instants that have the same local time there.
BERLIN = (datetime(2025, 10, 26, 0, 30, tzinfo=UTC), datetime(2025, 10, 26, 1, 30, tzinfo=UTC))
REPEATED = {
    "SYSTEM": BERLIN,
    "Europe/Berlin": BERLIN,
    # This zone steps by half an hour.
    "Australia/Lord_Howe": (datetime(2025, 4, 5, 14, 45, tzinfo=UTC), datetime(2025, 4, 5, 15, 15, tzinfo=UTC)),
}

# Leases a node with the clock of its environment, and prints how far it is ahead of the store's.
LEASER = """
    import sys
    from sqlalchemy import create_engine
    from snowmint import Snowflake, layouts
    from snowmint.stores import SqlStore
    url, namespace = sys.argv[1:]
    engine = create_engine(url)
    with Snowflake(store=SqlStore(engine), namespace=namespace) as generator:
        print(generator.status().skew_ms, generator.next_id())
"""


@nightly
def test_times_are_right_in_both_hours_of_one_local_time() -> None:
    with processes.scripted_clock() as (env, set_clock):
        with servers.Server("mariadb", env={**env, "TZ": "Europe/Berlin"}) as server:
            database = Database(server.port, "ids")
            for zone in list(REPEATED)[1:]:
                rules = ["mariadb-tzinfo-to-sql", f"/usr/share/zoneinfo/{zone}", zone]
                client = ["mariadb", "--no-defaults", "-uroot", "-h127.0.0.1", f"-P{server.port}", "mysql"]
                subprocess.run(client, input=subprocess.check_output(rules), check=True)
            wrong_s: dict[str, list[float]] = {}
            for zone, instants in REPEATED.items():
                local = []
                for instant in instants:
                    # The times of the zones do not ascend, so each has a separate node.
                    node = len(wrong_s)
                    database.install(layouts.SNOWMINT, f"of_{node}", node)
                    offset_s = instant.timestamp() - time.time()
                    set_clock(offset_s)
                    database.run(f"SET GLOBAL time_zone = '{zone}'")
                    ((hour, id),) = database.run(f"SELECT HOUR(SYSDATE()), of_{node}()")
                    local.append(hour)
                    now_ms = (time.time() + offset_s) * 1000
                    skew_ms, leased = processes.run(LEASER, server.url, f"of-{node}", **env).split()
                    times = [layouts.SNOWMINT.decode(each).timestamp_ms - now_ms for each in (id, int(leased))]
                    wrong_s[f"{zone}, {instant}"] = [round(ms / 1000, -2) for ms in (*times, int(skew_ms))]
                assert local[0] == local[1]
            assert wrong_s == dict.fromkeys(wrong_s, [0, 0, 0])


@nightly
def test_killed_calls_and_sessions_repeat_nothing_and_block_nobody(database: Database) -> None:
    database.install(DAY, "killed", 3)
    database.run("CREATE TABLE told (id BIGINT UNSIGNED PRIMARY KEY)")
    ended = threading.Event()
    kills = Counter[str]()
    enough = 3 * int(os.environ.get("SNOWMINT_KILLS", "3"))

    def kill() -> None:
        chance = random.Random(7)
        session = database.connect()
        while not ended.is_set():
            query = "SELECT id FROM information_schema.processlist WHERE info LIKE 'SELECT killed%'"
            for (number,) in run(session, query):
                what = chance.choice(["QUERY", "CONNECTION"])
                # The session may have ended meanwhile.
                with contextlib.suppress(pymysql.MySQLError):
                    run(session, f"KILL {what} {number}")
                    kills[what] += 1
            time.sleep(0.01)
        session.close()

    killer = threading.Thread(target=kill)

    def work(session: Session, chance: random.Random) -> list[int]:
        found: list[int] = []
        # A hang, also on a busy machine.
        until = time.monotonic() + 600
        while (len(found) < 500 or min(kills["QUERY"], kills["CONNECTION"]) < enough) and time.monotonic() < until:
            try:
                found += mint(session, "killed()", chance.choice([1, 500]))
                zone = run(session, "SELECT @@time_zone")
            except pymysql.MySQLError:
                # A kill may also hit a statement after the one for which it was meant.
                try:
                    session.rollback()
                except pymysql.MySQLError:
                    session = database.connect(autocommit=False)
                continue
            assert zone == [("SYSTEM",)]
        return found

    try:
        ids = [id for run in database.at_once(work, killer.start) for id in run]
    finally:
        ended.set()
        killer.join()
    assert min(kills["QUERY"], kills["CONNECTION"]) >= enough, kills
    assert len(ids) >= 500 * SESSIONS
    assert len(set(ids)) == len(ids)
    # Whoever was killed inside holds no lock: the function would fail.
    assert database.run("SELECT killed()")[0][0] > max(ids)


def test_committed_ids_do_not_come_again_after_the_server_was_killed() -> None:
    with servers.Server("mariadb") as server:
        database = Database(server.port, "ids")
        database.install(DAY, "next_id", 3)
        database.run("CREATE TABLE minted (id BIGINT UNSIGNED PRIMARY KEY, n INT NOT NULL)")
        told: list[int] = []
        rounds = int(os.environ.get("SNOWMINT_KILLS", "3"))
        for n in range(rounds):

            def kill(n: int = n) -> None:
                while len(told) < 200 * (n + 1):
                    time.sleep(0.01)
                server.kill()

            def work(session: Session, chance: random.Random, n: int = n) -> list[int]:
                newest = 0
                try:
                    while True:
                        run(session, f"INSERT INTO minted SELECT next_id(), {n} FROM seq_1_to_{chance.choice([1, 20])}")
                        if chance.randrange(5) == 0:
                            session.rollback()
                            continue
                        ids = run(session, f"SELECT id FROM minted WHERE n = {n} AND id > {newest}")
                        session.commit()
                        told.extend(int(id) for (id,) in ids)
                        newest = max(told)
                except (pymysql.OperationalError, pymysql.InterfaceError):
                    # Not an error of the primary key, which would be an ID that came again.
                    return []

            killing = threading.Thread(target=kill)
            database.at_once(work, killing.start)
            killing.join()
            server.restart()
            # All IDs that clients have read are committed, and the next ID is greater than all of them.
            kept = {id for (id,) in database.run("SELECT id FROM minted")}
            assert set(told) <= kept
            assert database.run("SELECT next_id()")[0][0] > max(kept)
        assert len(told) >= 200 * rounds


def test_a_user_mints_without_any_right_on_the_table(database: Database) -> None:
    database.install(layouts.SNOWMINT, "granted", 6)
    user = f"minter_{database.name}"
    database.run(f"CREATE OR REPLACE USER {user}", f"GRANT EXECUTE ON FUNCTION `{database.name}`.granted TO {user}")
    minter = Database(database.port, database.name, user)
    assert layouts.SNOWMINT.decode(minter.run("SELECT granted()")[0][0]).node == 6
    with pytest.raises(pymysql.MySQLError, match="denied"):
        minter.run(f"UPDATE `{database.table_of('granted')}` SET free = 0")
    database.run(f"DROP USER {user}")


def test_a_trigger_mints_and_leaves_the_session_as_it_was(database: Database) -> None:
    database.install(layouts.SNOWMINT, "default_id", 7)
    database.run(
        "CREATE TABLE orders (id BIGINT UNSIGNED PRIMARY KEY DEFAULT 0, n INT)",
        "CREATE TRIGGER orders_id BEFORE INSERT ON orders FOR EACH ROW "
        "SET NEW.id = IF(NEW.id > 0, NEW.id, default_id())",
        "CREATE TABLE counted (n INT AUTO_INCREMENT PRIMARY KEY)",
    )
    session = database.connect()
    run(session, "SET time_zone = '+05:30'")
    run(session, "INSERT INTO counted VALUES (77)")
    run(session, "INSERT INTO counted VALUES (NULL)")
    run(session, "INSERT INTO orders (n) VALUES (1), (2), (3)")
    run(session, "INSERT INTO orders (id, n) VALUES (5, 4)")
    assert run(session, "SELECT LAST_INSERT_ID(), @@time_zone") == [(78, "+05:30")]
    ids = [id for (id,) in run(session, "SELECT id FROM orders ORDER BY n")]
    assert ids[3] == 5
    assert ids[:3] == sorted(set(ids[:3]))
    now_ms = time.time_ns() // 1_000_000
    assert all(now_ms - 60_000 < layouts.SNOWMINT.decode(id).timestamp_ms <= now_ms for id in ids[:3])
    session.close()


def test_made_again_it_goes_on_and_for_another_node_or_layout_it_begins_anew(database: Database) -> None:
    other = Layout("time:22,node:4,sequence:28;epoch=2025-01-01T00:00:00Z;tick=86400s")

    def sequence_of_next(layout: Layout, node: int) -> int:
        database.install(layout, "again", node)
        return layout.decode(database.run("SELECT again()")[0][0]).sequence

    made = [(DAY, 3), (DAY, 3), (DAY, 4), (other, 3), (DAY, 3), (DAY, 4)]
    assert [sequence_of_next(*each) for each in made] == [0, 1, 0, 0, 2, 1]


def test_names_do_nothing_but_name(database: Database) -> None:
    database.run("CREATE TABLE canary (n INT)")
    for at, schema in enumerate(NASTY):
        quoted = schema.replace("`", "``")
        database.run(f"CREATE DATABASE IF NOT EXISTS `{quoted}`")
        for name in (NASTY[at], NASTY[at - 1]):
            database.run(*layouts.TWITTER.mariadb_function(schema, name, 5))
            called = name.replace("`", "``")
            assert layouts.TWITTER.decode(database.run(f"SELECT `{quoted}`.`{called}`()")[0][0]).node == 5
        database.run(f"DROP DATABASE `{quoted}`")
    assert database.run("SELECT COUNT(*) FROM canary") == [(0,)]


def test_names_and_nodes_that_cannot_be_are_refused() -> None:
    with pytest.raises(InvalidNodeError, match="node 1024 does not fit this layout: it takes 0 to 1023"):
        layouts.SNOWMINT.mariadb_function("app", "next_id", 1024)
    for schema, name in (("", "f"), ("app", ""), ("a\0", "f"), ("app", "f\0"), ("a" * 65, "f"), ("app", "é" * 27)):
        with pytest.raises(InvalidTextError, match="an SQL name has 1 to"):
            layouts.SNOWMINT.mariadb_function(schema, name, 5)
    layouts.SNOWMINT.mariadb_function("a" * 64, "é" * 26, 5)
