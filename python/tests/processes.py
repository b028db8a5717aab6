"""Runs Python programs in separate processes."""

import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE_S = 240
"""How long a program may take: rounds of forks beside other proofs take more than a minute."""

FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")


def environment(clock_off: float | None = None, **variables: str) -> dict[str, str]:
    """This process's environment with those variables, and perhaps with its clock that many seconds off."""
    # Programs find the modules of the tests.
    found = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), **variables}
    if clock_off is not None:
        assert FAKETIME.exists(), "install the package faketime"
        found |= {"LD_PRELOAD": str(FAKETIME), "FAKETIME": f"{clock_off:+}", "DONT_FAKE_MONOTONIC": "1"}
    return found


@contextmanager
def scripted_clock() -> Iterator[tuple[dict[str, str], Callable[[float], None]]]:
    """The variables of a server whose clock a test sets, in s from the real one, and the function that sets it.

    The file of the offset lies in a folder that every account can read.
    """
    with tempfile.TemporaryDirectory(prefix="snowmint-clock-") as folder:
        Path(folder).chmod(0o755)
        clock, draft = Path(folder) / "clock", Path(folder) / "draft"

        def set_clock(offset_s: float) -> None:
            draft.write_text(f"{offset_s:+}")
            # A rename is atomic, so that a half-written offset is never read.
            draft.rename(clock)

        set_clock(0)
        faked = {name: environment(0)[name] for name in ("LD_PRELOAD", "DONT_FAKE_MONOTONIC")}
        yield {**faked, "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1"}, set_clock


def command(program: str, *arguments: str) -> list[str]:
    """The command that runs a Python program."""
    return [sys.executable, "-c", textwrap.dedent(program), *arguments]


def start(program: str, *arguments: str, clock_off: float | None = None, **variables: str) -> subprocess.Popen[str]:
    """Starts a Python program, in a process group with its children."""
    return subprocess.Popen(
        command(program, *arguments),
        env=environment(clock_off, **variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        process_group=0,
    )


def run(program: str, *arguments: str, **variables: str) -> str:
    """Returns the output of a Python program; fails if the program fails or takes too long."""
    done = subprocess.run(
        command(program, *arguments),
        env=environment(None, **variables),
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, f"{done.returncode}: {done.stderr}"
    return str(done.stdout)


def minted(program: str, *arguments: str) -> list[int]:
    """The IDs that a Python program prints, as 8 bytes each; fails if it fails or takes too long."""
    done = subprocess.run(
        command(program, *arguments), env=environment(), capture_output=True, check=False, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stderr.decode()
    return memoryview(done.stdout).cast("Q").tolist()


def taken_until_killed(program: str, *arguments: str, count: int) -> list[int]:
    """The numbers that a Python program prints until it is killed, at least `count`."""
    with start(program, *arguments) as taker:
        assert taker.stdout is not None
        lines = [taker.stdout.readline() for _ in range(count)]
        taker.kill()
        lines += taker.stdout.readlines()
    return [int(line) for line in lines if line.endswith("\n")]
