"""prefix.json: prefixed IDs from their values, and from texts."""

import prefix
from cases import Case, agree, result_of
from wide import uuid_text

COMMENT = (
    "Prefixed IDs. prefix, and id (a decimal string) or uuid: the prefix and the value of text, each computed from the "
    "other. error: the code. With prefix and value alone, writing must fail; with text, reading must fail: as a 64-bit ID "
    "with that prefix ('as': 'id'), as a UUID with that prefix ('as': 'uuid'), or as a TypeID with any prefix (no 'as')."
)

# The vectors of the specification, version 0.3.0: github.com/jetify-com/typeid, spec/valid.yml (Apache License 2.0).
VALID: dict[str, tuple[str, str, str]] = {
    "nil": ("00000000000000000000000000", "", "00000000-0000-0000-0000-000000000000"),
    "one": ("00000000000000000000000001", "", "00000000-0000-0000-0000-000000000001"),
    "ten": ("0000000000000000000000000a", "", "00000000-0000-0000-0000-00000000000a"),
    "sixteen": ("0000000000000000000000000g", "", "00000000-0000-0000-0000-000000000010"),
    "thirty-two": ("00000000000000000000000010", "", "00000000-0000-0000-0000-000000000020"),
    "max-valid": ("7zzzzzzzzzzzzzzzzzzzzzzzzz", "", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
    "valid-alphabet": ("prefix_0123456789abcdefghjkmnpqrs", "prefix", "0110c853-1d09-52d8-d73e-1194e95b5f19"),
    "valid-uuidv7": ("prefix_01h455vb4pex5vsknk084sn02q", "prefix", "01890a5d-ac96-774b-bcce-b302099a8057"),
    "prefix-underscore": ("pre_fix_00000000000000000000000000", "pre_fix", "00000000-0000-0000-0000-000000000000"),
}
# spec/invalid.yml of the same version.
INVALID: dict[str, str] = {
    "prefix-uppercase": "PREFIX_00000000000000000000000000",
    "prefix-numeric": "12345_00000000000000000000000000",
    "prefix-period": "pre.fix_00000000000000000000000000",
    "prefix-non-ascii": "pr\u00e9fix_00000000000000000000000000",
    "prefix-spaces": "  prefix_00000000000000000000000000",
    "prefix-64-chars": "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl_00000000000000000000000000",
    "separator-empty-prefix": "_00000000000000000000000000",
    "separator-empty": "_",
    "suffix-short": "prefix_1234567890123456789012345",
    "suffix-long": "prefix_123456789012345678901234567",
    "suffix-spaces": "prefix_1234567890123456789012345 ",
    "suffix-uppercase": "prefix_0123456789ABCDEFGHJKMNPQRS",
    "suffix-hyphens": "prefix_123456789-123456789-123456",
    "suffix-wrong-alphabet": "prefix_ooooooiiiiiiuuuuuuulllllll",
    "suffix-ambiguous-crockford": "prefix_i23456789ol23456789oi23456",
    "suffix-hyphens-crockford": "prefix_123456789-0123456789-0123456",
    "suffix-overflow": "prefix_8zzzzzzzzzzzzzzzzzzzzzzzzz",
    "prefix-underscore-start": "_prefix_00000000000000000000000000",
    "prefix-underscore-end": "prefix__00000000000000000000000000",
    "empty": "",
    "prefix-empty": "prefix_",
}
# Examples in the tables of spec/README.md.
README_VALID = ("my_type", "a_b_c", "my__type", "a", "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk")
README_SUFFIX = "01h5fskfsk4fpeqwnsyz5hj55t"

TWEET = 1541815603606036480
IDS: dict[str, tuple[str, int]] = {
    "a tweet": ("tweet", TWEET),
    "zero": ("user", 0),
    "one": ("user", 1),
    "2^53": ("user", 2**53),
    "2^63-1": ("user", 2**63 - 1),
    "2^63": ("user", 2**63),
    "2^64-1": ("user", 2**64 - 1),
    "a prefix of two words": ("api_key", TWEET),
    "no prefix": ("", TWEET),
    "a prefix of 63 characters": ("a" * 63, TWEET),
}
BAD_PREFIXES = {
    "in upper case": "User",
    "with a digit": "user2",
    "with a hyphen": "api-key",
    "with an underscore at the end": "user_",
    "with an underscore at the start": "_user",
    "of 64 characters": "a" * 64,
    "with a letter of two bytes": "us\u00e9r",
    "of one underscore": "_",
    "with a blank": "user ",
}
# The mistake, the expected prefix, the text.
BAD_IDS: dict[str, tuple[str, str]] = {
    "another prefix": ("user", "order_1asd13xh1f800"),
    "a longer prefix": ("user", "users_1asd13xh1f800"),
    "no prefix, where one is needed": ("user", "1asd13xh1f800"),
    "a prefix, where none is needed": ("", "user_1asd13xh1f800"),
    "an underscore, where no prefix is needed": ("", "_1asd13xh1f800"),
    "upper case": ("user", "user_1ASD13XH1F800"),
    "a prefix in upper case": ("user", "USER_1asd13xh1f800"),
    "a letter that Crockford reads as 1": ("user", "user_lasd13xh1f800"),
    "a u": ("user", "user_uasd13xh1f800"),
    "a character too few": ("user", "user_1asd13xh1f80"),
    "a character too many": ("user", "user_1asd13xh1f8000"),
    "a UUID": ("user", "user_01h455vb4pex5vsknk084sn02q"),
    "2^64": ("user", "user_g000000000000"),
    "no value": ("user", "user_"),
    "no text": ("user", ""),
    "a blank at the end": ("user", "user_1asd13xh1f80 "),
    "a hyphen as separator": ("user", "user-1asd13xh1f800"),
    "a text of 4000 characters": ("user", "user_" + "0" * 4000),
    "a wrong prefix in the question": ("User", "User_1asd13xh1f800"),
}
BAD_UUIDS: dict[str, tuple[str, str]] = {
    "another prefix": ("order", "user_01h455vb4pex5vsknk084sn02q"),
    "a 64-bit ID": ("user", "user_1asd13xh1f800"),
    "no prefix, where one is needed": ("user", "01h455vb4pex5vsknk084sn02q"),
    "more than 128 bits": ("user", "user_8zzzzzzzzzzzzzzzzzzzzzzzzz"),
}


def cases() -> list[Case]:
    written = [_uuid(f"TypeID 0.3.0, valid: {name}", *row) for name, row in VALID.items()]
    for start in README_VALID:
        text = f"{start}_{README_SUFFIX}"
        value = prefix.decode(start, text, prefix.UUID)
        written.append(_uuid(f"TypeID 0.3.0, README: {text[:12]}", text, start, uuid_text(f"{value:032x}")))
    for name, text in INVALID.items():
        refused = result_of(name, lambda text=text: {"read": prefix.parse(text, prefix.UUID)}, "INVALID_TEXT")
        written.append({"name": f"TypeID 0.3.0, invalid: {name}", "text": text, **refused})
    for name, (start, value) in IDS.items():
        text = prefix.encode(start, value, prefix.ID)
        agree(name, value, prefix.decode(start, text, prefix.ID))
        written.append({"name": f"an ID: {name}", "prefix": start, "id": str(value), "text": text})
    for name, start in BAD_PREFIXES.items():
        refused = result_of(name, lambda start=start: {"text": prefix.encode(start, 1, prefix.ID)}, "INVALID_TEXT")
        written.append({"name": f"a prefix {name}", "prefix": start, "id": "1", **refused})
    for kind, shape, rows in (("id", prefix.ID, BAD_IDS), ("uuid", prefix.UUID, BAD_UUIDS)):
        for name, (start, text) in rows.items():
            refused = result_of(
                name, lambda s=start, t=text, shape=shape: {"read": prefix.decode(s, t, shape)}, "INVALID_TEXT"
            )
            written.append({"name": f"read as {kind}: {name}", "as": kind, "prefix": start, "text": text, **refused})
    return written


def _uuid(name: str, text: str, start: str, uuid: str) -> Case:
    value = int(uuid.replace("-", ""), 16)
    agree(name, (start, value), prefix.parse(text, prefix.UUID))
    agree(name, text, prefix.encode(start, value, prefix.UUID))
    return {"name": name, "prefix": start, "uuid": uuid, "text": text}
