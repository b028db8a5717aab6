//! The store that the options of a lease name.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use snowmint_stores::{Error, RecordStore};

use super::backend::Backend;
use crate::environment::shown;

/// The store of a lease: a URL, or a store of the caller.
///
/// # Examples
/// ```
/// use snowmint::LeaseStore;
/// let store = LeaseStore::from("postgres://ids:secret@db/ids");
/// assert_eq!(format!("{store:?}"), "\"postgres\""); // without the password
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct LeaseStore(pub(crate) Given);

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Given {
    /// `file:DIRECTORY` for slots, or the URL of an engine whose feature is on.
    Url(String),
    /// A store or lessor of the caller.
    Backend(Backend),
}

impl LeaseStore {
    /// Makes a lease store from a store of the caller whose calls wait on a tokio runtime. Generators share a lease if
    /// they use this value or a clone of it.
    ///
    /// # Examples
    /// ```
    /// # #[cfg(feature = "memory")] {
    /// use snowmint::{LeaseOptions, LeaseStore, Snowflake, stores};
    /// # let runtime = tokio::runtime::Runtime::new()?;
    /// let store = runtime.block_on(stores::connect("memory:"))?; // or an `Arc` of a type of yours
    /// let generator = Snowflake::lease(LeaseOptions::new().store(LeaseStore::own(store)))?;
    /// assert_eq!(generator.node(), 0);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "engines")]
    pub fn own(store: Arc<dyn RecordStore>) -> Self {
        Self::of(Backend::AsyncStore(store, number(), None))
    }

    /// Makes a lease store from a store whose calls wait on a tokio runtime and go on to the store of this URL.
    #[cfg(feature = "engines")]
    #[doc(hidden)]
    pub fn over(store: Arc<dyn RecordStore>, url: String) -> Self {
        Self::of(Backend::AsyncStore(store, number(), Some(url)))
    }

    /// Makes a lease store from a store of the caller whose calls block: each future is ready at its first poll.
    /// Generators share a lease if they use this value or a clone of it.
    ///
    /// # Examples
    /// ```
    /// use std::{collections::BTreeMap, sync::{Mutex, PoisonError}};
    /// use snowmint::{Error, LeaseOptions, LeaseStore, Snowflake, stores::{Versioned, RecordStore, Version, WriteOutcome}};
    ///
    /// #[derive(Debug, Default)]
    /// struct Records(Mutex<BTreeMap<String, Versioned>>);
    ///
    /// #[async_trait::async_trait]
    /// impl RecordStore for Records {
    ///     fn name(&self) -> &str {
    ///         "records of a test"
    ///     }
    ///     async fn read(&self, key: &str) -> Result<Option<Versioned>, Error> {
    ///         Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned())
    ///     }
    ///     async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, Error> {
    ///         let mut records = self.0.lock().unwrap_or_else(PoisonError::into_inner);
    ///         if records.get(key).map_or(0, |found| found.version) != expected {
    ///             return Ok(WriteOutcome::Conflict);
    ///         }
    ///         records.insert(key.to_owned(), Versioned::new(value, expected + 1));
    ///         Ok(WriteOutcome::Version(expected + 1))
    ///     }
    ///     async fn list(&self, prefix: &str) -> Result<Vec<(String, Versioned)>, Error> {
    ///         let records = self.0.lock().unwrap_or_else(PoisonError::into_inner);
    ///         let under = records.iter().filter_map(|(key, found)| Some((key.strip_prefix(prefix)?.to_owned(), found.clone())));
    ///         Ok(under.collect())
    ///     }
    /// }
    ///
    /// let generator = Snowflake::lease(LeaseOptions::new().store(LeaseStore::blocking(Records::default())))?;
    /// assert!(generator.next_id()? < generator.next_id()?);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn blocking(store: impl RecordStore) -> Self {
        Self::of(Backend::blocking(store, number()))
    }

    /// Makes a lease store from a backend that a host has connected.
    #[doc(hidden)]
    pub const fn of(backend: Backend) -> Self {
        Self(Given::Backend(backend))
    }
}

/// Returns the number of another store of the caller.
fn number() -> usize {
    static STORES: AtomicUsize = AtomicUsize::new(0);
    STORES.fetch_add(1, Ordering::Relaxed)
}

impl From<String> for LeaseStore {
    fn from(url: String) -> Self {
        Self(Given::Url(url))
    }
}

impl From<&String> for LeaseStore {
    fn from(url: &String) -> Self {
        url.clone().into()
    }
}

impl From<&str> for LeaseStore {
    fn from(url: &str) -> Self {
        url.to_owned().into()
    }
}

// A URL may have a password.
impl fmt::Debug for LeaseStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Given::Url(url) => shown(url).fmt(f),
            Given::Backend(backend) => backend.fmt(f),
        }
    }
}

/// Connects to the store of a URL.
#[derive(Clone)]
pub struct Connect(Arc<Connecting>);

type Connecting = dyn Fn(&str) -> Result<Backend, Error> + Send + Sync;

impl Connect {
    /// Calls `connect`, which returns the same store for the same URL.
    pub fn new(connect: impl Fn(&str) -> Result<Backend, Error> + Send + Sync + 'static) -> Self {
        Self(Arc::new(connect))
    }

    /// Connects to the store of a URL.
    ///
    /// # Errors
    /// The errors of the function.
    pub fn connect(&self, url: &str) -> Result<Backend, Error> {
        self.0(url)
    }
}

impl fmt::Debug for Connect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connect")
    }
}
