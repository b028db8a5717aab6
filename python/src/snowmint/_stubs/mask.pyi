"""Masks of IDs."""

from typing import Any, Self, final
from uuid import UUID

from snowmint._stubs._arguments import Bytes, HasBytes, Int

@final
class Mask:
    """A reversible public form of 64-bit IDs, which shows neither time nor order.

    >>> from snowmint import Mask
    >>> mask = Mask("2b7e151628aed2a6abf7158809cf4f3c")
    >>> mask.decode(mask.encode(1541815603606036480))
    1541815603606036480

    It is FF1 of NIST SP 800-38G with AES-128. An ID of 63 bits becomes another one, which fits a signed `bigint`. With
    `digits` the numbers of up to that many decimal digits are masked among themselves:

    >>> Mask("2b7e151628aed2a6abf7158809cf4f3c", digits=10).encode(123456789)
    2433477484

    A mask hides, and does not authenticate: every number unmasks to some number, so check who may see an object.

    Args:
        key: The secret: 16 bytes, or 32 hexadecimal digits, as `secrets.token_hex(16)` makes them.
        tweak: Public bytes or a text, such as the name of a table, at most 64 bytes. Masks of one key with different
            tweaks are different.
        digits: 6 to 18.

    Raises:
        InvalidTextError: The key or the tweak has another length, or the key is not hexadecimal.
        InvalidIdError: The digits are out of range.
    """

    def __new__(cls, key: Bytes | str, *, tweak: Bytes | str | None = None, digits: Int | None = None) -> Self: ...
    def encode(self, id: Int) -> int:
        """The masked form of an ID.

        Raises:
            InvalidIdError: The ID is not from 0 to 2**63-1, or has more digits than the mask.
        """

    def decode(self, masked: Int) -> int:
        """The ID of a masked form.

        Raises:
            InvalidIdError: The number is not from 0 to 2**63-1, or has more digits than the mask.
        """

    def __reduce__(self) -> tuple[Any, ...]:
        """With its key: as secret as that."""

@final
class UuidMask:
    """A reversible public form of UUIDs of version 7, which looks like a version 4: `UUIDv47`.

    >>> from uuid import UUID
    >>> from snowmint import UuidMask
    >>> mask = UuidMask("efcdab89674523011032547698badcfe")
    >>> mask.encode(UUID("018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f"))
    UUID('2463c780-7fca-4def-8c3f-7b1a2c4d5e6f')
    >>> mask.decode(UUID("2463c780-7fca-4def-8c3f-7b1a2c4d5e6f"))
    UUID('018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f')

    The time is masked by SipHash-2-4 of the random bits, which stay as they are. It hides, and does not authenticate.

    Args:
        key: The secret: 16 bytes, or 32 hexadecimal digits. The first 8 bytes are `k0` of other implementations, the
            lowest byte first, and the others `k1`.

    Raises:
        InvalidTextError: The key has another length, or is not hexadecimal.
    """

    def __new__(cls, key: Bytes | str) -> Self: ...
    def encode(self, uuid: UUID | HasBytes) -> UUID:
        """The masked form of a version 7.

        Raises:
            InvalidIdError: The UUID has another version.
        """

    def decode(self, masked: UUID | HasBytes) -> UUID:
        """The version 7 of a masked form.

        Raises:
            InvalidIdError: The UUID has another version than 4.
        """

    def __reduce__(self) -> tuple[Any, ...]:
        """With its key: as secret as that."""
