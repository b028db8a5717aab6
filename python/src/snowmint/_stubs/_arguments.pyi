"""Types of arguments."""

from datetime import datetime
from typing import Any, Protocol, SupportsIndex, TypeAlias

# An int, or an object with `__index__`, such as a numpy integer. A bool is refused.
Int: TypeAlias = SupportsIndex

# A datetime64 of numpy, which need not be installed.
class Datetime64(Protocol):
    def astype(self, dtype: str, /) -> Any: ...

# An aware datetime, a datetime64 in UTC, or Unix ms.
Instant: TypeAlias = datetime | Datetime64 | Int

# A name for `bytes` in classes whose property has that name.
Bytes: TypeAlias = bytes

class HasBytes(Protocol):
    @property
    def bytes(self) -> Bytes: ...

# numpy declares its buffers for type checkers only from Python 3.12 on.
class Array(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
