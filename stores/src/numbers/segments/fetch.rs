//! Fetches, and the calls that wait for them.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use snowmint_core::segment::REREAD_MS;
use snowmint_core::store::{Ask, Next, Reply};
use snowmint_core::{ErrorKind, Integer};
use tokio::time::{Instant, timeout_at};

use super::{Inner, Segments};
use crate::error::Error;
use crate::process::monotonic::monotonic_ms;
use crate::process::{forked, lock};

/// Why memory has too few numbers for a call.
pub(super) enum Dry {
    /// A fetch is under way, or comes in this many ms: the call may wait, or end by this error.
    Wait(u64, Error),
    /// No fetch would help.
    Over(Error),
}

impl From<Dry> for Error {
    fn from(dry: Dry) -> Self {
        match dry {
            Dry::Wait(_, error) | Dry::Over(error) => error,
        }
    }
}

impl Segments {
    /// Fills memory with at least this many numbers, or begins a fetch.
    pub(super) fn fill(&self, least: u64) -> Result<(), Dry> {
        let fetched = self.0.fetched.get();
        if fetched.is_of_parent() {
            return Err(Dry::Over(forked()));
        }
        let refilled = lock(&self.0.machine).refill_block(&fetched.range, least, monotonic_ms());
        let wait_ms = match refilled {
            Ok(Next::Done(())) => return Ok(()),
            Ok(Next::Ask(ask)) => {
                if let Ask::Add(amount) = ask {
                    self.fetch(amount);
                }
                1
            }
            Err(error) => error.wait_ms().ok_or_else(|| Dry::Over(error.into()))?,
        };
        let failed = lock(&self.0.failed).clone();
        Err(match failed {
            Some(error) if error.kind() != ErrorKind::StoreUnavailable => Dry::Over(error),
            Some(error) => Dry::Wait(wait_ms, error),
            None => Dry::Wait(wait_ms, snowmint_core::Error::numbers_dry(wait_ms).into()),
        })
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

    /// Takes 1 to `count` numbers after a look into memory that found too few. With a `least` above 1 the numbers are this many.
    #[cold]
    pub(super) fn run_after_fill(&self, count: u64, least: u64) -> Result<Range<u64>, Dry> {
        let range = &self.0.fetched.get().range;
        loop {
            self.fill(least)?;
            let run = if least > 1 { range.take_block(least) } else { Some(range.take_run(count)) };
            if let Some(run) = run.filter(|run| !run.is_empty()) {
                return Ok(run);
            }
        }
    }

    /// Makes an attempt until it has numbers, no fetch would help, or `max_wait_ms` is over.
    pub(super) async fn patiently<T>(&self, attempt: impl Fn() -> Result<T, Dry>) -> Result<T, Error> {
        let deadline = Instant::now() + Duration::from_millis(self.0.max_wait_ms);
        loop {
            let news = self.0.news.notified();
            let wait_ms = match attempt() {
                Ok(taken) => return Ok(taken),
                Err(Dry::Wait(wait_ms, _)) if Instant::now() < deadline => wait_ms,
                Err(dry) => return Err(dry.into()),
            };
            // The machine repeats a failed fetch after a while.
            let pause = Instant::now() + Duration::from_millis(wait_ms.clamp(50, 100));
            // After news and after the pause alike.
            let _ = timeout_at(pause.min(deadline), news).await;
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
                Err(error) if error.kind() == ErrorKind::Exhausted && inner.source.leaves_rest() => (Reply::Full, None),
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
