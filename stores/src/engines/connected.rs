//! The stores that this process is connected to.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Mutex as AsyncMutex;

use super::{connect, find};
use crate::error::Error;
use crate::process::fork::PerProcess;
use crate::process::lock;
use crate::store::RecordStore;
use crate::store::url::Url;

/// Stores by URL.
#[derive(Debug, Default)]
struct Connected(Mutex<BTreeMap<String, Arc<Connection>>>);

type Connection = AsyncMutex<Option<Arc<dyn RecordStore>>>;

static CONNECTED: PerProcess<Connected> = PerProcess::new();

/// Returns the store of a URL, one for the process. A forked child connects anew.
///
/// # Errors
/// As [`connect`].
pub async fn connected(url: &str) -> Result<Arc<dyn RecordStore>, Error> {
    let slot = {
        let mut connected = lock(&CONNECTED.get().0);
        Arc::clone(connected.entry(url.to_owned()).or_default())
    };
    let mut slot = slot.lock().await;
    if let Some(store) = &*slot {
        return Ok(Arc::clone(store));
    }
    let store = connect(url).await?;
    Ok(Arc::clone(slot.insert(store)))
}

/// Returns how long a call over the store of a URL may take, connecting and repeating included.
///
/// # Errors
/// `InvalidStore`, if the URL is malformed or this build has no such engine.
pub fn longest_call(url: &str) -> Result<Duration, Error> {
    let Url { scheme, timeout, .. } = Url::parse(url)?;
    find(&scheme)?;
    Ok(timeout * 4)
}
