//! IDs: a generator for each layout and namespace, on leases of this server.

use std::sync::Arc;
use std::time::Duration;

use snowmint_core::{ErrorKind, Layout, Options, SystemHost as Clock};
use snowmint_stores::{Config, Environment, Error, Generator, Given, LeaseStore, Namespace, Store, SystemHost};
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use super::given::Waiting;
use super::opened::Opened;
use super::{Settings, closing};

/// The most generators at a time: each holds a node.
const MOST: usize = 64;
/// The longest nap on the way to an ID, in ms.
const NAP_MS: u64 = 10;

/// The generators.
#[derive(Debug)]
pub struct Ids {
    given: Given,
    layout: Layout,
    namespace: Option<Namespace>,
    max_wait_ms: u64,
    window_ms: u64,
    opened: Opened<Generator>,
    /// Held while one is opened; false once all are closed.
    opening: Mutex<bool>,
}

impl Ids {
    /// To be made within a runtime of tokio.
    pub fn new(store: Arc<dyn Store>, settings: &Settings) -> Result<Self, Error> {
        let runtime =
            Handle::try_current().map_err(|error| Error::told(ErrorKind::StoreUnavailable, error.to_string()))?;
        Ok(Self {
            // One a process.
            given: Given::new(Waiting { store, runtime }, 1),
            layout: settings.layout,
            namespace: settings.namespace.clone(),
            max_wait_ms: settings.max_wait_ms,
            window_ms: settings.window_ms,
            opened: Opened::new(MOST),
            opening: Mutex::new(true),
        })
    }

    /// So many IDs, ascending, of a layout (or else the default one) in a namespace (or else the layout's).
    ///
    /// # Errors
    /// Those of a generator.
    pub async fn take(&self, layout: Option<&Layout>, namespace: Option<&str>, count: u64) -> Result<Vec<u64>, Error> {
        let deadline = Instant::now() + Duration::from_millis(self.max_wait_ms);
        let (name, layout, namespace) = self.place(layout, namespace)?;
        let generator = match self.opened.get(&name) {
            Some(generator) => generator,
            None => self.open(&name, &layout, namespace).await?,
        };
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let mut ids = Vec::with_capacity(count);
        let mut patience_ms = self.max_wait_ms;
        while ids.len() < count {
            match generator.try_run(Clock::unix_ms(), (count - ids.len()) as u64, patience_ms) {
                Ok(run) => {
                    ids.extend(run);
                    // The batch has begun: from here on only the deadline ends it.
                    patience_ms = u64::MAX;
                }
                Err(error) => {
                    if generator.status().lost.is_some() {
                        // The next request leases anew.
                        self.opened.remove(&name);
                        return Err(error);
                    }
                    let left = deadline.saturating_duration_since(Instant::now());
                    let wait_ms = error.wait_ms().filter(|wait_ms| *wait_ms <= patience_ms && !left.is_zero());
                    let Some(wait_ms) = wait_ms else { return Err(error) };
                    sleep(Duration::from_millis(wait_ms.clamp(1, NAP_MS)).min(left)).await;
                }
            }
        }
        Ok(ids)
    }

    /// Under which name it is open, and what it is.
    fn place(
        &self,
        layout: Option<&Layout>,
        namespace: Option<&str>,
    ) -> Result<(String, Layout, Option<String>), Error> {
        let default = layout.is_none_or(|layout| layout.same_numbers(&self.layout));
        let layout = layout.copied().unwrap_or(self.layout);
        let namespace = match namespace {
            Some(name) => Some(Namespace::named(name)?.to_string()),
            // That of the default layout is for no other.
            None => self.namespace.as_ref().filter(|_| default).map(ToString::to_string),
        };
        let name = match &namespace {
            // Neither has the other's letters.
            Some(name) => format!("{name}/{}", Namespace::of_layout(&layout)),
            None => Namespace::of_layout(&layout).to_string(),
        };
        Ok((name, layout, namespace))
    }

    async fn open(&self, name: &str, layout: &Layout, namespace: Option<String>) -> Result<Arc<Generator>, Error> {
        let opening = self.opening.lock().await;
        if let Some(generator) = self.opened.get(name) {
            return Ok(generator);
        }
        if !*opening {
            return Err(closing());
        }
        if self.opened.is_full() {
            return Err(Error::told(
                ErrorKind::NodesExhausted,
                format!("this server mints in {MOST} namespaces and layouts already: try again in some minutes"),
            ));
        }
        let layout = *layout;
        let config = Config {
            store: Some(LeaseStore::Given(self.given.clone())),
            namespace,
            options: Options { max_wait_ms: self.max_wait_ms, ..Options::DEFAULT },
            window_ms: Some(self.window_ms),
            ..Config::default()
        };
        let opened =
            spawn_blocking(move || Generator::open(&layout, config, &Environment::default(), &mut SystemHost::new()));
        let generator = opened.await.map_err(|error| Error::told(ErrorKind::StoreUnavailable, error.to_string()))??;
        tracing::info!(namespace = name, node = generator.node(), "leased a node");
        Ok(self.opened.insert(name, generator))
    }

    /// Gives the leases back that nobody used for a while.
    pub async fn sweep(&self) {
        end(self.opened.take_idle()).await;
    }

    /// Gives all leases back, and opens none any more.
    pub async fn close(&self) {
        *self.opening.lock().await = false;
        end(self.opened.take_all()).await;
    }
}

async fn end(generators: Vec<Arc<Generator>>) {
    // It waits for the store.
    let ended = spawn_blocking(move || generators.iter().for_each(|generator| generator.close()));
    drop(ended.await);
}
