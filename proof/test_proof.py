"""The proof depends on each of its parts, and README.md names the code that each part stands for."""

import re
from pathlib import Path

import pytest
from check import Report, obligations, prove
from protocol import ACTIONS, INVARIANT, PROPERTY, VARIANTS, Checks, Variant
from questions import World, gap_script, lapse_script
from solvers import SOLVERS, ask

ROOT = Path(__file__).parents[1]
README = (ROOT / "proof" / "README.md").read_text()
SOUND = obligations(Checks())


def tables() -> dict[str, list[list[str]]]:
    """The tables of README.md: the rows as lists of cells, by the first heading of the table."""
    found: dict[str, list[list[str]]] = {}
    rows: list[list[str]] = []
    for line in README.splitlines():
        if not line.startswith("|"):
            rows = []
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not rows:
            rows = found.setdefault(cells[0], [])
        rows.append(cells)
    return {heading: rows[2:] for heading, rows in found.items()}


def first_cells(heading: str) -> list[str]:
    return [cells[0].strip("`") for cells in tables()[heading]]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.check)
def test_a_variant_is_not_proved(variant: Variant) -> None:
    checks = Checks(variant.check)
    changed = {title: script for title, script in obligations(checks).items() if script != SOUND[title]}
    assert changed, "no action has this check"
    report = Report()
    prove(report, changed, limit_ms=2000)
    assert report.faults
    # Not only because a solver takes too long: there is a counterexample.
    for solver in SOLVERS:
        assert ask(solver, lapse_script(World(), checks, INVARIANT, INVARIANT)).verdict == "sat", solver


def test_every_check_has_a_variant() -> None:
    checks = Checks()
    obligations(checks)
    assert checks.met == {variant.check for variant in VARIANTS}


@pytest.mark.parametrize("left_out", INVARIANT)
def test_the_proof_fails_without_a_conjunct(left_out: str) -> None:
    rest = {name: conjunct for name, conjunct in INVARIANT.items() if name != left_out}
    for solver in SOLVERS:
        is_kept = ask(solver, lapse_script(World(), Checks(), rest, rest)).verdict
        # Two earlier leases, and the holder.
        is_enough = ask(solver, gap_script(World(leases=3), PROPERTY, rest)).verdict
        assert "sat" in (is_kept, is_enough), solver


def test_the_proof_needs_no_more_than_the_invariant() -> None:
    for solver in SOLVERS:
        assert ask(solver, lapse_script(World(), Checks(), INVARIANT, INVARIANT)).verdict == "unsat", solver
        assert ask(solver, gap_script(World(leases=3), PROPERTY, INVARIANT)).verdict == "unsat", solver


def test_the_readme_lists_all_parts() -> None:
    assert f"({len(ACTIONS)} actions)" in README
    assert f"*invariant*, {len(INVARIANT)} statements" in README
    assert first_cells("action") == list(ACTIONS)
    assert first_cells("what always holds") == list(INVARIANT)
    assert first_cells("check") == [variant.check for variant in VARIANTS]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.check)
def test_the_readme_names_the_mutant_of_a_check(variant: Variant) -> None:
    row = next(cells for cells in tables()["check"] if cells[0] == f"`{variant.check}`")
    assert row[1] == variant.title
    if variant.mutant is None:
        assert row[2].startswith("none")
        return
    assert row[2] == f"`{variant.mutant}`"
    source = re.findall(r"`([\w/]+\.rs)`", row[3])[0]
    assert f'mutant::removes("{variant.mutant}")' in (ROOT / source).read_text()


def named_functions() -> list[tuple[str, str]]:
    """The pairs of a source file and a function in README.md."""
    return [
        (source, name)
        for source, names in re.findall(r"`([\w/]+\.rs)` ((?:`[\w:]+`(?:, )?)+)", README)
        for name in re.findall(r"`([\w:]+)`", names)
    ]


@pytest.mark.parametrize(("source", "name"), named_functions())
def test_a_function_that_the_readme_names_exists(source: str, name: str) -> None:
    text = (ROOT / source).read_text()
    *owner, function = name.split("::")
    assert re.search(rf"\bfn {function}\b", text), f"{source} has no function {function}"
    if owner:
        assert re.search(rf"\bimpl\b[^\n]*\b{owner[0]}\b", text), f"{source} has no methods of {owner[0]}"


@pytest.mark.parametrize("heading", ["action", "what always holds"])
def test_every_part_names_code(heading: str) -> None:
    for cells in tables()[heading]:
        assert ".rs`" in cells[-1] or cells[-1].startswith("none"), cells[0]
