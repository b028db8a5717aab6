"""A taker in Python: takes numbers of every kind from a store until it is killed, and writes them to ledgers.

taker.py KIND,... STORE DIRECTORY PACE_MS LIFE_MS

Each kind has a thread and a ledger in DIRECTORY, in the format of `snowmint-taker`.
"""

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ledger
from caller import USERS
from snowmint import NativeNumbers, Segments, Sequences, SnowmintError, Tickets, users
from snowmint.stores import connect

EXPLAINED = ("STORE_UNAVAILABLE", "EXHAUSTED", "WINDOW_CLOSED")
"""The errors that faults explain."""

SOURCES: dict[str, Callable[[Any], Any]] = {
    "segment": lambda store: Segments(store, "takes"),
    "ticket": lambda store: Tickets(store, "takes"),
    "sequence": Sequences,
    "cached": Sequences,
    "native": lambda store: NativeNumbers(store, "takes", step=20),
    # Does not wait for users whom another process serves.
    "user": lambda store: users(store, window_ms=1000, max_wait_ms=200, step=50),
}


def pause_after(error: SnowmintError) -> None:
    """Waits after an error that a fault explains, and raises any other one again."""
    if error.code not in EXPLAINED:
        raise error
    ledger.rest(0.02)


def take(kind: str, store: Any, directory: Path, pace_s: float, life_s: float) -> None:
    """Takes numbers of a kind until the process ends, and opens a new source from time to time."""
    file = os.open(directory / f"{kind}.{os.getpid()}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    session = 0
    while True:
        try:
            source = SOURCES[kind](store)
        except SnowmintError as error:
            pause_after(error)
            continue
        end = time.monotonic() + life_s * (1 + session % 4)
        turn = 0
        while time.monotonic() < end:
            whose = USERS[turn % len(USERS)] if kind == "user" else session
            call = time.monotonic_ns()
            try:
                match kind:
                    case "user":
                        number = source.next(whose)
                    case "sequence" | "cached":
                        number = source.next("takes" if kind == "sequence" else kind)
                    case _:
                        number = source.next()
                os.write(file, ledger.take(whose, number, call, time.monotonic_ns()))
            except SnowmintError as error:
                pause_after(error)
            turn += 1
            ledger.rest(pace_s)
        if hasattr(source, "close"):
            try:
                source.close()
            except SnowmintError as error:
                pause_after(error)
        session += 1


def main() -> None:
    """Starts the threads. An error of one of them ends the process."""
    kinds, url, directory, pace, life = sys.argv[1:6]
    store = connect(url)

    def end(failed: threading.ExceptHookArgs) -> None:
        print(f"unexplained: {failed.exc_value!r}", file=sys.stderr, flush=True)
        os._exit(1)

    threading.excepthook = end
    for kind in kinds.split(","):
        threading.Thread(target=take, args=(kind, store, Path(directory), int(pace) / 1000, int(life) / 1000)).start()


if __name__ == "__main__":
    main()
