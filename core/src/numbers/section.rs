//! Per-user sequences: a section of neighbouring users shares one durable `max_seq`.
//!
//! The design follows `WeChat`'s seqsvr, with an explicit fence. Each user has a number in memory, and the next
//! number is one more. No number above `max_seq` is handed out before a larger `max_seq` is durable. An allocator that
//! takes a section over, or restarts, continues from `max_seq` for every user. So no number is handed out twice, and
//! 100,000 users need one record in the store.
//!
//! | part | purpose |
//! | --- | --- |
//! | [`Users`] | the users of a section |
//! | [`Record`] | the record of a section in the store |
//! | [`Claim`] | takes a section over |
//! | [`Section`] | hands out numbers, renews the section, gives it back |
//! | [`Memory`] | the last number of each user |
//! | [`Tenure`], [`Watch`] | how long a holder may hand out numbers, and a successor waits |
//! | [`Elsewhere`], [`HeldBy`] | another holder, as a claim sees it |
//!
//! **Unique**: each write of a holder replaces the version that the holder knows. Once another allocator has written,
//! all writes of the old holder fail. It stays at its old `max_seq`, where the new holder begins. **Increasing**, for
//! each user over all allocators: [`Tenure`] and [`Watch`] ensure this, with an assumption about clocks.
//!
//! All parts are pure. A driver passes the time, in ms of a clock that never steps, and sends the requests to the
//! store:
//!
//! ```
//! use snowmint_core::section::{Claim, Claimed, Record, SIZE, STEP, Section, Terms, Users};
//! use snowmint_core::store::{Ask, Next, Reply};
//! use snowmint_core::{Error, Integer, bytes};
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
//! let label = bytes::label("allocator 1");
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
//! // Eight bytes per user; zeroed memory costs nothing before its first use.
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
//! Sources: `WeChat`'s article on seqsvr (2016), and the rules of [`lease`](crate::lease).

use crate::error::{Error, What};
use crate::int::Integer;
use crate::mutant;
use crate::numbers::segment::{LAST, RETRY_MS};
use crate::store::{Ask, Next, Reply, Version};

mod claim;
mod elsewhere;
mod memory;
mod pace;
mod record;
mod tenure;

pub use self::claim::{Claim, Claimed, Held, STEP, Terms};
pub use self::elsewhere::{Elsewhere, HeldBy};
pub use self::memory::{Memory, refuse_little_memory};
pub use self::pace::{
    CLAIM_RETRY_MS, MAX_SECTIONS, NoRoom, ROOM_AFTER_MS, ROOM_RETRY_MS, WINDOW_MS, call_ms, idle_ms, keep_ms, look_ms,
    patience_ms,
};
pub use self::record::{MAX_SIZE, MEMORY_BYTES, MIN_MEMORY_BYTES, RECORD_BYTES, Record, SIZE, Users};
pub use self::tenure::{Tenure, Watch};

#[derive(Clone, Copy, Debug)]
enum Asked {
    Read,
    /// The record, and the time when the write was sent.
    Write(Record, u64),
}

/// A section that this allocator holds. See the [module](self).
///
/// The memory `M` has the last number of each user. A slice, such as `Vec<u64>` or `&mut [u64]`, is either all zero, or
/// the memory of an earlier holder of the same section; numbers below the `max_seq` of the take-over count as that
/// `max_seq`. A forked child must drop its sections, or it repeats its parent's numbers.
#[derive(Debug)]
pub struct Section<M> {
    memory: M,
    /// No number of any user was higher: `max_seq` at the take-over, or when the users were last forgotten.
    base: u64,
    step: u64,
    /// The last record that is known to be in the store.
    record: Record,
    version: Version,
    tenure: Tenure,
    /// The number of writes that were sent, or may have been sent, over all holders.
    renewals: u64,
    /// The request without a reply yet.
    asked: Option<Asked>,
    /// A write whose reply was lost, and when it was sent. The store may still carry it out.
    doubt: Option<(Record, u64)>,
    /// Whether the record must be read before the next write.
    unread: bool,
    /// No request is sent before this time.
    retry_at_ms: u64,
    /// Why no more numbers are handed out.
    over: Option<Error>,
}

impl<M: Memory> Section<M> {
    /// Makes a section that was just taken over, with memory for its users.
    #[allow(clippy::needless_pass_by_value, reason = "one take-over makes one section")]
    pub fn new(held: Held, memory: M) -> Self {
        let Held { record, version, tenure, step } = held;
        let mut section = Self {
            memory,
            base: 0,
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
        };
        section.forget();
        section
    }

    /// Returns the memory of the users.
    pub const fn memory(&self) -> &M {
        &self.memory
    }

    /// Forgets the last numbers of all users, so that their memory can be used for others. The next number of each user is
    /// above `max_seq`, as after a take-over.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::section::{Claim, Claimed, SIZE, STEP, Section, Terms, Users};
    /// use snowmint_core::store::{Ask, Next, Reply};
    /// use snowmint_core::{Integer, bytes};
    /// # let users = Users::of(Integer::from(42), SIZE)?;
    /// # let terms = Terms::new(users, 1, Integer::from(STEP), 10_000, bytes::label("allocator 1"))?;
    /// # let mut claim = Claim::new(terms);
    /// # claim.next(Some(Reply::Record(None, 0)), 0)?;
    /// # let Next::Done(Claimed::Held(held)) = claim.next(Some(Reply::Written(1)), 0)? else { panic!("held") };
    /// // `held` is a section that was just taken over.
    /// let mut section = Section::new(held, vec![0; SIZE.get() as usize]);
    /// let Next::Ask(Ask::Write(..)) = section.next(Integer::from(42), 0)? else { panic!("max_seq is 0") };
    /// section.reply(Reply::Written(2), 0)?;
    /// assert_eq!(section.next(Integer::from(42), 0)?, Next::Done(1));
    /// section.forget();
    /// let Next::Ask(Ask::Write(..)) = section.next(Integer::from(42), 0)? else { panic!("max_seq is 10,000") };
    /// section.reply(Reply::Written(3), 0)?;
    /// assert_eq!(section.next(Integer::from(42), 0)?, Next::Done(10_001));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn forget(&mut self) {
        self.base = if mutant::removes("base") { 0 } else { self.record.max_seq };
        self.memory.forget(self.base);
    }

    /// Returns the users.
    pub const fn users(&self) -> Users {
        self.record.users
    }

    /// Returns the last record that is known to be in the store.
    pub const fn record(&self) -> &Record {
        &self.record
    }

    /// Returns the next number of a user: one more than the user's last number, or than `max_seq` at the take-over.
    ///
    /// Read `now_ms` after the user's request has arrived, and again for each call. On [`Next::Ask`] send the request
    /// to the store, pass the reply to [`Section::reply`], and call again. Other users can be served meanwhile.
    ///
    /// # Errors
    /// - `InvalidId` for a user of another section.
    /// - `Exhausted` with a time to retry, if the call needs the store while another request is under way (wait for its
    ///   reply, or until the deadline), or just after a request has failed, and if the memory has no room for this
    ///   user.
    /// - `Exhausted` without a time past 2^63-1.
    /// - `WindowClosed`, if the section was given back, or another allocator has it.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::section::{Claim, Claimed, SIZE, STEP, Section, Terms, Users};
    /// use snowmint_core::store::{Ask, Next, Reply};
    /// use snowmint_core::{Integer, bytes};
    /// # let users = Users::of(Integer::from(42), SIZE)?;
    /// # let terms = Terms::new(users, 1, Integer::from(STEP), 10_000, bytes::label("allocator 1"))?;
    /// # let mut claim = Claim::new(terms);
    /// # claim.next(Some(Reply::Record(None, 0)), 0)?;
    /// # let Next::Done(Claimed::Held(held)) = claim.next(Some(Reply::Written(1)), 0)? else { panic!("held") };
    /// // `held` is a section of 100,000 users that was just taken over.
    /// let mut section = Section::new(held, vec![0; SIZE.get() as usize]);
    /// let Next::Ask(ask) = section.next(Integer::from(42), 0)? else { panic!("max_seq is 0") };
    /// assert!(matches!(ask, Ask::Write(record, 1) if record.max_seq == 10_000));
    /// section.reply(Reply::Written(2), 0)?;
    /// assert_eq!(section.next(Integer::from(42), 0)?, Next::Done(1));
    /// assert_eq!(section.next(Integer::from(42), 0)?, Next::Done(2));
    /// assert!(section.next(Integer::from(100_000), 0).is_err(), "a user of the next section");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn next(&mut self, user: Integer, now_ms: u64) -> Result<Next<u64, Record>, Error> {
        if let Some(error) = self.over {
            return Err(error);
        }
        let (place, last) = self.known(user)?;
        let mut number = self.base.max(last).saturating_add(1);
        if number - self.base > M::REACH {
            self.forget();
            number = self.base.saturating_add(1);
        }
        let durable = number <= self.record.max_seq || mutant::removes("durable");
        if durable && self.tenure.holds(now_ms) {
            if !self.memory.keep(place, number) {
                return Err(Error::new(What::UsersFull, 0, RETRY_MS, 0));
            }
            return Ok(Next::Done(number));
        }
        if !durable && self.record.max_seq == LAST {
            return Err(Error::new(What::NumbersOver, 0, LAST, 0));
        }
        let raise = if durable { 0 } else { self.step };
        self.ask(raise, now_ms).map(Next::Ask)
    }

    /// Returns the last number of a user, and takes none. `None` if the user got none since the take-over, or since
    /// [`Section::forget`]: a record has no number of a single user.
    ///
    /// Call it as [`Section::next`].
    ///
    /// # Errors
    /// As [`Section::next`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::section::{Claim, Claimed, SIZE, STEP, Section, Terms, Users};
    /// use snowmint_core::store::{Ask, Next, Reply};
    /// use snowmint_core::{Integer, bytes};
    /// # let users = Users::of(Integer::from(42), SIZE)?;
    /// # let terms = Terms::new(users, 1, Integer::from(STEP), 10_000, bytes::label("allocator 1"))?;
    /// # let mut claim = Claim::new(terms);
    /// # claim.next(Some(Reply::Record(None, 0)), 0)?;
    /// # let Next::Done(Claimed::Held(held)) = claim.next(Some(Reply::Written(1)), 0)? else { panic!("held") };
    /// // `held` is a section that was taken over at the time 0, with windows of 10 s.
    /// let mut section = Section::new(held, vec![0; SIZE.get() as usize]);
    /// assert_eq!(section.last(Integer::from(42), 0)?, Next::Done(None));
    /// let Next::Ask(_) = section.next(Integer::from(42), 0)? else { panic!("max_seq is 0") };
    /// section.reply(Reply::Written(2), 0)?;
    /// assert_eq!(section.next(Integer::from(42), 0)?, Next::Done(1));
    /// assert_eq!(section.last(Integer::from(42), 0)?, Next::Done(Some(1)));
    /// // Another allocator could have the section by now.
    /// assert!(matches!(section.last(Integer::from(42), 8000)?, Next::Ask(Ask::Write(..))));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn last(&mut self, user: Integer, now_ms: u64) -> Result<Next<Option<u64>, Record>, Error> {
        if let Some(error) = self.over {
            return Err(error);
        }
        let (_, last) = self.known(user)?;
        if self.tenure.holds(now_ms) {
            return Ok(Next::Done(Some(last).filter(|last| *last > self.base)));
        }
        self.ask(0, now_ms).map(Next::Ask)
    }

    /// Returns the place of a user, and the number in memory.
    fn known(&mut self, user: Integer) -> Result<(usize, u64), Error> {
        let place = self.record.users.place(user)?;
        let last = self.memory.last(place).ok_or_else(|| user.refused(What::User, 0))?;
        Ok((place, last))
    }

    /// Returns the request that renews the section, if half a window has passed since the last write.
    ///
    /// # Errors
    /// `WindowClosed`, if the section was given back, or another allocator has it.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::section::{Claim, Claimed, SIZE, STEP, Section, Terms, Users};
    /// use snowmint_core::store::{Ask, Next, Reply};
    /// use snowmint_core::{Integer, bytes};
    /// # let users = Users::of(Integer::from(42), SIZE)?;
    /// # let terms = Terms::new(users, 1, Integer::from(STEP), 10_000, bytes::label("allocator 1"))?;
    /// # let mut claim = Claim::new(terms);
    /// # claim.next(Some(Reply::Record(None, 0)), 0)?;
    /// # let Next::Done(Claimed::Held(held)) = claim.next(Some(Reply::Written(1)), 0)? else { panic!("held") };
    /// // `held` is a section that was taken over at the time 0, with windows of 10 s.
    /// let mut section = Section::new(held, vec![0; SIZE.get() as usize]);
    /// assert_eq!(section.renew(4999)?, None);
    /// assert!(matches!(section.renew(5000)?, Some(Ask::Write(_, 1))));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn renew(&mut self, now_ms: u64) -> Result<Option<Ask<Record>>, Error> {
        match self.over {
            Some(error) => Err(error),
            None if self.tenure.is_due(now_ms) => Ok(self.ask(0, now_ms).ok()),
            None => Ok(None),
        }
    }

    /// Closes the section for good. Returns the write that frees the section, so that a successor need not wait; its
    /// reply can be ignored.
    ///
    /// Returns `None`, if the section is lost, or a request is under way or has failed.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::section::{Claim, Claimed, SIZE, STEP, Section, Terms, Users};
    /// use snowmint_core::store::{Ask, Next, Reply};
    /// use snowmint_core::{Integer, bytes};
    /// # let users = Users::of(Integer::from(42), SIZE)?;
    /// # let terms = Terms::new(users, 1, Integer::from(STEP), 10_000, bytes::label("allocator 1"))?;
    /// # let mut claim = Claim::new(terms);
    /// # claim.next(Some(Reply::Record(None, 0)), 0)?;
    /// # let Next::Done(Claimed::Held(held)) = claim.next(Some(Reply::Written(1)), 0)? else { panic!("held") };
    /// // `held` is a section that was just taken over.
    /// let mut section = Section::new(held, vec![0; SIZE.get() as usize]);
    /// assert!(matches!(section.release(), Some(Ask::Write(record, 1)) if record.released));
    /// assert!(section.next(Integer::from(42), 0).is_err(), "closed for good");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn release(&mut self) -> Option<Ask<Record>> {
        let open = self.over.replace(Error::closed()).is_none();
        if !open || self.asked.is_some() || self.unread {
            return None;
        }
        let record = Record { released: true, renewals: self.renewals.saturating_add(1), ..self.record };
        Some(Ask::Write(record, self.version))
    }

    /// Returns the next request: a read if the present record is not known, otherwise a write. Fails while another
    /// request is under way.
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

    /// Processes the reply to the last request; `Unknown`, if no reply will come.
    ///
    /// A write without a reply counts as done when a later read finds it. A reply without a request does nothing.
    ///
    /// # Errors
    /// `WindowClosed`, if another allocator has the section: no more numbers are handed out.
    pub fn reply(&mut self, reply: Reply<Record>, now_ms: u64) -> Result<(), Error> {
        let Some(asked) = self.asked.take() else { return Ok(()) };
        match (asked, reply) {
            (Asked::Write(record, sent_ms), Reply::Written(version)) => self.keep(record, version, Some(sent_ms)),
            // The conflict may come from an earlier write of this allocator.
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

    /// Notes a write that is done. No write that was sent before it or beside it can be done any more.
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
