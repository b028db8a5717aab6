"""The window protocol: its state, its actions, its invariant, and the checks that keep the invariant.

This file is the only source of the proof of the windows. `README.md` explains it and leads from each part to the code.

Nothing here knows a clock. Where the code reads one, the model takes any number: all ticks are parameters that only the
conditions below restrict. Nothing is ever obliged to happen either: a request may stay under way forever, a reply may
never be heard, a holder may stop at any point and go on later.
"""

from collections.abc import Callable

from model import WATCHED, WATCHED_NODE, WATCHED_TICK, Checks, Model, Variant
from terms import (
    NO,
    YES,
    ZERO,
    Call,
    Int,
    Lease,
    Node,
    Position,
    State,
    Term,
    Write,
    before,
    choose,
    differ,
    either,
    every,
    implies,
    later,
    negated,
    not_after,
    number,
    same,
)

FIELDS = {
    # The store: the record of a node.
    "version": ("Node", "Int"),  # 0: the node has no record
    "holder": ("Node", "Lease"),
    "end": ("Node", "Int"),  # the high-water mark: no ID at or past this tick was minted by the holder
    # A lease, as its holder has it in memory.
    "used": ("Lease", "Bool"),  # this claim has begun
    "node": ("Lease", "Node"),
    "start": ("Lease", "Int"),  # the first tick of the window
    "known_version": ("Lease", "Int"),  # the version of the record that the holder knows
    "known_end": ("Lease", "Int"),  # the end in that record
    "opened": ("Lease", "Bool"),  # its cell was opened: a cell is opened once
    "holds": ("Lease", "Bool"),  # it may ask for renewals and a release
    # The cell of a lease: two words.
    "live": ("Lease", "Bool"),  # the word is not zero
    "free_tick": ("Lease", "Int"),  # the word: the next free position
    "free_sequence": ("Lease", "Int"),
    "cell_end": ("Lease", "Int"),  # the tick just past the window
    # The claim of a lease on its way to the store.
    "claiming": ("Lease", "Bool"),
    "in_store": ("Lease", "Bool"),  # the store has granted it
    # Renewals and releases on their way to the store.
    "sent": ("Write", "Bool"),
    "done": ("Write", "Bool"),  # the store has written it
    "writer": ("Write", "Lease"),
    "over": ("Write", "Int"),  # the version that it replaces
    "new_end": ("Write", "Int"),
    "gives_back": ("Write", "Bool"),  # a release
    # Calls that have read a cell and not swapped yet.
    "calling": ("Call", "Bool"),
    "caller": ("Call", "Lease"),
    "seen_tick": ("Call", "Int"),
    "seen_sequence": ("Call", "Int"),
    # For the proof alone; no code has these.
    "durable": ("Lease", "Int"),  # the end in the last record that this lease wrote
    "emitted": ("Lease", "Int"),  # how often this lease emitted the watched ID
}

VARIANTS = [
    Variant("window", "no fence at the window's end", "window"),
    Variant("ahead", "the watermark is written after use", "ahead"),
    Variant("stall", "the node is granted again beside a call in flight", "swap"),
    Variant("close", "the release comes before the close", "close"),
    Variant("start", "a claim ignores the end of the window before it", "start"),
    Variant("swap", "two calls swap the same word", "swap"),
    Variant("increase", "a call goes back behind the word that it read", "increase"),
    Variant("wipe", "a forked child sees its parent's cell", "wipe", needs="fork"),
    Variant("answer", "a claim counts as granted whatever the store answers", "version"),
    Variant("replace", "the store grants a node over a record that the claimer has not read", None),
]

MODEL = Model(
    "windows",
    FIELDS,
    counts={"Node": 1, "Lease": 2, "Write": 1, "Call": 2},
    rare=("crash", "read_back", "fork"),
    variants=VARIANTS,
)
action, invariant, promise = MODEL.action, MODEL.invariant, MODEL.promise


def free(s: State, lease: Term) -> Position:
    """Returns the next free position of a cell."""
    return s.free_tick[lease], s.free_sequence[lease]


# At the beginning the store is empty, and nothing is under way.


@MODEL.begins
def at_the_beginning(s: State) -> list[tuple[type[Term], Callable[[Term], Term]]]:
    """Returns what holds at the beginning, for each thing of a sort."""
    return [
        (Node, lambda node: same(s.version[node], ZERO)),
        (
            Lease,
            lambda lease: every(
                *(negated(s.__getattr__(name)[lease]) for name in ("used", "opened", "holds", "live", "claiming")),
                negated(s.in_store[lease]),
                same(s.emitted[lease], ZERO),
            ),
        ),
        (Write, lambda write: every(negated(s.sent[write]), negated(s.done[write]))),
        (Call, lambda call: negated(s.calling[call])),
    ]


# The actions.


@action("{lease} reads the record of {node} and asks the store for the window [{start}, {end})")
def claim(check: Checks, now: State, then: State, lease: Lease, node: Node, start: Int, end: Int) -> list[Term]:
    """A claimer reads a node's record and sends its claim. The claim is under way for any time."""
    then.used[lease] = YES
    then.claiming[lease] = YES
    then.node[lease] = node
    then.start[lease] = start
    then.known_end[lease] = end
    then.known_version[lease] = now.version[node]
    return [
        negated(now.used[lease]),
        check("start", either(same(now.version[node], ZERO), now.end[node] <= start)),
        start <= end,
    ]


@action("the store grants {node} to {lease}, and its record now ends at {end}")
def grant(check: Checks, now: State, then: State, lease: Lease, node: Node, end: Int) -> list[Term]:
    """The store writes a claim, if the record still has the version that the claimer read."""
    then.claiming[lease] = NO
    then.in_store[lease] = YES
    then.version[node] = now.version[node] + 1
    then.holder[node] = lease
    then.end[node] = end
    then.durable[lease] = end
    return [
        now.claiming[lease],
        same(now.node[lease], node),
        same(now.known_end[lease], end),
        check("replace", same(now.version[node], now.known_version[lease])),
    ]


@action("{lease} opens its cell for [{start}, {end})")
def open_cell(check: Checks, now: State, then: State, lease: Lease, start: Int, end: Int) -> list[Term]:
    """The claimer hears of its grant, by the reply or by reading the record after a lost reply. It opens a new cell."""
    then.opened[lease] = YES
    then.holds[lease] = YES
    then.live[lease] = YES
    then.free_tick[lease] = start
    then.free_sequence[lease] = ZERO
    then.cell_end[lease] = end
    then.known_version[lease] = now.known_version[lease] + 1
    return [
        negated(now.opened[lease]),
        either(now.claiming[lease], now.in_store[lease]),
        check("answer", now.in_store[lease]),
        same(now.start[lease], start),
        same(now.known_end[lease], end),
    ]


@action("{lease} asks the store to move the end of its window to {end}")
def renew(check: Checks, now: State, then: State, lease: Lease, write: Write, end: Int) -> list[Term]:
    """A holder asks for a later end. The request is under way for any time; others may follow before its reply."""
    send(now, then, lease, write, end, NO)
    return [now.holds[lease], negated(now.sent[write]), now.known_end[lease] <= end]


@action("{lease} asks the store to end its window at {end}, which releases the node")
def release(check: Checks, now: State, then: State, lease: Lease, write: Write, end: Int) -> list[Term]:
    """A holder gives the rest of its window back. Its cell is closed, and no ID lies at or past the new end."""
    send(now, then, lease, write, end, YES)
    return [
        now.holds[lease],
        negated(now.sent[write]),
        check("close", negated(now.live[lease])),
        now.start[lease] <= end,
        not_after(free(now, lease), (end, ZERO)),
    ]


def send(now: State, then: State, lease: Lease, write: Write, end: Int, gives_back: Term) -> None:
    """Sends a write over the version that the holder knows."""
    then.sent[write] = YES
    then.writer[write] = lease
    then.over[write] = now.known_version[lease]
    then.new_end[write] = end
    then.gives_back[write] = gives_back


@action("the store writes the request of {lease}: the record of {node} now ends at {end}")
def store_write(check: Checks, now: State, then: State, write: Write, lease: Lease, node: Node, end: Int) -> list[Term]:
    """The store writes a renewal or release, if the record still has the version that the request replaces."""
    then.done[write] = YES
    then.version[node] = now.version[node] + 1
    then.holder[node] = lease
    then.end[node] = end
    then.durable[lease] = end
    return [
        now.sent[write],
        negated(now.done[write]),
        same(now.writer[write], lease),
        same(now.node[lease], node),
        same(now.new_end[write], end),
        same(now.version[node], now.over[write]),
    ]


@action("{lease} takes the window as moved: its cell now ends at {end}")
def confirm(check: Checks, now: State, then: State, write: Write, lease: Lease, end: Int) -> list[Term]:
    """A holder hears that the store has written its request, and moves the end of its cell."""
    then.known_version[lease] = now.over[write] + 1
    then.known_end[lease] = now.new_end[write]
    then.cell_end[lease] = later(now.cell_end[lease], now.new_end[write])
    return [
        now.holds[lease],
        now.sent[write],
        check("ahead", now.done[write]),
        same(now.writer[write], lease),
        same(now.new_end[write], end),
        same(now.over[write], now.known_version[lease]),
    ]


@action("{lease}, whose reply was lost, reads the record of {node} and finds itself as its holder")
def read_back(check: Checks, now: State, then: State, lease: Lease, node: Node) -> list[Term]:
    """A holder without a reply reads the record. If the record still names it, it continues with the record's end."""
    then.known_version[lease] = now.version[node]
    then.known_end[lease] = now.end[node]
    then.cell_end[lease] = later(now.cell_end[lease], now.end[node])
    return [
        now.holds[lease],
        same(now.node[lease], node),
        differ(now.version[node], ZERO),
        same(now.holder[node], lease),
    ]


@action("{lease} closes its cell for good")
def close(check: Checks, now: State, then: State, lease: Lease) -> list[Term]:
    """A holder sets the word of its cell to zero."""
    then.live[lease] = NO
    return [now.live[lease]]


@action("{lease} crashes")
def crash(check: Checks, now: State, then: State, lease: Lease) -> list[Term]:
    """A process ends at any point. Its requests are still under way. A restart is a new lease."""
    then.live[lease] = NO
    then.holds[lease] = NO
    then.opened[lease] = YES
    return [now.used[lease]]


@action("{lease} forks, and its child has a copy of the lease, called {child}")
def fork(check: Checks, now: State, then: State, lease: Lease, child: Lease, call: Call, copied: Call) -> list[Term]:
    """A child gets a copy of all memory, with the call that forked, if one did. It sees the words of the cell wiped."""
    then.used[child] = YES
    then.node[child] = now.node[lease]
    then.start[child] = now.start[lease]
    then.known_version[child] = now.known_version[lease]
    then.known_end[child] = now.known_end[lease]
    then.free_tick[child] = now.free_tick[lease]
    then.free_sequence[child] = now.free_sequence[lease]
    then.cell_end[child] = now.cell_end[lease]
    then.live[child] = now.live[lease] if check.removes("wipe") else NO
    then.calling[copied] = every(now.calling[call], same(now.caller[call], lease))
    then.caller[copied] = child
    then.seen_tick[copied] = now.seen_tick[call]
    then.seen_sequence[copied] = now.seen_sequence[call]
    return [now.used[lease], negated(now.used[child]), negated(now.calling[copied]), differ(call, copied)]


@action("a call of {lease} reads the cell: the next free position is (tick {tick}, sequence {sequence})")
def begin(check: Checks, now: State, then: State, call: Call, lease: Lease, tick: Int, sequence: Int) -> list[Term]:
    """A call reads the word of a cell. It may stall for any time before it swaps the word."""
    then.calling[call] = YES
    then.caller[call] = lease
    then.seen_tick[call] = tick
    then.seen_sequence[call] = sequence
    return [
        negated(now.calling[call]),
        now.live[lease],
        same(now.free_tick[lease], tick),
        same(now.free_sequence[lease], sequence),
    ]


@action("the call of {lease} swaps the word of its cell, and emits ({node}, tick {tick}, sequence {sequence}){run}")
def emit(
    check: Checks,
    now: State,
    then: State,
    call: Call,
    lease: Lease,
    node: Node,
    tick: Int,
    sequence: Int,
    last_tick: Int,
    last_sequence: Int,
) -> list[Term]:
    """A call swaps the word, if it is still the word that the call has read, and emits one ID or a run of IDs."""
    first, last = (tick, sequence), (last_tick, last_sequence)
    is_watched = every(same(node, WATCHED_NODE), not_after(first, WATCHED), not_after(WATCHED, last))
    then.calling[call] = NO
    then.free_tick[lease] = last_tick
    then.free_sequence[lease] = last_sequence + 1
    then.emitted[lease] = choose(is_watched, now.emitted[lease] + 1, now.emitted[lease])
    return [
        now.calling[call],
        same(now.caller[call], lease),
        same(now.node[lease], node),
        check("stall", now.live[lease]),
        check("swap", every(*(same(a, b) for a, b in zip(free(now, lease), seen(now, call), strict=True)))),
        check("increase", not_after(seen(now, call), first)),
        check("window", last_tick < now.cell_end[lease]),
        ZERO <= sequence,
        ZERO <= last_sequence,
        not_after(first, last),
    ]


def seen(s: State, call: Term) -> Position:
    """Returns the position that a call has read."""
    return s.seen_tick[call], s.seen_sequence[call]


# The promise: no ID is emitted twice.


@promise
def no_lease_emits_an_id_twice(s: State, a: Lease) -> Term:
    """A lease emits the watched ID at most once."""
    return s.emitted[a] <= number(1)


@promise
def no_two_leases_emit_the_same_id(s: State, a: Lease, b: Lease) -> Term:
    """Two leases never both emit the watched ID."""
    return implies(differ(a, b), either(s.emitted[a] <= ZERO, s.emitted[b] <= ZERO))


# What always holds, and why the promise follows.


@invariant
def windows_of_a_node_never_overlap(s: State, a: Lease, b: Lease) -> Term:
    """Of two granted leases of one node, one window ends before the other starts."""
    return implies(
        every(s.in_store[a], s.in_store[b], differ(a, b), same(s.node[a], s.node[b])),
        either(s.durable[a] <= s.start[b], s.durable[b] <= s.start[a]),
    )


@invariant
def an_emitted_id_lies_in_a_durable_window(s: State, a: Lease) -> Term:
    """The lease that emitted the watched ID has its node, its tick lies in the durable window, and it is used up."""
    return implies(
        s.emitted[a] > ZERO,
        same(s.emitted[a], number(1)),
        s.in_store[a],
        s.opened[a],
        same(s.node[a], WATCHED_NODE),
        s.start[a] <= WATCHED_TICK,
        WATCHED_TICK < s.durable[a],
        before(WATCHED, free(s, a)),
    )


@invariant
def an_open_cell_ends_within_the_durable_window(s: State, a: Lease) -> Term:
    """A lease with an open cell is granted. Its cell begins in the window and ends where the record says, or before."""
    return implies(s.live[a], s.in_store[a], s.opened[a], s.cell_end[a] <= s.durable[a], s.start[a] <= s.free_tick[a])


@invariant
def the_record_is_what_its_holder_wrote(s: State, n: Node) -> Term:
    """The record of a node names a lease that was granted this node, and has the end that this lease wrote last."""
    holder = s.holder[n]
    return implies(
        differ(s.version[n], ZERO), s.in_store[holder], same(s.node[holder], n), same(s.end[n], s.durable[holder])
    )


@invariant
def earlier_windows_end_before_the_holders_starts(s: State, a: Lease) -> Term:
    """The windows of all earlier leases of a node end before the window of its holder starts."""
    holder = s.holder[s.node[a]]
    return implies(every(s.in_store[a], differ(a, holder)), s.durable[a] <= s.start[holder])


@invariant
def a_granted_lease_has_a_record(s: State, a: Lease) -> Term:
    """A granted lease has begun, its node has a record, and its window does not end before it starts."""
    return implies(s.in_store[a], s.used[a], ZERO < s.version[s.node[a]], s.start[a] <= s.durable[a])


@invariant
def an_unused_lease_holds_nothing(s: State, a: Lease) -> Term:
    """A lease that has not begun claims, holds and mints nothing, and neither does a forked child's copy."""
    return every(
        implies(s.claiming[a], s.used[a], negated(s.in_store[a])),
        implies(s.opened[a], s.used[a]),
        implies(s.holds[a], s.in_store[a], s.opened[a]),
    )


@invariant
def a_claim_under_way_starts_at_the_recorded_end(s: State, a: Lease) -> Term:
    """A claim under way that the store would grant starts at the recorded end or later."""
    node = s.node[a]
    return implies(
        s.claiming[a],
        s.start[a] <= s.known_end[a],
        s.known_version[a] <= s.version[node],
        implies(
            every(same(s.known_version[a], s.version[node]), differ(s.version[node], ZERO)), s.end[node] <= s.start[a]
        ),
    )


@invariant
def a_grant_not_yet_heard_stands(s: State, a: Lease) -> Term:
    """Before the cell of a granted lease opens, its window is the one that it claimed."""
    node = s.node[a]
    return implies(
        every(s.in_store[a], negated(s.opened[a])),
        same(s.known_end[a], s.durable[a]),
        s.known_version[a] < s.version[node],
        implies(same(s.known_version[a] + 1, s.version[node]), same(s.holder[node], a)),
    )


@invariant
def a_holder_knows_the_record_or_an_older_one(s: State, a: Lease) -> Term:
    """If the version that a holder knows is the present one, the record is its own, with the end that it knows."""
    node = s.node[a]
    return implies(
        s.holds[a],
        s.known_version[a] <= s.version[node],
        implies(
            same(s.known_version[a], s.version[node]),
            same(s.holder[node], a),
            same(s.known_end[a], s.end[node]),
        ),
    )


@invariant
def a_write_under_way_moves_only_its_own_record(s: State, w: Write) -> Term:
    """A write under way that the store would carry out finds its own record. A renewal moves the end up."""
    writer = s.writer[w]
    node = s.node[writer]
    return every(
        implies(s.done[w], s.sent[w]),
        implies(
            s.sent[w],
            s.in_store[writer],
            s.opened[writer],
            s.over[w] <= s.version[node],
            implies(
                every(negated(s.done[w]), same(s.over[w], s.version[node])),
                same(s.holder[node], writer),
                either(s.gives_back[w], s.end[node] <= s.new_end[w]),
            ),
        ),
    )


@invariant
def a_release_follows_the_close(s: State, w: Write) -> Term:
    """A release comes from a closed cell, and its end lies past all that the cell emitted."""
    writer = s.writer[w]
    return implies(
        every(s.sent[w], s.gives_back[w]),
        s.opened[writer],
        negated(s.live[writer]),
        s.start[writer] <= s.new_end[w],
        not_after(free(s, writer), (s.new_end[w], ZERO)),
    )


@invariant
def a_confirmed_write_is_durable(s: State, w: Write) -> Term:
    """A written record stays until another write. An open cell may use the end of its renewals."""
    writer = s.writer[w]
    node = s.node[writer]
    return implies(
        s.done[w],
        s.over[w] < s.version[node],
        implies(same(s.over[w] + 1, s.version[node]), same(s.holder[node], writer), same(s.end[node], s.new_end[w])),
        implies(s.live[writer], s.new_end[w] <= s.durable[writer]),
    )
