"""ksuid.json: KSUIDs from their parts, and from texts."""

from cases import Case, agree, result_of
from wide import MAX_32, ksuid, read_ksuid

COMMENT = (
    "text: a KSUID, or what is read as one. timestamp_ms (of a whole second), payload (32 hexadecimal digits): its parts, from "
    "which the text comes too. error: the code, where it must fail."
)

EPOCH_MS = 1_400_000_000_000
# Texts from a public source or at a border, with their Unix seconds and payload if they are known.
KNOWN: dict[str, tuple[str, int | None, str | None]] = {
    "the README's example": ("0ujtsYcgvSTl8PAuAdqWYSMnLOv", 1507608047, "b5a1cd34b5f99d1154fb6853345c9735"),
    "the README's first of four": ("0ujsszwN8NRY24YaXiTIE2VWDTS", None, None),
    "the README's third of four": ("0ujsswThIGTUYm2K8FjOOfXtY1K", None, None),
    "no bit": ("0" * 27, 1_400_000_000, "0" * 32),
    "all bits": ("aWgEPTl1tmebfsQzFP4bxwgy80V", 1_400_000_000 + MAX_32, "f" * 32),
}
REFUSED_TEXTS = {
    "no text": "",
    "a character too few": "0ujtsYcgvSTl8PAuAdqWYSMnLO",
    "a character too many": "0ujtsYcgvSTl8PAuAdqWYSMnLOv0",
    "one more than 160 bits": "aWgEPTl1tmebfsQzFP4bxwgy80W",
    "the largest number": "z" * 27,
    "a hyphen": "0ujtsYcgvSTl8PAuAdqWYSMnLO-",
    "a letter of two bytes": "\u00e9ujtsYcgvSTl8PAuAdqWYSMnLO",
}
REFUSED_PARTS = {
    "a time before the epoch": (EPOCH_MS - 1, "BEFORE_EPOCH"),
    "a time of 33 bits": (EPOCH_MS + (MAX_32 + 1) * 1000, "TIME_OVERFLOW"),
}


def cases() -> list[Case]:
    written: list[Case] = []
    for name, (text, second, payload) in KNOWN.items():
        timestamp_ms, bits = read_ksuid(text)
        agree(name, text, ksuid(timestamp_ms, bits))
        agree(name, (second or timestamp_ms // 1000, payload or f"{bits:032x}"), (timestamp_ms // 1000, f"{bits:032x}"))
        written.append({"name": name, "text": text, "timestamp_ms": timestamp_ms, "payload": f"{bits:032x}"})
    for name, text in REFUSED_TEXTS.items():
        refused = result_of(name, lambda text=text: {"read": read_ksuid(text)}, "INVALID_TEXT")
        written.append({"name": name, "text": text, **refused})
    for name, (timestamp_ms, error) in REFUSED_PARTS.items():
        refused = result_of(name, lambda t=timestamp_ms: {"text": ksuid(t, 0)}, error)
        written.append({"name": name, "timestamp_ms": timestamp_ms, "payload": "0" * 32, **refused})
    return written
