"""The functions of `snowmint.prefix`."""

from uuid import UUID

from snowmint._stubs._arguments import HasBytes, Int

def prefix_encode(prefix: str, id: Int | UUID | HasBytes) -> str:
    """The text of a 64-bit ID or a UUID after a prefix.

    >>> from uuid import UUID
    >>> from snowmint import prefix
    >>> prefix.encode("user", 1541815603606036480)
    'user_1asd13xh1f800'
    >>> prefix.encode("user", UUID("01890a5d-ac96-774b-bcce-b302099a8057"))
    'user_01h455vb4pex5vsknk084sn02q'

    Args:
        prefix: At most 63 characters `a-z` and `_`, with a letter at each end; or empty.
        id: 64 bits, of which a negative number is the signed form; or a UUID, or what has its 16 bytes.

    Raises:
        InvalidTextError: The prefix is not valid.
        InvalidIdError: The number has more than 64 bits, or the bytes are not 16.
    """

def prefix_decode_id(prefix: str, text: str) -> int:
    """The 64-bit ID of a text with this prefix.

    Raises:
        InvalidTextError: Another prefix, another length, or a character that has no meaning.
    """

def prefix_decode_uuid(prefix: str, text: str) -> UUID:
    """The UUID of a text with this prefix.

    Raises:
        InvalidTextError: Another prefix, another length, or a character that has no meaning.
    """

def prefix_is_uuid(text: str) -> bool:
    """Whether the part after the prefix is as long as a UUID in a `TypeID`."""

def type_id_parts(text: str) -> tuple[str, UUID]:
    """The prefix and the UUID of a `TypeID`.

    Raises:
        InvalidTextError: The text is not a TypeID.
    """
