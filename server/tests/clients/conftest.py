"""Starts services for these tests, through the program `snowmint-engines`."""

import os
import subprocess
from collections.abc import Callable, Iterator

import pytest
import servers
from servers import Server

TOKEN = "a-token-of-these-tests"
# Without a sandbox, which root cannot have, and without requests to Chromium's own servers.
CHROMIUM = [os.environ.get("CHROMIUM", "/usr/bin/chromium"), "--headless", "--no-sandbox", "--disable-gpu"]
CHROMIUM += ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update"]
CHROMIUM += ["--disable-sync", "--virtual-time-budget=10000"]


def run(*words: str, stdin: str = "") -> str:
    """Runs a program to its end and returns its output. If the program fails, the assertion shows its errors."""
    done = subprocess.run(words, input=stdin, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A service that needs no token."""
    with Server("service") as running:
        yield running


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service with a token."""
    token = tmp_path_factory.mktemp("guarded") / "token"
    token.write_text(TOKEN)
    with Server("service", ["--token-file", str(token)]) as running:
        yield running


@pytest.fixture
def operate(server: Server) -> Callable[..., str]:
    """Runs an operator's verb on the service's store."""
    return lambda *words: run(servers.SNOWMINT, *words, "--store", server.store)
