//! The way to a store of records.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use snowmint_stores::host::background::{Background, Progress};
use snowmint_stores::{Error, RecordStore};

/// The time between two looks at a call.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// A store of records, to which this process connects when it first needs it.
#[async_trait]
pub(crate) trait Connector: fmt::Debug + Send + Sync {
    /// Returns engine and address, for error messages.
    fn name(&self) -> String;

    /// Returns where the calls of the store run in this process.
    ///
    /// # Errors
    /// `StoreUnavailable`: the system gives no thread.
    fn background(&self) -> Result<Background, Error>;

    /// Returns how long a claim waits at least.
    fn least_patience(&self) -> Duration;

    /// Returns the store, connected.
    ///
    /// # Errors
    /// `InvalidStore`, if the store keeps no records; the errors of a connection.
    async fn record_store(&self) -> Result<Arc<dyn RecordStore>, Error>;
}

/// Makes a call where the calls of a store run, and waits for it. `look` is called from time to time meanwhile, and at the end.
///
/// # Errors
/// The errors of the call; `StoreUnavailable`, if the system gives no thread or the call panicked.
pub(crate) fn wait_for<T: Send + 'static, E: From<Error> + Send + 'static>(
    store: &dyn Connector,
    call: impl Future<Output = Result<T, E>> + Send + 'static,
    look: impl Fn(),
) -> Result<T, E> {
    let pending = store.background()?.begin(call).map_err(|error| Error::unavailable(&store.name(), error))?;
    loop {
        let progress = pending.wait(Instant::now() + LOOK_INTERVAL);
        look();
        match progress {
            Progress::Done(answer) => return answer,
            Progress::UnderWay => {}
            Progress::BrokenOff => return Err(Error::unavailable(&store.name(), "the call broke off").into()),
        }
    }
}
