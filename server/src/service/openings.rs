//! The names that are opened for their first use: each needs the store before it gives a number.

use std::sync::Arc;
use std::time::Duration;

use snowmint_core::ErrorKind;
use snowmint_stores::Error;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use super::failure::Failure;
use super::pool::{Pool, Pooled};
use crate::monitored_store::MonitoredStore;

/// The most names that are opened at the same time, about as many as a store at 20 ms of distance opens in a second.
const MAX_OPENING: usize = 2048;
/// After this time a refused name can be opened, most likely.
pub const RETRY_AFTER_MS: u64 = 1000;

/// The names that are opened now. Clones share them.
#[derive(Clone, Debug)]
pub struct Openings {
    store: Arc<MonitoredStore>,
    places: Arc<Semaphore>,
    max_wait_ms: u64,
}

impl Openings {
    pub fn of(store: Arc<MonitoredStore>, max_wait_ms: u64) -> Self {
        Self { store, places: Arc::new(Semaphore::new(MAX_OPENING)), max_wait_ms }
    }

    /// Calls the value of a name, which `open` opens if it is not open, within the deadline of a request that begins now.
    ///
    /// # Errors
    /// `Busy`, if too many names are opened now, and the errors of `open` and `call`.
    pub async fn with<T, R, Opening, Call>(
        &self,
        pool: &Arc<Pool<T>>,
        name: &str,
        open: impl Fn() -> Opening,
        call: impl Fn(Arc<T>) -> Call,
    ) -> Result<R, Failure>
    where
        T: Pooled,
        Opening: Future<Output = Result<T, Error>> + Send + 'static,
        Call: Future<Output = Result<R, Error>>,
    {
        let deadline = self.deadline();
        let open = || async {
            let begun = Arc::clone(&self.places).try_acquire_owned().map_err(|_| {
                Failure::Busy(format!(
                    "{MAX_OPENING} names are opened now for their first use, the most at a time: ask again later"
                ))
            })?;
            let opening = open();
            let counted = async move {
                let _begun = begun;
                opening.await
            };
            deadline.ends(pool.open(name, counted)).await
        };
        let call = |value, is_new| {
            let call = call(value);
            // A value that was open has its own deadline, with an error that says more.
            async move { if is_new { deadline.ends(call).await } else { Ok(call.await?) } }
        };
        pool.with(name, open, call).await
    }

    /// Returns the deadline of a request that begins now.
    pub fn deadline(&self) -> Deadline<'_> {
        let begun = Instant::now();
        Deadline { openings: self, begun, at: begun + Duration::from_millis(self.max_wait_ms) }
    }
}

/// The time until which a request waits for the store.
#[derive(Clone, Copy, Debug)]
pub struct Deadline<'a> {
    openings: &'a Openings,
    begun: Instant,
    pub at: Instant,
}

impl Deadline<'_> {
    /// Awaits a call until the deadline.
    ///
    /// # Errors
    /// The failure at the deadline, and the errors of the call.
    pub async fn ends<T>(&self, call: impl Future<Output = Result<T, Error>>) -> Result<T, Failure> {
        match self.answer(call).await {
            Some(done) => Ok(done?),
            None => Err(self.missed()),
        }
    }

    /// Awaits a call until the deadline. `None` at the deadline.
    pub async fn answer<T>(&self, call: impl Future<Output = T>) -> Option<T> {
        timeout_at(self.at, call).await.ok()
    }

    /// Converts the error of a call that has a separate time limit: a late `StoreUnavailable` becomes
    /// [`missed`](Self::missed).
    pub fn judged(&self, error: Error) -> Failure {
        let late = error.kind() == ErrorKind::StoreUnavailable && Instant::now() >= self.at;
        if late { self.missed() } else { Failure::Error(error) }
    }

    /// Returns the failure at the deadline: the error of the range log if it cannot be written; `Busy` if the store has
    /// answered other requests meanwhile; otherwise `StoreUnavailable`.
    pub fn missed(&self) -> Failure {
        if let Some(error) = self.openings.store.refusal() {
            return Failure::Error(error);
        }
        let (store, ms) = (snowmint_stores::RecordStore::name(&*self.openings.store), self.openings.max_wait_ms);
        if self.openings.store.answers_since(self.begun) {
            return Failure::Busy(format!(
                "{store} answered others within {ms} ms, and not yet this request: ask again later, or start the service \
                 with a higher --max-wait-ms or more --store-connections"
            ));
        }
        Failure::Error(Error::new(ErrorKind::StoreUnavailable, format!("{store}: no answer within {ms} ms")))
    }
}
