"""The extension of the package: all names, from the files of `_stubs`."""

from typing import Final

from snowmint._stubs.audit import (
    AuditFinding,
    AuditNode,
    AuditReport,
    audit,
    audit_finding,
    audit_node,
    audit_report,
)
from snowmint._stubs.command_line import main
from snowmint._stubs.errors import error_classes, shown
from snowmint._stubs.formatted import Formatted
from snowmint._stubs.inspect import Candidate, candidate, inspect
from snowmint._stubs.ksuid import KSUID, ksuid
from snowmint._stubs.layouts import Layout, Parts, find_layout, presets
from snowmint._stubs.mask import Mask, UuidMask
from snowmint._stubs.native import NativeNumbers
from snowmint._stubs.object_id import ObjectId, object_id
from snowmint._stubs.prefix import prefix_decode_id, prefix_decode_uuid, prefix_encode, prefix_is_uuid, type_id_parts
from snowmint._stubs.scatter import reverse_bits, rotate_digits, shard_high, unrotate_digits, unshard_high
from snowmint._stubs.segments import Call, Segments
from snowmint._stubs.sequences import Sequence, Sequences, virtual_range
from snowmint._stubs.snowflake import Snowflake, Stop, after_fork_in_parent, before_fork, release_leases
from snowmint._stubs.sql import SqlParts, postgres_wide_function
from snowmint._stubs.stores import (
    engine_settings,
    is_overtaken,
    is_run_out,
    is_undone,
    misconfigured,
    refuse_lossy_place,
    refuse_unsafe,
    standby_risk,
)
from snowmint._stubs.text import text_decode, text_encode, text_forms
from snowmint._stubs.tickets import Tickets
from snowmint._stubs.ulid import ULID, ulid, ulid_str
from snowmint._stubs.users import Users, users
from snowmint._stubs.uuids import (
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
)
from snowmint._stubs.xid import XID, xid

__all__ = [
    "AuditFinding",
    "AuditNode",
    "AuditReport",
    "Call",
    "Candidate",
    "Formatted",
    "KSUID",
    "Layout",
    "Mask",
    "NativeNumbers",
    "ObjectId",
    "Parts",
    "Segments",
    "Sequence",
    "Sequences",
    "Snowflake",
    "SqlParts",
    "Stop",
    "Tickets",
    "ULID",
    "Users",
    "UuidMask",
    "XID",
    "__version__",
    "after_fork_in_parent",
    "audit",
    "audit_finding",
    "audit_node",
    "audit_report",
    "before_fork",
    "candidate",
    "engine_settings",
    "error_classes",
    "find_layout",
    "inspect",
    "is_overtaken",
    "is_run_out",
    "is_undone",
    "ksuid",
    "main",
    "misconfigured",
    "object_id",
    "postgres_wide_function",
    "prefix_decode_id",
    "prefix_decode_uuid",
    "prefix_encode",
    "prefix_is_uuid",
    "presets",
    "refuse_lossy_place",
    "refuse_unsafe",
    "release_leases",
    "reverse_bits",
    "rotate_digits",
    "shard_high",
    "shown",
    "standby_risk",
    "text_decode",
    "text_encode",
    "text_forms",
    "type_id_parts",
    "ulid",
    "ulid_str",
    "unrotate_digits",
    "unshard_high",
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
    "virtual_range",
    "xid",
]

__version__: Final[str]

# Only for the stores of this package.
MYSQL_CLOCK: Final[str]
MYSQL_FLUSH: Final[str]
MYSQL_GUARD: Final[str]
MYSQL_LEAF: Final[str]
MYSQL_NEXTVAL: Final[str]
MYSQL_OBJECT: Final[str]
MYSQL_SCHEMA: Final[str]
MYSQL_SEQUENCE: Final[str]
MYSQL_TABLES: Final[str]
POSTGRES_ADD: Final[str]
POSTGRES_CLOCK: Final[str]
POSTGRES_CURE: Final[str]
POSTGRES_EXISTING: Final[str]
POSTGRES_INSERT: Final[str]
POSTGRES_LEAF: Final[str]
POSTGRES_NEXTVAL: Final[str]
POSTGRES_OBJECT: Final[str]
POSTGRES_RAISE: Final[str]
POSTGRES_READ: Final[str]
POSTGRES_SCHEMA: Final[str]
POSTGRES_SEQUENCE: Final[str]
POSTGRES_SETTINGS: Final[str]
POSTGRES_UPDATE: Final[str]
SQLITE_SCHEMA: Final[str]
REDIS_LOOK: Final[str]
REDIS_WRITE: Final[str]
REDIS_ADD: Final[str]
SERVICE_REFUSALS: Final[list[str]]
SERVICE_TOKEN_REFUSED: Final[str]
SERVICE_NOT_SNOWMINT: Final[str]
