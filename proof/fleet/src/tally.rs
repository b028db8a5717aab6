//! The counts of a fleet, and its violations.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use snowmint_core::{Layout, Window};

use crate::faults::Fault;

/// An event that must not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// An ID was minted twice.
    Duplicate,
    /// An ID is not above the ID before it of the same lease.
    Order,
    /// An ID lies outside of the window that the store had granted.
    Outside,
    /// A window of a node begins before the window before it ends.
    Overlap,
    /// A window of a slot leaves the reservation that the store had granted.
    Unreserved,
    /// A closed cell, or a forked child, minted an ID.
    AfterClose,
    /// A number of a segment was handed out twice.
    NumberTwice,
    /// A number of a segment is not above the number before it of the same allocator.
    NumberOrder,
    /// A number of a user was handed out twice.
    UserTwice,
    /// A number of a user is not above all numbers before it.
    UserOrder,
}

impl Violation {
    /// Returns the words for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Duplicate => "an ID was minted twice",
            Self::Order => "IDs of a lease went back",
            Self::Outside => "an ID lies outside of its granted window",
            Self::Overlap => "windows of a node overlap",
            Self::Unreserved => "a window of a slot leaves its reservation",
            Self::AfterClose => "a closed cell or forked child minted",
            Self::NumberTwice => "a number of a segment was handed out twice",
            Self::NumberOrder => "numbers of a segment went back",
            Self::UserTwice => "a number of a user was handed out twice",
            Self::UserOrder => "numbers of a user went back",
        }
    }

    /// Returns whether it is one number for two things, not an order.
    pub const fn is_duplicate(self) -> bool {
        !matches!(self, Self::Order | Self::NumberOrder | Self::UserOrder)
    }
}

/// Counts of a run.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// IDs minted.
    pub ids: u64,
    /// Numbers of segments and users handed out.
    pub numbers: u64,
    /// Leases granted.
    pub leases: u64,
    /// How often a node changed its holder.
    pub takeovers: u64,
    /// How often a process took a slot within a reservation.
    pub slots: u64,
    /// How often it did so without an answer of the store.
    pub unconfirmed: u64,
    /// IDs minted within reservations.
    pub reserved_ids: u64,
    /// Events.
    pub events: u64,
    /// Faults of each kind.
    pub faults: [u64; Fault::ALL.len()],
    /// The first violation, and when, in ms from the start of the run.
    pub violation: Option<(Violation, u64)>,
    /// Duplicates: of IDs and numbers, and windows that were left.
    pub duplicates: u64,
    /// Violations of order.
    pub disorders: u64,
}

impl Tally {
    /// Returns the number of faults.
    pub fn all_faults(&self) -> u64 {
        self.faults.iter().sum()
    }

    /// Adds the counts of another run.
    pub fn add(&mut self, other: &Self) {
        self.ids += other.ids;
        self.numbers += other.numbers;
        self.leases += other.leases;
        self.takeovers += other.takeovers;
        self.slots += other.slots;
        self.unconfirmed += other.unconfirmed;
        self.reserved_ids += other.reserved_ids;
        self.events += other.events;
        for (sum, count) in self.faults.iter_mut().zip(other.faults) {
            *sum += count;
        }
        self.violation = self.violation.or(other.violation);
        self.duplicates += other.duplicates;
        self.disorders += other.disorders;
    }
}

/// Spreads numbers over a set: one multiplication.
#[derive(Clone, Debug, Default)]
pub struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_right(20);
    }
}

type Numbers = HashSet<u64, BuildHasherDefault<Spread>>;

/// An ID that was minted twice.
#[derive(Clone, Copy, Debug)]
pub struct Duplicate {
    /// The ID.
    pub id: u64,
    /// Its node.
    pub node: u32,
    /// The start of its tick, Unix ms.
    pub tick_ms: i64,
    /// The nonces of the claims that minted it.
    pub claims: [usize; 2],
}

/// A lease, as the store and the outside see it.
#[derive(Clone, Debug)]
pub struct Span {
    /// The process.
    pub holder: usize,
    /// The window that the store has granted on each node that this claim has asked for.
    pub windows: Vec<(u32, Window)>,
    /// The last ID.
    pub last: Option<u64>,
    /// The start of the first tick with an ID, and the end of the last such tick, Unix ms.
    pub minted_ms: Option<(i64, i64)>,
    /// Whether the cell is closed.
    pub closed: bool,
    /// Whether the claim is a slot within a reservation.
    pub is_slot: bool,
    /// The nonce of the last slot within this reservation, and its window.
    last_slot: Option<(usize, Window)>,
}

/// Checks all that is minted and granted.
#[derive(Debug)]
pub struct Checker {
    layout: Layout,
    /// The claim of each ID.
    ids: HashMap<u64, usize, BuildHasherDefault<Spread>>,
    numbers: Numbers,
    user_numbers: Numbers,
    user_last: Vec<u64>,
    /// The leases, by their nonce.
    pub spans: Vec<Span>,
    /// The nonce of the last holder of each node, and the end of its window.
    last_of_node: Vec<Option<(usize, i64)>>,
    /// The end of the last tick with an ID, Unix ms.
    pub minted_until_ms: i64,
    /// The last number of a segment, and of a user.
    pub highest_number: u64,
    /// The first ID that was minted twice.
    pub duplicate: Option<Duplicate>,
    /// The counts.
    pub tally: Tally,
    /// The time, in ms from the start of the run.
    pub now_ms: u64,
    /// Whether the counter has gone back, so that two allocators can have one number until the fence.
    pub is_rolled_back: bool,
}

impl Checker {
    /// Makes a checker that has not seen an ID.
    pub fn new(layout: Layout, nodes: usize, users: usize) -> Self {
        Self {
            layout,
            ids: HashMap::default(),
            duplicate: None,
            numbers: Numbers::default(),
            user_numbers: Numbers::default(),
            user_last: vec![0; users],
            spans: Vec::new(),
            last_of_node: vec![None; nodes],
            minted_until_ms: i64::MIN,
            highest_number: 0,
            tally: Tally::default(),
            now_ms: 0,
            is_rolled_back: false,
        }
    }

    fn note(&mut self, violation: Violation) {
        if violation.is_duplicate() {
            self.tally.duplicates += 1;
        } else {
            self.tally.disorders += 1;
        }
        self.tally.violation.get_or_insert((violation, self.now_ms));
    }

    /// Notes a fault.
    pub fn fault(&mut self, fault: Fault) {
        self.tally.faults[fault as usize] += 1;
    }

    /// Notes a new claim by a process, and returns its nonce.
    pub fn claim(&mut self, holder: usize) -> usize {
        self.spans.push(Span {
            holder,
            windows: Vec::new(),
            last: None,
            minted_ms: None,
            closed: false,
            is_slot: false,
            last_slot: None,
        });
        self.spans.len() - 1
    }

    /// Notes a window that the store has written for a claim.
    pub fn granted(&mut self, nonce: usize, node: u32, window: Window) {
        let windows = &mut self.spans[nonce].windows;
        match windows.iter_mut().find(|(known, _)| *known == node) {
            Some((_, known)) => *known = window,
            None => windows.push((node, window)),
        }
        let last = &mut self.last_of_node[node as usize];
        let overlaps = match *last {
            Some((holder, end_ms)) if holder != nonce => {
                self.tally.takeovers += 1;
                window.start_ms < end_ms
            }
            _ => false,
        };
        *last = Some((nonce, window.end_ms));
        if overlaps {
            self.note(Violation::Overlap);
        }
    }

    /// Notes a window that a process has written into a slot, within the reservation of another claim.
    pub fn slotted(&mut self, nonce: usize, reservation: usize, node: u32, window: Window) {
        let is_new = !self.spans[nonce].is_slot;
        let Span { windows, last_slot, .. } = &mut self.spans[reservation];
        let is_within = windows.iter().any(|(known, reserved)| {
            *known == node && reserved.start_ms <= window.start_ms && window.end_ms <= reserved.end_ms
        });
        let follows = match *last_slot {
            Some((holder, last)) if holder == nonce || is_new => holder == nonce || last.end_ms <= window.start_ms,
            // A slot that another one has followed can only end.
            Some((_, last)) => window.end_ms <= last.start_ms,
            None => true,
        };
        if is_new || last_slot.is_some_and(|(holder, _)| holder == nonce) {
            *last_slot = Some((nonce, window));
        }
        let span = &mut self.spans[nonce];
        (span.windows, span.is_slot) = (vec![(node, window)], true);
        if !is_within {
            self.note(Violation::Unreserved);
        }
        if !follows {
            self.note(Violation::Overlap);
        }
    }

    /// Returns the end of the last window within a reservation, Unix ms.
    pub fn slot_end_ms(&self, reservation: usize) -> Option<i64> {
        self.spans[reservation].last_slot.map(|(_, window)| window.end_ms)
    }

    /// Notes a fence: all processes have stopped, so the rest of their windows is void.
    pub fn fenced(&mut self) {
        self.is_rolled_back = false;
        for (_, end_ms) in self.last_of_node.iter_mut().flatten() {
            *end_ms = self.minted_until_ms;
        }
    }

    /// Notes that the cell of a lease is closed.
    pub fn closed(&mut self, nonce: usize) {
        self.spans[nonce].closed = true;
    }

    /// Checks an ID of a lease.
    pub fn minted(&mut self, nonce: usize, node: u32, id: u64) {
        self.tally.ids += 1;
        let span = &mut self.spans[nonce];
        let ordered = span.last.replace(id).is_none_or(|last| last < id);
        let window = span.windows.iter().find(|(known, _)| *known == node).map(|(_, window)| *window);
        let closed = span.closed;
        self.tally.reserved_ids += u64::from(span.is_slot);
        let tick_ms = self.layout.decode(id).map_or(i64::MIN, |parts| parts.timestamp_ms);
        let until_ms = tick_ms.saturating_add_unsigned(self.layout.tick_ms());
        span.minted_ms = Some(
            span.minted_ms.map_or((tick_ms, until_ms), |(from_ms, to_ms)| (from_ms.min(tick_ms), to_ms.max(until_ms))),
        );
        self.minted_until_ms = self.minted_until_ms.max(until_ms);
        let inside = window.is_some_and(|window| (window.start_ms..window.end_ms).contains(&tick_ms));
        match self.ids.entry(id) {
            Entry::Vacant(place) => drop(place.insert(nonce)),
            Entry::Occupied(first) => {
                let claims = [*first.get(), nonce];
                self.duplicate.get_or_insert(Duplicate { id, node, tick_ms, claims });
                self.note(Violation::Duplicate);
            }
        }
        if !ordered {
            self.note(Violation::Order);
        }
        if closed {
            self.note(Violation::AfterClose);
        } else if !inside {
            self.note(Violation::Outside);
        }
    }

    /// Notes that a forked child has minted.
    pub fn child_minted(&mut self) {
        self.note(Violation::AfterClose);
    }

    /// Checks a number of a segment. `last` is the allocator's number before it.
    pub fn numbered(&mut self, last: u64, number: u64) {
        self.tally.numbers += 1;
        self.highest_number = self.highest_number.max(number);
        if !self.numbers.insert(number) && !self.is_rolled_back {
            self.note(Violation::NumberTwice);
        }
        if number <= last {
            self.note(Violation::NumberOrder);
        }
    }

    /// Checks a number of a user.
    pub fn numbered_user(&mut self, user: usize, number: u64) {
        self.tally.numbers += 1;
        self.highest_number = self.highest_number.max(number);
        let last = std::mem::replace(&mut self.user_last[user], number);
        if !self.user_numbers.insert(number * self.user_last.len() as u64 + user as u64) {
            self.note(Violation::UserTwice);
        }
        if number <= last {
            self.note(Violation::UserOrder);
        }
    }
}
