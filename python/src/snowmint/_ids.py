"""IDs from outside, and IDs for a database column."""

import operator
from typing import SupportsIndex

from snowmint import InvalidIdError

MAX_ID = 2**64 - 1
MAX_BIGINT = 2**63 - 1


def number(value: object) -> int | None:
    """The number that an `int` is, also by `__index__`, or that a text of decimal digits names; None for all else."""
    if isinstance(value, str):
        # `int` takes blanks, signs, underscores and the digits of other scripts too, and is slow at very long texts.
        return int(value) if value.isascii() and value.isdigit() and len(value) <= 1000 else None
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        return None
    return operator.index(value)


def read(value: object) -> int | None:
    """Returns the ID of an `int` or of a text of 1 to 20 decimal digits; None for other values."""
    if isinstance(value, str) and len(value) > 20:
        return None
    found = number(value)
    return found if found is not None and 0 <= found <= MAX_ID else None


def for_bigint(value: object) -> int:
    """The ID as a signed 64-bit column takes it: never negative, so rows sort by time.

    Raises:
        TypeError: The value is not an `int`, and has no `__index__`.
        InvalidIdError: It is below 0 or above 2^63-1.
    """
    found = None if isinstance(value, str) else number(value)
    if found is None:
        raise TypeError(f"an ID is an int, not {type(value).__name__}")
    if found < 0:
        raise InvalidIdError(f"{found} is no ID: an ID is 0 or above")
    if found > MAX_BIGINT:
        raise InvalidIdError(
            f"ID {found} is above 2^63-1, the most that a signed BIGINT column holds: mint with a layout whose bit 63 "
            "stays 0, as `signed_until` tells"
        )
    return found
