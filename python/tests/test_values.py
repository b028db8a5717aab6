"""ULIDs and ObjectIds: small values."""

import copy
import pickle
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import snowmint
from snowmint import ULID, InvalidIdError, InvalidTextError, ObjectId, inspect, object_id, ulid

CLASSES: list[tuple[Any, Callable[[], Any], int]] = [(ULID, ulid, 16), (ObjectId, object_id, 12)]


@pytest.mark.parametrize(("kind", "mint", "size"), CLASSES)
def test_a_value_is_had_back_from_its_text_its_bytes_and_its_pickle(
    kind: Any, mint: Callable[[], Any], size: int
) -> None:
    for one in (mint(), kind()):
        assert type(one) is kind
        assert len(one.bytes) == size
        assert one.bytes == bytes(one)
        for text in (str(one), str(one).lower(), str(one).upper()):
            assert kind(text) == one
        assert kind(one.bytes) == kind(one) == one
        assert repr(one) == f"{kind.__name__}('{one}')"
        again = [pickle.loads(pickle.dumps(one, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
        for other in (*again, copy.copy(one), copy.deepcopy(one)):
            assert type(other) is kind
            assert (other, hash(other)) == (one, hash(one))


@given(st.binary(min_size=16, max_size=16), st.binary(min_size=16, max_size=16))
def test_values_are_ordered_as_their_bytes_and_texts_are(a: bytes, b: bytes) -> None:
    for kind, _, size in CLASSES:
        one, other = kind(a[:size]), kind(b[:size])
        assert (one < other, one <= other, one == other) == (a[:size] < b[:size], a[:size] <= b[:size], a == b)
        assert (one > other, one >= other, one != other) == (a[:size] > b[:size], a[:size] >= b[:size], a != b)
        assert (one < other) == (str(one) < str(other))


@pytest.mark.parametrize(("kind", "mint", "size"), CLASSES)
def test_a_value_has_no_order_with_other_things_and_cannot_be_changed(
    kind: Any, mint: Callable[[], Any], size: int
) -> None:
    one = mint()
    assert one != str(one)
    assert one != one.bytes
    assert one is not None
    with pytest.raises(TypeError):
        one < str(one)  # noqa: B015
    with pytest.raises(AttributeError):
        one.timestamp_ms = 5


@pytest.mark.parametrize(("kind", "mint", "size"), CLASSES)
def test_a_values_time_is_the_present(kind: Any, mint: Callable[[], Any], size: int) -> None:
    one = mint()
    assert one.timestamp.tzinfo is UTC
    assert abs((one.timestamp - datetime.now(UTC)).total_seconds()) < 60
    assert round(one.timestamp.timestamp() * 1000) == one.timestamp_ms


@pytest.mark.parametrize(("kind", "mint", "size"), CLASSES)
def test_what_is_none_is_refused(kind: Any, mint: Callable[[], Any], size: int) -> None:
    with pytest.raises(InvalidTextError, match="has 2[46] "):
        kind("none")
    with pytest.raises(InvalidTextError):
        kind("\ud800" * 24)
    with pytest.raises(InvalidIdError, match=f"{size} bytes are needed, not 3"):
        kind(b"abc")
    for wrong in (5, 1.5, [], object(), type("Odd", (), {"bytes": "text"})()):
        with pytest.raises(TypeError, match=f"{size} bytes, or an object with an attribute bytes, are needed, not "):
            kind(wrong)
    with pytest.raises(ValueError, match="naive"):
        kind.from_parts(datetime(2026, 1, 1))
    with pytest.raises(TypeError):
        kind.from_parts("2026-01-01")


def test_ulids_strictly_increase() -> None:
    minted = [ulid() for _ in range(10_000)]
    assert all(a < b for a, b in zip(minted, minted[1:], strict=False))
    assert snowmint.ulid_str() < str(snowmint.ulid()) < snowmint.ulid_str()


def test_a_ulid_and_a_uuid_are_the_same_bits() -> None:
    one = ulid()
    assert one.to_uuid() == uuid.UUID(bytes=one.bytes)
    assert one.to_uuid().int == int(one)
    assert ULID(one.to_uuid()) == one


def test_the_lowest_of_an_instant_is_made_of_it_alone() -> None:
    since = datetime(2026, 1, 1, 12, 30, 1, 999_999, UTC)
    assert ULID.from_parts(since).timestamp == since.replace(microsecond=999_000)
    assert ULID.from_parts(since).randomness == 0
    assert ObjectId.from_parts(since).timestamp == since.replace(microsecond=0)
    assert ObjectId.from_parts(since).bytes[4:] == bytes(8)
    assert ULID.from_parts(since) < ulid()
    assert ObjectId.from_parts(since) < object_id()


def test_a_time_that_datetime_cannot_hold_is_none() -> None:
    late = ULID("7ZZZZZZZZZZZZZZZZZZZZZZZZZ")
    assert (late.timestamp, late.timestamp_ms) == (None, 2**48 - 1)


def test_object_ids_of_a_process_share_their_middle_and_count() -> None:
    minted = [object_id() for _ in range(10_000)]
    assert len({one.bytes[4:9] for one in minted}) == 1
    counters = [int.from_bytes(one.bytes[9:]) for one in minted]
    assert all((b - a) % 2**24 == 1 for a, b in zip(counters, counters[1:], strict=False))
    assert len(set(minted)) == 10_000


def test_the_old_middle_of_an_object_id_is_told_by_inspect() -> None:
    reason = inspect("47cc67093475061e3d95369d")[0].reason
    assert "machine 347506 and process 7741; counter 9778845" in reason


@pytest.mark.parametrize("name", ["ULID", "ObjectId"])
def test_the_classes_are_of_the_package(name: str) -> None:
    assert getattr(snowmint, name).__module__ == "snowmint"
