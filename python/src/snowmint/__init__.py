"""Snowflake IDs: mint, read and write them, in any layout.

>>> from snowmint import Snowflake, layouts
>>> with Snowflake("twitter", node=5) as generator:
...     layouts.TWITTER.decode(generator.next_id()).node
5
"""

from snowmint import layouts, scatter, stores, text
from snowmint._errors import (
    BeforeEpochError,
    ClockBackwardsError,
    ExhaustedError,
    ForkedError,
    InvalidIdError,
    InvalidLayoutError,
    InvalidNodeError,
    InvalidTextError,
    NodesExhaustedError,
    SnowmintError,
    StoreUnavailableError,
    TimeOverflowError,
    UnsafeStoreError,
    WindowClosedError,
)
from snowmint._snowmint import Candidate, Layout, Parts, Snowflake, __version__, inspect

for _error in (SnowmintError, *SnowmintError.__subclasses__()):
    # The name under which users know it, in tracebacks and pickles.
    _error.__module__ = __name__

__all__ = [
    "BeforeEpochError",
    "Candidate",
    "ClockBackwardsError",
    "ExhaustedError",
    "ForkedError",
    "InvalidIdError",
    "InvalidLayoutError",
    "InvalidNodeError",
    "InvalidTextError",
    "Layout",
    "NodesExhaustedError",
    "Parts",
    "Snowflake",
    "SnowmintError",
    "StoreUnavailableError",
    "TimeOverflowError",
    "UnsafeStoreError",
    "WindowClosedError",
    "__version__",
    "inspect",
    "layouts",
    "scatter",
    "stores",
    "text",
]
