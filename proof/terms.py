"""Formulas, written as Python expressions and kept as SMT-LIB text, the language that both solvers read."""

from collections.abc import Callable


class Term:
    """A formula or a value, as SMT-LIB text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __lt__(self, other: "Term") -> "Term":
        return apply("<", self, other)

    def __le__(self, other: "Term") -> "Term":
        return apply("<=", self, other)

    def __gt__(self, other: "Term") -> "Term":
        return apply(">", self, other)

    def __add__(self, other: int) -> "Term":
        return Term(f"(+ {self.text} {other})")


# The sorts of parameters. The name of a class is the name of the sort. There are any number of things of each.
class Node(Term):
    """A node of the layout."""


class Lease(Term):
    """One claim, and the lease that it becomes. A forked child's copy of a lease counts as another lease."""


class Write(Term):
    """One request to the store that moves the end of a window: a renewal or a release."""


class Call(Term):
    """One call that mints: it reads the cell, and swaps the cell's word later."""


class Reservation(Term):
    """A lease of the store by a directory, within which processes take windows."""


class File(Term):
    """The file of a slot. A copy of it is another file."""


class Slot(Term):
    """One lock of a slot's file, and the lease of the process that has it."""


class Int(Term):
    """A tick, a sequence number or a version."""


def apply(function: str, *arguments: Term) -> Term:
    """Applies a function."""
    return Term(f"({function} {' '.join(argument.text for argument in arguments)})") if arguments else Term(function)


def number(value: int) -> Term:
    """Returns a number."""
    return Term(str(value) if value >= 0 else f"(- {-value})")


YES = Term("true")
NO = Term("false")
ZERO = number(0)


def same(left: Term, right: Term) -> Term:
    """Both are equal."""
    return apply("=", left, right)


def differ(left: Term, right: Term) -> Term:
    """Both are not equal."""
    return apply("distinct", left, right)


def negated(term: Term) -> Term:
    """The term is false."""
    return apply("not", term)


def every(*terms: Term) -> Term:
    """All terms are true."""
    return apply("and", *terms) if len(terms) > 1 else (terms[0] if terms else YES)


def either(*terms: Term) -> Term:
    """At least one term is true."""
    return apply("or", *terms) if len(terms) > 1 else (terms[0] if terms else NO)


def implies(condition: Term, *consequences: Term) -> Term:
    """If the condition is true, so are all consequences."""
    return apply("=>", condition, every(*consequences))


def choose(condition: Term, yes: Term, no: Term) -> Term:
    """One of two values."""
    return apply("ite", condition, yes, no)


def later(left: Term, right: Term) -> Term:
    """Returns the greater number."""
    return choose(left <= right, right, left)


Position = tuple[Term, Term]
"""A tick and a sequence number."""


def before(left: Position, right: Position) -> Term:
    """A position comes before another one: in an earlier tick, or in the same tick with a lower sequence number."""
    return either(left[0] < right[0], every(same(left[0], right[0]), left[1] < right[1]))


def not_after(left: Position, right: Position) -> Term:
    """A position comes before another one, or is the same."""
    return negated(before(right, left))


class Column:
    """A field of all things of one sort, at one moment."""

    def __init__(self, field: str, moment: str, changes: list[tuple[str, Term, Term]] | None) -> None:
        self.name, self.moment, self.changes = field, moment, changes

    def __getitem__(self, key: Term) -> Term:
        return apply(f"{self.name}@{self.moment}", key)

    def __setitem__(self, key: Term, value: Term) -> None:
        if self.changes is None:
            raise TypeError(f"the state before an action does not change: {self.name}")
        self.changes.append((self.name, key, value))


class State:
    """All fields at one moment. The state after an action collects the changes; all other fields stay."""

    def __init__(self, fields: dict[str, tuple[str, str]], moment: str, is_after: bool = False) -> None:
        self._fields, self._moment = fields, moment
        self.changes: list[tuple[str, Term, Term]] = []
        self._is_after = is_after

    def __getattr__(self, name: str) -> Column:
        if name not in self._fields:
            raise AttributeError(f"the model has no field {name}")
        return Column(name, self._moment, self.changes if self._is_after else None)


def parameters(function: Callable[..., object]) -> list[tuple[str, type[Term]]]:
    """Returns the parameters of an action or conjunct after the states, with their sorts."""
    annotations = {name: kind for name, kind in function.__annotations__.items() if name != "return"}
    return [(name, kind) for name, kind in annotations.items() if issubclass(kind, Term)]
