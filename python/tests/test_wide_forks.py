"""UUIDs, ULIDs and ObjectIds: a forked child never mints from its parent's state, nor do threads from each other's."""

import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest

import processes
import snowmint

KINDS: dict[str, Callable[[], object]] = {
    name: getattr(snowmint, name)
    for name in ("uuid1", "uuid4", "uuid4_str", "uuid6", "uuid7", "uuid7_str", "uuid8", "ulid", "ulid_str", "object_id")
}
# The kinds that increase within a process.
IN_ORDER = ("uuid6", "uuid7", "uuid7_str", "ulid", "ulid_str")

# Minting, as all programs here do it: a line has a kind and a text.
MINT = f"""
    import os, sys
    import snowmint
    KINDS = {tuple(KINDS)!r}
    def mint(count):
        lines = []
        for _ in range(count):
            lines += [f"{{kind}} {{getattr(snowmint, kind)()}}" for kind in KINDS]
        return lines
    def write(lines):
        text = "".join(line + "\\n" for line in lines).encode()
        # Appended in one piece, so that processes can share the file.
        place = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        assert os.write(place, text) == len(text)
        os.close(place)
    def wait(child):
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


def run(program: str, ledger: Path, *arguments: str) -> dict[str, list[str]]:
    """The IDs that a program wrote down, by kind; fails on a repeated ID."""
    processes.run(textwrap.dedent(MINT) + textwrap.dedent(program), str(ledger), *arguments)
    minted: dict[str, list[str]] = {}
    for line in ledger.read_text().splitlines():
        kind, _, text = line.partition(" ")
        minted.setdefault(kind, []).append(text)
    for kind, texts in minted.items():
        assert len(set(texts)) == len(texts), kind
    return minted


def counts(minted: dict[str, list[str]]) -> set[int]:
    assert minted.keys() == KINDS.keys()
    return {len(texts) for texts in minted.values()}


@pytest.mark.parametrize("how", ["fork", "clone"])
def test_four_children_and_their_parent_repeat_nothing(how: str, tmp_path: Path) -> None:
    program = """
        from raw_clone import clone
        # In the midst of a batch: the parent has minted, and goes on afterwards.
        lines = mint(100)
        children = []
        for _ in range(4):
            child = os.fork() if sys.argv[2] == "fork" else clone()
            if child == 0:
                write(mint(2000))
                os._exit(0)
            children.append(child)
        write(lines + mint(2000))
        for child in children:
            wait(child)
    """
    minted = run(program, tmp_path / "ledger", how)
    assert counts(minted) == {100 + 5 * 2000}
    # Five processes have five nodes and five middles.
    assert len({text[24:] for text in minted["uuid1"]}) == 5
    assert len({text[8:18] for text in minted["object_id"]}) == 5


def test_forks_in_a_signal_handler_during_a_batch_repeat_nothing(tmp_path: Path) -> None:
    program = """
        import signal
        lines, mine, children = [], 0, []
        def handler(*_):
            global mine
            if len(children) < 5 and mine == 0:
                child = os.fork()
                if child == 0:
                    # What is from before is the parent's to write down.
                    mine = len(lines)
                    children.clear()
                    signal.setitimer(signal.ITIMER_REAL, 0)
                else:
                    children.append(child)
        lines += mint(1)
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
        while len(children) < 5 and mine == 0:
            for kind in KINDS:
                lines.append(f"{kind} {getattr(snowmint, kind)()}")
        signal.setitimer(signal.ITIMER_REAL, 0)
        # One that was handed out just before the fork is in flight in both: the child leaves it to the parent.
        write((lines[mine + 1:] if mine else lines) + mint(500))
        if mine:
            os._exit(0)
        for child in children:
            wait(child)
    """
    assert min(counts(run(program, tmp_path / "ledger"))) > 6 * 500


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_pool_of_processes_repeats_nothing(method: str, tmp_path: Path) -> None:
    (tmp_path / "pooled.py").write_text(
        "import snowmint\n"
        f"KINDS = {tuple(KINDS)!r}\n"
        "def mint(count):\n"
        "    return [[str(getattr(snowmint, kind)()) for _ in range(count)] for kind in KINDS]\n"
        "first = mint(10)\n"
    )
    script = tmp_path / "main.py"
    script.write_text(
        "import multiprocessing, sys\n"
        "import pooled\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context(sys.argv[1]).Pool(4) as pool:\n"
        "        rounds = [*pool.map(pooled.mint, [500] * 16, chunksize=1), pooled.mint(500), pooled.first]\n"
        "    for kind in zip(*rounds):\n"
        "        minted = [text for texts in kind for text in texts]\n"
        "        print(len(minted), len(minted) - len(set(minted)))\n"
    )
    done = subprocess.run(
        [sys.executable, str(script), method],
        env=processes.environment(PYTHONPATH=str(tmp_path)),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    assert done.stdout.splitlines() == [f"{17 * 500 + 10} 0"] * len(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_eight_threads_repeat_nothing_and_each_sees_its_own_in_order(kind: str) -> None:
    next_one = KINDS[kind]
    begun = threading.Barrier(8)

    def mint(_: int) -> list[object]:
        begun.wait()
        return [next_one() for _ in range(5000)]

    with ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(mint, range(8)))
    assert len({one for minted in runs for one in minted}) == 8 * 5000
    if kind in IN_ORDER:
        assert all(str(a) < str(b) for minted in runs for a, b in pairwise(minted))


@pytest.mark.parametrize("kind", IN_ORDER)
def test_what_is_in_order_is_so_when_the_clock_is_set_back(kind: str, tmp_path: Path) -> None:
    # The library reads the offset of its clock from a file, each time.
    offset = tmp_path / "offset"
    offset.write_text("+0")
    program = """
        import pathlib, sys, time
        import snowmint
        offset, mint = pathlib.Path(sys.argv[1]), getattr(snowmint, sys.argv[2])
        minted = [mint()]
        for seconds in (-3600, -7200, -3600, 0, 10):
            before = time.time()
            offset.write_text(f"{seconds:+}")
            assert abs(time.time() - before) > 5, "the clock steps"
            minted += [mint() for _ in range(2000)]
        assert all(a < b for a, b in zip(minted, minted[1:])), "in order"
        print(len(minted))
    """
    with_clock = {
        name: value
        for name, value in processes.environment(clock_off=0).items()
        if name in ("LD_PRELOAD", "DONT_FAKE_MONOTONIC")
    }
    printed = processes.run(
        program, str(offset), kind, **with_clock, FAKETIME_TIMESTAMP_FILE=str(offset), FAKETIME_NO_CACHE="1"
    )
    assert printed == f"{1 + 5 * 2000}\n"
