"""The systems that could have minted a value."""

import types
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import snowmint
from snowmint import Candidate, Layout, Snowflake, inspect, layouts, text

TWEET = 1541815603606036480
NOW = datetime(2026, 11, 1, tzinfo=UTC)
NOW_MS = 1793491200000


def test_inspect_is_a_function_of_the_package() -> None:
    assert isinstance(snowmint.inspect, types.BuiltinFunctionType)
    assert "inspect" in snowmint.__all__


def test_a_tweet_is_first_of_all_a_tweet() -> None:
    first = inspect(str(TWEET))[0]
    assert (first.kind, first.layout, first.form, first.plausible) == ("snowflake", "twitter", "decimal", True)
    assert first.parts == layouts.TWITTER.decode(TWEET)
    assert first.timestamp == datetime(2022, 6, 28, 16, 7, 40, 105000, UTC)
    assert first.timestamp_ms == 1656432460105
    assert first.reason.startswith("time 2022-06-28, ")


@pytest.mark.parametrize(
    ("id", "name", "timestamp_us"),
    [
        (6854717870488702213, "tiktok", 1595988373000000),
        ("6685980502161199104", "linkedin", 1594061971226000),
        ("3laulgolrfz2f", "bluesky", 1731543333133695),
        (443852055297916932, "tidb", 1693161221687000),
        ("DW1nTDiDvnF", "instagram", 1775580510621000),
        ("0ujtsYcgvSTl8PAuAdqWYSMnLOv", "ksuid", 1507608047000000),
    ],
)
def test_well_known_ids_come_first_with_their_time(id: int | str, name: str, timestamp_us: int) -> None:
    first = inspect(id, now=NOW)[0]
    assert (first.layout or first.kind, first.timestamp_us) == (name, timestamp_us)
    assert first.timestamp == datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=timestamp_us)
    assert first.confidence in ("high", "medium")


def test_two_systems_that_explain_an_id_equally_well_say_so() -> None:
    first, second, third, *_ = inspect(440322224407314432, now=NOW)
    assert (first.layout, second.layout) == ("twitter", "discord")
    assert (first.confidence, second.confidence, third.confidence) == ("tied", "tied", "low")
    assert first.reason.endswith("; other systems explain it equally well")


def test_the_present_is_an_argument_or_the_systems() -> None:
    by_ms, by_datetime = inspect(TWEET, now=NOW_MS)[0], inspect(TWEET, now=NOW)[0]
    assert by_ms.reason == by_datetime.reason == "time 2022-06-28, 4.3 years before now; sequence 0"
    assert all(not candidate.plausible for candidate in inspect(TWEET, now=datetime(2011, 1, 1, tzinfo=UTC)))


@pytest.mark.parametrize("name", layouts.all())
def test_every_preset_knows_its_ids(name: str) -> None:
    layout = Layout.preset(name)
    id = layout.encode(timestamp_ms=min(NOW_MS, layout.ends_at_ms) - 1000, sequence=1)
    found = {candidate.layout: candidate for candidate in inspect(id, now=NOW)}
    assert found[name].parts == layout.decode(id)
    assert found[name].plausible


def test_an_id_just_minted_is_first_its_own_layouts() -> None:
    id = Snowflake(node=5).next_id()
    assert inspect(id)[0].layout == "snowmint"
    assert inspect(text.encode(id, "base62"))[0].layout == "snowmint"


@pytest.mark.parametrize("id", [TWEET, 2**64 - 1, -1, -(2**63), 0])
def test_an_integer_has_the_candidates_of_its_presets_and_each_encodes_to_it(id: int) -> None:
    candidates = inspect(id)
    assert candidates
    assert {candidate.form for candidate in candidates} == {"integer"}
    for candidate in candidates:
        assert candidate.layout is not None
        assert candidate.layout_text is not None
        assert candidate.parts is not None
        assert Layout.parse(candidate.layout_text).encode(candidate.parts) == id % 2**64


@pytest.mark.parametrize("made", [uuid.uuid1(), uuid.uuid3(uuid.NAMESPACE_DNS, "a"), uuid.uuid4(), uuid.UUID(int=0)])
def test_uuids_are_read_in_every_spelling(made: uuid.UUID) -> None:
    kind = f"uuid{made.version}" if made.version else "uuid_nil"
    spellings = [str(made), str(made).upper(), f"{{{made}}}", made.urn, made.hex]
    found = [inspect(spelling) for spelling in spellings]
    for candidates in found:
        assert kind in [candidate.kind for candidate in candidates]
        assert all(candidate.layout is None and candidate.parts is None for candidate in candidates)
    assert [candidates[0].form for candidates in found[:4]] == ["uuid", "uuid", "uuid_braces", "uuid_urn"]


def test_a_uuid_of_version_1_tells_the_time_that_the_standard_library_reads() -> None:
    made = uuid.uuid1()
    timestamp_ms = (made.time - 0x01B21DD213814000) // 10_000
    assert inspect(str(made))[0].timestamp_ms == timestamp_ms


def test_a_time_beyond_the_year_9999_is_none_and_its_ms_still_tell() -> None:
    candidate = inspect("7ZZZZZZZZZZZZZZZZZZZZZZZZZ")[0]
    assert (candidate.kind, candidate.timestamp, candidate.timestamp_ms) == ("ulid", None, 2**48 - 1)


@pytest.mark.parametrize(
    "garbage", ["", " ", "garbage", "hello, world", "\ud800", "\0", "é" * 11, "１" * 19, "x" * 10**6]
)
def test_garbage_gives_an_empty_list(garbage: str) -> None:
    assert inspect(garbage) == []


@pytest.mark.parametrize("beyond", [2**64, -(2**63) - 1, 10**40, -(10**40)])
def test_an_integer_beyond_64_bits_gives_an_empty_list(beyond: int) -> None:
    assert inspect(beyond) == []


@pytest.mark.parametrize("bad", [None, True, 1.0, b"1541815603606036480", uuid.uuid4(), [TWEET]])
def test_other_types_are_type_errors(bad: Any) -> None:
    with pytest.raises(TypeError):
        inspect(bad)


def test_a_naive_present_is_refused() -> None:
    with pytest.raises(ValueError, match="naive"):
        inspect(TWEET, now=datetime(2026, 11, 1))


@given(
    st.integers() | st.text(st.characters(exclude_categories=[]), max_size=100) | st.from_regex(r"[0-9A-Za-z]{0,32}")
)
def test_nothing_makes_inspect_fail(value: int | str) -> None:
    for candidate in inspect(value):
        assert candidate.reason
        assert candidate.kind in repr(candidate) or str(candidate.layout) in repr(candidate)


def test_candidates_are_equal_if_they_are_the_same_reading_of_the_same_value() -> None:
    first, *others = inspect(TWEET, now=NOW)
    again = inspect(TWEET)[0]
    assert first == again
    assert hash(first) == hash(again)
    assert first not in others
    assert first != inspect(str(TWEET))[0]
    assert first != inspect(TWEET + 1)[0]
    assert first != "twitter"
    assert len({first, again, *others}) == 1 + len(others)


def test_candidates_print_what_they_are() -> None:
    assert repr(inspect(TWEET, now=NOW)[0]) == (
        "Candidate(twitter, read as integer: time 2022-06-28, 4.3 years before now; sequence 0)"
    )


def test_candidates_are_immutable_and_only_made_by_inspect() -> None:
    candidate: Any = inspect(TWEET)[0]
    with pytest.raises(AttributeError):
        candidate.reason = "because"
    make: Any = Candidate
    with pytest.raises(TypeError):
        make()
