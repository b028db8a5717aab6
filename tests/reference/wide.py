"""UUIDs, ULIDs and ObjectIds: their bits, and how a process mints them one after the other."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import idtext
from civil import DAY_MS, days_from_civil
from errors import Refused

# 100 ns from 1582-10-15 to 1970, and the most that 60 bits hold.
TO_1970 = -days_from_civil(1582, 10, 15) * DAY_MS * 10_000
MAX_60 = 2**60 - 1
MAX_48 = 2**48 - 1
MAX_32 = 2**32 - 1

NAMESPACES = {
    "dns": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "url": "6ba7b811-9dad-11d1-80b4-00c04fd430c8",
    "oid": "6ba7b812-9dad-11d1-80b4-00c04fd430c8",
    "x500": "6ba7b814-9dad-11d1-80b4-00c04fd430c8",
}

# The next 32 random bits.
Random = Callable[[], int]


def uuid_text(digits: str) -> str:
    """The 36 characters of 32 digits."""
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def read_uuid(text: str) -> str:
    """Returns the 36 characters of a UUID that is written in any form."""
    bare = text[9:] if text[:9].lower() == "urn:uuid:" else text
    bare = bare[1:-1] if text[:1] == "{" and text[-1:] == "}" else bare
    digits = bare.replace("-", "").lower()
    well = set(digits) <= set("0123456789abcdef") and (bare.lower() == uuid_text(digits) or text.lower() == digits)
    if len(digits) != 32 or not well:
        raise Refused("INVALID_TEXT")
    return uuid_text(digits)


def _versioned(digits: str, version: int) -> str:
    variant = "89ab"[int(digits[16], 16) % 4]
    return uuid_text(f"{digits[:12]}{version}{digits[13:16]}{variant}{digits[17:]}")


def _fits(value: int, bits: int) -> int:
    if not 0 <= value < 2**bits:
        raise Refused("INVALID_ID")
    return value


def uuid1(time: int, clock_sequence: int, node: int) -> str:
    """Version 1, of 60, 14 and 48 bits."""
    high = f"{_fits(time, 60):015x}"
    return _versioned(f"{high[7:]}{high[3:7]}0{high[:3]}{_rest(clock_sequence, node)}", 1)


def uuid6(time: int, clock_sequence: int, node: int) -> str:
    """Version 6, of 60, 14 and 48 bits."""
    high = f"{_fits(time, 60):015x}"
    return _versioned(f"{high[:12]}0{high[12:]}{_rest(clock_sequence, node)}", 6)


def _rest(clock_sequence: int, node: int) -> str:
    return f"{_fits(clock_sequence, 14):04x}{_fits(node, 48):012x}"


def uuid3(namespace: str, name: str) -> str:
    """The MD5 of a name."""
    return _versioned(hashlib.md5(_hashed(namespace, name)).hexdigest(), 3)


def uuid5(namespace: str, name: str) -> str:
    """The SHA-1 of a name."""
    return _versioned(hashlib.sha1(_hashed(namespace, name)).hexdigest()[:32], 5)


def _hashed(namespace: str, name: str) -> bytes:
    return bytes.fromhex(namespace.replace("-", "")) + name.encode()


def uuid4(random: int) -> str:
    """Version 4, of 128 bits."""
    return _versioned(f"{random:032x}", 4)


def uuid7(timestamp_ms: int, random: int) -> str:
    """Version 7, of Unix ms and 74 bits."""
    high, low = divmod(random, 2**62)
    return _versioned(f"{_unix_ms(timestamp_ms):012x}0{high:03x}{low:016x}", 7)


def uuid7_range(from_ms: int, to_ms: int) -> dict[str, object]:
    """The lowest and the highest version 7 between two instants in Unix ms, both included."""
    if to_ms < from_ms:
        raise Refused("INVALID_ID")
    return {"lowest": uuid7(from_ms, 0), "highest": uuid7(to_ms, 2**74 - 1)}


def _unix_ms(timestamp_ms: int) -> int:
    if timestamp_ms < 0:
        raise Refused("BEFORE_EPOCH")
    if timestamp_ms > MAX_48:
        raise Refused("TIME_OVERFLOW")
    return timestamp_ms


def uuid8(a: int, b: int, c: int) -> str:
    """Version 8, of 48, 12 and 62 bits."""
    return _versioned(f"{_fits(a, 48):012x}0{_fits(b, 12):03x}{_fits(c, 62):016x}", 8)


def swapped(uuid: str) -> str:
    """Returns the bytes of MySQL's UUID_TO_BIN(uuid, 1), in hex."""
    low, middle, high, sequence, node = uuid.lower().split("-")
    return high + middle + low + sequence + node


def ulid(timestamp_ms: int, randomness: int) -> str:
    """A ULID, of Unix ms and 80 bits."""
    rest, text = _unix_ms(timestamp_ms) * 2**80 + _fits(randomness, 80), ""
    for _ in range(26):
        rest, digit = divmod(rest, 32)
        text = idtext.FORMS["base32"].alphabet[digit] + text
    return text


def read_ulid(text: str) -> tuple[int, int]:
    """The Unix ms and the 80 bits of a ULID."""
    form = idtext.FORMS["base32"]
    digits = [form.alphabet.find(form.also.get(character, character)) for character in text]
    if len(text) != 26 or min(digits) < 0 or digits[0] > 7:
        raise Refused("INVALID_TEXT")
    value = 0
    for digit in digits:
        value = value * 32 + digit
    return divmod(value, 2**80)


def object_id(timestamp_ms: int, random: int, counter: int) -> str:
    """An ObjectId, of Unix ms rounded down to the second, 40 bits and 24 bits."""
    second = timestamp_ms // 1000
    if second < 0:
        raise Refused("BEFORE_EPOCH")
    if second > MAX_32:
        raise Refused("TIME_OVERFLOW")
    return f"{second:08x}{_fits(random, 40):010x}{_fits(counter, 24):06x}"


@dataclass
class Gregorian:
    """The minting state of versions 1 and 6."""

    layout: Callable[[int, int, int], str]
    time: int = -1
    clock_sequence: int = 0
    node: int = 0

    def next(self, now_100ns: int, random: Random) -> str:
        """The next UUID at a time in 100 ns since 1970."""
        now = now_100ns + TO_1970
        if self.time < 0 and now < 0:
            raise Refused("BEFORE_EPOCH")
        time = max(now, self.time + 1)
        if time > MAX_60:
            raise Refused("TIME_OVERFLOW")
        if self.time < 0:
            low, high = random(), random()
            # No network card has the multicast bit, so the node is not an address of a card.
            self.node = high % 2**16 * 2**32 + low | 2**40
            self.clock_sequence = high // 2**16 % 2**14
        self.time = time
        return self.layout(time, self.clock_sequence, self.node)


@dataclass
class Seven:
    """The minting state of version 7: 42 bits of a counter, then 32 random ones."""

    ms: int = -1
    counter: int = 0

    @classmethod
    def after(cls, last: str) -> "Seven":
        """Returns the state after minting `last`."""
        digits = last.replace("-", "")
        low_30 = int(digits[16:24], 16) % 2**30
        return cls(int(digits[:12], 16), int(digits[13:16], 16) * 2**30 + low_30)

    def next(self, now_ms: int, random: Random) -> str:
        """The next UUID."""
        ms, counter = self.ms, self.counter + 1
        if now_ms > ms or counter == 2**42 or ms < 0:
            ms = _unix_ms(max(now_ms, ms + 1) if ms >= 0 else now_ms)
            counter = (random() * 2**32 + random()) % 2**41
        self.ms, self.counter = ms, counter
        high, low = divmod(counter, 2**30)
        return uuid7(ms, high * 2**62 + low * 2**32 + random())


@dataclass
class Monotonic:
    """The minting state of ULIDs."""

    ms: int = -1
    randomness: int = 0

    @classmethod
    def after(cls, last: str) -> "Monotonic":
        """Returns the state after minting `last`."""
        return cls(*read_ulid(last))

    def next(self, now_ms: int, random: Random) -> str:
        """The next ULID."""
        ms, randomness = self.ms, self.randomness + 1
        if now_ms > ms or ms < 0:
            ms = _unix_ms(now_ms)
            randomness = (random() * 2**64 + random() * 2**32 + random()) % 2**80
        elif randomness == 2**80:
            raise Refused("EXHAUSTED", retry_after_ms=ms + 1 - now_ms)
        self.ms, self.randomness = ms, randomness
        return ulid(ms, randomness)


@dataclass
class Counting:
    """The minting state of ObjectIds."""

    second: int = -1
    random: int = 0
    counter: int = 0
    first: int = 0

    def next(self, now_ms: int, random: Random) -> str:
        """The next ObjectId."""
        now = now_ms // 1000
        if self.second < 0:
            object_id(now_ms, 0, 0)
            high, low = random(), random()
            self.random, self.counter = high * 2**8 + low // 2**24, low % 2**24
            self.second, self.first = now, self.counter
            return object_id(now * 1000, self.random, self.counter)
        counter = (self.counter + 1) % 2**24
        second = max(now, self.second + (counter == self.first))
        minted = object_id(second * 1000, self.random, counter)
        if second > self.second:
            self.first = counter
        self.second, self.counter = second, counter
        return minted


BASE62 = idtext.FORMS["base62"].alphabet


def ksuid(timestamp_ms: int, payload: int) -> str:
    """A KSUID, of Unix ms rounded down to the second and 128 bits."""
    second = timestamp_ms // 1000 - 1_400_000_000
    if second < 0:
        raise Refused("BEFORE_EPOCH")
    if second > MAX_32:
        raise Refused("TIME_OVERFLOW")
    return _digits(second * 2**128 + _fits(payload, 128), BASE62, 27)


def read_ksuid(text: str) -> tuple[int, int]:
    """The Unix ms and the 128 bits of a KSUID."""
    second, payload = divmod(_value(text, BASE62, 27, 160), 2**128)
    return (second + 1_400_000_000) * 1000, payload


XID = "0123456789abcdefghijklmnopqrstuv"


def xid(timestamp_ms: int, random: int, counter: int) -> str:
    """An xid: the bits of an ObjectId, and four bits of 0."""
    return _digits(int(object_id(timestamp_ms, random, counter), 16) * 2**4, XID, 20)


def read_xid(text: str) -> str:
    """The 24 hexadecimal digits of an xid."""
    bits, padding = divmod(_value(text, XID, 20, 100), 2**4)
    if padding:
        raise Refused("INVALID_TEXT")
    return f"{bits:024x}"


# Alphabet, width, bits of 0 behind the UUID, other spellings.
SHORT = {
    "base32": (idtext.FORMS["base32"].alphabet, 26, 0, idtext.FORMS["base32"].also),
    "base58": (idtext.FORMS["base58"].alphabet, 22, 0, {}),
    "base62": (BASE62, 22, 0, {}),
    "base64url": ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 22, 4, {}),
}


def short(uuid: str, form: str) -> str:
    """The short text of a UUID."""
    alphabet, width, padding, _ = SHORT[form]
    return _digits(int(uuid.replace("-", ""), 16) << padding, alphabet, width)


def read_short(text: str, form: str) -> str:
    """The UUID of a short text."""
    if form not in SHORT:
        raise Refused("INVALID_TEXT")
    alphabet, width, padding, also = SHORT[form]
    canonical = "".join(also.get(character, character) for character in text)
    value, rest = divmod(_value(canonical, alphabet, width, 128 + padding), 2**padding)
    if rest:
        raise Refused("INVALID_TEXT")
    return uuid_text(f"{value:032x}")


def _digits(value: int, alphabet: str, width: int) -> str:
    text = ""
    for _ in range(width):
        value, digit = divmod(value, len(alphabet))
        text = alphabet[digit] + text
    return text


def _value(text: str, alphabet: str, width: int, bits: int) -> int:
    value = 0
    for character in text:
        if character not in alphabet:
            raise Refused("INVALID_TEXT")
        value = value * len(alphabet) + alphabet.index(character)
    if len(text) != width or value >= 2**bits:
        raise Refused("INVALID_TEXT")
    return value
