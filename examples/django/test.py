"""Places orders over HTTP until each of the three workers has minted, then compares the responses with the tables."""

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


def place(_: int) -> dict[str, str]:
    """Places an order, and returns it."""
    status, order = fetch("/orders", {"name": "Ada", "item": "tea"})
    assert (status, order.get("item")) == (201, "tea"), (status, order)
    return order


for command in (["migrate", "--verbosity", "0"], ["makemigrations", "--check"], ["check"]):
    subprocess.run([sys.executable, "manage.py", *command], check=True)
words = ["--workers", str(WORKERS), "--bind", ADDRESS, "--log-level", "warning", "shop.wsgi"]
server = subprocess.Popen([sys.executable, "-m", "gunicorn", *words])
try:
    wait_until_ready()
    orders: list[dict[str, str]] = []
    nodes: set[int] = set()
    with ThreadPoolExecutor(12) as pool:
        while len(nodes) < WORKERS:
            assert time.monotonic() < deadline, f"only the nodes {nodes} have minted"
            orders += pool.map(place, range(200))
            nodes = {layouts.SNOWMINT.decode(int(order["id"])).node for order in orders}
    assert fetch(f"/orders/{orders[0]['id']}") == (200, orders[0])
    assert [fetch(f"/orders/{id}")[0] for id in (1, 2**64)] == [404, 404]
finally:
    server.terminate()
    server.wait(30)

ids = [order[key] for order in orders for key in ("id", "customer")]
assert all(isinstance(id, str) for id in ids)
assert len(set(ids)) == len(ids)
assert len(nodes) == WORKERS
with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
    columns = "id, customer_id, pg_typeof(id)::text, pg_typeof(customer_id)::text"
    rows = connection.execute(f"SELECT {columns} FROM shop_order").fetchall()
assert sorted(rows) == sorted((int(order["id"]), int(order["customer"]), "bigint", "bigint") for order in orders)
print(f"{len(orders)} orders from {len(nodes)} workers: all IDs differ")
