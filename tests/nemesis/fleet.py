"""The processes under the nemesis: how each is started, signalled and ended."""

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ledger
from proxy import Proxy

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PROGRAMS = Path(
    os.environ.get("SNOWMINT_PROGRAMS", Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug")
)
"""The directory of `snowmint`, `snowmint-engines`, `snowmint-minter` and `snowmint-taker`."""
NPM = Path(os.environ.get("SNOWMINT_NPM", ROOT / "npm"))
"""The folder `npm/` with its installed packages."""
FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)

PROGRAM_OF: dict[str, list[str | Path]] = {
    "python": [sys.executable, HERE / "worker.py"],
    "node": ["node", HERE / "worker.mjs"],
}
TAKER_OF: dict[str, list[str | Path]] = {
    "python": [sys.executable, HERE / "taker.py"],
    "node": ["node", HERE / "taker.mjs"],
}
NAMESPACE = "nemesis"
WINDOW_MS = 1000
MAX_WAIT_MS = 200
PACE_MS = 10
"""The rest of takers and callers between two requests."""
LIFE_MS = 1200
"""How long a taker keeps a source of numbers, and up to four times as long."""
END_S = 20.0
"""How long a process may take to end after SIGTERM, with a store that answers."""

KINDS = ("id", "segment", "key", "ticket", "sequence", "cached", "user", "native", "flickr")
"""The kinds of numbers; `id` are IDs that a service minted."""


def absent(engine: str) -> dict[str, str]:
    """Returns the kinds that an engine does not have, with the reason."""
    kinds: dict[str, str] = {}
    if engine == "file":
        kinds["id"] = "slots and the records of a service are apart"
    if engine not in ("postgres", "mariadb"):
        kinds["native"] = "native sequences are PostgreSQL's and MariaDB's"
    if engine != "mariadb":
        kinds["flickr"] = "Flickr's table needs MariaDB"
    return kinds


WITH_DRIVER = ("setpriv", "--pdeathsig", "KILL")
"""The words before a command that let the kernel kill the process when the driver dies."""


def environment(**variables: str) -> dict[str, str]:
    """Returns this process's environment without snowmint's variables, except the variable that names a mutant."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("SNOWMINT_")}
    for name in ("SNOWMINT_MUTANT",):
        if name in os.environ:
            ours[name] = os.environ[name]
    ours.pop("KUBERNETES_SERVICE_HOST", None)
    ours.pop("container", None)
    return {**ours, **variables}


def free_port() -> int:
    """Returns a free port below the range of ports that the kernel gives to clients."""
    while True:
        port = random.randrange(23_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


class Process:
    """A process of the fleet, with all its incarnations: each start after a kill is another one.

    Args:
        name: Its name, by which its log and ledgers are named.
        command: Returns the command of an incarnation, by its number.
        directory: The directory of its log and its clock.
        begins: The first words of the ledgers of a worker; empty for other processes.
        has_clock: Whether its clock can be set.
    """

    def __init__(
        self,
        name: str,
        command: Callable[[int], Sequence[str | Path]],
        directory: Path,
        begins: str = "",
        has_clock: bool = True,
    ) -> None:
        self.name = name
        self.has_clock = has_clock and FAKETIME is not None
        self.begins = begins
        self.log = directory / f"{name}.log"
        self.stops: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        """When each incarnation stood still, by process number."""
        self.awaited = False
        """Whether a fault has ended it, and starts it again."""
        self.failures: list[str] = []
        self._command = command
        self._clock = directory / f"{name}.clock"
        self._started: list[subprocess.Popen[bytes]] = []
        self._log_begins = 0
        self.set_clock(0)

    def set_clock(self, seconds: float) -> None:
        """Sets the clock of the process off by some seconds, while it runs."""
        draft = self._clock.with_suffix(".new")
        draft.write_text(f"{seconds:+}")
        draft.rename(self._clock)

    def start(self) -> None:
        """Starts the next incarnation."""
        clock: dict[str, str] = {}
        if self.has_clock:
            clock = {
                "LD_PRELOAD": str(FAKETIME),
                "FAKETIME_TIMESTAMP_FILE": str(self._clock),
                "FAKETIME_NO_CACHE": "1",
                "DONT_FAKE_MONOTONIC": "1",
            }
        command = [str(word) for word in (*WITH_DRIVER, *self._command(len(self._started)))]
        with self.log.open("ab") as log:
            self._log_begins = log.tell()
            process = subprocess.Popen(
                command,
                env=environment(SNOWMINT_NPM=str(NPM), **clock),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._started.append(process)
        self.awaited = False

    @property
    def pid(self) -> int:
        """The process number of the present incarnation."""
        return self._started[-1].pid

    @property
    def incarnation(self) -> int:
        """The number of the present incarnation, from 0."""
        return len(self._started) - 1

    def signal(self, number: int) -> None:
        """Sends a signal. A process that has ended stays a zombie, so that its number belongs to no other process."""
        os.kill(self.pid, number)

    def ended(self) -> int | None:
        """Returns the exit code of the present incarnation, as `subprocess` does; None while it runs."""
        found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None:
            return None
        return int(found.si_status) if found.si_code == os.CLD_EXITED else -int(found.si_status)

    def stand_still(self) -> Callable[[], None]:
        """Stops the process. Returns a function that lets it go on."""
        pid, since = self.pid, time.monotonic_ns()
        os.kill(pid, signal.SIGSTOP)

        def resume() -> None:
            os.kill(pid, signal.SIGCONT)
            self.stops[pid].append((since, time.monotonic_ns()))

        return resume

    async def wait(self, seconds: float) -> bool:
        """Waits for the end of the present incarnation. Returns whether it came."""
        end = time.monotonic() + seconds
        while self.ended() is None:
            if time.monotonic() > end:
                return False
            await asyncio.sleep(0.01)
        return True

    def words(self) -> list[str]:
        """Returns the lines that the present incarnation has written to the log."""
        lines = self.log.read_bytes()[self._log_begins :].decode(errors="replace").splitlines()
        return [line for line in lines if line.strip()]

    def last_words(self) -> str:
        """Returns the last line of the present incarnation."""
        return next(reversed(self.words()), "")

    def is_explained(self, code: int) -> bool:
        """Returns whether a fault explains that the process has ended by itself.

        A service that starts while its store is unreachable ends with code 1 and a sentence. A service manager starts
        it again. The client of NATS may log errors before the sentence.
        """
        words = [line for line in self.words() if " ERROR " not in line]
        is_service = self.name.startswith("service-")
        return is_service and code == 1 and len(words) == 1 and words[0].startswith("snowmint: ")

    def kill_all(self) -> None:
        """Kills all incarnations with their children, and waits for them."""
        for process in self._started:
            if process.returncode is None:
                # The leader is not waited for yet, so the number of its group is still its own.
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@dataclass(frozen=True)
class Place:
    """A store under the nemesis.

    Attributes:
        engine: The engine's name.
        url: The store, as this process reaches it.
        port: The port of the store's server; 0 if it has none.
    """

    engine: str
    url: str
    port: int


class Fleet:
    """All processes on one store, each behind a separate proxy.

    Args:
        place: The store.
        directory: An empty directory for ledgers and logs.
        seed: The seed of the workers.
    """

    def __init__(self, place: Place, directory: Path, seed: int) -> None:
        self.place, self.seed = place, seed
        self.directory, self.ids, self.takes = directory, directory / "ids", directory / "takes"
        self.ids.mkdir()
        self.takes.mkdir()
        self.taken: dict[str, list[str]] = {}
        """The kinds that each taker and caller takes, by its name."""
        self.processes: list[Process] = []
        self.proxies: list[Proxy] = []

    async def _url(self, url: str, port: int) -> str:
        """Returns a URL that leads to a server by a new proxy."""
        if not port:
            return url
        proxy = Proxy(port)
        await proxy.listen()
        self.proxies.append(proxy)
        return url.replace(f"127.0.0.1:{port}", f"127.0.0.1:{proxy.port}")

    def _add(
        self, name: str, command: Callable[[int], Sequence[str | Path]], mints: bool = False, has_clock: bool = True
    ) -> None:
        self.processes.append(Process(name, command, self.directory, f"{name}." if mints else "", has_clock))

    async def prepare(self) -> None:
        """Makes the commands of all processes.

        Over etcd, ZooKeeper and NATS all workers in Python and Node lease from services. On the other stores one worker
        of each language does. In a directory no worker does: its slots are separate from a service's records.
        """
        engine, url, port = self.place.engine, self.place.url, self.place.port
        services = [(free_port(), free_port()) for _ in range(3)]
        for number, own in enumerate(services):
            self._add(f"service-{number}", self._service(own, await self._url(url, port)))
        served = [f"http://127.0.0.1:{own}" for own, _ in services]
        for number in range(2):
            self._add(f"rust-{number}", self._rust(f"rust-{number}", await self._url(url, port)), mints=True)
        for language in ("python", "node"):
            for number in range(2):
                name = f"{language}-{number}"
                by_service = engine in ("etcd", "zookeeper", "nats") or (number == 1 and engine != "file")
                store = served[number] if by_service else url
                seen = await self._url(store, services[number][0] if by_service else port)
                program = PROGRAM_OF[language]
                self._add(name, self._script(name, program, seen), mints=True)
        lacks = absent(engine)
        for number in range(2):
            await self._add_taker(f"taker-{number}", [kind for kind in KINDS if kind not in ("id", "key", *lacks)])
        # Not MariaDB: with two processes more its workers in Python did not get to mint within 20 s on two cores.
        if engine in ("sqlite", "postgres", "redis"):
            for language, program in TAKER_OF.items():
                kinds = [kind for kind in KINDS if kind not in ("id", "key", "flickr", *lacks)]
                # Each call of OpenSSL reads the file of a false clock: the threads of Python would connect for seconds.
                await self._add_taker(f"taker-{language}", kinds, program, has_clock=language != "python")
        pace = str(PACE_MS)
        asked = [await self._url(each, own) for each, (own, _) in zip(served, services, strict=True)]
        folder = self._takes("caller-http", ["segment", "ticket", "sequence", "cached", "user"])
        caller: list[str | Path] = [sys.executable, HERE / "caller.py", folder, pace]
        has_ids = "id" not in lacks
        self._add(
            "caller-http",
            lambda number: [*caller, self.ids / f"caller-http.{number}.0" if has_ids else "-", *asked],
            mints=has_ids,
        )
        keys = [await self._url(f"redis://127.0.0.1:{own}", own) for _, own in services]
        of_keys = self._takes("caller-redis", ["key"])
        self._add("caller-redis", lambda _: ["node", HERE / "caller.mjs", of_keys, pace, *keys])

    def _takes(self, name: str, kinds: list[str]) -> Path:
        """Makes the folder of a process that takes numbers."""
        self.taken[name] = kinds
        folder = self.takes / name
        folder.mkdir()
        return folder

    async def _add_taker(
        self,
        name: str,
        kinds: list[str],
        program: Sequence[str | Path] = (PROGRAMS / "snowmint-taker",),
        has_clock: bool = True,
    ) -> None:
        url, folder = await self._url(self.place.url, self.place.port), self._takes(name, kinds)
        rests = [str(PACE_MS), str(LIFE_MS)]
        self._add(name, lambda _: [*program, ",".join(kinds), url, folder, *rests], has_clock=has_clock)

    def _service(self, ports: tuple[int, int], url: str) -> Callable[[int], Sequence[str | Path]]:
        options = ["--http", f"127.0.0.1:{ports[0]}", "--redis", f"127.0.0.1:{ports[1]}", "--store", url]
        options += ["--layout", ledger.LAYOUT, "--window-ms", str(WINDOW_MS), "--log", "error"]
        if "id" not in absent(self.place.engine):
            options += ["--namespace", NAMESPACE]
        return lambda _: [PROGRAMS / "snowmint", "serve", *options]

    def _rust(self, name: str, url: str) -> Callable[[int], Sequence[str | Path]]:
        terms = [f"store={url}", f"namespace={NAMESPACE}", f"layout={ledger.LAYOUT}", f"window_ms={WINDOW_MS}"]
        terms += [f"max_wait_ms={MAX_WAIT_MS}", "threads=2"]
        return lambda number: [
            PROGRAMS / "snowmint-minter",
            "nemesis",
            *terms,
            f"ledger={self.ids / name}.{number}",
            f"seed={self.seed * 1000 + number}",
        ]

    def _script(self, name: str, program: Sequence[str | Path], url: str) -> Callable[[int], Sequence[str | Path]]:
        terms = [url, NAMESPACE, ledger.LAYOUT, str(WINDOW_MS), str(MAX_WAIT_MS)]
        return lambda number: [*program, *terms, f"{self.ids / name}.{number}", f"{self.seed} {name} {number}"]

    def snowmint(self, *words: str) -> str:
        """Runs a verb of the command line on the store, without a proxy, and returns its output."""
        done = subprocess.run(
            [PROGRAMS / "snowmint", *words, "--store", self.place.url],
            env=environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(f"snowmint {' '.join(words)}: {done.stderr}")
        return done.stdout

    def ends(self) -> dict[int, int]:
        """Returns the end of each node's window, as the store has it."""
        lines: list[dict[str, Any]] = [json.loads(line) for line in self.snowmint("lease", "ls", "--json").splitlines()]
        return {int(line["node"]): int(line["end"]) for line in lines if line["namespace"] == NAMESPACE}

    def stops(self) -> dict[int, list[tuple[int, int]]]:
        """Returns when each process stood still."""
        return {pid: found for process in self.processes for pid, found in process.stops.items()}

    async def end(self) -> None:
        """Ends all processes by SIGTERM. A process that does not end is a failure."""
        for process in self.processes:
            process.awaited = True
            process.signal(signal.SIGCONT)
            process.signal(signal.SIGTERM)
        for process in self.processes:
            if not await process.wait(END_S):
                process.failures.append(f"{process.name} does not end within {END_S:.0f} s after SIGTERM")

    async def close(self) -> None:
        """Kills what still runs, and closes the proxies."""
        for process in self.processes:
            process.kill_all()
        for proxy in self.proxies:
            await proxy.close()
