"""KSUIDs."""

from datetime import datetime
from typing import Any, Self, final

from snowmint._stubs._arguments import Bytes, HasBytes, Instant

@final
class KSUID:
    """A KSUID: 32 bits of seconds since 2014-05-13, then 128 random bits.

    >>> from snowmint import KSUID
    >>> ksuid = KSUID("0ujtsYcgvSTl8PAuAdqWYSMnLOv")
    >>> ksuid.timestamp.isoformat(), ksuid.payload.hex()
    ('2017-10-10T04:00:47+00:00', 'b5a1cd34b5f99d1154fb6853345c9735')
    >>> KSUID() != KSUID()
    True

    Ordered as its text is, by the second; hashable, and made anew by pickles and copies.

    Args:
        value: 27 characters, 20 bytes, or an object that has them. Without it the KSUID is new, as by `ksuid`.

    Raises:
        InvalidTextError: The text is not a KSUID.
        InvalidIdError: The bytes are not 20.
    """

    def __new__(cls, value: str | HasBytes | Bytes | None = None) -> Self: ...
    @staticmethod
    def from_parts(timestamp: Instant, payload: HasBytes | Bytes | None = None) -> KSUID:
        """The KSUID of an instant, rounded down to its second, and 16 random bytes.

        >>> from snowmint import KSUID
        >>> str(KSUID.from_parts(1507608047000))
        '0ujtsT5xN49RIv7vRkXBy3rhkHI'

        Without bytes it is the lowest of its second: for ranges in queries.

        Raises:
            InvalidIdError: The bytes are not 16.
            BeforeEpochError: The time is before 2014-05-13.
            TimeOverflowError: The time is beyond the year 2150.
        """

    @property
    def bytes(self) -> Bytes:
        """The 20 bytes."""

    @property
    def timestamp(self) -> datetime:
        """The time, a whole second, in UTC."""

    @property
    def timestamp_ms(self) -> int:
        """The time, a whole second, in Unix ms."""

    @property
    def payload(self) -> Bytes:
        """The 16 random bytes."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any: ...
    def __bytes__(self) -> Bytes: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __lt__(self, other: KSUID, /) -> bool: ...
    def __le__(self, other: KSUID, /) -> bool: ...
    def __gt__(self, other: KSUID, /) -> bool: ...
    def __ge__(self, other: KSUID, /) -> bool: ...
    def __reduce__(self) -> tuple[type[KSUID], tuple[Bytes]]: ...

def ksuid() -> KSUID:
    """A new KSUID.

    >>> import snowmint
    >>> snowmint.ksuid() != snowmint.ksuid()
    True

    KSUIDs of the same second have no order.

    Raises:
        TimeOverflowError: The clock stands beyond the year 2150.
    """
