"""scatter.json: IDs scattered and restored."""

from collections.abc import Callable

import scatter
from cases import Case, agree, result_of

COMMENT = (
    "scatter. id, scattered: decimal strings, each the other's by the function and its inverse (reverse_bits is its own). "
    "by: digits or bits, a decimal string; reverse_bits has none. error: the code, where the function must fail."
)

FUNCTIONS: dict[str, Callable[..., int]] = {
    name: getattr(scatter, name)
    for name in ("rotate_digits", "unrotate_digits", "reverse_bits", "shard_high", "unshard_high")
}
INVERSES = {"rotate_digits": "unrotate_digits", "reverse_bits": "reverse_bits", "shard_high": "unshard_high"}

TWEET = 1541815603606036480
# The IDs of an article on TiDB, which rotates digits in the application; its results for k of 1 to 3.
ARTICLE = 561632371724517376
PUBLISHED = {
    "an article's ID by one digit": 566163237172451737,
    "an article's ID by two digits": 576616323717245173,
    "an article's ID by three digits": 537661632371724517,
    "another of its IDs by one digit": 516163237172871168,
}
MAX = scatter.MAX_SCATTERED

# Name, function, ID, by.
ROWS: tuple[tuple[str, str, int, int | None], ...] = (
    ("an article's ID by one digit", "rotate_digits", ARTICLE, 1),
    ("an article's ID by two digits", "rotate_digits", ARTICLE, 2),
    ("an article's ID by three digits", "rotate_digits", ARTICLE, 3),
    ("another of its IDs by one digit", "rotate_digits", 561632371728711681, 1),
    ("no digit moves", "rotate_digits", TWEET, 0),
    ("one digit alone stays", "rotate_digits", 0, 0),
    ("two digits by one are the same", "rotate_digits", 10, 1),
    ("a zero at the end does not come to lead", "rotate_digits", 120, 1),
    ("zeros in the middle are kept", "rotate_digits", 1000000007, 4),
    ("all but the first digit are the same", "rotate_digits", TWEET, 18),
    ("the largest ID of 18 digits", "rotate_digits", 10**18 - 1, 17),
    ("the smallest ID of 19 digits", "rotate_digits", 10**18, 1),
    ("nineteen digits that stay below 2^63", "rotate_digits", 9123456789012345672, 1),
    ("2^53 by two digits", "rotate_digits", 2**53, 2),
    ("the lowest bit comes to lead", "reverse_bits", 1, None),
    ("no bit", "reverse_bits", 0, None),
    ("all 63 bits", "reverse_bits", MAX, None),
    ("a tweet's bits", "reverse_bits", TWEET, None),
    ("2^53's bit", "reverse_bits", 2**53, None),
    ("a tweet into 16 shards", "shard_high", TWEET, 4),
    ("the tweet after it into 16 shards", "shard_high", TWEET + 1, 4),
    ("a tweet into 32 shards", "shard_high", TWEET, 5),
    ("a tweet into 32768 shards", "shard_high", TWEET, 15),
    ("one shard is no change", "shard_high", TWEET, 0),
    ("zero into two shards", "shard_high", 0, 1),
    ("2^63-1 into 16 shards", "shard_high", MAX, 4),
    ("2^53 into 8 shards", "shard_high", 2**53, 3),
    ("every bit but one in the shard", "shard_high", TWEET, 62),
    ("every bit in the shard", "shard_high", TWEET, 63),
)

# Name, function, ID, by: all INVALID_ID.
REFUSED: tuple[tuple[str, str, int, int | None], ...] = (
    ("as many digits as there are", "rotate_digits", 12345, 5),
    ("as many digits back as there are", "unrotate_digits", 12345, 5),
    ("a digit of zero", "rotate_digits", 0, 1),
    ("nineteen digits", "rotate_digits", TWEET, 19),
    ("a negative number of digits", "rotate_digits", TWEET, -1),
    ("digits beyond 64 bits", "rotate_digits", TWEET, 2**64),
    ("2^63-1, whose rotation passes it", "rotate_digits", MAX, 1),
    ("a rotation that none below 2^63 has", "unrotate_digits", 9199999999999999999, 1),
    ("2^63 by no digit", "rotate_digits", 2**63, 0),
    ("2^63 back by no digit", "unrotate_digits", 2**63, 0),
    ("a negative ID's digits", "rotate_digits", -5, 0),
    ("an ID beyond 64 bits by one digit", "rotate_digits", 10**30, 1),
    ("2^63's bits", "reverse_bits", 2**63, None),
    ("2^64-1's bits", "reverse_bits", 2**64 - 1, None),
    ("a negative ID's bits", "reverse_bits", -1, None),
    ("an ID's bits beyond 64", "reverse_bits", 2**64, None),
    ("2^63 into shards", "shard_high", 2**63, 4),
    ("2^63 back from shards", "unshard_high", 2**63, 4),
    ("a negative ID into shards", "shard_high", -1, 4),
    ("more bits of a shard than the ID has", "shard_high", 5, 64),
    ("more bits back than the ID has", "unshard_high", 5, 64),
    ("a negative number of bits", "shard_high", 5, -1),
    ("bits beyond 64 bits", "unshard_high", 5, 10**30),
)


def cases() -> list[Case]:
    written = [_case(*row) for row in ROWS]
    for case in written:
        if case["name"] in PUBLISHED:
            agree(str(case["name"]), str(PUBLISHED[str(case["name"])]), case["scattered"])
    return [*written, *(_case(*row, error="INVALID_ID") for row in REFUSED)]


def _case(name: str, function: str, value: int, by: int | None, error: str | None = None) -> Case:
    arguments = () if by is None else (by,)

    def ask() -> Case:
        scattered = FUNCTIONS[function](value, *arguments)
        agree(name, value, FUNCTIONS[INVERSES[function]](scattered, *arguments))
        return {"scattered": str(scattered)}

    asked: Case = {"name": name, "function": function, "id": str(value)}
    return {**asked, **({} if by is None else {"by": str(by)}), **result_of(name, ask, error)}
