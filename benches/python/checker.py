"""Checks the IDs of a contender."""

import json
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

CHECKED = 300_000
"""The number of checked IDs, minted without a pause."""


def check(
    name: str, mint: Callable[[], Any], unix_ms: Callable[[Any], int] | None = None, *, ordered: bool = True
) -> None:
    """Mints IDs. Prints as a line of JSON whether some repeat, are out of order, or have a time in the future.

    Args:
        name: The name of the contender in the table.
        mint: Returns an ID.
        unix_ms: Reads the time of an ID.
        ordered: Whether IDs have an order.
    """
    ids, ahead_ms = [], 0
    for _ in range(CHECKED):
        id = mint()
        ids.append(id)
        if unix_ms:
            ahead_ms = max(ahead_ms, unix_ms(id) - time.time_ns() // 1_000_000)
    found = []
    if repeated := CHECKED - len(set(ids)):
        found.append(f"{repeated} of {CHECKED} repeat")
    if ordered and (below := sum(before >= after for before, after in pairwise(ids))):
        found.append(f"{below} of {CHECKED} out of order")
    if ahead_ms > 0:
        found.append(f"up to {ahead_ms} ms ahead of the clock")
    fine = "unique and increasing" if ordered else "unique"
    print(json.dumps({"checked": name, "verdict": ", ".join(found) or fine}), flush=True)
