//! Numbers by key, for clients of Redis. A deleted key keeps its counter, so its numbers never go back.

mod records;
#[cfg(all(test, feature = "memory"))]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use self::records::{FIRST_NUMBER, PREFIX, first, is_there, make};
use super::segments::{Segments, SegmentsOptions};
use super::source::Counter;
use crate::error::Error;
use crate::store::CounterStore;
use crate::store::key::{key, refuse_new};

/// The numbers of one key, from 1 on, fetched ahead as [`Segments`] of a counter that is the next number.
///
/// A record says whether the key exists. A key that is made again after a deletion continues above all its numbers.
///
/// # Examples
/// ```
/// use snowmint_stores::{Key, SegmentsOptions, connect};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let visits = Key::open(connect("memory:").await?, "visits", 100, SegmentsOptions::default()).await?;
/// assert_eq!([visits.next().await?, visits.next().await?], [1, 2]);
/// assert_eq!(visits.last().await?, 2);
/// visits.close().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Key {
    store: Arc<dyn CounterStore>,
    counter: String,
    /// The first number, unless the store has a higher one.
    start: u64,
    segments: Segments,
}

impl Key {
    /// Opens a key, or makes it, and begins to fetch `step` numbers meanwhile: both take the time of one write.
    ///
    /// # Errors
    /// `InvalidText` for a name that is not 1 to 128 bytes long, and for a new name that [`names`](snowmint_core::names) does
    /// not allow; `InvalidId` for a step that is not 1 to 2^31-1; `StoreUnavailable`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Key, SegmentsOptions, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let visits = Key::open(connect("memory:").await?, "visits", 100, SegmentsOptions::default()).await?;
    /// assert_eq!(visits.next().await?, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn open(
        store: Arc<dyn CounterStore>,
        name: &str,
        step: u64,
        options: SegmentsOptions,
    ) -> Result<Self, Error> {
        let key = key(PREFIX, name)?;
        let start = first(&*store).await?;
        let opened = Self::over(store, key, start, step, options)?;
        // A name that is refused leaves no counter behind.
        if refuse_new(&opened.counter).is_ok() {
            opened.segments.begin();
        }
        make(&*opened.store, &opened.counter, true).await?;
        Ok(opened)
    }

    /// Opens a key. `None` if it does not exist.
    ///
    /// # Errors
    /// As [`Key::open`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Key, SegmentsOptions, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// assert!(Key::find(store.clone(), "visits", 100, SegmentsOptions::default()).await?.is_none());
    /// Key::raise(&*store, "visits", 41).await?;
    /// let visits = Key::find(store, "visits", 100, SegmentsOptions::default()).await?.expect("it exists");
    /// assert_eq!(visits.next().await?, 42);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn find(
        store: Arc<dyn CounterStore>,
        name: &str,
        step: u64,
        options: SegmentsOptions,
    ) -> Result<Option<Self>, Error> {
        let key = key(PREFIX, name)?;
        if is_there(&*store, &key).await? {
            Self::over(store, key, FIRST_NUMBER, step, options).map(Some)
        } else {
            Ok(None)
        }
    }

    fn over(
        store: Arc<dyn CounterStore>,
        key: String,
        start: u64,
        step: u64,
        options: SegmentsOptions,
    ) -> Result<Self, Error> {
        let source = Counter { store: Arc::clone(&store), key: key.clone(), start, is_tag: false };
        Ok(Self { store, counter: key, start, segments: Segments::over(Box::new(source), step, options)? })
    }

    /// Takes a number from memory.
    ///
    /// # Errors
    /// As [`Segments::try_next`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Key, SegmentsOptions, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let visits = Key::open(connect("memory:").await?, "visits", 100, SegmentsOptions::default()).await?;
    /// assert_eq!(visits.next().await?, 1);
    /// assert_eq!(visits.try_next()?, 2);
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn try_next(&self) -> Result<u64, Error> {
        self.segments.try_next()
    }

    /// Takes a number, and waits for a fetch if memory is empty.
    ///
    /// # Errors
    /// As [`Segments::next`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Key, SegmentsOptions, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let visits = Key::open(connect("memory:").await?, "visits", 100, SegmentsOptions::default()).await?;
    /// assert_eq!([visits.next().await?, visits.next().await?], [1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn next(&self) -> Result<u64, Error> {
        self.segments.next().await
    }

    /// Takes `count` consecutive numbers.
    ///
    /// # Errors
    /// As [`Segments::next_block`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Key, SegmentsOptions, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let visits = Key::open(connect("memory:").await?, "visits", 100, SegmentsOptions::default()).await?;
    /// assert_eq!(visits.next_block(10).await?, 1..11);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn next_block(&self, count: u64) -> Result<Range<u64>, Error> {
        self.segments.next_block(count).await
    }

    /// Returns the high-water mark: numbers taken here are at most this, later ones are higher. 0 before the first number.
    ///
    /// # Errors
    /// `StoreUnavailable`, before the first fetch only.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Key, SegmentsOptions, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let visits = Key::open(connect("memory:").await?, "visits", 100, SegmentsOptions::default()).await?;
    /// assert_eq!(visits.last().await?, 0);
    /// visits.next().await?;
    /// assert_eq!(visits.last().await?, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn last(&self) -> Result<u64, Error> {
        let next = match self.segments.begun().await? {
            Some(next) => next,
            None => self.store.add(&self.counter, 0, self.start).await?,
        };
        Ok(next.saturating_sub(1))
    }

    /// Closes the key for all clones, gives unused numbers back, and returns how many.
    ///
    /// # Errors
    /// As [`Segments::close`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Key, SegmentsOptions, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// let visits = Key::open(store.clone(), "visits", 100, SegmentsOptions::default()).await?;
    /// visits.next().await?;
    /// visits.close().await?;
    /// let later = Key::open(store, "visits", 100, SegmentsOptions::default()).await?;
    /// assert_eq!(later.next().await?, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn close(&self) -> Result<u64, Error> {
        self.segments.close().await
    }
}
