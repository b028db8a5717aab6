"""One exception for each kind of error; `str()` of it is a message that says how to make it right.

Holders, servers and drivers may have written parts of a message. Their control characters are escaped.
"""

from typing import Any, ClassVar

from snowmint._snowmint import shown


def _shown(part: Any) -> Any:
    # A lone surrogate represents a byte that is not text.
    return shown(part.encode(errors="backslashreplace").decode()) if isinstance(part, str) else part


class SnowmintError(Exception):
    """The base class of all errors of snowmint; `code` is the same word in every language."""

    code: ClassVar[str]

    def __init__(self, *args: Any) -> None:
        super().__init__(*map(_shown, args))


class ExhaustedError(SnowmintError):
    """The IDs that the clock allows so far are used up, or the numbers of a store."""

    code = "EXHAUSTED"
    retry_after_ms: int | None
    """The ms after which the same call can succeed, 1 or more; None at the end of durable numbers."""

    def __init__(self, message: str, retry_after_ms: int | None = None) -> None:
        super().__init__(message)
        self.retry_after_ms = retry_after_ms

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (*self.args, self.retry_after_ms), self.__dict__


class ClockBackwardsError(SnowmintError):
    """The clock reads earlier than the last ID by more than `max_ahead_ms`."""

    code = "CLOCK_BACKWARDS"
    by_ms: int
    """How many ms the clock lies behind the last ID."""

    def __init__(self, message: str, by_ms: int) -> None:
        super().__init__(message)
        self.by_ms = by_ms

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (*self.args, self.by_ms), self.__dict__


class WindowClosedError(SnowmintError):
    """The generator was closed, or its window of time is over."""

    code = "WINDOW_CLOSED"


class TimeOverflowError(SnowmintError):
    """The layout cannot represent a time that late."""

    code = "TIME_OVERFLOW"


class BeforeEpochError(SnowmintError):
    """The layout cannot represent a time that early."""

    code = "BEFORE_EPOCH"


class InvalidLayoutError(SnowmintError, ValueError):
    """A layout text or a combination of fields that breaks a rule, or an unknown preset."""

    code = "INVALID_LAYOUT"


class InvalidNodeError(SnowmintError, ValueError):
    """A node number or node field that the layout does not have room for."""

    code = "INVALID_NODE"


class InvalidIdError(SnowmintError, ValueError):
    """An ID, or a part of one, that the layout cannot have minted."""

    code = "INVALID_ID"


class InvalidTextError(SnowmintError, ValueError):
    """The text form of an ID is malformed."""

    code = "INVALID_TEXT"


class NodesExhaustedError(SnowmintError):
    """Every node of the namespace is taken."""

    code = "NODES_EXHAUSTED"
    retry_after_ms: int | None
    """The ms after which the same call can succeed, 1 or more, if it is known."""

    def __init__(self, message: str, retry_after_ms: int | None = None) -> None:
        super().__init__(message)
        self.retry_after_ms = retry_after_ms

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (*self.args, self.retry_after_ms), self.__dict__


class StoreUnavailableError(SnowmintError):
    """The store does not answer, or cannot be used at the moment."""

    code = "STORE_UNAVAILABLE"


class InvalidStoreError(SnowmintError, ValueError):
    """The configuration of the store is wrong: its URL, driver, database, user or permission."""

    code = "INVALID_STORE"


class UnsafeStoreError(SnowmintError):
    """The store's settings would let acknowledged writes vanish."""

    code = "UNSAFE_STORE"


class ForkedError(SnowmintError):
    """The process was forked, and this generator belongs to the parent."""

    code = "FORKED"
