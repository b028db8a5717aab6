"""ulid.json: ULIDs from their parts, and from texts."""

from cases import Case, agree, result_of
from wide import MAX_48, read_ulid, ulid

COMMENT = (
    "text: a ULID, or what is read as one; with read_only it is another spelling. timestamp_ms, randomness (a decimal "
    "string): its parts, from which the text comes too. bytes: hexadecimal digits. error: the code, where it must fail."
)

# Texts from a public source or at a border, with their Unix ms if it is known.
KNOWN: dict[str, tuple[str, int | None]] = {
    "the specification's first": ("01ARZ3NDEKTSV4RRFFQ69G5FAV", None),
    "the specification's time and randomness": ("01AN4Z07BY79KA1307SR9X4MV3", None),
    "the specification's first in order": ("01BX5ZZKBKACTAV9WEVGEMMVRZ", None),
    "the specification's second in order": ("01BX5ZZKBKACTAV9WEVGEMMVS0", None),
    "the specification's last of a ms": ("01BX5ZZKBKZZZZZZZZZZZZZZZZ", None),
    "the specification's largest": ("7ZZZZZZZZZZZZZZZZZZZZZZZZZ", 281474976710655),
    "the time of ulid/javascript's tests": ("01ARYZ6S410000000000000000", 1469918176385),
    "no bit": ("00000000000000000000000000", 0),
    "the last without a time": ("0000000000ZZZZZZZZZZZZZZZZ", 0),
    "the first of the second ms": ("00000000010000000000000000", 1),
}
READ_ONLY = {
    "lower case": "01arz3ndektsv4rrffq69g5fav",
    "I and L for 1, O for 0": "OIARZ3NDEKTSV4RRFFQ69G5FAV",
    "i and l for 1, o for 0": "olarz3ndektsv4rrffq69g5fav",
}
REFUSED_TEXTS = {
    "no text": "",
    "a character too few": "01ARZ3NDEKTSV4RRFFQ69G5FA",
    "a character too much": "01ARZ3NDEKTSV4RRFFQ69G5FAV0",
    "the specification's overflow": "80000000000000000000000000",
    "the largest of 130 bits": "ZZZZZZZZZZZZZZZZZZZZZZZZZZ",
    "a U": "01ARZ3NDEKTSV4RRFFQ69G5FAU",
    "a hyphen": "01ARZ3NDEK-SV4RRFFQ69G5FAV",
    "a letter of two bytes": "\u00e91ARZ3NDEKTSV4RRFFQ69G5FA",
    "a blank at the end": "01ARZ3NDEKTSV4RRFFQ69G5FA ",
}
# Unix ms, randomness, the error.
REFUSED_PARTS: dict[str, tuple[int, int, str]] = {
    "a time before 1970": (-1, 0, "BEFORE_EPOCH"),
    "a time of 49 bits": (MAX_48 + 1, 0, "TIME_OVERFLOW"),
    "randomness of 81 bits": (0, 2**80, "INVALID_ID"),
    "randomness beyond 128 bits": (0, 2**128, "INVALID_ID"),
    "randomness below 0": (0, -1, "INVALID_ID"),
}


def cases() -> list[Case]:
    written = []
    for name, (text, timestamp_ms) in KNOWN.items():
        case = _read(name, text)
        agree(name, case["timestamp_ms"] if timestamp_ms is None else timestamp_ms, case["timestamp_ms"])
        agree(name, text, ulid(*read_ulid(text)))
        written.append(case)
    written += [{**_read(name, text), "read_only": True} for name, text in READ_ONLY.items()]
    for name, text in REFUSED_TEXTS.items():
        refused = result_of(name, lambda text=text: {"read": read_ulid(text)}, "INVALID_TEXT")
        written.append({"name": name, "text": text, **refused})
    for name, (timestamp_ms, randomness, error) in REFUSED_PARTS.items():
        parts: Case = {"timestamp_ms": timestamp_ms, "randomness": str(randomness)}
        refused = result_of(name, lambda t=timestamp_ms, r=randomness: {"text": ulid(t, r)}, error)
        written.append({"name": name, **parts, **refused})
    return written


def _read(name: str, text: str) -> Case:
    timestamp_ms, randomness = read_ulid(text)
    parts: Case = {"timestamp_ms": timestamp_ms, "randomness": str(randomness)}
    return {"name": name, "text": text, **parts, "bytes": f"{timestamp_ms:012x}{randomness:020x}"}
