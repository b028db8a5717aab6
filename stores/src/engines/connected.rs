//! Asynchronous stores for callers whose calls block: that of a URL, connected once for the process, or the caller's own.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tokio::sync::Mutex as AsyncMutex;

use super::{connect, find};
use crate::error::Error;
use crate::process::fork::PerProcess;
use crate::process::{lock, runtime};
use crate::store::blocking::BlockingStore;
use crate::store::url::Url;
use crate::store::{Found, ServerSettings, Store, Version, Wrote};

/// The stores that this process is connected to, by URL.
#[derive(Debug, Default)]
struct Connected(Mutex<BTreeMap<String, Arc<Connection>>>);

type Connection = AsyncMutex<Option<Arc<dyn Store>>>;

static CONNECTED: PerProcess<Connected> = PerProcess::new();

/// Returns the store of a URL, one for the process.
async fn connected(url: &str) -> Result<Arc<dyn Store>, Error> {
    let slot = {
        let mut connected = lock(&CONNECTED.get().0);
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

/// The store of a URL, or one of the caller. Each call waits for its answer. A forked child connects anew to the store of a
/// URL, and uses the same object of the caller.
pub struct EngineStore {
    place: Place,
    timeout: Duration,
    /// The name that the connected store has.
    name: Arc<OnceLock<String>>,
}

#[derive(Clone)]
enum Place {
    Url(String),
    Own(Arc<dyn Store>),
}

impl EngineStore {
    /// Returns a store of the caller as one whose calls block.
    pub fn own(store: Arc<dyn Store>) -> Self {
        let name = Arc::new(OnceLock::from(store.name().to_owned()));
        Self { place: Place::Own(store), timeout: Url::LONGEST_TIMEOUT, name }
    }

    /// Returns the store of a URL, which the first call connects to.
    ///
    /// # Errors
    /// `InvalidStore`, if the URL is malformed or this build has no such engine.
    pub fn of_url(url: &str) -> Result<Self, Error> {
        let Url { scheme, timeout, .. } = Url::parse(url)?;
        find(&scheme)?;
        Ok(Self { place: Place::Url(url.to_owned()), timeout, name: Arc::default() })
    }

    /// Calls the store, and waits for the answer. A store ends each call by itself; the limit is for one that does not.
    fn wait<T: Send + 'static, W>(&self, call: impl FnOnce(Arc<dyn Store>) -> W + Send + 'static) -> Result<T, Error>
    where
        W: Future<Output = Result<T, Error>> + Send,
    {
        let (place, name) = (self.place.clone(), Arc::clone(&self.name));
        runtime::wait(self.timeout * 4, async move {
            let store = match place {
                Place::Url(url) => connected(&url).await?,
                Place::Own(store) => store,
            };
            name.get_or_init(|| store.name().to_owned());
            call(store).await
        })?
    }
}

// The URL may have a password.
impl fmt::Debug for EngineStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EngineStore({})", self.name())
    }
}

impl BlockingStore for EngineStore {
    fn name(&self) -> &str {
        let scheme = match &self.place {
            Place::Url(url) => url.split(':').next().unwrap_or_default(),
            Place::Own(store) => store.name(),
        };
        self.name.get().map_or(scheme, String::as_str)
    }

    fn read(&self, key: &str) -> Result<Option<Found>, Error> {
        let key = key.to_owned();
        self.wait(|store| async move { store.read(&key).await })
    }

    fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<Wrote, Error> {
        let (key, value) = (key.to_owned(), value.to_vec());
        self.wait(move |store| async move { store.write(&key, &value, expected).await })
    }

    fn list(&self, prefix: &str) -> Result<Vec<(String, Found)>, Error> {
        let prefix = prefix.to_owned();
        self.wait(|store| async move { store.list(&prefix).await })
    }

    fn clock_ms(&self) -> Result<Option<i64>, Error> {
        self.wait(|store| async move { store.clock_ms().await })
    }

    fn refuse_standby(&self) -> Result<(), Error> {
        self.wait(|store| async move { store.refuse_standby().await })
    }

    fn settings(&self) -> Result<Option<ServerSettings>, Error> {
        self.wait(|store| async move { store.settings().await })
    }

    fn standby_risk(&self) -> Option<Error> {
        self.wait(|store| async move { Ok(store.standby_risk()) }).unwrap_or_default()
    }
}
