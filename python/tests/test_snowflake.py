"""Generators."""

import contextlib
import copy
import ctypes
import itertools
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from array import array
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import snowmint
from scripted import Clock
from snowmint import (
    BeforeEpochError,
    ClockBackwardsError,
    ExhaustedError,
    InvalidIdError,
    InvalidLayoutError,
    InvalidNodeError,
    Layout,
    Snowflake,
    TimeOverflowError,
    WindowClosedError,
    layouts,
)

NOON_MS = 1_772_323_200_000


def increasing(ids: list[int]) -> bool:
    return all(a < b for a, b in itertools.pairwise(ids))


# Arguments of the constructor


def test_a_layout_is_given_by_name_text_or_object_and_has_a_default() -> None:
    for layout in ("twitter", str(layouts.TWITTER), layouts.TWITTER):
        assert Snowflake(layout, 5).layout == layouts.TWITTER
    assert Snowflake(node=5).layout == Snowflake(None, 5).layout == layouts.SNOWMINT


def test_a_node_is_given_by_number_fields_or_text() -> None:
    node: Any
    for node in (37, {"datacenter": 1, "worker": 5}, "37", "worker=5,datacenter=1", np.int64(37)):
        assert Snowflake("twitter", node).node == 37


@pytest.mark.parametrize("layout", [5, b"twitter", 1.0, object()])
def test_a_layout_of_another_type_is_a_type_error(layout: Any) -> None:
    with pytest.raises(TypeError, match="layout"):
        Snowflake(layout, 1)


def test_the_layout_of_the_environment_counts_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNOWMINT_LAYOUT", "twitter")
    assert Snowflake(node=5).layout == layouts.TWITTER
    assert Snowflake("leaf", 5).layout == layouts.LEAF
    monkeypatch.setenv("SNOWMINT_LAYOUT", "time:43,node:4;epoch=0")
    assert str(Snowflake(node=5).layout) == "time:43,node:4;epoch=0;tick=1ms"
    monkeypatch.setenv("SNOWMINT_LAYOUT", "tweeter")
    with pytest.raises(InvalidLayoutError, match='SNOWMINT_LAYOUT is "tweeter": no such preset'):
        Snowflake(node=5)


def test_without_a_node_the_environment_gives_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNOWMINT_NODE", "datacenter=1,worker=5")
    assert Snowflake("twitter").node == 37
    assert Snowflake("twitter", 3).node == 3
    for malformed in ("", " ", "five", "1024", "-1", "\udcff", "9" * 99):
        monkeypatch.setenv("SNOWMINT_NODE", malformed)
        with pytest.raises(InvalidNodeError):
            Snowflake("twitter")


@pytest.mark.parametrize("name", ["max_ahead_ms", "max_wait_ms"])
def test_a_length_of_time_is_a_number_of_ms(name: str) -> None:
    length: Any
    for length in (-1, 2**64, -(10**40), 10**40):
        with pytest.raises(ValueError, match=name):
            Snowflake(node=1, **{name: length})
    for length in (1.0, "1", True):
        with pytest.raises(TypeError, match=name):
            Snowflake(node=1, **{name: length})
    for length in (0, 2**53, 2**63, 2**64 - 1):
        generator = Snowflake(node=1, **{name: length})
        assert getattr(generator.status(), name) == length
        generator.next_id()


def test_a_sequence_start_is_one_of_three() -> None:
    start: Any
    for start in ("zero", "random", "carry"):
        assert Snowflake(node=1, sequence_start=start).status().sequence_start == start
    for start in ("", "ZERO", "one", "\ud800"):
        with pytest.raises(ValueError, match="zero, random or carry"):
            Snowflake(node=1, sequence_start=start)
    with pytest.raises(TypeError):
        Snowflake(node=1, sequence_start=0)  # type: ignore[arg-type]


def test_a_layout_that_is_over_is_refused_at_once_under_the_system_clock() -> None:
    with pytest.raises(TimeOverflowError):
        Snowflake("baidu", node=1)
    assert Snowflake("baidu", 1, clock=lambda: 1_600_000_000_000).next_id() > 0


def test_status_tells_all_of_it() -> None:
    generator = Snowflake("twitter", 5, max_ahead_ms=7, max_wait_ms=8, sequence_start="carry")
    assert generator.status()._asdict() == {
        "node": 5,
        "layout": str(layouts.TWITTER),
        "window": None,
        "reserved": None,
        "max_ahead_ms": 7,
        "max_wait_ms": 8,
        "sequence_start": "carry",
        "closed": False,
        "namespace": None,
        "lost": None,
        "skipped": [],
        "renewal_failures": 0,
        "renewal_error": None,
        "standby_risk": None,
        "skew_ms": None,
        "disorder_ms": None,
    }
    assert generator.window is None


def test_it_prints_its_layout_and_node() -> None:
    assert repr(Snowflake("twitter", 5)) == "Snowflake('twitter', node=5)"
    assert repr(Snowflake("time:41,node:3;epoch=0", 5)) == "Snowflake('time:41,node:3;epoch=0;tick=1ms', node=5)"


# Minting


def test_every_way_to_ask_gives_the_next_id() -> None:
    generator = Snowflake(node=5, max_ahead_ms=1000)
    ids = [generator.next_id(), generator(), next(generator), generator.try_next_id(), *generator.next_ids(3)]
    ids += itertools.islice(generator, 3)
    assert increasing(ids)
    assert {generator.layout.decode(id).node for id in ids} == {5}


def test_the_time_in_an_id_is_the_clocks() -> None:
    before_ms = time.time_ns() // 1_000_000
    id = Snowflake(node=6).next_id()
    assert before_ms <= layouts.SNOWMINT.decode(id).timestamp_ms <= time.time_ns() // 1_000_000


def test_ids_strictly_increase_over_a_rollback_that_max_ahead_ms_covers() -> None:
    clock = Clock(NOON_MS)
    generator = Snowflake(node=5, max_ahead_ms=100, max_wait_ms=0, clock=clock)
    ids = []
    for step in (0, 0, 5, -100, 20, 0, -20, 300, -100):
        clock.now_ms += step
        ids += [generator.next_id(), *generator.next_ids(3)]
    assert increasing(ids)
    clock.now_ms -= 101
    with pytest.raises(ClockBackwardsError) as caught:
        generator.next_id()
    assert caught.value.by_ms == 201
    clock.now_ms += 101
    assert generator.next_id() > ids[-1]


@pytest.mark.parametrize("layout", ["snowmint", "sonyflake", "yitter", "time:41,node:22;epoch=0"])
def test_a_tick_is_exhausted_exactly_at_ids_per_tick(layout: str) -> None:
    clock = Clock(NOON_MS)
    generator = Snowflake(layout, 5, max_wait_ms=0, clock=clock)
    ids = [generator.try_next_id() for _ in range(generator.layout.ids_per_tick)]
    assert increasing(ids)
    for ask in (generator.try_next_id, generator.next_id):
        with pytest.raises(ExhaustedError) as caught:
            ask()
        assert caught.value.retry_after_ms is not None
        assert 1 <= caught.value.retry_after_ms <= generator.layout.tick_ms
    clock.now_ms += caught.value.retry_after_ms or 0
    assert generator.next_id() > ids[-1]


def test_a_layout_ends_with_an_error() -> None:
    layout = Layout("time:4,node:1,sequence:2;epoch=0")
    clock = Clock(15)
    generator = Snowflake(layout, 1, clock=clock)
    assert generator.next_ids(4)[-1] == 2**7 - 1
    for ask in (generator.next_id, generator.try_next_id, lambda: generator.next_ids(1)):
        with pytest.raises(TimeOverflowError):
            ask()
    clock.now_ms = 16
    with pytest.raises(TimeOverflowError):
        generator.next_id()


def test_a_reading_before_the_epoch_is_told() -> None:
    for now_ms in (layouts.TWITTER.epoch_ms - 1, 0, -1, -(2**63), -(10**40)):
        with pytest.raises(BeforeEpochError):
            Snowflake("twitter", 5, clock=Clock(now_ms)).next_id()
    for now_ms in (2**63, 10**40):
        with pytest.raises(TimeOverflowError):
            Snowflake("twitter", 5, clock=Clock(now_ms)).next_id()


def test_ids_pass_2_to_the_53_and_63() -> None:
    layout = Layout("time:42,node:10,sequence:12;epoch=0")
    for edge in (2**53, 2**63):
        clock = Clock((edge >> 22) - 1)
        generator = Snowflake(layout, 0, clock=clock)
        below = generator.next_ids(4096)
        clock.now_ms += 1
        ids = array("Q", [0])
        generator.fill(ids)
        assert below[-1] < edge == ids[0]
        assert generator.next_id() == edge + 1


def test_random_starts_lie_in_the_lower_half_and_differ() -> None:
    clock = Clock(NOON_MS)
    generator = Snowflake(node=5, sequence_start="random", clock=clock)
    starts = set()
    for _ in range(64):
        clock.now_ms += 1
        starts.add(layouts.SNOWMINT.decode(generator.next_id()).sequence)
    assert len(starts) > 32
    assert max(starts) < 2048


# One state for a node


def test_two_generators_of_a_node_share_its_state() -> None:
    clock = Clock(NOON_MS)
    one, two = (Snowflake(node=5, max_wait_ms=0, clock=clock) for _ in range(2))
    assert increasing([one.next_id(), two.next_id(), one.next_id(), *two.next_ids(4093)])
    with pytest.raises(ExhaustedError):
        one.next_id()


def test_layouts_of_the_same_numbers_share_it_whatever_their_names() -> None:
    clock = Clock(NOON_MS)
    leaf, twitter = (Snowflake(layout, 5, clock=clock) for layout in ("leaf", "twitter"))
    assert increasing([leaf.next_id(), twitter.next_id(), leaf.next_id()])
    assert Snowflake("snowmint", 5, clock=clock).next_id() % 4096 == 0


def test_under_the_system_clock_a_node_used_again_goes_on_above_its_last_id() -> None:
    ids = [Snowflake(layout, 77).next_id() for layout in ("leaf", "twitter") * 5000]
    assert increasing(ids)


def test_a_clock_object_has_states_of_its_own() -> None:
    ids = [Snowflake(node=5, clock=Clock(NOON_MS)).next_id() for _ in range(1000)]
    assert len(set(ids)) == 1


# Closing


def test_a_closed_generator_mints_nothing_and_its_sharers_go_on() -> None:
    one, two = Snowflake(node=9), Snowflake(node=9)
    one.close()
    one.close()
    for ask in (
        one.next_id,
        one.try_next_id,
        one,
        lambda: next(one),
        lambda: one.next_ids(0),
        lambda: one.next_ids(1),
        lambda: one.fill(array("Q")),
    ):
        with pytest.raises(WindowClosedError):
            ask()
    assert one.status().closed is True
    assert two.next_id() > 0
    assert Snowflake(node=9).next_id() > 0


def test_a_with_block_closes_also_after_an_exception() -> None:
    with Snowflake(node=9) as generator:
        generator.next_id()
    with pytest.raises(WindowClosedError):
        generator.next_id()
    with pytest.raises(ZeroDivisionError), Snowflake(node=9) as generator:
        raise ZeroDivisionError
    with pytest.raises(WindowClosedError):
        generator.next_id()


def test_a_generator_refuses_to_be_copied_or_pickled() -> None:
    generator = Snowflake(node=5)
    for copied in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="repeat"):
            copied(generator)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="repeat"):
            pickle.dumps(generator, protocol)


def test_a_generator_is_immutable() -> None:
    for name in ("node", "layout", "window", "anything"):
        with pytest.raises(AttributeError):
            setattr(Snowflake(node=5), name, 1)


# A caller's clock


def test_the_constructor_reads_no_clock_and_an_id_reads_it_once() -> None:
    clock = Clock(NOON_MS)
    generator = Snowflake(node=5, clock=clock)
    assert clock.readings == 0
    generator.next_id()
    generator.try_next_id()
    generator.next_ids(1000)
    generator.fill(array("Q", [0] * 1000))
    assert clock.readings == 4


def test_exceptions_of_a_clock_come_through_unchanged() -> None:
    class OutOfOrder(Exception):
        pass

    raised = OutOfOrder("no time")

    def clock() -> int:
        raise raised

    generator = Snowflake(node=5, clock=clock)
    for ask in (
        generator.next_id,
        generator.try_next_id,
        lambda: generator.next_ids(5),
        lambda: generator.fill(array("Q", [0])),
    ):
        with pytest.raises(OutOfOrder) as caught:
            ask()
        assert caught.value is raised


def test_an_exception_of_a_clock_during_a_wait_comes_through() -> None:
    readings = iter([NOON_MS, NOON_MS])
    generator = Snowflake("time:41,node:1;epoch=0", 0, clock=lambda: next(readings))
    generator.next_id()
    with pytest.raises(StopIteration):
        generator.next_id()


@pytest.mark.parametrize("reading", [float(NOON_MS), None, "1", True])
def test_a_clock_that_returns_no_int_is_a_type_error(reading: Any) -> None:
    with pytest.raises(TypeError, match="clock"):
        Snowflake(node=5, clock=lambda: reading).next_id()


def test_a_clock_is_callable() -> None:
    with pytest.raises(TypeError, match="clock"):
        Snowflake(node=5, clock=NOON_MS)  # type: ignore[arg-type]


def test_a_clock_may_itself_mint() -> None:
    inner = Snowflake(node=5)

    def clock() -> int:
        inner.next_id()
        return time.time_ns() // 1_000_000

    assert Snowflake(node=5, clock=clock).next_id() > 0


# Batches and buffers


@pytest.mark.parametrize("n", [0, 1, 2, 4096, 4097, 10_000])
def test_a_batch_has_n_increasing_ids(n: int) -> None:
    ids = Snowflake(node=7).next_ids(n)
    assert type(ids) is list
    assert len(ids) == n
    assert increasing(ids)


def test_the_largest_batch_of_all_is_minted() -> None:
    generator = Snowflake("time:40,node:1,sequence:23;epoch=0", 0, max_ahead_ms=1, clock=Clock(1000))
    ids = generator.next_ids(2**24)
    assert (ids[0], ids[-1], len(ids)) == (1000 << 24, (1001 << 24) + 2**23 - 1, 2**24)


@pytest.mark.parametrize("n", [-1, 2**24 + 1, 2**40, 2**53, 2**63, 2**64, 10**40, -(10**40)])
def test_an_absurd_batch_is_an_ordinary_error(n: int) -> None:
    clock = Clock(NOON_MS)
    generator = Snowflake(node=5, clock=clock)
    with pytest.raises(InvalidIdError):
        generator.next_ids(n)
    assert clock.readings == 0


@pytest.mark.parametrize("n", [1.0, "1", None, True])
def test_a_batch_size_is_an_int(n: Any) -> None:
    with pytest.raises(TypeError):
        Snowflake(node=5).next_ids(n)


BUFFERS = {
    "array Q": lambda n: array("Q", bytes(8 * n)),
    "array L": lambda n: array("L", bytes(8 * n)),
    "numpy uint64": lambda n: np.zeros(n, np.uint64),
    "numpy of two dimensions": lambda n: np.zeros((2, n // 2), np.uint64),
    "numpy of explicit byte order": lambda n: np.zeros(n, "<u8" if sys.byteorder == "little" else ">u8"),
    "memoryview cast to Q": lambda n: memoryview(bytearray(8 * n)).cast("Q"),
    "memoryview cast to N": lambda n: memoryview(bytearray(8 * n)).cast("N"),  # type: ignore[call-overload]
    "ctypes array": lambda n: (ctypes.c_uint64 * n)(),
    "slice of a memoryview": lambda n: memoryview(array("Q", bytes(8 * n + 16)))[1:-1],
    "unaligned memoryview": lambda n: memoryview(bytearray(8 * n + 3))[3:].cast("Q"),
}


@pytest.mark.parametrize("kind", BUFFERS)
@pytest.mark.parametrize("n", [0, 2, 512, 1026, 9000])
def test_a_buffer_is_filled_in_place_with_increasing_ids(kind: str, n: int) -> None:
    buffer: Any = BUFFERS[kind](n)  # type: ignore[no-untyped-call]
    generator = Snowflake(node=8, max_ahead_ms=1000)
    before = generator.next_id()
    generator.fill(buffer)
    ids = np.asarray(buffer).ravel().tolist()
    assert len(ids) == n
    assert increasing([before, *ids, generator.next_id()])


def test_what_lies_around_a_slice_stays_as_it_was() -> None:
    whole = array("Q", [0] * 5000)
    Snowflake(node=8, max_ahead_ms=1000).fill(memoryview(whole)[1:-1])
    assert whole[0] == whole[-1] == 0
    assert all(whole[1:-1])


@pytest.mark.parametrize(
    "buffer",
    [
        array("i", [0, 0]),
        array("I", [0, 0]),
        array("d", [0.0]),
        bytearray(8),
        np.zeros(1, np.int32),
        np.zeros(1, np.float64),
        np.zeros(1, ">u8" if sys.byteorder == "little" else "<u8"),
        np.zeros(1, [("id", np.uint64)]),
        np.zeros(1, "V0"),
        (ctypes.c_int32 * 2)(),
        np.zeros(8, np.uint64).astype(object),
        [0] * 8,
        None,
        8,
    ],
)
def test_a_buffer_of_something_else_is_a_type_error(buffer: Any) -> None:
    with pytest.raises(TypeError):
        Snowflake(node=8).fill(buffer)


@pytest.mark.parametrize(
    "make", [lambda n: array("q", [0] * n), lambda n: np.zeros(n, "i8"), lambda n: (ctypes.c_int64 * n)()]
)
def test_signed_integers_are_filled(make: Callable[[int], Any]) -> None:
    for layout in ("snowmint", "discord"):
        buffer = make(1000)
        Snowflake(layout, 5).fill(buffer)
        ids = np.asarray(buffer).tolist()
        assert ids == sorted(set(ids)) and ids[0] > 0


def test_signed_integers_are_refused_before_an_id_is_negative() -> None:
    until_ms = layouts.DISCORD.signed_until_ms
    assert until_ms
    clock = Clock(until_ms - 1006)
    generator = Snowflake("discord", 5, clock=clock, max_ahead_ms=5, max_wait_ms=1000)
    ids = array("q", [0] * 100)
    generator.fill(ids)
    assert ids[-1] > 0
    clock.now_ms += 1
    before = array("q", [7] * 100)
    with pytest.raises(InvalidIdError, match="above 2\\^63-1 from .* on, and a signed"):
        generator.fill(before)
    assert before.tolist() == [7] * 100
    unsigned = array("Q", [0] * 100)
    generator.fill(unsigned)
    assert unsigned[0] >> 22 == (ids[-1] >> 22) + 1 and unsigned[0] % 4096 == 0


def test_a_buffer_that_cannot_be_written_in_one_piece_is_refused() -> None:
    frozen = np.zeros(8, np.uint64)
    frozen.flags.writeable = False
    for buffer in (frozen, memoryview(bytes(8)).cast("Q"), np.zeros(8, np.uint64)[::2], np.zeros((4, 4), np.uint64).T):
        with pytest.raises(BufferError):
            Snowflake(node=8).fill(buffer)
        assert not np.asarray(buffer).any()


def test_a_buffer_beyond_the_largest_batch_is_refused() -> None:
    with pytest.raises(InvalidIdError):
        Snowflake(node=8).fill(np.empty(2**24 + 1, np.uint64))


def test_a_buffer_is_released_after_the_call() -> None:
    buffer = array("Q", [0])
    Snowflake(node=8).fill(buffer)
    with pytest.raises(ExhaustedError):
        Snowflake(node=8, max_wait_ms=0, clock=lambda: NOON_MS).fill(array("Q", [0] * 5000))
    buffer.append(1)


def test_a_refused_batch_takes_nothing() -> None:
    clock = Clock(NOON_MS)
    generator = Snowflake(node=5, max_wait_ms=1, clock=clock)
    first = generator.next_id()
    for ask in (lambda: generator.next_ids(9000), lambda: generator.fill(array("Q", [0] * 9000))):
        with pytest.raises(ExhaustedError):
            ask()
    assert generator.next_id() == first + 1


# Waiting


def test_a_frozen_clock_ends_next_id_by_its_deadline_without_burning_time() -> None:
    generator = Snowflake(node=5, max_wait_ms=300, clock=lambda: NOON_MS)
    generator.next_ids(4096)
    cpu, wall = time.thread_time(), time.monotonic()
    with pytest.raises(ExhaustedError):
        generator.next_id()
    assert time.monotonic() - wall >= 0.25
    assert time.thread_time() - cpu < 0.1


def test_try_next_id_does_not_wait_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(NOON_MS)
    generator = Snowflake(node=5, max_wait_ms=2**64 - 1, clock=clock)
    generator.next_ids(4096)
    with pytest.raises(ExhaustedError):
        generator.try_next_id()
    assert clock.readings == 2


def test_a_wait_ends_when_the_clock_goes_on() -> None:
    clock = Clock(NOON_MS)
    generator = Snowflake(node=5, max_wait_ms=60_000, clock=clock)
    ids = generator.next_ids(4096)

    def tick() -> None:
        for _ in range(3):
            time.sleep(0.02)
            clock.now_ms += 1

    threading.Thread(target=tick).start()
    ids += generator.next_ids(3 * 4096)
    assert increasing(ids)


def waiting(max_wait_ms: int) -> Snowflake:
    """Waits under the system's clock, which needs no interpreter: a tick takes eleven days, and this one is used up."""
    generator = Snowflake("time:30,node:1;epoch=0;tick=1000000s", 0, max_wait_ms=max_wait_ms)
    with contextlib.suppress(ExhaustedError):
        generator.try_next_id()
    return generator


def test_other_threads_run_during_a_wait() -> None:
    generator = waiting(1000)
    turns = 0
    done = threading.Event()

    def count() -> None:
        nonlocal turns
        while not done.wait(0.01):
            turns += 1

    thread = threading.Thread(target=count)
    thread.start()
    before = turns
    with pytest.raises(ExhaustedError):
        generator.next_id()
    after = turns
    done.set()
    thread.join()
    assert after - before > 3


@pytest.mark.skipif(sys.platform == "win32", reason="no signals to oneself")
def test_a_signal_ends_a_wait() -> None:
    generator = waiting(120_000)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        generator.next_id()
    assert time.monotonic() - start < 60


@pytest.mark.parametrize("generators", [1, 8])
def test_threads_get_unique_ids_that_increase_in_each(generators: int) -> None:
    shared = [Snowflake("twitter", 11, max_ahead_ms=60_000) for _ in range(generators)]
    start = threading.Barrier(8)

    def mint(i: int) -> list[int]:
        start.wait()
        generator = shared[i % generators]
        return [generator.next_id() for _ in range(20_000)]

    with ThreadPoolExecutor(8) as pool:
        ledgers = list(pool.map(mint, range(8)))
    assert all(increasing(ids) for ids in ledgers)
    assert len(set().union(*ledgers)) == 8 * 20_000


# The package


def test_names_are_those_that_are_promised() -> None:
    assert all(hasattr(snowmint, name) for name in snowmint.__all__)
    assert snowmint.Snowflake.__module__ == snowmint.Layout.__module__ == snowmint.Parts.__module__ == "snowmint"
    with pytest.raises(InvalidLayoutError):
        Layout.preset("nowhere")


def test_importing_needs_no_node_and_mints_nothing() -> None:
    environment = {**os.environ, "SNOWMINT_NODE": "nonsense"}
    subprocess.run([sys.executable, "-c", "import snowmint"], env=environment, check=True)
