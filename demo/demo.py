"""The Python program of the demonstration: `demo.py decode`, or `demo.py mint|fork PACKAGE LEDGER`.

`mint` appends 20 IDs each millisecond to a file in the directory LEDGER, until its input ends. `fork` makes the
generator, mints one ID, forks, and does the same in parent and child.
"""

import json
import os
import select
import sys
import time
from collections.abc import Callable
from pathlib import Path


def minter(package: str) -> Callable[[], int | None]:
    match package:
        case "snowmint":
            from snowmint import Snowflake

            back_ms = int(os.environ.get("DEMO_CLOCK_BACK_MS", "0"))
            clock = (lambda: time.time_ns() // 1_000_000 - back_ms) if back_ms else None
            # After a step of the clock it may have to wait for the end of the old window.
            return Snowflake(max_wait_ms=20_000, clock=clock).next_id
        case "snowflake-id":
            from snowflake import SnowflakeGenerator

            return SnowflakeGenerator(5).__next__
        case _:
            from sonyflake import SonyFlake

            return SonyFlake(machine_id=lambda: 5).next_id


def mint(next_id: Callable[[], int | None], ledger: Path) -> None:
    with (ledger / str(os.getpid())).open("a") as file:

        def batch() -> None:
            # snowflake-id returns None where it would have to wait.
            file.writelines(f"{id}\n" for _ in range(20) if (id := next_id()) is not None)
            file.flush()

        batch()
        print("ready", flush=True)
        # Waits a millisecond, or sees the end of the input.
        while not select.select([sys.stdin], [], [], 0.001)[0]:
            batch()


def decoded(public: dict[str, str]) -> str:
    from snowmint import Layout

    parts = Layout.preset(public["layout"]).decode(int(public["id"]))
    assert parts.timestamp is not None
    timestamp = parts.timestamp.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return f"{timestamp} {parts.node} {parts.sequence}"


match sys.argv[1:]:
    case ["decode"]:
        public_ids = json.loads(Path(__file__).with_name("public_ids.json").read_text())
        print(json.dumps([decoded(public) for public in public_ids]))
    case ["mint", package, ledger]:
        mint(minter(package), Path(ledger))
    case ["fork", package, ledger]:
        next_id = minter(package)
        next_id()
        child = os.fork()
        mint(next_id, Path(ledger))
        if child and os.waitpid(child, 0)[1]:
            sys.exit("the child failed")
    case _:
        sys.exit(__doc__)
