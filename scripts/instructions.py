"""Counts the instructions of the processor that a call takes, and fails where one takes more than its limit.

Time differs from run to run, and instructions hardly do: a change that makes a call slower shows here. Each program runs
twice under callgrind, with more calls and with fewer; the difference of the two counts is the price of the calls. Time
stands still meanwhile, or a slow machine would count more readings of the clock.

instructions.py [--node]: with it, Node's call too, which takes a minute.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Counted:
    """A program, which takes the number of calls as its last argument.

    Attributes:
        name: Names the call.
        limit: The most instructions that a call may take: a tenth more than it took when the limit was set.
        program: The command.
        faked: Whether libfaketime has to stop the clock. A reading of its clock counts then.
        calls: The number of calls in the two runs.
    """

    name: str
    limit: int
    program: list[str]
    faked: bool = False
    calls: tuple[int, int] = (10_000, 110_000)

    def instructions(self) -> float:
        """The instructions of one call."""
        few, many = (self.collected(count) for count in self.calls)
        return (many - few) / (self.calls[1] - self.calls[0])

    def collected(self, count: int) -> int:
        """The instructions of the whole program."""
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--smc-check=all-non-file"]
        environment = dict(os.environ)
        if self.faked:
            [library] = Path("/usr/lib").glob("*/faketime/libfaketime.so.1")
            environment |= {"LD_PRELOAD": str(library), "FAKETIME": "2026-01-01 00:00:00"}
        command += [*self.program, str(count)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        found = re.search(r"Collected : (\d+)", done.stderr)
        if done.returncode or not found:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        return int(found[1])


def core(name: str, limit: int) -> Counted:
    """A function of core."""
    return Counted(f"core: {name}", limit, [str(ROOT / "target/optimised/snowmint-instructions"), name])


COUNTED = [
    core("next_id", 62),
    core("next_local", 58),
    core("cycle_clock", 19),
    core("decode", 117),
    core("base62", 162),
    Counted("Python: next_id()", 1420, [str(ROOT / ".venv/bin/python"), "-c", PYTHON], faked=True),
]
IN_NODE = Counted(
    "Node: nextId()",
    1420,
    ["node", "--single-threaded", "--predictable", "--input-type=module", "-e", NODE],
    faked=True,
    calls=(50_000, 250_000),
)


def main() -> int:
    """Prints a table, and returns the exit status."""
    chosen = [IN_NODE] if "--node" in sys.argv else COUNTED
    with ThreadPoolExecutor(2) as pool:
        found = list(zip(chosen, pool.map(Counted.instructions, chosen), strict=True))
    for each, count in found:
        print(f"{each.name:<18} {count:7.1f} instructions, at most {each.limit}")
    failed = [each for each, count in found if count > each.limit]
    print(f"{len(found) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
