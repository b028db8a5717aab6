"""Tickets over every store."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy

import processes
import servers
from hanging import Gated
from snowmint import (
    ExhaustedError,
    InvalidIdError,
    InvalidStoreError,
    InvalidTextError,
    StoreUnavailableError,
    Tickets,
    UnsafeStoreError,
)
from snowmint.stores import FileStore, MemoryStore, SqlStore
from test_stores import Place, named, place  # noqa: F401

PATIENT_MS = 20_000


class Down(MemoryStore):
    """A store that may be down."""

    is_down = False

    def add(self, counter: str, delta: int, start: int) -> int:
        """As `Store.add`."""
        if self.is_down:
            raise ConnectionError("down")
        return super().add(counter, delta, start)


def test_one_store_gives_every_number(place: Place, namespace: str) -> None:  # noqa: F811
    store = place.store()
    photos = Tickets(store, namespace, max_wait_ms=PATIENT_MS)
    assert [photos.next(), next(photos), next(iter(photos))] == [1, 2, 3]
    assert Tickets([store], namespace, max_wait_ms=PATIENT_MS).next() == 4


def test_two_stores_give_odd_and_even_numbers() -> None:
    first, second = Down(), Down()
    photos = Tickets([first, second], "photos", max_wait_ms=PATIENT_MS)
    assert [photos.next() for _ in range(4)] == [1, 2, 3, 4]
    second.is_down = True
    assert [photos.next() for _ in range(3)] == [5, 7, 9]
    first.is_down, second.is_down = True, False
    assert [photos.next() for _ in range(2)] == [6, 8]
    second.is_down = True
    with pytest.raises(StoreUnavailableError, match=r"down.*down"):
        photos.next()


def test_another_order_or_number_of_stores_is_refused() -> None:
    stores = [MemoryStore(), MemoryStore()]
    Tickets(stores, "photos").next()
    with pytest.raises(InvalidIdError):
        Tickets(reversed(stores), "photos").next()
    with pytest.raises(InvalidIdError):
        Tickets(stores[:1], "photos").next()
    for wrong in ([], [MemoryStore() for _ in range(33)]):
        with pytest.raises(InvalidIdError):
            Tickets(wrong, "photos")


def test_threads_repeat_nothing_and_each_sees_its_tickets_increase(place: Place, namespace: str) -> None:  # noqa: F811
    photos = Tickets(place.store(), namespace, max_wait_ms=60_000)
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda _: [photos.next() for _ in range(25)], range(4)))
    assert all(tickets == sorted(tickets) for tickets in taken)
    assert sorted(ticket for tickets in taken for ticket in tickets) == list(range(1, 101))


def test_coroutines_that_wait_at_once_share_a_request() -> None:
    class Counting(MemoryStore):
        requests = 0

        def add(self, counter: str, delta: int, start: int) -> int:
            self.requests += 1
            return super().add(counter, delta, start)

    async def main() -> None:
        store = Counting()
        photos = Tickets(store, "photos", max_wait_ms=PATIENT_MS)
        tickets = await asyncio.gather(*(photos.next_async() for _ in range(500)))
        assert sorted(tickets) == list(range(1, 501))
        assert store.requests < 100

    asyncio.run(main())


TAKER = """
    import sys
    from snowmint import Tickets
    photos = Tickets(sys.argv[1], sys.argv[2], max_wait_ms=60_000)
    while True:
        print(photos.next(), flush=True)
"""


def test_processes_that_are_killed_repeat_nothing(named: Place, namespace: str) -> None:  # noqa: F811
    def take(count: int) -> list[int]:
        return processes.taken_until_killed(TAKER, named.url, namespace, count=count)

    with ThreadPoolExecutor(2) as pool:
        tickets = [ticket for each in pool.map(take, (20, 33, 15, 26)) for ticket in each]
    assert len(set(tickets)) == len(tickets) >= 94


def test_a_forked_child_opens_its_own_tickets(named: Place, namespace: str) -> None:  # noqa: F811
    program = """
        import os, struct, sys
        from snowmint import ForkedError, Tickets
        from snowmint.stores import connect
        store = connect(sys.argv[1])
        photos = Tickets(store, sys.argv[2], max_wait_ms=60_000)
        mine = [photos.next() for _ in range(5)]
        for child in range(3):
            if os.fork() == 0:
                try:
                    photos.next()
                except ForkedError:
                    pass
                else:
                    os._exit(1)
                own = Tickets(store, sys.argv[2], max_wait_ms=60_000)
                mine = [own.next() for _ in range(20)]
                break
        else:
            for child in range(3):
                assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
            mine += [photos.next() for _ in range(5)]
        sys.stdout.buffer.write(struct.pack(f"{len(mine)}Q", *mine))
    """
    assert sorted(processes.minted(program, named.url, namespace)) == list(range(1, 71))


def test_a_store_that_hangs_gets_its_part_of_the_time() -> None:
    hanging = Gated()
    hanging.gate.set()
    photos = Tickets([hanging, MemoryStore()], "photos", max_wait_ms=400)
    assert sorted([photos.next(), photos.next()]) == [1, 2]
    hanging.gate.clear()
    assert [photos.next() for _ in range(5)] == [4, 6, 8, 10, 12]
    hanging.gate.set()


def test_wrong_arguments_are_typed_errors(tmp_path: Path) -> None:
    for name in ("", "x" * 129):
        with pytest.raises(InvalidTextError):
            Tickets(MemoryStore(), name)
    for name in ("a\nb", "\ud800"):
        with pytest.raises(InvalidTextError):
            Tickets(MemoryStore(), name).next()
    for stores in ([5], [MemoryStore(), object()]):
        with pytest.raises(TypeError, match="read, write, list and add"):
            Tickets(stores, "photos")  # type: ignore[arg-type]
    with pytest.raises(InvalidStoreError, match="read, write, list and add"):
        Tickets([MemoryStore(), FileStore(tmp_path)], "photos")
    with pytest.raises(TypeError):
        Tickets(MemoryStore(), 5)  # type: ignore[arg-type]


def test_the_end_of_the_tickets_is_an_error_without_a_time() -> None:
    store = MemoryStore()
    photos = Tickets(store, "photos")
    assert photos.next() == 1
    store.add("tickets/photos", 2**63 - 3, 0)
    assert photos.next() == 2**63 - 1
    with pytest.raises((ExhaustedError, StoreUnavailableError)):
        photos.next()


# Flickr's tables


@pytest.fixture
def database() -> sqlalchemy.Engine:
    """An empty database of MariaDB."""
    return sqlalchemy.create_engine(servers.shared("mariadb").new_database())


def make(engine: sqlalchemy.Engine, table: str, kind: str = "bigint unsigned", storage: str = "InnoDB") -> None:
    """Makes a table as Flickr did."""
    with engine.begin() as connection:
        connection.exec_driver_sql(
            f"CREATE TABLE {table} (id {kind} NOT NULL AUTO_INCREMENT PRIMARY KEY, stub char(1) NOT NULL DEFAULT '', "
            f"UNIQUE KEY stub (stub)) ENGINE={storage}"
        )


def test_flickrs_tables_give_odd_and_even_tickets(database: sqlalchemy.Engine) -> None:
    make(database, "odd")
    make(database, "even")
    store = SqlStore(database)
    odd, even = (
        Tickets.of_tables(store, table, increment=2, offsets=[offset], max_wait_ms=PATIENT_MS)
        for table, offset in (("odd", 1), ("even", 2))
    )
    assert [odd.next(), odd.next(), even.next(), odd.next(), even.next()] == [1, 3, 2, 5, 4]
    with database.connect() as connection:
        # Another client, whose session has the server's own variables.
        query = "SELECT @@SESSION.auto_increment_increment, @@SESSION.auto_increment_offset, @@SESSION.sql_mode"
        here = connection.exec_driver_sql(query).one()
        server = connection.exec_driver_sql(query.replace("SESSION", "GLOBAL")).one()
        assert tuple(here) == tuple(server)


def test_tickets_of_one_table_go_on_where_its_other_clients_are(database: sqlalchemy.Engine) -> None:
    make(database, "Tickets64")
    photos = Tickets.of_tables([SqlStore(database)], "Tickets64", stub="b", max_wait_ms=PATIENT_MS)
    assert photos.next() == 1
    with database.begin() as connection:
        connection.exec_driver_sql("REPLACE INTO Tickets64 (stub) VALUES ('b')")
    with ThreadPoolExecutor(3) as pool:
        taken = list(pool.map(lambda _: [photos.next() for _ in range(10)], range(3)))
    assert sorted(ticket for tickets in taken for ticket in tickets) == list(range(3, 33))


@pytest.mark.parametrize(("kind", "last"), [("tinyint", 127), ("int", 2**31 - 1), ("int unsigned", 2**32 - 1)])
def test_a_full_table_repeats_nothing(database: sqlalchemy.Engine, kind: str, last: int) -> None:
    make(database, "Tickets32", kind)
    with database.begin() as connection:
        connection.exec_driver_sql(f"ALTER TABLE Tickets32 AUTO_INCREMENT = {last - 2}")
        # A mode that would take the last number again.
        connection.exec_driver_sql("SET SESSION sql_mode = ''")
    photos = Tickets.of_tables(SqlStore(database), "Tickets32", max_wait_ms=PATIENT_MS)
    taken = [photos.next(), photos.next()]
    with pytest.raises((ExhaustedError, StoreUnavailableError), match="no more numbers"):
        while True:
            taken.append(photos.next())
    assert taken in ([last - 2, last - 1], [last - 2, last - 1, last])
    with pytest.raises((ExhaustedError, StoreUnavailableError), match="no more numbers"):
        photos.next()


def test_tables_unfit_for_tickets_are_refused(database: sqlalchemy.Engine, tmp_path: Path) -> None:
    store = SqlStore(database)
    make(database, "careless", storage="MyISAM")
    with database.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE plain (id int, stub char(1))")
    for table, why in (("missing", "does not exist"), ("plain", "AUTO_INCREMENT"), ("a`b", "does not exist")):
        with pytest.raises(StoreUnavailableError, match=why):
            Tickets.of_tables(store, table, max_wait_ms=PATIENT_MS).next()
    with pytest.raises((UnsafeStoreError, StoreUnavailableError), match="MyISAM"):
        Tickets.of_tables(store, "careless", max_wait_ms=PATIENT_MS).next()
    lenient = SqlStore(database, allow_unsafe=True)
    assert Tickets.of_tables(lenient, "careless", max_wait_ms=PATIENT_MS).next() == 1
    for other in (MemoryStore(), f"sqlite:{tmp_path}/ids.db"):
        with pytest.raises(InvalidStoreError, match="MySQL and MariaDB|MySQL or MariaDB"):
            Tickets.of_tables(other, "Tickets64")
    for options in ({"increment": 0}, {"offsets": [2]}, {"offsets": [1, 2]}, {"increment": -1, "offsets": [0]}):
        with pytest.raises(InvalidIdError):
            Tickets.of_tables(store, "Tickets64", **options)
