"""Claimers of one namespace that all begin at once, at a service: the time until the last claim has ended.

The arguments are the program, and the URLs of the stores that the service uses in turn.
"""

import http.client
import json
import secrets
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Barrier
from time import monotonic

from measure import free_port, running

CLAIMERS = (1, 16, 64, 256, 1024)
ROUNDS = 3
MOST = "8192"
"""The most connections that the service may have."""


def claim(port: int, namespace: str, begin: Barrier) -> tuple[float, int | None, str]:
    """Claims a node. Returns the time at the end, and the node or the reason for the refusal."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    body = json.dumps({"nonce": secrets.token_hex(16), "window_ms": 3_600_000})
    begin.wait()
    try:
        connection.request("POST", f"/v1/namespaces/{namespace}/leases", body, {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
    except (OSError, http.client.HTTPException) as error:
        answer = {"detail": repr(error)}
    finally:
        connection.close()
    return monotonic(), answer.get("node"), answer.get("detail", "")


def herd(port: int, namespace: str, claimers: int) -> tuple[float, list[str]]:
    """Returns the ms until the last claim ended, and the reasons of failed claims."""
    begin = Barrier(claimers + 1)
    with ThreadPoolExecutor(claimers) as pool:
        claims = [pool.submit(claim, port, namespace, begin) for _ in range(claimers)]
        begin.wait()
        since = monotonic()
        ended, nodes, why = zip(*(each.result() for each in claims), strict=True)
    granted = [node for node in nodes if node is not None]
    assert len(set(granted)) == len(granted), "a node was granted twice"
    return (max(ended) - since) * 1000, [each for each in why if each]


def main() -> None:
    """Measures each store."""
    program, *urls = sys.argv[1:]
    for url in urls:
        with ExitStack() as stack:
            directory = Path(stack.enter_context(TemporaryDirectory()))
            port = free_port()
            store = url.replace("DIRECTORY", str(directory))
            words = [program, "serve", "--store", store, "--http", f"127.0.0.1:{port}"]
            limits = ["--max-connections", MOST, "--max-connections-per-address", MOST]
            stack.enter_context(running([*words, *limits], port))
            rows = []
            for claimers in CLAIMERS:
                rounds = [herd(port, f"herd-{claimers}-{number}", claimers) for number in range(ROUNDS)]
                took_ms = [each for each, _ in rounds]
                failed = [why for _, each in rounds for why in each]
                low, *_, high = statistics.quantiles(took_ms, n=10, method="inclusive")
                note = f"{len(failed)} of {claimers * ROUNDS} failed" + (f": {failed[0]}" if failed else "")
                median = statistics.median(took_ms)
                rows.append({"name": f"claimers: {claimers}", "p10": low, "median": median, "p90": high, "note": note})
        scheme = url.partition(":")[0]
        print(
            json.dumps({"title": f"Claimers at once at a service over {scheme}", "unit": "ms", "rows": rows}),
            flush=True,
        )


if __name__ == "__main__":
    main()
