"""A server of our own for each module, as a process: the binary that the variable SNOWMINT_SERVER names."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import pytest

TOKEN = "a-token-of-these-tests"
# Without a sandbox, since root has none, and without what would call home.
CHROMIUM = [os.environ.get("CHROMIUM", "/usr/bin/chromium"), "--headless", "--no-sandbox", "--disable-gpu"]
CHROMIUM += ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update"]
CHROMIUM += ["--disable-sync", "--virtual-time-budget=10000"]


@dataclass
class Server:
    """A server that runs.

    Args:
        http: Its URL.
        port: The port of the Redis protocol.
        store: The URL of its store.
    """

    http: str
    port: int
    store: str


def run(*words: str, stdin: str = "") -> str:
    """Runs a program to its end, and gives what it prints; what it complains of is shown if it fails."""
    done = subprocess.run(words, input=stdin, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def snowmint(*words: str) -> list[str]:
    """Runs the command line."""
    return [os.environ["SNOWMINT_SERVER"], *words]


@contextmanager
def serving(directory: Path, *options: str) -> Iterator[Server]:
    """A server on a store in that directory."""
    store = f"sqlite:{directory}/store.db"
    words = ["serve", "--http", "127.0.0.1:0", "--redis", "127.0.0.1:0", "--log-format", "json", "--store", store]
    # The caller's own settings are not the tests'.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SNOWMINT_")}
    with subprocess.Popen(snowmint(*words, *options), stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        # A pipe that nobody reads would stop it.
        Thread(target=process.stderr.read).start()
        try:
            told = json.loads(first)
            yield Server(f"http://{told['http']}", int(told["redis"].rpartition(":")[2]), store)
        finally:
            process.terminate()
            assert process.wait(20) == 0, "it ends well"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One that asks for nothing."""
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One with a token."""
    directory = tmp_path_factory.mktemp("guarded")
    (directory / "token").write_text(TOKEN)
    with serving(directory, "--token-file", str(directory / "token")) as running:
        yield running


@pytest.fixture
def operate(server: Server) -> Callable[..., str]:
    """Runs an operator's verb on the server's store."""
    return lambda *words: run(*snowmint(*words, "--store", server.store))
