"""Real database servers for tests: on a free port of the loopback, with data of their own, killed and started again.

    server = start_postgres()
    server.kill(); server.restart()   # a crash, and the recovery on the same data and port
    server.pause(True)                # it hangs
    server.stop()

Each runs under a shell that ends with this process, however that ends, and takes the server along.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

START_S = 90
"""How long a server may take to start, on a machine with other work to do."""
STOP_S = 30
"""How long a server may take to end by itself."""

# Puts the server into the background, says its pid, and kills it when its standard input is closed.
SHELL = r'log=$1; shift; "$@" > "$log" 2>&1 & echo $!; read _; kill -9 $! 2> /dev/null; wait $! 2> /dev/null; true'
BUILD_S = 1800
"""How long a build may take, from nothing."""
ROOT = Path(__file__).parents[2]
POSTGRES = Path("/usr/lib/postgresql/15/bin")
# What stands before a command that refuses root.
AS_NOBODY = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []


class Server(ABC):
    """A server that runs; leaving a `with` block stops it.

    Args:
        directory: Where its data lie, an empty directory that `nobody` can reach; the default is a temporary one, which
            `stop` removes.
        options: Further words on its command line, which come last and so win.
    """

    term: ClassVar[int] = signal.SIGTERM
    """The signal that asks for a clean end."""

    def __init__(self, directory: Path | None = None, options: Sequence[str] = ()) -> None:
        self._temporary = directory is None
        self.directory = directory or Path(tempfile.mkdtemp(prefix="snowmint-server-"))
        self.options = list(options)
        self.port = free_port()
        self._shell: subprocess.Popen[str] | None = None
        self._pid = 0
        try:
            if AS_NOBODY:
                shutil.chown(self.directory, "nobody", "nogroup")
            self.prepare()
            self.restart()
        except BaseException:
            self.stop()
            raise

    @property
    @abstractmethod
    def url(self) -> str:
        """Where it is, as SQLAlchemy or the client library takes it."""

    @abstractmethod
    def prepare(self) -> None:
        """Makes its data."""

    @abstractmethod
    def command(self) -> list[str]:
        """What starts it, without the further options."""

    @abstractmethod
    def is_ready(self) -> bool:
        """Whether it answers."""

    def workers(self) -> list[int]:
        """The processes that work for it, itself included, of a server that has several."""
        return []

    @property
    def data(self) -> Path:
        """Where its data lie."""
        return self.directory / "data"

    @property
    def log(self) -> str:
        """What it has said since it was started."""
        return (self.directory / "server.log").read_text(errors="replace")

    def restart(self) -> None:
        """Starts it on the data and the port that it had; if it runs, ends it cleanly before."""
        self._end()
        deadline = time.monotonic() + START_S
        while True:
            command = ["sh", "-c", SHELL, "sh", str(self.directory / "server.log"), *self.command(), *self.options]
            # A session of its own, so that Ctrl-C in the terminal is for the tests alone.
            self._shell = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
            )
            assert self._shell.stdout is not None
            self._pid = int(self._shell.stdout.readline())
            while alive(self._pid) and time.monotonic() < deadline:
                if self.is_ready():
                    self.settle()
                    return
                time.sleep(0.02)
            self.kill()
            # Another process may have taken the port meanwhile, for a moment.
            assert time.monotonic() < deadline, f"{type(self).__name__} does not start: {self.log}"
            time.sleep(0.2)

    def settle(self) -> None:  # noqa: B027
        """What it needs each time before its first use."""

    def kill(self) -> None:
        """Kills all its processes as a crash of the machine would: by SIGKILL."""
        if self._shell is None:
            return
        shell, self._shell = self._shell, None
        # It is a child of the shell, which does not wait for it yet: the pid is no other's.
        send(self._pid, signal.SIGKILL)
        deadline = time.monotonic() + STOP_S
        while workers := self.workers():
            assert time.monotonic() < deadline, f"processes of {type(self).__name__} go on: {workers}"
            for worker in workers:
                send(worker, signal.SIGKILL)
            time.sleep(0.01)
        shell.communicate(timeout=STOP_S)

    def pause(self, paused: bool) -> None:
        """Stops all its processes where they are, or lets them go on."""
        assert self._shell is not None, "it does not run"
        for process in [self._pid, *self.workers()]:
            send(process, signal.SIGSTOP if paused else signal.SIGCONT)

    def stop(self) -> None:
        """Ends it cleanly, for good."""
        self._end()
        if self._temporary:
            shutil.rmtree(self.directory, ignore_errors=True)

    def _end(self) -> None:
        if self._shell is None:
            return
        self.pause(False)
        deadline = time.monotonic() + STOP_S
        while alive(self._pid) and time.monotonic() < deadline:
            # Redis refuses while it rewrites its file, so it is asked again.
            send(self._pid, self.term)
            for _ in range(50):
                if not alive(self._pid):
                    break
                time.sleep(0.02)
        self.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class Postgres(Server):
    """PostgreSQL 15 of the package `postgresql-15`."""

    # Ends open sessions; SIGTERM waits for them.
    term = signal.SIGINT

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/postgres"

    def new_database(self, name: str) -> str:
        """Makes an empty database, and gives its URL."""
        words = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", name]
        run([str(POSTGRES / "createdb"), *words])
        return self.url.removesuffix("postgres") + name

    def prepare(self) -> None:
        words = ["-A", "trust", "-U", "postgres", "--no-sync", "--locale=C", "--encoding=UTF8"]
        run([*AS_NOBODY, str(POSTGRES / "initdb"), "-D", str(self.data), *words])

    def command(self) -> list[str]:
        settings = ["listen_addresses=127.0.0.1", f"unix_socket_directories={self.directory}"]
        words = ["-D", str(self.data), "-p", str(self.port), *(word for each in settings for word in ("-c", each))]
        return [*AS_NOBODY, str(POSTGRES / "postgres"), *words]

    def is_ready(self) -> bool:
        return succeeds([str(POSTGRES / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)])

    def workers(self) -> list[int]:
        return [int(process.name) for process in Path("/proc").glob("[0-9]*") if works_in(process) == str(self.data)]


class Standby(Postgres):
    """A standby of another, which it follows without being waited for."""

    def __init__(self, primary: Server) -> None:
        self.primary = primary
        super().__init__()

    def prepare(self) -> None:
        words = ["-h", "127.0.0.1", "-p", str(self.primary.port), "-U", "postgres"]
        run(
            [*AS_NOBODY, str(POSTGRES / "pg_basebackup"), *words, "-D", str(self.data), "-R", "-c", "fast", "--no-sync"]
        )


class Mariadb(Server):
    """MariaDB 10.11 of the package `mariadb-server`, with a database `ids`."""

    @property
    def url(self) -> str:
        return f"mysql+pymysql://root@127.0.0.1:{self.port}/ids"

    def new_database(self, name: str) -> str:
        """Makes an empty database, and gives its URL."""
        run(["mariadb", *self._as_root(), "-e", f"CREATE DATABASE {name}"])
        return self.url.removesuffix("ids") + name

    def prepare(self) -> None:
        words = ["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]
        # Each server removes the temporary tables that it finds where it puts its own.
        places = [f"--datadir={self.data}", f"--tmpdir={self.directory}"]
        run([*AS_NOBODY, "mariadb-install-db", *words, *places])

    def command(self) -> list[str]:
        places = [f"--datadir={self.data}", f"--tmpdir={self.directory}", f"--socket={self.directory}/s.sock"]
        words = [*places, f"--pid-file={self.directory}/p.pid", "--innodb-buffer-pool-size=16M"]
        return [*AS_NOBODY, "mariadbd", "--no-defaults", "--bind-address=127.0.0.1", f"--port={self.port}", *words]

    def is_ready(self) -> bool:
        return succeeds(["mariadb-admin", *self._as_root(), "ping"])

    def settle(self) -> None:
        run(["mariadb", *self._as_root(), "-e", "CREATE DATABASE IF NOT EXISTS ids"])

    def _as_root(self) -> list[str]:
        return ["--no-defaults", "-uroot", "-h127.0.0.1", "-P", str(self.port)]


class Redis(Server):
    """Redis 7 of the package `redis-server`, which writes every command to disk before it answers."""

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def prepare(self) -> None:
        self.data.mkdir()

    def command(self) -> list[str]:
        words = ["--dir", str(self.data), "--daemonize", "no", "--appendonly", "yes", "--appendfsync", "always"]
        return ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), *words, "--save", ""]

    def is_ready(self) -> bool:
        return succeeds(["redis-cli", "-p", str(self.port), "ping"], "PONG")


class Service(Server):
    """`snowmint serve` of this repository, over HTTP, on a SQLite file."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def store(self) -> str:
        """Where its grants lie, as the command line takes it."""
        return f"sqlite:{self.data}/ids.db"

    def prepare(self) -> None:
        self.data.mkdir()

    def command(self) -> list[str]:
        return [snowmint(), "serve", "--http", f"127.0.0.1:{self.port}", "--redis", "off", "--store", self.store]

    def is_ready(self) -> bool:
        with socket.socket() as probe:
            probe.settimeout(1)
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


@cache
def snowmint() -> str:
    """The command line: the one that `SNOWMINT_SERVER` names, or else this workspace's, built at the first call."""
    if program := os.environ.get("SNOWMINT_SERVER"):
        return program
    # With the features of the tests in Rust, which have built most of it.
    features = ["--workspace", "--features", "snowmint-tests/engines"]
    run(["cargo", "build", "--quiet", "--locked", *features, "--bin", "snowmint"], ROOT, BUILD_S)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return str(target / "debug" / "snowmint")


def start_postgres(directory: Path | None = None, options: Sequence[str] = ()) -> Postgres:
    """PostgreSQL with durable settings, unless `options` say otherwise: `["-c", "fsync=off"]`."""
    return Postgres(directory, options)


def start_standby(primary: Server) -> Standby:
    """A standby of a PostgreSQL that runs, by `pg_basebackup -R`."""
    return Standby(primary)


def start_mariadb(directory: Path | None = None, options: Sequence[str] = ()) -> Mariadb:
    """MariaDB with durable settings, unless `options` say otherwise: `["--innodb-flush-log-at-trx-commit=0"]`."""
    return Mariadb(directory, options)


def start_redis(directory: Path | None = None, options: Sequence[str] = ()) -> Redis:
    """Redis with durable settings, unless `options` say otherwise: `["--appendfsync", "everysec"]`."""
    return Redis(directory, options)


def start_service(directory: Path | None = None, options: Sequence[str] = ()) -> Service:
    """The service, with further words for `snowmint serve` in `options`."""
    return Service(directory, options)


def free_port() -> int:
    """A port of the loopback on which nobody listens. Redis as a cluster wants another one 10,000 above it."""
    while True:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = int(free.getsockname()[1])
        if port < 55_536:
            return port


def run(command: list[str], directory: Path = Path("/"), within_s: float = START_S) -> None:
    """Runs a command to its end, and fails with what it says."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=directory, timeout=within_s)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


def succeeds(command: list[str], answer: str = "") -> bool:
    """Whether a command that asks a server succeeds within five seconds, with that in its answer."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=5)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0 and answer in done.stdout


def send(pid: int, number: int) -> None:
    """Sends a signal to a process, unless that has just ended."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def alive(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return not state.startswith("Z")


def works_in(process: Path) -> str:
    """The working directory of a process in `/proc`, or nothing if it has just ended."""
    try:
        return os.readlink(process / "cwd")
    except OSError:
        return ""
