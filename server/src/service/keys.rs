//! Keys, for clients of Redis.

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream;
use snowmint_core::ErrorKind;
use snowmint_stores::{Error, Key, SegmentsOptions, Store};

use super::opened::{Locked, Opened, Put};
use super::{AT_ONCE, Deadline, MOST, Settings, closing};

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
    opened: Arc<Opened<Key>>,
}

impl Keys {
    pub fn new(store: Arc<dyn Store>, settings: &Settings) -> Self {
        Self {
            store,
            step: settings.step,
            options: SegmentsOptions { max_wait_ms: settings.max_wait_ms },
            opened: Opened::new(MOST_KEYS, Vec::new()),
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
        let there = self.opened.get(name).is_some() || self.exists(name).await?;
        if there { self.next(name).await.map(Some) } else { Ok(None) }
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
        let deadline = self.deadline();
        loop {
            let (key, is_new) = match self.opened.get(name) {
                Some(key) => (key, false),
                None => (deadline.ends(self.open(name)).await?, true),
            };
            let call = async {
                match wanted {
                    Wanted::Next => key.next().await,
                    Wanted::Last => deadline.ends(key.last()).await,
                    Wanted::Block(count) => key.next_block(count).await.map(|block| block.end - 1),
                }
            };
            // One that was open has its own deadline, and says more about why it ends.
            match if is_new { deadline.ends(call).await } else { call.await } {
                // It was set, deleted or given back in between.
                Err(error) if error.kind() == ErrorKind::WindowClosed && !self.opened.is(name, &key) => {}
                done => return done,
            }
        }
    }

    async fn open(&self, name: &str) -> Result<Arc<Key>, Error> {
        let locked = self.opened.lock(name).await;
        if let Some(key) = locked.get() {
            return Ok(key);
        }
        if self.opened.is_over() {
            return Err(closing());
        }
        let key = Key::open(Arc::clone(&self.store), name, self.step, self.options).await?;
        let Put { value, surplus } = locked.put(key).map_err(|_| closing())?;
        drop(tokio::spawn(give_back(surplus)));
        Ok(value)
    }

    /// Whether a key is there, whichever server has it open.
    pub async fn exists(&self, name: &str) -> Result<bool, Error> {
        self.deadline().ends(Key::exists(&*self.store, name)).await
    }

    /// Has a key go on above a number, at the earliest.
    pub async fn set(&self, name: &str, value: u64) -> Result<(), Error> {
        let call = async {
            let locked = self.opened.lock(name).await;
            if let Some(key) = locked.get()
                && key.last().await? >= value
            {
                return Ok(());
            }
            if let Some(key) = locked.take() {
                close(&key).await;
            }
            Key::raise(&*self.store, name, value).await
        };
        self.deadline().ends(call).await
    }

    /// Has a key go away; whether it was there. Should it come again, its numbers go on.
    pub async fn delete(&self, name: &str) -> Result<bool, Error> {
        let call = async {
            let locked = self.opened.lock(name).await;
            if let Some(key) = locked.take() {
                close(&key).await;
            }
            Key::delete(&*self.store, name).await
        };
        self.deadline().ends(call).await
    }

    fn deadline(&self) -> Deadline<'_> {
        Deadline::of(&*self.store, self.options.max_wait_ms)
    }

    /// How many are in use.
    pub fn names(&self) -> usize {
        self.opened.len()
    }

    /// Gives back what nobody used for a while.
    pub async fn sweep(&self) {
        give_back(self.opened.take_idle()).await;
    }

    /// Gives everything back, and opens nothing any more.
    pub async fn close(&self) {
        let keys = stream::iter(self.opened.take_all());
        keys.for_each_concurrent(AT_ONCE, async |key| close(&key).await).await;
    }
}

/// Gives keys back, each of which is locked until then.
async fn give_back(keys: Vec<(Locked<Key>, Arc<Key>)>) {
    stream::iter(keys).for_each_concurrent(AT_ONCE, async |(_locked, key)| close(&key).await).await;
}

/// What cannot be given back is left out.
async fn close(key: &Key) {
    if let Err(error) = key.close().await {
        tracing::warn!(%error, "numbers of a key are left out");
    }
}
