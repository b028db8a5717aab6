"""A process that leases and mints over a store, and takes numbers of its counter: pooled.py URL LEDGER COUNT."""

import sys
import time

from snowmint import Snowflake, SnowmintError, StoreUnavailableError
from snowmint.stores import SqlStore, connect

BATCH = 100


def lease(store: SqlStore) -> Snowflake:
    """Leases a node, once the store answers."""
    while True:
        try:
            return Snowflake(store=store, namespace="pooled", window_ms=1000, max_wait_ms=60_000)
        except StoreUnavailableError:
            time.sleep(0.05)


def next_number(store: SqlStore) -> int:
    """Takes a number, once the store answers."""
    while True:
        try:
            return store.add("numbers", 1, 0)
        except StoreUnavailableError:
            time.sleep(0.05)


def main(url: str, ledger: str, count: int) -> None:
    """Writes `count` IDs to the ledger, and a number after each batch."""
    store = connect(url)
    assert isinstance(store, SqlStore)
    generator = lease(store)
    left = count
    with open(ledger, "a", buffering=1) as file:
        while left:
            try:
                ids = generator.next_ids(min(BATCH, left))
            except SnowmintError as error:
                assert error.code == "WINDOW_CLOSED", error
                # Another process may have the node by now.
                generator.close()
                generator = lease(store)
                continue
            file.write(" ".join(map(str, ids)) + f" {next_number(store)}\n")
            left -= len(ids)
            time.sleep(0.01)


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
