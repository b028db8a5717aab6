"""An application that Celery's worker loads before it forks its pool, with a generator that has already minted."""

import json
import os
import time
from typing import Any

from celery import Celery  # type: ignore[import-untyped]

from snowmint import ForkedError, Snowflake

app = Celery("celery_app")
app.conf.update(json.loads(os.environ["CELERY_SETTINGS"]))

leased = Snowflake(namespace="tasks", max_wait_ms=60_000)
vouched = Snowflake("twitter", node=5)
first = [leased.next_id(), vouched.next_id()]


@app.task  # type: ignore[untyped-decorator]
def mint() -> dict[str, Any]:
    """500 IDs of the lease, and the outcome for the vouched node."""
    try:
        refusal = str(vouched.next_id())
    except ForkedError as error:
        refusal = error.code
    ids = [leased.next_id() for _ in range(500)]
    # Long enough for other processes to get their share of the tasks.
    time.sleep(0.1)
    return {"pid": os.getpid(), "node": leased.node, "first": first[0], "vouched": refusal, "ids": ids}
