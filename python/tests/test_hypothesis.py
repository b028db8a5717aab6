"""Properties that hold for generated layouts, IDs and clocks."""

from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from hypothesis import given
from hypothesis import strategies as st

from scripted import Clock
from snowmint import ExhaustedError, InvalidTextError, Layout, Snowflake, SnowmintError, text

IDS = st.integers(0, 2**64 - 1) | st.sampled_from([2**53 - 1, 2**53, 2**63 - 1, 2**63, 2**64 - 1])
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,22}", fullmatch=True).filter(
    lambda name: name not in {"unused", "time", "sequence", "random"}
)


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    fields = {"time": draw(st.integers(1, 42))}
    for name, most in (("sequence", 12), ("random", 8)):
        if draw(st.booleans()):
            fields[name] = draw(st.integers(1, most))
    nodes = draw(st.dictionaries(NAMES, st.integers(1, 8), max_size=4))
    room = min(32, 64 - sum(fields.values()))
    for name, bits in nodes.items():
        if bits <= room:
            fields[name] = bits
            room -= bits
    order = draw(st.permutations(list(fields.items())))
    unused = draw(st.integers(0, 64 - sum(fields.values())))
    order = [("unused", unused), *order] if unused else order
    epoch_ms = draw(st.integers(-(2**53) + 1, 2**53 - 1))
    tick_ms = draw(st.sampled_from([1, 10, 250, 1000, 60_000]))
    return Layout(f"{','.join(f'{name}:{bits}' for name, bits in order)};epoch={epoch_ms};tick={tick_ms}ms")


@given(layouts())
def test_a_layout_is_read_back_from_its_text(layout: Layout) -> None:
    assert Layout.parse(str(layout)) == layout
    assert eval(repr(layout)) == layout


@given(layouts(), st.data())
def test_encoding_and_decoding_are_each_others_inverse(layout: Layout, data: st.DataObject) -> None:
    fields = {name: data.draw(st.integers(0, 2**bits - 1), name) for name, bits in layout.fields.items()}
    given_parts: dict[str, Any] = {
        "timestamp_ms": layout.epoch_ms + fields["time"] * layout.tick_ms,
        "node": {name: value for name, value in fields.items() if name not in {"time", "sequence", "random"}},
        "sequence": fields.get("sequence"),
        "random": fields.get("random"),
    }
    id = layout.encode(**given_parts)
    parts = layout.decode(id)
    assert parts.fields == fields
    assert parts.timestamp_ms == given_parts["timestamp_ms"]
    assert layout.encode(parts) == id
    assert layout.encode(**{**given_parts, "node": parts.node}) == id


@given(layouts(), IDS)
def test_what_decodes_encodes_to_the_same_id(layout: Layout, id: int) -> None:
    try:
        parts = layout.decode(id)
    except SnowmintError:
        assert id >> sum(layout.fields.values())
    else:
        assert id >> sum(layout.fields.values()) == 0
        assert layout.encode(parts) == id


@given(st.integers(), st.sampled_from(["decode", "next_ids", "node", "time"]))
def test_no_integer_whatever_its_size_ends_in_another_error(n: int, use: str) -> None:
    layout = Layout.preset("twitter")
    try:
        match use:
            case "decode":
                layout.decode(n)
            case "next_ids":
                Snowflake(layout, 1, max_wait_ms=0, clock=lambda: 1_600_000_000_000).next_ids(n)
            case "node":
                layout.encode(timestamp_ms=1_600_000_000_000, node=n, sequence=n)
            case _:
                layout.encode(timestamp_ms=n)
    except SnowmintError:
        pass


@given(st.datetimes(datetime(2010, 11, 5), datetime(2080, 1, 1)))
def test_datetimes_survive_the_round_trip_to_the_ms(naive: datetime) -> None:
    layout = Layout.preset("twitter")
    moment = naive.replace(tzinfo=UTC)
    parts = layout.decode(layout.encode(timestamp=moment))
    assert parts.timestamp == moment - timedelta(microseconds=moment.microsecond % 1000)


@given(IDS, st.sampled_from(text.FORMS))
def test_a_text_is_read_back(id: int, form: str) -> None:
    assert text.decode(text.encode(id, form), form) == id


@given(st.text(st.characters(exclude_categories=[])), st.sampled_from(text.FORMS))
def test_any_text_decodes_or_is_refused_and_never_fails_otherwise(string: str, form: str) -> None:
    try:
        id = text.decode(string, form)
    except InvalidTextError:
        return
    assert text.decode(text.encode(id, form), form) == id


@given(
    st.sampled_from(["twitter", "sonyflake", "time:42,node:10,sequence:2;epoch=1288834974657"]),
    st.sampled_from(["zero", "random", "carry"]),
    st.integers(0, 50),
    st.lists(st.tuples(st.integers(-100, 100), st.integers(1, 20)), max_size=60),
)
def test_no_clock_makes_a_generator_repeat_or_go_back(
    layout: str, start: Literal["zero", "random", "carry"], max_ahead_ms: int, script: list[tuple[int, int]]
) -> None:
    clock = Clock(1_600_000_000_000)
    generator = Snowflake(layout, 5, max_ahead_ms=max_ahead_ms, max_wait_ms=0, sequence_start=start, clock=clock)
    ids: list[int] = []
    for step_ms, n in script:
        clock.now_ms += step_ms
        try:
            ids += generator.next_ids(n)
        except SnowmintError as error:
            assert error.code in {"EXHAUSTED", "CLOCK_BACKWARDS"}
    assert ids == sorted(set(ids))


@given(st.integers(1, 5), st.integers(0, 3), st.integers(1, 40))
def test_a_batch_fits_exactly_when_the_ticks_within_reach_hold_it(bits: int, ahead_ms: int, n: int) -> None:
    generator = Snowflake(
        Layout(f"time:20,sequence:{bits};epoch=0"), 0, max_ahead_ms=ahead_ms, max_wait_ms=0, clock=Clock(1000)
    )
    room = 2**bits * (1 + ahead_ms)
    try:
        assert len(generator.next_ids(n)) == n <= room
    except ExhaustedError:
        assert n > room
