"""Numbers of sequences that PostgreSQL and MariaDB have."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy

import processes
import servers
from snowmint import (
    ExhaustedError,
    InvalidIdError,
    InvalidStoreError,
    NativeNumbers,
    UnsafeStoreError,
)
from snowmint.stores import MemoryStore, SqlStore

PATIENT_MS = 60_000
ENGINES: tuple[servers.Engine, ...] = ("postgres", "mariadb")


@pytest.fixture(params=ENGINES)
def database(request: pytest.FixtureRequest) -> sqlalchemy.Engine:
    """An empty database."""
    return sqlalchemy.create_engine(servers.shared(request.param).new_database())


def run(database: sqlalchemy.Engine, *statements: str) -> None:
    with database.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def nextval(database: sqlalchemy.Engine, name: str) -> int:
    with database.begin() as connection:
        is_postgres = database.dialect.name == "postgresql"
        query = f"SELECT nextval('{name}')" if is_postgres else f"SELECT NEXT VALUE FOR {name}"
        return int(connection.exec_driver_sql(query).scalar_one())


def test_numbers_mix_with_those_of_other_sessions(database: sqlalchemy.Engine) -> None:
    run(database, "CREATE SEQUENCE invoices START WITH 100 INCREMENT BY 10")
    invoices = NativeNumbers(SqlStore(database), "invoices", step=3, max_wait_ms=PATIENT_MS)
    taken = [invoices.next(), next(invoices), next(iter(invoices))]
    assert taken == [100, 110, 120]
    assert asyncio.run(invoices.next_async()) > 120
    others = [nextval(database, "invoices") for _ in range(5)]
    mine = [invoices.next() for _ in range(50)]
    assert len({*others, *mine}) == 55
    assert mine == sorted(mine)
    assert repr(invoices) == 'NativeNumbers("invoices")'


@pytest.mark.parametrize(
    ("definition", "numbers"),
    [
        ("MAXVALUE 5 CACHE 3", [1, 2, 3, 4, 5]),
        ("START WITH -1 INCREMENT BY -2 MINVALUE -7 MAXVALUE -1", [-1, -3, -5, -7]),
        ("START WITH 9223372036854775805 MAXVALUE 9223372036854775806", [2**63 - 3, 2**63 - 2]),
    ],
)
def test_a_sequence_gives_its_last_number_and_ends(
    database: sqlalchemy.Engine, definition: str, numbers: list[int]
) -> None:
    run(database, f"CREATE SEQUENCE small {definition}")
    small = NativeNumbers(SqlStore(database), "small", max_wait_ms=PATIENT_MS)
    taken = []
    with pytest.raises(ExhaustedError) as failed:
        while True:
            taken.append(small.next())
    assert taken == numbers
    assert failed.value.retry_after_ms is None
    with pytest.raises(ExhaustedError):
        small.next()


def test_sequences_whose_numbers_can_repeat_are_refused(database: sqlalchemy.Engine) -> None:
    is_postgres = database.dialect.name == "postgresql"
    run(
        database,
        "CREATE SEQUENCE round MAXVALUE 3 CYCLE",
        "CREATE UNLOGGED SEQUENCE quick" if is_postgres else "CREATE SEQUENCE quick ENGINE=MyISAM",
        "CREATE SEQUENCE later",
    )
    careful, careless = SqlStore(database), SqlStore(database, allow_unsafe=True)
    cures = {"round": "NO CYCLE, or pass allow_unsafe=true", "quick": "SET LOGGED" if is_postgres else "ENGINE=InnoDB"}
    for name, cure in cures.items():
        with pytest.raises(UnsafeStoreError, match=cure):
            NativeNumbers(careful, name, max_wait_ms=PATIENT_MS).next()
        assert NativeNumbers(careless, name, max_wait_ms=PATIENT_MS).next() == 1
    # A sequence may get CYCLE later.
    later = NativeNumbers(careful, "later", step=1, max_wait_ms=PATIENT_MS)
    assert later.next() == 1
    run(database, "ALTER SEQUENCE later CYCLE")
    with pytest.raises(UnsafeStoreError, match="CYCLE"):
        for _ in range(100_000):
            later.next()


def test_what_is_no_sequence_is_refused(database: sqlalchemy.Engine) -> None:
    run(database, "CREATE TABLE plain (x int)")
    store = SqlStore(database)
    for name in ("missing", "plain"):
        with pytest.raises(InvalidStoreError, match=name):
            NativeNumbers(store, name, max_wait_ms=PATIENT_MS).next()
    for name in ("", "a b", "a.b", 'a"', "a`", "1a"):
        with pytest.raises(InvalidStoreError, match="1 to 64 of A-Z a-z 0-9 _"):
            NativeNumbers(store, name)
    for step in (0, -1, 2**31):
        with pytest.raises(InvalidIdError):
            NativeNumbers(store, "plain", step=step)


def test_stores_without_sequences_are_refused() -> None:
    for store in (MemoryStore(), SqlStore(sqlalchemy.create_engine("sqlite:///ids.db"))):
        with pytest.raises(InvalidStoreError, match="only PostgreSQL and MariaDB have"):
            NativeNumbers(store, "orders")
    with pytest.raises(TypeError):
        NativeNumbers(5, "orders")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        NativeNumbers(MemoryStore(), 5)  # type: ignore[arg-type]


def test_threads_repeat_nothing(database: sqlalchemy.Engine) -> None:
    run(database, "CREATE SEQUENCE s$1")
    numbers = NativeNumbers(SqlStore(database), "s$1", step=10, max_wait_ms=PATIENT_MS)
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda _: [numbers.next() for _ in range(500)], range(4)))
    assert all(each == sorted(each) for each in taken)
    assert len({number for each in taken for number in each}) == 2000


TAKER = """
    import sys
    from snowmint import NativeNumbers
    numbers = NativeNumbers(sys.argv[1], "s", step=20, max_wait_ms=60_000)
    while True:
        print(numbers.next(), flush=True)
"""


@pytest.fixture(params=ENGINES)
def server(request: pytest.FixtureRequest) -> Callable[[], servers.Server]:
    """Starts a server of one test."""
    return lambda: servers.Server(request.param)


def test_kills_of_processes_and_of_the_server_repeat_nothing(server: Callable[[], servers.Server]) -> None:
    with server() as running:
        database = sqlalchemy.create_engine(running.url)
        run(database, "CREATE SEQUENCE s")
        database.dispose()
        url = database.url.render_as_string(hide_password=False)
        taken: list[int] = []
        for round_ in range(4):
            with ThreadPoolExecutor(2) as pool:
                takes = [
                    pool.submit(processes.taken_until_killed, TAKER, url, count=count + 7 * round_)
                    for count in (50, 333)
                ]
                for take in takes:
                    taken += take.result()
            running.kill()
            running.restart()
        assert len(set(taken)) == len(taken) >= 1500


def test_a_forked_child_opens_its_own_numbers(database: sqlalchemy.Engine) -> None:
    run(database, "CREATE SEQUENCE s")
    program = """
        import os, sys
        from snowmint import ForkedError, NativeNumbers
        numbers = NativeNumbers(sys.argv[1], "s", max_wait_ms=60_000)
        first = numbers.next()
        if os.fork() == 0:
            try:
                numbers.next()
            except ForkedError:
                os._exit(0 if NativeNumbers(sys.argv[1], "s", max_wait_ms=60_000).next() != first else 2)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
    """
    processes.minted(program, database.url.render_as_string(hide_password=False))
