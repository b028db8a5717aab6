//! Fetches, and the calls that wait for them.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use snowmint_core::store::{Ask, Next, Reply};
use snowmint_core::{ErrorKind, Integer, segment};
use tokio::time::{Instant, timeout_at};

use super::{Inner, Segments};
use crate::error::Error;
use crate::process::monotonic::monotonic_ms;
use crate::process::{forked, lock};

/// The time between two reads of the configured step, in ms, as in Leaf.
const REREAD_MS: u64 = 60_000;

impl Segments {
    /// Begins a fetch if memory is empty.
    ///
    /// # Errors
    /// As [`Segments::try_next`].
    pub(super) fn filled(&self) -> Result<(), Error> {
        let fetched = self.0.fetched.get();
        if fetched.is_of_parent() {
            return Err(forked());
        }
        self.refill(&fetched.range, 1)
    }

    #[cold]
    pub(super) fn prefetch(&self) {
        let inner = &self.0;
        // A forked child, where this lock may be locked forever, does not get here: its range is wiped.
        if let Ok(mut machine) = inner.machine.try_lock()
            && let Some(Ask::Add(amount)) = machine.prefetch(&inner.fetched.get().range, monotonic_ms())
        {
            self.fetch(amount);
        }
    }

    #[cold]
    pub(super) fn try_run_dry(&self, count: u64, least: u64) -> Result<Range<u64>, Error> {
        let fetched = self.0.fetched.get();
        if fetched.is_of_parent() {
            return Err(forked());
        }
        loop {
            self.refill(&fetched.range, least)?;
            let run = if least > 1 { fetched.range.take_block(least) } else { Some(fetched.range.take_run(count)) };
            if let Some(run) = run.filter(|run| !run.is_empty()) {
                return Ok(run);
            }
        }
    }

    /// Puts the fetched range into memory if memory has fewer than `least` numbers, or begins a fetch.
    fn refill(&self, range: &segment::Range, least: u64) -> Result<(), Error> {
        let refilled = lock(&self.0.machine).refill_block(range, least, monotonic_ms());
        match refilled {
            Ok(Next::Done(())) => Ok(()),
            Ok(Next::Ask(Ask::Add(amount))) => {
                self.fetch(amount);
                Err(self.dry(1))
            }
            Ok(Next::Ask(_)) => Err(self.dry(1)),
            Err(error) => Err(error.wait_ms().map_or_else(|| error.into(), |wait_ms| self.dry(wait_ms))),
        }
    }

    /// Memory is empty: the last fetch failed, or a fetch is under way.
    fn dry(&self, wait_ms: u64) -> Error {
        lock(&self.0.failed).clone().unwrap_or_else(|| snowmint_core::Error::numbers_dry(wait_ms).into())
    }

    pub(super) async fn wait_after(&self, mut error: Error, count: u64, least: u64) -> Result<Range<u64>, Error> {
        let try_again = || if least > 1 { self.try_next_block(least) } else { self.try_next_run(count) };
        let deadline = Instant::now() + Duration::from_millis(self.0.max_wait_ms);
        loop {
            if !matches!(error.kind(), ErrorKind::StoreUnavailable | ErrorKind::Exhausted)
                || (error.kind() == ErrorKind::Exhausted && error.wait_ms().is_none())
                || Instant::now() >= deadline
            {
                return Err(error);
            }
            let news = self.0.news.notified();
            // A fetch may have ended in between, and the machine repeats a failed fetch after a while.
            match try_again() {
                Ok(run) => return Ok(run),
                Err(later) => error = later,
            }
            let pause = Instant::now() + Duration::from_millis(error.wait_ms().unwrap_or(50).clamp(50, 100));
            // After news and after the pause alike.
            let _ = timeout_at(pause.min(deadline), news).await;
            match try_again() {
                Ok(run) => return Ok(run),
                Err(later) => error = later,
            }
        }
    }

    /// Fetches in the background.
    fn fetch(&self, amount: u64) {
        let inner = Arc::clone(&self.0);
        // The task goes on without its handle, and always reports its outcome to the machine.
        drop(self.0.runtime.spawn(async move {
            inner.fetches.fetch_add(1, Ordering::Relaxed);
            let outcome = inner.source.fetch(amount).await;
            let (reply, mut failed) = match outcome {
                Ok(sum) => (Reply::Sum(sum), None),
                Err(error) if error.kind() == ErrorKind::Exhausted => (Reply::Full, None),
                Err(error) => (Reply::Unknown, Some(error)),
            };
            {
                let mut machine = lock(&inner.machine);
                if let Err(error) = machine.reply(&inner.fetched.get().range, reply, monotonic_ms()) {
                    failed = Some(error.into());
                }
            }
            let fine = failed.is_none();
            *lock(&inner.failed) = failed;
            inner.news.notify_waiters();
            if fine {
                inner.reread().await;
            }
        }));
    }
}

impl Inner {
    /// Reads the configured step again, once a minute.
    async fn reread(&self) {
        let (last_ms, now_ms) = (self.reread_ms.load(Ordering::Relaxed), monotonic_ms());
        if now_ms.saturating_sub(last_ms) < REREAD_MS {
            return;
        }
        self.reread_ms.store(now_ms, Ordering::Relaxed);
        // After a failed read, or for a wrong step, the present step stays.
        if let Ok(Some(step)) = self.source.step().await {
            let _ = lock(&self.machine).configure(Integer::from(step));
        }
    }
}
