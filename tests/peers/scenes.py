"""Plays scenes in which packages for Python repeat or lose IDs: `scenes.py fork|copy|overflow|clock`.

`scripts/peers.sh` installs the packages (requirements.txt) and calls this program. docs/record.md explains each scene.
"""

import asyncio
import copy
import os
import sys
import tempfile
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from importlib.metadata import version
from itertools import count
from pathlib import Path
from types import SimpleNamespace

NextId = Callable[[], object]

TRIALS = 10
CHILDREN = 4
MANY = 2000
# Layouts of Sonyflake have 256 IDs in 10 ms, so more of them take long.
FEW = 200


def epyxid() -> NextId:
    from epyxid import xid_create

    return lambda: str(xid_create())


def oneflake() -> NextId:
    from oneflake import FlakeGenerator

    return FlakeGenerator().generate


def snowflake_id() -> NextId:
    from snowflake import SnowflakeGenerator

    generator = SnowflakeGenerator(5)

    def next_id() -> int:
        # The package returns None when the caller has to wait.
        while (id := next(generator)) is None:
            pass
        return id

    return next_id


def flakeid() -> NextId:
    from flakeid import make_generator

    return make_generator().next_id


def toolkit() -> NextId:
    from snowflake_id_toolkit import TwitterSnowflakeIDGenerator

    return TwitterSnowflakeIDGenerator(1).generate_next_id


def sonyflake_turbo() -> NextId:
    from sonyflake_turbo import SonyFlake

    return SonyFlake(5).__next__


def sonyflake_py() -> NextId:
    from sonyflake import SonyFlake

    return SonyFlake(machine_id=lambda: 5).next_id


def snowflakekit() -> NextId:
    from snowflakekit import SnowflakeConfig, SnowflakeGenerator

    generator = SnowflakeGenerator(SnowflakeConfig(epoch=1_723_323_246_031))
    return lambda: asyncio.run(generator.generate())


def ulid_transform() -> NextId:
    from ulid_transform import ulid_now

    return ulid_now


def uuid_utils(kind: str) -> Callable[[], NextId]:
    def make() -> NextId:
        import uuid_utils

        mint = getattr(uuid_utils, kind)
        return lambda: str(mint())

    return make


# The package, a call that makes its generator, and how many IDs each process mints.
FORKED: list[tuple[str, Callable[[], NextId], int]] = [
    ("epyxid", epyxid, MANY),
    ("oneflake", oneflake, MANY),
    ("snowflake-id", snowflake_id, MANY),
    ("flakeid", flakeid, MANY),
    ("snowflake-id-toolkit", toolkit, MANY),
    ("sonyflake-turbo", sonyflake_turbo, FEW),
    ("sonyflake-py", sonyflake_py, FEW),
    ("snowflakekit", snowflakekit, FEW),
    ("ulid-transform", ulid_transform, MANY),
    ("Python's uuid1", lambda: uuid.uuid1, MANY),
    ("Python's uuid4", lambda: uuid.uuid4, MANY),
    ("uuid-utils uuid1", uuid_utils("uuid1"), MANY),
    ("uuid-utils uuid6", uuid_utils("uuid6"), MANY),
    ("uuid-utils uuid4", uuid_utils("uuid4"), MANY),
    ("uuid-utils uuid7", uuid_utils("uuid7"), MANY),
]


def title(name: str) -> str:
    """Returns the name of a package with its version."""
    package, *call = name.split(" ")
    return name if package == "Python's" else " ".join([package, version(package), *call])


def repeats(ids: Iterable[object]) -> int:
    """Returns how many IDs had been minted before."""
    counts = Counter(ids)
    return sum(counts.values()) - len(counts)


def ids_of_forked_children(next_id: NextId, many: int) -> list[str]:
    """Mints in children that all start at the same moment, and returns their IDs."""
    with tempfile.TemporaryDirectory() as ledger:
        gate, opener = os.pipe()
        children = []
        for child in range(CHILDREN):
            if pid := os.fork():
                children.append(pid)
                continue
            os.close(opener)
            # Returns as soon as the parent closes the other end.
            os.read(gate, 1)
            Path(ledger, str(child)).write_text("".join(f"{next_id()}\n" for _ in range(many)))
            os._exit(0)
        os.close(opener)
        for pid in children:
            if os.waitpid(pid, 0)[1]:
                raise ChildProcessError("a child failed")
        os.close(gate)
        return [id for child in range(CHILDREN) for id in Path(ledger, str(child)).read_text().split()]


def fork() -> None:
    """Makes a generator, mints one ID, and forks four children, which mint by the generator that they inherit."""
    for name, make, many in FORKED:
        trials = []
        for _ in range(TRIALS):
            next_id = make()
            next_id()
            trials.append(repeats(ids_of_forked_children(next_id, many)))
        report(title(name), f"{CHILDREN} children x {many:,}", ", ".join(f"{trial:,}" for trial in trials) + " repeat")


def copies() -> None:
    """Copies a generator with its state; original and copy mint in turn."""
    from flakeid import make_generator
    from snowflake import SnowflakeGenerator

    original = SnowflakeGenerator(5)
    next(original)
    twin = copy.copy(original)
    ids = [next(each) for _ in range(MANY) for each in (original, twin)]
    report(title("snowflake-id"), "copy.copy", f"{repeats(id for id in ids if id is not None):,} repeat")
    flake = make_generator()
    flake.next_id()
    clone = copy.copy(flake)
    ids = [each.next_id() for _ in range(MANY) for each in (flake, clone)]
    report(title("flakeid"), "copy.copy", f"{repeats(ids):,} repeat")


def overflow() -> None:
    """Uses up the numbers of an instant, and mints beyond the bits of a field."""
    from pysnowfall import Snowfall
    from snowflake_id_toolkit import TwitterSnowflakeIDGenerator, _generator
    from sonyflake_turbo import pure

    ids = [Snowfall.generateSnowflake() for _ in range(1000)]
    times = {id >> 22 for id in ids}
    report(title("pysnowfall"), "1,000 IDs", f"all of the same ms: {len(times) == 1}")

    readings = count()
    # A faster machine: the clock shows the same ms 10,000 times.
    _generator.time = SimpleNamespace(time_ns=lambda: 1_800_000_000_000_000_000 + next(readings) // 10_000 * 1_000_000)
    generator = TwitterSnowflakeIDGenerator(1)
    nodes = Counter((int(generator.generate_next_id()) >> 12) & 0x3FF for _ in range(20_000))
    report(title("snowflake-id-toolkit"), "node 1, 20,000 IDs", f"IDs by the node in them: {dict(nodes)}")

    again = 0
    for _ in range(30):
        flake = pure.SonyFlake(5)
        again += repeats([flake._raw(None)[0], *flake._raw(4)[0], flake._raw(None)[0], *flake._raw(4)[0]])
    report(title("sonyflake-turbo"), "its Python fallback: single, batch, 30 times", f"{again} repeat")


def clock() -> None:
    """Mints under a clock that stands still, and that goes back."""
    from snowflake import snowflake

    now = 1_800_000_000.0
    snowflake.time = lambda: now
    generator = snowflake.SnowflakeGenerator(5)
    nones = sum(next(generator) is None for _ in range(5000))
    report(title("snowflake-id"), "5,000 calls in one ms", f"{nones} return None")
    now -= 0.005
    report(title("snowflake-id"), "the clock goes back 5 ms", f"next returns {next(generator)}")

    lives = []
    for _ in range(2):
        now = 1_800_000_000.0
        generator = snowflake.SnowflakeGenerator(5)
        for _ in range(20):
            now += 0.001
            lives.append([next(generator) for _ in range(100)])
    ids = [id for life in lives for id in life]
    report(title("snowflake-id"), "a restart, and the clock back", f"{repeats(ids):,} of {len(ids):,} repeat")


def report(package: str, scene: str, result: str) -> None:
    print(f"{package:28} {scene:32} {result}", flush=True)


SCENES = {"fork": fork, "copy": copies, "overflow": overflow, "clock": clock}

if __name__ == "__main__":
    for name in sys.argv[1:]:
        SCENES[name]()
