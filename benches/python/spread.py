"""How each way of scattering spreads inserts over the ranges of a table: a simulation, a table and a picture.

    .venv/bin/python benches/python/spread.py            # prints the table, writes docs/scatter.svg
    .venv/bin/python benches/python/spread.py --check    # fails if docs/scatter.svg or docs/scatter.md say otherwise

The table is split as range-sharding databases do it: it begins as one range of keys, and a range that holds ROWS_A_RANGE
rows is cut into two halves. The rows arrive one by one at a steady rate, at random instants, from some processes that
mint with snowmint under a scripted clock. So everything here is the same in every run.
"""

import random
import statistics
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Literal, TypeAlias

from snowmint import Snowflake, scatter

ROWS = 1_000_000
ROWS_A_MS = 4
ROWS_A_RANGE = 40_000
PROCESSES = 8
# What counts is the last fifth, when the table is large; in slices of a second.
MEASURED_FROM = ROWS * 4 // 5
ROWS_A_SLICE = ROWS_A_MS * 1000
BATCH = 100
SEED = 20260301
START_MS = 1_772_323_200_000

DOCS = Path(__file__).resolve().parents[2] / "docs"

Key: TypeAlias = Callable[[int], int]
Start: TypeAlias = Literal["zero", "carry"]


@dataclass
class Rows:
    """IDs in the order of their insertion, and batches of IDs that one process mints at a time after them."""

    ids: list[int]
    batches: list[list[int]]


def mint(start: Start) -> Rows:
    """Mints all rows of a run."""
    chance = random.Random(SEED)
    now_ms = float(START_MS)
    # A sequence that is carried on may end within a ms, and the clock here does not go on while one waits.
    generators = [
        Snowflake("snowmint", node, clock=lambda: int(now_ms), sequence_start=start, max_ahead_ms=1)
        for node in range(PROCESSES)
    ]
    ids = []
    for _ in range(ROWS):
        now_ms += chance.expovariate(ROWS_A_MS)
        ids.append(generators[chance.randrange(PROCESSES)].next_id())
    batches = []
    for _ in range(200):
        now_ms += BATCH / ROWS_A_MS
        batches.append(generators[chance.randrange(PROCESSES)].next_ids(BATCH))
    return Rows(ids, batches)


class Table:
    """Ranges of keys that split when they are full."""

    def __init__(self) -> None:
        self.lowest = [0]
        """The lowest key of each range, in order."""
        self.keys: list[list[int]] = [[]]
        self.names = [0]
        """A number for each range that a split leaves with its left half."""

    def at(self, key: int) -> int:
        """The place of the range that a key belongs to."""
        return bisect_right(self.lowest, key) - 1

    def insert(self, key: int) -> int:
        """Inserts a row, and gives the name of the range that took it."""
        place = self.at(key)
        name = self.names[place]
        keys = self.keys[place]
        keys.append(key)
        if len(keys) >= ROWS_A_RANGE:
            keys.sort()
            middle = len(keys) // 2
            self.keys[place : place + 1] = [keys[:middle], keys[middle:]]
            self.lowest.insert(place + 1, keys[middle])
            self.names.insert(place + 1, len(self.names))
        return name


@dataclass
class Spread:
    """The result of a run.

    Args:
        name: How the IDs were changed before they were inserted.
        hottest: The share of all inserts that the busiest range takes within a second, the median of the last fifth.
        ranges: As many ranges, equally busy, would spread the inserts as well: 1 / (sum of squared shares).
        touched: How many ranges a batch of 100 rows goes to, on average.
        heat: For each slice of time, and in it for each range there is in the end, the share of the inserts.
    """

    name: str
    hottest: float
    ranges: float
    touched: float
    heat: list[list[float]]


SLICES = 40


def run(name: str, rows: Rows, key: Key) -> Spread:
    """Inserts all rows under their keys."""
    keys = [key(id) for id in rows.ids]
    assert len(set(keys)) == ROWS
    table = Table()
    took = [table.insert(key) for key in keys]
    slices = [Counter(took[at : at + ROWS_A_SLICE]) for at in range(MEASURED_FROM, ROWS, ROWS_A_SLICE)]
    shares = [[count / ROWS_A_SLICE for count in each.values()] for each in slices]
    heat = []
    for at in range(SLICES):
        part = keys[at * ROWS // SLICES : (at + 1) * ROWS // SLICES]
        counts = Counter(table.at(key) for key in part)
        heat.append([counts[place] / len(part) for place in range(len(table.lowest))])
    return Spread(
        name,
        statistics.median(max(each) for each in shares),
        statistics.median(1 / sum(share * share for share in each) for each in shares),
        statistics.fmean(len({table.at(key(id)) for id in batch}) for batch in rows.batches),
        heat,
    )


def spreads() -> Iterator[Spread]:
    """Every run of the picture, in its order."""
    zero, carry = mint("zero"), mint("carry")
    yield run("plain", zero, lambda id: id)
    yield run("rotate_digits 1", carry, lambda id: scatter.rotate_digits(id, 1))
    yield run("rotate_digits 2", carry, lambda id: scatter.rotate_digits(id, 2))
    yield run("rotate_digits 3", carry, lambda id: scatter.rotate_digits(id, 3))
    yield run("shard_high 4", zero, lambda id: scatter.shard_high(id, 4))
    yield run("reverse_bits", carry, scatter.reverse_bits)
    yield run("rotate_digits 1, zero", zero, lambda id: scatter.rotate_digits(id, 1))
    yield run("reverse_bits, zero", zero, scatter.reverse_bits)


def table_of(runs: Sequence[Spread]) -> str:
    """The figures in Markdown."""
    lines = [
        "| key | hottest range takes | as even as | 100 rows at once go to |",
        "| --- | ---: | ---: | ---: |",
    ]
    for each in runs:
        hottest, even = f"{each.hottest:.1%}".replace("%", " %"), f"{each.ranges:.1f} ranges"
        lines.append(f"| {each.name} | {hottest} | {even} | {each.touched:.1f} ranges |")
    return "\n".join(lines) + "\n"


# The picture: panels of WIDE by HIGH, PER_LINE side by side.
WIDE, HIGH, PER_LINE = 168, 132, 4
STEP_X, STEP_Y, LEFT, TOP = WIDE + 22, HIGH + 72, 12, 30
# Shares from which a cell is drawn so opaque: ever twice the last one.
SHADES = [(0.5, 1.0), (0.15, 0.85), (0.07, 0.62), (0.035, 0.42), (0.0175, 0.26), (0.00001, 0.12)]

STYLE = """
text{font:12px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#57606a}
.n{font-weight:600;fill:#24292f}.f{fill:none;stroke:#8c959f;stroke-opacity:.55}.h{fill:#0a7ea4}
@media(prefers-color-scheme:dark){text{fill:#9ba4ae}.n{fill:#e6edf3}.h{fill:#4cc3e8}}
"""


def picture_of(runs: Sequence[Spread]) -> str:
    """The picture as SVG: for each run, which ranges took the inserts in the course of time."""
    high = TOP + STEP_Y * -(-len(runs) // PER_LINE) - 14
    wide = LEFT + STEP_X * PER_LINE
    title = "Which ranges of keys take the inserts: time from left to right, ranges from the lowest key (bottom) to the highest"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" role="img">',
        f"<title>{escape(title)}</title><style>{STYLE.strip()}</style>",
        f'<text x="{LEFT}" y="14">{escape(title)}.</text>',
    ]
    for at, each in enumerate(runs):
        x, y = LEFT + at % PER_LINE * STEP_X, TOP + at // PER_LINE * STEP_Y
        parts += [f'<g transform="translate({x} {y})">', *cells(each.heat)]
        lines = [
            f"hottest range: {each.hottest:.0%}",
            f"100 rows at once: {each.touched:.0f} range{'s' if each.touched >= 1.5 else ''}",
        ]
        parts.append(f'<rect class="f" x="-.5" y="-.5" width="{WIDE + 1}" height="{HIGH + 1}"/>')
        parts.append(f'<text class="n" y="{HIGH + 18}">{escape(each.name)}</text>')
        parts += [f'<text y="{HIGH + 34 + 16 * line}">{escape(text)}</text>' for line, text in enumerate(lines)]
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"]) + "\n"


def cells(heat: Sequence[Sequence[float]]) -> Iterator[str]:
    """A path for each shade, with a box for each run of cells side by side."""
    ranges = len(heat[0])
    wide, high = WIDE / SLICES, HIGH / ranges
    yield f'<g transform="translate(0 {HIGH}) scale({wide:g} {-high:.4f})">'
    for shade, (least, opacity) in enumerate(SHADES):
        most = SHADES[shade - 1][0] if shade else 2.0
        boxes = []
        for place in range(ranges):
            at = 0
            while at < SLICES:
                begun = at
                while at < SLICES and least <= heat[at][place] < most:
                    at += 1
                if at > begun:
                    boxes.append(f"M{begun} {place}h{at - begun}v1H{begun}z")
                at = max(at, begun + 1)
        if boxes:
            yield f'<path class="h" fill-opacity="{opacity}" d="{"".join(boxes)}"/>'
    yield "</g>"


def main() -> int:
    """Writes the picture and prints the table, or checks that both are as they are written down."""
    runs = list(spreads())
    picture, table = picture_of(runs), table_of(runs)
    if "--check" in sys.argv[1:]:
        same = picture == (DOCS / "scatter.svg").read_text() and table in (DOCS / "scatter.md").read_text()
        print("as written down" if same else f"docs/scatter.svg or docs/scatter.md say otherwise:\n{table}")
        return 0 if same else 1
    (DOCS / "scatter.svg").write_text(picture)
    print(table, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
