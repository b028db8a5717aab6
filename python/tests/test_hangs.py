"""Stores that stop in the middle of an answer: every wait for them ends."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import processes
import servers

# A lease warms the connection up, the server stops, and each step has to end by itself.
PROGRAM = """
    import sys
    import redis, sqlalchemy
    from snowmint import Snowflake, StoreUnavailableError, WindowClosedError
    from snowmint.stores import EtcdStore, RedisStore, SqlStore
    url = sys.argv[1]
    if url.startswith("redis"):
        store = RedisStore(redis.Redis.from_url(url, socket_timeout=None))
    elif url.startswith("etcd"):
        store = EtcdStore(url, timeout_s=60)
    else:
        store = SqlStore(sqlalchemy.create_engine(url))
    held = Snowflake(store=store, namespace="held", window_ms=1000, max_wait_ms=500)
    while True:
        try:
            held.next_id()
            break
        except WindowClosedError:
            pass  # The machine is busy: the renewal is on its way.
    print("warm", flush=True)
    sys.stdin.readline()
    try:
        Snowflake(store=store, namespace="claimed", max_wait_ms=500)
    except StoreUnavailableError as error:
        print(error)
    # By now the window is over, and a renewal waits for an answer.
    try:
        held.next_id()
    except WindowClosedError as error:
        print(error)
    held.close()
    print("closed")
"""


KINDS: list[servers.Engine] = ["postgres", "mariadb", "redis", "etcd"]


@pytest.fixture(scope="module")
def stopped() -> Iterator[dict[servers.Engine, "subprocess.Popen[str]"]]:
    """Clients of servers that have stopped, all at once: each waits for the 10 s that a claim may take."""
    with ExitStack() as until_the_end:
        own = {kind: until_the_end.enter_context(servers.Server(kind)) for kind in KINDS}
        clients: dict[servers.Engine, subprocess.Popen[str]] = {
            kind: processes.start(PROGRAM, server.url) for kind, server in own.items()
        }
        for kind, client in clients.items():
            until_the_end.callback(client.kill)
            assert client.stdout is not None and client.stdout.readline() == "warm\n"
            assert client.stdin is not None
            own[kind].pause(True)
            client.stdin.write("go on\n")
            client.stdin.flush()
        yield clients


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_stops_holds_nobody_up_for_good(
    kind: servers.Engine, stopped: dict[servers.Engine, "subprocess.Popen[str]"]
) -> None:
    told, _ = stopped[kind].communicate(timeout=100)
    claim, renewal, closed = told.splitlines()
    assert claim.endswith("no answer within 10000 ms")
    assert "window" in renewal
    assert closed == "closed"


def test_an_interrupt_ends_the_wait_for_a_server_that_has_stopped(redis_server: servers.Shared) -> None:
    program = """
        import signal, sys
        import redis
        from snowmint import Snowflake
        from snowmint.stores import RedisStore
        class Stopped(RedisStore):
            def list(self, prefix):
                signal.alarm(1)
                # Until the test is over.
                return self._client.execute_command("BLPOP", "nothing", "0")
        def interrupt(*_):
            raise KeyboardInterrupt
        signal.signal(signal.SIGALRM, interrupt)
        try:
            Snowflake(store=Stopped(redis.Redis.from_url(sys.argv[1])), namespace="interrupted")
        except KeyboardInterrupt:
            print("interrupted")
    """
    assert processes.run(program, redis_server.url) == "interrupted\n"


def test_a_sqlite_file_that_a_stopped_process_has_locked_is_given_up(tmp_path: Path) -> None:
    holder = """
        import os, signal, sqlite3, sys
        connection = sqlite3.connect(sys.argv[1], isolation_level=None)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("BEGIN IMMEDIATE")
        print("locked", flush=True)
        os.kill(os.getpid(), signal.SIGSTOP)
    """
    program = """
        import sys, time
        from snowmint import Snowflake, StoreUnavailableError
        since = time.monotonic()
        try:
            Snowflake(store=f"sqlite:{sys.argv[1]}", namespace="orders", max_wait_ms=500)
        except StoreUnavailableError as error:
            print(error)
        print(time.monotonic() - since, file=sys.stderr)
    """
    path = str(tmp_path / "ids.db")
    stopped = processes.start(holder, path)
    try:
        assert stopped.stdout is not None and stopped.stdout.readline() == "locked\n"
        done = subprocess.run(processes.command(program, path), capture_output=True, text=True, check=True, timeout=200)
        assert "database is locked" in done.stdout or "no answer" in done.stdout
        # A claim may take 10 s, and the machine may be busy.
        assert float(done.stderr) < 60
    finally:
        stopped.kill()
        stopped.wait()
        print(done.stderr, file=sys.stderr)
