"""Prefixed IDs, which name the kind of object: `user_1asd13xh1f800`, `user_01h455vb4pex5vsknk084sn02q`.

| value | characters after the prefix | text |
| --- | --- | --- |
| a 64-bit ID, an `int` | 13 | `user_1asd13xh1f800` |
| a `UUID` | 26 | a TypeID, as version 0.3 of its specification says |

A prefix has at most 63 characters `a-z` and `_`, and begins and ends with a letter; it may be empty. Reading is strict:
it refuses another prefix, upper case, the letters `i l o u`, and another length. Texts with one prefix sort like their
values.

`snowmint.PrefixedId` and `snowmint.TypeID` are types of such IDs.
"""

from typing import overload
from uuid import UUID

from snowmint._snowmint import prefix_decode_id, prefix_decode_uuid, prefix_encode, prefix_is_uuid

__all__ = ["decode", "encode"]

encode = prefix_encode


@overload
def decode(prefix: str, text: str) -> int | UUID: ...
@overload
def decode(prefix: str, text: str, kind: type[int]) -> int: ...
@overload
def decode(prefix: str, text: str, kind: type[UUID]) -> UUID: ...
def decode(prefix: str, text: str, kind: type[int | UUID] | None = None) -> int | UUID:
    """The 64-bit ID or the UUID of a text with this prefix.

    >>> from snowmint import prefix
    >>> prefix.decode("user", "user_1asd13xh1f800")
    1541815603606036480
    >>> prefix.decode("user", "user_01h455vb4pex5vsknk084sn02q")
    UUID('01890a5d-ac96-774b-bcce-b302099a8057')

    Args:
        prefix: The prefix that the text must have.
        text: The prefix, an underscore, and 13 or 26 characters.
        kind: `int` or `UUID`: the value that is needed. Without it the length of the text decides.

    Raises:
        InvalidTextError: Another prefix, another length, or a character that has no meaning.
    """
    is_uuid = prefix_is_uuid(text) if kind is None else issubclass(kind, UUID)
    return prefix_decode_uuid(prefix, text) if is_uuid else prefix_decode_id(prefix, text)
