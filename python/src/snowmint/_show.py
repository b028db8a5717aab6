"""Layouts and IDs as text for people: at most 80 columns, where names are short."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from snowmint._snowmint import Layout

Style = Callable[[str], str]


def instant(time: datetime) -> str:
    """RFC 3339, in UTC, with ms."""
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def figures(layout: Layout) -> dict[str, Any]:
    """All that a layout tells of itself."""
    return {
        "name": layout.name,
        "text": str(layout),
        "bits": layout.bits,
        "fields": layout.fields,
        "epoch_ms": layout.epoch_ms,
        "tick_ms": layout.tick_ms,
        "ends_at": None if layout.ends_at is None else instant(layout.ends_at),
        "ends_at_ms": layout.ends_at_ms,
        "signed_until": None if layout.signed_until is None else instant(layout.signed_until),
        "signed_until_ms": layout.signed_until_ms,
        "js_safe": layout.js_safe,
        "nodes": layout.nodes,
        "ids_per_tick": layout.ids_per_tick,
        "ids_per_second": layout.ids_per_second,
    }


def _when(ms: int | None, time: datetime | None) -> str:
    if ms is None:
        return "never"
    return "after 9999" if time is None else instant(time)


def table(layouts: Iterable[Layout], style: Style) -> Iterator[str]:
    """A line for each layout."""
    yield style(f"{'name':<11}  {'bits':<16}  {'nodes':>9}  {'IDs/s':>10}  {'ends':<10}  {'signed until':<12}")
    for layout in layouts:
        ends = _when(layout.ends_at_ms, layout.ends_at)[:10]
        signed = _when(layout.signed_until_ms, layout.signed_until)[:10]
        row = f"{layout.name:<11}  {_letters(layout):>16}  {layout.nodes:>9,}  {layout.ids_per_second:>10,}"
        yield f"{row}  {ends:<10}  {signed}"
    yield ""
    yield "bits: T time, N node, S sequence, R random, a letter for 4. IDs/s: of each node."
    yield "signed until: when IDs turn negative in a signed column."


def _letters(layout: Layout) -> str:
    letters = {"time": "T", "sequence": "S", "random": "R"}
    bits = "".join(letters.get(name, "N") * width for name, width in layout.fields.items())
    # From the low end on; the letter of the middle stands for its four.
    return bits.rjust(layout.bits, ".")[::-1][2::4][::-1]


def picture(layout: Layout, style: Style) -> Iterator[str]:
    """A layout in detail, a column for each bit."""
    fields = layout.fields
    unused = layout.bits - sum(fields.values())
    spans = ([("unused", unused)] if unused else []) + list(fields.items())
    yield style(layout.name or "layout")
    yield str(layout)
    yield ""
    yield "".join(_label(name, width) for name, width in spans).rstrip()
    yield "".join("|".ljust(width, "-") for _, width in spans) + "|"
    high = layout.bits
    for name, width in spans:
        high -= width
        where = f"bit {high}" if width == 1 else f"bits {high} to {high + width - 1}"
        yield f"  {name:<12} {width:>2}  {where:<13}  {_meaning(layout, name)}".rstrip()
    yield ""
    yield f"  ends          {_when(layout.ends_at_ms, layout.ends_at)}"
    yield f"  signed until  {_when(layout.signed_until_ms, layout.signed_until)}"
    yield f"  nodes         {layout.nodes:,}"
    yield f"  IDs a second  {layout.ids_per_second:,} of each node"
    yield f"  JavaScript    {'a safe integer' if layout.js_safe else 'a bigint'}"


def _label(name: str, width: int) -> str:
    """The name in the middle of its field's columns, as far as there is room."""
    return " " + name[: width - 1].center(width - 1)


def _meaning(layout: Layout, name: str) -> str:
    if name == "time":
        epoch = f"{layout.epoch_ms} ms" if layout.epoch is None else instant(layout.epoch)
        return f"ticks of {str(layout).rpartition('=')[2]} since {epoch}"
    if name == "sequence":
        return f"{layout.ids_per_tick:,} a tick"
    if name in ("random", "unused"):
        return ""
    return f"0 to {(1 << layout.fields[name]) - 1:,}"


def decoded(told: dict[str, Any]) -> str:
    """An ID under one layout, in a line."""
    return f"{told['id']}  {_parts(told)}"


def candidates(found: dict[str, Any], style: Style) -> Iterator[str]:
    """An ID, and below it a line or two for each candidate."""
    yield style(found["id"])
    for told in found["candidates"]:
        name = told["layout"] or told["kind"]
        yield f"  {name:<11}  {_parts(told) if 'timestamp_ms' in told else told['reason']}"
        if "timestamp_ms" in told:
            yield f"  {'':<11}  {told['reason']}"
    if not found["candidates"]:
        yield "  nothing known to us looks like this"


def _parts(told: dict[str, Any]) -> str:
    when = told["timestamp"] or f"{told['timestamp_ms']} ms"
    nodes = {name: value for name, value in told["fields"].items() if name not in ("time", "sequence", "random")}
    shown = [f"{name} {value}" for name, value in nodes.items()]
    shown += [f"{name} {told['fields'][name]}" for name in ("sequence", "random") if name in told["fields"]]
    return "  ".join([when, *shown])
