"""Instants as arguments: datetimes, and the times of numpy and pandas."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest

from snowmint import KSUID, ULID, XID, Layout, ObjectId, inspect, layouts, uuid7_range

MS = 1_704_067_200_001
NS = "2024-01-01T00:00:00.001999999"
INSTANTS = [
    pd.Timestamp(NS, tz="UTC"),
    pd.Timestamp(NS, tz="UTC").tz_convert("Asia/Tokyo"),
    datetime(2024, 1, 1, 0, 0, 0, 1999, UTC),
    np.datetime64(NS),
    np.datetime64(NS, "us"),
    np.datetime64(NS, "ms"),
]
TAKERS: list[Callable[[Any], object]] = [
    lambda at: layouts.TWITTER.id_range(at, at),
    lambda at: layouts.TWITTER.decode_sql("postgres", "id").between(at, at),
    lambda at: uuid7_range(at, at),
    lambda at: str(ULID.from_parts(at, 0)),
    lambda at: str(KSUID.from_parts(at, bytes(16))),
    lambda at: str(XID.from_parts(at, 0, 0)),
    lambda at: str(ObjectId.from_parts(at, 0, 0)),
    lambda at: [str(candidate) for candidate in inspect(layouts.TWITTER.encode(timestamp_ms=MS), now=at)],
]


@pytest.mark.parametrize("instant", INSTANTS, ids=repr)
def test_times_of_numpy_and_pandas_are_rounded_down(instant: Any) -> None:
    for taker in TAKERS:
        assert taker(instant) == taker(MS)


def test_encode_keeps_their_microseconds() -> None:
    layout = Layout("unused:1,time:53,clock:10;epoch=0;tick=1us")
    for instant in (pd.Timestamp(NS, tz="UTC"), np.datetime64(NS), np.datetime64(NS, "us")):
        assert layout.encode(timestamp=instant) == layout.encode(timestamp_us=MS * 1000 + 999)


def test_times_before_1970_are_rounded_down_too() -> None:
    layout = Layout("time:41;epoch=-5")
    for instant in (pd.Timestamp(-1, unit="ns", tz="UTC"), np.datetime64(-1, "ns"), np.datetime64(-1, "us")):
        assert layout.id_range(instant, instant) == layout.id_range(-1, -1)


def test_times_of_decoded_arrays_are_taken() -> None:
    ids = np.array([layouts.TWITTER.encode(timestamp_ms=MS), layouts.TWITTER.encode(timestamp_ms=MS + 5)])
    times = layouts.TWITTER.decode_array(ids)["timestamp"]
    assert layouts.TWITTER.id_range(times.min(), times.max()) == layouts.TWITTER.id_range(MS, MS + 5)


@pytest.mark.parametrize("naive", [datetime(2024, 1, 1), pd.Timestamp("2024-01-01")], ids=repr)
def test_a_naive_datetime_is_refused(naive: Any) -> None:
    for taker in TAKERS:
        with pytest.raises(ValueError, match="a naive datetime names no instant: give it a tzinfo"):
            taker(naive)
    with pytest.raises(ValueError, match="naive"):
        layouts.TWITTER.encode(timestamp=naive)


@pytest.mark.parametrize("nothing", [pd.NaT, np.datetime64("NaT"), np.datetime64("NaT", "ns")], ids=repr)
def test_a_missing_time_is_refused(nothing: Any) -> None:
    for taker in TAKERS:
        with pytest.raises(ValueError, match="NaT"):
            taker(nothing)
    with pytest.raises(ValueError, match="NaT"):
        layouts.TWITTER.encode(timestamp=nothing)


@pytest.mark.parametrize("wrong", [date(2024, 1, 1), "2024-01-01", 1.5, True, pd.Series([MS]), np.timedelta64(1, "s")])
def test_another_object_is_no_instant(wrong: Any) -> None:
    for taker in TAKERS:
        with pytest.raises(TypeError, match=f"datetime or Unix ms as an int is needed, not {type(wrong).__name__}"):
            taker(wrong)


def test_columns_of_other_libraries_are_decoded() -> None:
    ids = [layouts.TWITTER.encode(timestamp_ms=MS, node=node) for node in range(3)]
    columns: list[Any] = [
        pd.Series(ids),
        pd.Series(ids, dtype="uint64"),
        pd.Series(ids, dtype="uint64[pyarrow]"),
        polars.Series(ids, dtype=polars.UInt64),
        pyarrow.array(ids),
        pyarrow.table({"id": ids})["id"],
    ]
    for column in columns:
        parts = layouts.TWITTER.decode_array(column)
        assert parts["node"].tolist() == [0, 1, 2]
        assert parts["timestamp"][0] == np.datetime64(MS, "ms")
