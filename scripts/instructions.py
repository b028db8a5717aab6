"""Counts the instructions of the processor that a call takes, and fails where one takes more than its limit.

Time differs from run to run, and instructions hardly do: a change that makes a call slower shows here. Each program runs
twice under callgrind, with more calls and with fewer; the difference of the two counts is the price of the calls. Time
stands still meanwhile, or a slow machine would count more readings of the clock.

instructions.py [--node]: with it, Node's call alone, which takes a minute.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
LAYOUT = "time:41,node:3,sequence:20;epoch=2025-01-01T00:00:00Z"
PYTHON = f"""
import sys, snowmint
next_id = snowmint.Snowflake(layout="{LAYOUT}", node=1).next_id
for _ in range(int(sys.argv[1])):
    next_id()
"""
NODE = f"""
import {{ Snowflake }} from "{ROOT}/npm/dist/node.mjs";
const gen = new Snowflake({{ layout: "{LAYOUT}", node: 1 }});
for (let i = 0; i < Number(process.argv[1]); i++) gen.nextId();
"""
CORE = str(ROOT / "target/optimised/snowmint-instructions")
# The most instructions that a call may take, a tenth more than it took when the limit was set, and the program, which takes
# the number of calls as its last argument.
COUNTED = {
    "core: next_id": (62, [CORE, "next_id"]),
    "core: next_local": (58, [CORE, "next_local"]),
    "core: cycle_clock": (19, [CORE, "cycle_clock"]),
    "core: decode": (117, [CORE, "decode"]),
    "core: base62": (162, [CORE, "base62"]),
    "Python: next_id()": (1420, [str(ROOT / ".venv/bin/python"), "-c", PYTHON]),
}
IN_NODE = {
    "Node: nextId()": (1420, ["node", "--single-threaded", "--predictable", "--input-type=module", "-e", NODE]),
}


def collected(program: list[str], count: int) -> int:
    """Returns the instructions of a program."""
    environment = dict(os.environ)
    if program[0] != CORE:
        [library] = Path("/usr/lib").glob("*/faketime/libfaketime.so.1")
        environment |= {"LD_PRELOAD": str(library), "FAKETIME": "2026-01-01 00:00:00"}
    callgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--smc-check=all-non-file"]
    done = subprocess.run(
        [*callgrind, *program, str(count)], capture_output=True, text=True, check=False, env=environment
    )
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        sys.exit(f"{' '.join(program)}\n{done.stderr}")
    return int(found[1])


def of_a_call(program: list[str]) -> float:
    """Returns the instructions of one call."""
    # Node compiles the loop meanwhile.
    few, many = (50_000, 250_000) if program[0] == "node" else (10_000, 110_000)
    return (collected(program, many) - collected(program, few)) / (many - few)


counted = IN_NODE if "--node" in sys.argv else COUNTED
with ThreadPoolExecutor(2) as pool:
    counts = list(pool.map(of_a_call, [program for _, program in counted.values()]))
for (name, (limit, _)), count in zip(counted.items(), counts, strict=True):
    print(f"{name:<18} {count:7.1f} instructions, at most {limit}")
failed = sum(count > limit for (limit, _), count in zip(counted.values(), counts, strict=True))
print(f"{len(counts) - failed} passed, {failed} failed")
sys.exit(failed > 0)
