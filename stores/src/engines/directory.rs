//! Files of one machine: a file for each record and each counter, under `DIRECTORY/.store`. Slots may share the directory.
//!
//! Each operation locks `.store/lock`, so the processes of the machine take turns. It opens its files anew, so a forked child
//! shares none with its parent. A write goes to a draft, which is synced and renamed, and then syncs the directory. A read
//! syncs the directory too, as the writer may have been killed before it could, and compares checksum and key. Once an hour
//! an operation touches the files that rest, which a tidy-up of old files would take.

mod entry;
mod files;
mod path;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use snowmint_core::ErrorKind;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};

use self::entry::Entry;
use self::files::Files;
use crate::error::Error;
use crate::store::counter::{full, sum};
use crate::store::filesystem::refuse_lossy_slots;
use crate::store::url::Url;
use crate::store::version;
use crate::store::{CounterStore, RecordStore, Version, Versioned, WriteOutcome};

/// A store in a directory.
///
/// # Examples
/// ```no_run
/// use snowmint_stores::{CounterStore, Directory, Url};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let store = Directory::open(&Url::parse("file:/var/lib/snowmint")?)?;
/// println!("{}", store.add("counter", 1, 0).await?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Directory {
    root: PathBuf,
    name: String,
    timeout: Duration,
}

impl Directory {
    /// Opens a directory, or makes it. A relative path begins at the present working directory.
    ///
    /// # Errors
    /// `InvalidStore` for a wrong URL; `StoreUnavailable` if the directory cannot be made; `UnsafeStore` on a file system that loses writes, or does not share
    /// locks.
    ///
    /// # Examples
    /// ```no_run
    /// use snowmint_stores::{CounterStore, Directory, Url};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = Directory::open(&Url::parse("file:/var/lib/snowmint")?)?;
    /// println!("{}", store.add("counter", 1, 0).await?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn open(url: &Url) -> Result<Self, Error> {
        let path = url.rest.split_once(':').map_or("", |(_, path)| path);
        // Some people write file:///PATH.
        let path = path.strip_prefix("//").unwrap_or(path);
        if path.is_empty() || path.contains('\0') {
            let why = format!("file:DIRECTORY needs a directory, not {}", url.rest);
            return Err(Error::new(ErrorKind::InvalidStore, why));
        }
        let cannot = |what: &str, error: std::io::Error| {
            Error::unavailable(&format!("files in {path}"), format_args!("cannot {what}: {error}"))
        };
        let path = std::path::absolute(path).map_err(|error| cannot("find the directory", error))?;
        let root = path.join(".store");
        // An existing directory may hold slots.
        fs::create_dir_all(&path).map_err(|error| cannot("make the directory", error))?;
        if !url.allow_unsafe {
            refuse_lossy_slots(&path)?;
        }
        fs::create_dir_all(&root).map_err(|error| cannot("make the directory .store in it", error))?;
        files::sync_up(&root, &path).map_err(|error| cannot("sync the directory", error))?;
        if let Some(parent) = path.parent() {
            // The parents may be new too, or may be directories that this user cannot sync.
            let _ = files::sync_up(parent, Path::new("/"));
        }
        Ok(Self { root, name: format!("files in {}", path.display()), timeout: url.timeout })
    }

    /// Does the same as [`Directory::open`], on a thread that may wait for disks.
    pub(crate) async fn connect(url: Url) -> Result<Self, Error> {
        let (name, timeout) = (format!("files in {}", url.place()), url.timeout);
        match tokio::time::timeout(timeout, spawn_blocking(move || Self::open(&url))).await {
            Ok(Ok(opened)) => opened,
            Ok(Err(failed)) => Err(Error::unavailable(&name, failed)),
            Err(_) => Err(Error::unavailable(&name, format_args!("no answer within {} ms", timeout.as_millis()))),
        }
    }

    /// Runs an operation under the lock, on a thread that may wait for disks.
    ///
    /// An operation that has the lock goes on after the timeout, or when the caller drops the future. An operation
    /// without the lock waits for it until the timeout, even without a caller, and then gives up.
    async fn locked<T, F>(&self, operation: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&Files) -> Result<T, String> + Send + 'static,
    {
        let deadline = Instant::now() + self.timeout;
        let root = self.root.clone();
        let done = spawn_blocking(move || {
            let files = Files::lock(&root, deadline.into_std())?;
            if files.rest() {
                // Without the lock: a store may have very many files.
                drop(spawn_blocking(move || files::touch_all(&root)));
            }
            operation(&files)
        });
        match timeout_at(deadline, done).await {
            Ok(Ok(done)) => done.map_err(|why| self.unavailable(why)),
            Ok(Err(failed)) => Err(self.unavailable(failed)),
            Err(_) => Err(self.unavailable(format_args!("no answer within {} ms", self.timeout.as_millis()))),
        }
    }

    /// Lists the records directly under a prefix, or also those deeper below it.
    async fn records(&self, prefix: &str, deep: bool) -> Result<Vec<(String, Versioned)>, Error> {
        let prefix = prefix.to_owned();
        self.locked(move |files| {
            let entries = files.list(&path::directory(&prefix)?, deep)?;
            let parts = entries.into_iter().filter_map(|entry| {
                let part = entry.key.strip_prefix(prefix.as_str())?.to_owned();
                Some((part, entry.into_versioned()))
            });
            Ok(parts.collect())
        })
        .await
    }

    fn unavailable(&self, why: impl fmt::Display) -> Error {
        Error::unavailable(&self.name, why)
    }
}

#[async_trait]
impl RecordStore for Directory {
    fn name(&self) -> &str {
        &self.name
    }

    async fn read(&self, key: &str) -> Result<Option<Versioned>, Error> {
        let key = key.to_owned();
        self.locked(move |files| {
            let path = path::record(&key)?;
            let Some(there) = files.read(&path, &key)? else { return Ok(None) };
            files.keep(&path)?;
            Ok(Some(there.into_versioned()))
        })
        .await
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, Error> {
        let version = version::fresh(expected)?;
        let new = Entry { version, key: key.to_owned(), value: value.to_owned() };
        self.locked(move |files| {
            let path = path::record(&new.key)?;
            if files.read(&path, &new.key)?.map_or(0, |there| there.version) != expected {
                return Ok(WriteOutcome::Conflict);
            }
            files.write(&path, &new)?;
            Ok(WriteOutcome::Version(version))
        })
        .await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Versioned)>, Error> {
        self.records(prefix, false).await
    }

    async fn list_below(&self, prefix: &str) -> Result<Option<Vec<(String, Versioned)>>, Error> {
        self.records(prefix, true).await.map(Some)
    }
}

#[async_trait]
impl CounterStore for Directory {
    async fn add(&self, counter: &str, delta: u64, start: u64) -> Result<u64, Error> {
        let key = counter.to_owned();
        let sum = self.locked(move |files| {
            let path = path::counter(&key)?;
            let there = files.read(&path, &key)?;
            let number = there.as_ref().map_or(Ok(start), |there| there.number(&path))?;
            let Some(sum) = sum(number, delta) else { return Ok(None) };
            files.write(&path, &Entry::of_number(key, sum))?;
            Ok(Some(sum))
        });
        sum.await?.ok_or_else(|| full(&self.name, counter))
    }

    async fn lower(&self, counter: &str, end: u64, start: u64) -> Result<bool, Error> {
        let key = counter.to_owned();
        self.locked(move |files| {
            let path = path::counter(&key)?;
            let Some(there) = files.read(&path, &key)? else { return Ok(false) };
            if there.number(&path)? != end {
                return Ok(false);
            }
            files.write(&path, &Entry::of_number(key, start))?;
            Ok(true)
        })
        .await
    }
}
