"""Measures the service and Redis in turns: INCR by redis-benchmark, and HTTP by wrk.

The first argument is the binary. Everything runs on this machine, so that client and server share its cores.
"""

import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from socket import create_connection, socket
from tempfile import TemporaryDirectory

ROUNDS = 9
CLIENTS = 50
# Enough for a turn to last about a second.
COMMANDS = {1: 60_000, 16: 400_000, 100: 1_000_000}
CONNECTIONS = {1: 15_000, 16: 50_000, 64: 50_000, 256: 50_000}
"""The commands of a turn, by the number of connections."""
GROWTH = {"/v1/tickets/NAME": 1000, "/v1/users/NAME/next": 1_000_000}
"""The most names in the requests of each path."""
SECONDS = 1
SHORT_ROUNDS = 5
PERCENT = ("50", "99", "99.9")
"""The percentiles of the time of a request, which ask.lua prints."""
HERE = Path(__file__).parent


@dataclass
class Contender:
    """A service or a kind of requests.

    Args:
        name: The name in the table.
        measure: Returns the requests per second, and percentiles of the time of a request in ms, by their percentage.
    """

    name: str
    measure: Callable[[], tuple[float, dict[str, float]]]
    rates: list[float] = field(default_factory=list)
    percentiles_ms: list[dict[str, float]] = field(default_factory=list)

    def turn(self) -> None:
        """Measures once."""
        rate, percentiles_ms = self.measure()
        self.rates.append(rate)
        self.percentiles_ms.append(percentiles_ms)

    def note(self) -> str:
        """Returns the medians of the percentiles as a text."""
        medians = {key: statistics.median(turn[key] for turn in self.percentiles_ms) for key in self.percentiles_ms[0]}
        return ", ".join(f"{key} % within {ms:.2f} ms" for key, ms in medians.items())


def free_port() -> int:
    """Returns a port of the loopback on which no program listens."""
    with socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port: int = unused.getsockname()[1]
        return port


@contextmanager
def running(words: list[str], port: int) -> Iterator[int]:
    """A server on that port; its process number."""
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(500):
                try:
                    create_connection(("127.0.0.1", port)).close()
                    break
                except ConnectionRefusedError:
                    time.sleep(0.02)
            else:
                raise RuntimeError(f"{words[0]} does not start")
            yield process.pid
        finally:
            process.terminate()


def output(*words: str) -> str:
    """Runs a program, and returns its output."""
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


class Increments:
    """INCR of one key, by redis-benchmark. After each turn the key must have counted all increments."""

    def __init__(self, port: int, commands: int, clients: int = CLIENTS, pipeline: int = 1) -> None:
        self.ask = ["-p", str(port)]
        self.commands = commands
        self.words = ["-c", str(clients), "-P", str(pipeline), "-n", str(commands)]
        self.key = f"bench{clients}-{pipeline}"
        self.asked = 0

    def __call__(self) -> tuple[float, dict[str, float]]:
        told = output("redis-benchmark", *self.ask, *self.words, "incr", self.key)
        [rate] = found(r"throughput summary: ([\d.]+)", told)
        latencies = re.findall(r"([\d.]+)% <= ([\d.]+) milliseconds \(cumulative", told)
        self.asked += self.commands
        reached = int(output("redis-cli", *self.ask, "get", self.key))
        assert reached >= self.asked, f"{reached} after {self.asked} increments"
        # redis-benchmark prints some percentages, among them the first one above each of these.
        within = {key: next(float(ms) for percent, ms in latencies if float(percent) >= float(key)) for key in PERCENT}
        return float(rate), within


class Requests:
    """Requests of one kind, by wrk, none of which may be refused."""

    def __init__(self, method: str, url: str, clients: int = CLIENTS, names: int | None = None) -> None:
        self.asked = [url, "--", method, *([] if names is None else [str(names)])]
        self.clients = clients

    def __call__(self) -> tuple[float, dict[str, float]]:
        words = ["-t", "1", "-c", str(self.clients), "-d", f"{SECONDS}s", "-s", str(HERE / "ask.lua")]
        told = output("wrk", *words, *self.asked)
        assert "Non-2xx" not in told and "Socket errors" not in told, told
        within = {key: float(found(rf"within {key} ([\d.]+) us", told)[0]) / 1000 for key in PERCENT}
        return float(found(r"Requests/sec:\s+([\d.]+)", told)[0]), within


def found(pattern: str, text: str) -> tuple[str, ...]:
    """Returns the groups of a pattern. The text must match it."""
    match = re.search(pattern, text)
    assert match, text
    return match.groups()


def compare(title: str, contenders: list[Contender], rounds: int = ROUNDS) -> None:
    """Prints a table as a line of JSON: requests a second, and the ratio to the first contender's, turn by turn."""
    for turn in range(rounds):
        # Each goes first in turn.
        for i in range(len(contenders)):
            contenders[(turn + i) % len(contenders)].turn()
    rows: list[dict[str, object]] = []
    for contender in contenders:
        deciles = statistics.quantiles(contender.rates, n=10, method="inclusive")
        median = statistics.median(contender.rates)
        row = {"name": contender.name, "p10": deciles[0], "median": median, "p90": deciles[8], "note": contender.note()}
        # If the machine paused for a whole turn, that turn has no ratio.
        ratios = [rate / first for rate, first in zip(contender.rates, contenders[0].rates, strict=True) if first]
        rows.append({**row, "ratio": statistics.median(ratios)} if ratios else row)
    print(json.dumps({"title": title, "unit": "/s", "rows": rows}), flush=True)


def resident_mb(process: int) -> float:
    """The memory of a process that is in use."""
    return int(found(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())[0]) / 1000


def main() -> None:
    """Measures everything once."""
    with ExitStack() as stack:
        directory = Path(stack.enter_context(TemporaryDirectory()))
        store = f"sqlite:{directory}/store.db"
        ports = {name: free_port() for name in ("snowmint", "http", "redis", "redis, appendfsync always")}
        http = f"http://127.0.0.1:{ports['http']}"
        serve = [sys.argv[1], "serve", "--store", store, "--http", http.removeprefix("http://")]
        serve += ["--redis", f"127.0.0.1:{ports['snowmint']}"]
        process = stack.enter_context(running(serve, ports["http"]))
        for name, options in [("redis", []), ("redis, appendfsync always", ["--appendonly", "yes"])]:
            (directory / name).mkdir()
            words = ["redis-server", "--port", str(ports[name]), "--bind", "127.0.0.1", "--dir", str(directory / name)]
            always = ["--appendfsync", "always"] if options else []
            stack.enter_context(running([*words, *options, *always], ports[name]))
        time.sleep(1)
        memory = {"idle": resident_mb(process)}
        names = [name for name in ports if name != "http"]
        for pipeline, commands in COMMANDS.items():
            contenders = [Contender(name, Increments(ports[name], commands, pipeline=pipeline)) for name in names]
            compare(f"Service: INCR, {CLIENTS} clients, pipelines of {pipeline}", contenders)
        for clients, commands in CONNECTIONS.items():
            increments = {name: Increments(ports[name], commands, clients) for name in ("snowmint", "redis")}
            contenders = [Contender(name, measure) for name, measure in increments.items()]
            compare(f"Service: INCR, connections: {clients}", contenders, SHORT_ROUNDS)
        contenders = [
            Contender(f"connections: {clients}", Requests("GET", f"{http}/v1/ids", clients)) for clients in CONNECTIONS
        ]
        compare("Service: HTTP, GET /v1/ids", contenders, SHORT_ROUNDS)
        asked = [("GET", "/v1/ids"), ("POST", "/v1/sequences/bench/next"), ("GET", "/v1/tickets/bench")]
        # Without a cache every number of a sequence takes a write, as a ticket does.
        create = [sys.argv[1], "sequence", "create", "cached", "--cache", "1000", "--store", store]
        subprocess.run(create, check=True, stdout=subprocess.DEVNULL)
        asked.insert(1, ("POST", "/v1/sequences/cached/next"))
        asked.append(("GET", "/healthz"))
        kinds = [Contender(f"{method} {path}", Requests(method, http + path)) for method, path in asked]
        compare(f"Service: HTTP, {CLIENTS} connections, SQLite, each number durable before its answer", kinds)
        memory["after all that"] = resident_mb(process)
        for path, most in GROWTH.items():
            method = "POST" if path.endswith("next") else "GET"
            grown = [
                Contender(f"names: {names:,}", Requests(method, http + path, names=names))
                for names in (1, 1000, 1_000_000)
                if names <= most
            ]
            compare(f"Service: HTTP, {method} {path}, each for one of the names by chance", grown, SHORT_ROUNDS)
        memory["after numbers of 1,000,000 users"] = resident_mb(process)
        rows = [{"name": name, "p10": mb, "median": mb, "p90": mb} for name, mb in memory.items()]
        print(json.dumps({"title": "Service: memory", "unit": "MB", "rows": rows}), flush=True)


if __name__ == "__main__":
    main()
