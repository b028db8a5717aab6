"""Sends tasks until each of the four processes has minted, then compares the results with the table."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psycopg
from celery import group
from snowmint import layouts

from tasks import place_orders

PROCESSES = 4
ITEMS = ["tea"] * 100
deadline = time.monotonic() + 60

with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
    connection.execute(Path("schema.sql").read_text())
words = ["--app", "tasks", "worker", "--pool", "prefork", "--concurrency", str(PROCESSES), "--loglevel", "warning"]
worker = subprocess.Popen([sys.executable, "-m", "celery", *words])
try:
    ids: list[str] = []
    nodes: set[int] = set()
    while len(nodes) < PROCESSES:
        assert time.monotonic() < deadline, f"only the nodes {nodes} have minted"
        results = group(place_orders.s(ITEMS) for _ in range(20)).delay()
        for of_task in results.get(timeout=60):
            ids += of_task
        nodes = {layouts.SNOWMINT.decode(int(id)).node for id in ids}
finally:
    worker.terminate()
    worker.wait(30)

assert all(isinstance(id, str) for id in ids)
assert len(set(ids)) == len(ids)
assert len(nodes) == PROCESSES
with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
    rows = connection.execute("SELECT id, pg_typeof(id)::text FROM orders").fetchall()
assert sorted(rows) == sorted((int(id), "bigint") for id in ids)
print(f"{len(ids)} orders from {len(nodes)} processes: all IDs differ")
