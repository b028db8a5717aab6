//! A range of numbers that many threads hand out.

use core::ops;

use super::bounds::LAST;
use crate::mutant;
use crate::sync::{AtomicU64, Ordering};

/// The next range is fetched when one part of this many is used of the present range.
pub const PREFETCH_PART: u64 = 10;

/// The word of a range that is closed for good.
const CLOSED: u64 = u64::MAX;

/// Numbers `[start, end)`. Any number of threads take them, each number once, without a lock and without an allocator.
///
/// | call | returns | asks the store |
/// | --- | --- | --- |
/// | [`Range::take`] | one number | never |
/// | [`Range::take_run`] | up to `n` consecutive numbers | never |
/// | [`Range::take_block`] | `n` consecutive numbers | never |
///
/// Each call is one compare-and-swap. A `fetch_add` is not faster on one thread (both take 5.1 ns on x86-64). It would
/// also run past the end, so a range could wrap, and could not be refilled while other threads read it. Threads that
/// share a range should take runs: in runs of 64 a number costs 0.3 ns.
///
/// The words hold numbers plus one. So three zeros are a new range, or a range of the parent that a forked child sees
/// in a wiped page: it hands out no numbers, and its [`Segment`](super::Segment) starts again. An empty range is
/// [refilled](super::Segment::refill) in place. The cursor only grows, so a stalled call cannot take a number that is
/// gone.
///
/// # Examples
/// ```
/// use snowmint_core::segment::Range;
/// let range = Range::new(100..103);
/// assert_eq!(range.take(), Some(100));
/// assert_eq!(range.take_run(10), 101..103);
/// assert_eq!(range.take(), None);
/// ```
#[derive(Debug)]
#[repr(C)]
pub struct Range {
    /// The next number, plus one.
    cursor: AtomicU64,
    /// The number past the last number, plus one.
    end: AtomicU64,
    /// The cursor at which it is time to fetch the next range.
    due: AtomicU64,
}

impl Range {
    /// Makes a new range without numbers: all zero.
    #[cfg(not(loom))]
    #[allow(clippy::new_without_default, reason = "a default range would hand out no numbers")]
    pub const fn wiped() -> Self {
        Self { cursor: AtomicU64::new(0), end: AtomicU64::new(0), due: AtomicU64::new(0) }
    }

    /// Makes a new range without numbers: all zero.
    #[cfg(loom)]
    pub fn wiped() -> Self {
        Self { cursor: AtomicU64::new(0), end: AtomicU64::new(0), due: AtomicU64::new(0) }
    }

    /// Makes a range of these numbers, which no other range may have. The end is not included, and at most 2^63.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::segment::Range;
    /// assert_eq!(Range::new(100..103).left(), 3);
    /// ```
    pub fn new(numbers: ops::Range<u64>) -> Self {
        let range = Self::wiped();
        range.fill(&(numbers.start.min(LAST + 1)..numbers.end.min(LAST + 1)));
        range
    }

    /// Takes one number; `None` if the range is empty.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::segment::Range;
    /// let range = Range::new(100..101);
    /// assert_eq!((range.take(), range.take()), (Some(100), None));
    /// ```
    #[inline]
    pub fn take(&self) -> Option<u64> {
        self.advance(1, 1).map(|(first, _)| first)
    }

    /// Takes up to `n` consecutive numbers. Returns fewer, or an empty range, if no more are left.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::segment::Range;
    /// let range = Range::new(100..103);
    /// assert_eq!([range.take_run(2), range.take_run(2), range.take_run(2)], [100..102, 102..103, 0..0]);
    /// ```
    #[inline]
    pub fn take_run(&self, n: u64) -> ops::Range<u64> {
        self.advance(n, 1).map_or(0..0, |(first, count)| first..first + count)
    }

    /// Takes `n` consecutive numbers, 1 or more; `None` if the range has fewer.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::segment::Range;
    /// let range = Range::new(100..103);
    /// assert_eq!(range.take_block(4), None);
    /// assert_eq!(range.take_block(3), Some(100..103));
    /// ```
    pub fn take_block(&self, n: u64) -> Option<ops::Range<u64>> {
        self.advance(n, n).map(|(first, count)| first..first + count)
    }

    /// Takes a run of `least` to `most` consecutive numbers; `None` if the range has fewer.
    pub(super) fn take_between(&self, least: u64, most: u64) -> Option<ops::Range<u64>> {
        self.advance(most, least).map(|(first, count)| first..first + count)
    }

    /// Puts back the unused numbers of a caller's last run. Returns `false`, and does nothing, if other numbers
    /// were taken after the run.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::segment::Range;
    /// let range = Range::new(100..110);
    /// assert_eq!(range.take_run(5), 100..105);
    /// assert!(range.put_back(103..105));
    /// assert_eq!(range.take(), Some(103));
    /// assert!(!range.put_back(101..103), "103 was taken after them");
    /// ```
    pub fn put_back(&self, unused: ops::Range<u64>) -> bool {
        let (word, first) = (unused.end.saturating_add(1), unused.start.saturating_add(1));
        !unused.is_empty()
            && word != CLOSED
            && self.cursor.compare_exchange(word, first, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Returns the word that a call reads first. Hidden, with `take_from`: for models in which a call stalls after it.
    #[doc(hidden)]
    pub fn cursor(&self) -> u64 {
        self.cursor.load(Ordering::Relaxed)
    }

    /// Works as [`Range::take`] from there on.
    #[doc(hidden)]
    pub fn take_from(&self, word: u64) -> Option<u64> {
        self.advance_from(word, 1, 1).map(|(first, _)| first)
    }

    #[inline]
    fn advance(&self, n: u64, least: u64) -> Option<(u64, u64)> {
        self.advance_from(self.cursor(), n, least)
    }

    #[inline]
    fn advance_from(&self, mut word: u64, n: u64, least: u64) -> Option<(u64, u64)> {
        loop {
            // Acquire: a thread that sees the end of new numbers fails to swap a cursor from before them.
            let count = self.end.load(Ordering::Acquire).saturating_sub(word).min(n);
            if count == 0 || count < least {
                return None;
            }
            if mutant::removes("cursor") {
                self.cursor.store(word + count, Ordering::Relaxed);
                return Some((word - 1, count));
            }
            match self.cursor.compare_exchange_weak(word, word + count, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some((word - 1, count)),
                Err(there) => word = there,
            }
        }
    }

    /// Returns the number of numbers that are left.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::segment::Range;
    /// let range = Range::new(100..103);
    /// range.take();
    /// assert_eq!(range.left(), 2);
    /// ```
    pub fn left(&self) -> u64 {
        self.end.load(Ordering::Acquire).saturating_sub(self.cursor.load(Ordering::Relaxed))
    }

    /// Returns whether it is time for [`Segment::prefetch`](super::Segment::prefetch): a tenth of the range is used,
    /// and no fetch has begun.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::segment::Range;
    /// let range = Range::new(100..120);
    /// range.take();
    /// assert!(!range.is_due());
    /// range.take();
    /// assert!(range.is_due(), "a tenth is used");
    /// ```
    #[inline]
    pub fn is_due(&self) -> bool {
        self.cursor.load(Ordering::Relaxed) >= self.due.load(Ordering::Relaxed)
    }

    /// Returns whether all words are zero, as in a forked child.
    pub(super) fn is_wiped(&self) -> bool {
        self.cursor.load(Ordering::Relaxed) == 0 && self.end.load(Ordering::Acquire) == 0
    }

    /// Replaces the numbers of a range by higher numbers, and skips the numbers that are left. One thread at a time.
    pub(super) fn fill(&self, numbers: &ops::Range<u64>) {
        let (first, end) = (numbers.start + 1, numbers.end + 1);
        self.due.store(first + end.saturating_sub(first).div_ceil(PREFETCH_PART), Ordering::Relaxed);
        // The cursor first: a thread that sees only the cursor sees an empty range. A swap, so that a number is taken
        // either before it or not at all.
        self.cursor.swap(first, Ordering::Relaxed);
        self.end.store(end, Ordering::Release);
    }

    /// Appends numbers, if they directly follow the range. Returns whether they do. Only one thread at a time may call
    /// this.
    pub(super) fn extend(&self, numbers: &ops::Range<u64>) -> bool {
        let (word, end) = (self.cursor.load(Ordering::Relaxed), self.end.load(Ordering::Acquire));
        if word == CLOSED || word == 0 || end != numbers.start + 1 {
            return false;
        }
        let more = numbers.end + 1;
        self.due.store(word + more.saturating_sub(word).div_ceil(PREFETCH_PART), Ordering::Relaxed);
        // The cursor stays: a thread that sees the old end sees fewer numbers.
        self.end.store(more, Ordering::Release);
        true
    }

    /// Returns the next number, from this range or directly after it; `None` before the first numbers and after the
    /// close.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::segment::Range;
    /// assert_eq!(Range::wiped().upcoming(), None);
    /// assert_eq!(Range::new(100..103).upcoming(), Some(100));
    /// ```
    pub fn upcoming(&self) -> Option<u64> {
        let word = self.cursor.load(Ordering::Relaxed);
        if word == 0 || word == CLOSED { None } else { Some(word - 1) }
    }

    /// Marks the range as due, or as not due until it is filled again. One thread at a time.
    pub(super) fn set_due(&self, due: bool) {
        self.due.store(if due { 0 } else { CLOSED }, Ordering::Relaxed);
    }

    /// Closes the range for good, and returns the numbers that were left. One thread at a time.
    pub(super) fn close(&self) -> ops::Range<u64> {
        let word = self.cursor.swap(CLOSED, Ordering::Relaxed);
        let end = self.end.load(Ordering::Acquire);
        if word == CLOSED { 0..0 } else { word.saturating_sub(1)..end.saturating_sub(1) }
    }
}
