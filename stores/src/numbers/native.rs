//! Numbers of a native sequence, many in one round trip.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use super::segments::{Segments, SegmentsOptions};
use super::source::Source;
use crate::error::Error;
use crate::process::lock;
use crate::store::NumberSource;

/// Numbers of a native sequence, fetched ahead into memory. Clones share them.
///
/// They need not be consecutive: other sessions use the sequence too, and it has its own increment. A [`Segments`] does the
/// adaptive step, the fetching ahead and the waiting. Its numbers are the places of the sequence's numbers.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicI64, Ordering};
/// use snowmint_stores::{Error, NativeNumbers, NumberSource, SegmentsOptions};
/// /// Odd numbers of this process.
/// #[derive(Debug)]
/// struct Odd(AtomicI64);
///
/// #[async_trait::async_trait]
/// impl NumberSource for Odd {
///     fn name(&self) -> &str {
///         "odd numbers"
///     }
///
///     async fn take(&self, count: u64) -> Result<Vec<i64>, Error> {
///         Ok((0..count).map(|_| self.0.fetch_add(2, Ordering::Relaxed)).collect())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let numbers = NativeNumbers::open(Arc::new(Odd(AtomicI64::new(1))), 20, SegmentsOptions::default())?;
/// assert_eq!([numbers.next().await?, numbers.next().await?], [1, 3]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct NativeNumbers {
    counted: Segments,
    chunks: Arc<Mutex<Chunks>>,
}

#[derive(Debug, Default)]
struct Chunks {
    /// The place of the next chunk.
    places: u64,
    chunks: VecDeque<Chunk>,
}

/// The numbers of one fetch.
#[derive(Debug)]
struct Chunk {
    /// The place of the first number.
    first: u64,
    /// The places that were not taken yet.
    left: u64,
    numbers: Vec<i64>,
}

impl Chunks {
    /// Adds a chunk of `amount` places, possibly with fewer numbers, and returns the place after it.
    fn push(&mut self, amount: u64, numbers: Vec<i64>) -> u64 {
        self.chunks.push_back(Chunk { first: self.places, left: amount, numbers });
        self.places += amount;
        self.places
    }

    /// Takes the number of a place, once. `None` for a place without a number.
    fn take(&mut self, place: u64) -> Option<i64> {
        // At most three chunks: the present one, the one fetched ahead, and one that a stalled caller still needs.
        let chunk = self.chunks.iter_mut().rfind(|chunk| chunk.first <= place)?;
        let number = usize::try_from(place - chunk.first).ok().and_then(|index| chunk.numbers.get(index).copied());
        chunk.left -= 1;
        self.chunks.retain(|chunk| chunk.left > 0);
        number
    }
}

impl NativeNumbers {
    /// Opens a source. The first fetches take `step` numbers. Call it within a tokio runtime.
    ///
    /// # Errors
    /// `InvalidId` for a step that is not 1 to 2^31-1.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// # use std::sync::atomic::{AtomicI64, Ordering};
    /// # use snowmint_stores::{Error, NumberSource};
    /// use snowmint_stores::{NativeNumbers, SegmentsOptions};
    /// # /// Odd numbers of this process.
    /// # #[derive(Debug)]
    /// # struct Odd(AtomicI64);
    /// #
    /// # #[async_trait::async_trait]
    /// # impl NumberSource for Odd {
    /// #     fn name(&self) -> &str {
    /// #         "odd numbers"
    /// #     }
    /// #
    /// #     async fn take(&self, count: u64) -> Result<Vec<i64>, Error> {
    /// #         Ok((0..count).map(|_| self.0.fetch_add(2, Ordering::Relaxed)).collect())
    /// #     }
    /// # }
    /// #
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Error> {
    /// let numbers = NativeNumbers::open(Arc::new(Odd(AtomicI64::new(1))), 20, SegmentsOptions::default())?;
    /// assert_eq!(numbers.next().await?, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn open(source: Arc<dyn NumberSource>, step: u64, options: SegmentsOptions) -> Result<Self, Error> {
        let chunks = Arc::<Mutex<Chunks>>::default();
        let most = source.most();
        let counted = Segments::over(Box::new(Native { source, chunks: Arc::clone(&chunks) }), step, options)?;
        // With this limit only the end of a source makes places without a number.
        counted.limit(most);
        Ok(Self { counted, chunks })
    }

    /// Takes a number from memory.
    ///
    /// # Errors
    /// As [`Segments::try_next`].
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// # use std::sync::atomic::{AtomicI64, Ordering};
    /// # use snowmint_stores::{Error, NumberSource};
    /// use snowmint_stores::{NativeNumbers, SegmentsOptions};
    /// # /// Odd numbers of this process.
    /// # #[derive(Debug)]
    /// # struct Odd(AtomicI64);
    /// #
    /// # #[async_trait::async_trait]
    /// # impl NumberSource for Odd {
    /// #     fn name(&self) -> &str {
    /// #         "odd numbers"
    /// #     }
    /// #
    /// #     async fn take(&self, count: u64) -> Result<Vec<i64>, Error> {
    /// #         Ok((0..count).map(|_| self.0.fetch_add(2, Ordering::Relaxed)).collect())
    /// #     }
    /// # }
    /// #
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Error> {
    /// let numbers = NativeNumbers::open(Arc::new(Odd(AtomicI64::new(1))), 20, SegmentsOptions::default())?;
    /// assert_eq!(numbers.next().await?, 1);
    /// assert_eq!(numbers.try_next()?, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_next(&self) -> Result<i64, Error> {
        loop {
            let place = self.counted.try_next()?;
            if let Some(number) = lock(&self.chunks).take(place) {
                return Ok(number);
            }
        }
    }

    /// Takes a number, and waits for a fetch if memory is empty.
    ///
    /// # Errors
    /// As [`Segments::next`].
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// # use std::sync::atomic::{AtomicI64, Ordering};
    /// # use snowmint_stores::{Error, NumberSource};
    /// use snowmint_stores::{NativeNumbers, SegmentsOptions};
    /// # /// Odd numbers of this process.
    /// # #[derive(Debug)]
    /// # struct Odd(AtomicI64);
    /// #
    /// # #[async_trait::async_trait]
    /// # impl NumberSource for Odd {
    /// #     fn name(&self) -> &str {
    /// #         "odd numbers"
    /// #     }
    /// #
    /// #     async fn take(&self, count: u64) -> Result<Vec<i64>, Error> {
    /// #         Ok((0..count).map(|_| self.0.fetch_add(2, Ordering::Relaxed)).collect())
    /// #     }
    /// # }
    /// #
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Error> {
    /// let numbers = NativeNumbers::open(Arc::new(Odd(AtomicI64::new(1))), 20, SegmentsOptions::default())?;
    /// assert_eq!(numbers.next().await?, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn next(&self) -> Result<i64, Error> {
        loop {
            let place = self.counted.next().await?;
            if let Some(number) = lock(&self.chunks).take(place) {
                return Ok(number);
            }
        }
    }

    /// Returns the number of fetches.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// # use std::sync::atomic::{AtomicI64, Ordering};
    /// # use snowmint_stores::{Error, NumberSource};
    /// use snowmint_stores::{NativeNumbers, SegmentsOptions};
    /// # /// Odd numbers of this process.
    /// # #[derive(Debug)]
    /// # struct Odd(AtomicI64);
    /// #
    /// # #[async_trait::async_trait]
    /// # impl NumberSource for Odd {
    /// #     fn name(&self) -> &str {
    /// #         "odd numbers"
    /// #     }
    /// #
    /// #     async fn take(&self, count: u64) -> Result<Vec<i64>, Error> {
    /// #         Ok((0..count).map(|_| self.0.fetch_add(2, Ordering::Relaxed)).collect())
    /// #     }
    /// # }
    /// #
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Error> {
    /// let numbers = NativeNumbers::open(Arc::new(Odd(AtomicI64::new(1))), 20, SegmentsOptions::default())?;
    /// assert_eq!((numbers.next().await?, numbers.fetches()), (1, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn fetches(&self) -> u64 {
        self.counted.fetches()
    }
}

#[derive(Debug)]
struct Native {
    source: Arc<dyn NumberSource>,
    chunks: Arc<Mutex<Chunks>>,
}

#[async_trait]
impl Source for Native {
    async fn fetch(&self, amount: u64) -> Result<u64, Error> {
        let numbers = self.source.take(amount).await?;
        Ok(lock(&self.chunks).push(amount, numbers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_chunk_has_places_without_numbers() {
        let mut chunks = Chunks::default();
        assert_eq!(chunks.push(3, vec![10, 20, 30]), 3);
        assert_eq!(chunks.push(4, vec![40, 70]), 7);
        let taken: Vec<_> = [0, 1, 3, 2, 4, 5, 6].into_iter().map(|place| chunks.take(place)).collect();
        assert_eq!(taken, [Some(10), Some(20), Some(40), Some(30), Some(70), None, None]);
        assert!(chunks.chunks.is_empty());
        assert_eq!(chunks.take(7), None);
    }
}
