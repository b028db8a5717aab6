"""Formatted numbers."""

from collections.abc import Callable
from typing import Literal, Self, final

from snowmint._reading import Reading
from snowmint._stubs._arguments import Instant
from snowmint._stubs.sequences import Sequence

@final
class Formatted:
    """Texts of a pattern, with numbers of a sequence.

    >>> from snowmint import Formatted, Sequences
    >>> from snowmint.stores import MemoryStore
    >>> session = Sequences(MemoryStore())
    >>> articles = Formatted(session.sequence("articles"), "A-{000}{luhn}")
    >>> articles.next(), articles.next()
    ('A-0018', 'A-0026')
    >>> articles.parse("A-0026").number
    2

    A pattern has one counter, `{000000}`, with 1 to 18 digits; `{yyyy}` or `{yy}`, `{MM}`, `{dd}` and `{HH}` for the
    date; and at its end `{luhn}` or `{mod97}` for check digits. `{{` and `}}` are braces.

    With a period the counter begins again. Each period has a separate sequence, such as `invoices@2026`, which the
    first use makes, so no text repeats, whatever clocks show, unless a sequence is set back. Without a period the
    numbers come from the sequence itself. The time is the system's, but never later than the clock of the store, if it
    has one. Numbers have a gap where a call failed after it took a number.

    Args:
        sequence: From `Sequences.sequence`.
        pattern: The form of the texts, 1 to 64 bytes.
        period: When the counter begins again: never (`none`). The pattern must show the date of the period.
        zone: The zone of the dates: `Z` or `UTC`, or an offset such as `+01:00`.
        overflow: What happens to a number with more digits than the counter: `error`, or with `grow` texts become
            longer.
        start: The first number of a sequence that is new, 0 to 2^63-1; 1 if missing.
        increment: The step of a sequence that is new; 1 if missing.
        clock: A function that returns Unix ms, in place of the system's clock.

    Raises:
        InvalidTextError: The pattern, the period, the zone or the overflow is wrong, or the name of the sequence has no
            room for the period.
        InvalidIdError: No sequence has this start or increment.
        TypeError: `sequence` is not a `Sequence`.
    """

    def __new__(
        cls,
        sequence: Sequence,
        pattern: str,
        *,
        period: Literal["none", "year", "month", "day"] | None = None,
        zone: str | None = None,
        overflow: Literal["error", "grow"] | None = None,
        start: int | None = None,
        increment: int | None = None,
        clock: Callable[[], int] | None = None,
    ) -> Self: ...
    def next(self) -> str:
        """The next number of the present period, as a text.

        Raises:
            ExhaustedError: The number has more digits than the counter, or the sequence is at its end.
            TimeOverflowError: The pattern cannot show the year.
            InvalidIdError: The sequence of the period exists and cycles, or its number is negative.
            InvalidTextError, StoreUnavailableError, ForkedError: As `Sequences.next`.
        """

    async def next_async(self) -> str:
        """The next number as a text; an event loop goes on while it waits. As `next`."""

    def format(self, number: int, at: Instant) -> str:
        """The text of a number at a time. Takes no number.

        >>> from snowmint import Formatted, Sequences
        >>> from snowmint.stores import MemoryStore
        >>> sequence = Sequences(MemoryStore()).sequence("receipts")
        >>> Formatted(sequence, "RE{yy}{MM}-{0000}").format(42, 1_795_780_800_000)
        'RE2611-0042'

        Args:
            number: The number.
            at: Unix ms, or an aware datetime.

        Raises:
            ExhaustedError, TimeOverflowError: As `next`.
            InvalidIdError: The number is negative.
        """

    def parse(self, text: str) -> Reading:
        """Reads a text of this pattern back.

        >>> from snowmint import Formatted, Sequences
        >>> from snowmint.stores import MemoryStore
        >>> sequence = Sequences(MemoryStore()).sequence("receipts")
        >>> Formatted(sequence, "RE{yy}{MM}-{0000}", period="month").parse("RE2611-0042")
        Reading(number=42, period='2026-11', year=2026, month=11, day=None, hour=None)

        Raises:
            InvalidTextError: The pattern cannot make this text: another length, other letters, a date that the calendar
                does not have, wrong check digits.
        """

    def __next__(self) -> str: ...
    def __iter__(self) -> Self: ...
