"""A worker in Python: leases and mints until SIGTERM, forks at SIGUSR1, and writes windows and IDs to ledgers.

worker.py STORE NAMESPACE LAYOUT WINDOW_MS MAX_WAIT_MS LEDGER SEED
"""

import array
import os
import random
import signal
import sys
import time
from pathlib import Path

import ledger
from snowmint import Snowflake, SnowmintError

EXPLAINED = ("EXHAUSTED", "CLOCK_BACKWARDS", "WINDOW_CLOSED", "NODES_EXHAUSTED", "STORE_UNAVAILABLE")
"""The errors that faults explain."""
REST_S = 0.02
LIFE_S = (1.2, 4.8)
CHILD_S = (0.5, 3.0)
RUN = 400

STORE, NAMESPACE, LAYOUT = sys.argv[1:4]
WINDOW_MS, MAX_WAIT_MS = (int(word) for word in sys.argv[4:6])
LEDGER = Path(sys.argv[6])
SEED = sys.argv[7]

signals: list[int] = []
"""The signals that have come and were not yet obeyed."""


def refuse_unexplained(error: SnowmintError) -> None:
    """Raises an error again if no fault explains it."""
    if error.code not in EXPLAINED:
        raise error


def mint(generator: Snowflake, book: ledger.Writer, chance: random.Random, end: float, inherited: bool) -> None:
    """Mints until a time, until the lease is lost, or until SIGTERM.

    Args:
        generator: The generator.
        book: The ledger.
        chance: Random numbers.
        end: The time, by the monotonic clock.
        inherited: Whether this is a child, which has no window before its first ID, and waits for a lease.
    """
    buffer = array.array("Q", bytes(8 * RUN))
    while time.monotonic() < end and signal.SIGTERM not in signals:
        if signal.SIGUSR1 in signals:
            signals.remove(signal.SIGUSR1)
            fork(generator, chance.random())
        if not inherited:
            note_window(generator, book)
        verb, count, code = chance.randrange(4), chance.randint(1, RUN), ""
        deadline_ms = ledger.UNCHECKED if inherited else 0 if verb == 1 else MAX_WAIT_MS
        ids: list[int] = []
        call = time.monotonic_ns()
        try:
            if verb == 0:
                ids = [generator.next_id()]
            elif verb == 1:
                ids = [generator.try_next_id()]
            elif verb == 2:
                ids = generator.next_ids(count)
            else:
                generator.fill(buffer)
                ids = buffer.tolist()
        except SnowmintError as error:
            refuse_unexplained(error)
            code = error.code
        back = time.monotonic_ns()
        if ids:
            # The renewer may have extended the window during the call.
            note_window(generator, book)
            book.minted(call, back, deadline_ms, ids)
            inherited = False
        else:
            book.refused(call, back, deadline_ms, code)
            if generator.status().lost is not None:
                return
        ledger.rest(chance.uniform(0, REST_S))


def note_window(generator: Snowflake, book: ledger.Writer) -> None:
    """Writes node and window down, if they are new."""
    if window := generator.window:
        book.granted(generator.node, *window)


def fork(generator: Snowflake, seed: float) -> None:
    """Starts a child that mints by the inherited generator for a while, and ends with or without a release."""
    if os.fork():
        return
    status = 1
    try:
        signals.clear()
        chance = random.Random(seed)
        book = ledger.Writer(LEDGER.with_name(f"{LEDGER.name}.{os.getpid()}"))
        book.opened(0, time.monotonic_ns())
        mint(generator, book, chance, time.monotonic() + chance.uniform(*CHILD_S), inherited=True)
        if chance.random() < 0.5:
            generator.close()
        status = 0
    # A child never returns to its parent's work.
    except BaseException as error:  # noqa: BLE001
        print(f"unexplained, in a child: {error!r}", file=sys.stderr, flush=True)
    finally:
        os._exit(status)


def main() -> None:
    """Leases again and again."""
    for each in (signal.SIGTERM, signal.SIGUSR1):
        signal.signal(each, lambda number, frame: signals.append(number))
    # No child is waited for.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    chance = random.Random(SEED)
    book = ledger.Writer(LEDGER.with_name(f"{LEDGER.name}.0"))
    number = 0
    while signal.SIGTERM not in signals:
        call = time.monotonic_ns()
        try:
            generator = Snowflake(
                LAYOUT, store=STORE, namespace=NAMESPACE, window_ms=WINDOW_MS, max_wait_ms=MAX_WAIT_MS
            )
        except SnowmintError as error:
            refuse_unexplained(error)
            ledger.rest(0.05)
            continue
        book.opened(number, call)
        number += 1
        try:
            mint(generator, book, chance, time.monotonic() + chance.uniform(*LIFE_S), inherited=False)
        finally:
            generator.close()


if __name__ == "__main__":
    main()
