//! What is open by name, as long as it is used.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

#[derive(Debug)]
struct Place<T> {
    value: Arc<T>,
    used: AtomicBool,
}

/// Values by name.
#[derive(Debug)]
pub struct Opened<T> {
    places: RwLock<HashMap<String, Place<T>>>,
    most: usize,
}

impl<T> Opened<T> {
    /// At most so many.
    pub fn new(most: usize) -> Self {
        Self { places: RwLock::default(), most }
    }

    /// Does something with one, without waiting.
    #[inline]
    pub fn with<R>(&self, name: &str, work: impl FnOnce(&T) -> R) -> Option<R> {
        let places = self.read();
        let place = places.get(name)?;
        if !place.used.load(Ordering::Relaxed) {
            place.used.store(true, Ordering::Relaxed);
        }
        Some(work(&place.value))
    }

    /// One to keep for a while.
    pub fn get(&self, name: &str) -> Option<Arc<T>> {
        let places = self.read();
        let place = places.get(name)?;
        place.used.store(true, Ordering::Relaxed);
        Some(Arc::clone(&place.value))
    }

    /// Whether there is no room for another one.
    pub fn is_full(&self) -> bool {
        self.read().len() >= self.most
    }

    /// Puts one in.
    pub fn insert(&self, name: &str, value: T) -> Arc<T> {
        let value = Arc::new(value);
        self.write().insert(name.to_owned(), Place { value: Arc::clone(&value), used: AtomicBool::new(true) });
        value
    }

    /// Takes one out.
    pub fn remove(&self, name: &str) -> Option<Arc<T>> {
        self.write().remove(name).map(|place| place.value)
    }

    /// Takes those out that nobody used since the last time.
    pub fn take_idle(&self) -> Vec<Arc<T>> {
        let mut idle = Vec::new();
        self.write().retain(|_, place| {
            let used = place.used.swap(false, Ordering::Relaxed);
            if !used {
                idle.push(Arc::clone(&place.value));
            }
            used
        });
        idle
    }

    /// Takes all out.
    pub fn take_all(&self) -> Vec<Arc<T>> {
        self.write().drain().map(|(_, place)| place.value).collect()
    }

    fn read(&self) -> RwLockReadGuard<'_, HashMap<String, Place<T>>> {
        self.places.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<String, Place<T>>> {
        self.places.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_used_between_two_sweeps_is_taken_out() {
        let opened = Opened::new(2);
        opened.insert("a", 1);
        opened.insert("b", 2);
        assert!(opened.is_full());
        assert!(opened.take_idle().is_empty(), "both were just put in");
        assert_eq!(opened.with("a", |value| *value), Some(1));
        assert_eq!(opened.take_idle(), [Arc::new(2)]);
        assert_eq!(opened.get("b"), None);
        assert_eq!(opened.take_all(), [Arc::new(1)]);
    }
}
