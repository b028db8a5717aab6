//! A lease of a node over a store: claim, renew, release, and which node to claim.
//!
//! A store keeps a [`Record`] for each node of a namespace: who holds it, and until when. A holder writes the end of its
//! window there before it mints, always in the place of the version that it has seen, so a node is never granted twice for
//! the same time, whatever the clocks say and however late a write arrives. Expiry decides only who may try.
//!
//! [`Claim`] and [`Lease`] are pure, and so are [`Claiming`] and [`Keeping`], which are all of the way to a node and from
//! window to window: who drives them asks the store what they want to know.

mod holding;
mod pin;

pub use self::holding::{Claiming, Keep, Keeping, Todo};
pub use self::pin::{Floor, Pin};

use crate::error::{Error, What};
use crate::layout::Layout;
use crate::mutant;
use crate::store::{Ask, Reply, Version};
use crate::window::Window;

/// The places among all sentences of those that only leases need; for hosts that make texts themselves.
#[doc(hidden)]
pub fn sentences() -> impl Iterator<Item = usize> {
    use What::{
        FarEnd, LaterRecord, LayoutHidden, LeaseLost, NoRecord, NodesBusy, NodesFar, NodesTaken, RecordGone,
        RecordsGone,
    };
    [NodesTaken, NodesBusy, NodesFar, FarEnd, LeaseLost, LayoutHidden, NoRecord, LaterRecord, RecordGone, RecordsGone]
        .into_iter()
        .map(|what| what as usize)
}

/// How long a record is, in bytes.
pub const RECORD_BYTES: usize = 124;
/// The most bytes of a label.
pub const LABEL_BYTES: usize = 60;

const MAGIC: &[u8; 8] = b"snowmint";
const VERSION: u32 = 1;

/// Who holds a node, and until when.
///
/// | bytes | what, little-endian |
/// | --- | --- |
/// | 0 to 7 | `snowmint` |
/// | 8 to 11 | the version of this format |
/// | 12 to 15 | 1 if the holder has given the node back, else 0 |
/// | 16 to 23 | how often the node has been written |
/// | 24 to 31, 32 to 39 | the window's start and end, Unix ms |
/// | 40 to 55 | the token of the holder |
/// | 56 to 115 | who the holder is, in UTF-8, for people |
/// | 116 to 123 | zero |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Whether the holder has given the node back.
    pub released: bool,
    /// How often the node has been written.
    pub serial: u64,
    /// The window. No ID of this node lies at or past its end.
    pub window: Window,
    /// What tells one holder from another: random, and new for each claim.
    pub token: u128,
    /// Who the holder is, padded with zeros.
    pub label: [u8; LABEL_BYTES],
}

impl Record {
    /// A label, cut to what fits.
    pub fn label(text: &str) -> [u8; LABEL_BYTES] {
        let mut label = [0; LABEL_BYTES];
        let end = (0..=LABEL_BYTES).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
        label[..end].copy_from_slice(&text.as_bytes()[..end]);
        label
    }

    /// The bytes of this record.
    pub fn to_bytes(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&u32::from(self.released).to_le_bytes());
        bytes[16..24].copy_from_slice(&self.serial.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.window.start_ms.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.window.end_ms.to_le_bytes());
        bytes[40..56].copy_from_slice(&self.token.to_le_bytes());
        bytes[56..56 + LABEL_BYTES].copy_from_slice(&self.label);
        bytes
    }

    /// Reads a record.
    ///
    /// # Errors
    /// `StoreUnavailable`, if they are none, or of a later version of this format.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let Some(bytes) = bytes.first_chunk::<RECORD_BYTES>().filter(|bytes| bytes.starts_with(MAGIC)) else {
            return Err(Error::plain(What::NoRecord));
        };
        let version = u32::from_le_bytes(part(bytes, 8));
        if version != VERSION {
            return Err(Error::new(What::LaterRecord, 0, u64::from(version), u64::from(VERSION)));
        }
        Ok(Self {
            released: u32::from_le_bytes(part(bytes, 12)) != 0,
            serial: u64::from_le_bytes(part(bytes, 16)),
            window: Window {
                start_ms: i64::from_le_bytes(part(bytes, 24)),
                end_ms: i64::from_le_bytes(part(bytes, 32)),
            },
            token: u128::from_le_bytes(part(bytes, 40)),
            label: part(bytes, 56),
        })
    }

    /// Whether the holder of that token has the node, and has not given it back.
    pub const fn is_held_by(&self, token: u128) -> bool {
        self.token == token && !self.released
    }
}

fn part<const N: usize>(bytes: &[u8; RECORD_BYTES], from: usize) -> [u8; N] {
    let mut part = [0; N];
    part.copy_from_slice(&bytes[from..from + N]);
    part
}

/// What a holder wants, and who it is.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// The layout of the IDs.
    pub layout: &'a Layout,
    /// How far IDs may run ahead of the clock, in ms.
    pub max_ahead_ms: u64,
    /// The length of a window, in ms.
    pub window_ms: u64,
    /// The node held last, if any: it is preferred.
    pub last_node: Option<u32>,
    /// Random, and new for each claim.
    pub token: u128,
    /// Who this is, for people.
    pub label: [u8; LABEL_BYTES],
}

impl Terms<'_> {
    const fn reach_ms(&self) -> u64 {
        self.max_ahead_ms.saturating_add(self.window_ms)
    }
}

/// How well a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// It was this holder's.
    Mine,
    /// Nobody ever had it, or its holder gave it back.
    Free,
    /// Its window ended then.
    Ended(i64),
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    rank: Rank,
    node: u32,
    record: Option<Record>,
    version: Version,
}

/// The choice of a node, and its first write.
///
/// | call | when |
/// | --- | --- |
/// | [`Claim::see`], [`Claim::skip`] | for each node that the store has a record of or that is not to be had, ascending |
/// | [`Claim::choose`] | then: which node to write, or how long to wait |
/// | [`Claim::reply`] | with what came of the write |
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    terms: Terms<'a>,
    /// Where nodes without a record begin, Unix ms.
    floor_ms: Option<i64>,
    /// What the store has of nodes below this is known.
    next: u64,
    /// A node without a record: the last one held, or else the first.
    fresh: Option<u32>,
    best: Option<Candidate>,
    /// When the first node that is not to be had now can be, Unix ms.
    nearest_ms: Option<i64>,
    /// What was written for the chosen node.
    written: Option<(u32, Record)>,
}

/// What to do after a look at all nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Write this record of this node, in the place of the version (0: none is there).
    Write(u32, Record, Version),
    /// Every node is used up to a time after now; look again in so many ms.
    Wait(u64),
    /// Every node is excluded or used up to the end of the layout.
    Nothing,
}

/// What came of a write.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is no allocator to box it")]
pub enum Claimed {
    /// The node is granted, and its window durable.
    Lease(Lease),
    /// Read this node's record: the write may have been done.
    Read(u32),
    /// Somebody else was first: list the nodes again.
    Again,
}

impl<'a> Claim<'a> {
    /// A look at a namespace begins, in which nodes without a record begin at `floor_ms` (Unix ms) at the earliest.
    pub const fn new(terms: Terms<'a>, floor_ms: Option<i64>) -> Self {
        Self { terms, floor_ms, next: 0, fresh: None, best: None, nearest_ms: None, written: None }
    }

    /// Takes in that a node is not to be had, whether there is a record of it or not.
    pub const fn skip(&mut self, node: u32) {
        self.pass(node as u64);
        self.next = node as u64 + 1;
    }

    /// Takes in a node's record, at the time `now_ms` (Unix ms).
    pub fn see(&mut self, node: u32, record: &Record, version: Version, now_ms: i64) {
        self.skip(node);
        if u64::from(node) >= self.terms.layout.nodes() {
            return;
        }
        if !self.can_begin(Some(record.window.end_ms), now_ms) {
            return;
        }
        let rank = if self.terms.last_node == Some(node) {
            Rank::Mine
        } else if record.released {
            Rank::Free
        } else {
            Rank::Ended(record.window.end_ms)
        };
        if self.best.is_none_or(|best| rank < best.rank) {
            self.best = Some(Candidate { rank, node, record: Some(*record), version });
        }
    }

    /// Returns whether a node whose last window ended at `previous_end_ms` can be used at `now_ms`. Notes when, if later.
    fn can_begin(&mut self, previous_end_ms: Option<i64>, now_ms: i64) -> bool {
        let Terms { layout, max_ahead_ms, .. } = self.terms;
        let window = Window::first(layout, previous_end_ms, now_ms, self.terms.reach_ms());
        let Some(mints_from_ms) = layout.mints_from_ms(window.start_ms) else { return false };
        let is_near = mints_from_ms <= now_ms.saturating_add_unsigned(max_ahead_ms);
        if !is_near {
            self.nearest_ms = Some(self.nearest_ms.map_or(mints_from_ms, |nearest| nearest.min(mints_from_ms)));
        }
        is_near
    }

    /// Takes in that no node from the last seen one to before `end` has a record.
    const fn pass(&mut self, end: u64) {
        let (first, nodes) = (self.next, self.terms.layout.nodes());
        let last = if end < nodes { end } else { nodes };
        if first >= last {
            return;
        }
        self.fresh = match (self.terms.last_node, self.fresh) {
            (Some(node), _) if node as u64 >= first && (node as u64) < last => Some(node),
            // Nodes are below 2^32.
            (_, None) => Some(first as u32),
            (_, fresh) => fresh,
        };
    }

    /// What to do now that all records were seen. Calls that are repeated choose the same.
    pub fn choose(&mut self, now_ms: i64) -> Choice {
        self.pass(self.terms.layout.nodes());
        self.next = self.terms.layout.nodes();
        let floor_ms = self.floor_ms.filter(|_| !mutant::removes("floor"));
        let fresh = self.fresh.filter(|_| self.can_begin(floor_ms, now_ms)).map(|node| {
            let rank = if self.terms.last_node == Some(node) { Rank::Mine } else { Rank::Free };
            Candidate { rank, node, record: None, version: 0 }
        });
        let best = match (self.best, fresh) {
            (Some(best), Some(fresh)) => Some(if fresh.rank < best.rank { fresh } else { best }),
            (best, fresh) => best.or(fresh),
        };
        let Some(Candidate { node, record, version, .. }) = best else {
            let reached_ms = now_ms.saturating_add_unsigned(self.terms.max_ahead_ms);
            return match self.nearest_ms {
                Some(nearest_ms) => Choice::Wait(nearest_ms.abs_diff(reached_ms).max(1)),
                None => Choice::Nothing,
            };
        };
        let previous_end_ms = record.map_or(floor_ms, |record| Some(record.window.end_ms));
        let record = Record {
            released: false,
            serial: record.map_or(0, |record| record.serial).saturating_add(1),
            window: Window::first(self.terms.layout, previous_end_ms, now_ms, self.terms.reach_ms()),
            token: self.terms.token,
            label: self.terms.label,
        };
        self.written = Some((node, record));
        Choice::Write(node, record, version)
    }

    /// Takes in what came of the write that was chosen, or of the read that followed.
    pub fn reply(&self, reply: Reply<Record>) -> Claimed {
        let Some((node, record)) = self.written else { return Claimed::Again };
        let reach_ms = self.terms.reach_ms();
        let lease = |record, version| Claimed::Lease(Lease { node, reach_ms, record, version, asked: None });
        match reply {
            Reply::Written(version) => lease(record, version),
            // A write whose answer was lost counts when it is seen to be there.
            Reply::Record(Some(found), version) if found == record => lease(found, version),
            Reply::Unknown => Claimed::Read(node),
            Reply::Conflict | Reply::Record(..) | Reply::Sum(_) | Reply::Full => Claimed::Again,
        }
    }
}

/// A node that is held, window by window.
#[derive(Clone, Copy, Debug)]
pub struct Lease {
    node: u32,
    reach_ms: u64,
    /// What is known to be in the store.
    record: Record,
    version: Version,
    /// What was written last, if that is not known to be in the store.
    asked: Option<Record>,
}

/// How a renewal or release goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The window is this now, durably: the generator may mint up to its end.
    Window(Window),
    /// Ask the store.
    Ask(Ask<Record>),
    /// The node is somebody else's, or its record is gone, as the error says: close the generator.
    Lost(Error),
    /// The node is given back.
    Released,
}

impl Lease {
    /// The lease that a record is about, for one who has shown the holder's token: it goes on where the holder stands.
    pub const fn resume(node: u32, record: Record, version: Version, reach_ms: u64) -> Self {
        Self { node, reach_ms, record, version, asked: None }
    }

    /// The node.
    pub const fn node(&self) -> u32 {
        self.node
    }

    /// The window that is durable.
    pub const fn window(&self) -> Window {
        self.record.window
    }

    /// From now on windows reach so many ms past the clock: `max_ahead_ms` and `window_ms` together.
    pub const fn set_reach_ms(&mut self, reach_ms: u64) {
        self.reach_ms = reach_ms;
    }

    /// Wants the window's end moved up at `now_ms`, for a generator whose first unused tick begins at `last_ms`.
    pub fn renew(&mut self, now_ms: i64, last_ms: i64) -> Kept {
        let end_ms = self.record.window.renewed_end_ms(now_ms, last_ms, self.reach_ms);
        self.write(Record { window: Window { end_ms, ..self.record.window }, ..self.record })
    }

    /// Wants the rest given back; the generator is closed by now, and took no ID at or past `end_ms`.
    pub fn release(&mut self, end_ms: i64) -> Kept {
        self.write(Record { released: true, window: Window { end_ms, ..self.record.window }, ..self.record })
    }

    fn write(&mut self, record: Record) -> Kept {
        let record = Record { serial: self.record.serial.saturating_add(1), ..record };
        self.asked = Some(record);
        Kept::Ask(Ask::Write(record, self.version))
    }

    /// Takes in what came of it.
    pub fn reply(&mut self, reply: Reply<Record>) -> Kept {
        let Some(asked) = self.asked.take() else { return Kept::Lost(Error::plain(What::LeaseLost)) };
        match reply {
            Reply::Written(version) => self.keep(asked, version),
            // It may be there, or an earlier write of ours that arrived late.
            Reply::Unknown | Reply::Conflict => {
                self.asked = Some(asked);
                Kept::Ask(Ask::Read)
            }
            Reply::Record(Some(found), version) if found == asked => self.keep(asked, version),
            Reply::Record(Some(found), version) if found.is_held_by(self.record.token) => {
                self.record = found;
                self.version = version;
                // Ends that are in the store never go back, but for a release.
                let end_ms =
                    if asked.released { asked.window.end_ms } else { asked.window.end_ms.max(found.window.end_ms) };
                self.write(Record { window: Window { end_ms, ..asked.window }, ..asked })
            }
            Reply::Record(None, _) => Kept::Lost(Error::plain(What::RecordGone)),
            Reply::Record(..) | Reply::Sum(_) | Reply::Full => Kept::Lost(Error::plain(What::LeaseLost)),
        }
    }

    fn keep(&mut self, record: Record, version: Version) -> Kept {
        self.record = record;
        self.version = version;
        if record.released { Kept::Released } else { Kept::Window(record.window) }
    }
}
