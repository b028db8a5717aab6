//! The names that are opened for their first use: each needs the store before it gives a number.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use snowmint_core::ErrorKind;
use snowmint_stores::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::watched::Watched;

/// The most names that are opened at the same time, about as many as a store at 20 ms of distance opens in a second.
const MOST: usize = 2048;
/// After this time a refused name can be opened, most likely.
pub const LATER_MS: u64 = 1000;

/// Why a request gets no number.
#[derive(Debug)]
pub enum Failure {
    /// The store answers, and more requests wait for it than it can serve in time.
    Busy(String),
    /// The client's role does not allow it, or a limit of the service.
    Forbidden(String),
    /// The store does not have the namespace.
    NoNamespace(String),
    Error(Error),
}

impl Failure {
    pub const BUSY: &'static str = "BUSY";
    pub const FORBIDDEN: &'static str = "FORBIDDEN";
    pub const NO_NAMESPACE: &'static str = "NO_NAMESPACE";

    /// Returns one word, the same in every protocol.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Busy(_) => Self::BUSY,
            Self::Forbidden(_) => Self::FORBIDDEN,
            Self::NoNamespace(_) => Self::NO_NAMESPACE,
            Self::Error(error) => error.code(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy(why) | Self::Forbidden(why) | Self::NoNamespace(why) => f.write_str(why),
            Self::Error(error) => error.fmt(f),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<snowmint_core::Error> for Failure {
    fn from(error: snowmint_core::Error) -> Self {
        Self::Error(error.into())
    }
}

/// The names that are opened now. Clones share them.
#[derive(Clone, Debug)]
pub struct Openings {
    store: Arc<Watched>,
    places: Arc<Semaphore>,
    max_wait_ms: u64,
}

/// A name that is opened.
pub type Opening = OwnedSemaphorePermit;

impl Openings {
    pub fn of(store: Arc<Watched>, max_wait_ms: u64) -> Self {
        Self { store, places: Arc::new(Semaphore::new(MOST)), max_wait_ms }
    }

    /// Begins to open a name, until the opening is dropped.
    ///
    /// # Errors
    /// `Busy`, if too many names are opened now.
    pub fn begin(&self) -> Result<Opening, Failure> {
        Arc::clone(&self.places).try_acquire_owned().map_err(|_| {
            Failure::Busy(format!(
                "{MOST} names are opened now for their first use, the most at a time: ask again later"
            ))
        })
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

    /// Judges the error of a call with a time limit of its own.
    pub fn judged(&self, error: Error) -> Failure {
        let late = error.kind() == ErrorKind::StoreUnavailable && Instant::now() >= self.at;
        if late { self.missed() } else { Failure::Error(error) }
    }

    /// The failure at the deadline: `Busy` if the store has answered others meanwhile, and else `StoreUnavailable`.
    pub fn missed(&self) -> Failure {
        let (store, ms) = (snowmint_stores::Store::name(&*self.openings.store), self.openings.max_wait_ms);
        if self.openings.store.answers_since(self.begun) {
            return Failure::Busy(format!(
                "{store} answered others within {ms} ms, and not yet this request: ask again later, or start the service \
                 with a higher --max-wait-ms or more --store-connections"
            ));
        }
        Failure::Error(Error::told(ErrorKind::StoreUnavailable, format!("{store}: no answer within {ms} ms")))
    }
}
