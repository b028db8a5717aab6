"""An application that gunicorn loads before it forks its workers, with a generator that has already minted."""

import json
import os
import time
from collections.abc import Callable, Iterable
from typing import Any

from snowmint import ForkedError, Snowflake

leased = Snowflake(namespace="requests", max_wait_ms=60_000)
vouched = Snowflake("twitter", node=5)
first = [leased.next_id(), vouched.next_id()]


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """500 IDs of the lease, and the outcome for the vouched node."""
    try:
        refusal = str(vouched.next_id())
    except ForkedError as error:
        refusal = error.code
    ids = [str(leased.next_id()) for _ in range(500)]
    answer = {"pid": os.getpid(), "node": leased.node, "first": first[0], "vouched": refusal, "ids": ids}
    # Long enough for other workers to get their share of the requests.
    time.sleep(0.02)
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(answer).encode()]
