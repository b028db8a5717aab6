"""What an ID costs in Python, beside peers and beside what Python itself costs."""

import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from itertools import repeat

import bson
import fastuuid7
import numpy as np
import oneflake
import snowmint
import sonyflake_turbo
import ulid
import ulid_transform
import uuid7_rs
import uuid_utils
import uuid_utils.compat
from checker import check
from snowmint import Segments, Snowflake, layouts
from snowmint.stores import MemoryStore
from turns import Contender, compare, row, table

EPOCH_MS = 1_735_689_600_000
# Room for 2^18 IDs a ms, and for batches 2^22, so that the clock never makes a contender wait.
WIDE = "time:41,node:4,sequence:18;epoch=2025-01-01T00:00:00Z"
WIDER = "time:40,node:2,sequence:22;epoch=2025-01-01T00:00:00Z"
BATCH = 4096
SUSTAINED_MS = 250
REPEATS = 21


def single(store: str) -> None:
    """One ID a call, with a clock read in each."""
    leased, vouched = Snowflake(WIDE, store=store), Snowflake(WIDE, node=15)
    flake = oneflake.FlakeGenerator(1, epoch_ms=EPOCH_MS, timestamp_bits=41, worker_bits=4, sequence_bits=18)
    # One machine would be limited to 256 IDs in 10 ms.
    sony = sonyflake_turbo.SonyFlake(*range(65536), start_time=EPOCH_MS // 1000)
    for name, mint, unix_ms in [
        ("snowmint, leased: next_id()", leased.next_id, lambda id: (id >> 22) + EPOCH_MS),
        ("oneflake: generate()", flake.generate, lambda id: (id >> 22) + EPOCH_MS),
        ("sonyflake-turbo, all machines: next(gen)", partial(next, sony), lambda id: (id >> 24) * 10 + EPOCH_MS),
        ("uuid-utils: uuid7()", uuid_utils.uuid7, lambda id: id.int >> 80),
        ("uuid7-rs: uuid7()", uuid7_rs.uuid7, lambda id: id.int >> 80),
        ("fastuuid7: uuid7()", fastuuid7.uuid7, lambda id: id.int >> 80),
    ]:
        check(name, mint, unix_ms)
    compare(
        "Python: an ID",
        [
            Contender("floor: time.time_ns()", time.time_ns, increasing=False),
            Contender("snowmint, leased: next_id()", leased.next_id),
            Contender("snowmint, leased: next(gen)", leased, by_next=True),
            Contender("snowmint, leased: gen()", leased),
            Contender("snowmint, vouched: next_id()", vouched.next_id),
            Contender("oneflake: generate()", flake.generate),
            Contender("sonyflake-turbo, all machines: next(gen)", sony, by_next=True),
            Contender("uuid-utils: uuid7()", uuid_utils.uuid7),
            Contender("uuid7-rs: uuid7()", uuid7_rs.uuid7),
        ],
    )


def lists(store: str) -> None:
    """Lists of IDs."""
    leased, vouched = Snowflake(WIDER, store=store), Snowflake(WIDER, node=3)
    flake = oneflake.FlakeGenerator(1, epoch_ms=EPOCH_MS, timestamp_bits=41, worker_bits=4, sequence_bits=18)
    sony = sonyflake_turbo.SonyFlake(*range(65536), start_time=EPOCH_MS // 1000)
    start = leased.next_id()

    def numbers() -> list[int]:
        nonlocal start
        start += BATCH
        return list(range(start, start + BATCH))

    def one_by_one() -> list[int]:
        mint = flake.generate
        return [mint() for _ in repeat(None, BATCH)]

    compare(
        f"Python: lists of {BATCH} IDs, an ID",
        [
            Contender("floor: list(range(a, b))", numbers, ids_a_call=BATCH),
            Contender("snowmint, leased: next_ids(n)", partial(leased.next_ids, BATCH), ids_a_call=BATCH),
            Contender("snowmint, vouched: next_ids(n)", partial(vouched.next_ids, BATCH), ids_a_call=BATCH),
            Contender("sonyflake-turbo, all machines: gen(n)", partial(sony, BATCH), ids_a_call=BATCH),
            Contender("oneflake, which has no batch: generate()", one_by_one, ids_a_call=BATCH),
        ],
    )


def arrays(store: str) -> None:
    """Arrays of numpy."""
    leased, vouched = Snowflake(WIDER, store=store), Snowflake(WIDER, node=3)
    sony = sonyflake_turbo.SonyFlake(*range(65536), start_time=EPOCH_MS // 1000)
    steps = np.arange(BATCH, dtype=np.uint64)
    start = np.uint64(leased.next_id())
    places = [np.zeros(BATCH, np.uint64) for _ in range(3)]

    def numbers() -> np.ndarray:
        nonlocal start
        start += np.uint64(BATCH)
        return np.add(steps, start, out=places[0])

    def filled(generator: Snowflake, place: np.ndarray) -> np.ndarray:
        generator.fill(place)
        return place

    compare(
        f"Python: numpy arrays of {BATCH} IDs, an ID",
        [
            Contender("floor: numpy.add(steps, start, out=array)", numbers, ids_a_call=BATCH),
            Contender("snowmint, leased: fill(array)", partial(filled, leased, places[1]), ids_a_call=BATCH),
            Contender("snowmint, vouched: fill(array)", partial(filled, vouched, places[2]), ids_a_call=BATCH),
            Contender(
                "sonyflake-turbo: numpy.array(gen(n))", lambda: np.array(sony(BATCH), np.uint64), ids_a_call=BATCH
            ),
        ],
    )


def wide() -> None:
    """UUIDs, ULIDs and ObjectIds."""
    unordered = partial(Contender, ordered=False)
    check("snowmint: uuid7_str()", snowmint.uuid7_str)
    check("snowmint: ulid_str()", snowmint.ulid_str)
    check("ulid-transform, text: ulid_now()", ulid_transform.ulid_now, ordered=False)
    check("python-ulid: ULID()", ulid.ULID, lambda id: id.milliseconds, ordered=False)
    check("pymongo: bson.ObjectId()", bson.ObjectId, ordered=False)

    compare(
        "Python: a UUID of version 7, as the standard library's class",
        [
            Contender("snowmint: uuid7()", snowmint.uuid7),
            Contender("uuid-utils: compat.uuid7()", uuid_utils.compat.uuid7),
            Contender("fastuuid7: uuid7()", fastuuid7.uuid7),
            Contender("uuid-utils' own class: uuid7()", uuid_utils.uuid7),
        ],
    )
    compare(
        "Python: a UUID of version 7, as text",
        [
            Contender("snowmint: uuid7_str()", snowmint.uuid7_str),
            Contender("uuid-utils: str(uuid7())", uuid_utils.uuid7, as_text=True),
            Contender("uuid7-rs: str(uuid7())", uuid7_rs.uuid7, as_text=True),
            Contender("fastuuid7: uuid7_str()", fastuuid7.uuid7_str),
        ],
    )
    compare(
        "Python: a UUID of version 4, as the standard library's class",
        [
            unordered("snowmint: uuid4()", snowmint.uuid4),
            unordered("uuid-utils: compat.uuid4()", uuid_utils.compat.uuid4),
            unordered("uuid: uuid4()", uuid.uuid4),
        ],
    )
    compare(
        "Python: a UUID of version 4, as text",
        [
            unordered("snowmint: uuid4_str()", snowmint.uuid4_str),
            unordered("uuid-utils: str(uuid4())", uuid_utils.uuid4, as_text=True),
        ],
    )
    compare(
        "Python: a UUID of versions 1 and 6, as the standard library's class",
        [
            unordered("snowmint: uuid1()", snowmint.uuid1),
            unordered("snowmint: uuid6()", snowmint.uuid6),
            unordered("uuid-utils: compat.uuid6()", uuid_utils.compat.uuid6),
            unordered("uuid: uuid1()", uuid.uuid1),
        ],
    )
    compare(
        "Python: a ULID",
        [
            Contender("snowmint: ulid()", snowmint.ulid),
            Contender("snowmint: ulid_str()", snowmint.ulid_str),
            Contender("snowmint: str(ulid())", snowmint.ulid, as_text=True),
            unordered("ulid-transform, text: ulid_now()", ulid_transform.ulid_now),
            unordered("python-ulid: ULID()", ulid.ULID),
        ],
    )
    compare(
        "Python: an ObjectId",
        [
            unordered("snowmint: object_id()", snowmint.object_id),
            unordered("pymongo: bson.ObjectId()", bson.ObjectId),
        ],
    )


def sustained_ns(mint: Callable[[], Iterable[int]]) -> float:
    """The time an ID over whole ms, of a layout with 4,096 IDs a ms."""
    ids: list[int] = []
    end = time.perf_counter() + SUSTAINED_MS / 1000
    while time.perf_counter() < end:
        ids += mint()
    assert len(set(ids)) == len(ids), "repeated"
    ticks = Counter(id >> 22 for id in ids)
    # The first and the last ms are cut off by the measurement.
    whole = range(min(ticks) + 1, max(ticks))
    return 1e6 * len(whole) / sum(ticks[tick] for tick in whole)


class Counted:
    """A counter behind a lock, which no number from memory can do without."""

    def __init__(self) -> None:
        self._lock, self._number = threading.Lock(), 0

    def next(self) -> int:
        """The next number."""
        with self._lock:
            self._number += 1
            return self._number


def numbers() -> None:
    """Durable numbers from memory, with their fetches."""
    orders, runs = (Segments(MemoryStore(), "orders", step=1_000_000, max_wait_ms=20_000) for _ in range(2))
    check("snowmint: Segments.next()", orders.next)
    places = np.zeros(BATCH, np.uint64)

    def filled() -> np.ndarray:
        runs.fill(places)
        return places

    compare(
        "Python: a durable number from memory",
        [
            Contender("floor: a lock and a counter", Counted().next),
            Contender("snowmint: Segments.next()", orders.next),
            Contender("snowmint: next(segments)", orders, by_next=True),
            Contender("snowmint: Segments.fill(array)", filled, ids_a_call=BATCH),
        ],
    )


def sustained(store: str) -> None:
    """The default layout, as many IDs as it has."""
    leased, epoch_ms = Snowflake(store=store), layouts.SNOWMINT.epoch_ms
    flake = oneflake.FlakeGenerator(1, epoch_ms=epoch_ms, timestamp_bits=41, worker_bits=10, sequence_bits=12)

    def each(mint: Callable[[], int]) -> list[int]:
        return [mint() for _ in repeat(None, 512)]

    contenders = {
        "snowmint, leased: next_id()": partial(each, leased.next_id),
        "snowmint, leased: next_ids(512)": partial(leased.next_ids, 512),
        "snowmint, leased: next_ids(4096)": partial(leased.next_ids, 4096),
        "oneflake: generate()": partial(each, flake.generate),
    }
    found: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(REPEATS):
        for name, mint in contenders.items():
            found[name].append(sustained_ns(mint))
    ceiling = row("floor: 4,096 IDs a ms", [1e6 / 4096] * 2)
    table("Python: an ID, sustained, default layout", "ns", [ceiling, *(row(name, ns) for name, ns in found.items())])


def main() -> None:
    """Measures everything, with leases in a separate directory."""
    with tempfile.TemporaryDirectory() as directory:
        store = f"file:{directory}"
        single(store)
        lists(store)
        arrays(store)
        sustained(store)
    numbers()
    wide()


if __name__ == "__main__":
    main()
