//! All of the way to a node, and from window to window: which question to the store follows which answer.

use super::{Choice, Claim, Claimed, Kept, Lease, Record, Terms};
use crate::error::{Error, What};
use crate::store::{Ask, Reply, Version};
use crate::window::Window;

/// How far ahead of the store's clock a window may end beyond its length, in ms.
const MAX_SKEW_MS: i64 = 60 * 60 * 1000;
/// How often to begin again where other claimants were first.
const TRIES: u32 = 200;
/// How many writes that were neither answered nor done tell that the store does not write.
const REFUSALS: u32 = 3;

/// How a claim goes on.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is no allocator to box it")]
pub enum Todo {
    /// Read the namespace's layout: [`Claiming::pinned`].
    ReadLayout,
    /// Write the text of the layout there, where nothing is: [`Claiming::pinning`].
    WriteLayout,
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
    claim: Claim<'a>,
    chosen: Option<(u32, Record, Version)>,
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
        let claim = Claim::new(terms);
        Self { terms, system_clock, tries: 0, claim, chosen: None, skew_ms: None, unanswered: false, refusals: 0 }
    }

    /// Whether the holder's clock is its system's.
    pub const fn system_clock(&self) -> bool {
        self.system_clock
    }

    /// Takes in whether a layout is there. Whether it is that of the terms is for the driver to see, who has read it.
    pub const fn pinned(&mut self, there: bool) -> Todo {
        if there { self.list() } else { Todo::WriteLayout }
    }

    /// Takes in what came of writing the layout: whether it is there now, or somebody else's is.
    pub const fn pinning(&mut self, written: bool) -> Todo {
        if written {
            return self.list();
        }
        self.tries += 1;
        if self.tries > TRIES { Todo::Refused(Error::plain(What::LayoutHidden)) } else { Todo::ReadLayout }
    }

    const fn list(&mut self) -> Todo {
        self.claim = Claim::new(self.terms);
        Todo::List
    }

    /// Takes in that a node is not to be had, whether there is a record of it or not.
    pub const fn skip(&mut self, node: u32) {
        self.claim.skip(node);
    }

    /// Takes in a node's record, at the time `now_ms` (Unix ms).
    pub fn see(&mut self, node: u32, record: &Record, version: Version, now_ms: i64) {
        self.claim.see(node, record, version, now_ms);
    }

    /// Takes in that all nodes were seen.
    pub fn seen(&mut self, now_ms: i64) -> Todo {
        match self.claim.choose(now_ms) {
            Choice::Write(node, record, version) => {
                self.chosen = Some((node, record, version));
                if self.system_clock { Todo::Clock } else { self.write() }
            }
            Choice::Wait(wait_ms) => {
                Todo::Wait(wait_ms, Error::new(What::NodesBusy, 0, self.terms.layout.nodes(), wait_ms))
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
            Claimed::Lease(lease) => Todo::Lease(lease, self.skew_ms),
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
    /// The node is somebody else's: close the generator.
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
            Kept::Lost => Keep::Lost(Error::plain(What::LeaseLost)),
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
