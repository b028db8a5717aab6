//! Keys, for clients of Redis.

use std::sync::Arc;

use snowmint_core::ErrorKind;
use snowmint_stores::{Error, Key, SegmentsOptions, Store};
use tokio::sync::Mutex;

use super::opened::Opened;
use super::{MOST, Settings, closing};

/// The most keys at a time that have numbers at hand.
const MOST_KEYS: usize = 10_000;

/// What is wanted of a key.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    Next,
    Last,
    Block(u64),
}

/// The keys in use.
#[derive(Debug)]
pub struct Keys {
    store: Arc<dyn Store>,
    step: u64,
    options: SegmentsOptions,
    opened: Opened<Key>,
    /// Held while one is opened, set or deleted; false once all are closed.
    opening: Mutex<bool>,
}

impl Keys {
    pub fn new(store: Arc<dyn Store>, settings: &Settings) -> Self {
        Self {
            store,
            step: settings.step,
            options: SegmentsOptions { max_wait_ms: settings.max_wait_ms },
            opened: Opened::new(MOST_KEYS),
            opening: Mutex::new(true),
        }
    }

    /// The next number of a key that is at hand, without waiting.
    #[inline]
    pub fn at_hand(&self, name: &str) -> Option<u64> {
        self.opened.with(name, |key| key.try_next().ok())?
    }

    /// The next number of a key, which comes into being.
    pub async fn next(&self, name: &str) -> Result<u64, Error> {
        self.take(name, Wanted::Next).await
    }

    /// The next number of a key, if it is there.
    pub async fn next_if_there(&self, name: &str) -> Result<Option<u64>, Error> {
        if self.exists(name).await? { self.next(name).await.map(Some) } else { Ok(None) }
    }

    /// The last of so many numbers that follow each other and are the caller's; of none, the last one given.
    pub async fn reserve(&self, name: &str, count: u64) -> Result<u64, Error> {
        match count {
            0 => self.take(name, Wanted::Last).await,
            1..=MOST => self.take(name, Wanted::Block(count)).await,
            _ => Err(Error::told(ErrorKind::InvalidId, format!("at most {MOST} numbers at a time, not {count}"))),
        }
    }

    async fn take(&self, name: &str, wanted: Wanted) -> Result<u64, Error> {
        loop {
            let key = match self.opened.get(name) {
                Some(key) => key,
                None => self.open(name).await?,
            };
            let taken = match wanted {
                Wanted::Next => key.next().await,
                Wanted::Last => key.last().await,
                Wanted::Block(count) => key.next_block(count).await.map(|block| block.end - 1),
            };
            match taken {
                // It was set, deleted or swept away in between.
                Err(error) if error.kind() == ErrorKind::WindowClosed && !self.is_open(name, &key) => {}
                done => return done,
            }
        }
    }

    fn is_open(&self, name: &str, key: &Arc<Key>) -> bool {
        self.opened.get(name).is_some_and(|there| Arc::ptr_eq(&there, key))
    }

    async fn open(&self, name: &str) -> Result<Arc<Key>, Error> {
        let opening = self.opening.lock().await;
        if let Some(key) = self.opened.get(name) {
            return Ok(key);
        }
        if !*opening {
            return Err(closing());
        }
        if self.opened.is_full() {
            return Err(Error::told(
                ErrorKind::Exhausted,
                format!("{MOST_KEYS} keys are in use: try again in some minutes"),
            ));
        }
        let key = Key::open(Arc::clone(&self.store), name, self.step, self.options).await?;
        Ok(self.opened.insert(name, key))
    }

    /// Whether a key is there.
    pub async fn exists(&self, name: &str) -> Result<bool, Error> {
        Ok(self.opened.get(name).is_some() || Key::exists(&*self.store, name).await?)
    }

    /// Has a key go on above a number, at the earliest.
    pub async fn set(&self, name: &str, value: u64) -> Result<(), Error> {
        let opening = self.opening.lock().await;
        if !*opening {
            return Err(closing());
        }
        if let Some(key) = self.opened.get(name)
            && key.last().await? >= value
        {
            return Ok(());
        }
        if let Some(key) = self.opened.remove(name) {
            give_back(&key).await;
        }
        Key::raise(&*self.store, name, value).await
    }

    /// Has a key go away; whether it was there. Should it come again, its numbers go on.
    pub async fn delete(&self, name: &str) -> Result<bool, Error> {
        let _opening = self.opening.lock().await;
        if let Some(key) = self.opened.remove(name) {
            give_back(&key).await;
        }
        Key::delete(&*self.store, name).await
    }

    /// Gives back what nobody used for a while.
    pub async fn sweep(&self) {
        let _opening = self.opening.lock().await;
        for key in self.opened.take_idle() {
            give_back(&key).await;
        }
    }

    /// Gives everything back, and opens nothing any more.
    pub async fn close(&self) {
        *self.opening.lock().await = false;
        for key in self.opened.take_all() {
            give_back(&key).await;
        }
    }
}

/// What cannot be given back is left out.
async fn give_back(key: &Key) {
    if let Err(error) = key.close().await {
        tracing::warn!(%error, "numbers of a key are left out");
    }
}
