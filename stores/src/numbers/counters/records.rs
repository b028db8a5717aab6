//! Functions on the keys of a store, without opening a key: whether keys exist, and the values of their counters.

use snowmint_core::ErrorKind;
use snowmint_core::segment::LAST;

use super::Key;
use crate::error::Error;
use crate::numbers::definition;
#[cfg(feature = "engines")]
use crate::store::counter;
use crate::store::floor::skipped;
use crate::store::key::{key, name, refuse_new};
use crate::store::{CounterStore, WriteOutcome};

/// The first number of a key, as with Redis' `INCR`.
pub(super) const FIRST_NUMBER: u64 = 1;
pub(super) const PREFIX: &str = "keys/";

impl Key {
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
    #[cfg(feature = "engines")]
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
            if definition::key_of(store, &part, &found)?.0 {
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
}

/// Returns the first number of a key without a counter: a key of this name may have been made after the backup.
pub(super) async fn first(store: &dyn CounterStore) -> Result<u64, Error> {
    Ok(FIRST_NUMBER.saturating_add(skipped(store).await?))
}

fn refuse_above(value: u64) -> Result<(), Error> {
    if value < LAST {
        return Ok(());
    }
    Err(Error::new(ErrorKind::InvalidId, format!("a key can be set to 0 to 2^63-2, not {value}")))
}

pub(super) async fn is_there(store: &dyn CounterStore, key: &str) -> Result<bool, Error> {
    Ok(definition::read_key(store, key).await?.is_some_and(|(there, _)| there))
}

/// Writes whether a key exists. Returns `false` if the record said so before.
pub(super) async fn make(store: &dyn CounterStore, key: &str, there: bool) -> Result<bool, Error> {
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
