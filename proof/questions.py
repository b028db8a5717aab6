"""Prints the questions about a model as SMT-LIB scripts, which both solvers read as they are.

There are two kinds of questions. An *induction step* is about any number of things: the sorts are unknown, and each
statement of the invariant has quantifiers. A *search* is about a few named things and some steps: there each statement
is written out for each of them.
"""

import re
from collections.abc import Callable
from itertools import pairwise

from model import WATCHED as WATCHED_ID
from model import WATCHED_NODE, Checks, Model, Statement
from terms import Int, State, Term, choose, every, implies, negated, number, parameters, same

WATCHED = [
    "(declare-const watched_node Node)",
    "(declare-const watched_tick Int)",
    "(declare-const watched_sequence Int)",
    "(assert (<= 0 watched_sequence))",
]


def arguments(function: Callable[..., object], prefix: str = "") -> list[Term]:
    """Returns a term for each parameter, with the name of the parameter."""
    return [kind(prefix + name) for name, kind in parameters(function)]


def sort(term: Term) -> str:
    """Returns the sort of a parameter."""
    return type(term).__name__


# Induction steps, about any number of things.


def for_all(statements: dict[str, Statement], state: State) -> list[Term]:
    """Writes statements for all values of their parameters."""
    return [
        Term(f"(forall ({' '.join(f'({name.text} {sort(name)})' for name in names)}) {statement(state, *names).text})")
        for statement in statements.values()
        for names in [arguments(statement)]
    ]


def head(model: Model) -> list[str]:
    """Declares the sorts, the watched ID, and the state before an action."""
    lines = ["(set-logic ALL)", *(f"(declare-sort {name} 0)" for name in model.counts), *WATCHED]
    return lines + [f"(declare-fun {name}@0 ({key}) {value})" for name, (key, value) in model.fields.items()]


def assume(*terms: Term) -> list[str]:
    """States what is given."""
    return [f"(assert {term.text})" for term in terms]


def beginning_script(model: Model) -> str:
    """Asks whether the beginning can contradict the invariant."""
    state = State(model.fields, "0")
    given = [Term(f"(forall ((x {key.__name__})) {holds(key('x')).text})") for key, holds in model.beginning(state)]
    claims = every(*for_all(model.statements, state))
    return "\n".join([*head(model), *assume(*given, negated(claims)), "(check-sat)"])


def consequence_script(model: Model) -> str:
    """Asks whether the invariant can hold without the promise."""
    state = State(model.fields, "0")
    given, claims = for_all(model.statements, state), every(*for_all(model.promises, state))
    return "\n".join([*head(model), *assume(*given, negated(claims)), "(check-sat)"])


def step_script(model: Model, action: str, checks: Checks) -> str:
    """Asks whether an action can lead from a state with the invariant to one without it."""
    body, _ = model.actions[action]
    now, then = State(model.fields, "0"), State(model.fields, "1", is_after=True)
    given = for_all(model.statements, now)
    names = arguments(body)
    conditions = body(checks, now, then, *names)
    lines = head(model) + [f"(declare-const {name.text} {sort(name)})" for name in names]
    for field, (key, value) in model.fields.items():
        # All other things keep their value.
        after = Term(f"({field}@0 x)")
        for changed, at, new in then.changes:
            if changed == field:
                after = choose(same(Term("x"), at), new, after)
        lines.append(f"(define-fun {field}@1 ((x {key})) {value} {after.text})")
    claims = every(*for_all(model.statements, State(model.fields, "1")))
    return "\n".join([*lines, *assume(*given, *conditions, negated(claims)), "(check-sat)"])


# Searches, among a few named things.


LARGEST_NUMBER = 9
"""Searches take ticks and sequence numbers up to this one, so that stories are easy to read."""


def slots(model: Model, action: str, step: int) -> list[Term]:
    """Returns the names of an action's parameters in a step. Actions share them, by sort and place."""
    counts: dict[str, int] = {}
    terms = []
    for _, kind in parameters(model.actions[action][0]):
        counts[kind.__name__] = counts.get(kind.__name__, 0) + 1
        terms.append(kind(f"step{step}_{kind.__name__.lower()}{counts[kind.__name__]}"))
    return terms


def search_script(
    model: Model,
    checks: Checks,
    steps: int,
    goal: Term,
    given: list[Term],
    names: list[Term],
    left_out: tuple[str, ...] = (),
) -> str:
    """Asks for a run of some steps. The numbers of the actions are their places in the model."""
    kinds = [f"({' '.join(f'({name})' for name in model.names(kind))})" for kind in model.counts]
    lines = [
        "(set-logic ALL)",
        f"(declare-datatypes ({' '.join(f'({kind} 0)' for kind in model.counts)}) ({' '.join(kinds)}))",
    ]
    for moment in range(steps + 1):
        lines += [f"(declare-fun {name}@{moment} ({key}) {value})" for name, (key, value) in model.fields.items()]
    return "\n".join([*lines, *run_of(model, checks, steps, left_out), *assume(*given, goal), *end(names)])


def end(names: list[Term]) -> list[str]:
    """Asks for an answer, and for these values."""
    return ["(check-sat)", f"(get-value ({' '.join(name.text for name in names)}))"]


def run_of(model: Model, checks: Checks, steps: int, left_out: tuple[str, ...] = ()) -> list[str]:
    """States that each step of a run is an action, and none that is left out."""
    lines = list(WATCHED)
    for step in range(steps):
        now = State(model.fields, str(step))
        chosen = Int(f"step{step}_action")
        lines.append(f"(declare-const {chosen.text} Int)")
        declared: set[str] = set()
        changes: list[tuple[str, Term, Term, Term]] = []
        for place, (name, (body, _)) in enumerate(model.actions.items()):
            names = slots(model, name, step)
            for each in names:
                if each.text not in declared:
                    declared.add(each.text)
                    lines.append(f"(declare-const {each.text} {sort(each)})")
                    if isinstance(each, Int):
                        lines += assume(number(0) <= each, each <= number(LARGEST_NUMBER))
            then = State(model.fields, str(step + 1), is_after=True)
            is_chosen = same(chosen, number(place))
            if name in left_out:
                lines += assume(negated(is_chosen))
                continue
            lines += assume(implies(is_chosen, *body(checks, now, then, *names)))
            changes += [(field, is_chosen, at, new) for field, at, new in then.changes]
        lines += assume(number(0) <= chosen, chosen < number(len(model.actions)))
        for field, (key, _) in model.fields.items():
            for thing in model.all(key):
                after = Term(f"({field}@{step} {thing.text})")
                for changed, is_chosen, at, new in changes:
                    if changed == field:
                        after = choose(every(is_chosen, same(thing, at)), new, after)
                lines += assume(same(Term(f"({field}@{step + 1} {thing.text})"), after))
    return lines


BITS = 4
"""The width of numbers in searches, in bits. No number of a story comes near to 2^4."""


def in_bits(script: str) -> str:
    """Turns whole numbers into numbers of a few bits, with which solvers search faster."""
    script = re.sub(r"(?<=[ (])(\d+)(?=[ )])", lambda found: f"#b{int(found[1]):0{BITS}b}", script)
    script = (
        script.replace("(<= ", "(bvule ").replace("(< ", "(bvult ").replace("(> ", "(bvugt ").replace("(+ ", "(bvadd ")
    )
    return re.sub(r"\bInt\b", f"(_ BitVec {BITS})", script)


def hunt_script(model: Model, checks: Checks, steps: int, goal: Term, needs: str | None = None) -> str:
    """Asks for a run from the beginning to a goal, in numbers of a few bits, among runs that are easy to read."""
    left_out = tuple(action for action in model.rare if action != needs)
    given, names = from_the_beginning(model) + readable(model, steps), story_names(model, steps)
    lines = []
    for kind in model.counts:
        lines.append(f"(define-sort {kind} () Int)")
        lines += [f"(define-fun {name} () {kind} {place})" for place, name in enumerate(model.names(kind))]
    for moment in range(steps + 1):
        for field, (key, value) in model.fields.items():
            things = model.names(key)
            lines += [f"(declare-const {field}@{moment}_{thing} {value})" for thing in things]
            found = f"{field}@{moment}_{things[-1]}"
            for thing in things[:-1]:
                found = f"(ite (= x {thing}) {field}@{moment}_{thing} {found})"
            lines.append(f"(define-fun {field}@{moment} ((x {key})) {value} {found})")
    bounds = [Term(f"(< {name.text} {model.counts[sort(name)]})") for name in names if sort(name) in model.counts]
    text = "\n".join([*lines, *run_of(model, checks, steps, left_out), *assume(*bounds, *given, goal)])
    return "\n".join(["(set-logic QF_BV)", in_bits(text), *end(names)])


def story_names(model: Model, steps: int) -> list[Term]:
    """Returns the names of all values in a story."""
    names: dict[str, Term] = {}
    for step in range(steps):
        names[f"step{step}_action"] = Int(f"step{step}_action")
        for action in model.actions:
            names |= {slot.text: slot for slot in slots(model, action, step)}
    return [*names.values(), WATCHED_NODE, *WATCHED_ID]


def from_the_beginning(model: Model) -> list[Term]:
    """States what holds at the beginning."""
    beginning = model.beginning(State(model.fields, "0"))
    return [holds(thing) for kind, holds in beginning for thing in model.all(kind.__name__)]


def readable(model: Model, steps: int) -> list[Term]:
    """Restricts a search to stories that are easy to read: A comes first, windows have ticks, one call emits one ID."""
    first = slots(model, next(iter(model.actions)), 0)
    given = [same(slot, model.all(sort(slot))[0]) for slot in first if sort(slot) in model.counts]
    for step in range(steps):
        used = [State(model.fields, str(step)).used[each] for each in model.all(model.fields["used"][0])]
        given += [implies(later, earlier) for earlier, later in pairwise(used)]
        for action in model.actions:
            named = dict(zip(names_of(model, action), slots(model, action, step), strict=True))
            is_chosen = same(Int(f"step{step}_action"), place_of(model, action))
            if "start" in named:
                given.append(implies(is_chosen, named["start"] < named["end"]))
            if "last_tick" in named:
                pairs = [(named[name], named[f"last_{name}"]) for name in ("tick", "sequence")]
                given.append(implies(is_chosen, *(same(*pair) for pair in pairs)))
    return given


def names_of(model: Model, action: str) -> list[str]:
    """Returns the names of an action's parameters."""
    return [name for name, _ in parameters(model.actions[action][0])]


def place_of(model: Model, action: str) -> Term:
    """Returns the number of an action."""
    return number(list(model.actions).index(action))


def replay_script(model: Model, checks: Checks, steps: int, goal: Term, story: dict[str, str]) -> str:
    """Asks whether a run with these values leads from the beginning to a goal, in whole numbers."""
    given = [same(Term(name), Term(value)) for name, value in story.items()]
    return search_script(model, checks, steps, goal, from_the_beginning(model) + given, story_names(model, steps))


def decoded(model: Model, steps: int, values: dict[str, str]) -> dict[str, str]:
    """Returns the values of a hunt as the names of things and as whole numbers."""
    story = {}
    for name in story_names(model, steps):
        value = int("0" + values[name.text].removeprefix("#"), 0)
        story[name.text] = model.names(sort(name))[value] if sort(name) in model.counts else str(value)
    return story


def lapse_script(model: Model, checks: Checks) -> str:
    """Asks for one step that breaks the invariant: of any action, or of an action that lacks a check."""
    unchanged = tuple(
        action
        for action in model.actions
        if checks.removed and step_script(model, action, checks) == step_script(model, action, Checks())
    )
    given, claims = (model.each(model.statements, State(model.fields, moment)) for moment in "01")
    return search_script(model, checks, 1, negated(every(*claims)), given, [Int("step0_action")], unchanged)


def gap_script(model: Model) -> str:
    """Asks for a state with the invariant and without the promise."""
    given = model.each(model.statements, State(model.fields, "0"))
    return search_script(model, Checks(), 0, duplicate(model, 0), given, [WATCHED_NODE])


def duplicate(model: Model, steps: int) -> Term:
    """The goal of a refutation: the promise is broken."""
    return negated(every(*model.each(model.promises, State(model.fields, str(steps)))))


def reach(model: Model, checks: Checks, action: str, steps: int) -> str:
    """Asks for a run from the beginning that ends with an action."""
    goal = same(Int(f"step{steps - 1}_action"), place_of(model, action))
    return search_script(model, checks, steps, goal, from_the_beginning(model), [Int("step0_action")])
