//! Segments: ranges of numbers fetched from a counter in a store and handed out from memory, two at a time.
//!
//! This is Leaf's double buffer. While callers take numbers from one range, the driver fetches the next, so callers
//! seldom wait for the store. The store raises the counter before any of the numbers is handed out, so no number is
//! handed out twice, even if requests or replies are lost. Numbers of a lost reply, and numbers that are unused at the
//! end, are skipped.
//!
//! | part | purpose | used by |
//! | --- | --- | --- |
//! | [`Range`] | the numbers to hand out now: three atomic words | all threads |
//! | [`Segment`] | decides when to fetch numbers, and how many | one thread at a time, under a lock |
//! | [`Pacer`] | the step, which adapts to the load | the segment |
//!
//! [`Segment`] is pure. A driver passes the time, in ms of a clock that never steps, and sends the requests to the
//! store:
//!
//! ```
//! use snowmint_core::segment::{Bounds, Range, Segment};
//! use snowmint_core::store::{Ask, Next, Reply};
//! use snowmint_core::{Error, Integer};
//!
//! // A row of leaf_alloc: max_id 1, step 2000.
//! let mut max_id = 1;
//! let range = Range::wiped();
//! let mut segment = Segment::new(Integer::from(2000), Bounds::Below)?;
//!
//! let mut next = |now_ms| -> Result<u64, Error> {
//!     loop {
//!         if let Some(number) = range.take() {
//!             return Ok(number);
//!         }
//!         if let Next::Ask(Ask::Add(amount)) = segment.refill(&range, now_ms)? {
//!             // UPDATE leaf_alloc SET max_id = max_id + ? and SELECT max_id, in one transaction.
//!             max_id += amount;
//!             segment.reply(&range, Reply::Sum(max_id), now_ms)?;
//!         }
//!     }
//! };
//! assert_eq!(next(0)?, 1);
//! assert_eq!(next(0)?, 2);
//! # Ok::<(), snowmint_core::Error>(())
//! ```
//!
//! If [`Range::is_due`] returns true after [`Range::take`], lock the segment and run [`Segment::prefetch`] in the
//! background.
//!
//! Sources: `Meituan-Dianping/Leaf` (`SegmentIDGenImpl`), `didi/tinyid`, `Ahoo-Wang/CosId`.

use core::convert::Infallible;
use core::ops;

use crate::error::{Error, What};
use crate::int::Integer;
use crate::mutant;
use crate::store::{Ask, Next, Reply};

mod bounds;
mod pacer;
mod range;
mod tag;

pub use self::bounds::{Bounds, LAST, block};
use self::pacer::Pace;
pub use self::pacer::{LONG_MS, MAX_DEPTH, MAX_DOUBLED_STEP, MAX_STEP, Pacer, SHORT_MS};
pub use self::range::{PREFETCH_PART, Range};
pub use self::tag::TagRecord;

/// The pause after a fetch without a reply, in ms.
pub const RETRY_MS: u64 = 100;
/// How many numbers a single thread takes at once, so that most of its calls need no atomic operation.
pub const RUN_NUMBERS: u64 = 256;
/// How long a driver waits for a request that no host answers any more, in ms: then it asks again. An edge runtime ends requests
/// with the call in which they began.
pub const DOUBT_MS: u64 = 15_000;
/// How often a driver reads the configured step of a tag again, in ms.
pub const REREAD_MS: u64 = 60_000;

/// The double buffer of one counter. See the [module](self).
///
/// It belongs to one [`Range`]. In a forked child, where that range is wiped, it forgets the numbers of its parent.
#[derive(Debug)]
pub struct Segment {
    pacer: Pacer,
    bounds: Bounds,
    /// The numbers to hand out after the range.
    next: Option<ops::Range<u64>>,
    /// The fetch under way, and its number of numbers.
    asked: Option<(Pace, u64)>,
    /// The largest number of numbers in a fetch.
    most: u64,
    /// The largest block of consecutive numbers that a caller missed since the last fetch began.
    wanted: u64,
    /// The last known value of the counter: all numbers after it are new.
    counter: u64,
    /// Whether the counter had no room for the last fetch: the next fetch reads the counter.
    full: bool,
    /// No fetch begins before this time.
    retry_at_ms: u64,
    /// Why no more numbers are handed out.
    over: Option<Error>,
    /// The unused numbers of the range, from the first close until the reply to the fetch under way.
    left: Option<ops::Range<u64>>,
}

impl Segment {
    /// Makes an empty double buffer. `step` is the configured step, in numbers.
    ///
    /// # Errors
    /// `InvalidId`, if the step is not 1 to [`MAX_STEP`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// use snowmint_core::segment::{Bounds, Segment};
    /// assert!(Segment::new(Integer::from(2000), Bounds::Below).is_ok());
    /// assert!(Segment::new(Integer::from(0), Bounds::Below).is_err());
    /// ```
    pub const fn new(step: Integer, bounds: Bounds) -> Result<Self, Error> {
        match Pacer::new(step) {
            Ok(pacer) => Ok(Self {
                pacer,
                bounds,
                next: None,
                asked: None,
                most: u64::MAX,
                wanted: 0,
                counter: 0,
                full: false,
                retry_at_ms: 0,
                over: None,
                left: None,
            }),
            Err(error) => Err(error),
        }
    }

    /// The error at the end of the counter.
    const fn numbers_over(&self) -> Error {
        // Below its value, or up to it.
        Error::new(What::NumbersOver, 0, self.bounds.after(LAST) - 1, 0)
    }

    /// Limits later fetches to this number of numbers, 1 or more.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// use snowmint_core::segment::{Bounds, Range, Segment};
    /// use snowmint_core::store::{Ask, Next};
    /// let (range, mut segment) = (Range::wiped(), Segment::new(Integer::from(2000), Bounds::UpTo)?);
    /// segment.limit(500);
    /// assert_eq!(segment.refill(&range, 0)?, Next::Ask(Ask::Add(500)));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn limit(&mut self, most: u64) {
        self.most = most.max(1);
    }

    /// Changes the configured step.
    ///
    /// # Errors
    /// `InvalidId`, if the step is not 1 to [`MAX_STEP`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// use snowmint_core::segment::{Bounds, Range, Segment};
    /// use snowmint_core::store::{Ask, Next};
    /// let (range, mut segment) = (Range::wiped(), Segment::new(Integer::from(10), Bounds::UpTo)?);
    /// segment.configure(Integer::from(50))?;
    /// assert_eq!(segment.refill(&range, 0)?, Next::Ask(Ask::Add(50)));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn configure(&mut self, step: Integer) -> Result<(), Error> {
        self.pacer.configure(step)
    }

    /// Refills an empty range, from numbers that are fetched already or by a request to the store.
    ///
    /// On `Done` take again. On `Ask` send the request to the store, and pass the reply to [`Segment::reply`].
    ///
    /// # Errors
    /// `Exhausted` with a time to retry, while a fetch is under way (wait for its reply, or until the deadline) or has
    /// just failed; `Exhausted` without a time, if the counter ends; `WindowClosed`, if the segment is closed;
    /// `StoreUnavailable`, if the counter went back.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// use snowmint_core::segment::{Bounds, Range, Segment};
    /// use snowmint_core::store::{Ask, Next, Reply};
    /// let (range, mut segment) = (Range::wiped(), Segment::new(Integer::from(10), Bounds::UpTo)?);
    /// assert_eq!(segment.refill(&range, 0)?, Next::Ask(Ask::Add(10)));
    /// // While the fetch is under way, a second caller waits.
    /// assert!(segment.refill(&range, 0).is_err());
    /// segment.reply(&range, Reply::Sum(10), 0)?;
    /// assert_eq!(segment.refill(&range, 0)?, Next::Done(()));
    /// assert_eq!(range.take_run(100), 1..11);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn refill(&mut self, range: &Range, now_ms: u64) -> Result<Next<(), Infallible>, Error> {
        self.refill_block(range, 1, now_ms)
    }

    /// Works as [`Segment::refill`], for a range with fewer than `count` consecutive numbers (1 or more). It skips the
    /// numbers in front of a gap, so that later numbers stay higher.
    ///
    /// # Errors
    /// As [`Segment::refill`]; also `Exhausted` without a time to retry, if the counter has no room for `count`
    /// numbers.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// use snowmint_core::segment::{Bounds, Range, Segment};
    /// use snowmint_core::store::{Ask, Next, Reply};
    /// let (range, mut segment) = (Range::wiped(), Segment::new(Integer::from(10), Bounds::UpTo)?);
    /// // The block of 25 numbers, and a step for other callers.
    /// assert_eq!(segment.refill_block(&range, 25, 0)?, Next::Ask(Ask::Add(35)));
    /// segment.reply(&range, Reply::Sum(35), 0)?;
    /// assert_eq!(segment.refill_block(&range, 25, 0)?, Next::Done(()));
    /// assert_eq!(range.take_block(25), Some(1..26));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn refill_block(&mut self, range: &Range, count: u64, now_ms: u64) -> Result<Next<(), Infallible>, Error> {
        if let Some(error) = self.over {
            return Err(error);
        }
        self.look(range);
        if range.left() >= count {
            return Ok(Next::Done(()));
        }
        if let Some(next) = self.next.take() {
            if !range.extend(&next) {
                range.fill(&next);
            }
            if range.left() >= count {
                return Ok(Next::Done(()));
            }
        }
        if count > 1 {
            if count > self.most.min(LAST - self.counter) {
                return Err(self.numbers_over());
            }
            self.wanted = self.wanted.max(count);
        }
        self.pacer.hunger();
        self.ask(range, now_ms).map(Next::Ask)
    }

    /// Takes a run of up to `most` numbers that has at least `least`, after [`Segment::refill_block`].
    ///
    /// # Errors
    /// As [`Segment::refill_block`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// use snowmint_core::segment::{Bounds, Range, Segment};
    /// use snowmint_core::store::{Ask, Next, Reply};
    /// let (range, mut segment) = (Range::wiped(), Segment::new(Integer::from(10), Bounds::UpTo)?);
    /// assert_eq!(segment.take(&range, 5, 1, 0)?, Next::Ask(Ask::Add(10)));
    /// segment.reply(&range, Reply::Sum(10), 0)?;
    /// assert_eq!(segment.take(&range, 5, 1, 0)?, Next::Done(1..6));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn take(
        &mut self,
        range: &Range,
        most: u64,
        least: u64,
        now_ms: u64,
    ) -> Result<Next<ops::Range<u64>, Infallible>, Error> {
        loop {
            if let Next::Ask(ask) = self.refill_block(range, least, now_ms)? {
                return Ok(Next::Ask(ask));
            }
            // Other threads may have been faster.
            if let Some(run) = range.take_between(least, most) {
                return Ok(Next::Done(run));
            }
        }
    }

    /// Returns the request for the next range ahead of need, if a tenth of the present range is used and no next range
    /// is fetched.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// use snowmint_core::segment::{Bounds, Range, Segment};
    /// use snowmint_core::store::{Ask, Reply};
    /// let (range, mut segment) = (Range::wiped(), Segment::new(Integer::from(10), Bounds::UpTo)?);
    /// segment.refill(&range, 0)?;
    /// segment.reply(&range, Reply::Sum(10), 0)?;
    /// segment.refill(&range, 0)?;
    /// assert_eq!(segment.prefetch(&range, 0), None);
    /// range.take();
    /// assert_eq!(segment.prefetch(&range, 0), Some(Ask::Add(10)), "a tenth is used");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn prefetch(&mut self, range: &Range, now_ms: u64) -> Option<Ask<Infallible>> {
        if self.over.is_some() {
            return None;
        }
        self.look(range);
        if self.next.is_some() || !range.is_due() { None } else { self.ask(range, now_ms).ok() }
    }

    fn look(&mut self, range: &Range) {
        if range.is_wiped() {
            self.next = None;
            self.asked = None;
            range.fill(&(0..0));
        }
    }

    /// Begins a fetch. At most one fetch is under way.
    fn ask(&mut self, range: &Range, now_ms: u64) -> Result<Ask<Infallible>, Error> {
        if self.asked.is_some() {
            return Err(Error::numbers_dry(1));
        }
        let room = LAST - self.counter;
        if room == 0 {
            return Err(self.numbers_over());
        }
        if now_ms < self.retry_at_ms {
            return Err(Error::numbers_dry(self.retry_at_ms - now_ms));
        }
        let pace = self.pacer.pace(now_ms);
        // Other callers take numbers while a block is fetched.
        let amount = if self.full { 0 } else { pace.amount().saturating_add(self.wanted).min(room).min(self.most) };
        self.wanted = 0;
        self.pacer.begin();
        self.asked = Some((pace, amount));
        range.set_due(false);
        Ok(Ask::Add(amount))
    }

    /// Processes the reply to the last fetch; `Unknown`, if no reply will come.
    ///
    /// Fetched numbers follow the present range. After `Full` the segment reads the counter, and then fetches the rest.
    /// Without a reply the counter may have been raised or not, so a gap is possible. A reply without a request does
    /// nothing.
    ///
    /// # Errors
    /// `StoreUnavailable`, if the counter is lower than before, as after a restored backup. Other processes may have
    /// any number since then, so this segment hands out no more numbers. `Exhausted` beyond 2^63-1.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{ErrorKind, Integer};
    /// use snowmint_core::segment::{Bounds, Range, Segment};
    /// use snowmint_core::store::Reply;
    /// let (range, mut segment) = (Range::wiped(), Segment::new(Integer::from(10), Bounds::UpTo)?);
    /// segment.refill(&range, 0)?;
    /// segment.reply(&range, Reply::Unknown, 0)?;
    /// // The next fetch starts after a pause.
    /// assert_eq!(segment.refill(&range, 0).unwrap_err().retry_after_ms(), Some(100));
    /// segment.refill(&range, 100)?;
    /// // The counter may have been raised twice.
    /// segment.reply(&range, Reply::Sum(20), 100)?;
    /// segment.refill(&range, 100)?;
    /// assert_eq!(range.take(), Some(11));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn reply(&mut self, range: &Range, reply: Reply<Infallible>, now_ms: u64) -> Result<(), Error> {
        let Some((pace, amount)) = self.asked.take() else { return Ok(()) };
        if matches!(reply, Reply::Full) {
            // The next fetch reads the counter and then takes the rest.
            self.full = true;
            range.set_due(true);
            return Ok(());
        }
        let Reply::Sum(sum) = reply else {
            self.retry_at_ms = now_ms.saturating_add(RETRY_MS);
            range.set_due(true);
            return Ok(());
        };
        if sum < self.counter.saturating_add(amount) && !mutant::removes("restore") {
            let error = Error::new(What::NumbersBack, 0, self.counter, sum.saturating_sub(amount));
            self.over = Some(error);
            self.next = None;
            range.close();
            return Err(error);
        }
        if sum > LAST {
            self.counter = LAST;
            return Err(self.numbers_over());
        }
        self.counter = sum;
        if self.full {
            self.full = false;
            range.set_due(sum < LAST);
            return Ok(());
        }
        self.pacer.fetched(pace, now_ms);
        self.next = Some(self.bounds.after(sum.saturating_sub(amount))..self.bounds.after(sum));
        Ok(())
    }

    /// Closes the segment for good. Returns the unused numbers that can be given back, as values of the counter.
    ///
    /// The store may set its counter from the end of this range to its start, in one transaction, if the counter still
    /// has that end. Try it only once: later the counter may have the same value because of another process.
    ///
    /// # Errors
    /// `Exhausted` while a fetch is under way: call again after its reply, whose numbers go back too.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// use snowmint_core::segment::{Bounds, Range, Segment};
    /// use snowmint_core::store::Reply;
    /// let (range, mut segment) = (Range::wiped(), Segment::new(Integer::from(10), Bounds::UpTo)?);
    /// segment.refill(&range, 0)?;
    /// segment.reply(&range, Reply::Sum(10), 0)?;
    /// segment.refill(&range, 0)?;
    /// assert_eq!(range.take_run(4), 1..5);
    /// // The store may set its counter from 10 back to 4.
    /// assert_eq!(segment.close(&range)?, Some(4..10));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn close(&mut self, range: &Range) -> Result<Option<ops::Range<u64>>, Error> {
        let is_open = self.over.replace(Error::closed()).is_none() && !range.is_wiped();
        let left = range.close();
        if is_open {
            self.left = Some(left);
        }
        if self.left.is_some() && self.asked.is_some() {
            return Err(Error::numbers_dry(1));
        }
        let (Some(left), next) = (self.left.take(), self.next.take()) else { return Ok(None) };
        let end = self.bounds.after(self.counter);
        let rest = match next {
            Some(next) if left.is_empty() || left.end != next.start => next,
            Some(next) => left.start..next.end,
            None => left,
        };
        let first = self.bounds.after(0);
        Ok(if rest.is_empty() || rest.end != end { None } else { Some(rest.start - first..rest.end - first) })
    }
}
