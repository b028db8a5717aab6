"""ULIDs."""

from datetime import datetime
from typing import Any, Self, final
from uuid import UUID

from snowmint._stubs._arguments import Bytes, HasBytes, Instant, Int

@final
class ULID:
    """A ULID: 48 bits of Unix ms, then 80 random bits.

    >>> from snowmint import ULID
    >>> ulid = ULID("01ARZ3NDEKTSV4RRFFQ69G5FAV")
    >>> ulid.timestamp.isoformat(), ulid.to_uuid()
    ('2016-07-30T23:54:10.259000+00:00', UUID('01563e3a-b5d3-d676-4c61-efb99302bd5b'))
    >>> ULID() < ULID()
    True

    Ordered as its text is, by time; hashable, and made anew by pickles and copies.

    Args:
        value: 26 characters in either case, 16 bytes, or an object that has them, such as a UUID. Without it the ULID
            is new, as by `ulid`.

    Raises:
        InvalidTextError: The text is no ULID.
        InvalidIdError: The bytes are not 16.
    """

    def __new__(cls, value: str | HasBytes | Bytes | None = None) -> Self: ...
    @staticmethod
    def from_parts(timestamp: Instant, randomness: Int | None = None) -> ULID:
        """The ULID of an instant and 80 bits.

        >>> from snowmint import ULID
        >>> str(ULID.from_parts(1469918176385))
        '01ARYZ6S410000000000000000'

        Without bits it is the lowest of its ms: for ranges in queries.

        Args:
            timestamp: An aware datetime or Unix ms.
            randomness: 0 to 2**80-1; 0 if not given.

        Raises:
            InvalidIdError: The randomness does not fit.
            BeforeEpochError: The time is before 1970.
            TimeOverflowError: The time is beyond the year 10889.
        """

    @property
    def bytes(self) -> Bytes:
        """The 16 bytes."""

    @property
    def timestamp(self) -> datetime | None:
        """The time, in UTC; None where datetime cannot hold it."""

    @property
    def timestamp_ms(self) -> int:
        """The time, Unix ms."""

    @property
    def randomness(self) -> int:
        """The 80 random bits."""

    def to_uuid(self) -> UUID:
        """The UUID of the same 128 bits."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any: ...
    def __bytes__(self) -> Bytes: ...
    def __int__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __lt__(self, other: ULID, /) -> bool: ...
    def __le__(self, other: ULID, /) -> bool: ...
    def __gt__(self, other: ULID, /) -> bool: ...
    def __ge__(self, other: ULID, /) -> bool: ...
    def __reduce__(self) -> tuple[type[ULID], tuple[Bytes]]: ...

def ulid() -> ULID:
    """A new ULID, greater than every ULID that this process has minted.

    >>> import snowmint
    >>> snowmint.ulid() < snowmint.ulid()
    True

    So it is across threads, and when the clock stands still or steps back: then it is the last one plus 1. A forked
    child begins anew.

    Raises:
        ExhaustedError: The 80 bits of the last ms are used up, which takes a clock that stands still and luck.
    """

def ulid_str() -> str:
    """The text of a new ULID.

    >>> import snowmint
    >>> snowmint.ulid_str() < snowmint.ulid_str()
    True

    """
