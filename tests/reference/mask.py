"""Masks: FF1 of NIST SP 800-38G with AES-128, and UUIDv47 with SipHash-2-4."""

from errors import Refused

MAX_63 = 2**63 - 1


def _times(a: int, b: int) -> int:
    """The product of two bytes in the field of AES (FIPS 197, section 4.2)."""
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a = a << 1 ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product


def _substitute(byte: int) -> int:
    """The S-box (section 5.1.1): the inverse in the field, then an affine map."""
    inverse = 1
    for _ in range(254):
        inverse = _times(inverse, byte)
    turned = inverse
    for turn in range(1, 5):
        turned ^= (inverse << turn | inverse >> (8 - turn)) & 0xFF
    return turned ^ 0x63


_S_BOX = [_substitute(byte) for byte in range(256)]


def _round_keys(key: bytes) -> list[list[int]]:
    """The key expansion (section 5.2) for 128 bits."""
    words = [list(key[at : at + 4]) for at in range(0, 16, 4)]
    constant = 1
    for at in range(4, 44):
        word = words[-1]
        if at % 4 == 0:
            word = [_S_BOX[byte] for byte in word[1:] + word[:1]]
            word[0] ^= constant
            constant = _times(constant, 2)
        words.append([a ^ b for a, b in zip(word, words[at - 4], strict=True)])
    return [[byte for word in words[at : at + 4] for byte in word] for at in range(0, 44, 4)]


def aes(key: bytes, block: bytes) -> bytes:
    """The cipher (section 5.1): state[4 * column + row]."""
    keys = _round_keys(key)
    state = [a ^ b for a, b in zip(block, keys[0], strict=True)]
    for round_key in keys[1:]:
        state = [_S_BOX[byte] for byte in state]
        state = [state[(at + 4 * (at % 4)) % 16] for at in range(16)]
        if round_key is not keys[-1]:
            mixed = []
            for column in range(0, 16, 4):
                a, b, c, d = state[column : column + 4]
                mixed += [
                    _times(2, w) ^ _times(3, x) ^ y ^ z
                    for w, x, y, z in ((a, b, c, d), (b, c, d, a), (c, d, a, b), (d, a, b, c))
                ]
            state = mixed
        state = [a ^ b for a, b in zip(state, round_key, strict=True)]
    return bytes(state)


def ff1(key: bytes, tweak: bytes, radix: int, numerals: list[int], *, decrypt: bool = False) -> list[int]:
    """Algorithms 7 and 8 of NIST SP 800-38G, for AES-128."""
    n, t = len(numerals), len(tweak)
    u = n // 2
    v = n - u
    left, right = _number(numerals[:u], radix), _number(numerals[u:], radix)
    # Of bytes that hold v numerals, without floating point.
    b = ((radix**v - 1).bit_length() + 7) // 8
    d = 4 * ((b + 3) // 4) + 4
    p = bytes([1, 2, 1]) + radix.to_bytes(3) + bytes([10, u % 256]) + n.to_bytes(4) + t.to_bytes(4)
    for i in reversed(range(10)) if decrypt else range(10):
        known = left if decrypt else right
        q = tweak + bytes((-t - b - 1) % 16) + bytes([i]) + known.to_bytes(b)
        r = bytes(16)
        for at in range(0, len(p + q), 16):
            r = aes(key, bytes(x ^ y for x, y in zip(r, (p + q)[at : at + 16], strict=True)))
        s = r
        for j in range(1, (d + 15) // 16):
            s += aes(key, (int.from_bytes(r) ^ j).to_bytes(16))
        y = int.from_bytes(s[:d])
        size = radix ** (u if i % 2 == 0 else v)
        if decrypt:
            left, right = (right - y) % size, left
        else:
            left, right = right, (left + y) % size
    return _numerals(left, radix, u) + _numerals(right, radix, v)


def _number(numerals: list[int], radix: int) -> int:
    value = 0
    for numeral in numerals:
        value = value * radix + numeral
    return value


def _numerals(value: int, radix: int, count: int) -> list[int]:
    return [value // radix**place % radix for place in reversed(range(count))]


def mask(key: bytes, tweak: bytes, digits: int | None, value: int, *, decrypt: bool = False) -> int:
    """The masked form of an ID, or back."""
    if len(key) != 16 or len(tweak) > 64:
        raise Refused("INVALID_TEXT")
    if digits is not None and not 6 <= digits <= 18:
        raise Refused("INVALID_ID")
    radix, count = (2, 63) if digits is None else (10, digits)
    if not 0 <= value < radix**count:
        raise Refused("INVALID_ID")
    return _number(ff1(key, tweak, radix, _numerals(value, radix, count), decrypt=decrypt), radix)


def siphash24(key: bytes, message: bytes) -> int:
    """SipHash-2-4 (Aumasson, Bernstein: "SipHash: a fast short-input PRF", 2012)."""
    k0, k1 = (int.from_bytes(key[at : at + 8], "little") for at in (0, 8))
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]
    padded = message + bytes(7 - len(message) % 8) + bytes([len(message) % 256])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        _sip_rounds(v, 2)
        v[0] ^= word
    v[2] ^= 0xFF
    _sip_rounds(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _sip_rounds(v: list[int], count: int) -> None:
    def turned(value: int, by: int) -> int:
        return (value << by | value >> (64 - by)) % 2**64

    for _ in range(count):
        for a, b, by in ((0, 1, 13), (2, 3, 16)):
            v[a] = (v[a] + v[b]) % 2**64
            v[b] = turned(v[b], by) ^ v[a]
        v[0] = turned(v[0], 32)
        for a, b, by in ((2, 1, 17), (0, 3, 21)):
            v[a] = (v[a] + v[b]) % 2**64
            v[b] = turned(v[b], by) ^ v[a]
        v[2] = turned(v[2], 32)


def mask_uuid(key: bytes, digits: str, before: int, after: int) -> str:
    """The 32 digits of a UUID of one version as the other version has them (UUIDv47)."""
    if len(key) != 16:
        raise Refused("INVALID_TEXT")
    if digits[12] != str(before) or digits[16] not in "89ab":
        raise Refused("INVALID_ID")
    rest = bytes.fromhex(f"0{digits[13:16]}{int(digits[16], 16) % 4}{digits[17:]}")
    time = int(digits[:12], 16) ^ siphash24(key, rest) % 2**48
    return f"{time:012x}{after}{digits[13:]}"
