"""mask.json: masks of 64-bit IDs and of UUIDs."""

import mask
from cases import Case, agree, result_of
from wide import uuid_text

COMMENT = (
    "Mask and UuidMask. key: hexadecimal digits. tweak: hexadecimal digits of bytes, where there is one. digits: of a mask of "
    "decimal digits. id, masked: decimal strings, each the other's mask; or uuid, masked: UUIDs. error: the code, where "
    "encode must fail, or decode if masked is given without id and uuid, or to make the mask."
)

# The key of the samples for AES-128.
NIST_KEY = "2b7e151628aed2a6abf7158809cf4f3c"
NIST_TWEAK = "39383736353433323130"
# csrc.nist.gov, FF1samples.pdf: radix, tweak, plain, masked.
SAMPLES = {
    "1": (10, "", [*range(10)], [2, 4, 3, 3, 4, 7, 7, 4, 8, 4]),
    "2": (10, NIST_TWEAK, [*range(10)], [6, 1, 2, 4, 2, 0, 0, 7, 7, 3]),
    "3": (
        36,
        "3737373770717273373737",
        [*range(19)],
        [10, 9, 29, 31, 4, 0, 22, 21, 21, 9, 20, 13, 30, 5, 0, 9, 14, 30, 22],
    ),
}
# FIPS 197, appendix B; and the first test vectors of SipHash's authors, for messages 00 01 02 ...
AES = ("3243f6a8885a308d313198a2e0370734", "3925841d02dc09fbdc118597196a0b32")
SIP_KEY = bytes(range(16))
SIP = {0: "310e0edd47db6f72", 1: "fd67dc93c539f874", 8: "6224939a79f5f593", 10: "f3b9dd94c5bb5d7a"}

KEY = "000102030405060708090a0b0c0d0e0f"
IDS = (0, 1, 2, 2**32 - 1, 2**53, 1541815603606036480, 1541815603606036481, 2**62, 2**63 - 2, 2**63 - 1)

# uuidv47's own example, with the output that its ports in Go and .NET state: k0 is 0x0123456789abcdef, k1 is
# 0xfedcba9876543210, each with its lowest byte first (github.com/stateless-me/uuidv47, demo.c).
UUID47_KEY = "efcdab89674523011032547698badcfe"
UUID47 = ("018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f", "2463c780-7fca-4def-8c3f-7b1a2c4d5e6f")
# The inputs of its README and its tests, and others.
UUIDS = (
    (UUID47_KEY, "00000000-0000-7000-8000-000000000000"),
    (UUID47_KEY, "12345678-9abc-7abc-8123-456789abcdef"),
    (UUID47_KEY, "ffffffff-ffff-7fff-bfff-ffffffffffff"),
    ("0" * 32, "01234567-89ab-7def-8123-456789abcdef"),
    ("f" * 32, "fedcba98-7654-7321-8098-765432109876"),
    (KEY, "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"),
)


def cases() -> list[Case]:
    _check_reference()
    written = [
        _case(f"NIST's sample {sample}", NIST_KEY, tweak, 123456789, digits=10)
        for sample, tweak in (("1", ""), ("2", NIST_TWEAK))
    ]
    agree("NIST's samples", ["2433477484", "6124200773"], [case["masked"] for case in written])
    written += [_case(f"63 bits: {value}", KEY, "", value) for value in IDS]
    written += [
        _case("another key", NIST_KEY, "", 1541815603606036480),
        _case("a tweak", KEY, b"orders".hex(), 1541815603606036480),
        _case("a tweak of 64 bytes", KEY, "07" * 64, 1541815603606036480),
        _case("a tweak of a zero", KEY, "00", 1541815603606036480),
        _case("six digits: 0", KEY, "", 0, digits=6),
        _case("six digits: 999999", KEY, "", 999999, digits=6),
        _case("seven digits", KEY, "", 1234567, digits=7),
        _case("eighteen digits", KEY, "", 10**18 - 1, digits=18),
        _case("eighteen digits with a tweak", KEY, b"users".hex(), 5, digits=18),
    ]
    bad: tuple[tuple[str, str, str, int, int | None, str], ...] = (
        ("2^63", KEY, "", 2**63, None, "INVALID_ID"),
        ("2^64-1", KEY, "", 2**64 - 1, None, "INVALID_ID"),
        ("an ID below 0", KEY, "", -1, None, "INVALID_ID"),
        ("an ID beyond 64 bits", KEY, "", 2**64, None, "INVALID_ID"),
        ("seven digits in six", KEY, "", 10**6, 6, "INVALID_ID"),
        ("five digits", KEY, "", 1, 5, "INVALID_ID"),
        ("nineteen digits", KEY, "", 1, 19, "INVALID_ID"),
        ("digits below 0", KEY, "", 1, -6, "INVALID_ID"),
        ("a key of 15 bytes", KEY[2:], "", 1, None, "INVALID_TEXT"),
        ("a key of 17 bytes", KEY + "00", "", 1, None, "INVALID_TEXT"),
        ("a key of 32 bytes", KEY + KEY, "", 1, None, "INVALID_TEXT"),
        ("no key", "", "", 1, None, "INVALID_TEXT"),
        ("a tweak of 65 bytes", KEY, "07" * 65, 1, None, "INVALID_TEXT"),
    )
    written += [
        _case(name, key, tweak, value, digits=digits, error=error) for name, key, tweak, value, digits, error in bad
    ]
    refused = result_of("2^63 back", lambda: {"id": mask.mask(bytes(16), b"", None, 2**63, decrypt=True)}, "INVALID_ID")
    written.append({"name": "2^63 back", "key": KEY, "masked": str(2**63), **refused})
    own = _uuid_case("uuidv47's example", UUID47_KEY, UUID47[0])
    agree("uuidv47's example", UUID47[1], own["masked"])
    written += [own, *(_uuid_case(f"a UUID: {uuid[:13]}", key, uuid) for key, uuid in UUIDS)]
    for name, uuid in (
        ("a version 4", UUID47[1]),
        ("the nil UUID", uuid_text("0" * 32)),
        ("the max UUID", uuid_text("f" * 32)),
    ):
        written.append({"name": f"{name} is not masked", "key": KEY, "uuid": uuid, **_refused(uuid, 7)})
    for name, uuid in (("a version 7", UUID47[0]), ("another variant", UUID47[1].replace("-8c", "-cc"))):
        written.append({"name": f"{name} is not unmasked", "key": KEY, "masked": uuid, **_refused(uuid, 4)})
    written.append(
        {"name": "a UUID with a key of 8 bytes", "key": KEY[:16], "uuid": UUID47[0], "error": "INVALID_TEXT"}
    )
    return written


def _check_reference() -> None:
    agree("AES", AES[1], mask.aes(bytes.fromhex(NIST_KEY), bytes.fromhex(AES[0])).hex())
    for sample, (radix, tweak, plain, masked) in SAMPLES.items():
        agree(sample, masked, mask.ff1(bytes.fromhex(NIST_KEY), bytes.fromhex(tweak), radix, plain))
    for length, digest in SIP.items():
        agree(digest, digest, mask.siphash24(SIP_KEY, bytes(range(length))).to_bytes(8, "little").hex())


def _case(name: str, key: str, tweak: str, value: int, *, digits: int | None = None, error: str | None = None) -> Case:
    def ask() -> Case:
        made = bytes.fromhex(key), bytes.fromhex(tweak), digits
        masked = mask.mask(*made, value)
        agree(name, value, mask.mask(*made, masked, decrypt=True))
        return {"masked": str(masked)}

    options = ({"tweak": tweak} if tweak else {}) | ({} if digits is None else {"digits": digits})
    return {"name": name, "key": key, **options, "id": str(value), **result_of(name, ask, error)}


def _uuid_case(name: str, key: str, uuid: str) -> Case:
    masked = mask.mask_uuid(bytes.fromhex(key), uuid.replace("-", ""), 7, 4)
    agree(name, uuid, uuid_text(mask.mask_uuid(bytes.fromhex(key), masked, 4, 7)))
    return {"name": name, "key": key, "uuid": uuid, "masked": uuid_text(masked)}


def _refused(uuid: str, version: int) -> Case:
    return result_of(uuid, lambda: {"uuid": mask.mask_uuid(bytes(16), uuid.replace("-", ""), version, 0)}, "INVALID_ID")
