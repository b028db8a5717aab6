"""ObjectIds."""

from datetime import datetime
from typing import Any, Self, final

from snowmint._stubs._arguments import Bytes, HasBytes, Instant, Int

@final
class ObjectId:
    """An `ObjectId` of `MongoDB`: 32 bits of Unix seconds, 40 random bits of the process, a counter of 24 bits.

    >>> from snowmint import ObjectId
    >>> id = ObjectId("507f1f77bcf86cd799439011")
    >>> id.timestamp.isoformat(), id.bytes.hex()
    ('2012-10-17T21:13:27+00:00', '507f1f77bcf86cd799439011')
    >>> ObjectId() != ObjectId()
    True

    Ordered as its text is, by the second; hashable, and made anew by pickles and copies. `inspect` shows the other
    parts, also of IDs from before 2018, with machine and process in the middle. For pymongo: `bson.ObjectId(id.bytes)`.

    Args:
        value: 24 hexadecimal digits in either case, 12 bytes, or what has them. Without it the ObjectId is new, as
            by `object_id`.

    Raises:
        InvalidTextError: The text is no ObjectId.
        InvalidIdError: The bytes are not 12.
    """

    def __new__(cls, value: str | HasBytes | Bytes | None = None) -> Self: ...
    @staticmethod
    def from_parts(timestamp: Instant, random: Int | None = None, counter: Int | None = None) -> ObjectId:
        """The `ObjectId` of an instant, rounded down to its second, of 40 bits and of 24.

        >>> from datetime import UTC, datetime
        >>> from snowmint import ObjectId
        >>> ObjectId.from_parts(datetime(2012, 10, 17, tzinfo=UTC))
        ObjectId('507df5000000000000000000')

        Without bits it is the lowest of its second: for ranges in queries.

        Raises:
            InvalidIdError: A number does not fit.
            BeforeEpochError: The time is before 1970.
            TimeOverflowError: The time is beyond the year 2106.
        """

    @property
    def bytes(self) -> Bytes:
        """The 12 bytes."""

    @property
    def timestamp(self) -> datetime:
        """The time, a whole second, in UTC."""

    @property
    def timestamp_ms(self) -> int:
        """The time, a whole second, in Unix ms."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any: ...
    def __bytes__(self) -> Bytes: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __lt__(self, other: ObjectId, /) -> bool: ...
    def __le__(self, other: ObjectId, /) -> bool: ...
    def __gt__(self, other: ObjectId, /) -> bool: ...
    def __ge__(self, other: ObjectId, /) -> bool: ...
    def __reduce__(self) -> tuple[type[ObjectId], tuple[Bytes]]: ...

def object_id() -> ObjectId:
    """A new `ObjectId`.

    >>> import snowmint
    >>> first, second = snowmint.object_id(), snowmint.object_id()
    >>> first.bytes[4:9] == second.bytes[4:9], first != second
    (True, True)

    The counter goes round after 2**24; if that is within a second, the second moves on, so that none comes twice. A
    forked child has other random bits.

    Raises:
        TimeOverflowError: The clock stands beyond the year 2106.
    """
