"""Leases: slots of one machine, their windows, and who gets which node."""

import itertools
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import processes
from losses import wait_until
from snowmint import (
    BeforeEpochError,
    ForkedError,
    InvalidLayoutError,
    InvalidNodeError,
    InvalidStoreError,
    NodesExhaustedError,
    Snowflake,
    StoreUnavailableError,
    UnsafeStoreError,
    WindowClosedError,
    layouts,
)
from snowmint.stores import MemoryStore

ONE_NODE = "time:41,sequence:12;epoch=2025-01-01T00:00:00Z"
# Layouts of this file alone: in a process that vouches for a node, no lease gets that node of the layout.
OURS = "time:41,datacenter:5,worker:4,sequence:13;epoch=2025-02-01T00:00:00Z"
OURS_AGAIN = "time:41,node:9,sequence:13;epoch=2025-02-01T00:00:00Z"


def slot(store: str, node: int) -> Path:
    (namespace,) = Path(store.removeprefix("file:")).iterdir()
    return namespace / f"{node}.slot"


# A lease


def test_without_arguments_a_slot_of_this_machine_is_leased() -> None:
    with Snowflake() as generator:
        parts = layouts.SNOWMINT.decode(generator.next_id())
        assert parts.node == generator.node
        assert generator.window is not None
        start, end = generator.window
        assert start <= parts.timestamp_ms < end
        assert end <= time.time() * 1000 + 3000


def test_the_window_moves_on_while_the_generator_is_idle(store: str) -> None:
    with Snowflake(store=store, window_ms=1000, max_wait_ms=60_000) as generator:
        assert generator.window is not None
        before = generator.window
        deadline = time.monotonic() + 60
        while generator.window[1] <= before[1] + 400 and time.monotonic() < deadline:
            time.sleep(0.05)
        start, end = generator.window
        assert start == before[0]
        assert end > before[1] + 400
        assert generator.next_id() > 0


def test_a_closed_lease_is_over_and_its_slot_is_free_at_once(store: str) -> None:
    first = Snowflake(ONE_NODE, store=store)
    last = first.next_ids(5000)[-1]
    first.close()
    first.close()
    for call in (first.next_id, first.try_next_id, lambda: first.next_ids(3)):
        with pytest.raises(WindowClosedError, match="closed"):
            call()
    with Snowflake(ONE_NODE, store=store) as second:
        assert second.next_id() > last


def test_a_generator_that_is_dropped_gives_its_slot_back(store: str) -> None:
    for _ in range(3):
        Snowflake(ONE_NODE, store=store, max_wait_ms=50).next_id()


def test_leases_of_one_namespace_and_layout_are_one_lease_and_others_are_not(store: str) -> None:
    first, second, other = (
        Snowflake(layout, store=store, namespace=namespace, max_wait_ms=60_000)
        for layout, namespace in [(OURS, None), (OURS_AGAIN, None), (OURS, "orders")]
    )
    assert first.node == second.node == 0
    ids = [next(generator) for _ in range(1000) for generator in (first, second)]
    assert all(a < b for a, b in itertools.pairwise(ids))
    first.close()
    assert second.next_id() > ids[-1]
    second.close()
    assert other.next_id() > 0
    assert other.status().namespace == "orders"


def test_threads_on_one_lease_get_unique_increasing_ids(store: str) -> None:
    # A busy machine takes longer to renew.
    generator = Snowflake(store=store, max_wait_ms=60_000)
    with ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(lambda _: [generator.next_id() for _ in range(100_000)], range(8)))
    assert all(a < b for run in runs for a, b in itertools.pairwise(run))
    assert len({id for run in runs for id in run}) == 800_000


def test_a_vouched_node_and_a_lease_of_one_process_are_never_the_same(store: str) -> None:
    with Snowflake("discord", store=store) as leased:
        with pytest.raises(InvalidNodeError, match="leased by another generator"):
            Snowflake("discord", node=leased.node)
    vouched = Snowflake("discord", node=1)
    with Snowflake("discord", store=store, exclude=[0]) as leased:
        assert vouched.node == 1
        assert leased.node == 2


def test_excluded_nodes_are_not_leased(store: str) -> None:
    with Snowflake(OURS, store=store, exclude=[0, {"datacenter": 0, "worker": 1}, "2"]) as generator:
        assert generator.node == 3


def test_a_namespace_keeps_its_first_layout(store: str) -> None:
    Snowflake("twitter", store=store, namespace="orders").close()
    with pytest.raises(InvalidLayoutError, match="namespace orders is of layout"):
        Snowflake("snowmint", store=store, namespace="orders")


def test_a_clock_of_the_callers_has_windows_of_its_own_time(store: str) -> None:
    now = 1_772_323_200_000

    def clock() -> int:
        return now

    with Snowflake(store=store, clock=clock, window_ms=1000, max_wait_ms=60_000) as generator:
        assert generator.window == (now, now + 1000)
        first = generator.next_id()
        now += 3_600_000
        later = generator.next_id()
        assert layouts.SNOWMINT.decode(later).timestamp_ms == now
        now -= 7_200_000
    now += 7_200_000
    with Snowflake(store=store, clock=clock, window_ms=1000, max_wait_ms=60_000) as generator:
        ids = {first, later, *generator.next_ids(1000)}
        assert len(ids) == 1002


def test_a_node_with_a_store_or_namespace_is_leased_and_a_second_holder_hears_of_the_first(store: str) -> None:
    with Snowflake(node=901, store=store, namespace="orders") as first:
        assert first.node == 901 and first.window is not None
        holder = (
            "import sys; from snowmint import Snowflake, NodesExhaustedError\n"
            "try: Snowflake(node=901, store=sys.argv[1], namespace='orders', max_wait_ms=200)\n"
            "except NodesExhaustedError as error: print(error)"
        )
        told = subprocess.run([sys.executable, "-c", holder, store], capture_output=True, text=True, check=True).stdout
        assert "node 901 is held by" in told and " until 20" in told, told
        child = os.fork()
        if child == 0:
            try:
                first.next_id()
            except ForkedError:
                os._exit(0)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with Snowflake(node=901, store=store, namespace="orders") as again:
        assert again.next_id() > 0


def test_a_part_of_a_node_is_leased_from_the_slots(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Snowflake(OURS, {"datacenter": 3}, store=store) as first:
        assert first.node == 48
        with Snowflake(OURS, "datacenter=3", store=store, exclude=[48]) as second:
            assert second.node == 49
        # A child has a node of the same part.
        child = os.fork()
        if child == 0:
            first.next_id()
            os._exit(first.node)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 49
    monkeypatch.setenv("SNOWMINT_NODE", "worker=5")
    with Snowflake(OURS, store=store) as generator:
        assert generator.node == 5
    for without_store in (None, {"worker": 5}):
        with pytest.raises(InvalidNodeError, match="datacenter is missing"):
            Snowflake(OURS, without_store)


# Where it comes from


def test_variables_give_node_store_and_namespace_in_that_order(monkeypatch: pytest.MonkeyPatch, store: str) -> None:
    monkeypatch.setenv("SNOWMINT_NAMESPACE", "mails")
    monkeypatch.setenv("SNOWMINT_STORE", store)
    with Snowflake() as generator:
        assert generator.status().namespace == "mails"
        assert slot(store, generator.node).exists()
    monkeypatch.setenv("SNOWMINT_NODE", "37")
    with Snowflake() as leased:
        assert leased.node == 37 and leased.window is not None
        assert leased.status().namespace == "mails"
    with Snowflake(namespace="orders") as generator:
        assert (generator.node, generator.status().namespace) == (37, "orders")
    with monkeypatch.context() as alone:
        alone.delenv("SNOWMINT_NAMESPACE")
        alone.delenv("SNOWMINT_STORE")
        vouched = Snowflake()
        assert (vouched.node, vouched.window) == (37, None)
    monkeypatch.setenv("SNOWMINT_NODE", "seven")
    with pytest.raises(InvalidNodeError, match="SNOWMINT_NODE"):
        Snowflake()


def test_slots_lie_in_the_state_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SNOWMINT_STATE_DIR", str(tmp_path / "state"))
    with Snowflake() as generator:
        assert slot(str(tmp_path / "state"), generator.node).exists()


def test_in_kubernetes_the_slots_of_the_machine_are_refused(monkeypatch: pytest.MonkeyPatch, store: str) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.delenv("SNOWMINT_STATE_DIR")
    with pytest.raises(InvalidNodeError, match="Kubernetes.*SNOWMINT_STORE"):
        Snowflake()
    Snowflake(store=store).close()
    assert Snowflake(node=1).node == 1


def test_where_one_person_works_a_private_place_gives_a_warning(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    code = "from snowmint import Snowflake; print(Snowflake().next_id()); Snowflake()"
    # As in a container: only this process sees the directory.
    script = 'mount --bind "$1" /var/tmp; exec "$2" -c "$3"'
    words = ["unshare", "--mount", "sh", "-ec", script, "sh", str(tmp_path), sys.executable, code]
    env = {name: value for name, value in os.environ.items() if name not in ("SNOWMINT_STATE_DIR", "CI")}
    refused = subprocess.run(words, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert "InvalidNodeError" in refused.stderr and "set SNOWMINT_STORE" in refused.stderr
    minted = subprocess.run(words, env={**env, "CI": "true"}, capture_output=True, text=True)
    assert minted.stdout.strip().isdigit(), minted.stderr
    assert minted.stderr.count("RuntimeWarning") == 1 and "accepted because CI is set" in minted.stderr
    # A random node is for generators that ask for none.
    words[-1] = "from snowmint import Snowflake; print({Snowflake(node=900, namespace=f'n{n}').node for n in range(8)})"
    leased = subprocess.run(words, env={**env, "CI": "true"}, capture_output=True, text=True)
    assert leased.stdout == "{900}\n", leased.stderr


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"store": "oracle://db"}, InvalidStoreError, "file:DIRECTORY"),
        ({"store": "file:/proc/slots"}, StoreUnavailableError, "/proc/slots"),
        ({"store": "file:/dev/shm/snowmint-test"}, UnsafeStoreError, "tmpfs.*allow_unsafe"),
        ({"namespace": "a/b"}, InvalidNodeError, "a-z A-Z 0-9"),
        ({"namespace": ""}, InvalidNodeError, "a-z A-Z 0-9"),
        ({"node": 1, "exclude": [1], "namespace": "orders"}, InvalidNodeError, "both asked for and excluded"),
        ({"window_ms": 10}, InvalidLayoutError, "at least 1000"),
        ({"exclude": [1024]}, InvalidNodeError, "1024"),
        ({"clock": lambda: 0}, BeforeEpochError, "1970"),
        ({"store": 5}, TypeError, "snowmint.stores"),
        ({"on_lost": 5}, TypeError, "on_lost"),
        ({"exclude": 5}, TypeError, "iterable"),
        ({"window_ms": -1}, ValueError, "window_ms"),
    ],
)
def test_what_cannot_be_leased_is_refused_by_kind(options: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        Snowflake(**options)


# Other processes

HOLDER = """
    import sys
    from snowmint import Snowflake
    generator = Snowflake(sys.argv[1], store=sys.argv[2])
    print(generator.node, flush=True)
    sys.stdin.read()
"""


def test_processes_started_at_once_have_nodes_of_their_own_until_there_are_no_more(store: str) -> None:
    layout = "time:41,node:2,sequence:12;epoch=2025-01-01T00:00:00Z"
    holders = [processes.start(HOLDER, layout, store) for _ in range(4)]
    assert sorted(holder.stdout.readline() for holder in holders if holder.stdout) == ["0\n", "1\n", "2\n", "3\n"]
    with pytest.raises(NodesExhaustedError, match="all 4 nodes"):
        Snowflake(layout, store=store)
    for holder in holders:
        holder.communicate()
    Snowflake(layout, store=store, max_wait_ms=0).close()


def test_a_lost_slot_calls_back_and_closes_the_generator(store: str) -> None:
    lost: list[WindowClosedError] = []
    told = threading.Event()

    def on_lost(error: WindowClosedError) -> None:
        lost.append(error)
        told.set()

    generator = Snowflake(store=store, window_ms=1000, max_wait_ms=60_000, on_lost=on_lost)
    generator.next_id()
    slot(store, 0).unlink()
    assert told.wait(60)
    assert "slot of node 0 was lost" in str(lost[0])
    with pytest.raises(WindowClosedError, match="slot of node 0 was lost"):
        generator.next_id()
    assert generator.status().lost == str(lost[0])


MINTER = """
    import struct, sys
    from snowmint import Snowflake
    generator = Snowflake(store=sys.argv[1], window_ms=1000, max_wait_ms=60_000)
    with open(sys.argv[2], "ab", buffering=0) as ledger:
        for id in generator:
            ledger.write(struct.pack("<Q", id))
"""


def test_kills_and_restarts_with_stepping_clocks_repeat_nothing(store: str, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    ledger.touch()
    rounds = int(os.environ.get("SNOWMINT_KILLS", "2"))
    for _ in range(rounds):
        size = ledger.stat().st_size + 8 * 2000
        minters = [processes.start(MINTER, store, str(ledger), clock_off=random.uniform(-3600, 3600)) for _ in range(2)]
        wait_until(partial(has_size, ledger, size))
        for minter in minters:
            minter.send_signal(signal.SIGKILL)
            minter.communicate()
    ids = memoryview(ledger.read_bytes()).cast("Q").tolist()
    assert len(ids) >= rounds * 2000
    assert len(set(ids)) == len(ids)


def has_size(ledger: Path, size: int) -> bool:
    return ledger.exists() and ledger.stat().st_size >= size


def test_a_running_process_survives_steps_of_its_clock(store: str, tmp_path: Path) -> None:
    clock, draft, ledger = tmp_path / "clock", tmp_path / "draft", tmp_path / "ledger"
    clock.write_text("+0")
    minter = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(MINTER), store, str(ledger)],
        env={k: v for k, v in processes.environment(0).items() if k != "FAKETIME"}
        | {"FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1"},
    )
    for offset in ("+0", "-0.2", "+3600", "+3599.8", "+7200", "+7201"):
        # A rename is atomic, so that a half-written offset is never read.
        draft.write_text(offset)
        draft.rename(clock)
        size = ledger.stat().st_size if ledger.exists() else 0
        wait_until(partial(has_size, ledger, size + 8 * 20_000))
    minter.kill()
    minter.wait()
    ids = memoryview(ledger.read_bytes()[: ledger.stat().st_size // 8 * 8]).cast("Q").tolist()
    assert all(a < b for a, b in itertools.pairwise(ids))
    first, last = (layouts.SNOWMINT.decode(id).timestamp_ms for id in (ids[0], ids[-1]))
    assert last - first > 7_200_000


def test_a_short_window_is_renewed_in_time_beside_a_long_one(store: str) -> None:
    with (
        Snowflake(store=store, namespace="long", window_ms=600_000),
        Snowflake(store=store, namespace="short", window_ms=1000) as short,
    ):
        assert short.window is not None
        before = short.window
        deadline = time.monotonic() + 60
        while short.window == before and time.monotonic() < deadline:
            time.sleep(0.02)
        assert short.window != before


def test_the_end_of_the_process_gives_the_slot_back(store: str) -> None:
    program = """
        import sys
        from snowmint import Snowflake
        generator = Snowflake(sys.argv[1], store=sys.argv[2], max_wait_ms=100)
        print(generator.next_id())
    """
    ids = [int(processes.run(program, ONE_NODE, store)) for _ in range(3)]
    assert ids == sorted(set(ids))


def test_an_exception_leaves_the_generator_closed_and_the_process_ends(store: str) -> None:
    program = "import sys\nfrom snowmint import Snowflake\nwith Snowflake(store=sys.argv[1]): raise SystemExit(7)"
    with pytest.raises(AssertionError, match=r"^7: $"):
        processes.run(program, store)


def test_a_claim_that_outlasts_its_window_is_renewed_before_any_thread_has_it() -> None:
    class SlowToBegin(MemoryStore):
        def write(self, key: str, value: bytes, expected_version: int) -> int | None:
            if key.startswith("leases/"):
                time.sleep(1.5 if expected_version == 0 else 0.1)
            return super().write(key, value, expected_version)

    store = SlowToBegin()

    def mint(_: int) -> int:
        return Snowflake(store=store, window_ms=1000, max_wait_ms=0).next_id()

    with ThreadPoolExecutor(4) as threads:
        ids = list(threads.map(mint, range(4)))
    assert len(set(ids)) == 4


def test_a_call_waits_for_the_claim_of_another_thread() -> None:
    begun, answer = threading.Event(), threading.Event()

    class Late(MemoryStore):
        def write(self, key: str, value: bytes, expected_version: int) -> int | None:
            begun.set()
            assert answer.wait(60)
            return super().write(key, value, expected_version)

    store = Late()
    with ThreadPoolExecutor(2) as threads:
        first, second = (threads.submit(Snowflake, store=store, max_wait_ms=0) for _ in range(2))
        assert begun.wait(60)
        # A call that is refused ends at once.
        wait([first, second], timeout=0.2, return_when=FIRST_COMPLETED)
        answer.set()
        assert first.result().node == second.result().node
