"""Scatters IDs for databases that split tables by ranges of keys. Works on texts of digits and bits."""

from errors import Refused

MAX_SCATTERED = 2**63 - 1
BITS = 63


def rotate_digits(value: int, by: int) -> int:
    """The last `by` decimal digits behind the first one."""
    digits = _digits(value, by)
    at = len(digits) - by
    return _checked(int(digits[0] + digits[at:] + digits[1:at]))


def unrotate_digits(value: int, by: int) -> int:
    """The `by` decimal digits behind the first one at the end."""
    digits = _digits(value, by)
    return _checked(int(digits[0] + digits[1 + by :] + digits[1 : 1 + by]))


def reverse_bits(value: int) -> int:
    """The low 63 bits from the lowest to the highest."""
    return int(f"{_checked(value):063b}"[::-1], 2)


def shard_high(value: int, by: int) -> int:
    """The low `by` bits, each turned over where a hash of the others has a 1, above the others."""
    bits = _bits(value, by)
    rest, low = bits[: BITS - by], bits[BITS - by :]
    return int(_exclusive_or(low, _hash(rest)) + rest, 2)


def unshard_high(value: int, by: int) -> int:
    """The inverse of `shard_high`."""
    bits = _bits(value, by)
    high, rest = bits[:by], bits[by:]
    return int(rest + _exclusive_or(high, _hash(rest)), 2)


def _checked(value: int) -> int:
    if not 0 <= value <= MAX_SCATTERED:
        raise Refused("INVALID_ID")
    return value


def _digits(value: int, by: int) -> str:
    digits = str(_checked(value))
    if not 0 <= by < len(digits):
        raise Refused("INVALID_ID")
    return digits


def _bits(value: int, by: int) -> str:
    if not 0 <= by <= BITS:
        raise Refused("INVALID_ID")
    return f"{_checked(value):063b}"


def _exclusive_or(bits: str, others: str) -> str:
    return "".join("1" if bit != other else "0" for bit, other in zip(bits, others, strict=False))


def _hash(rest: str) -> str:
    """The 64 bits of SplitMix64's output function, of the number after `rest` times the golden ratio."""
    value = (int(rest or "0", 2) + 1) * 0x9E3779B97F4A7C15 % 2**64
    value = (value ^ value // 2**30) * 0xBF58476D1CE4E5B9 % 2**64
    value = (value ^ value // 2**27) * 0x94D049BB133111EB % 2**64
    return f"{value ^ value // 2**31:064b}"
