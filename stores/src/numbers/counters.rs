//! Numbers by key, for clients of Redis. A deleted key keeps its counter, so its numbers never go back.

use std::ops::Range;
use std::sync::Arc;

use snowmint_core::ErrorKind;
use snowmint_core::segment::LAST;

use super::definition;
use super::segments::{Segments, SegmentsOptions};
use super::source::Counter;
use crate::error::Error;
use crate::store::counter;
use crate::store::floor::skipped;
use crate::store::key::{key, name, refuse_new};
use crate::store::{CounterStore, WriteOutcome};

/// The first number of a key, as with Redis' `INCR`.
const FIRST_NUMBER: u64 = 1;
const PREFIX: &str = "keys/";

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

    /// Returns whether a key exists.
    ///
    /// # Errors
    /// `InvalidText`, `StoreUnavailable`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Key, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// assert!(!Key::exists(&*store, "visits").await?);
    /// Key::raise(&*store, "visits", 41).await?;
    /// assert!(Key::exists(&*store, "visits").await?);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn exists(store: &dyn CounterStore, name: &str) -> Result<bool, Error> {
        is_there(store, &key(PREFIX, name)?).await
    }

    /// Returns the high-water mark of a key in the store, which processes that have the key open may not have reached. Takes no
    /// number. `None` if the key does not exist.
    ///
    /// # Errors
    /// `InvalidText`, `StoreUnavailable`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Key, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// assert_eq!(Key::mark(&*store, "visits").await?, None);
    /// Key::raise(&*store, "visits", 41).await?;
    /// assert_eq!(Key::mark(&*store, "visits").await?, Some(41));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn mark(store: &dyn CounterStore, name: &str) -> Result<Option<u64>, Error> {
        let key = key(PREFIX, name)?;
        if !is_there(store, &key).await? {
            return Ok(None);
        }
        Ok(Some(store.add(&key, 0, first(store).await?).await?.saturating_sub(1)))
    }

    /// Deletes a key. Returns `false` if it does not exist. Processes that have it open use up their numbers.
    ///
    /// # Errors
    /// `InvalidText`, `StoreUnavailable`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Key, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// Key::raise(&*store, "visits", 41).await?;
    /// assert!(Key::delete(&*store, "visits").await?);
    /// assert!(!Key::delete(&*store, "visits").await?, "it does not exist any more");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn delete(store: &dyn CounterStore, name: &str) -> Result<bool, Error> {
        let key = key(PREFIX, name)?;
        Ok(is_there(store, &key).await? && make(store, &key, false).await?)
    }

    /// Makes a key if it does not exist, and raises its counter above `value` for all later opens. Never lowers it.
    ///
    /// # Errors
    /// `InvalidText`; `InvalidId` for a value of 2^63-1 or more, and if the key has a number above `value`, which leaves it
    /// unchanged; `StoreUnavailable`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Key, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// Key::raise(&*store, "visits", 41).await?;
    /// assert!(Key::raise(&*store, "visits", 7).await.is_err(), "it never goes back");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn raise(store: &dyn CounterStore, name: &str, value: u64) -> Result<(), Error> {
        let key = key(PREFIX, name)?;
        refuse_above(value)?;
        let first = first(store).await?;
        make(store, &key, true).await?;
        // If another process adds in between, the counter rises further than needed.
        let next = store.add(&key, 0, first).await?;
        match (value + 1).checked_sub(next) {
            Some(0) => Ok(()),
            Some(missing) => store.add(&key, missing, first).await.map(drop),
            None => Err(Error::new(
                ErrorKind::InvalidId,
                format!(
                    "key {name:?} is at {} already, and its numbers never go back: nothing is set",
                    next.saturating_sub(1)
                ),
            )),
        }
    }

    /// Lowers a key, also a deleted one, so that its next number is `value` plus 1, and returns the number that it was at. For
    /// operators, as after a key was raised by mistake. Numbers above `value` that were given come again, and processes that
    /// have the key open keep their numbers: stop them first.
    ///
    /// # Errors
    /// `InvalidText`; `InvalidId`, if the key is not above `value`; `StoreUnavailable`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Key, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// Key::raise(&*store, "visits", 5_000_000).await?;
    /// assert_eq!(Key::lower(&*store, "visits", 41).await?, 5_000_000);
    /// assert_eq!(Key::mark(&*store, "visits").await?, Some(41));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn lower(store: &dyn CounterStore, name: &str, value: u64) -> Result<u64, Error> {
        let key = key(PREFIX, name)?;
        refuse_above(value)?;
        loop {
            let next = match definition::read_key(store, &key).await? {
                Some(_) => store.add(&key, 0, first(store).await?).await?,
                None => FIRST_NUMBER,
            };
            if next <= value + 1 {
                let message = format!("key {name:?} is at {}, which is not above {value}", next.saturating_sub(1));
                return Err(Error::new(ErrorKind::InvalidId, message));
            }
            if store.lower(&key, next, value + 1).await? {
                return Ok(next - 1);
            }
        }
    }

    /// Skips `count` numbers of a key, at most all.
    pub(crate) async fn skip(store: &dyn CounterStore, name: &str, count: u64) -> Result<(), Error> {
        let key = key(PREFIX, name)?;
        counter::skip(count, async |amount| store.add(&key, amount, FIRST_NUMBER).await).await
    }

    /// Returns the names of the keys that exist, in any order.
    ///
    /// # Errors
    /// `StoreUnavailable`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Key, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// Key::raise(&*store, "visits", 41).await?;
    /// Key::raise(&*store, "clicks", 1).await?;
    /// Key::delete(&*store, "clicks").await?;
    /// assert_eq!(Key::existing(&*store).await?, ["visits"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn existing(store: &dyn CounterStore) -> Result<Vec<String>, Error> {
        let mut names = Vec::new();
        for (part, found) in store.list(PREFIX).await? {
            if definition::key_of(store, &part, found)?.0 {
                names.extend(name(&part));
            }
        }
        Ok(names)
    }

    /// Lists the keys of a store, deleted keys too, in any order.
    ///
    /// # Errors
    /// `StoreUnavailable`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Key, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// Key::raise(&*store, "visits", 41).await?;
    /// Key::delete(&*store, "visits").await?;
    /// assert_eq!(Key::names(&*store).await?, ["visits"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn names(store: &dyn CounterStore) -> Result<Vec<String>, Error> {
        Ok(store.list(PREFIX).await?.iter().filter_map(|(part, _)| name(part)).collect())
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

/// Returns the first number of a key without a counter: a key of this name may have been made after the backup.
async fn first(store: &dyn CounterStore) -> Result<u64, Error> {
    Ok(FIRST_NUMBER.saturating_add(skipped(store).await?))
}

fn refuse_above(value: u64) -> Result<(), Error> {
    if value < LAST {
        return Ok(());
    }
    Err(Error::new(ErrorKind::InvalidId, format!("a key can be set to 0 to 2^63-2, not {value}")))
}

async fn is_there(store: &dyn CounterStore, key: &str) -> Result<bool, Error> {
    Ok(definition::read_key(store, key).await?.is_some_and(|(there, _)| there))
}

/// Writes whether a key exists. Returns `false` if the record said so before.
async fn make(store: &dyn CounterStore, key: &str, there: bool) -> Result<bool, Error> {
    // Most keys that are made are new. A name that is refused may be an old one.
    let mut version = refuse_new(key).is_ok().then_some(0);
    loop {
        if let Some(version) = version
            && store.write(key, definition::key_text(there).as_bytes(), version).await? != WriteOutcome::Conflict
        {
            return Ok(true);
        }
        version = match definition::read_key(store, key).await? {
            Some((found, _)) if found == there => return Ok(false),
            Some((_, version)) => Some(version),
            None => {
                refuse_new(key)?;
                Some(0)
            }
        };
    }
}

#[cfg(all(test, feature = "memory"))]
mod tests;
