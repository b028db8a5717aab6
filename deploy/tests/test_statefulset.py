"""Plays deploy/kubernetes/statefulset.yaml with processes for pods and directories for volumes: nothing repeats."""

import os
import subprocess
import time
from pathlib import Path

import processes
import pytest
from losses import wait_until
from servers import SNOWMINT

# Prints the error that ends it.
REPLICA = """
    import array, select, sys
    from snowmint import Snowflake, SnowmintError
    try:
        generator = Snowflake(max_wait_ms=int(sys.argv[2]))
        with open(sys.argv[1], "ab", buffering=0) as ledger:
            while True:
                ledger.write(array.array("Q", generator.next_ids(20)))
                # libfaketime breaks `time.sleep`.
                select.select([], [], [], 0.001)
    except SnowmintError as error:
        print(error.code, error)
"""


class SteppedClock:
    """The clock of a machine, which steps while its processes run."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "clock"
        self.variables = {
            "LD_PRELOAD": str(processes.FAKETIME),
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_NO_CACHE": "1",
            "DONT_FAKE_MONOTONIC": "1",
        }
        self.step(0)

    def step(self, seconds: int) -> None:
        """Sets the clock that many seconds off. A rename is atomic, so that no process reads a half-written offset."""
        draft = self.file.with_suffix(".draft")
        draft.write_text(f"{seconds:+}")
        draft.rename(self.file)


class Pod:
    """A replica with an ordinal, whose volume and ledger outlive its processes."""

    def __init__(self, folder: Path, ordinal: int) -> None:
        self.ordinal = ordinal
        self.volume = folder / f"volume-{ordinal}"
        self.volume.mkdir()
        self.ledger = folder / f"ledger-{ordinal}"
        self.ledger.touch()
        self.process: subprocess.Popen[str] | None = None

    def start(
        self, clock_off: float | None = None, max_wait_ms: int = 20_000, *, clock: "SteppedClock | None" = None
    ) -> None:
        """Starts a process with the variables of the manifest."""
        variables = {
            "KUBERNETES_SERVICE_HOST": "10.0.0.1",
            "SNOWMINT_NODE": str(self.ordinal),
            "SNOWMINT_STORE": f"file:{self.volume}",
            "SNOWMINT_NAMESPACE": "orders",
            **(clock.variables if clock else {}),
        }
        self.process = processes.start(REPLICA, str(self.ledger), str(max_wait_ms), clock_off=clock_off, **variables)

    def error(self) -> str:
        """Waits until the process ends by itself, and returns its error."""
        assert self.process is not None
        return self.process.communicate(timeout=60)[0]

    def kill(self) -> None:
        """Ends the process as a crash of its machine does."""
        assert self.process is not None
        self.process.kill()
        self.process.communicate()

    def mints(self) -> None:
        """Waits until the process has minted 1000 more IDs."""
        size = self.ledger.stat().st_size + 8 * 1000
        wait_until(lambda: self.ledger.stat().st_size >= size)

    def lose_volume(self) -> None:
        """Removes every file of the volume."""
        subprocess.run(["find", self.volume, "-mindepth", "1", "-delete"], check=True)


def fence(volume: Path) -> None:
    """Raises the windows of an empty volume to a time that is now when the next pod has failed."""
    until = str(time.time_ns() // 1_000_000 + 1000)
    subprocess.run(
        [SNOWMINT, "fence", "--stopped", "--empty", "--until", until, "--skip", "0", "--store", f"file:{volume}"],
        check=True,
        stdout=subprocess.DEVNULL,
    )


@pytest.fixture
def pods(tmp_path: Path) -> list[Pod]:
    """Three replicas that mint."""
    found = [Pod(tmp_path, ordinal) for ordinal in range(3)]
    for pod in found:
        pod.start()
    for pod in found:
        pod.mints()
    return found


def test_no_crash_clock_or_lost_volume_repeats_an_id(pods: list[Pod], tmp_path: Path) -> None:
    try:
        # A rolling restart in the order of Kubernetes, by kill -9.
        for _ in range(int(os.environ.get("SNOWMINT_KILLS", "1"))):
            for pod in reversed(pods):
                pod.kill()
                pod.start()
                pod.mints()

        # A clock that steps back an hour under a running pod ends the pod, and the error says by how much.
        stepped, clock = pods[0], SteppedClock(tmp_path)
        stepped.kill()
        stepped.start(max_wait_ms=3000, clock=clock)
        stepped.mints()
        clock.step(-3600)
        error = stepped.error()
        assert error.startswith("CLOCK_BACKWARDS "), error
        stepped.start()
        stepped.mints()

        # On a machine whose clock is an hour behind, the pod does not start: the volume knows later times.
        behind = pods[1]
        behind.kill()
        behind.start(clock_off=-3600, max_wait_ms=1000)
        error = behind.error()
        assert error.startswith("NODES_EXHAUSTED node 1 in "), error
        assert "used up to a time after now (the nearest for 3" in error, error
        behind.start()
        behind.mints()

        # A volume that is lost under a pod ends the pod at its next renewal. The next pod has an empty volume.
        lost = pods[2]
        lost.lose_volume()
        error = lost.error()
        assert error.startswith("WINDOW_CLOSED ") and "slot of node 2 was lost" in error, error
        lost.start()
        lost.mints()

        # If the clock is behind too, a fence writes the used times to the empty volume first.
        lost.kill()
        lost.lose_volume()
        fence(lost.volume)
        lost.start(clock_off=-3600, max_wait_ms=1000)
        error = lost.error()
        assert error.startswith("NODES_EXHAUSTED node 2 in "), error
        lost.start()
        lost.mints()
    finally:
        for pod in pods:
            pod.kill()

    ledgers = [memoryview(pod.ledger.read_bytes()).cast("Q").tolist() for pod in pods]
    ids = [id for ledger in ledgers for id in ledger]
    assert len(set(ids)) == len(ids) >= 10_000
    for pod, ledger in zip(pods, ledgers, strict=True):
        assert {id >> 12 & 1023 for id in ledger} == {pod.ordinal}
