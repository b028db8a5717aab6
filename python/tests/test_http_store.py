"""Leases from a real `snowmint serve`: the suite of all stores, and tests of the service alone."""

import http.server
import itertools
import json
import ssl
import subprocess
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

import processes
import servers
from losses import wait_until
from snowmint import (
    ClockBackwardsError,
    InvalidLayoutError,
    InvalidNodeError,
    InvalidStoreError,
    NodesExhaustedError,
    Snowflake,
    StoreUnavailableError,
    WindowClosedError,
    layouts,
)
from snowmint.stores import HttpStore, LessorGrant, Renewal, connect
from test_stores import (  # noqa: F401
    ONE_NODE,
    Place,
    end,
    ids_of,
    minters,
    node_of,
    test_a_closed_lease_is_free_at_once_and_goes_on_above_its_last_id,
    test_a_generator_that_is_dropped_gives_its_node_back,
    test_a_given_node_repeats_nothing_under_any_fault,
    test_a_lease_has_a_node_and_a_window_that_moves_on,
    test_a_lease_works_the_same_within_an_event_loop,
    test_a_part_of_a_node_is_leased_with_any_values_of_its_other_fields,
    test_a_stopped_holder_that_wakes_after_its_node_was_given_away_mints_nothing_more,
    test_eight_processes_started_at_once_have_eight_nodes,
    test_every_node_of_a_small_layout_can_be_held_and_no_more,
    test_excluded_nodes_are_not_leased_and_a_namespace_keeps_its_layout,
    test_generators_of_one_store_object_share_a_lease_and_of_two_do_not,
    test_kills_of_holders_and_of_the_server_repeat_nothing,
    test_prefork_workers_of_gunicorn_repeat_nothing,
    test_the_end_of_the_process_gives_the_node_back,
    test_the_environment_names_any_of_them,
)

TOKEN = "0123456789abcdef-secret"
YEAR_S = 365 * 24 * 60 * 60


class ServicePlace(Place):
    """A service, for the suite of all stores."""

    def store(self, **options: Any) -> Any:
        return HttpStore(self.url, **options)


@pytest.fixture
def shared(service: servers.Shared) -> Place:
    """Where processes lease from."""
    return ServicePlace("service", service.url)


@pytest.fixture
def named(shared: Place) -> Place:
    """The same."""
    return shared


@pytest.fixture
def place(shared: Place) -> Place:
    """The same."""
    return shared


def get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return json.load(answer)


# Whose clock


# Tells its node, the time in an ID and by how much its clock is off; then it is renewed, mints and ends. The window is
# so long that the last one claims before the window of the first one ends.
DEVICE = """
    import select, struct, sys
    from snowmint import Snowflake
    from snowmint.stores import HttpStore
    url, namespace, ledger = sys.argv[1:]
    generator = Snowflake(store=HttpStore(url), namespace=namespace, window_ms=8000, max_wait_ms=60_000)
    window = generator.window
    ids = [generator.next_id(), *generator.next_ids(50), generator.try_next_id(), generator()]
    parts = generator.layout.decode(generator.next_id())
    print(generator.node, parts.timestamp_ms, generator.status().skew_ms, flush=True)
    sys.stdin.readline()
    while generator.window == window:
        # A sleep is refused under the library that shifts the clock.
        select.select([], [], [], 0.02)
    ids += generator.next_ids(50)
    with open(ledger, "wb") as file:
        file.write(struct.pack(f"<{len(ids)}Q", *ids))
"""


def test_a_dozen_devices_with_wrong_clocks_have_nodes_of_their_own_and_the_services_time(
    service: servers.Shared, namespace: str, tmp_path: Path
) -> None:
    # Years off are before the layout begins, and past its end.
    offsets = [-3 * YEAR_S, -5 * 3600, -60, -2, 0, 0, 0.5, 60, 3600, 5 * 3600, YEAR_S, 80 * YEAR_S]
    ledgers = [tmp_path / str(number) for number in range(len(offsets))]
    devices = [
        processes.start(DEVICE, service.url, namespace, str(ledger), clock_off=offset)
        for ledger, offset in zip(ledgers, offsets, strict=True)
    ]
    try:
        nodes = []
        for device, offset in zip(devices, offsets, strict=True):
            assert device.stdout is not None
            node, unix_ms, skew_ms = (int(word) for word in device.stdout.readline().split())
            nodes.append(node)
            assert abs(unix_ms - time.time() * 1000) < 30_000
            assert abs(skew_ms - offset * 1000) < 30_000
        assert sorted(nodes) == list(range(len(offsets)))
    finally:
        for device in devices:
            device.communicate("\n", timeout=100)
    assert [device.returncode for device in devices] == [0] * len(offsets)
    ids = ids_of(*ledgers)
    assert len(ids) == len(set(ids)) == 103 * len(offsets)


def test_steps_of_the_wall_clock_make_no_difference(service: servers.Shared, namespace: str, tmp_path: Path) -> None:
    program = """
        import sys, time
        from pathlib import Path
        from snowmint import Snowflake
        from snowmint.stores import HttpStore
        url, namespace, clock = sys.argv[1:]
        generator = Snowflake(store=HttpStore(url), namespace=namespace, window_ms=1000, max_wait_ms=60_000)
        begun, ids = time.monotonic(), [generator.next_id()]
        for step_s in (-7200, 7200, 0, 36_000):
            draft = Path(clock + ".draft")
            draft.write_text(f"{step_s:+}")
            # A rename is atomic, so that a half-written step is never read.
            draft.rename(clock)
            deadline = time.monotonic() + 60
            # The next renewal reports it.
            while abs(generator.status().skew_ms - step_s * 1000) > 60_000 and time.monotonic() < deadline:
                ids.append(generator.next_id())
            assert time.monotonic() < deadline, generator.status()
        assert all(a < b for a, b in zip(ids, ids[1:]))
        first, last = (generator.layout.decode(id).timestamp_ms for id in (ids[0], ids[-1]))
        assert abs(last - first - (time.monotonic() - begun) * 1000) < 5000
    """
    clock = tmp_path / "clock"
    clock.write_text("+0")
    faked = {
        name: value for name, value in processes.environment(0).items() if name in ("LD_PRELOAD", "DONT_FAKE_MONOTONIC")
    }
    variables = {**faked, "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1"}
    processes.run(program, service.url, namespace, str(clock), **variables)


def test_a_clock_of_the_callers_own_is_refused(service: servers.Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidNodeError, match="leases by its own clock.*give no clock"):
        Snowflake(store=HttpStore(service.url), clock=lambda: 1_800_000_000_000)
    monkeypatch.setenv("SNOWMINT_STORE", service.url)
    with pytest.raises(InvalidNodeError, match="give no clock"):
        Snowflake(clock=lambda: 1_800_000_000_000)


# The lease


def test_without_a_namespace_it_is_the_one_that_the_service_mints_in(service: servers.Shared) -> None:
    with Snowflake("sonyflake", store=HttpStore(service.url)) as generator:
        namespace = generator.status().namespace
        assert namespace is not None
        assert namespace.startswith("@")
        theirs = {
            int(layouts.SONYFLAKE.decode(int(id)).node) for id in get(f"{service.url}/v1/ids?layout=sonyflake")["ids"]
        }
        assert theirs
        assert generator.node not in theirs
        held = get(f"{service.url}/v1/namespaces/{namespace}/leases")["leases"]
        assert {generator.node, *theirs} <= {lease["node"] for lease in held}


def test_a_killed_holders_node_is_waited_for_until_its_window_ends(
    service: servers.Shared, namespace: str, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    # Long enough that the window does not end before this process has asked.
    holder = minters(service.url, namespace, ledger, layout=ONE_NODE, window_ms=5000)
    assert node_of(holder) == 0
    store = HttpStore(service.url)
    with pytest.raises(NodesExhaustedError, match="all 1 nodes") as caught:
        Snowflake(ONE_NODE, store=store, namespace=namespace, max_wait_ms=1)
    assert caught.value.retry_after_ms is not None
    assert 0 < caught.value.retry_after_ms < 60_000
    wait_until(lambda: ledger.stat().st_size >= 8 * 100)
    end(holder)
    with Snowflake(ONE_NODE, store=store, namespace=namespace, max_wait_ms=30_000) as generator:
        assert generator.next_id() > max(ids_of(ledger))


def test_windows_that_the_service_cuts_are_renewed_in_time(namespace: str) -> None:
    # Its patience with connections is over between two renewals, so each has to open one again.
    with servers.Server("service", ["--max-window-ms", "2400", "--idle-s", "1"]) as server:
        with Snowflake(store=HttpStore(server.url), namespace=namespace, max_ahead_ms=100) as generator:
            before = generator.window or (0, 0)
            assert 0 < before[1] - before[0] < 10_000
            deadline = time.monotonic() + 60
            while generator.window is not None and generator.window[1] < before[1] + 3600:
                assert time.monotonic() < deadline, "no renewals"
                assert generator.next_id() > 0
                assert generator.status().renewal_failures == 0
                time.sleep(0.02)


def test_a_node_that_was_taken_away_is_lost_and_told(namespace: str) -> None:
    with servers.Server("service") as server:
        told: list[WindowClosedError] = []
        generator = Snowflake(
            store=HttpStore(server.url), namespace=namespace, window_ms=1000, max_wait_ms=60_000, on_lost=told.append
        )
        last = generator.next_id()
        words = ["--stopped", "--store", server.store, namespace, str(generator.node)]
        subprocess.run([servers.SNOWMINT, "lease", "release", *words], check=True, timeout=60)
        wait_until(lambda: told)
        assert "has another holder now" in str(told[0])
        with pytest.raises(WindowClosedError, match="was lost"):
            generator.next_id()
        assert generator.status().lost is not None
        with Snowflake(store=HttpStore(server.url), namespace=namespace, max_wait_ms=60_000) as other:
            assert other.next_id() > last


def test_a_namespace_of_a_layout_is_for_that_layout(service: servers.Shared) -> None:
    namespace = Snowflake("sonyflake", store=HttpStore(service.url)).status().namespace
    assert namespace is not None
    with pytest.raises(InvalidLayoutError, match="is for its own layout"):
        HttpStore(service.url).claim(namespace, "0" * 32, "twitter", "a test", 1000, 0)
    with pytest.raises(InvalidNodeError, match="1 to 64 of"):
        HttpStore(service.url).claim("a/b", "0" * 32, "twitter", "a test", 1000, 0)


@pytest.mark.parametrize("how", ["fork", "clone"])
def test_forked_children_lease_nodes_of_their_own_over_connections_of_their_own(
    service: servers.Shared, namespace: str, how: str
) -> None:
    program = """
        import os, struct, sys, time
        from raw_clone import clone
        from snowmint import Snowflake
        from snowmint.stores import connect
        def sockets():
            found = set()
            for descriptor in os.listdir("/proc/self/fd"):
                try:
                    found.add(os.readlink(f"/proc/self/fd/{descriptor}"))
                except FileNotFoundError:
                    # That of the list itself.
                    pass
            return {each for each in found if each.startswith("socket:")}
        store = connect(sys.argv[1])
        # The children claim before the parent's first window ends, or one of them could get its node.
        generator = Snowflake(store=store, namespace=sys.argv[2], window_ms=6000, max_wait_ms=20_000)
        ids, first = [generator.next_id()], generator.window
        inherited = sockets()
        assert inherited
        children = []
        for _ in range(4):
            child = os.fork() if sys.argv[3] == "fork" else clone()
            if child == 0:
                ids = [generator.next_id() for _ in range(1000)] + generator.next_ids(1000)
                assert generator.node != 0, generator
                assert sockets() - inherited
                os.write(1, struct.pack(f"<{len(ids)}Q", *ids))
                os._exit(0)
            children.append(child)
        deadline = time.monotonic() + 40
        while generator.window == first and time.monotonic() < deadline:
            ids.append(generator.next_id())
            time.sleep(0.001)
        assert generator.window != first, "it was renewed"
        assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 4
        status = generator.status()
        assert (generator.node, status.renewal_failures, status.lost) == (0, 0, None), status
        os.write(1, struct.pack(f"<{len(ids)}Q", *ids))
    """
    ids = processes.minted(program, service.url, namespace, how)
    assert len(ids) == len(set(ids)) > 8000


# Trouble


@pytest.mark.parametrize("how", ["kill", "pause"])
def test_generators_outlive_a_service_that_is_away(how: str, namespace: str, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    with servers.Server("service") as server:
        generator = Snowflake(
            store=HttpStore(server.url, timeout_s=2), namespace=namespace, window_ms=3000, max_wait_ms=1000
        )
        other = minters(server.url, namespace, ledger)
        assert node_of(other) == 1
        ids = [generator.next_id()]
        if how == "kill":
            server.kill()
        else:
            server.pause(True)
        deadline = time.monotonic() + 30
        with pytest.raises(WindowClosedError, match=f"the service at {server.url}"):
            while time.monotonic() < deadline:
                ids.append(generator.next_id())
                time.sleep(0.001)
        assert len(ids) > 100
        wait_until(lambda: generator.status().renewal_failures > 0)
        began = time.monotonic()
        with pytest.raises(StoreUnavailableError, match=f"the service at {server.url}: .*Error") as caught:
            Snowflake(store=HttpStore(server.url, timeout_s=2), namespace=namespace)
        assert isinstance(caught.value.__cause__, OSError)
        assert time.monotonic() - began < 60
        if how == "kill":
            server.restart()
        else:
            server.pause(False)
        while time.monotonic() < deadline + 30:
            try:
                ids.append(generator.next_id())
                break
            except WindowClosedError:
                time.sleep(0.05)
        ids += generator.next_ids(5000)
        wait_until(lambda: generator.status().renewal_failures == 0)
        status = generator.status()
        assert (status.node, status.lost) == (0, None)
        end(other)
        generator.close()
    assert all(a < b for a, b in itertools.pairwise(ids))
    theirs = ids_of(ledger)
    assert theirs
    assert not set(ids) & set(theirs)


def test_a_token_that_is_wrong_or_missing_is_told_and_never_shown(
    namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    admin = tmp_path / "admin"
    admin.write_text(f"{TOKEN}-of-admin")
    with servers.Server("service", ["--token-file", str(file), "--admin-token-file", str(admin)]) as server:
        for token in (None, f"{TOKEN}x"):
            with pytest.raises(InvalidStoreError, match="it refuses the token, or wants one") as caught:
                Snowflake(store=HttpStore(server.url, token), namespace=namespace)
            assert server.url in str(caught.value)
            assert TOKEN not in str(caught.value)
        store = HttpStore(f"{server.url}/", TOKEN)
        with pytest.raises(InvalidStoreError, match=f"namespace {namespace} is new, and only the role admin"):
            Snowflake(store=store, namespace=namespace)
        with Snowflake(store=HttpStore(server.url, f"{TOKEN}-of-admin"), namespace=namespace) as generator:
            assert generator.next_id() > 0
        with Snowflake(store=store, namespace=namespace) as generator:
            assert generator.next_id() > 0
        assert (str(store), repr(store)) == (f"the service at {server.url}", f"HttpStore('{server.url}')")
        monkeypatch.setenv("SNOWMINT_TOKEN", TOKEN)
        with Snowflake(store=server.url, namespace=namespace) as generator:
            assert generator.next_id() > 0


def test_https_trusts_whom_its_context_trusts(namespace: str, certificate: tuple[Path, Path]) -> None:
    cert, key = certificate
    with servers.Server("service", ["--tls-cert", str(cert), "--tls-key", str(key)]) as server:
        url = f"https://localhost:{server.port}"
        with pytest.raises(StoreUnavailableError, match="CERTIFICATE_VERIFY_FAILED"):
            Snowflake(store=HttpStore(url), namespace=namespace)
        store = HttpStore(url, ssl_context=ssl.create_default_context(cafile=str(cert)))
        with Snowflake(store=store, namespace=namespace, window_ms=1000, max_wait_ms=60_000) as generator:
            before = generator.window
            assert before is not None
            deadline = time.monotonic() + 60
            while generator.window == before and time.monotonic() < deadline:
                time.sleep(0.02)
            assert generator.next_id() > 0
            assert generator.status().renewal_failures == 0
        with pytest.raises(StoreUnavailableError):
            Snowflake(store=HttpStore(f"http://localhost:{server.port}"), namespace=namespace)


class Odd(http.server.BaseHTTPRequestHandler):
    """Gives answers that no service gives."""

    protocol_version = "HTTP/1.1"
    answer: tuple[int, bytes] = 200, b""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        status, body = self.answer
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *words: Any) -> None:
        pass


LEASE = {"node": 1, "window": {"start": 1_790_000_000_000, "end": 1_790_000_030_000}, "window_ms": 30_000}
LEASE |= {"server_time_ms": 1_790_000_000_000}


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (200, b"<html>", "is the URL right"),
        (200, b"[]", "is the URL right"),
        (200, b"\xff", "is the URL right"),
        (301, b"", "it answers status 301, as no service"),
        (404, b'{"error": "nothing"}', "it answers status 404"),
        (503, b'{"code": "STORE_UNAVAILABLE", "detail": "the disk is full"}', "the disk is full"),
        (500, b'{"code": "NEW", "detail": "of a later version"}', "of a later version"),
        (201, b"x" * 100_000, "IncompleteRead"),
        (201, json.dumps(LEASE | {"node": "1"}).encode(), "TypeError"),
        (201, json.dumps(LEASE | {"node": 1024}).encode(), "not a lease of layout"),
        (201, json.dumps(LEASE | {"node": -1}).encode(), "not a lease of layout"),
        (201, json.dumps(LEASE | {"window_ms": 0}).encode(), "not a lease of layout"),
        (201, json.dumps(LEASE | {"window_ms": 40_000}).encode(), "not a lease of layout"),
        (201, json.dumps(LEASE | {"window": {"start": 5, "end": 5}}).encode(), "not a lease of layout"),
        (201, json.dumps(LEASE | {"window": {"start": 2**62, "end": 2**62 + 1}}).encode(), "not a lease of layout"),
        (201, json.dumps(LEASE | {"server_time_ms": 2**70}).encode(), "OverflowError"),
    ],
)
def test_what_no_service_answers_grants_nothing(status: int, body: bytes, told: str) -> None:
    handler = type("Handler", (Odd,), {"answer": (status, body)})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        try:
            with pytest.raises(StoreUnavailableError, match=told):
                Snowflake(store=HttpStore(f"http://127.0.0.1:{server.server_port}"))
        finally:
            server.shutdown()


# Checks of URLs, tokens and lessors


@pytest.mark.parametrize(
    "url",
    [
        "ids:8080",
        "ftp://ids",
        "http://",
        "http://me:s3cret@ids",
        "http://s3cret@ids",
        "http://ids?token=s3cret",
        "http://ids/#s3cret",
        "http://ids:s3cret",
        "http://ids/a b",
        "http://[s3cret",
        "http://s3cret\u2100@ids",
    ],
)
def test_a_url_that_is_none_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(ValueError, match="URL of an HttpStore") as caught:
        HttpStore(url)
    assert "s3cret" not in str(caught.value)
    if url.startswith("http:"):
        with pytest.raises(InvalidStoreError, match="URL of an HttpStore"):
            connect(url)


def test_what_cannot_be_is_refused_with_what_could(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in (None, 5, b"http://ids"):
        with pytest.raises(TypeError, match="http://ids:8080"):
            HttpStore(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="token"):
        HttpStore("http://ids", b"bytes")  # type: ignore[arg-type]
    for token in ("", "two words", "s3cret\r\nX: y", "Käse"):
        with pytest.raises(ValueError, match="visible ASCII") as caught:
            HttpStore("http://ids", token)
        assert token not in str(caught.value) or not token
    for timeout_s in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="above 0"):
            HttpStore("http://ids", timeout_s=timeout_s)
    with pytest.raises(ValueError, match="https:// alone"):
        HttpStore("http://ids", ssl_context=ssl.create_default_context())
    monkeypatch.setenv("SNOWMINT_TOKEN", "two words")
    with pytest.raises(InvalidStoreError, match="visible ASCII"):
        connect("http://ids-of-this-test")
    monkeypatch.delenv("SNOWMINT_TOKEN")
    assert connect("https://ids.example/a/") is connect("https://ids.example/a/")
    assert str(connect("https://ids.example/a/")) == "the service at https://ids.example/a"


class Own:
    """A lessor that a user wrote, with a clock that the test sets."""

    def __init__(self, now_ms: int) -> None:
        self.now_ms, self.asked = now_ms, [("", "")]

    def claim(
        self, namespace: str, nonce: str, layout: str, label: str, window_ms: int, max_ahead_ms: int, *exclude: int
    ) -> LessorGrant:
        assert len(nonce) == 32
        self.asked.append((namespace, nonce))
        free = next(node for node in itertools.count() if node not in exclude)
        return LessorGrant(free, self.now_ms, self.now_ms + window_ms + max_ahead_ms, 1000, self.now_ms)

    def renew(
        self, namespace: str, nonce: str, node: int, unused_from_ms: int, window_ms: int, max_ahead_ms: int
    ) -> Renewal:
        self.asked.append((namespace, nonce))
        end_ms = max(self.now_ms, unused_from_ms) + window_ms + max_ahead_ms
        return Renewal(self.now_ms, end_ms, self.now_ms)

    def release(self, namespace: str, nonce: str, node: int, unused_from_ms: int) -> None:
        self.asked.append(("released", nonce))

    def __str__(self) -> str:
        return "our own"


def test_any_object_with_the_verbs_is_a_lessor_whose_clock_counts_also_when_it_steps_back() -> None:
    far_ms = 2_000_000_000_000
    own = Own(far_ms)
    generator = Snowflake(store=own, namespace="a", exclude=[0, 1])
    assert generator.node == 2
    parts = generator.layout.decode(generator.next_id())
    assert far_ms <= parts.timestamp_ms < far_ms + 30_000
    own.now_ms -= 3_600_000
    deadline = time.monotonic() + 60
    with pytest.raises(ClockBackwardsError) as caught:
        while time.monotonic() < deadline:
            generator.try_next_id()
            time.sleep(0.01)
    assert 3_500_000 < caught.value.by_ms <= 3_630_000
    own.now_ms += 3_600_000 + 60_000
    while time.monotonic() < deadline + 20:
        try:
            assert generator.layout.decode(generator.try_next_id()).timestamp_ms >= far_ms + 60_000
            break
        except (ClockBackwardsError, WindowClosedError):
            time.sleep(0.01)
    else:
        pytest.fail("it does not go on")
    generator.close()
    assert own.asked[-1] == ("released", own.asked[1][1])


def test_a_lessor_that_answers_too_little_or_fails_grants_nothing() -> None:
    own: Any = Own(2_000_000_000_000)
    own.claim = lambda *_: None
    with pytest.raises(StoreUnavailableError, match="our own: its answer has the wrong count of numbers"):
        Snowflake(store=own)
    broken = OSError("no route to host")

    def fail(*_: Any) -> Any:
        raise broken

    own.claim = fail
    with pytest.raises(StoreUnavailableError, match="our own: OSError: no route to host") as caught:
        Snowflake(store=own)
    assert caught.value.__cause__ is broken
    broken = KeyboardInterrupt()  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        Snowflake(store=own)
