//! Values that are open by name. Each name is opened once, at its first use, and the values unused for longest make room.
//!
//! A name stays locked from the removal of its value until the value is given back, so no name is open twice. Caches of crates
//! remove first: `moka` runs its eviction listener while `get_with` opens the same name again.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use futures_util::StreamExt as _;
use futures_util::stream;
use snowmint_core::{Error as CoreError, ErrorKind};
use snowmint_stores::Error;
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::failure::Failure;

/// How many values are given back at the same time.
const MAX_CONCURRENT: usize = 1024;

/// A value that a pool gives back when it is not needed any more.
pub trait Pooled: Send + Sync + 'static {
    /// Gives the unused part back to the store: numbers, or a lease. The value cannot be used afterwards.
    fn give_back(self: Arc<Self>) -> impl Future<Output = ()> + Send;

    /// Returns whether the value can never be used again. The next call opens its name again.
    fn is_lost(&self) -> bool {
        false
    }
}

#[derive(Debug)]
struct Entry<T> {
    /// `None` while the value is opened or given back.
    value: Option<Arc<T>>,
    /// The turn of the last use.
    used: AtomicU64,
    /// Held while the value is opened, changed or given back.
    lock: Arc<Mutex<()>>,
}

/// Values by name.
#[derive(Debug)]
pub struct Pool<T> {
    entries: RwLock<HashMap<String, Entry<T>>>,
    /// The limit of values.
    most: usize,
    /// Names that never make room for others.
    kept: Vec<String>,
    /// Counts opened values and sweeps.
    turn: AtomicU64,
    /// The turn of the last sweep.
    swept: AtomicU64,
    over: AtomicBool,
}

/// A locked name: no other task opens, changes or gives back its value.
#[derive(Debug)]
pub struct Locked<T> {
    pool: Arc<Pool<T>>,
    name: String,
    /// `None` while the lock is awaited.
    guard: Option<OwnedMutexGuard<()>>,
}

/// Values taken out of the pool. Each name stays locked until its value is given back.
type Taken<T> = Vec<(Locked<T>, Arc<T>)>;

impl<T: Pooled> Pool<T> {
    /// Returns the value of a name. Runs `opening` for a new name and keeps its value; calls for the same name wait for it.
    ///
    /// A caller that gives up does not end `opening`: the next caller gets its value.
    ///
    /// # Errors
    /// `WindowClosed` after [`Self::close`], and the errors of `opening`.
    pub async fn open(
        self: &Arc<Self>,
        name: &str,
        opening: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<Arc<T>, Error> {
        if let Some(value) = self.get(name) {
            return Ok(value);
        }
        let locked = self.lock(name).await;
        if let Some(value) = self.get(name) {
            return Ok(value);
        }
        if self.is_over() {
            return Err(CoreError::closed().into());
        }
        let opened = tokio::spawn(async move {
            match locked.put(opening.await?) {
                Ok((value, surplus)) => {
                    if !surplus.is_empty() {
                        drop(tokio::spawn(give_back(surplus)));
                    }
                    Ok(value)
                }
                Err(value) => {
                    Arc::new(value).give_back().await;
                    Err(CoreError::closed().into())
                }
            }
        });
        opened.await.unwrap_or_else(|error| Err(Error::new(ErrorKind::StoreUnavailable, error.to_string())))
    }

    /// Calls the value of a name, which `open` opens if it is not open. Repeats both if the value was given back before the call.
    ///
    /// `call` also gets whether `open` has just opened the value.
    ///
    /// # Errors
    /// The errors of `open` and `call`.
    pub async fn with<R, Opening, Call>(
        self: &Arc<Self>,
        name: &str,
        open: impl Fn() -> Opening,
        call: impl Fn(Arc<T>, bool) -> Call,
    ) -> Result<R, Failure>
    where
        Opening: Future<Output = Result<Arc<T>, Failure>>,
        Call: Future<Output = Result<R, Failure>>,
    {
        loop {
            let (value, is_new) = match self.get(name) {
                Some(value) => (value, false),
                None => (open().await?, true),
            };
            let done = call(Arc::clone(&value), is_new).await;
            let is_closed = matches!(&done, Err(Failure::Error(error)) if error.kind() == ErrorKind::WindowClosed);
            if is_closed && !self.is(name, &value) {
                continue;
            }
            if done.is_err() && value.is_lost() {
                self.forget(name, &value).await;
            }
            return done;
        }
    }

    /// Gives the value of a name back, if it is open. The name stays locked until the result is dropped.
    pub async fn lock_closed(self: &Arc<Self>, name: &str) -> Locked<T> {
        let locked = self.lock(name).await;
        if let Some(value) = locked.take() {
            value.give_back().await;
        }
        locked
    }

    /// Drops a value without giving it back, unless the name has another value by now.
    async fn forget(self: &Arc<Self>, name: &str, value: &Arc<T>) {
        let locked = self.lock(name).await;
        if self.is(name, value) {
            drop(locked.take());
        }
    }

    /// Gives back the values that were not used since the last sweep.
    pub async fn sweep(self: &Arc<Self>) {
        give_back(self.take_idle()).await;
    }

    /// Gives all values back, and opens no name any more.
    pub async fn close(&self) {
        stream::iter(self.take_all()).for_each_concurrent(MAX_CONCURRENT, T::give_back).await;
    }
}

/// Gives values back, and then unlocks the name of each value.
async fn give_back<T: Pooled>(taken: Taken<T>) {
    stream::iter(taken).for_each_concurrent(MAX_CONCURRENT, async |(_locked, value)| value.give_back().await).await;
}

impl<T> Pool<T> {
    /// Returns whether a name never makes room for others.
    pub fn keeps(&self, name: &str) -> bool {
        self.kept.iter().any(|kept| kept == name)
    }

    /// Returns a pool of at most `most` values, besides the names in `kept`.
    pub fn new(most: usize, kept: Vec<String>) -> Arc<Self> {
        Arc::new(Self {
            entries: RwLock::default(),
            most,
            kept,
            turn: AtomicU64::new(1),
            swept: AtomicU64::new(0),
            over: AtomicBool::new(false),
        })
    }

    /// Passes the open value of a name to `work`, without waiting.
    #[inline]
    pub fn try_with<R>(&self, name: &str, work: impl FnOnce(&T) -> R) -> Option<R> {
        let entries = self.read();
        let entry = entries.get(name)?;
        let value = entry.value.as_ref()?;
        self.note(entry);
        Some(work(value))
    }

    /// Returns the open value of a name.
    pub fn get(&self, name: &str) -> Option<Arc<T>> {
        let entries = self.read();
        let entry = entries.get(name)?;
        self.note(entry);
        entry.value.clone()
    }

    /// Returns how many values are open.
    pub fn len(&self) -> usize {
        self.read().values().filter(|entry| entry.value.is_some()).count()
    }

    /// Returns all open values. This does not count as a use.
    pub fn all(&self) -> Vec<Arc<T>> {
        self.read().values().filter_map(|entry| entry.value.clone()).collect()
    }

    /// Returns whether the pool is closed for good.
    fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Returns whether `value` is the open value of a name.
    fn is(&self, name: &str, value: &Arc<T>) -> bool {
        self.read().get(name).and_then(|entry| entry.value.as_ref()).is_some_and(|open| Arc::ptr_eq(open, value))
    }

    /// Notes a use.
    #[inline]
    fn note(&self, entry: &Entry<T>) {
        let turn = self.turn.load(Ordering::Relaxed);
        // Usually the turn is noted already: skips the write to a shared cache line.
        if entry.used.load(Ordering::Relaxed) != turn {
            entry.used.store(turn, Ordering::Relaxed);
        }
    }

    /// Waits until no other task opens, changes or gives back the value of a name.
    async fn lock(self: &Arc<Self>, name: &str) -> Locked<T> {
        // Made before the lock, so that a caller that gives up here removes the entry of an unused name.
        let mut locked = Locked { pool: Arc::clone(self), name: name.to_owned(), guard: None };
        let lock = {
            let mut entries = self.write();
            let entry = entries.entry(name.to_owned()).or_insert_with(|| Entry {
                value: None,
                used: AtomicU64::new(self.turn.load(Ordering::Relaxed)),
                lock: Arc::default(),
            });
            Arc::clone(&entry.lock)
        };
        locked.guard = Some(lock.lock_owned().await);
        locked
    }

    /// Locks a name, unless another task has locked it.
    fn try_lock(self: &Arc<Self>, name: &str) -> Option<Locked<T>> {
        let lock = Arc::clone(&self.read().get(name)?.lock);
        let guard = lock.try_lock_owned().ok()?;
        Some(Locked { pool: Arc::clone(self), name: name.to_owned(), guard: Some(guard) })
    }

    /// Takes out the values that were not used since the last call.
    fn take_idle(self: &Arc<Self>) -> Taken<T> {
        let since = self.swept.swap(self.turn.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        let idle: Vec<_> = {
            let entries = self.read();
            let idle = entries.iter().filter(|(_, entry)| entry.used.load(Ordering::Relaxed) < since);
            idle.map(|(name, _)| name.clone()).collect()
        };
        idle.iter().filter_map(|name| self.take(name)).collect()
    }

    /// Takes out the values unused for longest, if there are more values than the limit.
    fn take_surplus(self: &Arc<Self>) -> Taken<T> {
        let mut surplus: Vec<_> = {
            let entries = self.read();
            if entries.len() <= self.most {
                return Vec::new();
            }
            let open = entries.iter().filter(|(name, entry)| entry.value.is_some() && !self.kept.contains(name));
            open.map(|(name, entry)| (entry.used.load(Ordering::Relaxed), name.clone())).collect()
        };
        // Takes some more than needed, because each search reads all entries.
        let many = if surplus.len() > self.most { surplus.len() - self.most + self.most / 64 } else { 0 };
        if many < surplus.len() && many > 0 {
            surplus.select_nth_unstable(many);
        }
        surplus.truncate(many);
        surplus.iter().filter_map(|(_, name)| self.take(name)).collect()
    }

    /// Takes out all values, and closes the pool for good.
    fn take_all(&self) -> Vec<Arc<T>> {
        self.over.store(true, Ordering::SeqCst);
        self.write().values_mut().filter_map(|entry| entry.value.take()).collect()
    }

    fn take(self: &Arc<Self>, name: &str) -> Option<(Locked<T>, Arc<T>)> {
        let locked = self.try_lock(name)?;
        let value = locked.take()?;
        Some((locked, value))
    }

    fn read(&self) -> RwLockReadGuard<'_, HashMap<String, Entry<T>>> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<String, Entry<T>>> {
        self.entries.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Locked<T> {
    /// Takes the value out. The name stays locked, so that the caller can give the value back.
    fn take(&self) -> Option<Arc<T>> {
        self.pool.write().get_mut(&self.name)?.value.take()
    }

    /// Puts a value in. Returns it with the values that must make room, or returns `Err(value)` if the pool is closed.
    fn put(&self, value: T) -> Result<(Arc<T>, Taken<T>), T> {
        let mut entries = self.pool.write();
        // Checked under the lock that `take_all` needs.
        let entry = entries.get_mut(&self.name).filter(|_| !self.pool.is_over());
        let Some(entry) = entry else { return Err(value) };
        let value = Arc::new(value);
        entry.value = Some(Arc::clone(&value));
        // Later than all earlier uses, and earlier than all later ones.
        entry.used.store(self.pool.turn.fetch_add(2, Ordering::Relaxed) + 1, Ordering::Relaxed);
        drop(entries);
        Ok((value, self.pool.take_surplus()))
    }
}

impl<T> Drop for Locked<T> {
    fn drop(&mut self) {
        self.guard = None;
        let mut entries = self.pool.write();
        let unused = |entry: &Entry<T>| entry.value.is_none() && Arc::strong_count(&entry.lock) == 1;
        if entries.get(&self.name).is_some_and(unused) {
            entries.remove(&self.name);
        }
    }
}
