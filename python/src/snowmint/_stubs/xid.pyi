"""XIDs."""

from datetime import datetime
from typing import Any, Self, final

from snowmint._stubs._arguments import Bytes, HasBytes, Instant, Int

@final
class XID:
    """An xid: 32 bits of Unix seconds, 40 bits of machine and process, a counter of 24.

    >>> from snowmint import XID
    >>> xid = XID("9m4e2mr0ui3e8a215n4g")
    >>> xid.timestamp.isoformat(), hex(xid.machine), xid.process, xid.counter
    ('2011-03-22T17:50:19+00:00', '0x60f486', 58408, 4271561)
    >>> XID() != XID()
    True

    Ordered as its text is, by the second; hashable, and made anew by pickles and copies.

    Args:
        value: 20 characters, 12 bytes, or an object that has them. Without it the xid is new, as by `xid`.

    Raises:
        InvalidTextError: The text is not an xid.
        InvalidIdError: The bytes are not 12.
    """

    def __new__(cls, value: str | HasBytes | Bytes | None = None) -> Self: ...
    @staticmethod
    def from_parts(timestamp: Instant, random: Int | None = None, counter: Int | None = None) -> XID:
        """The xid of an instant, rounded down to its second, of 40 bits and of 24.

        >>> from snowmint import XID
        >>> XID.from_parts(1300816219000, 0x60F486E428, 4271561)
        XID('9m4e2mr0ui3e8a215n4g')

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

    @property
    def machine(self) -> int:
        """The machine, 24 bits; random in xids of this package."""

    @property
    def process(self) -> int:
        """The process, 16 bits; random in xids of this package."""

    @property
    def counter(self) -> int:
        """The counter, 24 bits."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any: ...
    def __bytes__(self) -> Bytes: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __lt__(self, other: XID, /) -> bool: ...
    def __le__(self, other: XID, /) -> bool: ...
    def __gt__(self, other: XID, /) -> bool: ...
    def __ge__(self, other: XID, /) -> bool: ...
    def __reduce__(self) -> tuple[type[XID], tuple[Bytes]]: ...

def xid() -> XID:
    """A new xid.

    >>> import snowmint
    >>> first, second = snowmint.xid(), snowmint.xid()
    >>> first.machine == second.machine, first != second
    (True, True)

    The counter goes round after 2**24; if that is within a second, the second moves on, so that none comes twice. A
    forked child has other random bits.

    Raises:
        TimeOverflowError: The clock stands beyond the year 2106.
    """
