"""Prints the questions about the protocol as SMT-LIB scripts, which both solvers read as they are.

There are two kinds of questions. An *induction step* is about any number of things: the sorts are unknown, and each
statement of the invariant has quantifiers. A *search* is about a few named things and some steps: there each statement
is written out for each of them.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from protocol import (
    ACTIONS,
    FIELDS,
    INVARIANT,
    PROPERTY,
    WATCHED_NODE,
    Checks,
    at_the_beginning,
)
from protocol import WATCHED as WATCHED_ID
from terms import SORTS, Int, State, Term, choose, every, implies, negated, number, parameters, same

Statement = Callable[..., Term]

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


def for_all(statement: Statement, state: State) -> Term:
    """Writes a statement for all values of its parameters."""
    names = arguments(statement)
    bound = " ".join(f"({name.text} {sort(name)})" for name in names)
    return Term(f"(forall ({bound}) {statement(state, *names).text})")


def head() -> list[str]:
    """Declares the sorts, the watched ID, and the state before an action."""
    lines = ["(set-logic ALL)", *(f"(declare-sort {name} 0)" for name in SORTS), *WATCHED]
    return lines + [f"(declare-fun {name}@0 ({key}) {value})" for name, (key, value) in FIELDS.items()]


def assume(*terms: Term) -> list[str]:
    """States what is given."""
    return [f"(assert {term.text})" for term in terms]


def beginning_script(statements: dict[str, Statement]) -> str:
    """Asks whether the beginning can contradict the statements."""
    state = State(FIELDS, "0")
    given = [Term(f"(forall ((x {key.__name__})) {holds(key('x')).text})") for key, holds in at_the_beginning(state)]
    claims = every(*(for_all(statement, state) for statement in statements.values()))
    return "\n".join([*head(), *assume(*given, negated(claims)), "(check-sat)"])


def consequence_script(statements: dict[str, Statement], invariant: dict[str, Statement]) -> str:
    """Asks whether the invariant can hold without the statements."""
    state = State(FIELDS, "0")
    given = [for_all(conjunct, state) for conjunct in invariant.values()]
    claims = every(*(for_all(statement, state) for statement in statements.values()))
    return "\n".join([*head(), *assume(*given, negated(claims)), "(check-sat)"])


def step_script(action: str, checks: Checks, statements: dict[str, Statement]) -> str:
    """Asks whether an action can lead from a state with the invariant to one without the statements."""
    body, _ = ACTIONS[action]
    now, then = State(FIELDS, "0"), State(FIELDS, "1", is_after=True)
    given = [for_all(conjunct, now) for conjunct in INVARIANT.values()]
    names = arguments(body)
    conditions = body(checks, now, then, *names)
    lines = head() + [f"(declare-const {name.text} {sort(name)})" for name in names]
    for field, (key, value) in FIELDS.items():
        # All other things keep their value.
        after = Term(f"({field}@0 x)")
        for changed, at, new in then.changes:
            if changed == field:
                after = choose(same(Term("x"), at), new, after)
        lines.append(f"(define-fun {field}@1 ((x {key})) {value} {after.text})")
    claims = every(*(for_all(statement, State(FIELDS, "1")) for statement in statements.values()))
    return "\n".join([*lines, *assume(*given, *conditions, negated(claims)), "(check-sat)"])


# Searches, among a few named things.


@dataclass(frozen=True)
class World:
    """How many things of each sort a search has."""

    nodes: int = 1
    leases: int = 2
    writes: int = 1
    calls: int = 2

    def names(self, kind: str) -> list[str]:
        """Returns the names of the things of a sort."""
        return {
            "Node": [f"node{each + 1}" for each in range(self.nodes)],
            "Lease": ["ABCDEFGH"[each] for each in range(self.leases)],
            "Write": [f"write{each + 1}" for each in range(self.writes)],
            "Call": [f"call{each + 1}" for each in range(self.calls)],
        }[kind]

    def all(self, kind: str) -> list[Term]:
        """Returns the things of a sort."""
        return [Term(name) for name in self.names(kind)]

    def each(self, statement: Statement, state: State) -> Term:
        """Writes a statement out for all things."""
        columns = [self.all(kind.__name__) for _, kind in parameters(statement)]
        return every(*(statement(state, *values) for values in product(*columns)))


LARGEST_NUMBER = 9
"""Searches take ticks and sequence numbers up to this one, so that stories are easy to read."""


def slots(action: str, step: int) -> list[Term]:
    """Returns the names of an action's parameters in a step. Actions share them, by sort and place."""
    counts: dict[str, int] = {}
    terms = []
    for _, kind in parameters(ACTIONS[action][0]):
        counts[kind.__name__] = counts.get(kind.__name__, 0) + 1
        terms.append(kind(f"step{step}_{kind.__name__.lower()}{counts[kind.__name__]}"))
    return terms


def search_script(world: World, checks: Checks, steps: int, goal: Term, given: list[Term], names: list[Term]) -> str:
    """Asks for a run of some steps. The numbers of the actions are the places in ACTIONS."""
    kinds = [f"({' '.join(f'({name})' for name in world.names(kind))})" for kind in SORTS]
    lines = [
        "(set-logic ALL)",
        f"(declare-datatypes ({' '.join(f'({kind} 0)' for kind in SORTS)}) ({' '.join(kinds)}))",
    ]
    for moment in range(steps + 1):
        lines += [f"(declare-fun {name}@{moment} ({key}) {value})" for name, (key, value) in FIELDS.items()]
    return "\n".join([*lines, *run_of(world, checks, steps), *assume(*given, goal), *end(names)])


def end(names: list[Term]) -> list[str]:
    """Asks for an answer, and for these values."""
    return ["(check-sat)", f"(get-value ({' '.join(name.text for name in names)}))"]


def run_of(world: World, checks: Checks, steps: int, left_out: tuple[str, ...] = ()) -> list[str]:
    """States that each step of a run is an action, and none that is left out."""
    lines = list(WATCHED)
    for step in range(steps):
        now = State(FIELDS, str(step))
        chosen = Int(f"step{step}_action")
        lines.append(f"(declare-const {chosen.text} Int)")
        declared: set[str] = set()
        changes: list[tuple[str, Term, Term, Term]] = []
        for place, (name, (body, _)) in enumerate(ACTIONS.items()):
            names = slots(name, step)
            for each in names:
                if each.text not in declared:
                    declared.add(each.text)
                    lines.append(f"(declare-const {each.text} {sort(each)})")
                    if isinstance(each, Int):
                        lines += assume(number(0) <= each, each <= number(LARGEST_NUMBER))
            then = State(FIELDS, str(step + 1), is_after=True)
            is_chosen = same(chosen, number(place))
            if name in left_out:
                lines += assume(negated(is_chosen))
                continue
            lines += assume(implies(is_chosen, *body(checks, now, then, *names)))
            changes += [(field, is_chosen, at, new) for field, at, new in then.changes]
        lines += assume(number(0) <= chosen, chosen < number(len(ACTIONS)))
        for field, (key, _) in FIELDS.items():
            for thing in world.all(key):
                after = Term(f"({field}@{step} {thing.text})")
                for changed, is_chosen, at, new in changes:
                    if changed == field:
                        after = choose(every(is_chosen, same(thing, at)), new, after)
                lines += assume(same(Term(f"({field}@{step + 1} {thing.text})"), after))
    return lines


BITS = 4
"""Searches count in numbers of so many bits. No number of a story comes near to 2^4."""


def in_bits(script: str) -> str:
    """Turns whole numbers into numbers of a few bits, with which solvers search faster."""
    script = re.sub(r"(?<=[ (])(\d+)(?=[ )])", lambda found: f"#b{int(found[1]):0{BITS}b}", script)
    script = (
        script.replace("(<= ", "(bvule ").replace("(< ", "(bvult ").replace("(> ", "(bvugt ").replace("(+ ", "(bvadd ")
    )
    return re.sub(r"\bInt\b", f"(_ BitVec {BITS})", script)


def hunt_script(world: World, checks: Checks, steps: int, goal: Term, with_forks: bool = False) -> str:
    """Asks for a run from the beginning to a goal, in numbers of a few bits, among runs that are easy to read."""
    left_out = ("crash", "read_back") if with_forks else ("crash", "read_back", "fork")
    given, names = from_the_beginning(world) + readable(steps), story_names(steps)
    lines = []
    for kind in SORTS:
        lines.append(f"(define-sort {kind} () Int)")
        lines += [f"(define-fun {name} () {kind} {place})" for place, name in enumerate(world.names(kind))]
    for moment in range(steps + 1):
        for field, (key, value) in FIELDS.items():
            things = world.names(key)
            lines += [f"(declare-const {field}@{moment}_{thing} {value})" for thing in things]
            found = f"{field}@{moment}_{things[-1]}"
            for thing in things[:-1]:
                found = f"(ite (= x {thing}) {field}@{moment}_{thing} {found})"
            lines.append(f"(define-fun {field}@{moment} ((x {key})) {value} {found})")
    bounds = [Term(f"(< {name.text} {len(world.names(sort(name)))})") for name in names if sort(name) in SORTS]
    text = "\n".join([*lines, *run_of(world, checks, steps, left_out), *assume(*bounds, *given, goal)])
    return "\n".join(["(set-logic QF_BV)", in_bits(text), *end(names)])


def story_names(steps: int) -> list[Term]:
    """Returns the names of all that a story tells."""
    names: dict[str, Term] = {}
    for step in range(steps):
        names[f"step{step}_action"] = Int(f"step{step}_action")
        for action in ACTIONS:
            names |= {slot.text: slot for slot in slots(action, step)}
    return [*names.values(), WATCHED_NODE, *WATCHED_ID]


def from_the_beginning(world: World) -> list[Term]:
    """States what holds at the beginning."""
    state = State(FIELDS, "0")
    return [holds(thing) for kind, holds in at_the_beginning(state) for thing in world.all(kind.__name__)]


def readable(steps: int) -> list[Term]:
    """Restricts a search to stories that are easy to read: A comes first, windows have ticks, and a call emits one ID."""
    given = [same(slots("claim", 0)[0], Term("A"))]
    for step in range(steps):
        chosen = Int(f"step{step}_action")
        _, _, start, end = slots("claim", step)
        *_, tick, sequence, last_tick, last_sequence = slots("emit", step)
        given += [
            implies(same(chosen, place_of("claim")), start < end),
            implies(same(chosen, place_of("emit")), same(tick, last_tick), same(sequence, last_sequence)),
        ]
    return given


def place_of(action: str) -> Term:
    """Returns the number of an action."""
    return number(list(ACTIONS).index(action))


def replay_script(world: World, checks: Checks, steps: int, goal: Term, story: dict[str, str]) -> str:
    """Asks whether a run with these values leads from the beginning to a goal, in whole numbers."""
    given = [same(Term(name), Term(value)) for name, value in story.items()]
    return search_script(world, checks, steps, goal, from_the_beginning(world) + given, story_names(steps))


def decoded(world: World, steps: int, values: dict[str, str]) -> dict[str, str]:
    """Returns the values of a hunt as the names of things and as whole numbers."""
    story = {}
    for name in story_names(steps):
        value = int("0" + values[name.text].removeprefix("#"), 0)
        story[name.text] = world.names(sort(name))[value] if sort(name) in SORTS else str(value)
    return story


def lapse_script(
    world: World, checks: Checks, statements: dict[str, Statement], invariant: dict[str, Statement]
) -> str:
    """Asks for one step of any action from a state with the invariant to one without the statements."""
    given = [world.each(conjunct, State(FIELDS, "0")) for conjunct in invariant.values()]
    claims = every(*(world.each(statement, State(FIELDS, "1")) for statement in statements.values()))
    return search_script(world, checks, 1, negated(claims), given, [Int("step0_action")])


def gap_script(world: World, statements: dict[str, Statement], invariant: dict[str, Statement]) -> str:
    """Asks for a state with the invariant and without the statements."""
    state = State(FIELDS, "0")
    given = [world.each(conjunct, state) for conjunct in invariant.values()]
    claims = every(*(world.each(statement, state) for statement in statements.values()))
    return search_script(world, Checks(), 0, negated(claims), given, [WATCHED_NODE])


def duplicate(world: World, steps: int) -> Term:
    """The goal of a refutation: the promise is broken."""
    return negated(every(*(world.each(part, State(FIELDS, str(steps))) for part in PROPERTY.values())))


def reach(world: World, checks: Checks, action: str, steps: int) -> str:
    """Asks for a run from the beginning that ends with an action."""
    goal = same(Int(f"step{steps - 1}_action"), place_of(action))
    return search_script(world, checks, steps, goal, from_the_beginning(world), [Int("step0_action")])
