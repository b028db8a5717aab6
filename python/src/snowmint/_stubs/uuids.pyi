"""UUIDs."""

from uuid import UUID

from snowmint._stubs._arguments import HasBytes, Instant, Int

def uuid1(node: Int | None = None, clock_seq: Int | None = None) -> UUID:
    """A version 1: the time, a node and a clock sequence.

    >>> import snowmint
    >>> first, second = snowmint.uuid1(), snowmint.uuid1()
    >>> first.node == second.node, first.time < second.time
    (True, True)

    Args:
        node: 48 bits. If not given, random bytes of this process (never the address of a network card, which would
            reveal the machine); a forked child has other bytes. If several processes pass the same node, they must
            prevent repeats themselves.
        clock_seq: 14 bits. If not given, random bits of this process.

    Raises:
        InvalidIdError: A number does not fit.
    """

def uuid3(namespace: UUID | HasBytes | str, name: str | bytes) -> UUID:
    """The MD5 of a name in a namespace.

    >>> import uuid, snowmint
    >>> snowmint.uuid3(uuid.NAMESPACE_DNS, "python.org")
    UUID('6fa459ea-ee8a-3ca4-894e-db77e160355e')

    Raises:
        InvalidTextError: The namespace is a str and no UUID.
    """

def uuid4() -> UUID:
    """122 random bits.

    >>> import snowmint
    >>> snowmint.uuid4().version
    4

    """

def uuid4_str() -> str:
    """The text of a new version 4.

    >>> import snowmint
    >>> len(snowmint.uuid4_str())
    36

    """

def uuid5(namespace: UUID | HasBytes | str, name: str | bytes) -> UUID:
    """The SHA-1 of a name in a namespace.

    >>> import uuid, snowmint
    >>> snowmint.uuid5(uuid.NAMESPACE_DNS, "python.org")
    UUID('886313e1-3b8a-5372-9b90-0c9aee199e5d')

    Raises:
        InvalidTextError: The namespace is a str and no UUID.
    """

def uuid6(node: Int | None = None, clock_seq: Int | None = None) -> UUID:
    """A version 6: as 1, in order of time.

    >>> import snowmint
    >>> snowmint.uuid6() < snowmint.uuid6()
    True

    It takes the same arguments and raises the same errors as `uuid1`.
    """

def uuid7(timestamp: Instant | None = None) -> UUID:
    """A version 7: Unix ms, a counter and random bits, greater than every one minted before; or of an instant.

    >>> import snowmint
    >>> snowmint.uuid7() < snowmint.uuid7()
    True
    >>> snowmint.uuid7(1645557742000).hex[:12]
    '017f22e279b0'

    The counter has 42 bits and a random start in each ms (RFC 9562, section 6.2, method 1). So UUIDs increase across
    threads, and when the clock stands still or steps back: the ms never goes back. A forked child begins anew.

    Args:
        timestamp: An aware datetime or Unix ms. The UUID then has 74 random bits, and no place in the order of the
            others.

    Raises:
        BeforeEpochError: The time is before 1970.
        TimeOverflowError: The time is beyond the year 10889.
    """

def uuid7_range(dt_from: Instant, dt_to: Instant) -> tuple[UUID, UUID]:
    """The lowest and the highest version 7 between two instants, both included.

    >>> import snowmint
    >>> lowest, highest = snowmint.uuid7_range(1645488000000, 1645574399999)
    >>> lowest, lowest < snowmint.uuid7(1645557742000) < highest
    (UUID('017f1eba-4c00-7000-8000-000000000000'), True)

    Made for `WHERE id BETWEEN ? AND ?`. An instant is an aware datetime or Unix ms.

    Raises:
        InvalidIdError: `dt_to` is before `dt_from`.
        BeforeEpochError: A time is before 1970.
        TimeOverflowError: A time is beyond the year 10889.
    """

def uuid7_str() -> str:
    """The text of a new version 7.

    >>> import snowmint
    >>> snowmint.uuid7_str() < snowmint.uuid7_str()
    True

    """

def uuid8(a: Int | None = None, b: Int | None = None, c: Int | None = None) -> UUID:
    """A version 8 of 48, 12 and 62 bits from the caller; a missing part is random.

    >>> import snowmint
    >>> snowmint.uuid8(0x2489E9AD2EE2, 0xE00, 0x0EC932D5F69181C0)
    UUID('2489e9ad-2ee2-8e00-8ec9-32d5f69181c0')

    Raises:
        InvalidIdError: A number does not fit.
    """

def uuid_to_bin(uuid: UUID | HasBytes | str, swap: bool = False) -> bytes:
    """The 16 bytes of a UUID, as `MySQL`'s `UUID_TO_BIN(uuid, swap)` returns them.

    >>> import snowmint
    >>> snowmint.uuid_to_bin("6ccd780c-baba-1026-9564-5b8c656024db").hex()
    '6ccd780cbaba102695645b8c656024db'
    >>> snowmint.uuid_to_bin("6ccd780c-baba-1026-9564-5b8c656024db", swap=True).hex()
    '1026baba6ccd780c95645b8c656024db'

    Like MySQL, it swaps only on request. Swapped, the high bits of the time of a version 1 come first, so that an index
    is in order of time. Versions 6 and 7 are in order without it. Read the bytes back with the same `swap`.

    Raises:
        InvalidTextError: It is a str and not a UUID.
    """

def uuid_from_bin(bytes: bytes, swap: bool = False) -> UUID:
    """The UUID of 16 bytes, as `MySQL`'s `BIN_TO_UUID(bytes, swap)` returns it.

    >>> import snowmint
    >>> snowmint.uuid_from_bin(bytes.fromhex("1026baba6ccd780c95645b8c656024db"), swap=True)
    UUID('6ccd780c-baba-1026-9564-5b8c656024db')

    Raises:
        InvalidIdError: They are not 16.
    """

def uuid_to_text(uuid: UUID | HasBytes | str, form: str) -> str:
    """The short text of a UUID.

    >>> from uuid import UUID
    >>> import snowmint
    >>> uuid = UUID("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
    >>> snowmint.uuid_to_text(uuid, "base62"), snowmint.uuid_to_text(uuid, "base64url")
    ('02p5oQZoHTv0zeY5yG21K3', 'AX8i4nmwfMOYxNwMDAc5jw')

    Args:
        uuid: A UUID, its text, or what has 16 bytes, such as a ULID.
        form: `base32` (26 characters, as of ULIDs), `base58`, `base62` or `base64url` (22). All but the last sort like
            UUIDs.

    Raises:
        InvalidTextError: No form has this name, or the text is not a UUID.
        InvalidIdError: The bytes are not 16.
    """

def uuid_from_text(text: str, form: str) -> UUID:
    """The UUID of a short text.

    >>> import snowmint
    >>> snowmint.uuid_from_text("AX8i4nmwfMOYxNwMDAc5jw", "base64url")
    UUID('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')

    Raises:
        InvalidTextError: A wrong length, a character of no meaning, more than 128 bits, or an unknown form.
    """
