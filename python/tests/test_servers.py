"""The servers that other tests start and kill."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import redis
from sqlalchemy import create_engine, text

import processes
import servers

STARTS: list[Callable[[], servers.Server]] = [servers.start_postgres, servers.start_mariadb, servers.start_redis]


def count(server: servers.Server) -> int:
    """Adds one to a number in the server, and gives it."""
    if isinstance(server, servers.Redis):
        with redis.Redis.from_url(server.url) as client:
            return int(client.incr("n"))
    engine = create_engine(server.url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE IF NOT EXISTS counted (n int)"))
        connection.execute(text("INSERT INTO counted VALUES (1)"))
        found = connection.scalar(text("SELECT count(*) FROM counted"))
    engine.dispose()
    return int(found or 0)


@pytest.mark.parametrize("start", STARTS)
def test_a_server_keeps_data_and_port_over_kills_and_restarts(start: Callable[[], servers.Server]) -> None:
    with start() as server:
        port, directory = server.port, server.directory
        assert count(server) == 1
        server.kill()
        assert not server.is_ready()
        server.restart()
        assert count(server) == 2
        server.restart()
        assert (count(server), server.port) == (3, port)
        server.pause(True)
        server.kill()
        server.restart()
        assert count(server) == 4
    assert not directory.exists()


def test_a_paused_server_answers_nobody_until_it_goes_on() -> None:
    with servers.start_redis() as server:
        server.pause(True)
        with redis.Redis.from_url(server.url, socket_timeout=0.2) as client, pytest.raises(redis.TimeoutError):
            client.ping()
        server.pause(False)
        assert count(server) == 1


def test_options_come_last_and_win() -> None:
    with servers.start_redis(options=["--appendfsync", "no"]) as cache, redis.Redis.from_url(cache.url) as client:
        assert client.config_get("appendfsync") == {"appendfsync": "no"}
    with servers.start_postgres(options=["-c", "fsync=off"]) as database:
        engine = create_engine(database.url)
        with engine.connect() as connection:
            assert connection.scalar(text("SHOW fsync")) == "off"
        engine.dispose()


@pytest.mark.parametrize("start", ["start_postgres", "start_mariadb", "start_redis"])
def test_a_server_ends_with_the_process_that_started_it(start: str) -> None:
    tests = str(Path(__file__).parent)
    with processes.start(
        """
        import os, sys
        import servers
        server = getattr(servers, sys.argv[1])()
        print(server._pid, server.directory, flush=True)
        sys.stdin.read()
        """,
        start,
        PYTHONPATH=tests,
    ) as program:
        assert program.stdout is not None
        pid, directory = program.stdout.readline().split()
        assert servers.alive(int(pid))
        program.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while servers.alive(int(pid)):
        assert time.monotonic() < deadline, "it goes on"
        time.sleep(0.02)
    servers.run(["rm", "-r", directory])
    assert not os.path.exists(directory)
