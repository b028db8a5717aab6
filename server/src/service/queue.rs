//! A generator with a queue: the first batch is served first.
//!
//! Without a queue, concurrent batches share the free IDs, all end late, and each late batch throws its IDs away.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use snowmint::host::{ProcessGenerator, SystemHost};
use snowmint_core::{Error as CoreError, ErrorKind, Layout, SystemHost as Clock};
use snowmint_stores::Error;
use snowmint_stores::host::reserve;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};

/// A generator, and the batches that wait for its IDs.
#[derive(Debug)]
pub struct Queued {
    generator: ProcessGenerator,
    queue: Queue,
}

impl Queued {
    pub fn new(generator: ProcessGenerator) -> Self {
        let queue = Queue::of(generator.layout());
        Self { generator, queue }
    }

    /// Returns `count` IDs, ascending, by a deadline.
    ///
    /// # Errors
    /// The generator's errors. `Exhausted` if the time or the memory is too short for the batch: then no ID is minted.
    pub async fn batch(self: &Arc<Self>, count: u64, deadline: Instant) -> Result<Vec<u64>, Error> {
        let mut ids = reserve(count)?;
        let place = self.queue.enter(count, deadline)?;
        let _turn = match place.turn(deadline).await {
            Ok(turn) => turn,
            // The generator may have a more exact reason, such as a window that is over.
            Err(late) => {
                let run = self.generator.try_run(Clock::unix_ms(), count, 0);
                let why = |error: Error| if error.kind() == ErrorKind::Exhausted { late } else { error };
                ids.extend(run.map_err(why)?);
                return Ok(ids);
            }
        };
        if let Ok(run) = self.generator.try_run(Clock::unix_ms(), count, 0) {
            ids.extend(run);
            return Ok(ids);
        }
        // A thread waits for the next ms more exactly than the timers of the runtime.
        let this = Arc::clone(self);
        let taken = spawn_blocking(move || {
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            this.generator.take(&mut SystemHost::new(), count, |run| ids.extend(run))?;
            Ok(ids)
        });
        taken.await.map_err(|error| Error::new(ErrorKind::StoreUnavailable, error.to_string()))?
    }
}

impl Deref for Queued {
    type Target = ProcessGenerator;

    fn deref(&self) -> &ProcessGenerator {
        &self.generator
    }
}

/// The batches that wait, and the batch that takes its IDs now.
#[derive(Debug)]
pub struct Queue {
    tick_ids: u64,
    tick_ms: u64,
    /// The number of IDs of all batches in the queue.
    promised: AtomicU64,
    turn: Semaphore,
}

/// The place of a batch in the queue, until it is dropped.
#[derive(Debug)]
struct Place<'a> {
    queue: &'a Queue,
    count: u64,
    /// How long this batch and all batches before it take, in ms.
    needs_ms: u64,
}

impl Queue {
    fn of(layout: &Layout) -> Self {
        Self {
            tick_ids: layout.ids_per_tick().max(1),
            tick_ms: layout.tick_ms(),
            promised: AtomicU64::new(0),
            turn: Semaphore::new(1),
        }
    }

    fn ms_of(&self, count: u64) -> u64 {
        count.div_ceil(self.tick_ids).saturating_mul(self.tick_ms)
    }

    /// Takes the last place in the queue.
    ///
    /// # Errors
    /// `Exhausted`, if the batch cannot be complete in time after the batches before it.
    fn enter(&self, count: u64, deadline: Instant) -> Result<Place<'_>, Error> {
        let before = self.promised.fetch_add(count, Ordering::Relaxed);
        let place = Place { queue: self, count, needs_ms: self.ms_of(before.saturating_add(count)) };
        // The generator itself checks the first batch.
        if before > 0 && !has(deadline, place.needs_ms) { Err(place.late()) } else { Ok(place) }
    }
}

impl<'a> Place<'a> {
    /// Waits for the turn of this batch. Dropping the permit ends the turn.
    ///
    /// # Errors
    /// `Exhausted`, if the turn does not come in time.
    async fn turn(&self, deadline: Instant) -> Result<SemaphorePermit<'a>, Error> {
        if let Ok(turn) = self.queue.turn.try_acquire() {
            return Ok(turn);
        }
        match timeout_at(deadline, self.queue.turn.acquire()).await {
            Ok(Ok(turn)) if has(deadline, self.queue.ms_of(self.count)) => Ok(turn),
            _ => Err(self.late()),
        }
    }

    fn late(&self) -> Error {
        CoreError::batch_exhausted(self.needs_ms.max(1)).into()
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.queue.promised.fetch_sub(self.count, Ordering::Relaxed);
    }
}

/// Returns whether `ms` are left until the deadline. The current ms counts.
fn has(deadline: Instant, ms: u64) -> bool {
    deadline.saturating_duration_since(Instant::now()) + Duration::from_millis(1) >= Duration::from_millis(ms)
}

#[cfg(test)]
mod tests {
    use snowmint_core::layouts;

    use super::*;

    #[test]
    fn a_batch_without_time_after_earlier_batches_is_refused() {
        // 4096 IDs in each ms.
        let queue = Queue::of(&layouts::SNOWMINT);
        let soon = || Instant::now() + Duration::from_secs(100);
        let first = queue.enter(4096 * 60_000, soon()).expect("there is time");
        let second = queue.enter(4096 * 30_000, soon()).expect("there is time");
        let refused = queue.enter(4096 * 20_000, soon()).map(drop).expect_err("110 seconds");
        assert_eq!((refused.kind(), refused.retry_after_ms()), (ErrorKind::Exhausted, Some(110_000)));
        drop(first);
        let third = queue.enter(4096 * 60_000, soon()).expect("there is time again");
        drop((second, third));
        assert!(queue.enter(4096 * 101_000, soon()).is_ok(), "the generator checks a batch without others before it");
    }

    #[tokio::test]
    async fn one_batch_at_a_time_has_the_turn() {
        let queue = Queue::of(&layouts::SNOWMINT);
        let end = Instant::now() + Duration::from_secs(100);
        let [first, second] = [(); 2].map(|()| queue.enter(1, end).expect("there is time"));
        let turn = first.turn(end).await.expect("at once");
        let late = second.turn(Instant::now() + Duration::from_millis(20)).await.map(drop);
        assert_eq!(late.expect_err("not its turn").kind(), ErrorKind::Exhausted);
        drop(turn);
        drop(second.turn(end).await.expect("its turn"));
    }
}
