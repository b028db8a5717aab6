"""The client of the program that starts servers."""

import os
import socket
import subprocess
from pathlib import Path

import pytest
import redis
from sqlalchemy import create_engine, text

import processes
import servers
from losses import wait_until


def count(server: servers.Server) -> int:
    """Adds one to a number in the server, and returns the new number."""
    if server.url.startswith("redis"):
        with redis.Redis.from_url(server.url) as client:
            return int(client.incr("n"))
    engine = create_engine(server.url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE IF NOT EXISTS counted (n int)"))
        connection.execute(text("INSERT INTO counted VALUES (1)"))
        found = connection.scalar(text("SELECT count(*) FROM counted"))
    engine.dispose()
    return int(found or 0)


def listens(port: int) -> bool:
    """Returns whether a server listens at that port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("kind", ["postgres", "mariadb", "redis"])
def test_a_server_keeps_data_and_port_over_kills_and_restarts(kind: servers.Engine) -> None:
    with servers.Server(kind) as server:
        assert count(server) == 1
        server.kill()
        assert not listens(server.port)
        server.restart()
        assert count(server) == 2
        server.restart()
        assert count(server) == 3
        server.pause(True)
        server.kill()
        server.restart()
        assert count(server) == 4
        directory = server.directory
        assert directory.exists()
    wait_until(lambda: not directory.exists())


def test_a_paused_server_answers_nobody_until_it_goes_on() -> None:
    with servers.Server("redis") as server:
        server.pause(True)
        with redis.Redis.from_url(server.url, socket_timeout=0.2) as client, pytest.raises(redis.TimeoutError):
            client.ping()
        server.pause(False)
        assert count(server) == 1


def test_options_come_last_and_win() -> None:
    with servers.Server("redis", ["--appendfsync", "no"]) as cache, redis.Redis.from_url(cache.url) as client:
        assert client.config_get("appendfsync") == {"appendfsync": "no"}
    with servers.Server("postgres", ["-c", "fsync=off"]) as database:
        engine = create_engine(database.url)
        with engine.connect() as connection:
            assert connection.scalar(text("SHOW fsync")) == "off"
        engine.dispose()


def test_a_database_of_a_shared_server_is_empty_and_separate() -> None:
    for kind in ("postgres", "mariadb"):
        server = servers.shared(kind)
        urls = [server.url, server.new_database(), server.new_database()]
        assert len(set(urls)) == 3
        for url in urls[1:]:
            with create_engine(url).begin() as connection:
                connection.execute(text("CREATE TABLE only_here (n int)"))


def test_what_the_program_refuses_is_said() -> None:
    with pytest.raises(AssertionError, match="this connection has started a server"):
        servers.ask("kill")


@pytest.mark.parametrize("owner", ["of the run", "of the process"])
def test_a_server_ends_with_the_process_that_started_it(owner: str) -> None:
    program = """
        import os, signal
        import servers
        server = servers.Server("redis")
        print(server.port, server.directory, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    environment = processes.environment(PYTHONPATH=str(Path(__file__).parent))
    if owner == "of the process":
        # It starts a program for servers too, which ends with it.
        environment.pop("SNOWMINT_ENGINES", None)
    done = subprocess.run(
        processes.command(program), env=environment, stdout=subprocess.PIPE, text=True, check=False, timeout=120
    )
    assert done.returncode == -9
    port, directory = done.stdout.split()
    wait_until(lambda: not listens(int(port)))
    wait_until(lambda: not os.path.exists(directory))
