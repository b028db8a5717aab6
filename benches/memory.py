"""Measures the memory of generators and leases, and whether it grows in use: memory.py [--minutes MINUTES].

A process of each language makes some generators, then more of them; the difference is what they need. Another one makes,
uses and closes generators for so many minutes. Prints tables as lines of JSON, which `benches/run.py` reads.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
LAYOUT = "time:41,node:14,sequence:8;epoch=2025-01-01T00:00:00Z"
PYTHON = f"""
import sys, time
from snowmint import Snowflake
kind, count, directory = sys.argv[1], int(sys.argv[2]), sys.argv[3]
def lease(number):
    return Snowflake(layout="{LAYOUT}", store=f"file:{{directory}}", namespace=f"n{{number}}", window_ms=600_000)
kept = []
for number in range(count):
    generator = Snowflake(layout="{LAYOUT}", node=number) if kind == "vouched" else lease(number)
    generator.next_id()
    kept.append(generator)
print("ready", flush=True)
while kind == "use":
    for number in range(10):
        with lease(number) as leased, Snowflake(layout="{LAYOUT}", node=1000 + number) as vouched:
            for _ in range(1000):
                leased.next_id(), vouched.next_id()
    time.sleep(0.05)
sys.stdin.read()
"""
NODE = f"""
import {{ Snowflake }} from "{ROOT}/npm/dist/node.mjs";
const [kind, count, directory] = process.argv.slice(1);
const layout = "{LAYOUT}";
const lease = (number) =>
  Snowflake.lease({{ layout, store: `file:${{directory}}`, namespace: `n${{number}}`, windowMs: 600_000 }});
const kept = [];
for (let node = 0; node < Number(count); node++) {{
  const generator = kind === "vouched" ? new Snowflake({{ layout, node }}) : await lease(node);
  generator.nextId();
  kept.push(generator);
}}
console.log("ready");
while (kind === "use") {{
  for (let node = 0; node < 10; node++) {{
    const [leased, vouched] = [await lease(node), new Snowflake({{ layout, node: 1000 + node }})];
    for (let i = 0; i < 1000; i++) [leased.nextId(), vouched.nextId()];
    await Promise.all([leased.close(), vouched.close()]);
  }}
  await new Promise((resolve) => setTimeout(resolve, 50));
}}
setInterval(() => kept, 1e9);
"""
PROGRAMS = {
    "Rust": [str(ROOT / "target/release/memory")],
    "Python": [sys.executable, "-c", PYTHON],
    "Node": ["node", "--input-type=module", "-e", NODE],
}
FEW, MANY = 100, 10_000


def memory_kb(process: int) -> int:
    """Returns the memory of a process that is in RAM, in kB."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def measured(program: list[str], kind: str, count: int, seconds: list[float]) -> list[int]:
    """Returns the memory of a process when it is ready, and after each number of `seconds`."""
    with (
        tempfile.TemporaryDirectory() as directory,
        subprocess.Popen(
            [*program, kind, str(count), directory], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process,
    ):
        assert process.stdout is not None
        try:
            if process.stdout.readline() != "ready\n":
                sys.exit(f"{program[0]} {kind} {count} failed")
            found, began = [memory_kb(process.pid)], time.monotonic()
            for second in seconds:
                time.sleep(max(0.0, began + second - time.monotonic()))
                found.append(memory_kb(process.pid))
            return found
        finally:
            process.kill()


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, help="how long to use generators, instead of measuring their size")
    minutes = parser.parse_args().minutes
    rows = []
    if minutes is None:
        for language, program in PROGRAMS.items():
            for kind in ("vouched", "leased"):
                [few], [many] = (measured(program, kind, count, []) for count in (FEW, MANY))
                rows.append((f"{language}: a {kind} generator", (many - few) / (MANY - FEW)))
        title = f"Memory: a generator, of {MANY:,}"
        print(
            json.dumps(
                {
                    "title": title,
                    "unit": "kB",
                    "rows": [{"name": name, "p10": kb, "median": kb, "p90": kb} for name, kb in rows],
                }
            )
        )
        return
    # The first tenth of the time warms caches and compilers up.
    parts = [60 * minutes * part / 10 for part in range(1, 11)]
    with ThreadPoolExecutor() as together:
        used = together.map(lambda program: measured(program, "use", 0, parts), PROGRAMS.values())
        for language, (_, *found) in zip(PROGRAMS, used, strict=True):
            print(f"{language}: {' '.join(f'{kb / 1024:.1f}' for kb in found)} MB", flush=True)


if __name__ == "__main__":
    main()
