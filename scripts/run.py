"""Runs the steps of `make demo`, `make check`, `make test` or `make prove`: run.py SUITE [--only PART] [--quick] [--list].

A step starts when the steps that it needs have ended, at most JOBS (the number of processors) at a time. Each
step prints a line when it starts and a line when it ends. The output of failed steps stands at the end, and all of it
in .cache/logs/.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from steps import PARTS, SET_UPS, STEPS, SUITES, Step

ROOT = Path(__file__).parents[1]
LOGS = ROOT / ".cache" / "logs"
LIMIT_S = 30 * 60
"""The longest that a step may take: a test that hangs fails."""
LINES = 150
"""How much of a failed step's output is shown."""

# A line by which a step that succeeds says what it left out.
LEFT_OUT = re.compile(r"(?m)^not checked: .*$")

# What test runners print at their end, as passed and failed tests.
COUNTS = [
    re.compile(r"(?m)^test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed"),
    re.compile(r"(?m)^(?P<passed>\d+) passed, (?P<failed>\d+) failed$"),
    re.compile(r"(?m)^[#ℹ] pass (?P<passed>\d+)$"),
    re.compile(r"(?m)^[#ℹ] fail (?P<failed>\d+)$"),
    re.compile(
        r"(?m)^(?:=+ )?(?=\d+ (?:passed|failed).* in [\d.]+s)(?:(?P<failed>\d+) failed)?(?:, )?(?:(?P<passed>\d+) passed)?"
    ),
]


def count(output: str) -> tuple[int, int]:
    """Counts the passed and failed tests that test runners report.

    >>> count("test result: ok. 3 passed; 0 failed; 1 ignored")
    (3, 0)
    >>> count("1 failed, 20 passed, 3 skipped in 4.56s")
    (20, 1)
    >>> count("===== 20 passed, 1 warning in 61.20s (0:01:01) =====")
    (20, 0)
    >>> count("ℹ pass 5\\nℹ fail 2")
    (5, 2)
    """
    found = [match.groupdict() for pattern in COUNTS for match in pattern.finditer(output)]
    return sum(int(each.get("passed") or 0) for each in found), sum(int(each.get("failed") or 0) for each in found)


@dataclass
class Running:
    """A step that runs."""

    step: Step
    process: subprocess.Popen[bytes]
    since: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> int:
        """How long the step has run."""
        return round(time.monotonic() - self.since)

    def kill(self) -> None:
        """Ends the step with all its processes."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


class Run:
    """A run of some steps."""

    def __init__(self, steps: list[Step], jobs: int) -> None:
        self.waiting = list(steps)
        self.jobs = jobs
        self.running: list[Running] = []
        self.done: set[str] = set()
        self.failed: list[Step] = []
        self.unstable: list[Step] = []
        self.hung: list[Step] = []
        self.counts: dict[str, tuple[int, int]] = {}
        self.began = time.monotonic()
        self.servers: subprocess.Popen[str] | None = None
        self.environment = {**os.environ, "PATH": f"{ROOT}/.venv/bin:{os.environ['PATH']}"}
        self.environment["SNOWMINT_SERVER"] = str(target() / "debug" / "snowmint")
        # Each process of Python's tests would compile all of them.
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)
        if "CI" in os.environ:
            # A fresh clone is built once: incremental builds would only cost time.
            self.environment["CARGO_INCREMENTAL"] = "0"

    def pass_over(self, steps: list[Step]) -> None:
        """Takes steps as done."""
        self.waiting = [step for step in self.waiting if step not in steps]
        self.done |= {step.name for step in steps}

    def say(self, word: str, text: str) -> None:
        """Prints a line with the time since the run began."""
        minutes, seconds = divmod(round(time.monotonic() - self.began), 60)
        print(f"{minutes:3}:{seconds:02}  {word:<7} {text}", flush=True)

    def log(self, step: Step) -> Path:
        """The file of a step's output."""
        return LOGS / (re.sub(r"[^a-z0-9]+", "-", step.name.lower()).strip("-") + ".log")

    def ready(self) -> Step | None:
        """The first step that can start now."""
        locks = {running.step.lock for running in self.running} - {None}
        for step in self.waiting:
            if self.done.issuperset(step.after) and step.lock not in locks:
                return step
        return None

    def start(self, step: Step) -> None:
        """Starts a step in a new process group."""
        self.waiting.remove(step)
        self.say("start", step.name)
        environment = {**self.environment, **step.env}
        if step.servers:
            environment["SNOWMINT_ENGINES"] = self.start_servers()
            # Writes of stores would wait for the files of builds, for seconds.
            os.sync()
        with self.log(step).open("wb") as log:
            process = subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", step.command],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.running.append(Running(step, process))

    def start_servers(self) -> str:
        """Starts the program that starts servers for tests, once, and returns the path of its socket."""
        if self.servers is None:
            self.servers = subprocess.Popen(
                [target() / "debug" / "snowmint-engines"],
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            assert self.servers.stdout is not None
            self.environment["SNOWMINT_ENGINES"] = self.servers.stdout.readline().strip()
        return self.environment["SNOWMINT_ENGINES"]

    def end(self, running: Running, code: int) -> None:
        """Counts a step that has ended."""
        self.running.remove(running)
        step = running.step
        output = self.log(step).read_text(errors="replace")
        passed, failed = count(output)
        if code == 0 and failed == 0:
            self.done.add(step.name)
            # A step without a test runner counts as one check, a set-up as no check.
            passed = passed or (0 if step in SET_UPS else 1)
            self.say("ok", f"{step.name}: {running.seconds} s" + (f", {passed} passed" if passed > 1 else ""))
            for line in LEFT_OUT.findall(output):
                self.say("note", line)
        else:
            failed = failed or 1
            self.failed.append(step)
            self.say("FAILED", f"{step.name}: {running.seconds} s, {failed} failed")
        self.counts[step.name] = (passed, failed)

    def go(self) -> None:
        """Runs all steps."""
        while self.waiting or self.running:
            while len(self.running) < self.jobs and (step := self.ready()):
                self.start(step)
            if not self.running:
                break
            time.sleep(0.1)
            for running in list(self.running):
                code = running.process.poll()
                if code is None and running.seconds > LIMIT_S:
                    running.kill()
                    code = running.process.wait()
                    self.hung.append(running.step)
                if code is not None:
                    self.end(running, code)

    def again(self) -> None:
        """Runs the failed steps a second time, one by one, then the steps that waited for them.

        A step that reached its time limit is not run again: two of them would take an hour.
        """
        self.unstable = [step for step in self.failed if step not in self.hung]
        self.failed = [step for step in self.failed if step in self.hung]
        for step in self.unstable:
            self.log(step).rename(self.log(step).with_suffix(".first.log"))
        self.waiting = [*self.unstable, *self.waiting]
        self.jobs = 1
        self.go()

    def stop(self) -> None:
        """Ends what still runs."""
        for running in self.running:
            running.kill()
        if self.servers is not None and self.servers.stdin is not None:
            self.servers.stdin.close()
            self.servers.wait()

    def report(self, shows_counts: bool) -> int:
        """Prints the output of failed steps and the count. Returns the exit code."""
        for log in [
            *(self.log(step).with_suffix(".first.log") for step in self.unstable),
            *(self.log(step) for step in self.failed),
        ]:
            lines = log.read_text(errors="replace").splitlines()
            print(f"\n== the last {min(len(lines), LINES)} of {len(lines)} lines of {log}\n")
            print("\n".join(lines[-LINES:]))
        for step in self.unstable:
            if step not in self.failed:
                print(f"\nUNSTABLE: {step.name} failed at first, and passed when it ran alone. Mend the test.")
        for step in self.waiting:
            print(f"not run, as a step before it failed: {step.name}")
        passed = sum(passed for passed, _ in self.counts.values())
        failed = sum(failed for _, failed in self.counts.values()) + len(self.waiting)
        if shows_counts or failed:
            print(f"\n{passed} passed, {failed} failed")
        return 1 if failed else 0


def target() -> Path:
    """The directory of cargo's builds."""
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()


def chosen(suite: str, part: str | None, quick: bool) -> list[Step]:
    """The steps of a suite, or of one part of it, in the order of the table, with all that they need.

    Of a quick suite only the steps that have a quick command.
    """
    by_name = {step.name: step for step in STEPS}
    wanted = [
        step for step in STEPS if suite in step.suites and part in (None, step.part) and (step.quick or not quick)
    ]
    names: set[str] = set()
    while wanted:
        step = wanted.pop()
        if step.name not in names:
            names.add(step.name)
            wanted += [by_name[name] for name in step.after]
    steps = [step for step in STEPS if step.name in names]
    return [replace(step, command=step.quick) if quick and step.quick else step for step in steps]


def main() -> int:
    """The exit code: 1 if a step fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("--only", metavar="PART", choices=PARTS, help=f"one of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="only steps with a quick command, by that command")
    parser.add_argument("--again", action="store_true", help="run failed steps once more, alone, and report both runs")
    parser.add_argument("--list", action="store_true", help="print the steps and run nothing")
    options = parser.parse_args()
    steps = chosen(options.suite, options.only, options.quick)
    if options.list:
        print("\n".join(f"{step.name}\n    {step.command}" for step in steps))
        return 0
    LOGS.mkdir(parents=True, exist_ok=True)
    missing = subprocess.run(
        [ROOT / "scripts" / "setup.sh", "--missing", *(step.command.split()[-1] for step in steps if step in SET_UPS)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    print(f"This installs what is missing:\n{missing}" if missing else "Everything is installed.", flush=True)
    run = Run(steps, int(os.environ.get("JOBS", os.cpu_count() or 1)))
    if not missing:
        run.pass_over(SET_UPS)
    try:
        run.go()
        if options.again and run.failed:
            run.again()
    except KeyboardInterrupt:
        print("interrupted")
        return 130
    finally:
        run.stop()
    return run.report(shows_counts=options.suite != "demo")


if __name__ == "__main__":
    sys.exit(main())
