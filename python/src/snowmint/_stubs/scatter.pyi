"""The functions of `snowmint.scatter`."""

from snowmint._stubs._arguments import Int

def rotate_digits(id: Int, digits: Int) -> int:
    """Moves the last `digits` decimal digits behind the first one.

    >>> from snowmint import scatter
    >>> scatter.rotate_digits(561632371724517376, 1)
    566163237172451737

    The first digit stays, so no zero comes to lead and the number of digits stays the same.

    Args:
        id: 0 to 2**63-1.
        digits: 0 to one less than the ID has.

    Raises:
        InvalidIdError: Out of range, or the result is above 2**63-1, which IDs from 9 * 10**18 on can come to.
    """

def unrotate_digits(id: Int, digits: Int) -> int:
    """The inverse of `rotate_digits`.

    >>> from snowmint import scatter
    >>> scatter.unrotate_digits(566163237172451737, 1)
    561632371724517376

    Raises:
        InvalidIdError: `rotate_digits` gives no such ID.
    """

def reverse_bits(id: Int) -> int:
    """Reverses the low 63 bits, so that the lowest bit becomes the highest; its own inverse.

    >>> from snowmint import scatter
    >>> scatter.reverse_bits(1) == 2**62, scatter.reverse_bits(2**62)
    (True, 1)

    Raises:
        InvalidIdError: The ID is not from 0 to 2**63-1.
    """

def shard_high(id: Int, bits: Int) -> int:
    """Puts one of 2**bits shard numbers on top, made of the low bits and a hash of the others.

    It spreads rows as TiDB's `AUTO_RANDOM(bits)` and `SHARD_ROW_ID_BITS` do, and it is reversible: of the 63
    bits the low `bits` move to the top, combined by exclusive or with a hash of the others, which move down. So the
    IDs of a shard are in order of time.

    >>> from snowmint import scatter
    >>> scattered = scatter.shard_high(1541815603606036480, 4)
    >>> scattered >> 59, scattered % 2**59 == 1541815603606036480 >> 4
    (1, True)

    Args:
        id: 0 to 2**63-1.
        bits: 0 to 63.

    Raises:
        InvalidIdError: Out of range.
    """

def unshard_high(id: Int, bits: Int) -> int:
    """The inverse of `shard_high`.

    >>> from snowmint import scatter
    >>> scatter.unshard_high(scatter.shard_high(1541815603606036480, 4), 4)
    1541815603606036480

    Raises:
        InvalidIdError: Out of range.
    """
