"""Runs workers in Rust, Python and Node on one store, and breaks what they depend on, by a plan that a seed decides.

    python tests/nemesis/run.py --engine redis --seconds 20 --seed 7
    python tests/nemesis/run.py --engine all --seconds 120        # this long over all engines, with a new seed

The exit code is 1 if a promise was broken. Then the ledgers and logs stay in a directory, whose path it prints. README.md
describes the processes, the faults and the checks.
"""

import argparse
import asyncio
import contextlib
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import checker
from checker import VIOLATIONS, Findings
from fleet import KINDS, Fleet, Process, absent
from plan import FAULTS, Fault, Kind, plan

from stores import ENGINES, Disk, Engines, Server

GAP_S = 0.45
"""The mean time between two faults."""
ON_ONE = ("stop", "kill", "close", "clock")
"""The faults that any process can have."""
PROGRESS_S = 5.0
MEND_S = 1.0
"""The pause after a fault of the server or the disk."""
MOST_FAILURES = 10
"""How often the driver starts a process again that has failed."""
CALM_S = 60.0
"""How long, after the last fault, the silent processes may take to get their first numbers."""
START_S = 120.0
"""How long workers may take until each of them has a ledger."""


@dataclass
class Result:
    """The counts of one engine's run. `on_services` are faults of kinds `ON_ONE` that hit a service."""

    engine: str
    findings: Findings
    seconds: float = 0.0
    faults: Counter[Kind] = field(default_factory=Counter)
    skipped: Counter[Kind] = field(default_factory=Counter)
    on_services: int = 0


class Nemesis:
    """Carries out the plan of one run.

    Args:
        fleet: The processes.
        store: The store.
        result: Gets the counts.
    """

    def __init__(self, fleet: Fleet, store: Server | Disk, result: Result) -> None:
        self.fleet, self.store, self.result = fleet, store, result
        # The server or the disk has only one fault at a time.
        self._one = asyncio.Lock()
        # Services are listed twice, because many other processes depend on them.
        self._targets = [*fleet.processes, *(one for one in fleet.processes if one.name.startswith("service-"))]
        self._forkable = [process for process in fleet.processes if process.name.startswith("python-")]
        self._over = False

    async def run(self, faults: list[Fault], seconds: float) -> None:
        """Starts all processes, begins each fault at its time, and ends all processes."""
        for process in self.fleet.processes:
            process.start()
        await self._all_mint()
        watch = asyncio.create_task(self._watch())
        began = time.monotonic()
        tasks = [asyncio.create_task(self._at(began, fault)) for fault in faults]
        show = asyncio.create_task(self._show(began))
        try:
            await asyncio.sleep(seconds)
            await asyncio.gather(*tasks)
            self.result.seconds = time.monotonic() - began
            await self._none_silent()
        finally:
            self._over = True
            for task in (show, *tasks):
                task.cancel()
            await watch
        # All clocks are right again and all connections are whole: nothing hinders a clean end.
        await asyncio.sleep(0.5)
        await self.fleet.end()

    async def _all_mint(self) -> None:
        """Waits until each worker has a ledger, so that no fault hits a process that still starts."""
        end = time.monotonic() + START_S
        while time.monotonic() < end:
            missing = [
                one for one in self.fleet.processes if one.begins and not list(self.fleet.ids.glob(f"{one.begins}*"))
            ]
            failed = [one for one in self.fleet.processes if one.ended() is not None]
            if failed:
                raise RuntimeError(f"{failed[0].name} ended at once: {failed[0].last_words()}")
            if not missing:
                return
            await asyncio.sleep(0.05)
        raise RuntimeError(f"no ledger after {START_S:.0f} s: {', '.join(one.name for one in missing)}")

    async def _none_silent(self) -> None:
        """Waits until no process is silent: on a slow machine some get their first IDs after the last fault."""
        end = time.monotonic() + CALM_S
        while await asyncio.to_thread(silent, self.fleet) and time.monotonic() < end:
            await asyncio.sleep(0.5)

    async def _watch(self) -> None:
        """Starts processes again that end without a fault, and notes why they ended."""
        while not self._over:
            for process in self.fleet.processes:
                code = process.ended()
                if code is None or process.awaited:
                    continue
                if process.is_explained(code):
                    process.start()
                else:
                    process.failures.append(f"{process.name} ended with {code}: {process.last_words()}")
                    if len(process.failures) < MOST_FAILURES:
                        process.start()
                    else:
                        process.awaited = True
            await asyncio.sleep(0.1)

    async def _show(self, began: float) -> None:
        """Prints a line of progress from time to time."""
        while True:
            await asyncio.sleep(PROGRESS_S)
            size = sum(path.stat().st_size for path in self.fleet.ids.iterdir())
            faults = sum(self.result.faults.values())
            line = f"{self.result.engine}: {time.monotonic() - began:.0f} s, {faults} faults, about {size // 8:,} IDs"
            print(line, file=sys.stderr, flush=True)

    async def _at(self, began: float, fault: Fault) -> None:
        await asyncio.sleep(max(0.0, began + fault.at_s - time.monotonic()))
        since = time.monotonic() - began
        done = await self._do(fault)
        (self.result.faults if done else self.result.skipped)[fault.kind] += 1
        if done and fault.kind in ON_ONE and self._target(fault).name.startswith("service-"):
            self.result.on_services += 1
        with (self.fleet.directory / "events.txt").open("a") as events:
            events.write(
                f"{since:.3f} s to {time.monotonic() - began:.3f} s: {'done' if done else 'not done'}: {fault}\n"
            )

    def _target(self, fault: Fault) -> Process:
        return self._targets[fault.target % len(self._targets)]

    async def _do(self, fault: Fault) -> bool:
        """Carries out a fault. Returns whether it could."""
        process = self._target(fault)
        match fault.kind:
            case "stop":
                resume = process.stand_still()
                try:
                    await asyncio.sleep(fault.lasts_s)
                finally:
                    resume()
            case "kill" | "close":
                return await self._end(process, fault)
            case "clock":
                if not process.has_clock:
                    return False
                process.set_clock(fault.amount)
                await asyncio.sleep(fault.lasts_s)
                process.set_clock(0)
            case "fork":
                process = self._forkable[fault.target % len(self._forkable)]
                if not (self.fleet.ids / f"{process.begins}{process.incarnation}.0").exists():
                    # It has just started, and does not handle the signal yet.
                    return False
                process.signal(signal.SIGUSR1)
            case "cut" | "delay" | "lose" | "refuse":
                return await self._disturb(fault)
            case "crash" | "hang" | "restart" | "full":
                if self._one.locked():
                    # On a slow machine such faults would follow each other without a pause, and the store would be
                    # unreachable.
                    return False
                async with self._one:
                    done = await (self._fill_disk(fault) if fault.kind == "full" else self._break_server(fault))
                    await asyncio.sleep(MEND_S)
                    return done
        return True

    async def _end(self, process: Process, fault: Fault) -> bool:
        if process.awaited:
            # Another fault has just ended it.
            return False
        process.awaited = True
        if fault.kind == "close":
            process.signal(signal.SIGTERM)
            await process.wait(3)
        process.signal(signal.SIGKILL)
        await process.wait(5)
        await asyncio.sleep(fault.lasts_s)
        process.start()
        return True

    async def _disturb(self, fault: Fault) -> bool:
        proxy = self.fleet.proxies[fault.target % len(self.fleet.proxies)]
        if fault.kind == "cut":
            proxy.cut()
            return True
        if fault.kind == "delay":
            proxy.delay_s = fault.amount
        elif fault.kind == "lose":
            proxy.loses = True
        else:
            proxy.refuses = True
            proxy.cut()
        await asyncio.sleep(fault.lasts_s)
        proxy.heal()
        return True

    async def _break_server(self, fault: Fault) -> bool:
        assert isinstance(self.store, Server)
        if fault.kind == "hang":
            await asyncio.to_thread(self.store.pause, True)
            await asyncio.sleep(fault.lasts_s)
            await asyncio.to_thread(self.store.pause, False)
            return True
        # The store granted the IDs in the ledgers before the crash, so it must know their windows afterwards.
        last = await asyncio.to_thread(checker.last_ms, list(self.fleet.ids.iterdir()))
        if fault.kind == "crash":
            await asyncio.to_thread(self.store.kill)
            await asyncio.sleep(fault.lasts_s)
        await asyncio.to_thread(self.store.restart)
        ends = await asyncio.to_thread(self._ends)
        checker.check_records(last, ends, self.result.findings)
        return True

    def _ends(self) -> dict[int, int]:
        """Reads the store's records. A server that has just started may refuse a moment longer."""
        for _ in range(5):
            with contextlib.suppress(RuntimeError):
                return self.fleet.ends()
            time.sleep(0.5)
        return self.fleet.ends()

    async def _fill_disk(self, fault: Fault) -> bool:
        assert isinstance(self.store, Disk)
        try:
            is_full = await asyncio.to_thread(self.store.fill)
            if is_full:
                await asyncio.sleep(fault.lasts_s)
        finally:
            self.store.empty()
        return is_full


def check(fleet: Fleet, findings: Findings) -> None:
    """Reads all ledgers, the store's records and the logs."""
    ledgers = [path for path in fleet.ids.iterdir() if path.stat().st_size]
    checker.check_ids(ledgers, fleet.stops(), findings)
    checker.check_takes(fleet.takes.glob("*/*"), findings)
    checker.check_records(checker.last_ms(ledgers), fleet.ends(), findings)
    for process in fleet.processes:
        for failure in process.failures:
            findings.broken("unexplained", failure)
        for line in process.log.read_text(errors="replace").splitlines():
            if line.startswith("unexplained, in a child"):
                findings.broken("unexplained", f"{process.name}: {line}")
    for sentence in silent(fleet):
        findings.broken("silent", sentence)


def silent(fleet: Fleet) -> list[str]:
    """Says which workers have minted nothing, and which kinds of numbers were not taken."""
    found, so_far = [], Findings()
    for process in fleet.processes:
        if process.begins and not checker.last_ms(fleet.ids.glob(f"{process.begins}*")):
            found.append(f"{process.name} minted nothing")
    checker.check_takes(fleet.takes.glob("*/*"), so_far)
    for name, kinds in fleet.taken.items():
        for kind in kinds:
            # Others may serve the users, or be first to write the sequence, all the time.
            is_shared = kind in ("user", "sequence")
            if not (so_far.numbers[kind] if is_shared else so_far.takers[name, kind]):
                found.append(f"{name} took no number of kind {kind}")
    return found


async def attack(engine: str, engines: Engines, seconds: float, seed: int, gap_s: float, keep: bool) -> Result:
    """Runs the plan of one engine."""
    result = Result(engine, Findings())
    directory = Path(tempfile.mkdtemp(prefix=f"snowmint-nemesis-{engine}-"))
    store = await asyncio.to_thread(engines.open, engine)
    fleet = Fleet(store.place, directory, seed)
    is_sound = False
    try:
        await fleet.prepare()
        fleet.snowmint("segment", "create", "takes", "--step", "20")
        fleet.snowmint("sequence", "create", "takes")
        fleet.snowmint("sequence", "create", "cached", "--cache", "7")
        if isinstance(store, Server):
            await asyncio.to_thread(store.create_sequence)
        faults = plan(seed, engine, seconds, gap_s)
        (directory / "plan.txt").write_text("".join(f"{fault}\n" for fault in faults))
        await Nemesis(fleet, store, result).run(faults, seconds)
        check(fleet, result.findings)
        is_sound = not result.findings.violations
    finally:
        await fleet.close()
        store.close()
        if is_sound and not keep:
            shutil.rmtree(directory)
        else:
            print(f"{engine}: ledgers, logs and plan: {directory}", flush=True)
    return result


def table(rows: list[list[str]]) -> str:
    """Aligns columns: the first to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def counts(engine: str, numbers: list[int]) -> list[str]:
    """Returns a row of a table."""
    return [engine, *(f"{number:,}" for number in numbers)]


def with_sums(rows: list[list[str]]) -> list[list[str]]:
    """Adds a row with the sums of all engines."""
    columns = [[row[at].replace(",", "") for row in rows[1:]] for at in range(1, len(rows[0]))]
    return [*rows, counts("all", [sum(int(cell) for cell in column if cell != "–") for column in columns])]


def report(results: list[Result]) -> str:
    """Describes the results of all engines."""
    parts: list[str] = []
    kinds = [kind for kind in FAULTS if any(result.faults[kind] for result in results)]
    rows = [["faults", "all", *kinds, "services"]]
    for result in results:
        faults = [result.faults[kind] for kind in kinds]
        rows.append(counts(result.engine, [sum(faults), *faults, result.on_services]))
    parts.append(table(with_sums(rows)))
    rows = [["given out", "IDs", "generators", "takeovers", "refusals"]]
    for result in results:
        found = result.findings
        rows.append(counts(result.engine, [found.ids, found.generators, found.takeovers, found.refusals.total()]))
    parts.append(table(with_sums(rows)))
    rows = [["numbers", "all", *KINDS, "successions"]]
    for result in results:
        numbers = [result.findings.numbers[kind] for kind in KINDS]
        row = counts(result.engine, [sum(numbers), *numbers, result.findings.successions])
        rows.append(["–" if name in absent(result.engine) else cell for name, cell in zip(rows[0], row, strict=True)])
    parts.append(table(with_sums(rows)))
    rows = [["broken", *VIOLATIONS]]
    rows += [[result.engine, *(str(result.findings.violations[name]) for name in VIOLATIONS)] for result in results]
    parts.append(table(rows))
    for kind, reason in sorted({skip for result in results for skip in absent(result.engine).items()}):
        engines = [result.engine for result in results if kind in absent(result.engine)]
        parts.append(f"No {kind} on {', '.join(engines)}: {reason}.")
    for result in results:
        found = result.findings
        parts += [f"{result.engine}: {sample}" for sample in found.samples]
        for kind, count in result.skipped.items():
            parts.append(f"{result.engine}: {count} x {kind} could not be done")
    refusals: Counter[str] = sum((result.findings.refusals for result in results), Counter())
    parts.append(
        "Refused calls: " + (", ".join(f"{count:,} {code}" for code, count in refusals.most_common()) or "none") + "."
    )
    latest = max(result.findings.latest_ms for result in results)
    parts.append(f"The latest call returned {latest} ms after its deadline.")
    return "\n\n".join(parts)


def main() -> int:
    """The exit code: 1 if a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="all", help=f"all, or some of {','.join(ENGINES)}")
    parser.add_argument("--seconds", type=float, default=120.0, help="the length of all runs together")
    parser.add_argument("--seed", type=int, help="by default a new one")
    parser.add_argument("--gap", type=float, default=GAP_S, help="the mean time between two faults, in seconds")
    parser.add_argument("--keep", action="store_true", help="keep ledgers, logs and plans of sound runs too")
    parser.add_argument("--plan", action="store_true", help="print the plan of faults, and run nothing")
    options = parser.parse_args()
    wanted = ENGINES if options.engine == "all" else options.engine.split(",")
    if unknown := set(wanted) - set(ENGINES):
        parser.error(f"--engine: {', '.join(sorted(unknown))} is not one of {', '.join(ENGINES)}")
    seed = random.randrange(2**31) if options.seed is None else options.seed
    seconds = options.seconds / len(wanted)
    print(f"seed {seed}: again by --engine {options.engine} --seconds {options.seconds:g} --seed {seed}", flush=True)
    if options.plan:
        for engine in wanted:
            print(engine, *plan(seed, engine, seconds, options.gap), sep="\n")
        return 0
    # A signal ends the run as Ctrl-C does, so that no process stays. A shell starts jobs in the background without Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    engines = Engines()
    results: list[Result] = []
    try:
        for engine in wanted:
            results.append(asyncio.run(attack(engine, engines, seconds, seed, options.gap, options.keep)))
    except KeyboardInterrupt:
        print("interrupted")
        return 130
    finally:
        engines.close()
    print(report(results))
    return 1 if any(result.findings.violations for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
