"""formatted.json: patterns, times, numbers and texts."""

from functools import partial

import formatted
from cases import Case, agree, result_of
from civil import parse_rfc3339

COMMENT = (
    "pattern, period, zone, overflow: the pattern. at_ms and number (a decimal string): the time and the value of the counter. "
    "text: what they make, and what is read back as number and date. sequence: the name of the sequence of that period, of the name "
    "invoices. A case with error and text is a text that must not be read, with error and number a number without a text, and with "
    "error alone a pattern that must be refused."
)

NOVEMBER = "2026-11-27T12:00:00Z"

# Name, pattern, period, zone, overflow, time, number, stated text.
TEXTS = (
    ("an invoice of a year", "INV-{yyyy}-{000000}", "year", "Z", "error", NOVEMBER, 42, "INV-2026-000042"),
    ("the first ms of a year in UTC", "{yyyy}/{0000}", "year", "UTC", "error", "2027-01-01T00:00:00Z", 1, "2027/0001"),
    ("the last ms of a year", "{yyyy}/{0000}", "year", "Z", "error", "2026-12-31T23:59:59.999Z", 9999, "2026/9999"),
    (
        "a year that began in the east",
        "{yyyy}/{0000}",
        "year",
        "+01:00",
        "error",
        "2026-12-31T23:00:00Z",
        1,
        "2027/0001",
    ),
    (
        "a year that has not begun in the west",
        "{yy}-{000}",
        "year",
        "-09:30",
        "error",
        "2027-01-01T09:29:59Z",
        7,
        "26-007",
    ),
    ("a month of two digits", "RE{yy}{MM}{0000}", "month", "Z", "error", "2026-02-28T23:59:59Z", 3, "RE26020003"),
    ("a day of a leap year", "{yyyy}{MM}{dd}-{00}", "day", "Z", "error", "2028-02-29T12:00:00Z", 1, "20280229-01"),
    (
        "a day of the farthest zone",
        "{dd}.{MM}.{yyyy} {0}",
        "day",
        "+23:59",
        "error",
        "2026-11-27T00:01:00Z",
        5,
        "28.11.2026 5",
    ),
    (
        "an hour counts for no period",
        "{yyyy}-{MM}-{dd}T{HH}/{000}",
        "day",
        "Z",
        "error",
        NOVEMBER,
        8,
        "2026-11-27T12/008",
    ),
    ("a date without a period", "{MM}/{yy}-{000}", "none", "Z", "error", NOVEMBER, 12, "11/26-012"),
    ("a number without a date", "{000000}", "none", "Z", "error", NOVEMBER, 42, "000042"),
    ("zero", "A{00}", "none", "Z", "error", NOVEMBER, 0, "A00"),
    (
        "braces, blanks and letters of any script",
        "{{Käse}} 東京 {000}",
        "none",
        "Z",
        "error",
        NOVEMBER,
        1,
        "{Käse} 東京 001",
    ),
    ("literal digits beside the counter", "7{000}7", "none", "Z", "error", NOVEMBER, 77, "70777"),
    ("18 digits", "{000000000000000000}", "none", "Z", "error", NOVEMBER, 10**18 - 1, "999999999999999999"),
    ("a counter that grows keeps its zeros", "A{000}", "none", "Z", "grow", NOVEMBER, 999, "A999"),
    ("a counter that has grown", "A{000}", "none", "Z", "grow", NOVEMBER, 1000, "A1000"),
    ("the largest number", "{0}-{yy}", "year", "Z", "grow", NOVEMBER, 2**64 - 1, "18446744073709551615-26"),
    ("a grown counter between digits", "1{0}{yyyy}", "year", "Z", "grow", NOVEMBER, 12345, "1123452026"),
    ("the first year", "{yyyy}-{0}", "year", "Z", "error", "0000-01-01T00:00:00Z", 1, "0000-1"),
    ("the last year", "{yyyy}-{0}", "year", "Z", "error", "9999-12-31T23:59:59Z", 1, "9999-1"),
    ("the first short year", "{yy}-{0}", "year", "Z", "error", "2000-01-01T00:00:00Z", 1, "00-1"),
    ("the last short year", "{yy}-{0}", "year", "Z", "error", "2099-12-31T23:59:59Z", 1, "99-1"),
    ("Luhn's example in Wikipedia", "1789372997{0}{luhn}", "none", "Z", "grow", NOVEMBER, 0, None),
    (
        "a test number of a card",
        "4111 1111 1111 {000}{luhn}",
        "none",
        "Z",
        "error",
        NOVEMBER,
        111,
        "4111 1111 1111 1111",
    ),
    (
        "Luhn over counter, date and literals",
        "RE{yy}{MM}-{0000}-{luhn}",
        "month",
        "Z",
        "error",
        NOVEMBER,
        42,
        "RE2611-0042-4",
    ),
    ("Luhn of a grown counter", "{00}{luhn}", "none", "Z", "grow", NOVEMBER, 7992739871, "79927398713"),
    ("the example of ISO/IEC 7064", "{000}{mod97}", "none", "Z", "error", NOVEMBER, 794, "79444"),
    (
        "an IBAN of the United Kingdom",
        "WEST {00000000000000}GB{mod97}",
        "none",
        "Z",
        "error",
        NOVEMBER,
        12345698765432,
        "WEST 12345698765432GB82",
    ),
    (
        "small letters count as capitals",
        "west {00000000000000}gb{mod97}",
        "none",
        "Z",
        "error",
        NOVEMBER,
        12345698765432,
        "west 12345698765432gb82",
    ),
    (
        "an IBAN of Germany",
        "{000000000000000000}DE{mod97}",
        "none",
        "Z",
        "error",
        NOVEMBER,
        370400440532013000,
        "370400440532013000DE89",
    ),
    ("mod97 over a date", "INV-{yyyy}-{000000}-{mod97}", "year", "Z", "error", NOVEMBER, 42, None),
    ("mod97 of nothing but zeros", "{00}{mod97}", "none", "Z", "error", NOVEMBER, 0, "0098"),
    ("letters of other scripts do not count", "é{00}{mod97}", "none", "Z", "error", NOVEMBER, 0, "é0098"),
)

# Name, pattern, period, zone, overflow, time, number, error.
NUMBERS = (
    ("one digit too many", "{000}", "none", "Z", "error", NOVEMBER, 1000, "EXHAUSTED"),
    ("2^64 in a counter of 3 digits", "{000}", "none", "Z", "error", NOVEMBER, 2**64, "EXHAUSTED"),
    ("a negative number", "{000}", "none", "Z", "error", NOVEMBER, -1, "INVALID_ID"),
    ("a negative number of a counter that grows", "{000}", "none", "Z", "grow", NOVEMBER, -(10**30), "INVALID_ID"),
    ("2^64 of a counter that grows", "{000}", "none", "Z", "grow", NOVEMBER, 2**64, "INVALID_ID"),
    ("the year 2100 in two digits", "{yy}-{0}", "year", "Z", "error", "2100-01-01T00:00:00Z", 1, "TIME_OVERFLOW"),
    ("the year 2100 in the east", "{yy}-{0}", "none", "+00:01", "error", "2099-12-31T23:59:00Z", 1, "TIME_OVERFLOW"),
    ("the year 1999 in two digits", "{yy}-{0}", "year", "Z", "error", "1999-12-31T23:59:59.999Z", 1, "TIME_OVERFLOW"),
    ("the year 10000 in the east", "{yyyy}-{0}", "year", "+01:00", "error", "9999-12-31T23:00:00Z", 1, "TIME_OVERFLOW"),
    (
        "the year before 0 in the west",
        "{yyyy}-{0}",
        "year",
        "-00:01",
        "error",
        "0000-01-01T00:00:59Z",
        1,
        "TIME_OVERFLOW",
    ),
)

# Name, pattern, period, zone, overflow.
REFUSED = (
    ("no text", "", "none", "Z", "error"),
    ("65 bytes", "é" * 31 + "{0}", "none", "Z", "error"),
    ("no counter", "INV-{yyyy}", "year", "Z", "error"),
    ("two counters", "{0}{0}", "none", "Z", "error"),
    ("a counter of 19 digits", "{0000000000000000000}", "none", "Z", "error"),
    ("an unknown token", "{mm}{0}", "none", "Z", "error"),
    ("an empty token", "{}{0}", "none", "Z", "error"),
    ("a blank in a token", "{ 0 }", "none", "Z", "error"),
    ("an open brace", "{0}{", "none", "Z", "error"),
    ("a single closing brace", "{0}}", "none", "Z", "error"),
    ("a line end", "{0}\n", "none", "Z", "error"),
    ("a zero-width space", "{0}\u200b", "none", "Z", "error"),
    ("two years", "{yyyy}{yy}{0}", "none", "Z", "error"),
    ("two months", "{MM}{MM}{0}", "none", "Z", "error"),
    ("check digits before the end", "{0}{luhn}-", "none", "Z", "error"),
    ("two kinds of check digits", "{0}{mod97}{luhn}", "none", "Z", "error"),
    ("check digits before the counter", "{luhn}{0}", "none", "Z", "error"),
    ("a period of a year without a year", "INV-{000000}", "year", "Z", "error"),
    ("a period of a month without a month", "{yyyy}{0}", "month", "Z", "error"),
    ("a period of a month without a year", "{MM}{0}", "month", "Z", "error"),
    ("a period of a day without a day", "{yyyy}{MM}{0}", "day", "Z", "error"),
    ("a period of a day without a month", "{yyyy}{dd}{0}", "day", "Z", "error"),
    ("an unknown period", "{yyyy}{0}", "week", "Z", "error"),
    ("a zone with a name", "{0}", "none", "Europe/Berlin", "error"),
    ("a zone without minutes", "{0}", "none", "+01", "error"),
    ("a zone of 24 hours", "{0}", "none", "+24:00", "error"),
    ("a zone of 60 minutes", "{0}", "none", "-00:60", "error"),
    ("an unknown overflow", "{0}", "none", "Z", "cut"),
)

# Name, pattern, period, overflow, text.
TEXTS_REFUSED = (
    ("a digit is missing", "INV-{0000}", "none", "error", "INV-042"),
    ("a digit more than the counter", "INV-{0000}", "none", "error", "INV-00042"),
    ("a counter that has not enough digits to grow", "A{000}", "none", "grow", "A42"),
    ("a grown counter with a zero in front", "A{000}", "none", "grow", "A0042"),
    ("a grown counter of 2^64", "A{000}", "none", "grow", "A18446744073709551616"),
    ("a grown counter of 21 digits", "A{000}", "none", "grow", "A100000000000000000000"),
    ("another literal", "INV-{0000}", "none", "error", "INW-0042"),
    ("small letters", "INV-{0000}", "none", "error", "inv-0042"),
    ("a sign", "{0000}", "none", "error", "+042"),
    ("a digit of another script", "{0000}", "none", "error", "00\u0662"),
    ("a blank behind the text", "{0000}", "none", "error", "0042 "),
    ("nothing", "{0}", "none", "error", ""),
    ("a letter in place of a composed one", "é{0}", "none", "error", "e\u03011"),
    ("the month 13", "{yyyy}{MM}-{0}", "month", "error", "202613-1"),
    ("the month 0", "{yyyy}{MM}-{0}", "month", "error", "202600-1"),
    ("the day 0", "{dd}-{0}", "none", "error", "00-1"),
    ("the 31st of April", "{yyyy}{MM}{dd}{0}", "day", "error", "202604311"),
    ("the 29th of February 2026", "{yyyy}{MM}{dd}{0}", "day", "error", "202602291"),
    ("the 29th of February 2100", "{yyyy}{MM}{dd}{0}", "day", "error", "210002291"),
    ("the hour 24", "{HH}{0}", "none", "error", "241"),
    ("a wrong digit before Luhn's", "RE{yy}{MM}-{0000}-{luhn}", "month", "error", "RE2611-0043-4"),
    ("a wrong check digit of Luhn", "RE{yy}{MM}-{0000}-{luhn}", "month", "error", "RE2611-0042-5"),
    ("exchanged digits before Luhn's", "{00}{luhn}", "none", "error", "218"),
    ("a wrong digit before mod97", "{000}{mod97}", "none", "error", "79544"),
    ("exchanged digits before mod97", "{000}{mod97}", "none", "error", "97444"),
    ("check digits 01, which leave the remainder of 98", "{00}{mod97}", "none", "error", "0001"),
    ("check digits 99, which leave the remainder of 02", "{00}{mod97}", "none", "error", "3299"),
)


def fields(text: str, period: str, zone: str, overflow: str) -> Case:
    return {"pattern": text, "period": period, "zone": zone, "overflow": overflow}


def written(name: str, pattern: Case, at_ms: int, number: int, stated: str | None) -> Case:
    form = formatted.pattern(*map(str, pattern.values()))
    date = formatted.date_at(form, at_ms)
    text = formatted.write(form, number, date)
    if stated is not None:
        agree(name, stated, text)
    agree(name, (number, date), formatted.read(form, text))
    shown = {formatted.PARTS[part]: value for part, value in date.items()}
    return {"text": text, "sequence": formatted.sequence(form, date, "invoices"), "date": shown}


def refused(name: str, pattern: Case, text: str | None) -> Case:
    def ask() -> Case:
        form = formatted.pattern(*map(str, pattern.values()))
        return {"number": formatted.read(form, text)} if text is not None else {}

    return result_of(name, ask, "INVALID_TEXT")


def cases() -> list[Case]:
    """The cases of the file."""
    table: list[Case] = []
    for name, text, period, zone, overflow, time, number, stated in TEXTS:
        pattern, at_ms = fields(text, period, zone, overflow), parse_rfc3339(time)
        answer = written(name, pattern, at_ms, number, stated)
        table.append({"name": name, **pattern, "at_ms": at_ms, "number": str(number), **answer})
    for name, text, period, zone, overflow, time, number, error in NUMBERS:
        pattern, at_ms = fields(text, period, zone, overflow), parse_rfc3339(time)
        answer = result_of(name, partial(written, name, pattern, at_ms, number, None), error)
        table.append({"name": name, **pattern, "at_ms": at_ms, "number": str(number), **answer})
    for name, *pattern_of in REFUSED:
        pattern = fields(*pattern_of)
        table.append({"name": name, **pattern, **refused(name, pattern, None)})
    for name, text, period, overflow, given in TEXTS_REFUSED:
        pattern = fields(text, period, "Z", overflow)
        table.append({"name": name, **pattern, "text": given, **refused(name, pattern, given)})
    return table
