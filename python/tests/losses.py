"""Leases that are lost."""

import time
from collections.abc import Callable

from snowmint.stores import Store


def lose(store: Store, namespace: str) -> None:
    """Makes the holders of a namespace lose their nodes: another one has written each record meanwhile."""
    for node, value, version in store.list(f"leases/{namespace}/"):
        token = bytes(byte ^ 255 for byte in value[40:56])
        assert store.write(f"leases/{namespace}/{node}", value[:40] + token + value[56:], version)


def wait_until(happened: Callable[[], object]) -> None:
    """Waits for an event, 60 seconds at most."""
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)
