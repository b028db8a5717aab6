"""Lists the systems that could have minted an integer or a text, the most plausible first."""

from dataclasses import dataclass, replace
from itertools import pairwise

import idtext
import textids
from civil import DAY_MS, days_from_civil, format_rfc3339
from errors import Refused
from grammar import parse
from layout import Layout
from parts import decode
from presets import PRESETS, READ_ONLY

YEAR_MS = DAY_MS * 1461 // 4
UNITS = ((DAY_MS, "day"), (3_600_000, "hour"), (60_000, "minute"), (1000, "second"))

# Costs are quarters of a bit: an explanation of 1 bit less is twice as probable.
BIT = 4
# Explanations whose costs differ by less are equally good; by more than CLEAR, the better one is sure.
EQUAL, CLEAR = 3 * BIT, 6 * BIT
# The cost of explaining an ID by an unknown system.
UNKNOWN = 68 * BIT
# A text of a form that no system prints needs this much structure to be an ID.
STRUCTURED = 56 * BIT
# The cost of a text that could also be the ID of a YouTube video: such IDs leave two bits of the last digit 0.
VIDEO = 4 * BIT

Ranges = tuple[tuple[int, int, int], ...]


def _day(year: int, month: int, day: int) -> int:
    return days_from_civil(year, month, day) * DAY_MS


@dataclass(frozen=True)
class Bits:
    """How the values of some bits are spread: `ranges` of (first, last, cost in bits), and the cost of other values.

    Without ranges every value has the same cost, the width.
    """

    shift: int
    width: int
    ranges: Ranges = ()
    other: int = 0

    def cost(self, value: int) -> int:
        """Returns the cost of the value at these bits of an ID, in bits."""
        value = value >> self.shift & ((1 << self.width) - 1)
        if not self.ranges:
            return self.width
        return next((cost for first, last, cost in self.ranges if first <= value <= last), self.other)


@dataclass(frozen=True)
class Counter(Bits):
    """A counter that starts again at 0, mostly small: half of all values are 0."""

    def cost(self, value: int) -> int:
        """Returns the cost of the value at these bits of an ID, in bits."""
        bits = (value >> self.shift & ((1 << self.width) - 1)).bit_length()
        return bits + bits // 2 + 2 if bits else 1


@dataclass(frozen=True)
class Number(Bits):
    """A number that is assigned from 0 on."""

    def cost(self, value: int) -> int:
        """Returns the cost of the value at these bits of an ID, in bits."""
        bits = (value >> self.shift & ((1 << self.width) - 1)).bit_length()
        return min(bits + 3, self.width + 1) if bits else 2


@dataclass(frozen=True)
class System:
    """Unix ms at which a system began (None: its epoch), how rare its IDs are (in bits), and its bits.

    Without `spread` the fields of the layout decide: a sequence is a counter, a node of up to 10 bits a number, and all
    other values are equally probable. IDs below `until` have the spread `old`.
    """

    begins_ms: int | None
    rare: float
    spread: tuple[Bits, ...] = ()
    old: tuple[Bits, ...] = ()
    until: int = 0


# Data centre 1 until the middle of 2015, then 10, 11 and 13.
TWITTER_2010 = (Bits(12, 10, ((32, 39, 4),), 13), Bits(0, 12, ((0, 0, 0), (1, 1, 3), (2, 3, 6), (4, 15, 9)), 16))
TWITTER = (Bits(12, 10, ((320, 383, 7), (416, 447, 7)), 14), Counter(0, 12))
# A counter that goes on from ms to ms, and now and then starts again.
INCREMENT = Bits(0, 12, ((0, 0, 2), (1, 3, 4), (4, 15, 6), (16, 63, 8), (64, 255, 9), (256, 1023, 12)), 20)
DISCORD_2015 = (
    Bits(17, 5, ((0, 2, 2),), 10),
    Bits(12, 5, ((0, 0, 0), (1, 7, 6)), 9),
    Bits(0, 12, ((0, 0, 1), (1, 1, 2), (2, 15, 6), (16, 63, 8), (64, 255, 10), (256, 1023, 13)), 20),
)
DISCORD = (Bits(17, 5, ((0, 2, 2),), 10), Bits(12, 5, ((0, 0, 2), (1, 7, 4)), 9), INCREMENT)
# Small before 2012.
INSTAGRAM_2011 = (Bits(0, 23), Bits(0, 1, ((0, 1, 4),)))
TIKTOK = (
    Bits(22, 10, ((0, 999, 10),), 20),
    Bits(19, 3, ((0, 0, 1), (1, 3, 4)), 8),
    Bits(14, 5),
    Bits(12, 2, ((0, 0, 0),), 8),
    # A video; a user or a sound; a user; a device; live video.
    Bits(8, 4, ((13, 13, 1), (0, 0, 5), (4, 4, 4), (6, 6, 4), (11, 11, 4)), 9),
    Bits(0, 8, ((1, 63, 6),), 9),
)
LINKEDIN = (Bits(12, 10, ((0, 127, 7),), 13), Counter(0, 12))

# The systems with the most common IDs come first.
SYSTEMS: dict[str, System] = {
    "twitter": System(None, 0, TWITTER, TWITTER_2010, 620 * 10**15),
    "discord": System(None, 1.5, DISCORD, DISCORD_2015, 510 * 10**15),
    "instagram": System(None, 1, (Bits(0, 23),), INSTAGRAM_2011, 100 * 10**15),
    "tiktok": System(_day(2014, 1, 1), 1, TIKTOK),
    "linkedin": System(_day(2012, 1, 1), 2, LINKEDIN),
    "mastodon": System(_day(2017, 9, 4), 2, (Bits(0, 16),)),
    "bluesky": System(_day(2022, 11, 1), 6, (Bits(0, 10, ((0, 63, 7),), 12),)),
    "pinterest": System(None, 4),
    "snowmint": System(_day(2026, 1, 1), 8),
    "sentry": System(None, 4, (Bits(4, 12, ((0, 0, 1), (1, 15, 5)), 13), Counter(0, 4))),
    "cockroachdb": System(_day(2015, 6, 1), 4, (Bits(0, 15, ((1, 1, 2), (2, 15, 5), (16, 255, 9)), 17),)),
    "tidb": System(_day(2016, 1, 1), 5, (Counter(0, 18),)),
    "clickhouse": System(_day(2024, 5, 1), 5, (Bits(12, 10), Counter(0, 12))),
    "tsid": System(None, 5, (Bits(0, 22),)),
    "sonyflake": System(_day(2015, 6, 1), 5),
    "sonyflake2": System(_day(2025, 5, 5), 7),
    "leaf": System(_day(2018, 12, 11), 8),
    "baidu": System(None, 8),
    "cosid": System(_day(2021, 6, 23), 8),
    "seata": System(None, 8, (Bits(53, 10), Bits(0, 12))),
    "shardingsphere": System(None, 8),
    "hazelcast": System(None, 8, (Bits(0, 22),)),
    "yitter": System(_day(2021, 3, 11), 6),
    "yitter_typescript": System(_day(2021, 3, 11), 8),
    "yitter_csharp": System(_day(2021, 3, 11), 8),
    "gosnowflake": System(None, 9),
    "callicoder": System(_day(2018, 6, 1), 8),
    "iteye": System(None, 10),
    "safe53": System(_day(2026, 1, 1), 8),
}
# The bits of an ID of Pinterest ("Sharding Pinterest"), which has no time: 16 of the shard, 10 of the type, 36 of the object.
PINTEREST = (Bits(46, 16), Bits(36, 10, ((1, 1, 1),), 5), Number(0, 36))

# Forms that few systems print: these systems, and the cost of all other systems, in bits. Of texts in these forms only
# plausible candidates count. hex15 and hex16 are hexadecimal digits without 0x.
OWN: dict[str, tuple[tuple[str, ...], int]] = {
    "hex15": (("sonyflake", "sonyflake2"), 6),
    "hex16": ((), 4),
    "base32": (("tsid",), 8),
    "base36": ((), 4),
    "base58": ((), 4),
    "base62": ((), 4),
    "base64url": (("instagram",), 0),
    "base32_sortable": (("bluesky",), 0),
    "prefixed": (("snowmint",), 2),
}
# Forms that only one system prints.
ALONE = ("base64url", "base32_sortable")
BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
SORTABLE = "234567abcdefghijklmnopqrstuvwxyz"

# The meanings of the local number of a version 2, by its domain.
DOMAINS = ("user", "group", "organisation")

UUID_V1, UUID_V7, ULID, OBJECT_ID = _day(1990, 1, 1), _day(2020, 1, 1), _day(2016, 1, 1), _day(2007, 1, 1)


@dataclass(frozen=True)
class Candidate:
    """`doubt`: 0 none, 1 before the system began, 2 within a day of the epoch, 3 more than a day from now."""

    kind: str
    layout: str | None
    form: str
    timestamp_ms: int | None
    doubt: int
    cost: int
    reason: str
    confidence: str = ""


def inspect(value: int | str, now_ms: int) -> list[Candidate]:
    """Lists the candidates for an integer of any size or a text; an empty list for garbage."""
    found: list[Candidate] = []
    if isinstance(value, int):
        found += _ids("integer", value, now_ms)
    else:
        text = value.strip(" \t\n\f\r")
        for form, number in readings(text):
            video = form == "base64url" and len(text) == 11 and BASE64URL.index(text[-1]) % 4 == 0
            found += [replace(one, cost=one.cost + VIDEO * video) for one in _ids(form, number, now_ms)]
        found += _others(text, now_ms)
    found.sort(key=lambda one: (one.doubt, one.cost))
    return [_judged(one, _confidence(one, found)) for one in found]


def _judged(one: Candidate, confidence: str) -> Candidate:
    tie = "; other systems explain it equally well" if confidence == "tied" else ""
    return replace(one, confidence=confidence, reason=one.reason + tie)


def _confidence(one: Candidate, found: list[Candidate]) -> str:
    if one.doubt:
        return "unlikely"
    costs = [other.cost for other in found if not other.doubt]
    equal = sum(cost - costs[0] < EQUAL for cost in costs)
    if one.cost - costs[0] >= EQUAL:
        return "low"
    if equal > 1:
        return "tied"
    gap = min([*costs[1:], UNKNOWN]) - costs[0]
    return "high" if gap >= CLEAR else "medium" if gap >= EQUAL else "low"


def readings(text: str) -> list[tuple[str, int]]:
    """Lists the forms in which a text is a 64-bit ID, each with the ID."""
    found: list[tuple[str, int]] = []
    digits = text.removeprefix("-")
    if digits.isascii() and digits.isdecimal():
        # Digits alone are decimal, although most other forms allow them.
        return [("decimal", int(text))] if len(text) <= 20 else []
    if text[:2] in ("0x", "0X") and 1 <= len(text) - 2 <= 16 and _is_hex(text[2:]):
        found.append(("hex", int(text, 0)))
    if len(text) == 15 and _is_hex(text):
        found.append(("hex15", int(text, 16)))
    for form in idtext.FORMS:
        try:
            found.append(("hex16" if form == "hex" else form, idtext.decode(text, form)))
        except Refused:
            continue
    if len(text) == 13 and set(text) <= set(SORTABLE):
        found.append(("base32_sortable", _number(text, SORTABLE)))
    if len(text) in (10, 11) and set(text) <= set(BASE64URL) and text[0] != "A" and not _is_word(text):
        found.append(("base64url", _number(text, BASE64URL)))
    prefixed = textids.prefixed(text)
    if prefixed is not None:
        found.append(("prefixed", prefixed))
    return [(form, number) for form, number in found if number < 2**64]


def _number(text: str, alphabet: str) -> int:
    number = 0
    for character in text:
        number = number * len(alphabet) + alphabet.index(character)
    return number


def _is_word(text: str) -> bool:
    """Whether a text is a word or a name, not a number: it lacks upper or lower case, or seldom changes its class."""
    if text.upper() == text or text.lower() == text:
        return True
    classes = ["-_".count(one) or (one.isdecimal() and 2) or (one.isupper() and 3) or 4 for one in text]
    changes = sum(left != right for left, right in pairwise(classes))
    return changes <= (3 if text.isalpha() and len(text) == 10 else 2)


def log2(number: int) -> int:
    """The logarithm of a number above 0, in quarters of a bit, rounded down between powers of two on a straight line."""
    bits = number.bit_length() - 1
    return BIT * bits + ((number << 2 >> bits) & 3)


def _ids(form: str, number: int, now_ms: int) -> list[Candidate]:
    if not -(2**63) <= number < 2**64:
        return []
    number %= 2**64
    found = []
    own, foreign = OWN.get(form, ((), 0))
    for name, system in SYSTEMS.items():
        if form in ALONE and name not in own:
            continue
        candidate = _id(form.rstrip("156") if form.startswith("hex") else form, name, system, number, now_ms)
        if candidate is None:
            continue
        if form in OWN:
            structured = name in own or form == "prefixed" or candidate.cost - int(system.rare * BIT) <= STRUCTURED
            if candidate.doubt or not structured:
                continue
            candidate = replace(candidate, cost=candidate.cost + (0 if name in own else foreign * BIT))
        found.append(candidate)
    return found


def _id(form: str, name: str, system: System, number: int, now_ms: int) -> Candidate | None:
    if name == "pinterest":
        # Pins are of type 1, boards of type 2.
        if number >> 62 or not 1 <= number >> 36 & 1023 <= 15:
            return None
        cost = sum(bits.cost(number) for bits in PINTEREST) * BIT + int(system.rare * BIT)
        shard, kind, local = number >> 46, number >> 36 & 1023, number & (1 << 36) - 1
        pin = " (a pin)" if kind == 1 else ""
        reason = f"no time; shard {shard}, type {kind}{pin}, object {local}"
        return Candidate("snowflake", name, form, None, 0, cost, reason)
    layout = parse((PRESETS | READ_ONLY)[name])
    try:
        parts = decode(layout, number)
    except Refused:
        return None
    begins = layout.epoch_ms if system.begins_ms is None else system.begins_ms
    span_ms = max(now_ms, parts.timestamp_ms) - min(begins, parts.timestamp_ms)
    cost = int(system.rare * BIT)
    if abs(parts.timestamp_ms - now_ms) < DAY_MS:
        # One ID in eight is younger than a day.
        span_ms, cost = DAY_MS, cost + 3 * BIT
    cost += log2(max(span_ms * 1000 // layout.tick_us, 1))
    spread = system.old if number < system.until else system.spread or _spread(layout)
    cost += sum(bits.cost(number) for bits in spread) * BIT
    doubt, time = _time(parts.timestamp_ms, now_ms, begins, layout.epoch_ms, name)
    zeros = ("; node 0" if layout.nodes > 1 and not parts.node else "") + _sequence_0(layout, parts.sequence)
    return Candidate("snowflake", name, form, parts.timestamp_ms, doubt, cost, _unlikely(doubt) + time + zeros)


def _sequence_0(layout: Layout, sequence: int) -> str:
    return "; sequence 0" if layout.width("sequence") and not sequence else ""


def _spread(layout: Layout) -> tuple[Bits, ...]:
    spread: list[Bits] = []
    for field in layout.fields:
        shift, width = layout.shift(field.name), field.bits
        if field.name == "sequence":
            spread.append(Counter(shift, width))
        elif field in layout.node_fields:
            spread.append(Number(shift, width) if width <= 10 else Bits(shift, width))
    return tuple(spread)


def _time(timestamp_ms: int, now_ms: int, begins_ms: int, epoch_ms: int, name: str) -> tuple[int, str]:
    """Returns the doubt and the sentence that explains it."""
    if timestamp_ms > now_ms + DAY_MS:
        doubt, other_ms, relation = 3, now_ms, "after now"
    elif timestamp_ms < begins_ms:
        doubt, other_ms, relation = 1, begins_ms, f"before {name} began"
    elif timestamp_ms < epoch_ms + DAY_MS:
        doubt, other_ms, relation = 2, epoch_ms, "after the epoch"
    else:
        doubt, other_ms, relation = 0, now_ms, "after now" if timestamp_ms > now_ms else "before now"
    date = format_rfc3339(timestamp_ms).partition("T")[0]
    if len(date) > len("9999-12-31"):
        date = f"+{date:0>12}"
    return doubt, f"time {date}, {_span(abs(timestamp_ms - other_ms))} {relation}"


def _unlikely(doubt: int) -> str:
    return "unlikely: " if doubt else ""


def _span(ms: int) -> str:
    if ms >= YEAR_MS:
        return f"{ms // YEAR_MS}.{ms % YEAR_MS * 10 // YEAR_MS} years"
    for length, unit in UNITS:
        if ms >= length:
            return f"{ms // length} {unit}{'s' if ms // length > 1 else ''}"
    return f"{ms} ms"


def _is_hex(text: str) -> bool:
    return all(character in "0123456789abcdefABCDEF" for character in text)


def _others(text: str, now_ms: int) -> list[Candidate]:
    found = []
    for form, digits in _uuid_texts(text):
        found.append(_uuid(form, digits, now_ms))
        swapped = digits[8:16] + digits[4:8] + digits[:4] + digits[16:]
        if form == "uuid_hex" and swapped[12] == "1" and swapped[16] in "89abAB":
            found.append(_uuid("uuid_swapped", swapped, now_ms))
    if len(text) == 26 and text[0] in "01234567iIlLoO":
        crockford = idtext.FORMS["base32"]
        values = [crockford.alphabet.find(crockford.also.get(character, character)) for character in text]
        if min(values) >= 0:
            milliseconds = 0
            for value in values[:10]:
                milliseconds = milliseconds * 32 + value
            doubt, time = _time(milliseconds, now_ms, ULID, 0, "such IDs")
            found.append(Candidate("ulid", None, "ulid", milliseconds, doubt, 0, _unlikely(doubt) + time))
    value = textids.type_id(text)
    if value is not None:
        found.append(replace(_uuid("prefixed", value, now_ms), kind="type_id"))
    for kind, about in textids.KINDS.items():
        # Digits alone are decimal.
        if not about.shape.fullmatch(text) or text.isdecimal():
            continue
        timestamp_ms = about.unix_ms(text)
        if timestamp_ms is None:
            continue
        doubt, time = _time(timestamp_ms, now_ms, about.begins_ms, 0, "such IDs")
        if not doubt:
            found.append(Candidate(kind, None, kind, timestamp_ms, doubt, 0, time + about.rest(text)))
    if len(text) == 24 and _is_hex(text):
        timestamp_ms = int(text[:8], 16) * 1000
        doubt, time = _time(timestamp_ms, now_ms, OBJECT_ID, 0, "such IDs")
        middle = text[8:18].lower()
        reason = (
            f"{_unlikely(doubt)}{time}; random {middle}, or machine {middle[:6]} and process {int(middle[6:], 16)}; "
            f"counter {int(text[18:], 16)}"
        )
        found.append(Candidate("object_id", None, "object_id", timestamp_ms, doubt, 0, reason))
    return found


def _uuid_texts(text: str) -> list[tuple[str, str]]:
    """Returns the form in which a text is a UUID, with its 32 digits."""
    if len(text) == 32 and _is_hex(text):
        return [("uuid_hex", text)]
    form = "uuid"
    if text[:1] == "{" and text[-1:] == "}":
        form, text = "uuid_braces", text[1:-1]
    elif text[:9].lower() == "urn:uuid:":
        form, text = "uuid_urn", text[9:]
    groups = text.split("-")
    if [len(group) for group in groups] == [8, 4, 4, 4, 12] and _is_hex("".join(groups)):
        return [(form, "".join(groups))]
    return []


def _uuid(form: str, digits: str, now_ms: int) -> Candidate:
    number = int(digits, 16)
    variant, version = int(digits[16], 16), int(digits[12], 16)
    kind, reason, timestamp_ms, doubt = "uuid", "", None, 0
    if number in (0, 2**128 - 1):
        kind = "uuid_max" if number else "uuid_nil"
        reason = f"the {kind[5:]} UUID"
    elif not 8 <= variant <= 11:
        family = "NCS" if variant < 8 else "Microsoft" if variant < 14 else "reserved"
        reason = f"a UUID of the {family} variant, without a version"
    elif 1 <= version <= 8:
        kind = f"uuid{version}"
        reason = f"version {version}" + {
            2: ", DCE security",
            3: ", MD5 of a name",
            4: ", random",
            5: ", SHA-1 of a name",
            8: ", defined by its minter",
        }.get(version, "")
    else:
        reason = f"version {version}, which is not defined"
    if kind in ("uuid1", "uuid2", "uuid6", "uuid7"):
        if version == 7:
            timestamp_ms = int(digits[:12], 16)
        else:
            low, middle, high = digits[:8], digits[8:12], digits[13:16]
            if version == 2:
                low = "0" * 8
            intervals = int(low + middle + high, 16) if version == 6 else int(high + middle + low, 16)
            timestamp_ms = (intervals + days_from_civil(1582, 10, 15) * DAY_MS * 10_000) // 10_000
        doubt, time = _time(timestamp_ms, now_ms, UUID_V1 if version < 3 else UUID_V7, 0, "such IDs")
        reason = f"{_unlikely(doubt)}{reason}, {time}"
        if version != 7:
            node = digits[20:].lower()
            mac = ":".join(node[at : at + 2] for at in range(0, 12, 2))
            sequence = int(digits[16:20], 16) % 2**14
            if version == 2:
                sequence, domain = divmod(sequence, 256)
                local = int(digits[:8], 16)
                reason += f"; {DOMAINS[domain]} {local}" if domain < 3 else f"; number {local} of domain {domain}"
            reason += f"; node {mac}; clock sequence {sequence}"
    return Candidate(kind, None, form, timestamp_ms, doubt, 0 if timestamp_ms is not None else CLEAR, reason)
