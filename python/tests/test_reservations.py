"""Reservations: processes start and mint while the store does not answer. tests/stores/reservations.rs has the rest."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import processes
import servers
from snowmint import InvalidStoreError, Snowflake, StoreUnavailableError
from snowmint.stores import HttpStore, MemoryStore

MINT = """
import sys
from snowmint import Snowflake

generator = Snowflake(store=sys.argv[1], reserve="24h", window_ms=1000)
print(generator.node, flush=True)
with open(sys.argv[2], "a") as ledger:
    while True:
        ledger.write(f"{generator.next_id()}\\n")
        ledger.flush()
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SNOWMINT_STATE_DIR", str(tmp_path / "slots"))
    return tmp_path


@pytest.mark.parametrize("engine", ["postgres", "etcd"])
def test_processes_start_again_while_the_store_is_dead(engine: servers.Engine, machine: Path) -> None:
    ledger = machine / "ledger"
    ledger.touch()

    def start(url: str) -> tuple[subprocess.Popen[str], str]:
        program = processes.start(MINT, url, str(ledger))
        assert program.stdout is not None
        return program, program.stdout.readline()

    def grows() -> None:
        size = ledger.stat().st_size
        servers.until("they mint", lambda: ledger.stat().st_size > size + 1000)

    with servers.Server(engine) as server:
        running = [start(server.url) for _ in range(2)]
        nodes = {node for _, node in running}
        assert len(nodes) == 2
        grows()
        server.kill()
        for _ in range(3):
            program, _ = running.pop(0)
            program.kill()
            program.communicate()
            running.append(start(server.url))
            grows()
        assert {node for _, node in running} == nodes
        for program, _ in running:
            program.kill()
            program.communicate()
    ids = ledger.read_text().splitlines()
    # A killed process may have written a part of its last line.
    whole = [id for id in ids if len(id) >= 18]
    assert len(set(whole)) == len(whole) > 1000


def test_a_forked_child_has_a_reservation_of_its_own(machine: Path) -> None:
    with servers.Server("redis") as server:
        generator = Snowflake(store=server.url, reserve="1h")
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.write(write, f"{generator.next_id()} {generator.node}".encode())
            finally:
                os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        node = int(os.read(read, 100).split()[1])
        assert node != generator.node
        generator.close()


def test_status_and_the_next_process_have_what_the_store_has_reserved(machine: Path) -> None:
    store: Any = Counted()
    generator = Snowflake(store=store, reserve="24h")
    window, reserved = generator.window, generator.status().reserved
    assert window is not None and reserved is not None
    assert reserved.end - window.end > 80_000_000
    node = generator.node
    generator.close()
    store.is_there = False
    # Closed generators keep the node for the machine.
    again = Snowflake(store=store, reserve="24h")
    assert again.node == node and again.next_id() > 0
    servers.until("it says why", lambda: again.status().renewal_error)
    assert "it is not there" in str(again.status().renewal_error)
    assert again.status().renewal_failures > 0
    with pytest.raises(StoreUnavailableError, match="it is not there"):
        Snowflake(store=store, reserve="24h", namespace="another")
    again.close()


class Counted(MemoryStore):
    """A store that a test takes away."""

    is_there = True

    def _there(self) -> None:
        if not self.is_there:
            raise OSError("it is not there")

    def read(self, key: str) -> tuple[bytes, int] | None:
        self._there()
        return super().read(key)

    def write(self, key: str, value: bytes, expected_version: int) -> int | None:
        self._there()
        return super().write(key, value, expected_version)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Snowflake(reserve="24h"), "reserve needs a store of records"),
        (lambda: Snowflake(node=5, reserve="24h"), "reserve needs a store of records"),
        (lambda: Snowflake(store=HttpStore("http://127.0.0.1:9"), reserve="24h"), "a service grants nodes by its own"),
        (lambda: Snowflake(store=MemoryStore(), reserve="24 hours"), "such as 24h: 1m to 7d"),
        (lambda: Snowflake(store=MemoryStore(), reserve="30s"), "such as 24h: 1m to 7d"),
        (lambda: Snowflake(store=MemoryStore(), reserve="1m", window_ms=20_000), "at least four windows"),
    ],
)
def test_reservations_that_cannot_be_are_refused(make: Callable[[], object], message: str, machine: Path) -> None:
    with pytest.raises(InvalidStoreError, match=message):
        make()


def test_the_environment_gives_the_length(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNOWMINT_RESERVE", "2h")
    with Snowflake(store=MemoryStore()) as generator:
        assert generator.status().reserved is not None
    monkeypatch.setenv("SNOWMINT_RESERVE", "soon")
    with pytest.raises(InvalidStoreError, match='SNOWMINT_RESERVE is "soon": reserve is a number'):
        Snowflake(store=MemoryStore())
