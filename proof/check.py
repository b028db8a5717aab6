"""Proves that the window protocol emits no ID twice, and refutes each variant without one of its checks.

Both solvers, z3 and cvc5, answer each question. The exit code is 1 if an answer differs from what README.md claims.
"""

import argparse
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from protocol import ACTIONS, INVARIANT, PROPERTY, VARIANTS, Checks, Variant
from questions import (
    World,
    beginning_script,
    consequence_script,
    decoded,
    duplicate,
    hunt_script,
    lapse_script,
    reach,
    replay_script,
    slots,
    step_script,
)
from solvers import LIMIT_MS, SOLVERS, Answer, ask
from terms import parameters

LONGEST = 16
"""The most steps that a search tries."""
WORLD = World()


@dataclass
class Report:
    """Prints rows of answers, and remembers what is wrong."""

    faults: list[str] = field(default_factory=list)

    def row(self, title: str, answers: dict[str, Answer], expected: str) -> None:
        """Prints the answers to a question."""
        verdicts = "".join(
            f"{solver:>6} {answer.verdict:<8}{answer.seconds:5.2f} s" for solver, answer in answers.items()
        )
        print(f"  {title:<52}{verdicts}", flush=True)
        for solver, answer in answers.items():
            self.expect(answer.verdict == expected, f"{title}: {solver} says {answer.verdict}, not {expected}")

    def expect(self, is_true: bool, fault: str) -> None:
        """Notes a fault."""
        if not is_true:
            self.faults.append(fault)


def ask_both(script: str, limit_ms: int = LIMIT_MS) -> dict[str, Answer]:
    """Asks both solvers."""
    return {solver: ask(solver, script, limit_ms) for solver in SOLVERS}


def obligations(checks: Checks) -> dict[str, str]:
    """Returns the questions of the proof. Each asks for a counterexample, so the answer must be `unsat`."""
    questions = {"the invariant holds at the beginning": beginning_script(INVARIANT)}
    questions |= {f"{action} keeps the invariant": step_script(action, checks, INVARIANT) for action in ACTIONS}
    questions["the invariant implies the promise"] = consequence_script(PROPERTY, INVARIANT)
    return questions


def prove(report: Report, questions: dict[str, str], limit_ms: int = LIMIT_MS) -> None:
    """Shows that no counterexample exists, for any number of nodes, leases, writes, calls and IDs."""
    print("The proof, for any number of nodes, leases, requests, calls and IDs. unsat: there is no counterexample.")
    for title, script in questions.items():
        report.row(title, ask_both(script, limit_ms), "unsat")


def shortest(script_of: Callable[[int], str]) -> int | None:
    """Returns the least number of steps with which a search succeeds, by z3; `None` if there is none, or z3 gives up."""
    for steps in range(1, LONGEST + 1):
        verdict = ask("z3", script_of(steps)).verdict
        if verdict != "unsat":
            return steps if verdict == "sat" else None
    return None


def every_action_can_happen(report: Report) -> None:
    """Shows that the proof is not about nothing: each action can follow from the beginning."""
    print("\nEach action can happen. sat: there is a run from the beginning that ends with it, of so many steps.")
    for action in ACTIONS:
        steps = shortest(partial(reach, WORLD, Checks(), action))
        if steps is None:
            report.expect(False, f"{action}: no run of {LONGEST} steps or fewer ends with it")
        else:
            report.row(f"{action}: {steps}", ask_both(reach(WORLD, Checks(), action, steps)), "sat")


def refute(report: Report, variant: Variant) -> None:
    """Shows that the protocol without a check repeats an ID, and prints how."""
    checks = Checks(variant.check)
    print(f"\nWithout the check `{variant.check}`: {variant.title}.")
    report.row("an action breaks the invariant", ask_both(lapse_script(WORLD, checks, INVARIANT, INVARIANT)), "sat")

    def hunt(steps: int) -> str:
        return hunt_script(WORLD, checks, steps, duplicate(WORLD, steps), with_forks=variant.check == "wipe")

    steps = shortest(hunt)
    if steps is None:
        report.expect(False, f"{variant.check}: no story has {LONGEST} steps or fewer")
        return
    goal = duplicate(WORLD, steps)
    found = ask_both(hunt(steps))
    report.row(f"a duplicate after {steps} steps", found, "sat")
    stories = {solver: decoded(WORLD, steps, answer.values) for solver, answer in found.items() if answer.values}
    report.expect(len(stories) == len(SOLVERS), f"{variant.check}: a solver has no story")
    # Each solver replays the story that the other one has found, and the protocol with all checks refuses it.
    others = dict(zip(SOLVERS, reversed(SOLVERS), strict=True))
    replays = {
        others[solver]: ask(others[solver], replay_script(WORLD, checks, steps, goal, story))
        for solver, story in stories.items()
    }
    report.row("the story, replayed by the other solver", replays, "sat")
    refused = {
        others[solver]: ask(others[solver], replay_script(WORLD, Checks(), steps, goal, story))
        for solver, story in stories.items()
    }
    report.row("the story, with all checks", refused, "unsat")
    for story in list(stories.values())[:1]:
        print(textwrap.indent(tell(story, steps), "    "), flush=True)


def tell(story: dict[str, str], steps: int) -> str:
    """Tells a run in words."""
    lines = []
    for step in range(steps):
        action = list(ACTIONS)[int(story[f"step{step}_action"])]
        _, text = ACTIONS[action]
        places = [(name, story[slot.text]) for name, slot in zip(names_of(action), slots(action, step), strict=True)]
        values = {name: named(value) for name, value in places}
        values["run"] = ""
        if action == "emit" and (values["tick"], values["sequence"]) != (values["last_tick"], values["last_sequence"]):
            values["run"] = f" to (tick {values['last_tick']}, sequence {values['last_sequence']})"
        sentence = text.format(**values)
        sentence = sentence[0].upper() + sentence[1:]
        lines.append(f"{step + 1:2}. {sentence}.")
    node, tick, sequence = (named(story[name]) for name in ("watched_node", "watched_tick", "watched_sequence"))
    return "\n".join([*lines, f"So the ID ({node}, tick {tick}, sequence {sequence}) is emitted twice."])


def names_of(action: str) -> list[str]:
    """Returns the names of an action's parameters."""
    return [name for name, _ in parameters(ACTIONS[action][0])]


def named(value: str) -> str:
    """Returns how a story calls a thing."""
    return f"node {value[4:]}" if value.startswith("node") else value


def main() -> int:
    """The exit code: 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [variant.check for variant in VARIANTS]
    parser.add_argument(
        "--without", metavar="CHECK", choices=names, help="prove the protocol without this check: it fails"
    )
    parser.add_argument("--only", metavar="CHECK", choices=names, help="refute only the variant without this check")
    parser.add_argument(
        "--print", metavar="QUESTION", dest="shown", help="print a question of the proof as SMT-LIB text"
    )
    options = parser.parse_args()
    report = Report()
    checks = Checks(options.without)
    if options.shown:
        print(obligations(checks)[options.shown])
        return 0
    if not options.only:
        prove(report, obligations(checks))
    if not options.only and not options.without:
        every_action_can_happen(report)
    if not options.without:
        for variant in VARIANTS:
            if options.only in (None, variant.check):
                refute(report, variant)
    print()
    for fault in report.faults:
        print(f"FAULT: {fault}")
    if not report.faults:
        print("z3 and cvc5 agree: the protocol is proved, and each variant is refuted.")
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
