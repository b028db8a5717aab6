"""Each proof depends on each of its parts, and README.md names the code of each part."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from check import MODELS, Report, obligations, prove
from model import Checks, Model, Variant
from questions import gap_script, lapse_script
from solvers import SOLVERS, ask

ROOT = Path(__file__).parents[1]
README = (ROOT / "proof" / "README.md").read_text()
# The second model has a separate chapter.
RESERVATIONS = README[README.index("## Reservations") : README.index("## What is not covered")]
CHAPTERS = {"windows": README.replace(RESERVATIONS, ""), "reservations": RESERVATIONS}
VARIANTS = [pytest.param(model, variant, id=variant.check) for model in MODELS for variant in model.variants]
STATEMENTS = [pytest.param(model, name, id=name) for model in MODELS for name in model.statements]
EACH_MODEL = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)


def with_one_more(model: Model) -> Model:
    """The model, whose searches have one holder more of a node: two earlier ones, and the present one."""
    return replace(model, counts=model.counts | {kind: 3 for kind in ("Lease", "Reservation") if kind in model.counts})


def tables(model: Model) -> dict[str, list[list[str]]]:
    """The tables of a model in README.md: the rows as lists of cells, by the first heading of the table."""
    found: dict[str, list[list[str]]] = {}
    rows: list[list[str]] = []
    for line in CHAPTERS[model.name].splitlines():
        if not line.startswith("|"):
            rows = []
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not rows:
            rows = found.setdefault(cells[0], [])
        rows.append(cells)
    return {heading: rows[2:] for heading, rows in found.items()}


def first_cells(model: Model, heading: str) -> list[str]:
    return [cells[0].strip("`") for cells in tables(model)[heading]]


@pytest.mark.parametrize(("model", "variant"), VARIANTS)
def test_a_variant_is_not_proved(model: Model, variant: Variant) -> None:
    checks, sound = Checks(variant.check), obligations(model, Checks())
    changed = {title: script for title, script in obligations(model, checks).items() if script != sound[title]}
    assert changed, "no action has this check"
    report = Report()
    prove(report, changed, limit_ms=2000)
    assert report.faults
    # Not only because a solver takes too long: there is a counterexample.
    for solver in SOLVERS:
        assert ask(solver, lapse_script(model, checks)).verdict == "sat", solver


@EACH_MODEL
def test_every_check_has_a_variant(model: Model) -> None:
    checks = Checks()
    obligations(model, checks)
    assert checks.met == {variant.check for variant in model.variants}


def test_no_two_checks_have_the_same_name() -> None:
    names = [variant.check for model in MODELS for variant in model.variants]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("model", "left_out"), STATEMENTS)
def test_the_proof_fails_without_a_statement(model: Model, left_out: str) -> None:
    rest = replace(model, statements={name: each for name, each in model.statements.items() if name != left_out})
    for solver in SOLVERS:
        is_kept = ask(solver, lapse_script(rest, Checks())).verdict
        is_enough = ask(solver, gap_script(with_one_more(rest))).verdict
        assert "sat" in (is_kept, is_enough), solver


@EACH_MODEL
def test_the_proof_needs_no_more_than_the_invariant(model: Model) -> None:
    for solver in SOLVERS:
        assert ask(solver, lapse_script(model, Checks())).verdict == "unsat", solver
        assert ask(solver, gap_script(with_one_more(model))).verdict == "unsat", solver


@EACH_MODEL
def test_the_readme_lists_all_parts(model: Model) -> None:
    assert f"({len(model.actions)} actions)" in CHAPTERS[model.name]
    assert f"*invariant*, {len(model.statements)} statements" in CHAPTERS[model.name]
    assert first_cells(model, "action") == list(model.actions)
    assert first_cells(model, "what always holds") == list(model.statements)
    assert first_cells(model, "check") == [variant.check for variant in model.variants]


@pytest.mark.parametrize(("model", "variant"), VARIANTS)
def test_the_readme_names_the_mutant_of_a_check(model: Model, variant: Variant) -> None:
    row = next(cells for cells in tables(model)["check"] if cells[0] == f"`{variant.check}`")
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


@EACH_MODEL
@pytest.mark.parametrize("heading", ["action", "what always holds"])
def test_every_part_names_code(model: Model, heading: str) -> None:
    for cells in tables(model)[heading]:
        assert ".rs`" in cells[-1] or cells[-1].startswith("none"), cells[0]
