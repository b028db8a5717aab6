"""Audits of minted IDs."""

from typing import Any, final

from snowmint._stubs._arguments import Instant, Int
from snowmint._stubs.layouts import Layout

@final
class AuditFinding:
    """One finding of an audit.

    Its text is a message.
    """

    @property
    def kind(self) -> str:
        """The kind, such as `shared_node`.

        One of `layout_ended`, `truncated`, `outside`, `before_begin`, `future`, `forked`, `shared_node`, `clock_back`,
        `wrapped`, `duplicates`.
        """

    @property
    def node(self) -> int | None:
        """The node, or None if the finding is about the whole input."""

    @property
    def ids(self) -> int:
        """The number of IDs that show the fault."""

    @property
    def repeated(self) -> int:
        """The number of IDs that occur more than once because of the fault."""

    @property
    def times(self) -> int:
        """How often it happened: steps of a clock, ticks with a wrapped sequence, or surplus lines of duplicates."""

    @property
    def by_ms(self) -> int:
        """The length of the longest step back, ms."""

    @property
    def id(self) -> int:
        """The first ID that shows the fault."""

    @property
    def line(self) -> int:
        """The line of that ID, or its place among the IDs, from 1."""

    @property
    def from_ms(self) -> int | None:
        """The time of the first ID that shows the fault, Unix ms; None without a time."""

    @property
    def to_ms(self) -> int | None:
        """The time of the last ID that shows the fault, Unix ms; None without a time."""

    @property
    def before(self) -> int:
        """The IDs of the node before the second process came, if the log shows them."""

    @property
    def cure(self) -> str:
        """The measure that would have prevented it, in a sentence."""

    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class AuditNode:
    """The IDs of one node in an audit."""

    @property
    def node(self) -> int:
        """The node."""

    @property
    def ids(self) -> int:
        """The number of its IDs."""

    @property
    def repeated(self) -> int:
        """The number of its different IDs that occur more than once."""

    @property
    def from_ms(self) -> int:
        """The time of its earliest ID, Unix ms."""

    @property
    def to_ms(self) -> int:
        """The time of its latest ID, Unix ms."""

    @property
    def ids_per_second(self) -> float:
        """IDs a second, from the earliest ID to the latest."""

    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class AuditReport:
    """The result of an audit.

    Its text is the report of the command line.
    """

    @property
    def ids(self) -> int:
        """The number of IDs."""

    @property
    def order(self) -> str:
        """The order of the IDs: `written`, `ascending`, `descending` or `unordered`."""

    @property
    def nodes(self) -> list[AuditNode]:
        """The nodes, ascending."""

    @property
    def findings(self) -> list[AuditFinding]:
        """The findings, in the order of their kinds and nodes."""

    def json(self) -> str:
        """The report as an object of JSON on one line."""

    def svg(self) -> str:
        """A picture of the nodes over time, with the findings marked, for light and dark pages."""

    def __reduce__(self) -> tuple[Any, ...]: ...

def audit(
    ids: Any,
    layout: str | Layout | None = None,
    *,
    since: Instant | None = None,
    until: Instant | None = None,
    jitter_ms: Int | None = None,
    unordered: bool | None = None,
) -> AuditReport:
    """Finds out why IDs repeat, and other faults of the IDs.

    >>> from snowmint import audit, layouts
    >>> first = layouts.TWITTER.encode(timestamp_ms=1772323200000, node=378, sequence=0)
    >>> report = audit([first, first + (9 << 22), first], "twitter")
    >>> [(finding.kind, finding.node, finding.by_ms) for finding in report.findings]
    [('clock_back', 378, 9), ('duplicates', None, 0)]

    Args:
        ids: The IDs in the order in which they were written down: an iterable of ints, or an array of numpy, or an
            object that becomes one, of `uint64` or `int64`. A negative value is the signed form of the same bits.
        layout: A name of a preset, a text of a layout, or a Layout; `snowmint` if not given.
        since: When the system began, an aware datetime or Unix ms: earlier IDs are findings. The epoch if not given.
        until: Later IDs are in the future. A minute from now if not given.
        jitter_ms: How late an ID is written down at most: smaller steps back are not findings. 10 if not given.
        unordered: True if the IDs have no order: findings that need an order are left out.

    Raises:
        InvalidLayoutError: No such layout.
        InvalidIdError: An int outside of -2^63 to 2^64-1.
        TypeError: An item is not an int, or the array has other items.
        ValueError: A datetime is naive, or jitter_ms is negative.
    """

def audit_finding(*values: Any) -> AuditFinding:
    """Makes the finding of a report of its values."""

def audit_node(*values: Any) -> AuditNode:
    """Makes the node of a report of its values."""

def audit_report(*values: Any) -> AuditReport:
    """Makes a report of its values."""
