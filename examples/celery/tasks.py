"""A task that stores orders under new IDs."""

import os

import psycopg
from celery import Celery
from celery.signals import worker_process_shutdown
from snowmint import Snowflake

app = Celery("tasks", broker=os.environ["REDIS_URL"], backend=os.environ["REDIS_URL"])
# The worker imports this file once and forks its pool afterwards. Each process of the pool leases a separate node when
# it mints its first ID.
generator = Snowflake(namespace="orders")


@worker_process_shutdown.connect
def close_generator(**_: object) -> None:
    """Gives the node back when a process of the pool ends. Otherwise the node is blocked until its window is over."""
    generator.close()


@app.task
def place_orders(items: list[str]) -> list[str]:
    """Stores an order for each item, and returns the IDs as strings, for readers in any language."""
    ids = generator.next_ids(len(items))
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection, connection.cursor() as cursor:
        cursor.executemany("INSERT INTO orders (id, item) VALUES (%s, %s)", zip(ids, items, strict=True))
    return [str(id) for id in ids]
