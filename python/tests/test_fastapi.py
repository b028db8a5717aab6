"""The example for FastAPI: within the process, and served by workers of uvicorn."""

import asyncio
import json
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from pathlib import Path
from time import monotonic

import pytest
from fastapi.testclient import TestClient

import fastapi_app
import processes
from servers import Server
from snowmint import Snowflake, WindowClosedError, layouts

EXAMPLES = Path(fastapi_app.__file__).parent


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(fastapi_app.app) as client:
        yield client


def test_a_note_is_kept_under_an_id_that_is_a_string_in_json(client: TestClient) -> None:
    reply = client.post("/notes", json={"text": "milk"})
    assert reply.status_code == 201
    note = reply.json()
    assert isinstance(note["id"], str)
    assert layouts.SNOWMINT.decode(int(note["id"])).node == client.app.state.generator.node  # type: ignore[attr-defined]
    assert client.get(f"/notes/{note['id']}").json() == note == {**note, "text": "milk"}


@pytest.mark.parametrize("id", ["-1", "1.0", "18446744073709551616", "abc", "1_0", "%2B1", "%201"])
def test_what_is_no_id_in_the_path_is_422_with_a_sentence(client: TestClient, id: str) -> None:
    reply = client.get(f"/notes/{id}")
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["msg"] == "An ID is an integer from 0 to 2^64-1, or a string of its digits"


@pytest.mark.parametrize("id", ["0", "18446744073709551615", "9007199254740993"])
def test_an_id_of_no_note_is_404_and_comes_back_digit_by_digit(client: TestClient, id: str) -> None:
    reply = client.get(f"/notes/{id}")
    assert (reply.status_code, reply.json()) == (404, {"detail": f"There is no note {id}"})


def test_notes_are_found_by_the_time_in_their_ids(client: TestClient) -> None:
    first, second = (client.post("/notes", json={"text": text}).json() for text in ("one", "two"))
    found = client.get("/notes", params={"since": first["created"], "until": second["created"]}).json()
    assert [note["text"] for note in found] == ["one", "two"]
    assert client.get("/notes", params={"since": "2025-01-01T00:00:00Z", "until": "2025-01-02T00:00:00Z"}).json() == []
    naive = {"since": "2025-01-01T00:00:00", "until": "2025-01-02T00:00:00"}
    assert client.get("/notes", params=naive).status_code == 422


def test_openapi_describes_the_id_as_a_string_in_and_out(client: TestClient) -> None:
    api = client.get("/openapi.json").json()
    parameter = api["paths"]["/notes/{id}"]["get"]["parameters"][0]
    id = api["components"]["schemas"]["Note"]["properties"]["id"]
    assert [(each["type"], each["pattern"]) for each in (parameter["schema"], id)] == [("string", "^[0-9]{1,20}$")] * 2


def test_a_burst_beyond_the_options_is_503(client: TestClient) -> None:
    # One ID a ms, with a stopped clock.
    layout = "time:41,node:4;epoch=2025-01-01T00:00:00Z"
    client.app.state.generator = Snowflake(layout, node=1, clock=lambda: 1767225600000, max_wait_ms=0)  # type: ignore[attr-defined]
    assert client.post("/notes", json={"text": "first"}).status_code == 201
    reply = client.post("/notes", json={"text": "second"})
    assert (reply.status_code, reply.headers["Retry-After"]) == (503, "1")


def test_the_lease_is_given_back_when_the_application_ends() -> None:
    with TestClient(fastapi_app.app):
        generator: Snowflake = fastapi_app.app.state.generator
        generator.next_id()
    with pytest.raises(WindowClosedError):
        generator.next_id()


def test_a_store_that_stands_still_does_not_stop_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    async def turns_of_the_lifespan(server: Server) -> int:
        async with AsyncExitStack() as stack:
            entering = asyncio.ensure_future(stack.enter_async_context(fastapi_app.lifespan(fastapi_app.app)))
            for _ in range(100):
                await asyncio.sleep(0.005)
            assert not entering.done()
            server.pause(False)
            await entering
            server.pause(True)
            # To give the node back takes its time too.
            closing = asyncio.ensure_future(stack.aclose())
            turns = 0
            while not closing.done():
                turns += 1
                await asyncio.sleep(0.005)
            await closing
            return turns

    with Server("postgres") as server:
        monkeypatch.setenv("SNOWMINT_STORE", server.url)
        server.pause(True)
        assert asyncio.run(turns_of_the_lifespan(server)) > 3
        server.pause(False)


def test_two_workers_of_uvicorn_repeat_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        words = ["--app-dir", str(EXAMPLES), "--workers", "2", "--fd", str(listener.fileno()), "--log-level", "warning"]
        command = [sys.executable, "-m", "uvicorn", *words, "fastapi_app:app"]
        server = subprocess.Popen(command, env=processes.environment(), pass_fds=[listener.fileno()])
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/notes", b'{"text": "x"}', {"Content-Type": "application/json"}, method="POST"
    )

    def add(_: int) -> int:
        # The socket listens already: until there are workers, the kernel keeps the connection.
        with urllib.request.urlopen(request, timeout=60) as reply:
            return int(json.load(reply)["id"])

    ids: list[int] = []
    nodes: set[int] = set()
    deadline = monotonic() + 60
    try:
        with ThreadPoolExecutor(8) as pool:
            # One worker may be up before the other.
            while len(nodes) < 2 and monotonic() < deadline:
                ids += pool.map(add, range(200))
                nodes = {layouts.SNOWMINT.decode(id).node for id in ids}
    finally:
        server.terminate()
        server.wait(60)
    assert len(nodes) == 2
    assert len(set(ids)) == len(ids)
