"""Numbers that a real `snowmint serve` takes: suites of all stores, and tests of the service alone."""

import asyncio
import contextlib
import http.client
import http.server
import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import servers
from scripted import Clock
from snowmint import (
    Formatted,
    InvalidIdError,
    InvalidStoreError,
    InvalidTextError,
    Segments,
    Sequences,
    StoreUnavailableError,
    Tickets,
    WindowClosedError,
    users,
)
from snowmint.stores import HttpStore, MemoryStore
from test_formatted import test_texts_count_in_each_period  # noqa: F401
from test_http_store import Odd, ServicePlace
from test_sequences import (  # noqa: F401
    test_a_forked_child_begins_its_own_session,
    test_a_session_answers_like_psql,
    test_processes_that_are_killed_repeat_nothing,
    test_sessions_and_threads_repeat_nothing,
)
from test_stores import Place
from test_tickets import (  # noqa: F401
    test_one_store_gives_every_number,
    test_threads_repeat_nothing_and_each_sees_its_tickets_increase,
)

PATIENT_MS = 20_000


@pytest.fixture
def named(service: servers.Shared) -> Place:
    """The shared service."""
    return ServicePlace("service", service.url)


@pytest.fixture
def place(named: Place) -> Place:
    """The same."""
    return named


def test_a_session_answers_with_its_own_values(place: Place, namespace: str) -> None:
    mine, theirs = (Sequences(place.store(), max_wait_ms=PATIENT_MS) for _ in range(2))
    with pytest.raises(InvalidIdError):
        mine.current(namespace)
    assert [mine.next(namespace), theirs.next(namespace)] == [1, 2]
    assert [mine.current(namespace), mine.last(), theirs.last()] == [1, 1, 2]
    assert mine.set(namespace, 41) == 41
    assert [mine.current(namespace), theirs.next(namespace)] == [1, 42]


def test_a_sequence_is_defined_once_and_refused_as_everywhere(place: Place, namespace: str) -> None:
    session = Sequences(place.store(), max_wait_ms=PATIENT_MS)
    assert session.create(namespace, start=2**64 - 2, kind="bigint unsigned", cache=1, dialect="mariadb")
    assert not session.create(namespace, start=2**64 - 2, kind="bigint unsigned", cache=1, dialect="mariadb")
    assert not session.create(namespace)
    assert session.next(namespace) == 2**64 - 2
    assert session.set(namespace, 5) is None, "MariaDB changes nothing"
    for value in (2**64, 2**127, -(2**200)):
        with pytest.raises(InvalidIdError):
            session.set(namespace, value)
    with pytest.raises(InvalidIdError):
        session.create(f"{namespace}-odd", increment=0)
    for name in ("", "x" * 129, "a\nb", "\ud800"):
        with pytest.raises(InvalidTextError):
            session.next(name)
    strange = f"{namespace} /?#%é"
    assert [session.next(strange), session.next(strange)] == [1, 2]


def test_calls_that_wait_at_once_share_a_request(place: Place, namespace: str) -> None:
    async def main() -> None:
        store: Any = place.store()
        session, photos = Sequences(store, max_wait_ms=PATIENT_MS), Tickets(store, namespace, max_wait_ms=PATIENT_MS)
        # More than one request can have.
        values = await asyncio.gather(*(session.next_async(namespace) for _ in range(1100)))
        assert values == list(range(1, 1101))
        assert sorted(await asyncio.gather(*(photos.next_async() for _ in range(100)))) == list(range(1, 101))
        # Each session and each Tickets has had one request at a time.
        assert len(store._peer._idle) == 1

    asyncio.run(main())


def test_a_tag_of_the_service_is_taken_in_blocks() -> None:
    with servers.Server("service") as server:
        command = [servers.SNOWMINT, "segment", "--store", server.store, "create", "orders", "--start", "100"]
        subprocess.run(command, check=True, timeout=60)
        store = HttpStore(server.url)
        with Segments(store, "orders", max_wait_ms=PATIENT_MS) as orders:
            assert [orders.next(), orders.next()] == [100, 101]
            block = orders.next_block(5000)
            assert block[0] > 101
            assert orders.next() > block[-1]
        assert Segments(store, "orders", max_wait_ms=PATIENT_MS).next() > block[-1]
        with pytest.raises(InvalidTextError, match="create it with snowmint segment create"):
            Segments(store, "missing", max_wait_ms=300).next()


def test_a_service_has_the_stores_of_its_tickets_itself(place: Place, namespace: str) -> None:
    for stores in ([place.store(), place.store()], [MemoryStore(), place.store()], [place.store(), MemoryStore()]):
        with pytest.raises(InvalidStoreError, match="name it alone"):
            Tickets(stores, namespace)
    with pytest.raises(InvalidStoreError, match="MySQL or MariaDB"):
        Tickets.of_tables(place.store(), "Tickets64")


def test_each_user_has_a_sequence_at_the_service(place: Place, namespace: str) -> None:
    store = place.store()
    with users(store, namespace, max_wait_ms=PATIENT_MS) as messages:
        assert [messages.next(7), messages.next(7), messages.next(8), messages.next(2**64 - 1)] == [1, 2, 1, 1]
        for user in (-1, 2**64):
            with pytest.raises(InvalidIdError):
                messages.next(user)
    with pytest.raises(WindowClosedError):
        messages.next(7)
    assert users(store, namespace, max_wait_ms=PATIENT_MS).next(7) == 3
    options: list[dict[str, Any]] = [{"size": 10}, {"step": 10}, {"window_ms": 1000}, {"label": "mine"}]
    for option in options:
        with pytest.raises(TypeError, match="give none of them"):
            users(store, namespace, **option)


def test_the_clock_of_the_service_bounds_the_period(place: Place, namespace: str) -> None:
    ahead = Clock(4_000_000_000_000)
    sequence = Sequences(place.store(), max_wait_ms=PATIENT_MS).sequence(namespace)
    texts = Formatted(sequence, "{yyyy}-{0}", period="year", clock=ahead)
    assert texts.parse(texts.next()).year != 2096


def test_a_sequence_of_the_service_is_made_with_its_numbers_and_does_not_cycle(place: Place, namespace: str) -> None:
    session = Sequences(place.store(), max_wait_ms=PATIENT_MS)
    tens = Formatted(session.sequence(namespace), "{000}", start=100, increment=10)
    assert [tens.next(), tens.next()] == ["100", "110"]
    session.create(f"{namespace}-round", max=3, cycle=True)
    with pytest.raises(InvalidIdError):
        Formatted(session.sequence(f"{namespace}-round"), "{000}").next()


# Trouble


class Proxy(http.server.BaseHTTPRequestHandler):
    """Passes requests on to a service, and breaks the connection in place of an answer that the test wants lost."""

    protocol_version = "HTTP/1.1"
    service: str
    lost: str
    passed: list[str]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        connection = http.client.HTTPConnection(self.service)
        connection.request("POST", self.path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer = response.read()
        connection.close()
        self.passed.append(self.path)
        if self.lost and self.path.partition("?")[0].endswith(self.lost):
            type(self).lost = ""
            self.close_connection = True
            return
        self.send_response(response.status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *words: Any) -> None:
        pass


@contextlib.contextmanager
def serving(handler: type[http.server.BaseHTTPRequestHandler]) -> Iterator[HttpStore]:
    """A server of this handler, as a store."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        try:
            yield HttpStore(f"http://127.0.0.1:{server.server_port}")
        finally:
            server.shutdown()


def test_a_lost_answer_skips_values_and_never_sets_twice(service: servers.Shared, namespace: str) -> None:
    handler: Any = type("Lossy", (Proxy,), {"service": f"127.0.0.1:{service.port}", "lost": "/next", "passed": []})
    with serving(handler) as store:
        session = Sequences(store, max_wait_ms=PATIENT_MS)
        with pytest.raises(StoreUnavailableError, match="RemoteDisconnected"):
            # On a new connection the request is not repeated.
            session.next(namespace)
        assert session.next(namespace) == 2
        handler.lost = "/next"
        assert session.next(namespace) == 4, "on a connection that was kept it is"
        handler.lost = "/set"
        with pytest.raises(StoreUnavailableError, match="RemoteDisconnected"):
            session.set(namespace, 41)
        assert [path for path in handler.passed if path.endswith("/set")] == [f"/v1/sequences/{namespace}/set"]
        assert (session.current(namespace), session.next(namespace)) == (4, 42)


def test_a_token_that_may_not_define_takes_numbers(namespace: str, tmp_path: Path) -> None:
    minting, admin = tmp_path / "token", tmp_path / "admin"
    minting.write_text("a-token-that-mints")
    admin.write_text("a-token-that-defines")
    with servers.Server("service", ["--token-file", str(minting), "--admin-token-file", str(admin)]) as server:
        session = Sequences(HttpStore(server.url, "a-token-that-mints"), max_wait_ms=PATIENT_MS)
        calls: list[Callable[[], object]] = [lambda: session.create(namespace), lambda: session.set(namespace, 5)]
        for call in calls:
            with pytest.raises(InvalidStoreError, match="this needs the role admin"):
                call()
        assert session.next(namespace) == 1
        texts = Formatted(session.sequence("texts"), "{yyyy}-{000}", period="year")
        assert texts.parse(texts.next()).number == 1
        assert Sequences(HttpStore(server.url, "a-token-that-defines"), max_wait_ms=PATIENT_MS).create("tens")
        with pytest.raises(InvalidStoreError, match="it refuses the token"):
            Sequences(HttpStore(server.url, "another-token"), max_wait_ms=PATIENT_MS).next(namespace)


@pytest.mark.parametrize(
    "answer",
    [
        "<html>",
        [],
        {},
        {"ids": []},
        {"ids": ["1", "2"]},
        {"ids": [1]},
        {"ids": ["1.0"]},
        {"ids": [" 1"]},
        {"ids": ["٣"]},
        {"id": 1},
        {"id": "1" * 21},
        {"start": "1", "end": "2"},
        {"start": "1"},
    ],
    ids=json.dumps,
)
def test_what_no_service_answers_is_no_number(answer: object) -> None:
    body = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
    handler = type("Handler", (Odd,), {"answer": (200, body), "do_GET": answered})
    with serving(handler) as store:
        session = Sequences(store, max_wait_ms=PATIENT_MS)
        calls: list[Callable[[], object]] = [
            lambda: session.next("invoices"),
            lambda: session.set("invoices", 5),
            lambda: Tickets(store, "photos", max_wait_ms=PATIENT_MS).next(),
            lambda: users(store, max_wait_ms=PATIENT_MS).next(7),
            lambda: Segments(store, "orders", max_wait_ms=200).next(),
            store.clock_ms,
        ]
        for call in calls:
            with pytest.raises(StoreUnavailableError, match="as no service of snowmint does"):
                call()


def answered(handler: Odd) -> None:
    """Answers a GET."""
    handler.send_response(handler.answer[0])
    handler.send_header("Content-Length", str(len(handler.answer[1])))
    handler.end_headers()
    handler.wfile.write(handler.answer[1])
