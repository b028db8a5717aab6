"""A logical shard moves to another server of PostgreSQL, as docs/sql.md says, while clients insert rows."""

import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

import servers
from snowmint import layouts

NODE = 5
CLIENTS = 4
LAYOUT = layouts.INSTAGRAM
INSERT = b"INSERT INTO shard_5.photos DEFAULT VALUES RETURNING id"
CLOSE = (
    "REVOKE USAGE ON SCHEMA shard_5 FROM app",
    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = 'app'",
)
OPEN = "GRANT USAGE ON SCHEMA shard_5 TO app"


PAGE = Path(__file__).parents[2] / "docs/sql.md"


def plain(url: str) -> str:
    return url.replace("+psycopg", "")


def run(url: str, *statements: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


class Clients:
    """Clients that insert rows into the shard, wherever it is."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.ids: list[list[int]] = [[] for _ in range(CLIENTS)]
        self._ended = False
        self._threads = [threading.Thread(target=self._insert, args=[ids]) for ids in self.ids]
        for thread in self._threads:
            thread.start()

    def _insert(self, ids: list[int]) -> None:
        while not self._ended:
            try:
                with psycopg.connect(self.url, user="app", autocommit=True) as connection:
                    while not self._ended:
                        row = connection.execute(INSERT).fetchone()
                        assert row is not None
                        ids.append(int(row[0]))
            except psycopg.Error:
                # The shard is closed, or this server does not have it.
                continue

    def wait_for_more(self, count: int) -> None:
        wanted = [len(ids) + count for ids in self.ids]
        servers.until("more rows", lambda: all(len(ids) >= n for ids, n in zip(self.ids, wanted, strict=True)))

    def close(self) -> None:
        self._ended = True
        for thread in self._threads:
            thread.join()


def dump(old: servers.Server, new: servers.Server) -> None:
    """Copies the shard and its sequence."""
    run(plain(new.url), "CREATE ROLE app LOGIN")
    script = subprocess.run(["pg_dump", "--schema=shard_5", plain(old.url)], check=True, capture_output=True).stdout
    subprocess.run(["psql", "--quiet", "--set=ON_ERROR_STOP=1", plain(new.url)], check=True, input=script)


def promote(old: servers.Server, new: servers.Server) -> None:
    """Waits until the standby has all data of the old server, and promotes it to an independent server."""
    [(end,)] = run(plain(old.url), "SELECT pg_current_wal_lsn()")
    replayed = f"SELECT pg_last_wal_replay_lsn() >= '{end}'"
    servers.until("the standby has everything", lambda: run(plain(new.url), replayed) == [(True,)])
    run(plain(new.url), "SELECT pg_promote()")


@pytest.mark.parametrize("statement", [*CLOSE, OPEN, "pg_dump --schema=shard_5"])
def test_the_guide_says_what_is_done_here(statement: str) -> None:
    assert statement in PAGE.read_text()


@pytest.mark.parametrize("way", [dump, promote])
def test_a_shard_moves_and_repeats_nothing(way: Callable[[servers.Server, servers.Server], None]) -> None:
    with servers.Server("postgres") as old:
        run(
            plain(old.url),
            "CREATE ROLE app LOGIN",
            "CREATE SCHEMA shard_5",
            # It may be a second ahead, so that the clock alone would not keep the IDs of the new server apart.
            LAYOUT.postgres_function("shard_5", "next_id", NODE, max_ahead_ms=1000),
            "CREATE TABLE shard_5.photos (id bigint PRIMARY KEY DEFAULT shard_5.next_id())",
            "GRANT INSERT, SELECT ON shard_5.photos TO app",
            OPEN,
        )
        with servers.Server("postgres", standby_of=old.port if way is promote else None) as new:
            clients = Clients(plain(old.url))
            try:
                clients.wait_for_more(300)
                run(plain(old.url), *CLOSE)
                way(old, new)
                last = max(id for ids in clients.ids for id in ids)
                before = [len(ids) for ids in clients.ids]
                clients.url = plain(new.url)
                run(plain(new.url), OPEN)
                clients.wait_for_more(300)
            finally:
                clients.close()
            after = [id for ids, n in zip(clients.ids, before, strict=True) for id in ids[n:]]
            ids = [id for ids in clients.ids for id in ids]
            assert len(set(ids)) == len(ids)
            assert min(after) > last
            assert {LAYOUT.decode(id).node for id in ids} == {NODE}
            rows = {row[0] for row in run(plain(new.url), "SELECT id FROM shard_5.photos")}
            assert set(ids) <= rows, "each row moved along"
            with (
                pytest.raises(psycopg.errors.InsufficientPrivilege),
                psycopg.connect(plain(old.url), user="app") as late,
            ):
                late.execute(INSERT)
