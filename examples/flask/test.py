"""Adds notes over HTTP until each of the three forked workers has minted, then compares the responses with the file."""

import json
import os
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from snowmint import layouts

ADDRESS = f"127.0.0.1:{os.environ['PORT']}"
WORKERS = 3
deadline = time.monotonic() + 60


def fetch(path: str, body: object = None) -> tuple[int, dict]:
    """Returns status and body of a response; without a body in the request it is a GET."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://{ADDRESS}{path}", data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, {}


def wait_until_ready() -> None:
    """Waits until a worker answers."""
    while True:
        try:
            fetch("/")
            return
        except urllib.error.URLError:
            assert server.poll() is None and time.monotonic() < deadline, "the server does not start"
            time.sleep(0.1)


def add(_: int) -> str:
    """Adds a note, and returns its ID."""
    status, note = fetch("/notes", {"text": "milk"})
    assert (status, note.get("text")) == (201, "milk"), (status, note)
    return note["id"]


subprocess.run([sys.executable, "-m", "flask", "init-db"], check=True)
words = ["--preload", "--workers", str(WORKERS), "--bind", ADDRESS, "--log-level", "warning", "app:app"]
server = subprocess.Popen([sys.executable, "-m", "gunicorn", *words])
try:
    wait_until_ready()
    ids: list[str] = []
    nodes: set[int] = set()
    with ThreadPoolExecutor(12) as pool:
        while len(nodes) < WORKERS:
            assert time.monotonic() < deadline, f"only the nodes {nodes} have minted"
            ids += pool.map(add, range(200))
            nodes = {layouts.SNOWMINT.decode(int(id)).node for id in ids}
    assert fetch(f"/notes/{ids[0]}") == (200, {"id": ids[0], "text": "milk"})
    assert [fetch(f"/notes/{id}")[0] for id in (1, 2**63)] == [404, 404]
finally:
    server.terminate()
    server.wait(30)

assert all(isinstance(id, str) for id in ids)
assert len(set(ids)) == len(ids)
assert len(nodes) == WORKERS
rows = sqlite3.connect("notes.db").execute("SELECT id, typeof(id) FROM notes").fetchall()
assert sorted(rows) == sorted((int(id), "integer") for id in ids)
print(f"{len(ids)} notes from {len(nodes)} workers: all IDs differ")
