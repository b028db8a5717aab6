//! How an allocator takes a section over.

use super::record::{Record, Users};
use super::tenure::{Tenure, Watch};
use crate::error::{Error, What};
use crate::int::Integer;
use crate::lease::LABEL_BYTES;
use crate::segment::{LAST, Pacer};
use crate::store::{Ask, Next, Reply, Version};
use crate::window::Window;

/// By how much `max_seq` is raised, unless told otherwise; as in `WeChat`'s seqsvr.
pub const STEP: u64 = 10_000;

/// Which section an allocator wants, and who it is.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    users: Users,
    token: u128,
    step: u64,
    window_ms: u64,
    label: [u8; LABEL_BYTES],
}

impl Terms {
    /// The users; a token that is random, and new for each claim; by how much to raise `max_seq` when it is used up;
    /// how long a successor is to wait, in ms; who this is, such as its address.
    ///
    /// A window of this length passes before a section whose holder has died has another one.
    ///
    /// # Errors
    /// `InvalidId`, if the step is not 1 to [`MAX_STEP`](crate::segment::MAX_STEP), or the window less than 1000 ms.
    pub const fn new(
        users: Users,
        token: u128,
        step: Integer,
        window_ms: u64,
        label: [u8; LABEL_BYTES],
    ) -> Result<Self, Error> {
        if window_ms < Window::LEAST_MS {
            return Err(Error::new(What::SectionWindow, 0, Window::LEAST_MS, window_ms));
        }
        match Pacer::new(step) {
            Ok(pacer) => Ok(Self { users, token, step: pacer.step(0), window_ms, label }),
            Err(error) => Err(error),
        }
    }
}

/// A section that was taken over: what a [`Section`](super::Section) is made of.
#[derive(Debug)]
pub struct Held {
    pub(super) record: Record,
    pub(super) version: Version,
    pub(super) tenure: Tenure,
    pub(super) step: u64,
}

/// How far a claim is.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is no allocator to box it")]
pub enum Claimed {
    /// The section is held.
    Held(Held),
    /// Somebody has it: go on in so many ms, without a reply, to read its record again.
    Wait(u64),
}

/// The take-over of a section: reads its record until that is unchanged for a whole window, then writes its own in the
/// place of that version. A section that was given back, or never had a holder, is free at once.
#[derive(Debug)]
pub struct Claim {
    terms: Terms,
    watch: Watch,
    /// Where `max_seq` begins, if the section has no record.
    floor: u64,
    /// How many writes were sent.
    attempts: u64,
    /// What was written last, and when it was sent.
    written: Option<(Record, u64)>,
}

impl Claim {
    /// A look at a section begins.
    pub const fn new(terms: Terms) -> Self {
        Self { terms, watch: Watch::new(), floor: 0, attempts: 0, written: None }
    }

    /// Has `max_seq` begin there, if the section has no record: a [`Floor`](crate::lease::Floor) tells how many numbers its
    /// users may have had.
    pub const fn begin_above(&mut self, floor: u64) {
        self.floor = floor;
    }

    /// How it goes on: the first time, and after a wait, without a reply, then with that to what was asked.
    ///
    /// `now_ms` is read then, of a clock that never steps (see [`Tenure`]). It is for the caller to give up at some time.
    ///
    /// # Errors
    /// `StoreUnavailable`, if the section was kept for other users, because the size of sections has changed.
    pub fn next(&mut self, reply: Option<Reply<Record>>, now_ms: u64) -> Result<Next<Claimed, Record>, Error> {
        let (found, version) = match reply {
            Some(Reply::Record(found, version)) => (found, version),
            Some(Reply::Written(version)) => {
                return Ok(match self.written {
                    Some((record, sent_ms)) => self.held(record, version, Some(sent_ms)),
                    None => Next::Ask(Ask::Read),
                });
            }
            _ => return Ok(Next::Ask(Ask::Read)),
        };
        let Some(found) = found else { return Ok(self.write(None, version, now_ms)) };
        if found.token == self.terms.token && !found.released {
            // A write whose answer was lost; it may be an earlier one than the last.
            let sent_ms = self.written.filter(|(record, _)| *record == found).map(|(_, sent_ms)| sent_ms);
            return Ok(self.held(found, version, sent_ms));
        }
        if found.users != self.terms.users {
            return Err(Error::new(What::SectionUsers, 0, found.users.first(), found.users.last()));
        }
        match if found.released { 0 } else { self.watch.see(version, found.window_ms, now_ms) } {
            0 => Ok(self.write(Some(found), version, now_ms)),
            wait_ms => Ok(Next::Done(Claimed::Wait(wait_ms))),
        }
    }

    fn held(&self, record: Record, version: Version, sent_ms: Option<u64>) -> Next<Claimed, Record> {
        let tenure = Tenure::new(sent_ms, self.terms.window_ms);
        Next::Done(Claimed::Held(Held { record, version, tenure, step: self.terms.step }))
    }

    fn write(&mut self, found: Option<Record>, version: Version, now_ms: u64) -> Next<Claimed, Record> {
        self.attempts = self.attempts.saturating_add(1);
        let record = Record {
            released: false,
            token: self.terms.token,
            max_seq: found.map_or(self.floor, |found| found.max_seq).min(LAST),
            renewals: found.map_or(0, |found| found.renewals).saturating_add(self.attempts),
            window_ms: self.terms.window_ms,
            users: self.terms.users,
            label: self.terms.label,
        };
        self.written = Some((record, now_ms));
        Next::Ask(Ask::Write(record, version))
    }
}
