"""Rules for numbers of every kind: over stores that lose answers, hang, or keep no numbers."""

import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hanging import Gated, Losing
from snowmint import (
    Formatted,
    InvalidStoreError,
    Segments,
    Sequences,
    StoreUnavailableError,
    Tickets,
    users,
)
from snowmint.stores import FileStore

PATIENT_MS = 20_000


def text_taker(store: Any, wait_ms: int) -> Callable[[], int]:
    texts = Formatted(Sequences(store, max_wait_ms=wait_ms).sequence("texts"), "{000}")
    return lambda: texts.parse(texts.next()).number


def user_taker(store: Any, wait_ms: int) -> Callable[[], int]:
    messages = users(store, step=10, max_wait_ms=wait_ms)
    return lambda: messages.next(7)


# Each returns a function that takes a number.
TAKERS: dict[str, Callable[[Any, int], Callable[[], int]]] = {
    "segments": lambda store, wait_ms: Segments(store, "orders", step=5, max_wait_ms=wait_ms).next,
    "sequences": lambda store, wait_ms: partial(Sequences(store, max_wait_ms=wait_ms).next, "invoices"),
    "tickets": lambda store, wait_ms: Tickets(store, "photos", max_wait_ms=wait_ms).next,
    "users": user_taker,
    "formatted": text_taker,
}
every_kind = pytest.mark.parametrize("taker", TAKERS.values(), ids=TAKERS)


@every_kind
def test_lost_answers_repeat_nothing(taker: Callable[[Any, int], Callable[[], int]]) -> None:
    store = Losing("add", "write")
    take: Callable[[], int] | None = None
    taken: list[int] = []
    while len(taken) < 25:
        with suppress(StoreUnavailableError):
            take = take or taker(store, PATIENT_MS)
            taken.append(take())
    assert taken == sorted(set(taken))
    assert store.requests > 1


class Hanging(Gated):
    """A store that hangs."""

    def read(self, key: str) -> tuple[bytes, int] | None:
        """As `Store.read`."""
        self.gate.wait(60)
        return super().read(key)


@every_kind
def test_a_store_that_hangs_ends_a_call_in_time_and_ctrl_c_sooner(
    taker: Callable[[Any, int], Callable[[], int]],
) -> None:
    store = Hanging()
    if taker not in (TAKERS["segments"], TAKERS["users"]):
        with pytest.raises(StoreUnavailableError, match=r"no answer within \d+ ms"):
            taker(store, 100)()
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        taker(store, 600_000)()
    store.gate.set()


@every_kind
def test_a_store_that_keeps_no_numbers_is_named(taker: Callable[[Any, int], Callable[[], int]], tmp_path: Path) -> None:
    with pytest.raises(InvalidStoreError, match="read, write, list and add"):
        taker(FileStore(tmp_path), PATIENT_MS)()
    for nothing in (5, None, object()):
        with pytest.raises(TypeError, match="read, write, list and add"):
            taker(nothing, PATIENT_MS)()
    with pytest.raises(InvalidStoreError):
        taker("gopher://host", PATIENT_MS)()
