//! A range of numbers that many threads hand out.

use core::ops;

use crate::mutant;
use crate::sync::{AtomicU64, Ordering};

/// The word of a range that is closed for good.
const CLOSED: u64 = u64::MAX;

/// Numbers `[start, end)`, each handed out once, by whatever number of threads, without a lock and without an allocator.
///
/// | call | gives | asks the store |
/// | --- | --- | --- |
/// | [`Range::take`] | one number | never |
/// | [`Range::take_run`] | up to `n` that follow each other | never |
/// | [`Range::take_block`] | `n` that follow each other | never |
///
/// Each is one compare-and-swap. A `fetch_add` is no faster on one thread (5.1 ns each on x86-64) and would run past the
/// end, so that a range could wrap, and could not be filled again while others look at it. Where several threads share a
/// range, each does best to take runs and to hand those out alone: runs of 64 cost 0.3 ns a number.
///
/// The words hold numbers plus one, so that three zeros are a range that is new, or one of its parent as a forked child
/// sees it in a page that is wiped there: nothing is handed out, and a [`Segment`](super::Segment) begins anew. A range
/// that is dry is [filled](super::Segment::refill) in place. Its cursor only goes up, so a call that was stalled for
/// however long cannot take what is not there any more.
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
    /// The number past the last one, plus one.
    end: AtomicU64,
    /// Where the cursor stands when it is time to fetch the next range.
    due: AtomicU64,
}

impl Range {
    /// A range that is new and dry: all zero.
    #[cfg(not(loom))]
    #[allow(clippy::new_without_default, reason = "a range that comes about by itself would hand out nothing")]
    pub const fn wiped() -> Self {
        Self { cursor: AtomicU64::new(0), end: AtomicU64::new(0), due: AtomicU64::new(0) }
    }

    /// A range that is new and dry: all zero.
    #[cfg(loom)]
    pub fn wiped() -> Self {
        Self { cursor: AtomicU64::new(0), end: AtomicU64::new(0), due: AtomicU64::new(0) }
    }

    /// These numbers, of which no other range may have one. The end is not included, and at most 2^63.
    pub fn new(numbers: ops::Range<u64>) -> Self {
        let range = Self::wiped();
        range.fill(&(numbers.start.min(super::LAST + 1)..numbers.end.min(super::LAST + 1)));
        range
    }

    /// One number; `None` if there is none.
    #[inline]
    pub fn take(&self) -> Option<u64> {
        self.advance(1, 1).map(|(first, _)| first)
    }

    /// Up to `n` numbers that follow each other, fewer if the range has no more, none if it is dry.
    #[inline]
    pub fn take_run(&self, n: u64) -> ops::Range<u64> {
        self.advance(n, 1).map_or(0..0, |(first, count)| first..first + count)
    }

    /// `n` numbers that follow each other, 1 or more; `None` if the range does not have as many.
    pub fn take_block(&self, n: u64) -> Option<ops::Range<u64>> {
        self.advance(n, n).map(|(first, count)| first..first + count)
    }

    #[inline]
    fn advance(&self, n: u64, least: u64) -> Option<(u64, u64)> {
        let mut word = self.cursor.load(Ordering::Relaxed);
        loop {
            // Acquire: who sees the end of new numbers fails to swap a cursor from before them.
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

    /// How many numbers are left.
    pub fn left(&self) -> u64 {
        self.end.load(Ordering::Acquire).saturating_sub(self.cursor.load(Ordering::Relaxed))
    }

    /// Whether it is time for [`Segment::prefetch`](super::Segment::prefetch): a tenth is used, and nobody has asked yet.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.cursor.load(Ordering::Relaxed) >= self.due.load(Ordering::Relaxed)
    }

    /// Whether all words are zero, as in a forked child.
    pub(super) fn is_wiped(&self) -> bool {
        self.cursor.load(Ordering::Relaxed) == 0 && self.end.load(Ordering::Acquire) == 0
    }

    /// Puts numbers into a range, above all that it had; what is left of it is left out. One thread at a time.
    pub(super) fn fill(&self, numbers: &ops::Range<u64>) {
        let (first, end) = (numbers.start + 1, numbers.end + 1);
        self.due.store(first + end.saturating_sub(first).div_ceil(super::PREFETCH_PART), Ordering::Relaxed);
        // The cursor first: to a thread that sees only this, the range is dry. Swapped, so that a number is taken either
        // before, or not at all.
        self.cursor.swap(first, Ordering::Relaxed);
        self.end.store(end, Ordering::Release);
    }

    /// Puts numbers behind those that are left, if they follow; whether they do. One thread at a time.
    pub(super) fn extend(&self, numbers: &ops::Range<u64>) -> bool {
        let (word, end) = (self.cursor.load(Ordering::Relaxed), self.end.load(Ordering::Acquire));
        if word == CLOSED || word == 0 || end != numbers.start + 1 {
            return false;
        }
        let more = numbers.end + 1;
        self.due.store(word + more.saturating_sub(word).div_ceil(super::PREFETCH_PART), Ordering::Relaxed);
        // The cursor stays: to a thread that sees the old end, there are fewer.
        self.end.store(more, Ordering::Release);
        true
    }

    /// The number that comes next, if it comes from this range or right after it; `None` before there was any.
    pub fn upcoming(&self) -> Option<u64> {
        let word = self.cursor.load(Ordering::Relaxed);
        if word == 0 || word == CLOSED { None } else { Some(word - 1) }
    }

    /// From now on it is due, or not until it is filled again. One thread at a time.
    pub(super) fn set_due(&self, due: bool) {
        self.due.store(if due { 0 } else { CLOSED }, Ordering::Relaxed);
    }

    /// Nothing more is handed out, for good; what was left. One thread at a time.
    pub(super) fn close(&self) -> ops::Range<u64> {
        let word = self.cursor.swap(CLOSED, Ordering::Relaxed);
        let end = self.end.load(Ordering::Acquire);
        if word == CLOSED { 0..0 } else { word.saturating_sub(1)..end.saturating_sub(1) }
    }
}
