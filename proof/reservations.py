"""Reservations: the store grants a node to a directory of one machine, whose processes take short windows within.

The store is here as `protocol.py` proves it: of two windows that it grants for a node one ends before the other starts,
and only the present holder moves its end up. A reservation is such a window. The cell of a process is here as
`protocol.py` proves it too: it emits each position at most once, and none past the end of its durable window.

Nothing here knows a clock, and nothing is obliged to happen.
"""

from collections.abc import Callable

from model import WATCHED, WATCHED_NODE, WATCHED_TICK, Checks, Model, Variant
from terms import (
    NO,
    YES,
    ZERO,
    File,
    Int,
    Node,
    Position,
    Reservation,
    Slot,
    State,
    Term,
    before,
    choose,
    differ,
    either,
    every,
    implies,
    negated,
    not_after,
    number,
    same,
)

FIELDS = {
    # The store.
    "taken": ("Node", "Bool"),  # the node has a record
    "holder": ("Node", "Reservation"),
    # A reservation, as the store has it.
    "granted": ("Reservation", "Bool"),
    "node": ("Reservation", "Node"),
    "home": ("Reservation", "File"),  # the file of the process that claimed it
    "first": ("Reservation", "Int"),  # its first tick
    "past": ("Reservation", "Int"),  # the tick just past it
    "written": ("Reservation", "Bool"),  # a file has had it
    # The file of a slot.
    "there": ("File", "Bool"),
    "reserved": ("File", "Bool"),  # it has a reservation
    "own": ("File", "Bool"),  # the identity in its reservation is its own
    "kept": ("File", "Reservation"),
    "kept_past": ("File", "Int"),  # the tick just past the reservation, as the file has it
    "watermark": ("File", "Int"),  # the end of the slot's last window
    "locked": ("File", "Bool"),
    # A slot: one lock of a file, and the window of its process.
    "used": ("Slot", "Bool"),
    "live": ("Slot", "Bool"),  # its process has the lock, and its cell is open
    "file": ("Slot", "File"),
    "within": ("Slot", "Reservation"),
    "start": ("Slot", "Int"),  # the first tick of the window
    "end": ("Slot", "Int"),  # the tick just past the window
    "free_tick": ("Slot", "Int"),  # the next free position
    "free_sequence": ("Slot", "Int"),
    # For the proof alone; no code has it.
    "emitted": ("Slot", "Int"),  # how often this slot emitted the watched ID
}

VARIANTS = [
    Variant("nested", "the end of a slot's window is not limited by the reservation", "nested"),
    Variant("copied", "a copy of a file may use the reservation in it", "copied"),
    Variant("lock", "two processes have the same slot", "lock"),
    Variant("watermark", "a slot's window ignores the end of the window before it", "start"),
    Variant("durable", "the file gets the end of a slot's window after use", "ahead"),
    Variant("early", "a slot's window starts before the reservation", None),
    Variant("granted", "the file gets an end that the store has not granted", None),
    Variant("unused", "the store gets a reservation back that the file has", None, needs="give_back"),
]

MODEL = Model(
    "reservations",
    FIELDS,
    counts={"Node": 1, "Reservation": 2, "File": 2, "Slot": 2},
    rare=("give_back", "forget", "release"),
    variants=VARIANTS,
)
action, invariant, promise = MODEL.action, MODEL.invariant, MODEL.promise


def free(s: State, slot: Term) -> Position:
    """Returns the next free position of a slot's cell."""
    return s.free_tick[slot], s.free_sequence[slot]


# At the beginning no node is reserved, and no file is there.


@MODEL.begins
def at_the_beginning(s: State) -> list[tuple[type[Term], Callable[[Term], Term]]]:
    """Returns what holds at the beginning, for each thing of a sort."""
    return [
        (Node, lambda node: negated(s.taken[node])),
        (Reservation, lambda reservation: every(negated(s.granted[reservation]), negated(s.written[reservation]))),
        (File, lambda file: every(*(negated(s.__getattr__(x)[file]) for x in ("there", "reserved", "own", "locked")))),
        (Slot, lambda slot: every(negated(s.used[slot]), negated(s.live[slot]), same(s.emitted[slot], ZERO))),
    ]


# The actions.


@action("the store grants {reservation}, {node} for [{start}, {end}), to a process that has {file}")
def reserve(
    check: Checks, now: State, then: State, reservation: Reservation, node: Node, file: File, start: Int, end: Int
) -> list[Term]:
    """The store grants a node, from the end of its last window on. Nothing is in the file yet."""
    then.granted[reservation] = YES
    then.node[reservation] = node
    then.home[reservation] = file
    then.first[reservation] = start
    then.past[reservation] = end
    then.taken[node] = YES
    then.holder[node] = reservation
    then.there[file] = YES
    return [
        negated(now.granted[reservation]),
        either(negated(now.taken[node]), now.past[now.holder[node]] <= start),
        start <= end,
    ]


@action("the store moves the end of {reservation} of {node} to {end}")
def extend(check: Checks, now: State, then: State, reservation: Reservation, node: Node, end: Int) -> list[Term]:
    """The store renews a reservation, if it has not granted the node to another reservation since."""
    then.past[reservation] = end
    return [
        now.taken[node],
        same(now.holder[node], reservation),
        now.past[reservation] <= end,
    ]


@action("the process gives {reservation} of {node} back, which ends at {end}, where it started")
def give_back(check: Checks, now: State, then: State, reservation: Reservation, node: Node, end: Int) -> list[Term]:
    """A process that cannot have the slot of its new reservation releases it in the store. No file has had it."""
    then.past[reservation] = end
    return [
        now.taken[node],
        same(now.holder[node], reservation),
        same(now.first[reservation], end),
        check("unused", negated(now.written[reservation])),
    ]


@action("{file} gets {reservation}, to {end}")
def keep(check: Checks, now: State, then: State, reservation: Reservation, file: File, end: Int) -> list[Term]:
    """A process writes what the store has granted into its file: a new reservation before its slot, or a later end."""
    then.written[reservation] = YES
    then.reserved[file] = YES
    then.own[file] = YES
    then.kept[file] = reservation
    then.kept_past[file] = end
    return [
        now.granted[reservation],
        same(now.home[reservation], file),
        now.first[reservation] <= end,
        check("granted", end <= now.past[reservation]),
        either(negated(now.locked[file]), same(now.kept[file], reservation)),
    ]


@action("{file} forgets its reservation")
def forget(check: Checks, now: State, then: State, file: File) -> list[Term]:
    """The store has given the node to others: nothing in the file lies within the reservation any more."""
    then.kept_past[file] = now.first[now.kept[file]]
    return [now.own[file]]


@action("{copied} becomes a copy of {file}")
def copy(check: Checks, now: State, then: State, file: File, copied: File) -> list[Term]:
    """Somebody copies a file. The copy has the same content and another identity."""
    then.there[copied] = YES
    then.reserved[copied] = now.reserved[file]
    then.own[copied] = NO
    then.kept[copied] = now.kept[file]
    then.kept_past[copied] = now.kept_past[file]
    then.watermark[copied] = now.watermark[file]
    return [now.there[file], negated(now.there[copied])]


@action("{slot} locks {file}, and writes its window [{start}, {end}) within {reservation}")
def claim(
    check: Checks, now: State, then: State, slot: Slot, file: File, reservation: Reservation, start: Int, end: Int
) -> list[Term]:
    """A process locks a file, and takes a window within the reservation."""
    then.used[slot] = YES
    then.live[slot] = YES
    then.file[slot] = file
    then.within[slot] = reservation
    then.start[slot] = start
    then.end[slot] = end
    then.free_tick[slot] = start
    then.free_sequence[slot] = ZERO
    then.locked[file] = YES
    then.watermark[file] = end
    return [
        negated(now.used[slot]),
        now.reserved[file],
        check("lock", negated(now.locked[file])),
        check("copied", now.own[file]),
        same(now.kept[file], reservation),
        check("watermark", now.watermark[file] <= start),
        check("early", now.first[reservation] <= start),
        check("nested", end <= now.kept_past[file]),
        start < end,
    ]


@action("{slot} moves the end of its window in {file} to {end}")
def renew(check: Checks, now: State, then: State, slot: Slot, file: File, end: Int) -> list[Term]:
    """A process moves the end of its slot's window up, within the reservation as the file has it."""
    then.end[slot] = end
    then.watermark[file] = now.watermark[file] if check.removes("durable") else end
    return [
        now.live[slot],
        same(now.file[slot], file),
        now.end[slot] <= end,
        check("nested", end <= now.kept_past[file]),
    ]


@action("{slot} closes its cell, ends its window in {file} at {end}, and unlocks it")
def release(check: Checks, now: State, then: State, slot: Slot, file: File, end: Int) -> list[Term]:
    """A process gives the rest of its window back: no ID of its closed cell lies at or past the new end."""
    then.live[slot] = NO
    then.locked[file] = NO
    then.end[slot] = end
    then.watermark[file] = end
    return [
        now.live[slot],
        same(now.file[slot], file),
        end <= now.end[slot],
        not_after(free(now, slot), (end, ZERO)),
    ]


@action("{slot} crashes, and the lock of {file} falls")
def crash(check: Checks, now: State, then: State, slot: Slot, file: File) -> list[Term]:
    """A process ends at any point, or closes its cell without a word to the file."""
    then.live[slot] = NO
    then.locked[file] = NO
    return [now.live[slot], same(now.file[slot], file)]


@action("{slot} emits ({node}, tick {tick}, sequence {sequence})")
def emit(check: Checks, now: State, then: State, slot: Slot, node: Node, tick: Int, sequence: Int) -> list[Term]:
    """A process emits an ID at a free position in its window."""
    is_watched = every(same(node, WATCHED_NODE), *(same(*pair) for pair in zip((tick, sequence), WATCHED, strict=True)))
    then.free_tick[slot] = tick
    then.free_sequence[slot] = sequence + 1
    then.emitted[slot] = choose(is_watched, now.emitted[slot] + 1, now.emitted[slot])
    return [
        now.live[slot],
        same(now.node[now.within[slot]], node),
        not_after(free(now, slot), (tick, sequence)),
        tick < now.end[slot],
        ZERO <= sequence,
    ]


# The promise: no ID is emitted twice.


@promise
def no_slot_emits_an_id_twice(s: State, a: Slot) -> Term:
    """A slot emits the watched ID at most once."""
    return s.emitted[a] <= number(1)


@promise
def no_two_slots_emit_the_same_id(s: State, a: Slot, b: Slot) -> Term:
    """Two slots never both emit the watched ID."""
    return implies(differ(a, b), either(s.emitted[a] <= ZERO, s.emitted[b] <= ZERO))


# What always holds, and why the promise follows.


@invariant
def reservations_of_a_node_never_overlap(s: State, r: Reservation, q: Reservation) -> Term:
    """Of two reservations of a node, one ends before the other starts."""
    return implies(
        every(s.granted[r], s.granted[q], differ(r, q), same(s.node[r], s.node[q])),
        either(s.past[r] <= s.first[q], s.past[q] <= s.first[r]),
    )


@invariant
def earlier_reservations_end_before_the_holders_starts(s: State, r: Reservation) -> Term:
    """A reservation does not end before it starts. Those before the present one of its node end before that starts."""
    node = s.node[r]
    holder = s.holder[node]
    return implies(
        s.granted[r],
        s.taken[node],
        s.first[r] <= s.past[r],
        implies(differ(r, holder), s.past[r] <= s.first[holder]),
    )


@invariant
def a_taken_node_has_a_reservation(s: State, n: Node) -> Term:
    """The record of a node names a reservation of this node."""
    return implies(s.taken[n], s.granted[s.holder[n]], same(s.node[s.holder[n]], n))


@invariant
def the_file_of_a_reservation_is_there(s: State, r: Reservation) -> Term:
    """The file that a reservation was granted to is there, so it never becomes a copy."""
    return implies(s.granted[r], s.there[s.home[r]])


@invariant
def a_file_has_what_the_store_granted(s: State, f: File) -> Term:
    """The store granted the reservation in an original file to this file, and the end of it that the file has."""
    kept = s.kept[f]
    return implies(s.own[f], s.granted[kept], s.written[kept], same(s.home[kept], f), s.kept_past[f] <= s.past[kept])


@invariant
def a_window_lies_in_a_granted_reservation(s: State, a: Slot) -> Term:
    """A slot's window lies in a reservation that the store granted to the slot's file."""
    within = s.within[a]
    return implies(
        s.used[a],
        s.granted[within],
        s.written[within],
        same(s.home[within], s.file[a]),
        s.first[within] <= s.start[a],
        s.start[a] <= s.end[a],
        s.end[a] <= s.past[within],
    )


@invariant
def windows_of_a_file_never_overlap(s: State, a: Slot, b: Slot) -> Term:
    """Of two windows in one file, one ends before the other starts."""
    return implies(
        every(s.used[a], s.used[b], differ(a, b), same(s.file[a], s.file[b])),
        either(s.end[a] <= s.start[b], s.end[b] <= s.start[a]),
    )


@invariant
def a_window_ends_at_the_watermark_or_before(s: State, a: Slot) -> Term:
    """No window in a file ends past the watermark in it."""
    return implies(s.used[a], s.end[a] <= s.watermark[s.file[a]])


@invariant
def the_holder_of_the_lock_has_the_last_window(s: State, a: Slot, b: Slot) -> Term:
    """While a slot holds a file, no other slot does, and all other windows in it end before the slot's own starts."""
    return implies(
        every(s.used[a], s.live[b], differ(a, b), same(s.file[a], s.file[b])),
        negated(s.live[a]),
        s.end[a] <= s.start[b],
    )


@invariant
def a_live_slot_holds_its_file(s: State, a: Slot) -> Term:
    """A slot with an open cell has the lock of an original file, and its reservation is in the file."""
    file = s.file[a]
    return implies(s.live[a], s.used[a], s.locked[file], s.own[file], same(s.kept[file], s.within[a]))


@invariant
def an_emitted_id_lies_in_the_window(s: State, a: Slot) -> Term:
    """The slot that emitted the watched ID has its node, its tick lies in the window, and it is used up."""
    return implies(
        s.emitted[a] > ZERO,
        same(s.emitted[a], number(1)),
        s.used[a],
        same(s.node[s.within[a]], WATCHED_NODE),
        s.start[a] <= WATCHED_TICK,
        WATCHED_TICK < s.end[a],
        before(WATCHED, free(s, a)),
    )


@invariant
def a_slot_emits_from_its_start_on(s: State, a: Slot) -> Term:
    """The next free position of a slot does not lie before its window."""
    return implies(s.used[a], s.start[a] <= s.free_tick[a])
