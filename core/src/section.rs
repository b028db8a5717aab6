//! Per-user sequences: a section of neighbouring users shares one durable `max_seq`.
//!
//! The design of `WeChat`'s seqsvr, with the fence that it needs written out. Each user has a number in memory; the next one
//! is one more. No number above `max_seq` is handed out before a larger `max_seq` is durable. Who takes a section over,
//! and who starts again, goes on from `max_seq` for every user, so nothing is handed out twice, and 100,000 users take
//! one record in the store.
//!
//! | part | what it is |
//! | --- | --- |
//! | [`Users`] | which users share a section |
//! | [`Record`] | what the store keeps of it |
//! | [`Claim`] | taking it over |
//! | [`Section`] | handing out, renewing, giving back |
//! | [`Tenure`], [`Watch`] | how long a holder may go on, and a successor has to wait |
//!
//! **Unique**: each write of a holder takes the place of the version that it knows. Once another allocator has written,
//! no write of the old holder is done any more, and it stays at its old `max_seq`, where the new one begins.
//! **Increasing**, for each user, over all allocators: by [`Tenure`] and [`Watch`], with an assumption about clocks.
//!
//! All parts are pure. Who drives them tells the time, in ms of a clock that never steps, and asks the store:
//!
//! ```
//! use snowmint_core::section::{Claim, Claimed, Record, SIZE, STEP, Section, Terms, Users};
//! use snowmint_core::store::{Ask, Next, Reply};
//! use snowmint_core::{Error, Integer, lease};
//!
//! # struct Store(Option<Record>, u64);
//! # impl Store {
//! #     fn answer(&mut self, ask: Ask<Record>) -> Reply<Record> {
//! #         match ask {
//! #             Ask::Read => Reply::Record(self.0, self.1),
//! #             Ask::Write(record, version) if version == self.1 => {
//! #                 *self = Self(Some(record), version + 1);
//! #                 Reply::Written(version + 1)
//! #             }
//! #             _ => Reply::Conflict,
//! #         }
//! #     }
//! # }
//! # let (mut store, now_ms) = (Store(None, 0), 0);
//! let users = Users::of(Integer::from(42), SIZE)?;
//! let label = lease::Record::label("allocator 1");
//! let mut claim = Claim::new(Terms::new(users, 0x5eed, Integer::from(STEP), 10_000, label)?);
//! let mut reply = None;
//! let held = loop {
//!     match claim.next(reply, now_ms)? {
//!         Next::Done(Claimed::Held(held)) => break held,
//!         Next::Done(Claimed::Wait(_)) => reply = None, // after a sleep
//!         Next::Ask(ask) => reply = Some(store.answer(ask)),
//!     }
//! };
//!
//! // Eight bytes a user; zeroed memory costs nothing before it is used.
//! let mut section = Section::new(held, vec![0; SIZE.get() as usize]);
//! let mut next = |user| -> Result<u64, Error> {
//!     loop {
//!         match section.next(user, now_ms)? {
//!             Next::Done(number) => return Ok(number),
//!             Next::Ask(ask) => section.reply(store.answer(ask), now_ms)?,
//!         }
//!     }
//! };
//! assert_eq!([next(Integer::from(42))?, next(Integer::from(42))?, next(Integer::from(99_999))?], [1, 2, 1]);
//! # Ok::<(), snowmint_core::Error>(())
//! ```
//!
//! Sources: `WeChat`'s article on seqsvr (2016), and the rules for leases of the other machines of this crate.

use crate::error::{Error, What};
use crate::int::Integer;
use crate::mutant;
use crate::segment::{LAST, RETRY_MS};
use crate::store::{Ask, Next, Reply, Version};

mod claim;
mod record;
mod tenure;

pub use self::claim::{Claim, Claimed, Held, STEP, Terms};
pub use self::record::{MAX_SIZE, RECORD_BYTES, Record, SIZE, Users};
pub use self::tenure::{Tenure, Watch};

#[derive(Clone, Copy, Debug)]
enum Asked {
    Read,
    /// What, and when it was sent.
    Write(Record, u64),
}

/// A section that is held. See the [module](self).
///
/// The memory `M` is a slice of one number for each user, such as `Vec<u64>` or `&mut [u64]`: the last one handed out.
/// It is either all zero, or what an earlier holder of the same section left: a number not above the `max_seq` of the
/// take-over counts as that. In a forked child a section has to be dropped, for the child would repeat its parent's
/// numbers.
#[derive(Debug)]
pub struct Section<M> {
    memory: M,
    /// `max_seq` at the take-over.
    base: u64,
    step: u64,
    /// What is known to be in the store.
    record: Record,
    version: Version,
    tenure: Tenure,
    /// How many writes were sent or may have been, over all holders.
    renewals: u64,
    /// What is under way.
    asked: Option<Asked>,
    /// A write whose answer was lost, and when it was sent: it may yet be done.
    doubt: Option<(Record, u64)>,
    /// Whether the record has to be read before the next write.
    unread: bool,
    /// Nothing is asked before this, unless all is well.
    retry_at_ms: u64,
    /// Why nothing is handed out any more.
    over: Option<Error>,
}

impl<M: AsMut<[u64]>> Section<M> {
    /// A section that was taken over just now, with memory for its users.
    #[allow(clippy::needless_pass_by_value, reason = "what was taken over once is one section")]
    pub const fn new(held: Held, memory: M) -> Self {
        let Held { record, version, tenure, step } = held;
        Self {
            memory,
            base: record.max_seq,
            step,
            record,
            version,
            tenure,
            renewals: record.renewals,
            asked: None,
            doubt: None,
            unread: false,
            retry_at_ms: 0,
            over: None,
        }
    }

    /// The users.
    pub const fn users(&self) -> Users {
        self.record.users
    }

    /// What is known to be in the store.
    pub const fn record(&self) -> &Record {
        &self.record
    }

    /// The next number of a user: one more than the last one, or than `max_seq` at the take-over.
    ///
    /// `now_ms` is read after the request has arrived, and anew for each call. Who is told to ask has to tell the outcome
    /// to [`Section::reply`], and then calls again. Meanwhile other users are served.
    ///
    /// # Errors
    /// `InvalidId` for a user of another section; `Exhausted`, with a time to retry, if it has to be asked while another
    /// request is under way (wait for its reply, or until the deadline) or has just failed; `Exhausted` without, past
    /// 2^63-1; `WindowClosed`, if the section was given back, or another allocator has it.
    pub fn next(&mut self, user: Integer, now_ms: u64) -> Result<Next<u64, Record>, Error> {
        if let Some(error) = self.over {
            return Err(error);
        }
        let place = self.record.users.place(user)?;
        let Some(last) = self.memory.as_mut().get_mut(place) else {
            return Err(user.refused(What::User, 0));
        };
        let base = if mutant::removes("base") { 0 } else { self.base };
        let number = base.max(*last).saturating_add(1);
        let durable = number <= self.record.max_seq || mutant::removes("durable");
        if durable && self.tenure.holds(now_ms) {
            *last = number;
            return Ok(Next::Done(number));
        }
        if !durable && self.record.max_seq == LAST {
            return Err(Error::plain(What::NumbersOver));
        }
        let raise = if durable { 0 } else { self.step };
        self.ask(raise, now_ms).map(Next::Ask)
    }

    /// What to ask to keep the section, if it is time: half a window passed since the last renewal. Each write is one.
    ///
    /// # Errors
    /// `WindowClosed`, if the section was given back, or another allocator has it.
    pub fn renew(&mut self, now_ms: u64) -> Result<Option<Ask<Record>>, Error> {
        match self.over {
            Some(error) => Err(error),
            None if self.tenure.is_due(now_ms) => Ok(self.ask(0, now_ms).ok()),
            None => Ok(None),
        }
    }

    /// Ends it for good, and tells what to write so that a successor need not wait. Its reply matters to nobody.
    ///
    /// `None`, if the section is lost, or a request is under way or has failed.
    pub fn release(&mut self) -> Option<Ask<Record>> {
        let open = self.over.replace(Error::closed()).is_none();
        if !open || self.asked.is_some() || self.unread {
            return None;
        }
        let record = Record { released: true, renewals: self.renewals.saturating_add(1), ..self.record };
        Some(Ask::Write(record, self.version))
    }

    /// One request at a time: to read, if what is there is not known, or to write.
    fn ask(&mut self, raise: u64, now_ms: u64) -> Result<Ask<Record>, Error> {
        if self.asked.is_some() {
            return Err(Error::numbers_dry(1));
        }
        if now_ms < self.retry_at_ms {
            return Err(Error::numbers_dry(self.retry_at_ms - now_ms));
        }
        if self.unread {
            self.asked = Some(Asked::Read);
            return Ok(Ask::Read);
        }
        self.renewals = self.renewals.saturating_add(1);
        let max_seq = self.record.max_seq.saturating_add(raise).min(LAST);
        let record = Record { max_seq, renewals: self.renewals, ..self.record };
        self.asked = Some(Asked::Write(record, now_ms));
        Ok(Ask::Write(record, self.version))
    }

    /// Takes in what came of a request: the reply to what was asked last, or `Unknown` for one that will not come.
    ///
    /// A write without an answer counts when it is seen to be there. A reply that nothing was asked for does nothing.
    ///
    /// # Errors
    /// `WindowClosed`, if another allocator has the section: nothing more is handed out.
    pub fn reply(&mut self, reply: Reply<Record>, now_ms: u64) -> Result<(), Error> {
        let Some(asked) = self.asked.take() else { return Ok(()) };
        match (asked, reply) {
            (Asked::Write(record, sent_ms), Reply::Written(version)) => self.keep(record, version, Some(sent_ms)),
            // It may be an earlier write of its own that came in between.
            (Asked::Write(..), Reply::Conflict) if self.doubt.is_some() => self.unread = true,
            (Asked::Write(record, sent_ms), Reply::Conflict) if mutant::removes("fence") => {
                self.keep(record, self.version, Some(sent_ms));
            }
            (Asked::Read, Reply::Record(Some(found), version)) if found.token == self.record.token => {
                let sent_ms = self.doubt.filter(|(record, _)| *record == found).map(|(_, sent_ms)| sent_ms);
                if version == self.version {
                    self.unread = false;
                } else {
                    self.keep(found, version, sent_ms);
                }
            }
            (Asked::Write(..), Reply::Conflict) | (Asked::Read, Reply::Record(..)) => return self.lose(),
            (Asked::Write(record, sent_ms), _) => {
                self.doubt = Some((record, sent_ms));
                self.unread = true;
                self.retry_at_ms = now_ms.saturating_add(RETRY_MS);
            }
            (Asked::Read, _) => self.retry_at_ms = now_ms.saturating_add(RETRY_MS),
        }
        Ok(())
    }

    /// A write is done, so none that was sent before it, or beside it, can be done any more.
    fn keep(&mut self, record: Record, version: Version, sent_ms: Option<u64>) {
        self.record = record;
        self.version = version;
        if sent_ms.is_some() {
            self.tenure = Tenure::new(sent_ms, self.record.window_ms);
        }
        self.doubt = None;
        self.unread = false;
        self.retry_at_ms = 0;
    }

    #[cold]
    fn lose(&mut self) -> Result<(), Error> {
        let error = Error::plain(What::SectionLost);
        self.over = Some(error);
        Err(error)
    }
}
