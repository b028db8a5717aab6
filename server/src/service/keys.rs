//! Keys for Redis clients.

use std::sync::Arc;
use std::time::Duration;

use snowmint_core::ErrorKind;
use snowmint_core::segment::MAX_STEP;
use snowmint_stores::{CounterStore, Error, Key, SegmentsOptions};

use super::Settings;
use super::failure::Failure;
use super::openings::{Deadline, Openings};
use super::pool::{Pool, Pooled};

/// The limit of keys with numbers in memory.
const MAX_OPEN_KEYS: usize = 10_000;

/// The numbers that a command takes of a key.
#[derive(Clone, Copy, Debug)]
enum Take {
    Next,
    Last,
    Block(u64),
}

/// The keys in use.
#[derive(Debug)]
pub struct Keys {
    store: Arc<dyn CounterStore>,
    step: u64,
    options: SegmentsOptions,
    openings: Openings,
    pool: Arc<Pool<Key>>,
}

impl Keys {
    pub fn new(store: Arc<dyn CounterStore>, openings: Openings, settings: &Settings) -> Self {
        Self {
            store,
            openings,
            step: settings.step,
            options: SegmentsOptions::default().max_wait(Duration::from_millis(settings.max_wait_ms)),
            pool: Pool::new(MAX_OPEN_KEYS, Vec::new()),
        }
    }

    /// Returns the next number of a key if it is in memory. Does not wait.
    #[inline]
    pub fn try_next(&self, name: &str) -> Option<u64> {
        self.pool.try_with(name, |key| key.try_next().ok())?
    }

    /// Returns the next number of a key. The first use creates the key.
    pub async fn next(&self, name: &str) -> Result<u64, Failure> {
        self.take(name, Take::Next).await
    }

    /// Returns the next number of a key, or `None` if the key does not exist.
    pub async fn next_if_there(&self, name: &str) -> Result<Option<u64>, Failure> {
        let there = self.pool.get(name).is_some() || self.exists(name).await?;
        if there { self.next(name).await.map(Some) } else { Ok(None) }
    }

    /// Returns the high-water mark of a key and takes no number: numbers given so far are at most this, and later ones of this
    /// server are higher. `None` if the key does not exist.
    pub async fn last_if_there(&self, name: &str) -> Result<Option<u64>, Failure> {
        let call = async {
            match self.pool.get(name) {
                Some(key) => key.last().await.map(Some),
                None => Key::mark(&*self.store, name).await,
            }
        };
        self.deadline().ends(call).await
    }

    /// Reserves `count` numbers without gaps and returns the last one. For 0, returns the last number given.
    ///
    /// # Errors
    /// `InvalidId`, if `count` is above [`MAX_STEP`]: a range holds no more numbers.
    pub async fn reserve(&self, name: &str, count: u64) -> Result<u64, Failure> {
        match count {
            0 => self.take(name, Take::Last).await,
            1..=MAX_STEP => self.take(name, Take::Block(count)).await,
            _ => {
                let message = format!("INCRBY takes at most {MAX_STEP} numbers, not {count}: send it several times");
                Err(Error::new(ErrorKind::InvalidId, message).into())
            }
        }
    }

    async fn take(&self, name: &str, take: Take) -> Result<u64, Failure> {
        let open = || {
            let (store, name, step, options) = (Arc::clone(&self.store), name.to_owned(), self.step, self.options);
            async move { Key::open(store, &name, step, options).await }
        };
        let call = |key: Arc<Key>| async move {
            match take {
                Take::Next => key.next().await,
                Take::Last => key.last().await,
                Take::Block(count) => key.next_block(count).await.map(|block| block.end - 1),
            }
        };
        self.openings.with(&self.pool, name, open, call).await
    }

    /// Returns whether a key exists, on this or another server.
    pub async fn exists(&self, name: &str) -> Result<bool, Failure> {
        self.deadline().ends(Key::exists(&*self.store, name)).await
    }

    /// Raises a key: its next number is above `value`, and above all numbers given before.
    ///
    /// # Errors
    /// `InvalidId`, if the key is above `value`: nothing is set.
    pub async fn set(&self, name: &str, value: u64) -> Result<(), Failure> {
        let call = async {
            let _closed = self.pool.lock_closed(name).await;
            Key::raise(&*self.store, name, value).await
        };
        self.deadline().ends(call).await
    }

    /// Deletes a key, and returns whether it existed. A later use of the name continues above its numbers.
    pub async fn delete(&self, name: &str) -> Result<bool, Failure> {
        let call = async {
            let _closed = self.pool.lock_closed(name).await;
            Key::delete(&*self.store, name).await
        };
        self.deadline().ends(call).await
    }

    fn deadline(&self) -> Deadline<'_> {
        self.openings.deadline()
    }

    /// Returns how many keys are open.
    pub fn names(&self) -> usize {
        self.pool.len()
    }

    /// Gives back the numbers of keys that were not used for a while.
    pub async fn sweep(&self) {
        self.pool.sweep().await;
    }

    /// Gives all numbers back, and opens no key any more.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

impl Pooled for Key {
    async fn give_back(self: Arc<Self>) {
        if let Err(error) = self.close().await {
            tracing::warn!(%error, "unused numbers of a key are lost");
        }
    }
}
