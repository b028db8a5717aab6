"""The state of a generator."""

from typing import Literal, NamedTuple

from snowmint._window import Window


class Status(NamedTuple):
    """The state and the options of a generator, by `Snowflake.status()`."""

    node: int
    """The node."""
    layout: str
    """The layout, as text."""
    window: Window | None
    """The granted window of a lease."""
    reserved: Window | None
    """The reservation within which the windows lie, if there is one."""
    max_ahead_ms: int
    """How far IDs may run ahead of the clock, ms."""
    max_wait_ms: int
    """How long one call may wait, ms."""
    sequence_start: Literal["zero", "random", "carry"]
    """Where the sequence begins in a new tick."""
    closed: bool
    """Whether the generator was closed."""
    namespace: str | None
    """The namespace of the lease."""
    lost: str | None
    """Why the lease was lost, if it was."""
    skipped: list[str]
    """Slot files or records that are not valid."""
    renewal_failures: int
    """How many renewals have failed since the last success."""
    renewal_error: str | None
    """Why the last renewal failed, if no renewal has succeeded since."""
    standby_risk: str | None
    """The reason why a failover of the store could lose confirmed writes, or None. The lease continues."""
    skew_ms: int | None
    """By how many ms this clock is ahead of the store's clock, if the store has one."""
    disorder_ms: int | None
    """How far the times of IDs can be from the store's clock, or from this machine's for its slots, ms.

    IDs of two generators sort in the order of their calls, if the calls lie further apart than the sum of both. None
    for a vouched node, a clock of the caller, and a store without a clock.
    """
