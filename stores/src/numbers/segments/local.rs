//! Numbers for one thread.

use std::ops::Range;

use snowmint_core::segment::RUN_NUMBERS;

use super::Segments;
use crate::error::Error;

/// Numbers for one thread, taken from a [`Segments`] in runs of 256, so that most calls need no atomic operation.
///
/// A drop skips the rest of the run. In a forked child every call is `Forked`.
///
/// # Examples
/// ```
/// use snowmint_stores::{Segments, SegmentsOptions, Tag, connect};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// # let store = connect("memory:").await?;
/// # Segments::create(&*store, "orders", &Tag::new(1, 1000)).await?;
/// let orders = Segments::open(store, "orders", SegmentsOptions::default()).await?;
/// let mut numbers = orders.local();
/// assert_eq!([numbers.next().await?, numbers.next().await?], [1, 2]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct LocalNumbers {
    segments: Segments,
    next: u64,
    end: u64,
}

impl LocalNumbers {
    pub(super) const fn new(segments: Segments) -> Self {
        Self { segments, next: 0, end: 0 }
    }

    /// Takes a number, as [`Segments::try_next`].
    ///
    /// # Errors
    /// As [`Segments::try_next`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Segments, SegmentsOptions, Tag, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// # let store = connect("memory:").await?;
    /// # Segments::create(&*store, "orders", &Tag::new(1, 1000)).await?;
    /// let orders = Segments::open(store, "orders", SegmentsOptions::default()).await?;
    /// let mut numbers = orders.local();
    /// assert_eq!(numbers.next().await?, 1);
    /// assert_eq!(numbers.try_next()?, 2);
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn try_next(&mut self) -> Result<u64, Error> {
        // The run is not on a page that a forked child sees wiped.
        if self.next < self.end && !self.segments.0.fetched.get().is_of_parent() {
            self.next += 1;
            return Ok(self.next - 1);
        }
        self.refill()
    }

    /// Takes a number, as [`Segments::next`].
    ///
    /// # Errors
    /// As [`Segments::next`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Segments, SegmentsOptions, Tag, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// # let store = connect("memory:").await?;
    /// # Segments::create(&*store, "orders", &Tag::new(1, 1000)).await?;
    /// let orders = Segments::open(store, "orders", SegmentsOptions::default()).await?;
    /// assert_eq!(orders.local().next().await?, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn next(&mut self) -> Result<u64, Error> {
        if let Ok(number) = self.try_next() {
            return Ok(number);
        }
        let run = self.segments.next_run(RUN_NUMBERS).await?;
        Ok(self.keep(&run))
    }

    #[cold]
    fn refill(&mut self) -> Result<u64, Error> {
        (self.next, self.end) = (0, 0);
        let run = self.segments.try_next_run(RUN_NUMBERS)?;
        Ok(self.keep(&run))
    }

    fn keep(&mut self, run: &Range<u64>) -> u64 {
        (self.next, self.end) = (run.start + 1, run.end);
        run.start
    }
}
