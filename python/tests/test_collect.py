"""The objects that a generator keeps alive, and the objects that it frees."""

import gc
import weakref
from pathlib import Path
from typing import Any

import pytest

import processes
from scripted import Clock
from snowmint import Layout, Snowflake, SnowmintError, layouts
from snowmint.stores import MemoryStore

NOON_MS = 1_767_225_600_000
ONE_NODE = Layout("unused:1,time:41,sequence:12;epoch=2025-01-01T00:00:00Z")

WRITES = """
    import sys, time
    from snowmint import Snowflake
    from snowmint.stores import MemoryStore

    out = open(sys.argv[1], "w")
    out.write("kept")

    class Mine(MemoryStore):
        pass

    def now_ms():
        return time.time_ns() // 1_000_000

    def lost(error):
        pass

    def in_a_function(**options):
        with Snowflake(**options) as generator:
            generator.next_id()
"""


@pytest.mark.parametrize(
    "use",
    [
        "generator = Snowflake(node=5, clock=now_ms)",
        "generator = Snowflake(store='file:' + sys.argv[2], on_lost=lost)",
        "generator = Snowflake(store='file:' + sys.argv[2], clock=now_ms, on_lost=lost)",
        "generator = Snowflake(store=Mine())",
        "in_a_function(node=5, clock=now_ms)",
        "in_a_function(store='file:' + sys.argv[2], on_lost=lost)",
        "in_a_function(store=Mine())",
    ],
)
def test_a_file_of_the_main_module_is_written_at_exit(use: str, tmp_path: Path) -> None:
    file = tmp_path / "out"
    processes.run(f"{WRITES}\n    {use}", str(file), str(tmp_path))
    assert file.read_text() == "kept"


class Owner:
    """An object that has a generator, whose callback is a method of the object."""

    def __init__(self, store: Any, **options: Any) -> None:
        self.store = store
        self.generator = Snowflake(ONE_NODE, store=store, namespace="one", on_lost=self.lost, max_wait_ms=0, **options)

    def lost(self, error: SnowmintError) -> None:
        """Takes a loss."""

    def now_ms(self) -> int:
        """The time."""
        return NOON_MS


class Backed(MemoryStore):
    """A store that knows its owner."""

    owner: Owner


def collected(owner: Owner) -> "weakref.ref[Owner]":
    """A reference to an object without any other."""
    owner.generator.next_id()
    return weakref.ref(owner)


def test_an_owner_with_a_callback_is_collected_and_its_lease_released(store: str) -> None:
    owner = collected(Owner(store))
    gc.collect()
    assert owner() is None
    with Snowflake(ONE_NODE, store=store, namespace="one", max_wait_ms=0) as next_holder:
        assert next_holder.next_id() > 0


def test_a_store_works_until_a_collected_generator_has_released_its_lease() -> None:
    kept = MemoryStore()

    class Mine(MemoryStore):
        """A store that the collector finds together with its generator."""

        def write(self, key: str, value: bytes, expected_version: int) -> int | None:
            return kept.write(key, value, expected_version)

        def read(self, key: str) -> tuple[bytes, int] | None:
            return kept.read(key)

        def list(self, prefix: str) -> Any:
            return kept.list(prefix)

    def make() -> "weakref.ref[Owner]":
        mine = Mine()
        mine.owner = owner = Owner(mine)  # type: ignore[attr-defined]
        return collected(owner)

    owner = make()
    gc.collect()
    assert owner() is None
    with Snowflake(ONE_NODE, store=kept, namespace="one", max_wait_ms=0) as next_holder:
        assert next_holder.next_id() > 0


def test_an_owner_whose_method_is_the_clock_is_collected() -> None:
    class Watch:
        def __init__(self) -> None:
            self.generator = Snowflake(node=5, clock=self.now_ms)

        def now_ms(self) -> int:
            return NOON_MS

    watch = Watch()
    watch.generator.next_id()
    reference = weakref.ref(watch)
    del watch
    gc.collect()
    assert reference() is None


def test_an_exception_of_a_store_keeps_nothing_alive() -> None:
    class Failing(Backed):
        failing = False

        def write(self, key: str, value: bytes, expected_version: int) -> int | None:
            if self.failing:
                raise OSError("no room")
            return super().write(key, value, expected_version)

    def make() -> "weakref.ref[Failing]":
        store = Failing()
        store.owner = owner = Owner(store, window_ms=1000)
        store.failing = True
        while not owner.generator.status().renewal_failures:
            pass
        return weakref.ref(store)

    store = make()
    gc.collect()
    assert store() is None


def test_close_drops_callback_and_clock(store: str) -> None:
    class Callback:
        def __call__(self, error: SnowmintError) -> None: ...

    clock, callback = Clock(NOON_MS), Callback()
    generator = Snowflake(store=store, clock=clock, on_lost=callback)
    references: list[weakref.ref[Any]] = [weakref.ref(clock), weakref.ref(callback)]
    del clock, callback
    assert all(reference() for reference in references)
    generator.close()
    assert [reference() for reference in references] == [None, None]
    assert generator.status().closed


def test_a_clock_costs_nothing_once_it_is_gone() -> None:
    def resident_bytes() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    def mint(rounds: int) -> None:
        for _ in range(rounds):
            Snowflake(node=5, clock=Clock(NOON_MS)).next_id()

    mint(1000)
    before = resident_bytes()
    mint(10_000)
    # 10,000 states would be 45 MB.
    assert resident_bytes() - before < 10_000_000


def test_a_clock_keeps_its_state_without_a_generator() -> None:
    clock = Clock(NOON_MS)
    first = Snowflake(node=5, clock=clock).next_id()
    gc.collect()
    assert Snowflake(node=5, clock=clock).next_id() == first + 1


def test_another_clock_at_the_same_address_begins_anew() -> None:
    late = Snowflake(node=5, clock=Clock(NOON_MS + 86_400_000)).next_id()
    addresses = set()
    for _ in range(100):
        clock = Clock(NOON_MS)
        addresses.add(id(clock))
        assert layouts.SNOWMINT.decode(Snowflake(node=5, clock=clock).next_id()).timestamp_ms == NOON_MS < late
    assert len(addresses) < 100


def test_a_clock_without_weak_references_is_refused() -> None:
    class Slotted:
        __slots__ = ()

        def __call__(self) -> int:
            return NOON_MS

    with pytest.raises(TypeError, match=r"clock .*Slotted.* weak reference.* function"):
        Snowflake(node=5, clock=Slotted())
