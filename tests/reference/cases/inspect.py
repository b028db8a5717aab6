"""inspect.json: the systems that could have minted an integer or a text."""

from candidates import Candidate, inspect
from cases import Case, agree
from idtext import FORMS, encode

COMMENT = (
    "inspect. value: a text; integer: a decimal string that stands for an integer; one of them is there. now_ms: the "
    "present. candidates, the most plausible first; layout and timestamp_ms are null where there is none."
)

# 2026-11-01T00:00:00Z.
NOW_MS = 1793491200000
TWEET = 1541815603606036480

# Real IDs: a name, the ID, its system, and the equally plausible candidates that come before that system, because their
# IDs are more common.
REAL: tuple[tuple[str, int, str, tuple[str, ...]], ...] = (
    ("a tweet", TWEET, "twitter", ()),
    ("Discord's documented ID", 175928847299117063, "discord", ("twitter",)),
    ("a post of 2020-08-26 on Instagram", 2384288897814875714, "instagram", ()),
    ("a post of 2020-08-25 on Instagram", 2383568809444681765, "instagram", ()),
    ("the worked example of Instagram's blog", 11637205501278089, "instagram", ("twitter", "discord")),
    (
        "an ID of uid-generator's README",
        180363646902239241,
        "baidu",
        ("twitter", "discord", "snowmint"),
    ),
    ("an ID of CosId's tests", 295913926632165376, "cosid", ("twitter", "discord", "instagram")),
    (
        "an ID of CosId's documentation",
        266300479548424192,
        "cosid",
        ("twitter", "discord", "instagram", "sonyflake", "baidu"),
    ),
    ("Mastodon's documented status", 103270115826048975, "mastodon", ()),
    ("a sample of yitter's TypeScript README", 234712552579141, "yitter_typescript", ("yitter",)),
    ("the parts in Leaf's source", 1169786042799259000, "leaf", ("twitter", "discord", "instagram")),
    (
        "CalliCoder's example as printed",
        454947766275219456,
        "callicoder",
        ("twitter", "discord", "instagram", "baidu", "cosid", "gosnowflake"),
    ),
    (
        "CalliCoder's example with its sequence",
        454947766275222906,
        "callicoder",
        ("twitter", "discord", "instagram", "sonyflake", "cosid", "gosnowflake"),
    ),
)

# Texts whose first candidate is known: kind, form, Unix ms.
KNOWN: tuple[tuple[str, str, str, str, int | None], ...] = (
    ("a version 1", "8c45583a-0e1f-11ec-804d-005056219395", "uuid1", "uuid", 1630828920177),
    ("a version 1 in braces", "{8C45583A-0E1F-11EC-804D-005056219395}", "uuid1", "uuid_braces", 1630828920177),
    ("a version 1 as a URN", "urn:uuid:8c45583a-0e1f-11ec-804d-005056219395", "uuid1", "uuid_urn", 1630828920177),
    ("a version 1 in hexadecimal", "8c45583a0e1f11ec804d005056219395", "uuid1", "uuid_hex", 1630828920177),
    ("a version 1 of 2228", "123e4567-e89b-12d3-a456-426614174000", "uuid1", "uuid", None),
    ("a version 1 of MySQL's manual", "6CCD780CBABA102695645B8C656024DB", "uuid1", "uuid_hex", None),
    ("the same swapped", "1026BABA6CCD780C95645B8C656024DB", "uuid1", "uuid_swapped", None),
    ("RFC 9562's version 1", "C232AB00-9414-11EC-B3C8-9F6BDECED846", "uuid1", "uuid", 1645557742000),
    # The instant of the version 1 above, without its low 32 bits.
    ("a version 2 of a user", "000003e8-0e1f-21ec-8000-005056219395", "uuid2", "uuid", 1630828684841),
    ("a version 2 of a group", "00000064-0e1f-21ec-8c01-005056219395", "uuid2", "uuid", 1630828684841),
    ("a version 2 of an organisation", "00000001-0e1f-21ec-8c02-005056219395", "uuid2", "uuid", 1630828684841),
    ("a version 2 of another domain", "ffffffff-0e1f-21ec-bfff-005056219395", "uuid2", "uuid", 1630828684841),
    ("python.org's version 3", "6fa459ea-ee8a-3ca4-894e-db77e160355e", "uuid3", "uuid", None),
    ("RFC 9562's version 4", "919108f7-52d1-4320-9bac-f847db4148a8", "uuid4", "uuid", None),
    ("python.org's version 5", "886313e1-3b8a-5372-9b90-0c9aee199e5d", "uuid5", "uuid", None),
    ("RFC 9562's version 6", "1EC9414C-232A-6B00-B3C8-9F6BDECED846", "uuid6", "uuid", 1645557742000),
    ("RFC 9562's version 7", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F", "uuid7", "uuid", 1645557742000),
    ("RFC 9562's version 8", "2489E9AD-2EE2-8E00-8EC9-32D5F69181C0", "uuid8", "uuid", None),
    ("a version that is not defined", "2489e9ad-2ee2-9e00-8ec9-32d5f69181c0", "uuid", "uuid", None),
    ("the nil UUID in hexadecimal", "0" * 32, "uuid_nil", "uuid_hex", None),
    ("the nil UUID", "00000000-0000-0000-0000-000000000000", "uuid_nil", "uuid", None),
    ("the max UUID", "ffffffff-ffff-ffff-ffff-ffffffffffff", "uuid_max", "uuid", None),
    ("a UUID of the NCS variant", "333a2276-0000-0000-0d00-00809c000000", "uuid", "uuid", None),
    ("a UUID of the Microsoft variant", "00000000-0000-0000-c000-000000000046", "uuid", "uuid", None),
    ("the ULID of its specification", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "ulid", "ulid", 1469922850259),
    ("a ULID in small letters", "01arz3ndektsv4rrffq69g5fav", "ulid", "ulid", 1469922850259),
    ("the highest ULID", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "ulid", "ulid", 2**48 - 1),
    ("an ObjectId", "507f1f77bcf86cd799439011", "object_id", "object_id", 1350508407000),
    ("an ObjectId of the old form", "47cc67093475061e3d95369d", "object_id", "object_id", 1204578057000),
    ("an ObjectId whose seconds need all 32 bits", "ffffffff0000000000000000", "object_id", "object_id", None),
    ("a tweet with 0x", "0x1565A11F6217A000", "snowflake", "hex", 1656432460105),
    ("a tweet with blanks around it", f" {TWEET}\n", "snowflake", "decimal", 1656432460105),
    ("a tweet of 20 digits", f"0{TWEET}", "snowflake", "decimal", 1656432460105),
    ("a Sonyflake in hexadecimal, without its leading zero", "45eec4a4600041b", "snowflake", "hex", None),
    ("fifteen digits, which are decimal before they are hex", "234712552579141", "snowflake", "decimal", None),
    ("sixteen digits, which are decimal before they are hex", "0357651116217000", "snowflake", "decimal", None),
)

INTEGERS = {
    "an integer": TWEET,
    "a negative integer": -1,
    "zero as an integer": 0,
    "an integer of 64 bits": 2**64 - 1,
    "the lowest integer": -(2**63),
}
NO_INTEGERS = {"an integer beyond 64 bits": 2**64, "one below": -(2**63) - 1, "one far beyond": 10**40}

GARBAGE = {
    "nothing": "",
    "a blank": " ",
    "a word": "garbage",
    "a sentence": "hello, world",
    "a minus sign": "-",
    "a plus sign before a number": "+5",
    "a fraction": "1.5",
    "an exponent": "1e9",
    "digits beyond 64 bits": "18446744073709551616",
    "digits far beyond 64 bits": "9" * 100,
    "digits below -2^63": "-9223372036854775809",
    "digits outside ASCII": "\uff11\uff12\uff13",
    "0x alone": "0x",
    "0x before a g": "0xg",
    "seventeen digits after 0x": "0x10000000000000000",
    "a NUL": "\u0000",
    "a number with a comma": "1,541",
    "a UUID with underscores": "8c45583a_0e1f_11ec_804d_005056219395",
    "a UUID with its hyphens elsewhere": "8c45583a0-e1f-11ec-804d-005056219395",
    "a UUID without its last digit": "8c45583a-0e1f-11ec-804d-00505621939",
    "a UUID that lacks a brace": "{8c45583a-0e1f-11ec-804d-005056219395",
    "a UUID with a g": "8c45583g-0e1f-11ec-804d-005056219395",
    "a URN of nothing": "urn:uuid:",
    "twenty-one digits": "001541815603606036480",
    "a ULID beyond 128 bits": "80000000000000000000000000",
    "a ULID with a U": "01ARZ3NDEKTSV4RRFFQ69G5FAU",
    "an ObjectId with a g": "507f1f77bcf86cd79943901g",
}


def cases() -> list[Case]:
    written = [_real(*row) for row in REAL]
    written += [_known(*row) for row in KNOWN]
    written += [
        _known(f"a tweet in {form}", encode(TWEET, form), "snowflake", form, 1656432460105)
        for form in FORMS
        if form != "decimal"
    ]
    written += [_case(name, {"integer": str(value)}, inspect(value, NOW_MS)) for name, value in INTEGERS.items()]
    just_now = NOW_MS - 5000 - 1735689600000
    written.append(_first("an ID of snowmint five seconds old", str(just_now << 22 | 3 << 12), "snowmint"))
    ahead = NOW_MS + 1000 - 1735689600000
    written.append(_first("an ID of snowmint a second ahead", str(ahead << 22 | 3 << 12), "snowmint"))
    for name, integer in NO_INTEGERS.items():
        written.append(_empty(name, {"integer": str(integer)}, integer))
    return [*written, *(_empty(name, {"value": text}, text) for name, text in GARBAGE.items())]


def _real(name: str, value: int, system: str, before: tuple[str, ...]) -> Case:
    found = inspect(str(value), NOW_MS)
    least = min(one.surprise for one in found if one.doubt == 0)
    tied = [one.layout for one in found if one.doubt == 0 and one.surprise < least + 6]
    # The system comes first, or is among the equally plausible candidates.
    assert system in tied, f"{name}: {tied}"
    agree(name, before, tuple(tied[: tied.index(system)]))
    return _case(name, {"value": str(value)}, found)


def _known(name: str, text: str, kind: str, form: str, timestamp_ms: int | None) -> Case:
    found = inspect(text, NOW_MS)
    agree(name, (kind, form), (found[0].kind, found[0].form))
    if timestamp_ms is not None:
        agree(name, timestamp_ms, found[0].timestamp_ms)
    return _case(name, {"value": text}, found)


def _first(name: str, text: str, layout: str) -> Case:
    found = inspect(text, NOW_MS)
    agree(name, layout, found[0].layout)
    return _case(name, {"value": text}, found)


def _empty(name: str, asked: Case, value: int | str) -> Case:
    agree(name, [], inspect(value, NOW_MS))
    return _case(f"{name} gives nothing", asked, [])


def _case(name: str, asked: Case, found: list[Candidate]) -> Case:
    rows = [
        {
            "kind": one.kind,
            "layout": one.layout,
            "form": one.form,
            "timestamp_ms": one.timestamp_ms,
            "reason": one.reason,
        }
        for one in found
    ]
    return {"name": name, **asked, "now_ms": NOW_MS, "candidates": rows}
