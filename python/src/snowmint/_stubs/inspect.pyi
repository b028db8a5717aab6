"""Values of unknown origin."""

from datetime import datetime
from typing import Any, Literal, final

from snowmint._stubs._arguments import Instant, Int
from snowmint._stubs.layouts import Parts

@final
class Candidate:
    """A system that could have minted the inspected value.

    >>> from snowmint import inspect
    >>> inspect("01ARZ3NDEKTSV4RRFFQ69G5FAV", now=1790000000000)
    [Candidate(ulid, read as ulid: time 2016-07-30, 10.1 years before now)]

    Candidates are equal if they are the same reading of the same value, whenever it was inspected.
    """

    @property
    def kind(self) -> str:
        """The kind of the ID, such as `snowflake`, `uuid7`, `ulid` or `ksuid`.

        One of `snowflake`, `uuid1` to `uuid8`, `uuid_nil`, `uuid_max`, `uuid` (another variant or version), `ulid`,
        `object_id`, `type_id`, `ksuid`, `xid`, `firebase_push_id`, `cuid`, `scru128`, `redis_stream_id`,
        `xray_trace_id`, `aidx`.
        """

    @property
    def layout(self) -> str | None:
        """The name of the system of a snowflake, or None.

        The name of a preset, or of a system whose IDs are only read: `tiktok`, `linkedin`, `bluesky`, `pinterest`,
        `sentry`, `cockroachdb`, `tidb`, `clickhouse`, `tsid`, `seata`, `shardingsphere`, `hazelcast`,
        `yitter_typescript`, `yitter_csharp`.
        """

    @property
    def layout_text(self) -> str | None:
        """The text form of that layout, or None.

        Pinterest's IDs have no time, and so no layout.
        """

    @property
    def parts(self) -> Parts | None:
        """The parts of a snowflake under that layout, or None."""

    @property
    def form(self) -> str:
        """How the value was read, such as `integer`, `decimal`, `base62`, `uuid_braces`.

        One of `integer`, a name of `text.FORMS`, `base64url` (as Instagram writes IDs), `base32_sortable` (as Bluesky
        does), `prefixed`, `uuid`, `uuid_braces`, `uuid_urn`, `uuid_hex` (without hyphens), `uuid_swapped` (a version 1
        as MySQL's `UUID_TO_BIN(uuid, 1)` stores it), `ulid`, `object_id`, and the other kinds of texts by their name.
        """

    @property
    def timestamp(self) -> datetime | None:
        """The time in the ID, in UTC; None if the ID has no time or datetime cannot hold it."""

    @property
    def timestamp_ms(self) -> int | None:
        """The time in the ID, Unix ms; None if the ID has no time."""

    @property
    def timestamp_us(self) -> int | None:
        """The time in the ID in Unix microseconds; None if the ID has no time."""

    @property
    def confidence(self) -> Literal["high", "medium", "tied", "low", "unlikely"]:
        """How sure the place of the candidate is: `high`, `medium`, `tied`, `low` or `unlikely`.

        `high`: all others explain the ID far worse. `medium`: no other explains it as well. `tied`: another one
        explains it equally well. `low`: another one explains it better, or an ID of an unknown system would look the
        same. `unlikely`: its time speaks against it.
        """

    @property
    def plausible(self) -> bool:
        """False if the time in the ID makes the candidate unlikely."""

    @property
    def reason(self) -> str:
        """Why it is plausible or not: a short sentence."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]:
        """Inspects the value again."""

def inspect(value: Int | str, *, now: Instant | None = None) -> list[Candidate]:
    """Lists everything that could have minted a value, the most plausible first; of garbage, an empty list.

    The rank of a candidate depends on how common IDs of its system are, on its time, and on known facts about its other
    bits; `confidence` says how sure the rank is. For a number the list has every system that can decode it. Candidates
    with a time before their system began, within a day of their epoch or in the future come last.

    >>> from snowmint import inspect
    >>> first, *others = inspect("1541815603606036480", now=1790000000000)
    >>> first.layout, first.parts.node, first.confidence, first.reason
    ('twitter', 378, 'high', 'time 2022-06-28, 4.2 years before now; sequence 0')
    >>> inspect("DW1nTDiDvnF")[0].layout, inspect(6854717870488702213)[0].layout
    ('instagram', 'tiktok')
    >>> inspect("8c45583a-0e1f-11ec-804d-005056219395")[0].kind
    'uuid1'
    >>> inspect("garbage")
    []

    Args:
        value: An int of any size (a negative one is the signed form of 64 bits), or a text: a 64-bit ID in decimal, in
            hex with or without `0x`, in base 32, 36, 58 or 62 of full width, in base 64 as Instagram writes it, in base
            32 as Bluesky writes it, or with a prefix; a UUID, also in braces, after `urn:uuid:` or without hyphens; a
            ULID, ObjectId, TypeID, KSUID, xid, push ID of Firebase, cuid, SCRU128 ID, ID of a stream in Redis, trace ID
            of X-Ray, or aidx of Misskey.
        now: The present, by which times are judged: an aware datetime or Unix ms. The system's clock if not given.

    Raises:
        TypeError: The value is neither int nor str.
        ValueError: The datetime is naive.
    """

def candidate(value: Int | str, now: Instant, kind: str, layout: str | None, form: str) -> Candidate:
    """Finds a candidate again, for pickles and copies."""
