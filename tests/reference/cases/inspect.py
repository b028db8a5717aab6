"""inspect.json: the systems that could have minted an integer or a text."""

from candidates import Candidate, inspect, readings
from cases import Case, agree
from grammar import parse
from idtext import FORMS, encode
from parts import decode
from presets import PRESETS, READ_ONLY

COMMENT = (
    "inspect. value: a text; integer: a decimal string that stands for an integer; one of them is there. now_ms: the "
    "present. candidates, the most plausible first; layout and timestamp_ms are null where there is none; confidence: high, "
    "medium, tied, low or unlikely."
)

# 2026-11-01T00:00:00Z.
NOW_MS = 1793491200000
TWEET = 1541815603606036480

# Public IDs whose source states the time or other parts: the source, the ID, the system or kind that comes first, the Unix
# seconds or ms that the source states (None: no time), the most seconds between that time and the time in the ID (a post
# gets its ID before or after its own time), and the parts that the candidate must have.
PUBLIC: tuple[tuple[str, str, str, int | None, int, dict[str, int]], ...] = (
    ("Wikipedia, Snowflake ID", "1541815603606036480", "twitter", 1656432460105, 0, {"datacenter": 11, "sequence": 0}),
    ("unfurl, test_twitter.py", "1098230906194546688", "twitter", 1550673626837, 0, {}),
    *(
        (f"yt-dlp, twitter.py, {id}", id, "twitter", seconds, 1, {})
        for id, seconds in (
            ("643211948184596480", 1442188653),
            ("665052190608723968", 1447395772),
            ("705235433198714880", 1456976204),
            ("719944021058060289", 1460483005),
            ("852138619213144067", 1492000653),
            ("910031516746514432", 1505803395),
            ("1001551623938805763", 1527623489),
            ("1087791357756956680", 1548184644),
            ("1349794411333394432", 1610651040),
            ("1577855540407197696", 1665025050),
        )
    ),
    (
        "Discord's documentation, Snowflakes",
        "175928847299117063",
        "discord",
        1462015105796,
        0,
        {"worker": 1, "process": 0, "sequence": 7},
    ),
    ("a Q&A thread on posts of Instagram, one", "2384288897814875714", "instagram", 1598449407, 1, {}),
    ("a Q&A thread on posts of Instagram, two", "2383568809444681765", "instagram", 1598363566, 1, {}),
    ("unfurl, test_instagram.py", "DW1nTDiDvnF", "instagram", 1775580510621, 0, {"shard": 958, "sequence": 453}),
    ("yt-dlp, instagram.py, a picture", "aye83DjauH", "instagram", 1371748545, 1, {}),
    ("yt-dlp, instagram.py, the number of that picture", "482584233761418119", "instagram", 1371748545, 1, {}),
    ("yt-dlp, instagram.py, a film", "BkfuX9UB-eK", "instagram", 1530032919, 60, {}),
    ("yt-dlp, instagram.py, a reel", "Chunk8-jurw", "instagram", 1661529231, 120, {}),
    (
        "arXiv 2504.13279, as unfurl quotes it",
        "6854717870488702213",
        "tiktok",
        1595988373,
        0,
        {"sequence": 1, "type": 13, "machine": 5},
    ),
    *(
        (f"yt-dlp, tiktok.py, {id}", id, "tiktok", seconds, 60, {"type": 13})
        for id, seconds in (
            ("6748451240264420610", 1571246252),
            ("6742501081818877190", 1569860870),
            ("6984138651336838402", 1626121503),
            ("7042692929109986561", 1639754738),
            ("7059698374567611694", 1643714123),
            ("7139980461132074283", 1662406249),
            ("7206382937372134662", 1677866781),
            ("7253412088251534594", 1688816612),
            # Of Douyin.
            ("6961737553342991651", 1620905839),
            ("6950251282489675042", 1618231483),
        )
    ),
    ("unfurl, test_linkedin.py", "6685980502161199104", "linkedin", 1594061971226, 0, {}),
    ("yt-dlp, linkedin.py, an event", "7084656651378536448", "linkedin", 1689113772, 1, {}),
    ("yt-dlp, linkedin.py, another event", "7295762520814874625", "linkedin", 1739445333, 1, {}),
    ("Mastodon's documentation, Status", "103270115826048975", "mastodon", 1575776913901, 1, {}),
    ("yt-dlp, truth.py, one", "108779000807761862", "mastodon", 1659835827, 1, {}),
    ("yt-dlp, truth.py, two", "108618228543962049", "mastodon", 1657382637, 1, {}),
    ("unfurl, test_bluesky.py, a TID", "3laulgolrfz2f", "bluesky", 1731543333133, 0, {}),
    ("unfurl, test_bluesky.py, a post", "3lbd2ebt3wk2r", "bluesky", 1732040395098, 0, {}),
    ("yt-dlp, bluesky.py, one", "3l3vgf77uco2g", "bluesky", 1726074716, 1, {}),
    ("yt-dlp, bluesky.py, two", "3l4omssdl632g", "bluesky", 1726940605, 5, {}),
    ("yt-dlp, bluesky.py, three", "3l7gv55dc2o2w", "bluesky", 1729973202, 1, {}),
    ("TiDB's documentation, TSO", "443852055297916932", "tidb", 1693161221687, 0, {"logical": 4}),
    ("unfurl, test_sonyflake.py", "45eec4a4600041b", "sonyflake", 1597253729980, 0, {"machine": 4 * 256 + 27}),
    ("Sharding Pinterest", "241294492511762325", "pinterest", None, 0, {"shard": 3429, "type": 1, "object": 7075733}),
    ("the specification of TypeID", "prefix_01h455vb4pex5vsknk084sn02q", "type_id", 1688096058518, 0, {}),
    ("segmentio/ksuid, README", "0ujtsYcgvSTl8PAuAdqWYSMnLOv", "ksuid", 1507608047, 0, {}),
    ("rs/xid, id_test.go", "9m4e2mr0ui3e8a215n4g", "xid", 1300816219, 0, {"counter": 4271561, "process": 58408}),
    ("Firebase's blog, The 2^120 Ways", "-JhLeOlGIEjaIOFHR0xd", "firebase_push_id", 1423088131153, 0, {}),
    ("paralleldrive/cuid, README", "cjld2cjxh0000qzrmn831i7rn", "cuid", 1535421552101, 0, {"counter": 0}),
    ("Redis documentation, streams", "1526919030474-55", "redis_stream_id", 1526919030474, 0, {"sequence": 55}),
    ("AWS documentation, X-Ray", "1-58406520-a006649127e371903a2de979", "xray_trace_id", 1480615200, 0, {}),
    ("RFC 9562, version 1", "C232AB00-9414-11EC-B3C8-9F6BDECED846", "uuid1", 1645557742, 0, {}),
    ("RFC 9562, version 6", "1EC9414C-232A-6B00-B3C8-9F6BDECED846", "uuid6", 1645557742, 0, {}),
    ("RFC 9562, version 7", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F", "uuid7", 1645557742, 0, {}),
    ("the specification of ULID", "01ARYZ6S41TSV4RRFFQ69G5FAV", "ulid", 1469918176385, 0, {}),
    ("MongoDB's manual, ObjectId", "507f1f77bcf86cd799439011", "object_id", 1350508407, 0, {}),
)

# Other public IDs: a name, the ID, and the system that comes first. Their sources do not state the parts.
OTHERS: tuple[tuple[str, str, str], ...] = (
    ("a row of CockroachDB", "235191684988928001", "cockroachdb"),
    ("an ID of ClickHouse's documentation", "7199081390080409600", "clickhouse"),
    ("a project of Sentry", "4509563503640576", "sentry"),
    ("a TSID of its README", "01226N0640J7Q", "tsid"),
    ("the number of that TSID", "38358284406638839", "tsid"),
    ("the number of that Sonyflake", "314948827708654619", "sonyflake"),
    ("the number of that Instagram code", "3870172288071432645", "instagram"),
    ("a SCRU128 ID of its specification", "036z951mhjikzik2gsl81gr7l", "scru128"),
    ("a tweet with a prefix", "user_1asd13xh1f800", "twitter"),
    ("a tweet of 2014", "440322224407314432", "twitter"),
    ("a tweet of 2012", "266031293945503744", "twitter"),
    ("a server of Discord", "41771983423143937", "discord"),
    ("a user of Discord", "80351110224678912", "discord"),
    ("the server of Discord's developers", "613425648685547541", "discord"),
    ("a message on Discord", "643183730227281931", "discord"),
    ("an ID of Discord of 2023", "1067461047608422473", "discord"),
    ("a sound of TikTok", "6956990112127585029", "tiktok"),
    ("a user of TikTok", "6820838815978423302", "tiktok"),
    ("a share on LinkedIn", "7151241570371948544", "linkedin"),
    ("an ugcPost on LinkedIn", "6850898786781339649", "linkedin"),
    ("a pin of 2020", "664281013778109217", "pinterest"),
    ("a board of Pinterest", "585890301462791043", "pinterest"),
    ("an aidx of Misskey", "9zzzzzzz00010001", "aidx"),
    ("an ID of CosId's tests, which looks like one of Discord", "295913926632165376", "discord"),
    ("an ID of uid-generator's README, which looks like one of CockroachDB", "180363646902239241", "cockroachdb"),
    ("a sample of yitter's TypeScript README", "234712552579141", "yitter"),
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
    ("fifteen digits are decimal", "234712552579141", "snowflake", "decimal", None),
    ("sixteen digits are decimal", "0357651116217000", "snowflake", "decimal", None),
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
    "a video of YouTube": "dQw4w9WgXcQ",
    "a video of YouTube in digits of base 62": "9bZkp7q19f0",
    "a video of YouTube in digits of base 58": "kJQP7kiw5Fk",
    "a word of ten letters": "javascript",
    "a name of ten letters": "HelloWorld",
    "a word of eleven letters": "Development",
    "ten characters of a date": "2024-11-25",
    "a password of ten characters": "password12",
    "sixteen hexadecimal digits without structure": "9e107d9d372bb682",
    "fifteen hexadecimal letters of the future": "fedcbafedcbafed",
    "a telephone number": "1234-5678901234",
    "ms and a sequence with a leading zero": "1526919030474-05",
    "ms of the future and a sequence": "9999999999999-0",
    "a stream ID of 1 ms": "1-0",
    "a prefix alone": "user_",
    "an ID with a prefix in capitals": "User_1asd13xh1f800",
    "an ID with an empty prefix": "_1asd13xh1f800",
    "a TypeID beyond 128 bits": "user_8zzzzzzzzzzzzzzzzzzzzzzzzz",
    "a KSUID of the future": "aWgEPTl1tmebfsQzFP4bxwgy80V",
    "an xid of the future": "vvvvvvvvvvvvvvvvvvvg",
    "a push ID of 1970": "--------abcdefghijkl",
    "a cuid of the future": "czzzzzzzzzzzzzzzzzzzzzzzz",
    "a SCRU128 ID beyond 128 bits": "z" * 25,
    "a trace ID of 1970": "1-00000000-a006649127e371903a2de979",
    "a trace ID without its hyphen": "1-58406520aa006649127e371903a2de979",
    "an aidx of the year 2089": "z" * 16,
}


def cases() -> list[Case]:
    systems = {row[2] for row in PUBLIC}
    assert len(PUBLIC) >= 40 and len(systems) >= 20, f"{len(PUBLIC)} public IDs of {len(systems)} systems"
    written = [_public(*row) for row in PUBLIC]
    written += [_first(name, value, first) for name, value, first in OTHERS]
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


def _public(source: str, value: str, first: str, stated: int | None, apart: int, parts: dict[str, int]) -> Case:
    found = inspect(value, NOW_MS)
    one = found[0]
    agree(source, first, one.layout or one.kind)
    if stated is None:
        agree(source, None, one.timestamp_ms)
    else:
        assert one.timestamp_ms is not None, source
        unit = 1 if stated > 10**11 else 1000
        # A time in whole seconds or with more digits than the ID has.
        off = abs(one.timestamp_ms // unit - stated if unit > 1 else one.timestamp_ms - stated)
        assert off * unit <= apart * 1000, f"{source}: stated {stated}, computed {one.timestamp_ms}"
    if one.layout and one.layout in PRESETS | READ_ONLY:
        text = (PRESETS | READ_ONLY)[one.layout]
        numbers = {"hex" if form.startswith("hex") else form: number for form, number in readings(value)}
        number = numbers[one.form]
        fields = decode(parse(text), number).fields
        for name, stated_value in parts.items():
            agree(f"{source}, {name}", stated_value, fields[name])
    else:
        for name, stated_value in parts.items():
            agree(f"{source}, {name} {stated_value} in {one.reason}", True, f"{name} {stated_value}" in one.reason)
    return _case(source, {"value": value}, found)


def _known(name: str, text: str, kind: str, form: str, timestamp_ms: int | None) -> Case:
    found = inspect(text, NOW_MS)
    agree(name, (kind, form), (found[0].kind, found[0].form))
    if timestamp_ms is not None:
        agree(name, timestamp_ms, found[0].timestamp_ms)
    return _case(name, {"value": text}, found)


def _first(name: str, text: str, layout: str) -> Case:
    found = inspect(text, NOW_MS)
    agree(name, layout, found[0].layout or found[0].kind)
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
            "confidence": one.confidence,
            "reason": one.reason,
        }
        for one in found
    ]
    return {"name": name, **asked, "now_ms": NOW_MS, "candidates": rows}
