//! Leases over an engine, for callers that do not know of tokio.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Mutex as AsyncMutex;

use crate::apart::{Pending, pair};
use crate::engines::connect;
use crate::error::Error;
use crate::file::Refused;
use crate::fork::PerProcess;
use crate::holding::{Grant, Holding, Renewed, Wanted, claim_node};
use crate::runtime;
use crate::store::Store;
use crate::store::url::Url;

/// The stores that this process is connected to, by URL.
#[derive(Debug, Default)]
struct Connected(Mutex<BTreeMap<String, Arc<Connection>>>);

type Connection = AsyncMutex<Option<Arc<dyn Store>>>;

static CONNECTED: PerProcess<Connected> = PerProcess::new();

/// The store of that URL, one for the process.
async fn store(url: &str) -> Result<Arc<dyn Store>, Error> {
    let slot = {
        let mut connected = CONNECTED.get().0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(connected.entry(url.to_owned()).or_default())
    };
    let mut slot = slot.lock().await;
    if let Some(store) = &*slot {
        return Ok(Arc::clone(store));
    }
    let store = connect(url).await?;
    *slot = Some(Arc::clone(&store));
    Ok(store)
}

/// A node held over an engine.
#[derive(Debug)]
pub(crate) struct Held {
    /// Nothing once it is given back: a renewal that comes too late writes nothing.
    holding: AsyncMutex<Option<Holding>>,
}

/// Claims a node over the engine of that URL; the window is durable by then.
pub(crate) fn claim(url: &str, wanted: Wanted) -> Result<Grant, Refused> {
    let url = url.to_owned();
    // A connection, the list, and writes, each of which ends by itself; this is for what does not.
    let patience = Url::parse(&url)?.timeout * 4;
    runtime::wait(patience, async move { claim_node(store(&url).await?, &wanted).await })?
}

impl Held {
    pub(crate) fn new(holding: Holding) -> Arc<Self> {
        Arc::new(Self { holding: AsyncMutex::new(Some(holding)) })
    }

    /// Moves the window's end up, in the background.
    pub(crate) fn renew(
        self: &Arc<Self>,
        now_ms: i64,
        last_ms: i64,
        reach_ms: u64,
        then: impl FnOnce(Renewed) + Send + 'static,
    ) -> Result<(), Error> {
        let held = Arc::clone(self);
        runtime::spawn(async move {
            let mut holding = held.holding.lock().await;
            let Some(holding) = holding.as_mut() else { return };
            then(holding.renew(now_ms, last_ms, reach_ms).await);
        })
    }

    /// Begins to give the node back, with nothing used from `end_ms` on.
    pub(crate) fn release(self: &Arc<Self>, end_ms: i64) -> Result<Pending<()>, Error> {
        let held = Arc::clone(self);
        let (outcome, pending) = pair();
        runtime::spawn(async move {
            if let Some(holding) = held.holding.lock().await.take() {
                drop(holding.release(end_ms).await);
            }
            // Nobody may be waiting any more.
            let _ = outcome.done(());
        })?;
        Ok(pending)
    }
}
