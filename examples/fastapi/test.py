"""Places orders over HTTP until each of the four workers has minted, then compares the responses with the table."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import psycopg
from snowmint import layouts

PORT = os.environ["PORT"]
WORKERS = 4
deadline = time.monotonic() + 60


def fetch(path: str, body: object = None) -> tuple[int, dict]:
    """Returns status and body of a response; without a body in the request it is a GET."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}{path}", data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, {}


def wait_until_ready() -> None:
    """Waits until a worker answers."""
    while True:
        try:
            fetch("/openapi.json")
            return
        except urllib.error.URLError:
            assert server.poll() is None and time.monotonic() < deadline, "the server does not start"
            time.sleep(0.1)


def place(_: int) -> str:
    """Places an order, and returns its ID."""
    status, order = fetch("/orders", {"item": "tea"})
    assert (status, order.get("item")) == (201, "tea"), (status, order)
    return order["id"]


subprocess.run([sys.executable, "models.py"], check=True)
words = ["app:app", "--workers", str(WORKERS), "--port", PORT, "--log-level", "warning"]
server = subprocess.Popen([sys.executable, "-m", "uvicorn", *words])
try:
    wait_until_ready()
    ids: list[str] = []
    nodes: set[int] = set()
    with ThreadPoolExecutor(16) as pool:
        while len(nodes) < WORKERS:
            assert time.monotonic() < deadline, f"only the nodes {nodes} have minted"
            ids += pool.map(place, range(200))
            nodes = {layouts.SNOWMINT.decode(int(id)).node for id in ids}
    assert fetch(f"/orders/{ids[0]}") == (200, {"item": "tea", "id": ids[0]})
    assert [fetch(f"/orders/{id}")[0] for id in (1, 2**63 - 1, 2**63, "x")] == [404, 404, 422, 422]
finally:
    server.terminate()
    server.wait(30)

assert all(isinstance(id, str) for id in ids)
assert len(set(ids)) == len(ids)
assert len(nodes) == WORKERS
with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
    rows = connection.execute("SELECT id, pg_typeof(id)::text FROM orders").fetchall()
assert sorted(rows) == sorted((int(id), "bigint") for id in ids)
print(f"{len(ids)} orders from {len(nodes)} workers: all IDs differ")
