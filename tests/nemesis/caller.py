"""A client of services: takes segments, sequences, tickets and numbers of users over HTTP, and writes them to ledgers.

caller.py DIRECTORY PACE_MS URL...

Each kind has a thread and a ledger, in the format of `snowmint-taker`. A user whose section another service holds is asked
for there.
"""

import http.client
import itertools
import json
import os
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import ledger

TIMEOUT_S = 3
USERS = (0, 1, 50_000, 99_999, 100_000, 199_999, 12_345_678, 2**64 - 1)
"""Users of every part of a section, of its neighbours, and the last one there can be."""
EXPLAINED = (408, 421, 429, 503)
"""Answers of a service whose store is away, or that does not hold the user's section."""
KINDS = {
    "segment": ("GET", "/v1/segments/takes"),
    "ticket": ("GET", "/v1/tickets/takes"),
    "sequence": ("POST", "/v1/sequences/takes/next"),
    "user": ("POST", "/v1/users/{}/next"),
}


def number_of(kind: str, answer: dict[str, object]) -> int:
    """Returns the number in an answer."""
    if kind == "segment":
        return int(str(answer["start"]))
    if kind == "sequence":
        values = answer["ids"]
        assert isinstance(values, list)
        return int(values[0])
    return int(str(answer["id"]))


def take(kind: str, directory: Path, pace_s: float, ports: list[int]) -> None:
    """Takes numbers of a kind until the process ends."""
    book = os.open(directory / f"{kind}.{os.getpid()}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    method, path = KINDS[kind]
    service = 0
    connection = connect(ports, service)
    for count in itertools.count():
        user = USERS[count % len(USERS)] if kind == "user" else 0
        call = time.monotonic_ns()
        status = 0
        try:
            connection.request(method, path.format(user))
            response = connection.getresponse()
            status, body = response.status, response.read()
            if status == 200:
                number = number_of(kind, json.loads(body))
                os.write(book, ledger.take(user, number, call, time.monotonic_ns()))
            elif status not in EXPLAINED:
                raise RuntimeError(f"{kind}: {status} {body!r}")
        except (OSError, http.client.HTTPException):
            connection.close()
        if status != 200:
            # The other service may have the store or the section.
            service += 1
            connection.close()
            connection = connect(ports, service)
            ledger.rest(0.02)
        ledger.rest(pace_s)


def connect(ports: list[int], service: int) -> http.client.HTTPConnection:
    """Returns a connection to one of the services, which opens when it is first used."""
    return http.client.HTTPConnection("127.0.0.1", ports[service % len(ports)], timeout=TIMEOUT_S)


def main() -> None:
    """Starts the threads. An error of one of them ends the process."""
    directory, pace_s = Path(sys.argv[1]), int(sys.argv[2]) / 1000
    ports = [port for url in sys.argv[3:] if (port := urlsplit(url).port)]

    def end(failed: threading.ExceptHookArgs) -> None:
        print(f"unexplained: {failed.exc_value!r}", file=sys.stderr, flush=True)
        os._exit(1)

    threading.excepthook = end
    for kind in KINDS:
        threading.Thread(target=take, args=(kind, directory, pace_s, ports)).start()


if __name__ == "__main__":
    main()
