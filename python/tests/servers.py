"""Real servers for tests, from the program `snowmint-engines` (tests/engines/src/main.rs).

    url = shared("postgres").url                    # a database of this process on the server of the whole run
    with Server("postgres") as server:              # a server for this test alone
        server.kill(); server.restart()             # a crash, and the recovery on the same data and port
        server.pause(True)                          # the server hangs

The variable `SNOWMINT_ENGINES` names the socket of a program that runs. Without it the first use starts the program.
"""

import atexit
import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

Engine = Literal["postgres", "pgbouncer", "pgpool", "mariadb", "redis", "etcd", "zookeeper", "nats", "service"]

ROOT = Path(__file__).parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
SNOWMINT = os.environ.get("SNOWMINT_SERVER", str(TARGET / "debug" / "snowmint"))
"""The command line."""
ENGINES = TARGET / "debug" / "snowmint-engines"
"""The program. A test never builds it: cargo would wait for any other build of the tree, for minutes."""
BUILD = "build it: cargo build --workspace --features snowmint-tests/engines"


def connect_to_program(engine: Engine | None = None) -> socket.socket:
    """Connects to the program, which the first call starts if `SNOWMINT_ENGINES` is not set."""
    if engine == "service":
        assert Path(SNOWMINT).exists(), BUILD
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(start_program())
    return connection


def start_program() -> str:
    """Returns the path of the program's socket. The program ends with this process if this process has started it."""
    if path := os.environ.get("SNOWMINT_ENGINES"):
        return path
    assert ENGINES.exists(), BUILD
    program = subprocess.Popen(
        [ENGINES],
        env={**os.environ, "SNOWMINT_SERVER": SNOWMINT},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # Ctrl-C in the terminal is for the tests alone.
        start_new_session=True,
    )
    assert program.stdout is not None
    path = program.stdout.readline().strip()
    assert path, "snowmint-engines does not start"
    os.environ["SNOWMINT_ENGINES"] = path
    atexit.register(program.communicate)
    return path


def sqlalchemy_url(url: str) -> str:
    """Names SQLAlchemy's drivers in the URL of a database."""
    return url.replace("postgres://", "postgresql+psycopg://").replace("mysql://", "mysql+pymysql://")


class Shared:
    """A server that all tests of a run share.

    Args:
        engine: Its kind.
        answer: The program's answer.
    """

    def __init__(self, engine: Engine, answer: Mapping[str, Any]) -> None:
        self.engine = engine
        self.url = sqlalchemy_url(answer["url"])
        """A database of this process, as SQLAlchemy or the client library takes it."""
        self.port = int(answer["port"])

    def new_database(self) -> str:
        """Makes an empty database, and returns its URL."""
        return sqlalchemy_url(ask({"shared": self.engine, "new_database": True})["url"])


@cache
def shared(engine: Engine) -> Shared:
    """Returns the shared server. A test that kills, stops or reconfigures a server starts a `Server`."""
    return Shared(engine, ask({"shared": engine, "new_database": engine not in ("service", "etcd")}))


def ask(request: object) -> dict[str, Any]:
    """Sends one request to the program, on a new connection."""
    with connect_to_program() as connection:
        return exchange(connection, request)


def exchange(connection: socket.socket, request: object) -> dict[str, Any]:
    """Sends a request over a connection, and returns the answer."""
    connection.sendall(json.dumps(request).encode() + b"\n")
    with connection.makefile() as lines:
        answer: dict[str, Any] = json.loads(lines.readline())
    assert "error" not in answer, answer["error"]
    return answer


class Server:
    """A server for one test, which ends with its connection to the program; leaving a `with` block ends it.

    Args:
        engine: Its kind.
        options: Further words on its command line, which come last and so win.
        standby_of: The port of a PostgreSQL that the server follows as a standby.
        pooler_of: The port of a PostgreSQL that the server is a pooler of.
        env: Further variables of its environment.
    """

    def __init__(
        self,
        engine: Engine,
        options: Sequence[str] = (),
        standby_of: int | None = None,
        pooler_of: int | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._connection = connect_to_program(engine)
        start = {
            "start": engine,
            "options": list(options),
            "standby_of": standby_of,
            "pooler_of": pooler_of,
            "env": dict(env or {}),
        }
        answer = exchange(self._connection, start)
        self.url = sqlalchemy_url(answer["url"])
        """Where the server is, as SQLAlchemy or the client library takes it."""
        self.port = int(answer["port"])
        self.second_port = int(answer["second_port"])
        """The port of the Redis protocol, for the service."""
        self.directory = Path(answer["directory"])
        self.store = f"sqlite:{self.directory}/data/ids.db"
        """The store of the service, as the command line takes it."""

    def kill(self) -> None:
        """Kills all its processes as a crash of the machine would: by SIGKILL."""
        exchange(self._connection, "kill")

    def restart(self) -> None:
        """Starts the server on its data and port; if it runs, ends it cleanly before."""
        exchange(self._connection, "restart")

    def pause(self, paused: bool) -> None:
        """Stops all its processes where they are, or lets them go on."""
        exchange(self._connection, "pause" if paused else "resume")

    def close(self) -> None:
        """Ends the server and removes its data."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def until(what: str, is_there: Callable[[], object]) -> None:
    """Waits until it is there, at most a minute."""
    deadline = time.monotonic() + 60
    while not is_there():
        assert time.monotonic() < deadline, f"{what} does not come"
        time.sleep(0.01)
