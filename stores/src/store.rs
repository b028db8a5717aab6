//! The contract of a store: three verbs for records and two for counters. Each is durable before it returns.

mod answer;
pub(crate) mod ask;
#[cfg(feature = "engines")]
pub(crate) mod counter;
pub mod filesystem;
#[cfg(feature = "numbers")]
pub(crate) mod floor;
pub(crate) mod key;
#[cfg(feature = "engines")]
mod options;
pub mod plain_file;
pub(crate) mod ranges;
pub(crate) mod service;
pub(crate) mod source;
#[cfg(feature = "engines")]
pub(crate) mod url;
#[cfg(any(
    feature = "file",
    feature = "redis",
    feature = "sql",
    feature = "etcd",
    feature = "zookeeper",
    feature = "nats"
))]
pub(crate) mod version;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
pub use snowmint_core::store::Version;

pub use self::answer::{ServerSettings, Versioned, WriteOutcome};
pub use self::ranges::{Ranges, TakenRange};
pub use self::service::{NumberService, Served};
pub use self::source::{NumberSource, SegmentTable, Tag, TicketServer};
use crate::error::Error;

/// The most bytes of a record.
pub const MAX_VALUE_BYTES: usize = 1024;
/// The most bytes of a key.
pub const MAX_KEY_BYTES: usize = 512;

/// Keeps the records of leases. Each answer of `Ok` is durable and linearizable.
///
/// Keys are made by this crate, such as `leases/orders/5`: ASCII of `a-z A-Z 0-9 . _ - % /`, at most [`MAX_KEY_BYTES`] long.
/// Records are never deleted.
///
/// After an error of the kind `StoreUnavailable` a write may have happened, or may still happen. Every future ends: an
/// implementation gives up after some seconds. Dropping a future is harmless.
///
/// # Examples
/// ```
/// use std::collections::BTreeMap;
/// use std::sync::{Mutex, MutexGuard, PoisonError};
/// use snowmint_stores::{Error, Versioned, RecordStore, Version, WriteOutcome};
///
/// /// Records of this process. A real store answers when a record is durable.
/// #[derive(Debug, Default)]
/// struct Own(Mutex<BTreeMap<String, Versioned>>);
///
/// impl Own {
///     fn records(&self) -> MutexGuard<'_, BTreeMap<String, Versioned>> {
///         self.0.lock().unwrap_or_else(PoisonError::into_inner)
///     }
/// }
///
/// #[async_trait::async_trait]
/// impl RecordStore for Own {
///     fn name(&self) -> &str {
///         "our store"
///     }
///
///     async fn read(&self, key: &str) -> Result<Option<Versioned>, Error> {
///         Ok(self.records().get(key).cloned())
///     }
///
///     async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, Error> {
///         let mut records = self.records();
///         if records.get(key).map_or(0, |found| found.version) != expected {
///             return Ok(WriteOutcome::Conflict);
///         }
///         records.insert(key.to_owned(), Versioned::new(value, expected + 1));
///         Ok(WriteOutcome::Version(expected + 1))
///     }
///
///     async fn list(&self, prefix: &str) -> Result<Vec<(String, Versioned)>, Error> {
///         let under = |key: &str| key.strip_prefix(prefix).filter(|part| !part.contains('/')).map(str::to_owned);
///         Ok(self.records().iter().filter_map(|(key, found)| Some((under(key)?, found.clone()))).collect())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let store = Own::default();
/// assert_eq!(store.write("leases/orders/5", b"value", 0).await?, WriteOutcome::Version(1));
/// assert_eq!(store.write("leases/orders/5", b"late", 0).await?, WriteOutcome::Conflict);
/// assert_eq!(store.list("leases/orders/").await?, [("5".to_owned(), Versioned::new("value", 1))]);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait RecordStore: fmt::Debug + Send + Sync + 'static {
    /// Returns the engine and its address, for messages: `PostgreSQL at db:5432`. Never a password.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::connect;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// assert_eq!(store.name(), "memory");
    /// # Ok(())
    /// # }
    /// ```
    fn name(&self) -> &str;

    /// Reads the record of a key. `None` if the key has no record.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::connect;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// store.write("leases/orders/5", b"value", 0).await?;
    /// assert_eq!(store.read("leases/orders/5").await?.expect("a record").value, b"value");
    /// # Ok(())
    /// # }
    /// ```
    async fn read(&self, key: &str) -> Result<Option<Versioned>, Error>;

    /// Writes the record of a key if its version still is `expected`. Pass 0 for a new record.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{WriteOutcome, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// assert!(matches!(store.write("leases/orders/5", b"one", 0).await?, WriteOutcome::Version(_)));
    /// assert_eq!(store.write("leases/orders/5", b"two", 0).await?, WriteOutcome::Conflict);
    /// # Ok(())
    /// # }
    /// ```
    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, Error>;

    /// Lists the records directly under `prefix`, a key that ends in a slash: the rest of each key, in any order.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::connect;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// store.write("leases/orders/5", b"value", 0).await?;
    /// assert_eq!(store.list("leases/orders/").await?[0].0, "5");
    /// # Ok(())
    /// # }
    /// ```
    async fn list(&self, prefix: &str) -> Result<Vec<(String, Versioned)>, Error>;

    /// Lists the records below `prefix` at any depth by one query: the rest of each key, in any order. `None` if the engine has
    /// no such query.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::connect;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// store.write("leases/orders/5", b"value", 0).await?;
    /// let below = store.list_below("leases/").await?.expect("this engine has such a query");
    /// assert_eq!(below[0].0, "orders/5");
    /// # Ok(())
    /// # }
    /// ```
    async fn list_below(&self, prefix: &str) -> Result<Option<Vec<(String, Versioned)>>, Error> {
        let _ = prefix;
        Ok(None)
    }

    /// Reads the store's clock, in Unix ms. `None` if the store has no clock.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::connect;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// assert_eq!(store.clock_ms().await?, None, "it has the clock of this machine");
    /// # Ok(())
    /// # }
    /// ```
    async fn clock_ms(&self) -> Result<Option<i64>, Error> {
        Ok(None)
    }

    /// Checks the store's settings before a claim. `UnsafeStore` if a failover could lose the claim, unless the store was
    /// opened with `allow_standby`. Renewals and fetches do not ask.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::connect;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// store.refuse_standby().await?;
    /// # Ok(())
    /// # }
    /// ```
    async fn refuse_standby(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Returns the setting by which a failover could lose confirmed writes, as of the last check. `None` without such a setting.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::connect;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// assert_eq!(store.standby_risk(), None);
    /// # Ok(())
    /// # }
    /// ```
    fn standby_risk(&self) -> Option<Error> {
        None
    }

    /// Reads the settings that decide whether the store's server keeps confirmed writes, also where the URL has
    /// `allow_unsafe`. `None` if the store does not know such settings.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::connect;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// assert_eq!(store.settings().await?, None, "it has none");
    /// # Ok(())
    /// # }
    /// ```
    async fn settings(&self) -> Result<Option<ServerSettings>, Error> {
        Ok(None)
    }

    /// Closes idle connections at the end of a program. `SQLite` then moves its write-ahead log into the database file.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::connect;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// store.close().await;
    /// # Ok(())
    /// # }
    /// ```
    async fn close(&self) {}
}

/// Keeps numbers beside the records: what segments, tickets, sequences and sections need of a store.
///
/// A record and a counter of the same key are unrelated. After an error of the kind `StoreUnavailable` an addition may have
/// happened, or may still happen.
///
/// # Examples
/// ```
/// use std::collections::HashMap;
/// use std::sync::{Arc, Mutex, PoisonError};
/// use snowmint_core::ErrorKind;
/// use snowmint_stores::memory::Memory;
/// use snowmint_stores::{CounterStore, Error, Versioned, RecordStore, Sequences, Version, WriteOutcome};
///
/// /// Counters of this process, beside the records of a store in memory.
/// #[derive(Debug, Default)]
/// struct Own {
///     records: Memory,
///     counters: Mutex<HashMap<String, u64>>,
/// }
///
/// #[async_trait::async_trait]
/// impl CounterStore for Own {
///     async fn add(&self, counter: &str, delta: u64, start: u64) -> Result<u64, Error> {
///         let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
///         let number = counters.entry(counter.to_owned()).or_insert(start);
///         // No number is above 2^63-1.
///         let sum = number.checked_add(delta).filter(|sum| i64::try_from(*sum).is_ok());
///         *number = sum.ok_or_else(|| Error::new(ErrorKind::Exhausted, format!("{counter} is at its end")))?;
///         Ok(*number)
///     }
///
///     async fn lower(&self, counter: &str, end: u64, start: u64) -> Result<bool, Error> {
///         let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
///         let number = counters.get_mut(counter).filter(|number| **number == end);
///         Ok(number.map(|number| *number = start).is_some())
///     }
/// }
///
/// # #[async_trait::async_trait]
/// # impl RecordStore for Own {
/// #     fn name(&self) -> &str {
/// #         "our store"
/// #     }
/// #
/// #     async fn read(&self, key: &str) -> Result<Option<Versioned>, Error> {
/// #         self.records.read(key).await
/// #     }
/// #
/// #     async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, Error> {
/// #         self.records.write(key, value, expected).await
/// #     }
/// #
/// #     async fn list(&self, prefix: &str) -> Result<Vec<(String, Versioned)>, Error> {
/// #         self.records.list(prefix).await
/// #     }
/// # }
/// #
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// assert_eq!(Sequences::new(Arc::new(Own::default())).next("invoices").await?, 1);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait CounterStore: RecordStore {
    /// Adds `delta` to a counter and returns the sum. A new counter begins at `start`.
    ///
    /// `Exhausted` if the sum would pass 2^63-1: the counter stays unchanged.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::connect;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// assert_eq!(store.add("counter", 10, 1).await?, 11);
    /// assert_eq!(store.add("counter", 10, 1).await?, 21);
    /// # Ok(())
    /// # }
    /// ```
    async fn add(&self, counter: &str, delta: u64, start: u64) -> Result<u64, Error>;

    /// Sets a counter from `end` back to `start`, and returns `false` if it is not at `end` any more. For unused numbers.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::connect;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// store.add("counter", 10, 1).await?;
    /// assert!(store.lower("counter", 11, 5).await?);
    /// assert!(!store.lower("counter", 11, 5).await?, "it is at 5");
    /// # Ok(())
    /// # }
    /// ```
    async fn lower(&self, counter: &str, end: u64, start: u64) -> Result<bool, Error>;

    /// Returns the engine's own table of segments, Leaf's `leaf_alloc`. `None` for engines without tables.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::connect;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// assert!(store.segments().is_none());
    /// # Ok(())
    /// # }
    /// ```
    fn segments(&self) -> Option<&dyn SegmentTable> {
        None
    }

    /// Returns the witness of the ranges that are taken from this store. `None` without one, as every engine: a store that
    /// wraps an engine has one.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::connect;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// assert!(connect("memory:").await?.ranges().is_none());
    /// # Ok(())
    /// # }
    /// ```
    fn ranges(&self) -> Option<&dyn Ranges> {
        None
    }

    /// Returns the service that gives the numbers itself. `None` for a store, whose records and counters the machines here use.
    #[doc(hidden)]
    fn service(&self) -> Option<Arc<dyn NumberService>> {
        None
    }
}
