//! IDs: a generator for each layout and namespace, on leases of this server.

use std::sync::Arc;

use snowmint_core::layouts::LEAF;
use snowmint_core::{ErrorKind, Layout, Options};
use snowmint_stores::{
    Backend, Environment, Error, Generator, LeaseOptions, LeaseStore, Namespace, Status, Store, SystemHost,
};
use tokio::runtime::Handle;
use tokio::task::{JoinError, JoinSet, spawn_blocking};

use super::given::Waiting;
use super::opened::{Locked, Opened, Put};
use super::queue::Queued;
use super::{Deadline, Settings, closing};

/// The most generators at a time, besides the default one and Leaf's: each holds a node.
const MOST: usize = 64;

/// The generators.
#[derive(Debug)]
pub struct Ids {
    store: Arc<dyn Store>,
    backend: Backend,
    layout: Layout,
    namespace: Option<Namespace>,
    max_wait_ms: u64,
    window_ms: u64,
    opened: Arc<Opened<Queued>>,
}

impl Ids {
    /// To be made within a runtime of tokio.
    pub fn new(store: Arc<dyn Store>, settings: &Settings) -> Result<Self, Error> {
        let default = name_of(settings.namespace.as_ref().map(Namespace::to_string).as_deref(), &settings.layout);
        let kept = vec![default, name_of(None, &LEAF)];
        let runtime =
            Handle::try_current().map_err(|error| Error::told(ErrorKind::StoreUnavailable, error.to_string()))?;
        Ok(Self {
            // One a process.
            backend: Backend::store(Waiting { store: Arc::clone(&store), runtime }, 1),
            store,
            layout: settings.layout,
            namespace: settings.namespace.clone(),
            max_wait_ms: settings.max_wait_ms,
            window_ms: settings.window_ms,
            opened: Opened::new(MOST, kept),
        })
    }

    /// How many generators there are.
    pub fn names(&self) -> usize {
        self.opened.len()
    }

    /// The leases of all generators.
    pub fn leases(&self) -> Vec<Status> {
        self.opened.all().iter().map(|generator| generator.status()).collect()
    }

    /// So many IDs, ascending, of a layout (or else the default one) in a namespace (or else the layout's).
    ///
    /// # Errors
    /// Those of a generator.
    pub async fn take(&self, layout: Option<&Layout>, namespace: Option<&str>, count: u64) -> Result<Vec<u64>, Error> {
        let deadline = Deadline::of(&*self.store, self.max_wait_ms);
        let (name, layout, namespace) = self.place(layout, namespace)?;
        loop {
            let generator = match self.opened.get(&name) {
                Some(generator) => generator,
                None => deadline.ends(self.open(&name, &layout, namespace.clone())).await?,
            };
            match generator.batch(count, deadline.at).await {
                // It made room in between; IDs of two generators are in no order.
                Err(error) if error.kind() == ErrorKind::WindowClosed && !self.opened.is(&name, &generator) => {}
                Err(error) => {
                    if generator.status().lost.is_some() {
                        // The next request leases anew.
                        self.forget(&name, &generator).await;
                    }
                    return Err(error);
                }
                ids => return ids,
            }
        }
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
        Ok((name_of(namespace.as_deref(), &layout), layout, namespace))
    }

    /// Opens a generator, which goes on where the caller gives up: the lease of one that comes later is the same.
    async fn open(&self, name: &str, layout: &Layout, namespace: Option<String>) -> Result<Arc<Queued>, Error> {
        let locked = self.opened.lock(name).await;
        if let Some(generator) = locked.get() {
            return Ok(generator);
        }
        if self.opened.is_over() {
            return Err(closing());
        }
        let (name, layout) = (name.to_owned(), *layout);
        let lease = LeaseOptions {
            layout,
            store: Some(LeaseStore::Backend(self.backend.clone())),
            namespace,
            options: Options { max_wait_ms: self.max_wait_ms, ..Options::DEFAULT },
            window_ms: Some(self.window_ms),
            ..LeaseOptions::default()
        };
        let opening = tokio::spawn(async move {
            let open = move || Generator::lease(lease, &Environment::default(), &mut SystemHost::new());
            let generator = spawn_blocking(open).await.map_err(|error| ended(&error))??;
            tracing::info!(namespace = name, node = generator.node(), "leased a node");
            match locked.put(Queued::new(generator)) {
                Ok(Put { value, surplus }) => {
                    give_back(surplus);
                    Ok(value)
                }
                Err(generator) => {
                    close(vec![Arc::new(generator)]).await;
                    Err(closing())
                }
            }
        });
        opening.await.map_err(|error| ended(&error))?
    }

    /// Takes one out that is lost.
    async fn forget(&self, name: &str, generator: &Arc<Queued>) {
        let locked = self.opened.lock(name).await;
        if self.opened.is(name, generator) {
            drop(locked.take());
        }
    }

    /// Gives the leases back that nobody used for a while.
    pub fn sweep(&self) {
        give_back(self.opened.take_idle());
    }

    /// Gives all leases back, and opens none any more.
    pub async fn close(&self) {
        close(self.opened.take_all()).await;
    }
}

/// Under which name one is open.
fn name_of(namespace: Option<&str>, layout: &Layout) -> String {
    match namespace {
        // Neither has the other's letters.
        Some(namespace) => format!("{namespace}/{}", Namespace::of_layout(layout)),
        None => Namespace::of_layout(layout).to_string(),
    }
}

fn ended(error: &JoinError) -> Error {
    Error::told(ErrorKind::StoreUnavailable, error.to_string())
}

/// Gives leases back in the background, each of which is locked until then.
fn give_back(generators: Vec<(Locked<Queued>, Arc<Queued>)>) {
    for (locked, generator) in generators {
        drop(tokio::spawn(async move {
            close(vec![generator]).await;
            drop(locked);
        }));
    }
}

/// Closes generators at once: each waits for the store.
async fn close(generators: Vec<Arc<Queued>>) {
    let mut closing = JoinSet::new();
    for generator in generators {
        drop(closing.spawn_blocking(move || generator.close()));
    }
    closing.join_all().await;
}
