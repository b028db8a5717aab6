//! A signal that wakes one waiting thread.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::lock;

/// A flag that one thread waits for. A notice that comes before the wait is kept.
#[derive(Debug, Default)]
pub struct Wake {
    notified: Mutex<bool>,
    changed: Condvar,
}

impl Wake {
    /// Wakes the waiting thread, or the next one that waits.
    pub fn notify(&self) {
        *lock(&self.notified) = true;
        self.changed.notify_one();
    }

    /// Waits for a notice, `wait` at most.
    pub fn wait(&self, wait: Duration) {
        let notified = lock(&self.notified);
        let waited = self.changed.wait_timeout_while(notified, wait, |notified| !*notified);
        *waited.unwrap_or_else(PoisonError::into_inner).0 = false;
    }
}
