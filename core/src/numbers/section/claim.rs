//! The take-over of a section by an allocator.

use super::record::{Record, Users};
use super::tenure::{Tenure, Watch};
use crate::error::{Error, What};
use crate::int::Integer;
use crate::numbers::segment::{LAST, Pacer};
use crate::store::bytes::LABEL_BYTES;
use crate::store::{Ask, Next, Reply, Version};
use crate::window::Window;

/// The default number by which `max_seq` is raised, as in `WeChat`'s seqsvr.
pub const STEP: u64 = 10_000;

/// The section that an allocator claims, and the allocator's identity.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    users: Users,
    token: u128,
    step: u64,
    window_ms: u64,
    label: [u8; LABEL_BYTES],
}

impl Terms {
    /// Makes terms.
    ///
    /// | argument | meaning |
    /// | --- | --- |
    /// | `users` | the users of the section |
    /// | `token` | a random number, new for each claim |
    /// | `step` | the number by which `max_seq` is raised when it is used up |
    /// | `window_ms` | how long a successor waits for a holder that does not renew, in ms |
    /// | `label` | the name of the holder, such as its address |
    ///
    /// # Errors
    /// `InvalidId`, if the step is not 1 to [`MAX_STEP`](crate::segment::MAX_STEP), or the window is shorter than 1000
    /// ms.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::section::{SIZE, STEP, Terms, Users};
    /// use snowmint_core::{ErrorKind, Integer, bytes};
    /// let (users, label) = (Users::of(Integer::from(42), SIZE)?, bytes::label("allocator 1"));
    /// assert!(Terms::new(users, 0x5eed, Integer::from(STEP), 10_000, label).is_ok());
    /// let error = Terms::new(users, 0x5eed, Integer::from(STEP), 10, label).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::InvalidId);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn new(
        users: Users,
        token: u128,
        step: Integer,
        window_ms: u64,
        label: [u8; LABEL_BYTES],
    ) -> Result<Self, Error> {
        if window_ms < Window::MIN_MS {
            return Err(Error::new(What::SectionWindow, 0, Window::MIN_MS, window_ms));
        }
        match Pacer::new(step) {
            Ok(pacer) => Ok(Self { users, token, step: pacer.step(0), window_ms, label }),
            Err(error) => Err(error),
        }
    }
}

/// A section that was taken over, from which a [`Section`](super::Section) is made.
#[derive(Debug)]
pub struct Held {
    pub(super) record: Record,
    pub(super) version: Version,
    pub(super) tenure: Tenure,
    pub(super) step: u64,
}

/// The result of a claim.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is no allocator to box it")]
pub enum Claimed {
    /// The section is taken over.
    Held(Held),
    /// Another allocator has the section. Call again after this number of ms, without a reply, to read its record
    /// again.
    Wait(u64),
}

/// The take-over of a section: reads the record until it is unchanged for a whole window, then replaces that version
/// with its own record. A section that was given back, or never had a holder, is free at once.
#[derive(Debug)]
pub struct Claim {
    terms: Terms,
    watch: Watch,
    /// Where `max_seq` begins, if the section has no record.
    floor: u64,
    /// The number of writes that were sent.
    attempts: u64,
    /// The last record that was sent, and when.
    written: Option<(Record, u64)>,
}

impl Claim {
    /// Begins a take-over.
    pub const fn new(terms: Terms) -> Self {
        Self { terms, watch: Watch::new(), floor: 0, attempts: 0, written: None }
    }

    /// Sets where `max_seq` begins, if the section has no record. A [`Floor`](crate::lease::Floor) says how many
    /// numbers its users may have had.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::section::{Claim, SIZE, STEP, Terms, Users};
    /// use snowmint_core::store::{Ask, Next, Reply};
    /// use snowmint_core::{Integer, bytes};
    /// let (users, label) = (Users::of(Integer::from(42), SIZE)?, bytes::label("allocator 1"));
    /// let mut claim = Claim::new(Terms::new(users, 0x5eed, Integer::from(STEP), 10_000, label)?);
    /// claim.begin_above(5000);
    /// let Next::Ask(Ask::Write(record, 0)) = claim.next(Some(Reply::Record(None, 0)), 0)? else { panic!("a write") };
    /// assert_eq!(record.max_seq, 5000);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn begin_above(&mut self, floor: u64) {
        self.floor = floor;
    }

    /// Advances the claim. Pass `None` on the first call and after a wait, otherwise the store's reply to the last
    /// request.
    ///
    /// `now_ms` is the present time of a clock that never steps (see [`Tenure`]). The caller decides when to give up.
    ///
    /// # Errors
    /// `StoreUnavailable`, if the record is for other users, because the size of sections has changed.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::section::{Claim, Claimed, SIZE, STEP, Terms, Users};
    /// use snowmint_core::store::{Ask, Next, Reply};
    /// use snowmint_core::{Integer, bytes};
    /// let (users, label) = (Users::of(Integer::from(42), SIZE)?, bytes::label("allocator 1"));
    /// let mut claim = Claim::new(Terms::new(users, 0x5eed, Integer::from(STEP), 10_000, label)?);
    /// assert!(matches!(claim.next(None, 0)?, Next::Ask(Ask::Read)));
    /// // The section has no record: write the first.
    /// assert!(matches!(claim.next(Some(Reply::Record(None, 0)), 0)?, Next::Ask(Ask::Write(_, 0))));
    /// assert!(matches!(claim.next(Some(Reply::Written(1)), 0)?, Next::Done(Claimed::Held(_))));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
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
            // A write of this claim whose reply was lost: the last write, or an earlier one.
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
