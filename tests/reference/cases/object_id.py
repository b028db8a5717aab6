"""object_id.json: ObjectIds from their parts, and from texts."""

from cases import Case, agree, result_of
from wide import MAX_32, object_id

COMMENT = (
    "text: an ObjectId, or what is read as one; with read_only it is another spelling. timestamp_ms (of a whole second), "
    "random, counter (decimal strings): its parts, from which the text comes too. error: the code, where it must fail."
)

# Unix seconds, the 40 and the 24 bits, and the text where a public source has it.
KNOWN: dict[str, tuple[int, int, int, str | None]] = {
    "MongoDB's documented one": (1350508407, 0xBCF86CD799, 0x439011, "507f1f77bcf86cd799439011"),
    "one with machine and process": (1204578057, 0x3475061E3D, 0x95369D, "47cc67093475061e3d95369d"),
    "the specification's first second": (0, 0, 0, None),
    "the specification's 2038-01-19T03:14:07Z": (0x7FFFFFFF, 0, 0, None),
    "the specification's 2038-01-19T03:14:08Z": (0x80000000, 0, 0, None),
    "the specification's 2106-02-07T06:28:15Z": (0xFFFFFFFF, 0, 0, None),
    "all bits": (MAX_32, 2**40 - 1, 2**24 - 1, "f" * 24),
}
REFUSED_TEXTS = {
    "no text": "",
    "a digit too few": "507f1f77bcf86cd79943901",
    "a digit too much": "507f1f77bcf86cd7994390111",
    "a g": "507f1f77bcf86cd79943901g",
    "a blank at the end": "507f1f77bcf86cd79943901 ",
    "digits of another script": "\uff11" * 24,
}
# Unix ms, random, counter, the error.
REFUSED_PARTS: dict[str, tuple[int, int, int, str]] = {
    "a time before 1970": (-1, 0, 0, "BEFORE_EPOCH"),
    "a time of 33 bits": ((MAX_32 + 1) * 1000, 0, 0, "TIME_OVERFLOW"),
    "41 random bits": (0, 2**40, 0, "INVALID_ID"),
    "a counter of 25 bits": (0, 0, 2**24, "INVALID_ID"),
    "a counter beyond 64 bits": (0, 0, 2**64, "INVALID_ID"),
    "random bits below 0": (0, -1, 0, "INVALID_ID"),
}


def cases() -> list[Case]:
    written = []
    for name, (second, random, counter, text) in KNOWN.items():
        made = object_id(second * 1000, random, counter)
        agree(name, text or made, made)
        written.append({"name": name, "text": made, **_parts(second * 1000, random, counter)})
    second, random, counter, text = KNOWN["MongoDB's documented one"]
    capitals: Case = {"text": str(text).upper(), **_parts(second * 1000, random, counter), "read_only": True}
    written.append({"name": "capitals", **capitals})
    written += [{"name": name, "text": text, "error": "INVALID_TEXT"} for name, text in REFUSED_TEXTS.items()]
    for name, (timestamp_ms, random, counter, error) in REFUSED_PARTS.items():
        refused = result_of(name, lambda t=timestamp_ms, r=random, c=counter: {"text": object_id(t, r, c)}, error)
        written.append({"name": name, **_parts(timestamp_ms, random, counter), **refused})
    return written


def _parts(timestamp_ms: int, random: int, counter: int) -> Case:
    return {"timestamp_ms": timestamp_ms, "random": str(random), "counter": str(counter)}
