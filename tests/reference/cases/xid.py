"""xid.json: xids from their parts, and from texts."""

from cases import Case, agree, result_of
from wide import MAX_32, read_xid, xid

COMMENT = (
    "text: an xid, or what is read as one. timestamp_ms (of a whole second), random (machine and process), counter (decimal "
    "strings): its parts, from which the text comes too. error: the code, where it must fail."
)

# id_test.go of rs/xid: Unix seconds, machine and process, counter, and the text where that or the README has it.
KNOWN: dict[str, tuple[int, int, int, str | None]] = {
    "rs/xid's tests, 1": (1300816219, 0x60F486E428, 4271561, "9m4e2mr0ui3e8a215n4g"),
    "no bit": (0, 0, 0, "0" * 20),
    "rs/xid's tests, 2": (0, 0xAABBCC0001, 1, None),
    "all bits": (MAX_32, 2**40 - 1, 2**24 - 1, "vvvvvvvvvvvvvvvvvvvg"),
}
REFUSED_TEXTS = {
    "no text": "",
    "a character too few": "9m4e2mr0ui3e8a215n4",
    "a character too many": "9m4e2mr0ui3e8a215n4g0",
    "upper case": "9M4E2MR0UI3E8A215N4G",
    "a w": "9m4e2mr0ui3e8a215nwg",
    "bits behind the last": "9m4e2mr0ui3e8a215n4h",
    "a letter of two bytes": "\u00e9m4e2mr0ui3e8a215n4g",
}
# Unix ms, random, counter, the error.
REFUSED_PARTS: dict[str, tuple[int, int, int, str]] = {
    "a time before 1970": (-1, 0, 0, "BEFORE_EPOCH"),
    "a time of 33 bits": ((MAX_32 + 1) * 1000, 0, 0, "TIME_OVERFLOW"),
    "41 random bits": (0, 2**40, 0, "INVALID_ID"),
    "a counter of 25 bits": (0, 0, 2**24, "INVALID_ID"),
}


def cases() -> list[Case]:
    written: list[Case] = []
    for name, (second, random, counter, text) in KNOWN.items():
        made = xid(second * 1000, random, counter)
        agree(name, text or made, made)
        agree(name, f"{second:08x}{random:010x}{counter:06x}", read_xid(made))
        written.append({"name": name, "text": made, **_parts(second * 1000, random, counter)})
    for name, text in REFUSED_TEXTS.items():
        refused = result_of(name, lambda text=text: {"read": read_xid(text)}, "INVALID_TEXT")
        written.append({"name": name, "text": text, **refused})
    for name, (timestamp_ms, random, counter, error) in REFUSED_PARTS.items():
        refused = result_of(name, lambda t=timestamp_ms, r=random, c=counter: {"text": xid(t, r, c)}, error)
        written.append({"name": name, **_parts(timestamp_ms, random, counter), **refused})
    return written


def _parts(timestamp_ms: int, random: int, counter: int) -> Case:
    return {"timestamp_ms": timestamp_ms, "random": str(random), "counter": str(counter)}
