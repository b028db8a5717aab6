//! Segments: ranges of numbers fetched from a counter in a store and handed out from memory, two at a time.
//!
//! Leaf's double buffer. While one range is handed out, the next is fetched, so callers seldom wait for the store. The
//! counter is raised before any of its numbers is handed out, so none is handed out twice, whatever becomes of requests
//! and their answers; what was fetched by a request without an answer, or not used before the end, is left out.
//!
//! | part | what it is | who has it |
//! | --- | --- | --- |
//! | [`Range`] | the numbers that are handed out now: three atomic words | all threads |
//! | [`Segment`] | what is fetched, when, and how much | one at a time, under a lock |
//! | [`Pacer`] | the step that adapts itself | the segment |
//!
//! [`Segment`] is pure. Who drives it tells the time, in ms of a clock that never steps, and asks the store:
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
//! After [`Range::take`] a look at [`Range::is_due`] tells when to lock the segment, and to have
//! [`Segment::prefetch`] done in the background.
//!
//! Sources: `Meituan-Dianping/Leaf` (`SegmentIDGenImpl`), `didi/tinyid`, `Ahoo-Wang/CosId`.

use core::convert::Infallible;
use core::ops;

use crate::error::{Error, What};
use crate::int::Integer;
use crate::mutant;
use crate::store::{Ask, Next, Reply};

mod pacer;
mod range;

use self::pacer::Pace;
pub use self::pacer::{LONG_MS, MAX_DEPTH, MAX_DOUBLED_STEP, MAX_STEP, Pacer, SHORT_MS};
pub use self::range::Range;

/// The last value of a counter, and the last number: columns are signed.
pub const LAST: u64 = i64::MAX as u64;
/// The next range is fetched when one part in so many is used of the present one.
pub const PREFETCH_PART: u64 = 10;
/// After a fetch without an answer there is none for so long, in ms.
pub const RETRY_MS: u64 = 100;

/// Which numbers a counter's value stands for after a fetch of `n` has raised it to `sum`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bounds {
    /// `[sum - n, sum)`: the counter is the next number. Leaf's `leaf_alloc.max_id`.
    Below,
    /// `(sum - n, sum]`: the counter is the last number. Tinyid's `tiny_id_info.max_id`, and a counter that begins at 0
    /// for numbers that begin at 1.
    UpTo,
}

impl Bounds {
    /// The first number after a counter's value.
    const fn after(self, counter: u64) -> u64 {
        match self {
            Self::Below => counter,
            Self::UpTo => counter + 1,
        }
    }
}

/// The double buffer of one counter. See the [module](self).
///
/// It belongs to one [`Range`]. In a forked child, where that range is wiped, it forgets what its parent fetched.
#[derive(Debug)]
pub struct Segment {
    pacer: Pacer,
    bounds: Bounds,
    /// Numbers that come next.
    next: Option<ops::Range<u64>>,
    /// The fetch under way, and how many numbers it asks for.
    asked: Option<(Pace, u64)>,
    /// The most numbers of a fetch.
    most: u64,
    /// So many that follow each other were asked for, and not had, since the last fetch began.
    wanted: u64,
    /// The counter when it was last seen: everything after it is new.
    counter: u64,
    /// Whether the counter had no room for a fetch: where it stands is to be looked at before the next one.
    full: bool,
    /// No fetch before this.
    retry_at_ms: u64,
    /// Why nothing is handed out any more.
    over: Option<Error>,
}

impl Segment {
    /// A double buffer that is empty. The step is the configured one, in numbers.
    ///
    /// # Errors
    /// `InvalidId`, if the step is not 1 to [`MAX_STEP`].
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
            }),
            Err(error) => Err(error),
        }
    }

    /// From now on no fetch asks for more than that, 1 or more.
    pub fn limit(&mut self, most: u64) {
        self.most = most.max(1);
    }

    /// Follows a configured step that has changed.
    ///
    /// # Errors
    /// `InvalidId`, if it is not 1 to [`MAX_STEP`].
    pub fn configure(&mut self, step: Integer) -> Result<(), Error> {
        self.pacer.configure(step)
    }

    /// Gets a range that was found dry numbers again: from those that are fetched, or by asking the store.
    ///
    /// `Done` means to take again. Who is told to ask has to tell the outcome to [`Segment::reply`].
    ///
    /// # Errors
    /// `Exhausted`, with a time to retry, while a fetch is under way (wait for its reply, or until the deadline) or has
    /// just failed; `Exhausted` without, if the counter ends; `WindowClosed`, if the segment is closed;
    /// `StoreUnavailable`, if the counter went back.
    pub fn refill(&mut self, range: &Range, now_ms: u64) -> Result<Next<(), Infallible>, Error> {
        self.refill_block(range, 1, now_ms)
    }

    /// As [`Segment::refill`], for a range that has not `count` numbers (1 or more) that follow each other: what is left in
    /// front of a gap is left out, so that later numbers stay higher.
    ///
    /// # Errors
    /// As [`Segment::refill`]; `Exhausted` without a time to retry also, if the counter ends before.
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
                return Err(Error::plain(What::NumbersOver));
            }
            self.wanted = self.wanted.max(count);
        }
        self.pacer.hunger();
        self.ask(range, now_ms).map(Next::Ask)
    }

    /// What to ask the store before the range is dry, if it is time: a tenth is used, and nothing is fetched yet.
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

    /// At most one fetch is under way.
    fn ask(&mut self, range: &Range, now_ms: u64) -> Result<Ask<Infallible>, Error> {
        if self.asked.is_some() {
            return Err(Error::numbers_dry(1));
        }
        let room = LAST - self.counter;
        if room == 0 {
            return Err(Error::plain(What::NumbersOver));
        }
        if now_ms < self.retry_at_ms {
            return Err(Error::numbers_dry(self.retry_at_ms - now_ms));
        }
        let pace = self.pacer.pace(now_ms);
        // Others take while a block is fetched.
        let amount = if self.full { 0 } else { pace.amount().saturating_add(self.wanted).min(room).min(self.most) };
        self.wanted = 0;
        self.pacer.begin();
        self.asked = Some((pace, amount));
        range.set_due(false);
        Ok(Ask::Add(amount))
    }

    /// Takes in what came of a fetch: the reply to what was asked last, or `Unknown` for one that will not come.
    ///
    /// Numbers that are fetched come after those at hand. After `Full` the segment looks where the counter stands, and
    /// then asks for what is left. Without an answer the counter may have been raised or not: a
    /// gap. A reply that nothing was asked for does nothing.
    ///
    /// # Errors
    /// `StoreUnavailable`, if the counter is lower than it was, as after a restore from a backup: others may have had
    /// any number since, so nothing more is handed out, until there is a new segment. `Exhausted` beyond 2^63-1.
    pub fn reply(&mut self, range: &Range, reply: Reply<Infallible>, now_ms: u64) -> Result<(), Error> {
        let Some((pace, amount)) = self.asked.take() else { return Ok(()) };
        if matches!(reply, Reply::Full) {
            // What is left there is for the next fetch.
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
            return Err(Error::plain(What::NumbersOver));
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

    /// Ends it for good, and tells which rest of the numbers can be given back, if any: as values of the counter.
    ///
    /// The store may set its counter from the end of the rest to its start, if it still has that end, in one
    /// transaction. That must be tried once only: repeated, it could meet the same value again, of somebody else.
    pub fn close(&mut self, range: &Range) -> Option<ops::Range<u64>> {
        let open = self.over.replace(Error::closed()).is_none() && !range.is_wiped();
        let (left, next) = (range.close(), self.next.take());
        let end = self.bounds.after(self.counter);
        let rest = match next {
            Some(next) if left.is_empty() || left.end != next.start => next,
            Some(next) => left.start..next.end,
            None => left,
        };
        let first = self.bounds.after(0);
        if open && !rest.is_empty() && rest.end == end { Some(rest.start - first..rest.end - first) } else { None }
    }
}
