//! Numbers of a native sequence, many in one round trip.

mod target;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;

pub use self::target::NativeTarget;

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
    places: Arc<Mutex<Places>>,
}

/// The numbers in memory by their places, which count from 0.
#[derive(Debug, Default)]
struct Places {
    /// The place after the last fetch.
    end: u64,
    numbers: HashMap<u64, i64>,
}

impl Places {
    /// Adds the numbers of a fetch of `amount` places, which may be fewer, and returns the place after them.
    fn add(&mut self, amount: u64, numbers: Vec<i64>) -> u64 {
        self.numbers.extend((self.end..).zip(numbers));
        self.end += amount;
        self.end
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
        let places = Arc::<Mutex<Places>>::default();
        let most = source.most();
        let counted = Segments::over(Box::new(Native { source, places: Arc::clone(&places) }), step, options)?;
        // With this limit only the end of a source makes places without a number.
        counted.limit(most);
        Ok(Self { counted, places })
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
            if let Some(number) = lock(&self.places).numbers.remove(&place) {
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
            if let Some(number) = lock(&self.places).numbers.remove(&place) {
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
    places: Arc<Mutex<Places>>,
}

#[async_trait]
impl Source for Native {
    async fn fetch(&self, amount: u64) -> Result<u64, Error> {
        let numbers = self.source.take(amount).await?;
        Ok(lock(&self.places).add(amount, numbers))
    }

    fn leaves_rest(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_fetch_has_places_without_numbers() {
        let mut places = Places::default();
        assert_eq!(places.add(3, vec![10, 20, 30]), 3);
        assert_eq!(places.add(4, vec![40, 70]), 7);
        let taken: Vec<_> = [0, 1, 3, 2, 4, 5, 6].into_iter().map(|place| places.numbers.remove(&place)).collect();
        assert_eq!(taken, [Some(10), Some(20), Some(40), Some(30), Some(70), None, None]);
        assert!(places.numbers.is_empty());
    }
}
