"""Layouts: text, facts, decoding, encoding, ranges."""

import copy
import pickle
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

import snowmint
from snowmint import (
    BeforeEpochError,
    InvalidIdError,
    InvalidLayoutError,
    InvalidNodeError,
    Layout,
    TimeOverflowError,
    layouts,
)

ID = 1541815603606036480
ID_MS = 1656432460105
HUGE = [2**53, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**127, 2**128, 10**40]


@pytest.mark.parametrize(("name", "layout"), layouts.all().items())
def test_a_preset_is_a_constant_and_knows_its_name(name: str, layout: Layout) -> None:
    assert getattr(layouts, name.upper()) == Layout.preset(name) == layout
    assert layout.name == name


@pytest.mark.parametrize("name", ["Twitter", "twitter ", "", "time 41"])
def test_what_is_no_layout_is_refused_with_the_presets_to_go_by(name: str) -> None:
    with pytest.raises(InvalidLayoutError, match="no such preset: choose snowmint, twitter,"):
        snowmint.Snowflake(layout=name, node=5)


def test_no_preset_is_missing_and_none_is_extra() -> None:
    constants = {name for name, value in vars(layouts).items() if isinstance(value, Layout)}
    assert constants == {name.upper() for name in layouts.all()}


def test_presets_come_in_a_dict_of_their_own() -> None:
    layouts.all().clear()
    assert len(layouts.all()) == 15


def test_a_layout_prints_its_canonical_text() -> None:
    layout = Layout.parse("time:42,region:4,worker:6,sequence:12;epoch=2025-01-01T00:00:00Z;tick=2000ms")
    canonical = "time:42,region:4,worker:6,sequence:12;epoch=1735689600000;tick=2s"
    assert str(layout) == canonical
    assert repr(layout) == f"Layout('{canonical}')"
    assert eval(repr(layout)) == layout
    assert layout.name is None


def test_layouts_are_equal_if_their_texts_are() -> None:
    twitter = Layout.parse(str(layouts.TWITTER))
    assert twitter == layouts.TWITTER != layouts.LEAF
    assert hash(twitter) == hash(layouts.TWITTER)
    assert layouts.TWITTER != str(layouts.TWITTER)
    assert {layouts.TWITTER: 1}[twitter] == 1


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_layouts_survive_pickling_and_copying(protocol: int) -> None:
    layout = layouts.SONYFLAKE
    assert pickle.loads(pickle.dumps(layout, protocol)) == layout
    assert copy.copy(layout) == copy.deepcopy(layout) == layout


@pytest.mark.parametrize("name", ["bits", "name", "fields", "anything"])
def test_layouts_are_immutable(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(layouts.TWITTER, name, 1)


def test_fields_come_high_to_low_without_unused_in_a_dict_of_their_own() -> None:
    layouts.SONYFLAKE.fields.clear()
    assert list(layouts.SONYFLAKE.fields.items()) == [("time", 39), ("sequence", 8), ("machine", 16)]


def test_times_are_aware_datetimes_in_utc() -> None:
    assert layouts.TWITTER.epoch == datetime(2010, 11, 4, 1, 42, 54, 657000, UTC)
    assert layouts.BAIDU.ends_at == datetime(2024, 11, 20, 13, 24, 15, tzinfo=UTC)
    assert layouts.GOSNOWFLAKE.signed_until is not None
    assert layouts.GOSNOWFLAKE.signed_until.year == 2086
    assert layouts.GOSNOWFLAKE.signed_until.utcoffset() == timedelta(0)
    assert (layouts.TWITTER.signed_until, layouts.TWITTER.signed_until_ms) == (None, None)


@pytest.mark.parametrize(
    ("epoch_ms", "year"),
    [
        (-(2**53) + 1, None),
        (-62135596800001, None),
        (-62135596800000, 1),
        (253402300799999, 9999),
        (253402300800000, None),
        (2**53 - 1, None),
    ],
)
def test_a_time_that_datetime_cannot_hold_is_none(epoch_ms: int, year: int | None) -> None:
    layout = Layout(f"time:1;epoch={epoch_ms}")
    assert layout.epoch_ms == epoch_ms
    assert (layout.epoch and layout.epoch.year) == year
    parts = layout.decode(0)
    if year is None:
        with pytest.raises(TimeOverflowError):
            _ = parts.timestamp
    else:
        assert parts.timestamp == layout.epoch


def test_the_latest_end_of_all_is_a_number() -> None:
    layout = Layout("unused:1,time:63;epoch=0")
    assert (layout.ends_at, layout.ends_at_ms) == (None, 2**63 - 1)


@pytest.mark.parametrize(
    "text", ["", "Twitter", "time:41", "time:41;epoch=0\0", "time:41;epoch=\ud800", "zeit:41;epoch=0", "ü" * 999]
)
def test_a_malformed_text_is_refused(text: str) -> None:
    for make in (Layout, Layout.parse, Layout.preset, snowmint.Snowflake):
        with pytest.raises(InvalidLayoutError):
            make(text)


def test_a_name_is_no_text_and_a_text_is_no_name() -> None:
    with pytest.raises(InvalidLayoutError):
        Layout.parse("twitter")
    with pytest.raises(InvalidLayoutError):
        Layout.preset(str(layouts.TWITTER))


@pytest.mark.parametrize("text", [None, 5, b"twitter", layouts.TWITTER])
def test_a_text_is_a_str(text: Any) -> None:
    for make in (Layout, Layout.parse, Layout.preset):
        with pytest.raises(TypeError):
            make(text)


def test_ids_are_taken_in_signed_form_and_as_numpy_integers() -> None:
    id = 2**63 + 12345
    parts = layouts.DISCORD.decode(id)
    assert layouts.DISCORD.decode(id - 2**64) == parts
    assert layouts.DISCORD.decode(np.uint64(id)) == parts
    assert layouts.DISCORD.decode(np.int64(id - 2**64)) == parts
    assert layouts.DISCORD.encode(parts) == id


@pytest.mark.parametrize("dtype", ["<u8", ">u8", "<i8", ">i8"])
def test_arrays_of_ids_have_the_parts_of_each_id(dtype: str) -> None:
    ids = [2**63 - 5, 12345, 175928847299117063, 0]
    array = np.array(ids).astype(dtype).reshape(2, 2)
    parts = layouts.DISCORD.decode_array(array[:, ::-1])
    fields = parts.pop("fields")
    assert {each.shape for each in [*parts.values(), *fields.values()]} == {(2, 2)}
    for id, at in zip(ids, [(0, 1), (0, 0), (1, 1), (1, 0)], strict=True):
        one = layouts.DISCORD.decode(id)
        told = {"timestamp_ms": one.timestamp_ms, "tick": one.tick, "node": one.node, "sequence": one.sequence}
        assert {name: parts[name][at] for name in told} == told
        assert {name: fields[name][at] for name in fields} == one.fields
        assert parts["timestamp"][at] == np.datetime64(one.timestamp.replace(tzinfo=None), "ms")
    parts["node"][0, 0] = 7
    assert layouts.DISCORD.decode_array(np.array([], "u8"))["tick"].shape == (0,)


def test_a_field_may_have_the_name_of_a_part() -> None:
    layout = Layout("time:41,node:4,tick:6,timestamp:4,sequence:8;epoch=2025-01-01T00:00:00Z")
    one = layout.decode(layout.encode(timestamp_ms=1767225600000, node=(5 << 10) + (7 << 4) + 3, sequence=2))
    parts = layout.decode_array([layout.encode(one)])
    fields = {name: column[0] for name, column in parts["fields"].items()}
    assert fields == one.fields == {"time": one.tick, "node": 5, "tick": 7, "timestamp": 3, "sequence": 2}
    assert (parts["node"][0], parts["tick"][0], parts["timestamp_ms"][0]) == (one.node, one.tick, one.timestamp_ms)
    assert parts["timestamp"][0] == np.datetime64(one.timestamp.replace(tzinfo=None), "ms")


@pytest.mark.parametrize("ids", [np.array([1, 2]), np.array([1]), [1, 2], np.zeros((2, 2), "u8")])
def test_decode_of_an_array_names_decode_array(ids: Any) -> None:
    with pytest.raises(TypeError, match=r"an int is needed, not (ndarray|list): decode_array takes arrays"):
        layouts.TWITTER.decode(ids)


def test_an_array_of_other_items_or_with_a_wrong_id_is_refused() -> None:
    for array in [np.zeros(2), np.zeros(2, np.uint32), ["5"], [2**70]]:
        with pytest.raises(TypeError, match="ids is a numpy array of uint64 or int64, not of"):
            layouts.SAFE53.decode_array(array)
    with pytest.raises(InvalidIdError):
        layouts.SAFE53.decode_array([5, 2**60])


@pytest.mark.parametrize(
    "id", [2**64, -(2**63) - 1, -(2**64), -(2**64) + 5, 2**127, -(2**127), 2**128, 10**40, -(10**40)]
)
def test_integers_beyond_64_bits_are_no_ids(id: int) -> None:
    with pytest.raises(InvalidIdError):
        layouts.DISCORD.decode(id)


@pytest.mark.parametrize("id", [True, False, 1.0, "1", None, b"1", np.float64(1), np.bool_(True)])
def test_what_is_no_int_is_no_id(id: Any) -> None:
    with pytest.raises(TypeError):
        layouts.DISCORD.decode(id)


class Index:
    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


def test_what_has_an_index_is_an_int() -> None:
    assert layouts.DISCORD.decode(Index(175928847299117063)).sequence == 7
    assert layouts.DISCORD.decode(Index(-1)).sequence == 4095
    with pytest.raises(InvalidIdError):
        layouts.DISCORD.decode(Index(-(10**40)))
    assert layouts.TWITTER.encode(timestamp_ms=Index(ID_MS), node=Index(378)) == ID
    with pytest.raises(BeforeEpochError):
        layouts.TWITTER.encode(timestamp_ms=Index(-(10**40)))


def test_a_node_is_a_number_a_mapping_or_a_text() -> None:
    node: Any
    for node in (378, np.uint16(378), {"worker": 26, "datacenter": 11}, "378", "datacenter=11,worker=26"):
        assert layouts.TWITTER.encode(timestamp_ms=ID_MS, node=node) == ID


@pytest.mark.parametrize(
    "node",
    [
        *(n for huge in HUGE for n in (huge, -huge)),
        1024,
        -1,
        {},
        {"worker": 5},
        {"worker": 5, "datacenter": 32},
        {"worker": 5, "datacenter": -(10**40)},
        {"worker": 5, "datacenter": 0, "sequence": 0},
        {"worker": 5, "\ud800": 0},
        "",
        "1024",
        " 5",
        "worker=5",
        "\ud800",
    ],
)
def test_a_node_that_does_not_fit_is_refused(node: Any) -> None:
    with pytest.raises(InvalidNodeError):
        layouts.TWITTER.encode(timestamp_ms=ID_MS, node=node)
    with pytest.raises(InvalidNodeError):
        snowmint.Snowflake("twitter", node)


@pytest.mark.parametrize("node", [True, 5.0, b"5", [5], {"worker": 1.0, "datacenter": 0}, {1: 5}, {"worker": True}])
def test_a_node_of_another_type_is_a_type_error(node: Any) -> None:
    with pytest.raises(TypeError):
        layouts.TWITTER.encode(timestamp_ms=ID_MS, node=node)
    with pytest.raises(TypeError):
        snowmint.Snowflake("twitter", node)


@pytest.mark.parametrize("value", [*HUGE, *(-huge for huge in HUGE), 4096, -1])
def test_sequence_and_random_of_any_size_are_checked(value: int) -> None:
    with pytest.raises(InvalidIdError):
        layouts.TWITTER.encode(timestamp_ms=ID_MS, sequence=value)
    with pytest.raises(InvalidIdError):
        Layout("time:41,random:12;epoch=0").encode(timestamp_ms=0, random=value)


def test_times_of_any_size_are_before_the_epoch_or_past_the_end() -> None:
    # The last layout reaches every later time of 64 bits, except the last ms, which represents all later ones.
    for layout in (layouts.TWITTER, layouts.SONYFLAKE, layouts.MASTODON, Layout("unused:1,time:63;epoch=0")):
        for ms in (2**63, 2**64, 10**40):
            with pytest.raises(TimeOverflowError):
                layout.encode(timestamp_ms=ms)
            with pytest.raises(BeforeEpochError):
                layout.encode(timestamp_ms=-ms)
        for dt_from, dt_to in ((layout.epoch_ms, 2**63), (10**40, 10**40)):
            with pytest.raises(TimeOverflowError):
                layout.id_range(dt_from, dt_to)
    assert Layout("unused:1,time:63;epoch=0").encode(timestamp_ms=2**63 - 2) == 2**63 - 2


def test_a_timestamp_is_an_aware_datetime_of_any_zone() -> None:
    utc = datetime(2022, 6, 28, 16, 7, 40, 105999, UTC)
    tokyo = utc.astimezone(timezone(timedelta(hours=9)))
    for timestamp in (utc, tokyo):
        assert layouts.TWITTER.encode(timestamp=timestamp, node=378) == ID
    before_1970 = Layout("time:41;epoch=-1000")
    assert before_1970.encode(timestamp=datetime(1969, 12, 31, 23, 59, 59, 999999, UTC)) == 999


def test_extreme_datetimes_are_before_the_epoch_or_past_the_end() -> None:
    with pytest.raises(BeforeEpochError):
        layouts.TWITTER.encode(timestamp=datetime.min.replace(tzinfo=timezone(timedelta(hours=23))))
    with pytest.raises(TimeOverflowError):
        layouts.TWITTER.encode(timestamp=datetime.max.replace(tzinfo=timezone(timedelta(hours=-23))))


def test_naive_datetimes_are_refused() -> None:
    naive = datetime(2022, 6, 28)
    with pytest.raises(ValueError, match="naive"):
        layouts.TWITTER.encode(timestamp=naive)
    with pytest.raises(ValueError, match="naive"):
        layouts.TWITTER.id_range(ID_MS, naive)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "an ID needs a time"),
        ({"node": 5}, "an ID needs a time"),
        ({"timestamp_ms": ID_MS, "timestamp": datetime.now(UTC)}, "given twice, with different values"),
        ({"parts": layouts.TWITTER.decode(ID), "timestamp_ms": ID_MS + 1}, "given twice, with different values"),
        ({"parts": layouts.TWITTER.decode(ID), "node": 5}, "given twice, with different values"),
        ({"timestamp_ms": ID_MS, "random": 0, "opaque": 1}, "random 1 does not fit"),
    ],
)
def test_encode_takes_one_value_of_each_part(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidIdError, match=sentence):
        layouts.TWITTER.encode(**arguments)


def test_encode_takes_equal_parts_twice() -> None:
    parts = layouts.TWITTER.decode(ID)
    assert layouts.TWITTER.encode(parts, timestamp=parts.timestamp, node="378", sequence=0, random=0, opaque=0) == ID


@pytest.mark.parametrize(
    "arguments",
    [
        {"parts": ID},
        {"timestamp_ms": float(ID_MS)},
        {"timestamp_ms": True},
        {"timestamp_ms": datetime.now(UTC)},
        {"timestamp": ID_MS},
        {"timestamp_ms": ID_MS, "sequence": 1.0},
    ],
)
def test_encode_takes_parts_of_their_types(arguments: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        layouts.TWITTER.encode(**arguments)


def test_a_bad_time_is_told_before_a_bad_node_field() -> None:
    with pytest.raises(BeforeEpochError):
        layouts.TWITTER.encode(timestamp_ms=0, node={"nowhere": 1})


def test_parts_of_one_layout_are_encoded_under_another() -> None:
    parts = layouts.TWITTER.decode(ID)
    again = layouts.LEAF.decode(layouts.LEAF.encode(parts))
    assert (again.timestamp_ms, again.node, again.sequence) == (ID_MS, 378, 0)
    node_8 = layouts.SNOWMINT.encode(timestamp_ms=2 * 10**12, node=8)
    with pytest.raises(InvalidNodeError):
        layouts.SAFE53.encode(layouts.SNOWMINT.decode(node_8))


def test_a_range_takes_datetimes_and_unix_ms() -> None:
    day = datetime(2022, 6, 28, tzinfo=UTC)
    end = day + timedelta(days=1) - timedelta(microseconds=1)
    low, high = layouts.TWITTER.id_range(day, end)
    assert (low, high) == layouts.TWITTER.id_range(1656374400000, 1656460799999)
    assert (low, high) == layouts.TWITTER.id_range(day, 1656460799999)
    assert low <= ID <= high
    with pytest.raises(TypeError):
        layouts.TWITTER.id_range("2022-06-28", end)  # type: ignore[arg-type]
