//! What is open by name: each name is opened for itself, in time, and those that were not used for longest make room.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tokio::sync::{Mutex, OwnedMutexGuard};

#[derive(Debug)]
struct Place<T> {
    /// Nothing while it is opened, or given back.
    value: Option<Arc<T>>,
    /// When it was used last: how many were opened before.
    used: AtomicU64,
    /// Held while it is opened, changed or given back.
    lock: Arc<Mutex<()>>,
}

/// Values by name.
#[derive(Debug)]
pub struct Opened<T> {
    places: RwLock<HashMap<String, Place<T>>>,
    most: usize,
    /// Names that make room for no others, and need none.
    kept: Vec<String>,
    /// Counts what was opened, and sweeps.
    turn: AtomicU64,
    /// The turn of the last sweep.
    swept: AtomicU64,
    over: AtomicBool,
}

/// One name that nobody else opens, changes or gives back meanwhile.
#[derive(Debug)]
pub struct Locked<T> {
    opened: Arc<Opened<T>>,
    name: String,
    /// Nothing while it waits.
    guard: Option<OwnedMutexGuard<()>>,
}

impl<T> Opened<T> {
    /// At most so many, besides those that are kept.
    pub fn new(most: usize, kept: Vec<String>) -> Arc<Self> {
        Arc::new(Self {
            places: RwLock::default(),
            most,
            kept,
            turn: AtomicU64::new(1),
            swept: AtomicU64::new(0),
            over: AtomicBool::new(false),
        })
    }

    /// Does something with one, without waiting.
    #[inline]
    pub fn with<R>(&self, name: &str, work: impl FnOnce(&T) -> R) -> Option<R> {
        let places = self.read();
        let place = places.get(name)?;
        let value = place.value.as_ref()?;
        self.note(place);
        Some(work(value))
    }

    /// One to keep for a while.
    pub fn get(&self, name: &str) -> Option<Arc<T>> {
        let places = self.read();
        let place = places.get(name)?;
        self.note(place);
        place.value.clone()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.read().values().filter(|place| place.value.is_some()).count()
    }

    /// All of them, not counted as used.
    pub fn all(&self) -> Vec<Arc<T>> {
        self.read().values().filter_map(|place| place.value.clone()).collect()
    }

    /// Whether all are closed for good.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Whether this is what is open by that name.
    pub fn is(&self, name: &str, value: &Arc<T>) -> bool {
        self.read().get(name).and_then(|place| place.value.as_ref()).is_some_and(|there| Arc::ptr_eq(there, value))
    }

    #[inline]
    fn note(&self, place: &Place<T>) {
        let turn = self.turn.load(Ordering::Relaxed);
        // Mostly it is noted already: no cache line is written for nothing.
        if place.used.load(Ordering::Relaxed) != turn {
            place.used.store(turn, Ordering::Relaxed);
        }
    }

    /// Waits until nobody else opens, changes or gives back that name.
    pub async fn lock(self: &Arc<Self>, name: &str) -> Locked<T> {
        // Before the lock: who gives up here forgets the name only after that.
        let mut locked = Locked { opened: Arc::clone(self), name: name.to_owned(), guard: None };
        let lock = {
            let mut places = self.write();
            let place = places.entry(name.to_owned()).or_insert_with(|| Place {
                value: None,
                used: AtomicU64::new(self.turn.load(Ordering::Relaxed)),
                lock: Arc::default(),
            });
            Arc::clone(&place.lock)
        };
        locked.guard = Some(lock.lock_owned().await);
        locked
    }

    /// Locks a name if nobody else does.
    fn try_lock(self: &Arc<Self>, name: &str) -> Option<Locked<T>> {
        let lock = Arc::clone(&self.read().get(name)?.lock);
        let guard = lock.try_lock_owned().ok()?;
        Some(Locked { opened: Arc::clone(self), name: name.to_owned(), guard: Some(guard) })
    }

    /// Takes those out that nobody used since the last time, each with its lock, for who gives it back.
    pub fn take_idle(self: &Arc<Self>) -> Vec<(Locked<T>, Arc<T>)> {
        let since = self.swept.swap(self.turn.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        let idle: Vec<_> = {
            let places = self.read();
            let idle = places.iter().filter(|(_, place)| place.used.load(Ordering::Relaxed) < since);
            idle.map(|(name, _)| name.clone()).collect()
        };
        idle.iter().filter_map(|name| self.take(name)).collect()
    }

    /// Takes those out that were not used for longest, if there are more than there may be.
    fn take_surplus(self: &Arc<Self>) -> Vec<(Locked<T>, Arc<T>)> {
        let mut surplus: Vec<_> = {
            let places = self.read();
            if places.len() <= self.most {
                return Vec::new();
            }
            let open = places.iter().filter(|(name, place)| place.value.is_some() && !self.kept.contains(name));
            open.map(|(name, place)| (place.used.load(Ordering::Relaxed), name.clone())).collect()
        };
        // Some more than there have to be, as each look goes over all.
        let many = if surplus.len() > self.most { surplus.len() - self.most + self.most / 64 } else { 0 };
        if many < surplus.len() && many > 0 {
            surplus.select_nth_unstable(many);
        }
        surplus.truncate(many);
        surplus.iter().filter_map(|(_, name)| self.take(name)).collect()
    }

    /// Takes all out; none comes any more.
    pub fn take_all(&self) -> Vec<Arc<T>> {
        self.over.store(true, Ordering::SeqCst);
        self.write().values_mut().filter_map(|place| place.value.take()).collect()
    }

    fn take(self: &Arc<Self>, name: &str) -> Option<(Locked<T>, Arc<T>)> {
        let locked = self.try_lock(name)?;
        let value = locked.take()?;
        Some((locked, value))
    }

    fn read(&self) -> RwLockReadGuard<'_, HashMap<String, Place<T>>> {
        self.places.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<String, Place<T>>> {
        self.places.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Locked<T> {
    /// What is open by that name.
    pub fn get(&self) -> Option<Arc<T>> {
        self.opened.get(&self.name)
    }

    /// Takes it out; the name stays locked, for who gives it back.
    pub fn take(&self) -> Option<Arc<T>> {
        self.opened.write().get_mut(&self.name)?.value.take()
    }

    /// Puts one in, and takes those out for which there is no room any more, each with its lock. Gives it back, if all are
    /// closed for good.
    pub fn put(&self, value: T) -> Result<Put<T>, T> {
        let mut places = self.opened.write();
        // Under the lock of the places, where `take_all` looks.
        let place = places.get_mut(&self.name).filter(|_| !self.opened.is_over());
        let Some(place) = place else { return Err(value) };
        let value = Arc::new(value);
        place.value = Some(Arc::clone(&value));
        // After those that were used before it, and before those that are used after it.
        place.used.store(self.opened.turn.fetch_add(2, Ordering::Relaxed) + 1, Ordering::Relaxed);
        drop(places);
        Ok(Put { value, surplus: self.opened.take_surplus() })
    }
}

/// What was put in, and who makes room for it.
#[derive(Debug)]
pub struct Put<T> {
    pub value: Arc<T>,
    pub surplus: Vec<(Locked<T>, Arc<T>)>,
}

impl<T> Drop for Locked<T> {
    fn drop(&mut self) {
        self.guard = None;
        let mut places = self.opened.write();
        let idle = |place: &Place<T>| place.value.is_none() && Arc::strong_count(&place.lock) == 1;
        if places.get(&self.name).is_some_and(idle) {
            places.remove(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    async fn put(opened: &Arc<Opened<i32>>, name: &str, value: i32) -> Vec<i32> {
        let put = opened.lock(name).await.put(value).expect("it is open");
        put.surplus.into_iter().map(|(_, value)| *value).collect()
    }

    #[tokio::test]
    async fn values_not_used_between_two_sweeps_are_taken_out() {
        let opened = Opened::new(9, Vec::new());
        put(&opened, "a", 1).await;
        put(&opened, "b", 2).await;
        assert!(opened.take_idle().is_empty(), "both were just put in");
        assert_eq!(opened.with("a", |value| *value), Some(1));
        let idle = opened.take_idle();
        assert_eq!(idle.iter().map(|(_, value)| **value).collect::<Vec<_>>(), [2]);
        assert_eq!(opened.get("b"), None);
        assert_eq!(opened.take_all(), [Arc::new(1)]);
        assert_eq!(opened.lock("c").await.put(3).expect_err("all are closed"), 3);
    }

    #[tokio::test]
    async fn values_not_used_for_longest_make_room_and_kept_ones_stay() {
        let opened = Opened::new(2, vec!["kept".to_owned()]);
        for (name, value) in [("kept", 0), ("a", 1), ("b", 2)] {
            assert!(put(&opened, name, value).await.is_empty());
        }
        assert!(opened.get("a").is_some());
        assert_eq!(put(&opened, "c", 3).await, [2]);
        assert_eq!(put(&opened, "d", 4).await, [1]);
        assert!(opened.get("kept").is_some() && opened.get("c").is_some());
    }

    #[tokio::test]
    async fn names_are_locked_one_by_one_and_forgotten() {
        let opened = Opened::<i32>::new(2, Vec::new());
        let first = opened.lock("a").await;
        opened.lock("b").await.put(2).expect("it is open");
        assert!(timeout(Duration::from_millis(20), opened.lock("a")).await.is_err());
        drop(first);
        assert!(timeout(Duration::from_secs(10), opened.lock("a")).await.is_ok());
        assert_eq!(opened.read().len(), 1, "what is not open takes no room");
    }
}
