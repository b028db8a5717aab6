"""uuid.json: UUIDs from their parts, from texts, and as MySQL stores them."""

from cases import Case, agree, result_of
from wide import (
    MAX_48,
    MAX_60,
    NAMESPACES,
    read_short,
    read_uuid,
    short,
    swapped,
    uuid1,
    uuid3,
    uuid4,
    uuid5,
    uuid6,
    uuid7,
    uuid7_range,
    uuid8,
)

COMMENT = (
    "function: what is asked; uuid: the answer, or, of swap, what is asked. time, clock_sequence, node, a, b, c: decimal "
    "strings; random, bytes: hexadecimal digits; of: the name that is hashed. short: a text in a form, and the UUID. range: the "
    "lowest and the highest version 7 from from_ms to to_ms. error: the code, where it must fail."
)

DNS = NAMESPACES["dns"]
# 2022-02-22T19:22:22Z: RFC 9562 has an example of this instant in most versions.
RFC_TIME, RFC_MS = 0x1EC9414C232AB00, 1645557742000
RFC_SEQUENCE, RFC_NODE = 0x33C8, 0x9F6BDECED846

# Name, function, its arguments, and the UUID where a public source has it.
BUILT: tuple[tuple[str, str, tuple[int, ...], str | None], ...] = (
    (
        "RFC 9562, A.1: version 1",
        "uuid1",
        (RFC_TIME, RFC_SEQUENCE, RFC_NODE),
        "C232AB00-9414-11EC-B3C8-9F6BDECED846",
    ),
    (
        "RFC 9562, A.3: version 4",
        "uuid4",
        (0x919108F752D133205BACF847DB4148A8,),
        "919108f7-52d1-4320-9bac-f847db4148a8",
    ),
    (
        "RFC 9562, A.5: version 6",
        "uuid6",
        (RFC_TIME, RFC_SEQUENCE, RFC_NODE),
        "1EC9414C-232A-6B00-B3C8-9F6BDECED846",
    ),
    (
        "RFC 9562, A.6: version 7",
        "uuid7",
        (RFC_MS, 0xCC3 << 62 | 0x18C4DC0C0C07398F),
        "017F22E2-79B0-7CC3-98C4-DC0C0C07398F",
    ),
    (
        "RFC 9562, B.1: version 8 with a time",
        "uuid8",
        (0x2489E9AD2EE2, 0xE00, 0x0EC932D5F69181C0),
        "2489E9AD-2EE2-8E00-8EC9-32D5F69181C0",
    ),
    (
        "RFC 9562, B.2: version 8 with a hash",
        "uuid8",
        (0x5C146B143C52, 0xAFD, 0x138A375D0DF1FBF6),
        "5c146b14-3c52-8afd-938a-375d0df1fbf6",
    ),
    # CPython's Lib/test/test_uuid.py, test_UUID: time, clock_seq and node of its rows of version 1.
    *(
        (f"CPython's tests: {uuid}", "uuid1", parts, uuid)
        for uuid, parts in (
            ("6ba7b810-9dad-11d1-80b4-00c04fd430c8", (0x1D19DAD6BA7B810, 0xB4, 0xC04FD430C8)),
            ("6ba7b811-9dad-11d1-80b4-00c04fd430c8", (0x1D19DAD6BA7B811, 0xB4, 0xC04FD430C8)),
            ("6ba7b812-9dad-11d1-80b4-00c04fd430c8", (0x1D19DAD6BA7B812, 0xB4, 0xC04FD430C8)),
            ("6ba7b814-9dad-11d1-80b4-00c04fd430c8", (0x1D19DAD6BA7B814, 0xB4, 0xC04FD430C8)),
            ("7d444840-9dc0-11d1-b245-5ffdce74fad2", (0x1D19DC07D444840, 0x3245, 0x5FFDCE74FAD2)),
            ("f81d4fae-7dec-11d0-a765-00a0c91e6bf6", (0x1D07DECF81D4FAE, 0x2765, 0xA0C91E6BF6)),
        )
    ),
    ("version 1 at the beginning of time", "uuid1", (0, 0, 0), None),
    ("version 1 at the end of time", "uuid1", (MAX_60, 2**14 - 1, MAX_48), None),
    ("version 6 at the beginning of time", "uuid6", (0, 0, 0), None),
    ("version 6 at the end of time", "uuid6", (MAX_60, 2**14 - 1, MAX_48), None),
    (
        "version 1, a bit on each side of its fields' borders",
        "uuid1",
        (0x800_8001_80000001, 0x2080, 0x800000000001),
        None,
    ),
    (
        "version 6, a bit on each side of its fields' borders",
        "uuid6",
        (0x800000018001801, 0x2080, 0x800000000001),
        None,
    ),
    ("version 4 of no bits", "uuid4", (0,), None),
    ("version 4 of all bits", "uuid4", (2**128 - 1,), None),
    ("version 7 of 1970", "uuid7", (0, 0), None),
    ("version 7 at the end of time", "uuid7", (MAX_48, 2**74 - 1), None),
    ("version 7, a bit on each side of the variant", "uuid7", (1, 1 << 62 | 1 << 61), None),
    ("version 8 of no bits", "uuid8", (0, 0, 0), None),
    ("version 8 of all bits", "uuid8", (MAX_48, 2**12 - 1, 2**62 - 1), None),
)

NAMED: tuple[tuple[str, str, str, str, str | None], ...] = (
    ("RFC 9562, A.2: version 3", "uuid3", DNS, "www.example.com", "5df41881-3aed-3515-88a7-2f4a814cf09e"),
    ("RFC 9562, A.4: version 5", "uuid5", DNS, "www.example.com", "2ed6657d-e927-568b-95e1-2665a8aea6a2"),
    ("python.org's version 3", "uuid3", DNS, "python.org", "6fa459ea-ee8a-3ca4-894e-db77e160355e"),
    ("python.org's version 5", "uuid5", DNS, "python.org", "886313e1-3b8a-5372-9b90-0c9aee199e5d"),
    ("an empty name in version 3", "uuid3", NAMESPACES["url"], "", None),
    ("an empty name in version 5", "uuid5", NAMESPACES["oid"], "", None),
    ("a name beyond ASCII in version 3", "uuid3", NAMESPACES["x500"], "\u96ea\u82b1 \U0001f409", None),
    ("a name beyond ASCII in version 5", "uuid5", NAMESPACES["x500"], "\u96ea\u82b1 \U0001f409", None),
    ("a name of more than a block in version 3", "uuid3", DNS, "snow" * 64, None),
    ("a name of more than a block in version 5", "uuid5", DNS, "snow" * 64, None),
    ("the namespace of all bits", "uuid5", "ffffffff-ffff-ffff-ffff-ffffffffffff", "a", None),
)

# Name, function, its arguments, the error.
REFUSED: tuple[tuple[str, str, tuple[int, ...], str], ...] = (
    ("version 1 of 61 bits of time", "uuid1", (MAX_60 + 1, 0, 0), "INVALID_ID"),
    ("version 1 of 15 bits of clock sequence", "uuid1", (0, 2**14, 0), "INVALID_ID"),
    ("version 1 of 49 bits of node", "uuid1", (0, 0, 2**48), "INVALID_ID"),
    ("version 6 of 61 bits of time", "uuid6", (MAX_60 + 1, 0, 0), "INVALID_ID"),
    ("version 6 of 15 bits of clock sequence", "uuid6", (0, 2**14, 0), "INVALID_ID"),
    ("version 6 of 49 bits of node", "uuid6", (0, 0, 2**48), "INVALID_ID"),
    ("version 7 before 1970", "uuid7", (-1, 0), "BEFORE_EPOCH"),
    ("version 7 of 49 bits of time", "uuid7", (2**48, 0), "TIME_OVERFLOW"),
    ("version 8 whose a has 49 bits", "uuid8", (2**48, 0, 0), "INVALID_ID"),
    ("version 8 whose b has 13 bits", "uuid8", (0, 2**12, 0), "INVALID_ID"),
    ("version 8 whose c has 63 bits", "uuid8", (0, 0, 2**62), "INVALID_ID"),
)

# All forms in which a UUID can be written.
WRITTEN = {
    "a text": "123e4567-e89b-12d3-a456-426614174000",
    "a text in capitals": "123E4567-E89B-12D3-A456-426614174000",
    "a text in braces": "{123e4567-e89b-12d3-a456-426614174000}",
    "a URN": "urn:uuid:123e4567-e89b-12d3-a456-426614174000",
    "a URN in capitals": "URN:UUID:123E4567-E89B-12D3-A456-426614174000",
    "digits alone": "123e4567e89b12d3a456426614174000",
    "the nil UUID": "00000000-0000-0000-0000-000000000000",
    "the max UUID": "ffffffff-ffff-ffff-ffff-ffffffffffff",
}
MISWRITTEN = {
    "no text": "",
    "a text that is short of a digit": "123e4567-e89b-12d3-a456-42661417400",
    "a text of a digit too much": "123e4567-e89b-12d3-a456-4266141740000",
    "a text with a g": "123e4567-e89b-12d3-a456-42661417400g",
    "a text with its hyphens elsewhere": "123e456-7e89b-12d3-a456-426614174000",
    "a text with three hyphens": "123e4567e89b-12d3-a456-426614174000",
    "a text in one brace": "{123e4567-e89b-12d3-a456-426614174000",
    "digits of another script": "\uff11" * 32,
    "a blank at the end": "123e4567-e89b-12d3-a456-426614174000 ",
}

# CPython's Lib/test/test_uuid.py, test_UUID and test_exceptions.
CPYTHON = (
    "00010203-0405-0607-0809-0a0b0c0d0e0f",
    "02d9e6d5-9467-382e-8f9b-9300a64ac3cd",
    "12345678-1234-5678-1234-567812345678",
    "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "e902893a-9d22-3c7e-a7b8-d6e313b71d9f",
    "eb424026-6f54-4ef8-a4d0-bb658a1fc6cf",
    "fffefdfc-fffe-fffe-fffe-fffefdfcfbfa",
)
CPYTHON_REFUSED = (
    "abc",
    "1234567812345678123456781234567",
    "123456781234567812345678123456789",
    "123456781234567812345678z2345678",
)

# UUIDs, and the bytes where a public source has them.
SWAPPED: dict[str, tuple[str, str | None]] = {
    "MySQL's manual": ("6ccd780c-baba-1026-9564-5b8c656024db", "1026BABA6CCD780C95645B8C656024DB"),
    "a version 4": ("919108f7-52d1-4320-9bac-f847db4148a8", None),
    "no bit": ("00000000-0000-0000-0000-000000000000", None),
}

# UUIDs in short texts.
SHORT = (
    "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
    "00000000-0000-0000-0000-000000000000",
    "00000000-0000-0000-0000-000000000001",
    "7fffffff-ffff-ffff-ffff-ffffffffffff",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
)
# Form and text.
SHORT_READ_ONLY = (("base32", "7zzzzzzzzzzzzzzzzzzzzzzzzz"), ("base32", "OiL00000000000000000000000"))
SHORT_REFUSED = {
    "an unknown form": ("base57", "1111111111111111111111"),
    "a form of 64-bit IDs alone": ("hex", "017f22e279b07cc398c4dc0c0c07398f"),
    "no text": ("base58", ""),
    "a character too few": ("base62", "0" * 21),
    "a character too many": ("base62", "0" * 23),
    "a zero in base58": ("base58", "0111111111111111111111"),
    "a U in base32": ("base32", "0000000000000000000000000U"),
    "padding": ("base64url", "AX8i4nmwfMOYxNwMDAc5jw=="),
    "bits behind the UUID": ("base64url", "AX8i4nmwfMOYxNwMDAc5jx"),
    "base64 that is not for URLs": ("base64url", "AX8i4nmwfMOYxNwMDAc5/w"),
    "2^128 in base32": ("base32", "80000000000000000000000000"),
    "the largest number in base62": ("base62", "z" * 22),
    "a letter of two bytes": ("base62", "\u00e9000000000000000000000"),
}
# From and to, Unix ms; the error.
RANGES: tuple[tuple[str, int, int, str | None], ...] = (
    ("a day", 1645488000000, 1645574399999, None),
    ("one ms", 0, 0, None),
    ("all times", 0, MAX_48, None),
    ("from before 1970", -1, 0, "BEFORE_EPOCH"),
    ("to 49 bits", 0, MAX_48 + 1, "TIME_OVERFLOW"),
    ("one ms backwards", 1, 0, "INVALID_ID"),
    ("backwards from 49 bits", MAX_48 + 1, 0, "INVALID_ID"),
)

KEYS = {
    "uuid1": ("time", "clock_sequence", "node"),
    "uuid4": ("random",),
    "uuid6": ("time", "clock_sequence", "node"),
    "uuid7": ("timestamp_ms", "random"),
    "uuid8": ("a", "b", "c"),
}
BUILDERS = {"uuid1": uuid1, "uuid4": uuid4, "uuid6": uuid6, "uuid7": uuid7, "uuid8": uuid8}


def cases() -> list[Case]:
    written = [_built(name, function, parts, None, uuid) for name, function, parts, uuid in BUILT]
    for name, function, namespace, of, uuid in NAMED:
        made = {"uuid3": uuid3, "uuid5": uuid5}[function](namespace, of)
        agree(name, uuid or made, made)
        written.append({"name": name, "function": function, "namespace": namespace, "of": of, "uuid": made})
    written += [_built(name, function, parts, error, None) for name, function, parts, error in REFUSED]
    for name, text in WRITTEN.items():
        written.append({"name": name, "function": "read", "text": text, "uuid": read_uuid(text)})
    for uuid in CPYTHON:
        for text in (uuid, f"{{{uuid}}}", uuid.replace("-", ""), f"urn:uuid:{uuid}"):
            agree(text, uuid, read_uuid(text))
            written.append({"name": f"CPython's tests, read: {text}", "function": "read", "text": text, "uuid": uuid})
    for text in CPYTHON_REFUSED:
        refused = result_of(text, lambda text=text: {"uuid": read_uuid(text)}, "INVALID_TEXT")
        written.append({"name": f"CPython's tests: {text}", "function": "read", "text": text, **refused})
    for name, text in MISWRITTEN.items():
        refused = result_of(name, lambda text=text: {"uuid": read_uuid(text)}, "INVALID_TEXT")
        written.append({"name": name, "function": "read", "text": text, **refused})
    for name, (uuid, stored) in SWAPPED.items():
        agree(name, (stored or swapped(uuid)).lower(), swapped(uuid))
        written.append({"name": f"swapped: {name}", "function": "swap", "uuid": uuid, "bytes": swapped(uuid)})
    for form in ("base32", "base58", "base62", "base64url"):
        for uuid in SHORT:
            text = short(uuid, form)
            agree(text, uuid, read_short(text, form))
            written.append({"name": f"{form}: {uuid}", "function": "short", "form": form, "uuid": uuid, "text": text})
    for form, text in SHORT_READ_ONLY:
        asked: Case = {"name": f"{form}, read only: {text}", "function": "short", "form": form, "text": text}
        written.append({**asked, "uuid": read_short(text, form), "read_only": True})
    for name, (form, text) in SHORT_REFUSED.items():
        refused = result_of(name, lambda text=text, form=form: {"uuid": read_short(text, form)}, "INVALID_TEXT")
        written.append({"name": f"short: {name}", "function": "short", "form": form, "text": text, **refused})
    for name, from_ms, to_ms, error in RANGES:
        result = result_of(name, lambda f=from_ms, t=to_ms: uuid7_range(f, t), error)
        written.append({"name": f"range: {name}", "function": "range", "from_ms": from_ms, "to_ms": to_ms, **result})
    return written


def _built(name: str, function: str, parts: tuple[int, ...], error: str | None, uuid: str | None) -> Case:
    asked: Case = {"name": name, "function": function}
    for key, value in zip(KEYS[function], parts, strict=True):
        # 74 bits take 19 digits.
        hexadecimal = f"{value:032x}" if function == "uuid4" else f"{value:019x}"
        asked[key] = value if key == "timestamp_ms" else hexadecimal if key == "random" else str(value)
    result = result_of(name, lambda: {"uuid": BUILDERS[function](*parts)}, error)
    if uuid is not None:
        agree(name, uuid.lower(), result["uuid"])
    return {**asked, **result}
