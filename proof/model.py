"""The parts of a model: its state, its actions, its invariant, and the checks that keep the invariant."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product

from terms import YES, Int, Node, Position, State, Term, every, parameters

Body = Callable[..., list[Term]]
Statement = Callable[..., Term]
Beginning = Callable[[State], list[tuple[type[Term], Callable[[Term], Term]]]]

# One ID, of which nothing is known. So a statement about it is true for every ID.
WATCHED_NODE, WATCHED_TICK, WATCHED_SEQUENCE = Node("watched_node"), Int("watched_tick"), Int("watched_sequence")
WATCHED: Position = (WATCHED_TICK, WATCHED_SEQUENCE)


@dataclass
class Checks:
    """The checks of a model. A variant lacks one of them, as a mutant of the code does."""

    removed: str | None = None
    met: set[str] = field(default_factory=set)

    def removes(self, name: str) -> bool:
        """Returns whether this variant lacks the check."""
        self.met.add(name)
        return name == self.removed

    def __call__(self, name: str, condition: Term) -> Term:
        return YES if self.removes(name) else condition


@dataclass(frozen=True)
class Variant:
    """A model without one check.

    Attributes:
        check: The check that it lacks.
        title: The mistake of the variant, in words.
        mutant: The mutant of the code without this check; `None` if the code does not have it as a separate check.
        needs: The rare action without which the check does not matter.
    """

    check: str
    title: str
    mutant: str | None
    needs: str | None = None


@dataclass
class Model:
    """A model.

    Attributes:
        name: Its name.
        fields: The fields of the state: the sort of the things that have the field, and the sort of the value.
        counts: How many things of each sort a search has.
        rare: The actions that a story leaves out, unless it needs them.
        variants: The variants without a check.
        actions: By name: the function, and the sentence about the action in a story.
        statements: The invariant.
        promises: The property that the proof is about.
        beginning: The statements that hold at the beginning, for each thing of a sort.
    """

    name: str
    fields: dict[str, tuple[str, str]]
    counts: dict[str, int]
    rare: tuple[str, ...]
    variants: list[Variant]
    actions: dict[str, tuple[Body, str]] = field(default_factory=dict)
    statements: dict[str, Statement] = field(default_factory=dict)
    promises: dict[str, Statement] = field(default_factory=dict)
    beginning: Beginning = lambda _: []

    def action(self, story: str) -> Callable[[Body], Body]:
        """Declares an action: a function that returns the conditions and notes the changes."""

        def declare(body: Body) -> Body:
            self.actions[body.__name__] = (body, story)
            return body

        return declare

    def invariant(self, statement: Statement) -> Statement:
        """Declares a statement that holds at any time, for all values of its parameters."""
        self.statements[statement.__name__] = statement
        return statement

    def promise(self, statement: Statement) -> Statement:
        """Declares a part of the property that the proof is about."""
        self.promises[statement.__name__] = statement
        return statement

    def begins(self, beginning: Beginning) -> Beginning:
        """Declares what holds at the beginning."""
        self.beginning = beginning
        return beginning

    def names(self, kind: str) -> list[str]:
        """Returns the names of a search's things of a sort. Leases and slots have letters."""
        names = "ABCDEFGH" if kind in ("Lease", "Slot") else [f"{kind.lower()}{each}" for each in range(1, 9)]
        return list(names[: self.counts[kind]])

    def all(self, kind: str) -> list[Term]:
        """Returns the things of a sort."""
        return [Term(name) for name in self.names(kind)]

    def each(self, statements: dict[str, Statement], state: State) -> list[Term]:
        """Writes statements out for all things."""
        return [
            every(*(statement(state, *values) for values in product(*(self.all(sort.__name__) for _, sort in given))))
            for statement in statements.values()
            for given in [parameters(statement)]
        ]
