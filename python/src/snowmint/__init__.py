"""Snowflake IDs: mint, read and write them, in any layout; and UUIDs, ULIDs, ObjectIds and durable numbers beside them.

>>> from snowmint import Snowflake, layouts
>>> with Snowflake("twitter", node=5) as generator:
...     layouts.TWITTER.decode(generator.next_id()).node
5
"""

from typing import Final
from uuid import UUID

from snowmint import layouts, prefix, scatter, sequence, stores, text
from snowmint._children import watch_forks
from snowmint._errors import (
    BeforeEpochError,
    ClockBackwardsError,
    ExhaustedError,
    ForkedError,
    InvalidIdError,
    InvalidLayoutError,
    InvalidNodeError,
    InvalidStoreError,
    InvalidTextError,
    NodesExhaustedError,
    SnowmintError,
    StoreUnavailableError,
    TimeOverflowError,
    UnsafeStoreError,
    WindowClosedError,
)
from snowmint._prefixed import PrefixedId, TypeID
from snowmint._reading import Reading
from snowmint._snowmint import (
    KSUID,
    ULID,
    XID,
    AuditFinding,
    AuditNode,
    AuditReport,
    Candidate,
    Formatted,
    Layout,
    Mask,
    NativeNumbers,
    ObjectId,
    Parts,
    Segments,
    Sequence,
    Sequences,
    Snowflake,
    SqlParts,
    Tickets,
    Users,
    UuidMask,
    __version__,
    audit,
    inspect,
    ksuid,
    object_id,
    postgres_wide_function,
    ulid,
    ulid_str,
    users,
    uuid1,
    uuid3,
    uuid4,
    uuid4_str,
    uuid5,
    uuid6,
    uuid7,
    uuid7_range,
    uuid7_str,
    uuid8,
    uuid_from_bin,
    uuid_from_text,
    uuid_to_bin,
    uuid_to_text,
    xid,
)
from snowmint._status import Status
from snowmint._window import Window

UUID_NIL: Final = UUID(int=0)
"""The nil UUID: all bits 0."""
UUID_MAX: Final = UUID(int=2**128 - 1)
"""The max UUID: all bits 1."""

watch_forks()

for _error in (SnowmintError, *SnowmintError.__subclasses__()):
    # The name under which users know it, in tracebacks and pickles.
    _error.__module__ = __name__

__all__ = [
    "AuditFinding",
    "AuditNode",
    "AuditReport",
    "BeforeEpochError",
    "Candidate",
    "ClockBackwardsError",
    "ExhaustedError",
    "ForkedError",
    "Formatted",
    "InvalidIdError",
    "InvalidLayoutError",
    "InvalidNodeError",
    "InvalidStoreError",
    "InvalidTextError",
    "KSUID",
    "Layout",
    "Mask",
    "NativeNumbers",
    "NodesExhaustedError",
    "ObjectId",
    "Parts",
    "PrefixedId",
    "Reading",
    "Segments",
    "Sequence",
    "Sequences",
    "Snowflake",
    "SnowmintError",
    "SqlParts",
    "Status",
    "StoreUnavailableError",
    "Tickets",
    "TimeOverflowError",
    "TypeID",
    "ULID",
    "UUID_MAX",
    "UUID_NIL",
    "UnsafeStoreError",
    "Users",
    "UuidMask",
    "Window",
    "WindowClosedError",
    "XID",
    "__version__",
    "audit",
    "inspect",
    "ksuid",
    "layouts",
    "object_id",
    "postgres_wide_function",
    "prefix",
    "scatter",
    "sequence",
    "stores",
    "text",
    "ulid",
    "ulid_str",
    "users",
    "uuid1",
    "uuid3",
    "uuid4",
    "uuid4_str",
    "uuid5",
    "uuid6",
    "uuid7",
    "uuid7_range",
    "uuid7_str",
    "uuid8",
    "uuid_from_bin",
    "uuid_from_text",
    "uuid_to_bin",
    "uuid_to_text",
    "xid",
]
