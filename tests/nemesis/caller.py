"""A client of services over HTTP: takes IDs, segments, sequences, tickets and numbers of users, and writes them to ledgers.

caller.py DIRECTORY PACE_MS LEDGER|- URL...

Each kind has a thread and a ledger in DIRECTORY, in the format of `snowmint-taker`. IDs go to LEDGER, unless it is `-`. The
services are asked in turn. A user whose section another process holds is asked for at the next service.
"""

import http.client
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import ledger

TIMEOUT_S = 3
REQUESTS = 50
"""After this many requests a thread turns to the next service."""
USERS = (0, 1, 50_000, 99_999, 100_000, 199_999, 12_345_678, 2**64 - 1)
"""Users of every part of a section, of its neighbours, and the last one there can be."""
EXPLAINED = (408, 421, 429, 503)
"""Answers of a service whose store is unreachable, or that does not hold the user's section."""
KINDS = {
    "id": ("GET", "/v1/ids?count={count}00"),
    "segment": ("GET", "/v1/segments/takes?count={count}"),
    "ticket": ("GET", "/v1/tickets/takes?count={count}"),
    "sequence": ("POST", "/v1/sequences/takes/next?count={count}"),
    "cached": ("POST", "/v1/sequences/cached/next?count={count}"),
    "user": ("POST", "/v1/users/{user}/next?count={count}"),
}

Write = Callable[[int, int, int, int, list[int]], None]
"""Writes numbers down: number of the service, session or user, call, return, numbers."""


def numbers_of(answer: dict[str, str | list[str]]) -> list[int]:
    """Returns the numbers in an answer."""
    match answer:
        case {"ids": [*numbers]}:
            return [int(number) for number in numbers]
        case {"id": str(number)}:
            return [int(number)]
        case {"start": str(start), "end": str(end)}:
            return list(range(int(start), int(end)))
    raise RuntimeError(f"an answer without numbers: {answer}")


def writer(kind: str, directory: Path, ids: str) -> Write:
    """Opens the ledger of a kind."""
    if kind == "id":
        book = ledger.Writer(Path(ids))

        def write_ids(service: int, session: int, call: int, back: int, numbers: list[int]) -> None:
            book.served(service, session, call)
            book.minted(call, back, ledger.UNCHECKED, numbers)

        return write_ids
    file = os.open(directory / f"{kind}.{os.getpid()}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def write_takes(service: int, whose: int, call: int, back: int, numbers: list[int]) -> None:
        os.write(file, b"".join(ledger.take(whose, number, call, back) for number in numbers))

    return write_takes


def take(kind: str, write: Write, pace_s: float, ports: list[int]) -> None:
    """Takes numbers of a kind until the process ends. A session is a connection, which leads to one process."""
    method, path = KINDS[kind]
    session, since = 0, 0
    connection = connect(ports[0])
    turn = 0
    while True:
        user = USERS[turn % len(USERS)]
        call = time.monotonic_ns()
        is_over = turn == since + REQUESTS
        turn += 1
        try:
            connection.request(method, path.format(count=1 + turn % 7, user=user))
            response = connection.getresponse()
            body = response.read()
            back = time.monotonic_ns()
            if response.status == 200:
                whose = user if kind == "user" else session
                write(session % len(ports), whose, call, back, numbers_of(json.loads(body)))
            elif response.status in EXPLAINED:
                is_over = True
            else:
                raise RuntimeError(f"{kind}: {response.status} {body!r}")
        except (OSError, http.client.HTTPException):
            is_over = True
        if is_over:
            # The next service may have the store or the section.
            session, since = session + 1, turn
            connection.close()
            connection = connect(ports[session % len(ports)])
            ledger.rest(0.02)
        ledger.rest(pace_s)


def connect(port: int) -> http.client.HTTPConnection:
    """Opens a connection. If it breaks, requests fail: a new one might lead to another process."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    connection.auto_open = 0
    try:
        connection.connect()
    except OSError:
        # The first request fails.
        connection.close()
    return connection


def main() -> None:
    """Starts the threads. An error of one of them ends the process."""
    directory, pace_s, ids = Path(sys.argv[1]), int(sys.argv[2]) / 1000, sys.argv[3]
    ports = [port for url in sys.argv[4:] if (port := urlsplit(url).port)]

    def end(failed: threading.ExceptHookArgs) -> None:
        print(f"unexplained: {failed.exc_value!r}", file=sys.stderr, flush=True)
        os._exit(1)

    threading.excepthook = end
    for kind in KINDS:
        if kind != "id" or ids != "-":
            threading.Thread(target=take, args=(kind, writer(kind, directory, ids), pace_s, ports)).start()


if __name__ == "__main__":
    main()
