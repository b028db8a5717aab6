"""IDs moved about and back."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snowmint import InvalidIdError, Snowflake, SnowmintError, scatter

SIGNED = st.integers(0, 2**63 - 1) | st.integers(0, 10**6) | st.sampled_from([0, 2**53, 9 * 10**18, 2**63 - 1])
PAIRS: list[tuple[Callable[[int, int], int], Callable[[int, int], int]]] = [
    (scatter.rotate_digits, scatter.unrotate_digits),
    (scatter.shard_high, scatter.unshard_high),
]


def test_digits_move_behind_the_first() -> None:
    assert scatter.rotate_digits(1234567, 2) == 1672345
    assert scatter.unrotate_digits(1672345, 2) == 1234567
    assert scatter.rotate_digits(120, 1) == 102


def test_the_lowest_bit_comes_to_lead_and_the_result_is_positive_in_a_signed_column() -> None:
    assert scatter.reverse_bits(1) == 2**62
    assert scatter.reverse_bits(2**63 - 1) == 2**63 - 1


def test_ids_of_one_tick_go_to_every_shard_alike() -> None:
    ids = Snowflake("snowmint", 7, clock=lambda: 1_772_323_200_000).next_ids(4096)
    assert set(Counter(scatter.shard_high(id, 4) >> 59 for id in ids).values()) == {256}


@given(SIGNED, st.integers(0, 70))
def test_what_is_scattered_is_had_back(id: int, by: int) -> None:
    assert scatter.reverse_bits(scatter.reverse_bits(id)) == id
    for there, back in (*PAIRS, *((back, there) for there, back in PAIRS)):
        try:
            scattered = there(id, by)
        except InvalidIdError:
            continue
        assert 0 <= scattered < 2**63
        assert back(scattered, by) == id


@given(st.integers(), st.integers())
def test_no_integer_whatever_its_size_ends_in_another_error(id: int, by: int) -> None:
    for call in (*PAIRS[0], *PAIRS[1], lambda id, _: scatter.reverse_bits(id)):
        try:
            call(id, by)
        except SnowmintError as error:
            assert error.code == "INVALID_ID"


@pytest.mark.parametrize("id", [-1, 2**63, 2**64, -(2**63) - 1, 10**40])
def test_an_id_that_does_not_fit_63_bits_is_refused(id: int) -> None:
    with pytest.raises(InvalidIdError):
        scatter.reverse_bits(id)
    for pair in PAIRS:
        for call in pair:
            with pytest.raises(InvalidIdError):
                call(id, 1)


@pytest.mark.parametrize("by", [-1, 64, 2**32, 2**64, 10**40])
def test_a_number_of_digits_or_bits_that_the_id_does_not_have_is_refused(by: int) -> None:
    for pair in PAIRS:
        for call in pair:
            with pytest.raises(InvalidIdError):
                call(1541815603606036480, by)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: scatter.rotate_digits(12345, 5), "cannot move more than 4 digits of a 5-digit ID"),
        (
            lambda: scatter.rotate_digits(2**63 - 1, 1),
            "the result 9722337203685477580 is above 2^63-1",
        ),
        (lambda: scatter.reverse_bits(2**63), "ID 9223372036854775808 cannot be scattered: it is above 2^63-1"),
        (lambda: scatter.shard_high(5, 64), "a shard number has 0 to 63 bits"),
    ],
)
def test_a_refusal_says_what_would_be_right(call: Callable[[], int], sentence: str) -> None:
    with pytest.raises(InvalidIdError) as caught:
        call()
    assert str(caught.value) == sentence


@pytest.mark.parametrize("bad", [True, 1.0, "1", None])
def test_other_types_are_type_errors(bad: Any) -> None:
    with pytest.raises(TypeError):
        scatter.reverse_bits(bad)
    for pair in PAIRS:
        for call in pair:
            with pytest.raises(TypeError):
                call(bad, 1)
            with pytest.raises(TypeError):
                call(5, bad)
