"""Proves that leased generators emit no ID twice, and refutes each variant without one of the checks.

Both solvers, z3 and cvc5, answer each question. The exit code is 1 if an answer differs from what README.md claims.
"""

import argparse
import re
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import protocol
import reservations
from model import Checks, Model, Variant
from questions import (
    beginning_script,
    consequence_script,
    decoded,
    duplicate,
    hunt_script,
    lapse_script,
    names_of,
    reach,
    replay_script,
    slots,
    step_script,
)
from solvers import LIMIT_MS, SOLVERS, Answer, ask

MODELS = [protocol.MODEL, reservations.MODEL]
LONGEST = 16
"""The most steps that a search tries."""


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


def obligations(model: Model, checks: Checks) -> dict[str, str]:
    """Returns the questions of the proof. Each asks for a counterexample, so the answer must be `unsat`."""
    questions = {"the invariant holds at the beginning": beginning_script(model)}
    questions |= {f"{action} keeps the invariant": step_script(model, action, checks) for action in model.actions}
    questions["the invariant implies the promise"] = consequence_script(model)
    return questions


def prove(report: Report, questions: dict[str, str], limit_ms: int = LIMIT_MS) -> None:
    """Shows that no counterexample exists, for any number of things."""
    for title, script in questions.items():
        report.row(title, ask_both(script, limit_ms), "unsat")


def shortest(script_of: Callable[[int], str]) -> int | None:
    """Returns the least number of steps with which z3 finds a run; `None` if no run exists, or z3 gives up."""
    for steps in range(1, LONGEST + 1):
        verdict = ask("z3", script_of(steps)).verdict
        if verdict != "unsat":
            return steps if verdict == "sat" else None
    return None


def every_action_can_happen(report: Report, model: Model) -> None:
    """Shows that the proof is not empty: each action can follow from the beginning."""
    print("\nEach action can happen. sat: there is a run from the beginning that ends with it, of so many steps.")
    for action in model.actions:
        steps = shortest(partial(reach, model, Checks(), action))
        if steps is None:
            report.expect(False, f"{action}: no run of {LONGEST} steps or fewer ends with it")
        else:
            report.row(f"{action}: {steps}", ask_both(reach(model, Checks(), action, steps)), "sat")


def refute(report: Report, model: Model, variant: Variant) -> None:
    """Shows that a model without a check repeats an ID, and prints how."""
    checks = Checks(variant.check)
    print(f"\nWithout the check `{variant.check}`: {variant.title}.")
    report.row("an action breaks the invariant", ask_both(lapse_script(model, checks)), "sat")

    def hunt(steps: int) -> str:
        return hunt_script(model, checks, steps, duplicate(model, steps), variant.needs)

    steps = shortest(hunt)
    if steps is None:
        report.expect(False, f"{variant.check}: no story has {LONGEST} steps or fewer")
        return
    goal = duplicate(model, steps)
    found = ask_both(hunt(steps))
    report.row(f"a duplicate after {steps} steps", found, "sat")
    stories = {solver: decoded(model, steps, answer.values) for solver, answer in found.items() if answer.values}
    report.expect(len(stories) == len(SOLVERS), f"{variant.check}: a solver has no story")
    # Each solver replays the story that the other one has found, and the model with all checks refuses it.
    others = dict(zip(SOLVERS, reversed(SOLVERS), strict=True))
    replays = {
        others[solver]: ask(others[solver], replay_script(model, checks, steps, goal, story))
        for solver, story in stories.items()
    }
    report.row("the story, replayed by the other solver", replays, "sat")
    refused = {
        others[solver]: ask(others[solver], replay_script(model, Checks(), steps, goal, story))
        for solver, story in stories.items()
    }
    report.row("the story, with all checks", refused, "unsat")
    for story in list(stories.values())[:1]:
        print(textwrap.indent(tell(model, story, steps), "    "), flush=True)


def tell(model: Model, story: dict[str, str], steps: int) -> str:
    """Tells a run in words."""
    lines = []
    for step in range(steps):
        action = list(model.actions)[int(story[f"step{step}_action"])]
        _, text = model.actions[action]
        places = zip(names_of(model, action), slots(model, action, step), strict=True)
        values = {name: named(story[slot.text]) for name, slot in places}
        values["run"] = ""
        last = (values.get("last_tick"), values.get("last_sequence"))
        if None not in last and (values["tick"], values["sequence"]) != last:
            values["run"] = f" to (tick {values['last_tick']}, sequence {values['last_sequence']})"
        sentence = text.format(**values)
        sentence = sentence[0].upper() + sentence[1:]
        lines.append(f"{step + 1:2}. {sentence}.")
    node, tick, sequence = (named(story[name]) for name in ("watched_node", "watched_tick", "watched_sequence"))
    return "\n".join([*lines, f"So the ID ({node}, tick {tick}, sequence {sequence}) is emitted twice."])


def named(value: str) -> str:
    """Returns how a story calls a thing."""
    return re.sub(r"(?<=[a-z])(?=\d)", " ", value)


def main() -> int:
    """The exit code: 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [variant.check for model in MODELS for variant in model.variants]
    parser.add_argument("--without", metavar="CHECK", choices=names, help="prove a model without this check: it fails")
    parser.add_argument("--only", metavar="CHECK", choices=names, help="refute only the variant without this check")
    parser.add_argument(
        "--model", choices=[model.name for model in MODELS], help="check one of the two models; without it, both"
    )
    parser.add_argument(
        "--print", metavar="QUESTION", dest="shown", help="print a question of the proof as SMT-LIB text"
    )
    options = parser.parse_args()
    report = Report()
    checks = Checks(options.without)
    chosen = options.only or options.without
    models = [
        model
        for model in MODELS
        if options.model in (None, model.name)
        and (chosen is None or chosen in [variant.check for variant in model.variants])
    ]
    if options.shown:
        questions = [obligations(model, checks) for model in models]
        print(next(each[options.shown] for each in questions if options.shown in each))
        return 0
    for model in models:
        if not options.only:
            things = ", ".join(f"{kind.lower()}s" for kind in model.counts)
            print(
                f"The proof of the {model.name}, for any number of {things} and IDs. unsat: there is no counterexample."
            )
            prove(report, obligations(model, checks))
        if not options.only and not options.without:
            every_action_can_happen(report, model)
        if not options.without:
            for variant in model.variants:
                if options.only in (None, variant.check):
                    refute(report, model, variant)
        print()
    for fault in report.faults:
        print(f"FAULT: {fault}")
    if not report.faults:
        print("z3 and cvc5 agree: all is proved, and each variant is refuted.")
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
