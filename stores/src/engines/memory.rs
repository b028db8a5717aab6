//! The memory of this process, for tests and first steps.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;

use crate::error::Error;
use crate::process::fork::PerProcess;
use crate::process::lock;
use crate::store::counter::{full, sum};
use crate::store::{CounterStore, RecordStore, Version, Versioned, WriteOutcome};

/// A store that ends with the process. A forked child has a separate, empty one.
///
/// # Examples
/// ```
/// use snowmint_stores::memory::Memory;
/// use snowmint_stores::{RecordStore, WriteOutcome};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let store = Memory::new();
/// assert!(matches!(store.write("leases/orders/5", b"value", 0).await?, WriteOutcome::Version(_)));
/// assert_eq!(store.read("leases/orders/5").await?.expect("a record").value, b"value");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Memory(Mutex<Data>);

#[derive(Debug, Default)]
struct Data {
    records: BTreeMap<String, Versioned>,
    counters: BTreeMap<String, u64>,
}

impl Memory {
    /// An empty store.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::memory::Memory;
    /// use snowmint_stores::RecordStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// assert_eq!(Memory::new().read("leases/orders/5").await?, None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the store of this name in this process. Each call with an empty name makes a new store.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use snowmint_stores::memory::Memory;
    /// assert!(Arc::ptr_eq(&Memory::named("orders"), &Memory::named("orders")));
    /// assert!(!Arc::ptr_eq(&Memory::named(""), &Memory::named("")));
    /// ```
    pub fn named(name: &str) -> Arc<Self> {
        static NAMED: PerProcess<Mutex<BTreeMap<String, Arc<Memory>>>> = PerProcess::new();
        if name.is_empty() {
            return Arc::default();
        }
        let mut named = lock(NAMED.get());
        Arc::clone(named.entry(name.to_owned()).or_default())
    }

    fn lock(&self) -> MutexGuard<'_, Data> {
        lock(&self.0)
    }
}

#[async_trait]
impl RecordStore for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    async fn read(&self, key: &str) -> Result<Option<Versioned>, Error> {
        Ok(self.lock().records.get(key).cloned())
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, Error> {
        let mut data = self.lock();
        if data.records.get(key).map_or(0, |found| found.version) != expected {
            return Ok(WriteOutcome::Conflict);
        }
        let version = expected + 1;
        data.records.insert(key.to_owned(), Versioned { value: value.to_owned(), version });
        Ok(WriteOutcome::Version(version))
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Versioned)>, Error> {
        let data = self.lock();
        let directly_under = data.records.iter().filter_map(|(key, found)| {
            key.strip_prefix(prefix).filter(|part| !part.contains('/')).map(|part| (part.to_owned(), found.clone()))
        });
        Ok(directly_under.collect())
    }

    async fn list_below(&self, prefix: &str) -> Result<Option<Vec<(String, Versioned)>>, Error> {
        let data = self.lock();
        let below = data.records.iter().filter_map(|(key, found)| Some((key.strip_prefix(prefix)?, found)));
        Ok(Some(below.map(|(part, found)| (part.to_owned(), found.clone())).collect()))
    }
}

#[async_trait]
impl CounterStore for Memory {
    async fn add(&self, counter: &str, delta: u64, start: u64) -> Result<u64, Error> {
        let mut data = self.lock();
        let there = data.counters.get(counter).copied().unwrap_or(start);
        let sum = sum(there, delta).ok_or_else(|| full(self.name(), counter))?;
        data.counters.insert(counter.to_owned(), sum);
        Ok(sum)
    }

    async fn lower(&self, counter: &str, end: u64, start: u64) -> Result<bool, Error> {
        let mut data = self.lock();
        Ok(match data.counters.get_mut(counter) {
            Some(there) if *there == end => {
                *there = start;
                true
            }
            _ => false,
        })
    }
}
