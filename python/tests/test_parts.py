"""Parts of an ID."""

import copy
import pickle
from datetime import UTC, datetime

import pytest

from snowmint import (
    BeforeEpochError,
    InvalidIdError,
    InvalidLayoutError,
    Layout,
    Snowflake,
    TimeOverflowError,
    layouts,
)

ID = 1541815603606036480
PARTS = layouts.TWITTER.decode(ID)


def test_parts_tell_what_the_id_tells() -> None:
    assert PARTS.timestamp == datetime(2022, 6, 28, 16, 7, 40, 105000, UTC)
    assert PARTS.timestamp.tzinfo is UTC
    assert (PARTS.timestamp_ms, PARTS.tick, PARTS.node, PARTS.sequence) == (1656432460105, 367597485448, 378, 0)


def test_fields_come_high_to_low_without_unused_in_a_dict_of_their_own() -> None:
    PARTS.fields.clear()
    assert list(PARTS.fields.items()) == [("time", 367597485448), ("datacenter", 11), ("worker", 26), ("sequence", 0)]


def test_random_bits_are_a_field_and_survive_the_round_trip() -> None:
    layout = Layout("time:42,random:10,node:4,sequence:8;epoch=0")
    id = layout.encode(timestamp_ms=5, node=3, sequence=9, random=1023)
    assert layout.decode(id).fields == {"time": 5, "random": 1023, "node": 3, "sequence": 9}
    assert layout.encode(layout.decode(id)) == id


def test_a_timestamp_beyond_the_year_9999_is_an_error_and_its_ms_remain() -> None:
    parts = layouts.MASTODON.decode(2**64 - 1)
    with pytest.raises(TimeOverflowError, match="the language's dates"):
        _ = parts.timestamp
    assert parts.timestamp_ms == 281474976710655
    assert "10889-08-02T05:31:50.655Z, tick=281474976710655, node=0, sequence=65535)" in repr(parts)


def test_parts_are_equal_if_they_are_of_one_id_and_layout() -> None:
    again = Layout.parse(str(layouts.TWITTER)).decode(ID)
    assert again == PARTS
    assert hash(again) == hash(PARTS)
    assert PARTS != layouts.TWITTER.decode(ID + 1)
    assert PARTS != layouts.LEAF.decode(ID)
    assert PARTS != ID
    assert len({PARTS, again, layouts.LEAF.decode(ID), layouts.DISCORD.decode(2**64 - 1)}) == 3


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_parts_survive_pickling_and_copying(protocol: int) -> None:
    assert pickle.loads(pickle.dumps(PARTS, protocol)) == PARTS
    assert copy.copy(PARTS) == copy.deepcopy(PARTS) == PARTS


@pytest.mark.parametrize("name", ["node", "timestamp", "anything"])
def test_parts_are_immutable(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(PARTS, name, 1)


def test_parts_print_their_time_and_fields() -> None:
    expected = "timestamp=2022-06-28T16:07:40.105Z, tick=367597485448, node=378, datacenter=11, worker=26, sequence=0"
    assert repr(PARTS) == f"Parts({expected})"


def test_ticks_below_a_ms_decode_and_encode_to_the_microsecond() -> None:
    bluesky = Layout("unused:1,time:53,clock:10;epoch=0;tick=1us")
    parts = bluesky.decode(1773100373128903691)
    assert parts.timestamp == datetime(2024, 11, 14, 0, 15, 33, 133695, UTC)
    assert (parts.timestamp_ms, parts.timestamp_us) == (1731543333133, 1731543333133695)
    assert (bluesky.tick_ms, bluesky.tick_us, bluesky.mintable) == (0, 1, False)
    for time in ({"timestamp": parts.timestamp}, {"timestamp_us": parts.timestamp_us}):
        assert bluesky.encode(node=11, **time) == 1773100373128903691
    assert bluesky.encode(parts) == 1773100373128903691
    with pytest.raises(BeforeEpochError):
        bluesky.encode(timestamp_us=-1)
    for far in (2**63, 10**40):
        with pytest.raises(TimeOverflowError):
            bluesky.encode(timestamp_us=far)


def test_fixed_values_are_written_and_refused() -> None:
    sentry = Layout("version:5=16,time:32,region:12,sequence:4;epoch=1659916800000;tick=1s")
    parts = sentry.decode(4509563503640576)
    assert (parts.fields["version"], parts.node) == (16, 0)
    assert sentry.encode(parts) == 4509563503640576
    assert Snowflake(layout=sentry, node=5).next_id() >> 48 == 16
    with pytest.raises(InvalidIdError, match="lacks a fixed value"):
        sentry.decode(4509563503640576 >> 1)


def test_opaque_bits_are_read_and_never_minted() -> None:
    linkedin = Layout("time:42,opaque:22;epoch=0")
    parts = linkedin.decode(6685980502161199104)
    assert linkedin.encode(timestamp_ms=parts.timestamp_ms, opaque=parts.fields["opaque"]) == 6685980502161199104
    for layout in (linkedin, Layout("time:53,node:10;epoch=0;tick=1us")):
        with pytest.raises(InvalidLayoutError, match="ticks of whole ms and no opaque bits"):
            Snowflake(layout=layout, node=0)
    with pytest.raises(InvalidIdError):
        linkedin.encode(timestamp_ms=0, opaque=2**22)
