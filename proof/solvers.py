"""Asks z3 and cvc5 the same question, as the same text."""

import re
import time
from dataclasses import dataclass, field

import cvc5
import z3

LIMIT_MS = 120_000
"""The longest time for one question."""


@dataclass(frozen=True)
class Answer:
    """The answer of a solver.

    Attributes:
        verdict: `unsat` (impossible), `sat` (possible) or `unknown`.
        seconds: The processor time that it took.
        values: The values of a possible state, by name.
    """

    verdict: str
    seconds: float
    values: dict[str, str] = field(default_factory=dict)


def ask_z3(script: str, limit_ms: int = LIMIT_MS) -> str:
    """Returns what z3 prints for a script."""
    context = z3.Context()
    try:
        return str(z3.Z3_eval_smtlib2_string(context.ref(), f"(set-option :timeout {limit_ms})\n{script}"))
    except z3.Z3Exception as error:
        # An answer without values, where values were asked for, is an error too.
        return bytes(error.args[0]).decode() if isinstance(error.args[0], bytes) else str(error)


def ask_cvc5(script: str, limit_ms: int = LIMIT_MS) -> str:
    """Returns what cvc5 prints for a script."""
    terms = cvc5.TermManager()
    solver, symbols = cvc5.Solver(terms), cvc5.SymbolManager(terms)
    solver.setOption("produce-models", "true")
    solver.setOption("tlimit-per", str(limit_ms))
    if script.startswith("(set-logic QF_BV)"):
        for option, value in {"incremental": "false", "bitblast": "eager", "bv-assert-input": "true"}.items():
            solver.setOption(option, value)
    parser = cvc5.InputParser(solver, symbols)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "proof")
    printed = []
    while not (command := parser.nextCommand()).isNull():
        printed.append(command.invoke(solver, symbols))
        if printed[-1].startswith(("unsat", "unknown", "(error")):
            break  # There are no values to get.
    return "".join(printed)


SOLVERS = {"z3": ask_z3, "cvc5": ask_cvc5}


def ask(solver: str, script: str, limit_ms: int = LIMIT_MS) -> Answer:
    """Asks a solver. Any answer that is neither `sat` nor `unsat` is `unknown`."""
    since = time.process_time()
    printed = SOLVERS[solver](script, limit_ms)
    seconds = time.process_time() - since
    verdict, _, rest = printed.strip().partition("\n")
    if verdict not in ("sat", "unsat"):
        # The script has a fault, so this is not an answer.
        if "error" in verdict:
            raise ValueError(f"{solver}: {printed}")
        return Answer("unknown", seconds)
    return Answer(verdict, seconds, read_values(rest) if verdict == "sat" else {})


def read_values(text: str) -> dict[str, str]:
    """Reads the pairs of a `get-value`.

    >>> read_values("((a 1)\\n (b (- 2)) (c node1))")
    {'a': '1', 'b': '(- 2)', 'c': 'node1'}
    """
    pairs = re.findall(r"\(([^\s()]+) ([^\s()]+|\(- \d+\))\)", text)
    return {str(name): str(value) for name, value in pairs}
