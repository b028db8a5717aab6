//! All of the way to a node, and from window to window: which question to the store follows which answer.

use super::{Choice, Claim, Claimed, Floor, Kept, Lease, Pin, Record, Terms};
use crate::error::{Error, What};
use crate::mutant;
use crate::store::{Ask, Reply, Version};
use crate::window::Window;

/// How far ahead of the store's clock a window may end beyond its length, in ms.
const MAX_SKEW_MS: i64 = 60 * 60 * 1000;
/// A node that is free only after a longer wait than this, in ms, was granted under a clock that was ahead.
const FAR_MS: u64 = Window::MOST_MS;
/// How often to begin again where other claimants were first.
const TRIES: u32 = 200;
/// How many writes that were neither answered nor done tell that the store does not write.
const REFUSALS: u32 = 3;

/// How a claim goes on.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is no allocator to box it")]
pub enum Todo {
    /// Read the namespace's record: [`Claiming::pinned`].
    ReadLayout,
    /// Read the store's [`Floor`]: [`Claiming::floor`].
    ReadFloor,
    /// Write the namespace's record in the place of that version, the text of its layout and behind it these numbers:
    /// [`Claiming::pinning`].
    WriteLayout(Pin, Version),
    /// List the nodes: [`Claiming::see`] or [`Claiming::skip`] for each, ascending, then [`Claiming::seen`].
    List,
    /// Read the store's clock: [`Claiming::clock`].
    Clock,
    /// Ask for this node: [`Claiming::replied`].
    Ask(u32, Ask<Record>),
    /// The node is granted, its window durable, and this machine's clock by so many ms ahead of the store's.
    Lease(Lease, Option<i64>),
    /// The first node is free in so many ms: begin again then, or give up with this error.
    Wait(u64, Error),
    /// Others were first, time and again: begin again, or give up with this error.
    Taken(Error),
    /// There was no answer, twice, or the store reads and does not write: if the node was granted after all, its window
    /// runs out by itself.
    Unanswered,
    /// There is no node.
    Refused(Error),
}

/// The way to a node.
#[derive(Clone, Copy, Debug)]
pub struct Claiming<'a> {
    terms: Terms<'a>,
    system_clock: bool,
    tries: u32,
    /// What the namespace's record says behind the layout, and its version.
    pin: Pin,
    pin_version: Version,
    /// How many nodes have a record.
    records: u64,
    claim: Claim<'a>,
    chosen: Option<(u32, Record, Version)>,
    granted: Option<Lease>,
    skew_ms: Option<i64>,
    unanswered: bool,
    /// How many writes were neither answered nor done since the last one that was answered.
    refusals: u32,
}

impl<'a> Claiming<'a> {
    /// The first thing to do.
    pub const FIRST: Todo = Todo::ReadLayout;

    /// Begins. `system_clock` tells whether the holder's clock is its system's, which is checked by that of the store.
    pub const fn new(terms: Terms<'a>, system_clock: bool) -> Self {
        Self {
            terms,
            system_clock,
            tries: 0,
            pin: Pin { nodes: 0, floor_ms: None },
            pin_version: 0,
            records: 0,
            claim: Claim::new(terms, None),
            chosen: None,
            granted: None,
            skew_ms: None,
            unanswered: false,
            refusals: 0,
        }
    }

    /// Whether the holder's clock is its system's.
    pub const fn system_clock(&self) -> bool {
        self.system_clock
    }

    /// Takes in the numbers of the namespace's record and its version, if there is one. The driver has checked its layout.
    pub const fn pinned(&mut self, found: Option<(Pin, Version)>) -> Todo {
        match (found, self.granted) {
            (Some((pin, version)), granted) => {
                (self.pin, self.pin_version) = (pin, version);
                match granted {
                    Some(lease) => self.count(lease),
                    None => self.list(),
                }
            }
            (None, Some(lease)) => Todo::Lease(lease, self.skew_ms),
            (None, None) => Todo::ReadFloor,
        }
    }

    /// Takes in the store's floor, if it has one, for a namespace without a record.
    pub fn floor(&mut self, floor: Option<Floor>) -> Todo {
        (self.pin, self.pin_version) = (Pin { nodes: 0, floor_ms: floor.map(|floor| floor.until_ms) }, 0);
        Todo::WriteLayout(self.pin, 0)
    }

    /// Takes in what came of writing the namespace's record.
    pub const fn pinning(&mut self, reply: Reply<Record>) -> Todo {
        match (reply, self.granted) {
            (Reply::Written(version), None) => {
                self.pin_version = version;
                self.list()
            }
            (Reply::Unknown, None) => Todo::Unanswered,
            // A claim that could not count leaves it to the next one.
            (Reply::Written(_) | Reply::Unknown, Some(lease)) => Todo::Lease(lease, self.skew_ms),
            (_, granted) => {
                self.tries += 1;
                match granted {
                    _ if self.tries <= TRIES => Todo::ReadLayout,
                    Some(lease) => Todo::Lease(lease, self.skew_ms),
                    None => Todo::Refused(Error::plain(What::LayoutHidden)),
                }
            }
        }
    }

    const fn list(&mut self) -> Todo {
        self.claim = Claim::new(self.terms, self.pin.floor_ms);
        Todo::List
    }

    /// Hands the lease out, once the namespace's record counts its node.
    const fn count(&mut self, lease: Lease) -> Todo {
        self.granted = Some(lease);
        if self.records <= self.pin.nodes {
            return Todo::Lease(lease, self.skew_ms);
        }
        self.pin.nodes = self.records;
        Todo::WriteLayout(self.pin, self.pin_version)
    }

    /// Takes in that a node is not to be had, whether there is a record of it or not.
    pub const fn skip(&mut self, node: u32) {
        self.claim.skip(node);
    }

    /// Takes in a node's record, at the time `now_ms` (Unix ms).
    pub fn see(&mut self, node: u32, record: &Record, version: Version, now_ms: i64) {
        self.claim.see(node, record, version, now_ms);
    }

    /// Takes in that all nodes were seen. `records` counts the keys of nodes in the list, valid records or not.
    pub fn seen(&mut self, now_ms: i64, records: u64) -> Todo {
        if records < self.pin.nodes && !mutant::removes("vanished") {
            return Todo::Refused(Error::new(What::RecordsGone, 0, records, self.pin.nodes));
        }
        self.records = records;
        match self.claim.choose(now_ms) {
            Choice::Write(node, record, version) => {
                self.chosen = Some((node, record, version));
                if self.system_clock { Todo::Clock } else { self.write() }
            }
            Choice::Wait(wait_ms) => {
                let nodes = self.terms.layout.nodes();
                let error = if wait_ms > FAR_MS {
                    let free_ms = now_ms.saturating_add_unsigned(wait_ms.saturating_add(self.terms.max_ahead_ms));
                    Error::new(What::NodesFar, 0, nodes, free_ms.cast_unsigned())
                } else {
                    Error::new(What::NodesBusy, 0, nodes, wait_ms)
                };
                Todo::Wait(wait_ms, error)
            }
            Choice::Nothing => Todo::Refused(self.taken()),
        }
    }

    fn write(&self) -> Todo {
        self.chosen.map_or(Todo::List, |(node, record, version)| Todo::Ask(node, Ask::Write(record, version)))
    }

    const fn taken(&self) -> Error {
        Error::new(What::NodesTaken, 0, self.terms.layout.nodes(), 0)
    }

    /// Takes in the store's clock, if it has one, and this machine's at that time.
    pub fn clock(&mut self, store_ms: Option<i64>, own_ms: i64) -> Todo {
        let end_ms = self.chosen.map_or(own_ms, |(_, record, _)| record.window.end_ms);
        if let Some(error) = far_end(end_ms, self.terms.reach_ms(), store_ms) {
            return Todo::Refused(error);
        }
        self.skew_ms = store_ms.map(|store_ms| own_ms.saturating_sub(store_ms));
        self.write()
    }

    /// Takes in what came of what was asked for the node.
    pub fn replied(&mut self, reply: Reply<Record>) -> Todo {
        let unanswered = matches!(reply, Reply::Unknown);
        if unanswered && self.unanswered {
            return Todo::Unanswered;
        }
        self.unanswered = unanswered;
        match (reply, self.chosen) {
            (Reply::Conflict, _) => self.refusals = 0,
            // As it was before the write without an answer; another one's record is a race that was lost.
            (Reply::Record(_, version), Some((_, _, seen))) if version == seen => self.refusals += 1,
            _ => {}
        }
        if self.refusals == REFUSALS {
            return Todo::Unanswered;
        }
        match self.claim.reply(reply) {
            Claimed::Lease(lease) => {
                let is_new = self.chosen.is_some_and(|(_, _, seen)| seen == 0);
                self.records += u64::from(is_new);
                self.count(lease)
            }
            Claimed::Read(node) => Todo::Ask(node, Ask::Read),
            Claimed::Again => self.again(),
        }
    }

    /// Takes in that the chosen node is not to be had after all, for a reason that the store does not know.
    pub const fn again(&mut self) -> Todo {
        self.tries += 1;
        if self.tries < TRIES { self.list() } else { Todo::Taken(self.taken()) }
    }
}

/// How a renewal or release goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Read the store's clock: [`Keeping::clock`].
    Clock,
    /// Ask for the node: [`Keeping::replied`].
    Ask(Ask<Record>),
    /// The window is this now, durably, and this machine's clock by so many ms ahead of the store's.
    Window(Window, Option<i64>),
    /// There was no answer, or this clock is wrong: the window stays as it is, try again.
    Later(Option<Error>),
    /// The node is somebody else's, or its record is gone: close the generator.
    Lost(Error),
    /// The node is given back.
    Released,
}

/// The way from window to window.
#[derive(Clone, Copy, Debug)]
pub struct Keeping {
    lease: Lease,
    system_clock: bool,
    asked: Option<Ask<Record>>,
    skew_ms: Option<i64>,
}

impl Keeping {
    /// Of a lease that is granted.
    pub const fn new(lease: Lease, system_clock: bool) -> Self {
        Self { lease, system_clock, asked: None, skew_ms: None }
    }

    /// Of a lease whose record and version were saved: one at a time of those that share it asks the store.
    pub const fn resume(node: u32, record: Record, version: Version, system_clock: bool) -> Self {
        Self::new(Lease::resume(node, record, version, 0), system_clock)
    }

    /// Whether the holder's clock is its system's.
    pub const fn system_clock(&self) -> bool {
        self.system_clock
    }

    /// What is known to be in the store, and its version.
    pub const fn saved(&self) -> (Record, Version) {
        (self.lease.record, self.lease.version)
    }

    /// The node.
    pub const fn node(&self) -> u32 {
        self.lease.node()
    }

    /// The window that is durable.
    pub const fn window(&self) -> Window {
        self.lease.window()
    }

    /// Wants the window's end moved up at `now_ms`, for a generator whose first unused tick begins at `last_ms`.
    ///
    /// Windows reach `reach_ms` past the clock: `max_ahead_ms` and `window_ms` together.
    pub fn renew(&mut self, now_ms: i64, last_ms: i64, reach_ms: u64) -> Keep {
        self.lease.set_reach_ms(reach_ms);
        match self.lease.renew(now_ms, last_ms) {
            Kept::Ask(ask) if self.system_clock => {
                self.asked = Some(ask);
                Keep::Clock
            }
            kept => self.keep(kept),
        }
    }

    /// Takes in the store's clock, if it has one, and this machine's at that time.
    pub fn clock(&mut self, store_ms: Option<i64>, own_ms: i64) -> Keep {
        let Some(ask) = self.asked.take() else { return Keep::Later(None) };
        if let Ask::Write(record, _) = &ask
            && let Some(error) = far_end(record.window.end_ms, self.lease.reach_ms, store_ms)
        {
            return Keep::Later(Some(error));
        }
        self.skew_ms = store_ms.map(|store_ms| own_ms.saturating_sub(store_ms));
        Keep::Ask(ask)
    }

    /// Wants the rest given back; the generator is closed by now, and took no ID at or past `end_ms`.
    pub fn release(&mut self, end_ms: i64) -> Keep {
        let kept = self.lease.release(end_ms);
        self.keep(kept)
    }

    /// Takes in what came of what was asked. What was written without an answer is found by the next renewal.
    pub fn replied(&mut self, reply: Reply<Record>) -> Keep {
        let unanswered = matches!(reply, Reply::Unknown);
        let kept = self.lease.reply(reply);
        if unanswered { Keep::Later(None) } else { self.keep(kept) }
    }

    const fn keep(&self, kept: Kept) -> Keep {
        match kept {
            Kept::Window(window) => Keep::Window(window, self.skew_ms),
            Kept::Ask(ask) => Keep::Ask(ask),
            Kept::Lost(error) => Keep::Lost(error),
            Kept::Released => Keep::Released,
        }
    }
}

/// Refuses a window that ends too far beyond the store's clock, because this clock is wrong.
fn far_end(end_ms: i64, reach_ms: u64, store_ms: Option<i64>) -> Option<Error> {
    let store_ms = store_ms?;
    let latest_ms = store_ms.saturating_add_unsigned(reach_ms).saturating_add(MAX_SKEW_MS);
    (end_ms > latest_ms).then(|| Error::new(What::FarEnd, 0, end_ms.cast_unsigned(), store_ms.cast_unsigned()))
}
