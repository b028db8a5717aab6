"""Runs the benchmarks, and writes results.json, README.md and speed.svg beside this file: run.py [--only PART] [--report].

Each part prints a table as a line of JSON, which this program shows and collects. A table has a `title`, a `unit` and
`rows`, each with a `name`, the `median`, the 10th and the 90th percentile (`p10`, `p90`), perhaps the `ratio` to the
first row, turn by turn, and a `note`. A line with `checked` and `verdict` tells what the checker found of a contender.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent
CARGO = "cargo run --quiet --locked --release"
OPTIMISED = "cargo build --quiet --locked --profile optimised"
PIP = ".cache/bench-python/bin/pip install --quiet --disable-pip-version-check"
PARTS = {
    "rust": [
        "scripts/setup.sh rust protoc",
        f"{CARGO} -p snowmint-benches --bin minting",
        f"CARGO_TARGET_DIR=target/peers {CARGO} --manifest-path benches/peers/Cargo.toml",
        f"{CARGO} -p snowmint-benches --features engines --bin numbers",
    ],
    "python": [
        "scripts/setup.sh rust maturin",
        "scripts/build-python.sh target/packages/release",
        "python3 -m venv .cache/bench-python",
        f"{PIP} --only-binary :all: -r benches/python/requirements.txt",
        f"{PIP} --no-deps --force-reinstall target/packages/release/snowmint-*.whl",
        ".cache/bench-python/bin/python benches/python/minting.py",
    ],
    "js": [
        "scripts/setup.sh rust esbuild chromium contenders",
        "scripts/build-npm.sh",
        "node benches/js/minting.mjs",
        "node benches/js/numbers.mjs",
    ],
    "service": [
        "scripts/setup.sh rust bench",
        "cargo build --quiet --locked --release -p snowmint-server",
        "python3 benches/service/measure.py ${CARGO_TARGET_DIR:-target}/release/snowmint",
    ],
    "stores": [
        "scripts/setup.sh rust protoc servers",
        f"{OPTIMISED} -p snowmint-benches --features snowmint-benches/engines --bin growth",
        "${CARGO_TARGET_DIR:-target}/optimised/growth",
    ],
    "herd": [
        "scripts/setup.sh rust protoc servers bench",
        f"{OPTIMISED} -p snowmint-server -p snowmint-benches --features snowmint-benches/engines --bin herd --bin snowmint",
        "SNOWMINT_SERVER=${CARGO_TARGET_DIR:-target}/optimised/snowmint ${CARGO_TARGET_DIR:-target}/optimised/herd",
    ],
}
BESIDES = ("stores", "herd")
"""The parts that run only if they are named: they have no peers, and claims over ZooKeeper take minutes."""
PICTURED = ["Rust: an ID, by the clock of the system", "Python: an ID", "Node: an ID", "Chromium: an ID"]
"""The tables of the picture."""
FINE = ("unique and increasing", "unique")
"""The verdicts of a checker on correct IDs. Some kinds of IDs have no order."""
FLOOR, OURS = "floor: ", ("snowmint", "Segments", "LocalNumbers")

Row = dict[str, Any]
Table = dict[str, Any]


def is_peer(row: Row) -> bool:
    """Returns whether a row belongs to another package that does the same work correctly."""
    return not row["name"].startswith((FLOOR, *OURS)) and "note" not in row


def best_peer(table: Table) -> float | None:
    """The median of the fastest peer."""
    return min((row["median"] for row in table["rows"] if is_peer(row)), default=None)


def cells(table: Table) -> list[list[str]]:
    """The table as texts, with a heading."""
    best = best_peer(table) if table["unit"] == "ns" else None
    digits = 2 if table["unit"] == "ns" else 1
    first = table["rows"][0]["name"]
    found = [["", f"median, {table['unit']}", "10 % to 90 %", f"x {first}", "x best peer", ""]]
    for row in table["rows"]:
        ratio = f"{row['ratio']:.2f}" if "ratio" in row else ""
        peer = f"{row['median'] / best:.2f}" if best else ""
        spread = f"{row['p10']:,.{digits}f} to {row['p90']:,.{digits}f}"
        found.append([row["name"], f"{row['median']:,.{digits}f}", spread, ratio, peer, row.get("note", "")])
    kept = [column for column in range(6) if any(line[column] for line in found[1:])]
    return [[line[column] for column in kept] for line in found]


def as_text(table: Table) -> str:
    """The table for a terminal."""
    lines = [[cell[:30] for cell in line[:1]] + line[1:] for line in cells(table)]
    lines[0] = [cell.partition(":")[0] for cell in lines[0]]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    told = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join(["", table["title"], *told])


def as_markdown(table: Table) -> str:
    """The table for the README."""
    head, *lines = cells(table)
    rows = [head, ["---", *["--:"] * (len(head) - 1)], *lines]
    return f"### {table['title']}\n\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def measured(commands: Sequence[str]) -> list[dict[str, Any]]:
    """Runs a part, and shows each table when it comes."""
    found = []
    environment = {**os.environ, "PATH": f"{ROOT}/.venv/bin:{os.environ['PATH']}"}
    for command in commands:
        print(f"\n$ {command}", file=sys.stderr, flush=True)
        shell = ["bash", "-euo", "pipefail", "-c", command]
        with subprocess.Popen(shell, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if not line.startswith("{"):
                    print(line, end="")
                    continue
                found.append(json.loads(line))
                told = found[-1]
                print(as_text(told) if "rows" in told else f"{told['checked']:<36}{told['verdict']}", flush=True)
        if process.returncode:
            sys.exit(f"{command} failed")
    return found


def machine() -> dict[str, str]:
    """Returns the date, the processor and the versions of the programs that were measured with."""
    told = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    processor = re.search(r"model name\s*: (.*)", told)
    versions = {name: [name, "--version"] for name in ("rustc", "python3", "node", "chromium", "redis-server")}
    found = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "processor": processor[1] if processor else platform.machine()}
    found["processors"] = str(os.cpu_count())
    for name, command in versions.items():
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            continue
        version = re.search(r"\d+\.\d+(\.\d+)*", done.stdout)
        found[name] = version[0] if version else "unknown"
    return found


def peers() -> dict[str, str]:
    """The versions of the peers, as they are locked."""
    found = {}
    locked = (HERE / "peers" / "Cargo.lock").read_text()
    for name in ("ferroid", "nexus-id", "rs-snowflake", "snowflake_me", "snowid", "ulid", "uuid", "uuid7"):
        match = re.search(rf'name = "{name}"\nversion = "([^"]+)"', locked)
        found[f"{name} (Rust)"] = match[1] if match else "unknown"
    for line in (HERE / "python" / "requirements.txt").read_text().splitlines():
        name, _, version = line.partition("==")
        if version and name != "numpy":
            found[f"{name} (Python)"] = version
    for name, version in json.loads((HERE / "js" / "package.json").read_text())["dependencies"].items():
        found[f"{name} (npm)"] = version
    return found


README = """\
# Speed

`make bench` measures on your machine, and writes this page. Contenders take turns in one process for many rounds, so
other load of the machine slows all of them alike. A figure is a median, with the 10th and the 90th percentile. The
ratio is the median of the ratios of each turn. The IDs of each contender are checked while it is measured, because a
generator that repeats IDs can be fast. A *floor* is the cost of reading the clock, and of one compare-and-swap, for
each ID. A generator that reads the clock less often is below its floor.

![bars of the time an ID takes, beside peers](speed.svg)

Measured: {machine}. Peers: {peers}.

## What the IDs are

300,000 IDs of each contender, minted without a pause. An ID ahead of the clock sorts after IDs that another machine
mints later.

{verdicts}

## Tables

The tables about leases use the servers of the tests, which keep their data in memory: a disk adds its time to each
claim and renewal. A lease is renewed after 35 to 50 % of its window, so 1,000 leases with windows of 3 s make about 800
renewals a second. `benches/memory.py --minutes 60` measures the memory of generators and leases, and whether it grows.

{tables}"""


def report(results: dict[str, Any]) -> None:
    """Writes the README and the picture."""
    found = [each for part in PARTS if part in results["parts"] for each in results["parts"][part]["found"]]
    checks, tables = ([each for each in found if key in each] for key in ("checked", "rows"))
    verdicts = "\n".join(f"| {each['checked']} | {each['verdict']} |" for each in checks)
    wrong = {each["checked"]: each["verdict"] for each in checks if each["verdict"] not in FINE}
    for row in (row for each in tables for row in each["rows"] if row["name"] in wrong):
        row["note"] = wrong[row["name"]]
    machines = {
        ", ".join(f"{name} {value}" for name, value in part["machine"].items()) for part in results["parts"].values()
    }
    page = README.format(
        machine="; ".join(sorted(machines)),
        peers=", ".join(f"{name} {version}" for name, version in results["peers"].items()),
        verdicts=f"| | |\n| --- | --- |\n{verdicts}",
        tables="\n".join(map(as_markdown, tables)),
    )
    (HERE / "README.md").write_text(page)
    (HERE / "speed.svg").write_text(picture([each for each in tables if each["title"] in PICTURED]))


def picture(tables: Sequence[Table]) -> str:
    """Bars of the medians, a group for each table."""
    left, room, height, y = 290, 260, 20, 10
    drawn = []
    for table in tables:
        y += 22
        drawn.append(f'<text x="10" y="{y}" class="title">{escape(table["title"])}, ns</text>')
        # One contender that is slow by far would leave the others no room.
        longest = 2 * sorted(row["median"] for row in table["rows"])[len(table["rows"]) // 2]
        for row in table["rows"]:
            y += height
            kind = "floor" if row["name"].startswith(FLOOR) else "ours" if row["name"].startswith(OURS) else "peer"
            width = round(room * min(1, row["median"] / longest), 1)
            drawn.append(f'<text x="{left - 8}" y="{y}" text-anchor="end">{escape(row["name"])}</text>')
            drawn.append(f'<rect x="{left}" y="{y - 11}" width="{width}" height="14" class="{kind}"/>')
            note = f", {row['note']}" if "note" in row else ""
            cut = "\N{RIGHTWARDS ARROW} " if row["median"] > longest else ""
            drawn.append(f'<text x="{left + width + 6}" y="{y}">{cut}{row["median"]:.1f}{note}</text>')
        y += 14
    style = (
        "text{font:12px system-ui,sans-serif;fill:#222}.title{font-weight:600}.ours{fill:#0a7d6c}.peer{fill:#b0b7c3}"
        ".floor{fill:none;stroke:#888}@media(prefers-color-scheme:dark){text{fill:#ddd}.ours{fill:#2bb8a3}"
        ".peer{fill:#5a6270}}"
    )
    size = f'viewBox="0 0 740 {y}" width="740" height="{y}"'
    body = "\n".join(drawn)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n<style>{style}</style>\n{body}\n</svg>\n'


def main() -> None:
    """Measures and reports."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="PART", choices=PARTS, help=f"one of {', '.join(PARTS)}")
    parser.add_argument(
        "--report", action="store_true", help="write the page of results.json anew, and measure nothing"
    )
    options = parser.parse_args()
    results = HERE / "results.json"
    told = json.loads(results.read_text()) if results.exists() else {"parts": {}}
    usual = [part for part in PARTS if part not in BESIDES]
    for part in [] if options.report else [options.only] if options.only else usual:
        told["parts"][part] = {"machine": machine(), "found": measured(PARTS[part])}
        told["peers"] = peers()
        results.write_text(json.dumps(told, indent=1) + "\n")
    report(told)


if __name__ == "__main__":
    main()
