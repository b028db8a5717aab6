//! IDs: one generator for each layout and namespace, with leases of this server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use snowmint::host::{Environment, ProcessGenerator, SystemHost};
use snowmint::{LeaseOptions, LeaseStore, Status};
use snowmint_core::Layout;
use snowmint_core::layouts::LEAF;
use snowmint_stores::Error;
use snowmint_stores::host::Namespace;

use super::Settings;
use super::failure::Failure;
use super::minted::Minted;
use super::namespaces::Namespaces;
use super::openings::Openings;
use super::pool::{Pool, Pooled};
use super::queue::Queued;

/// The limit of generators besides the default one and Leaf's. Each one holds a node.
const MAX_GENERATORS: usize = 64;

/// The generators of the service.
#[derive(Debug)]
pub struct Ids {
    openings: Openings,
    namespaces: Arc<Namespaces>,
    lease_store: LeaseStore,
    layout: Layout,
    namespace: Option<Namespace>,
    max_wait_ms: u64,
    window_ms: u64,
    reserve: Option<Duration>,
    environment: Environment,
    pool: Arc<Pool<Queued>>,
    refusals: Arc<Refusals>,
    minted: Minted,
}

/// The last refusals of nodes, by name of the generator. Requests that waited for the same claim report them too.
#[derive(Debug, Default)]
struct Refusals(Mutex<HashMap<String, (Instant, Error)>>);

impl Refusals {
    /// How long a refusal counts.
    const MAX_REFUSAL_AGE: Duration = Duration::from_secs(10);

    fn note(&self, name: &str, opened: &Result<Queued, Error>) {
        let mut refusals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        refusals.remove(name);
        refusals.retain(|_, (at, _)| at.elapsed() < Self::MAX_REFUSAL_AGE);
        if let Err(error) = opened {
            refusals.insert(name.to_owned(), (Instant::now(), error.clone()));
        }
    }

    fn last(&self, name: &str) -> Option<Error> {
        let refusals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        refusals.get(name).filter(|(at, _)| at.elapsed() < Self::MAX_REFUSAL_AGE).map(|(_, error)| error.clone())
    }
}

impl Ids {
    /// Opens no generator yet.
    ///
    /// # Errors
    /// Those of a reservation, if this machine cannot keep one.
    pub fn new(
        lease_store: LeaseStore,
        openings: Openings,
        namespaces: Arc<Namespaces>,
        settings: &Settings,
    ) -> Result<Self, Error> {
        let namespace = settings.namespace.as_ref().map(Namespace::to_string);
        let kept = vec![key_of(namespace.as_deref(), &settings.layout), key_of(None, &LEAF)];
        // The other variables have flags.
        let Environment { state_dir, place, .. } = Environment::of_process();
        let ids = Self {
            lease_store,
            openings,
            namespaces,
            layout: settings.layout,
            namespace: settings.namespace.clone(),
            max_wait_ms: settings.max_wait_ms,
            window_ms: settings.window_ms,
            reserve: settings.reserve,
            environment: Environment { state_dir, place, ..Environment::default() },
            pool: Pool::new(MAX_GENERATORS, kept),
            refusals: Arc::default(),
            minted: Minted::default(),
        };
        if settings.reserve.is_some() {
            ids.options(&settings.layout, namespace).refuse_unusable(&ids.environment)?;
        }
        Ok(ids)
    }

    /// Returns how many generators are open.
    pub fn names(&self) -> usize {
        self.pool.len()
    }

    /// Returns the leases of all generators.
    pub fn leases(&self) -> Vec<Status> {
        self.pool.all().iter().map(|generator| generator.status()).collect()
    }

    /// Reserves a node for the default layout, if nodes are reserved: the first request may come while the store is unreachable.
    ///
    /// # Errors
    /// The errors of a lease.
    pub async fn reserve(&self) -> Result<(), Failure> {
        if self.reserve.is_some() {
            let (name, layout, namespace) = self.resolve(None, None)?;
            let open = || self.open_if_there(&name, &layout, namespace.clone());
            self.pool.with(&name, open, |_, _| async { Ok(()) }).await?;
        }
        Ok(())
    }

    /// Mints `count` ascending IDs. Without a layout or namespace, the default layout and the layout's namespace count.
    ///
    /// # Errors
    /// The errors of a generator and of its lease.
    pub async fn take(
        &self,
        layout: Option<&Layout>,
        namespace: Option<&str>,
        count: u64,
    ) -> Result<Vec<u64>, Failure> {
        let deadline = self.openings.deadline();
        let (name, layout, namespace) = self.resolve(layout, namespace)?;
        let open = || async {
            match deadline.answer(self.open_if_there(&name, &layout, namespace.clone())).await {
                Some(opened) => opened,
                // The claim of an earlier request, for which this one waited.
                None => Err(self.refusals.last(&name).map_or_else(|| deadline.missed(), Failure::from)),
            }
        };
        // A repeated call mints the whole batch again: IDs of two generators are not ordered.
        let call = |generator: Arc<Queued>, _| async move { Ok(generator.batch(count, deadline.at).await?) };
        let ids = self.pool.with(&name, open, call).await?;
        self.minted
            .add(&name, count, || namespace.clone().unwrap_or_else(|| Namespace::of_layout(&layout).to_string()));
        Ok(ids)
    }

    /// Returns how many IDs each namespace gave out, where `*` is for those beyond a limit.
    pub fn minted(&self) -> Vec<(String, u64)> {
        self.minted.counts()
    }

    /// Returns the name of a generator in the pool, its layout and its namespace.
    fn resolve(
        &self,
        layout: Option<&Layout>,
        namespace: Option<&str>,
    ) -> Result<(String, Layout, Option<String>), Error> {
        let default = layout.is_none_or(|layout| layout.same_numbers(&self.layout));
        let layout = layout.copied().unwrap_or(self.layout);
        let namespace = match namespace {
            Some(name) => Some(Namespace::named(name)?.to_string()),
            // Other layouts must not use the namespace of the default layout.
            None => self.namespace.as_ref().filter(|_| default).map(ToString::to_string),
        };
        Ok((key_of(namespace.as_deref(), &layout), layout, namespace))
    }

    /// Opens a generator whose namespace the store has. Makes only two namespaces: the server's own and Leaf's.
    async fn open_if_there(
        &self,
        name: &str,
        layout: &Layout,
        namespace: Option<String>,
    ) -> Result<Arc<Queued>, Failure> {
        if !self.pool.keeps(name) {
            layout.refuse_outside(snowmint_core::SystemHost::unix_ms())?;
            let namespace = namespace.as_deref().map_or_else(|| Ok(Namespace::of_layout(layout)), Namespace::named)?;
            self.namespaces.refuse_missing(&namespace).await?;
        }
        Ok(self.open(name, layout, namespace).await?)
    }

    /// Returns the options of a generator's lease.
    fn options(&self, layout: &Layout, namespace: Option<String>) -> LeaseOptions {
        LeaseOptions::new()
            .layout(*layout)
            .store(self.lease_store.clone())
            .given(namespace, LeaseOptions::namespace)
            // The rest of the time is for the store's answers, so that a failed request gets the reason.
            .max_wait(Duration::from_millis(self.max_wait_ms - self.max_wait_ms / 4))
            .window(Duration::from_millis(self.window_ms))
            .given(self.reserve, LeaseOptions::reserve)
    }

    /// Opens a generator.
    async fn open(&self, name: &str, layout: &Layout, namespace: Option<String>) -> Result<Arc<Queued>, Error> {
        let shown = name_of(namespace.as_deref(), layout);
        let lease = self.options(layout, namespace);
        let environment = self.environment.clone();
        let refusals = Arc::clone(&self.refusals);
        let name_of_refusal = name.to_owned();
        let new = async move {
            let opened = ProcessGenerator::lease_async(lease, &environment, &mut SystemHost::new()).await;
            let opened = opened.map(Queued::new);
            refusals.note(&name_of_refusal, &opened);
            if let Ok(generator) = &opened {
                let reserved_end_ms = generator.status().reserved.map(|reserved| reserved.end_ms);
                tracing::info!(namespace = shown, node = generator.node(), reserved_end_ms, "leased a node");
            }
            opened
        };
        self.pool.open(name, new).await
    }

    /// Gives back the leases of generators that were not used for a while.
    pub async fn sweep(&self) {
        self.pool.sweep().await;
    }

    /// Gives all leases back, and opens no generator any more.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

impl Pooled for Queued {
    async fn give_back(self: Arc<Self>) {
        self.close_async().await;
    }

    fn is_lost(&self) -> bool {
        self.status().lost.is_some()
    }
}

/// Returns the key of a generator in the pool. Each request makes it, and a default namespace looks its name up in the presets.
fn key_of(namespace: Option<&str>, layout: &Layout) -> String {
    // No name of a namespace contains "/" or "@".
    format!("{}/{:x?}", namespace.unwrap_or("@"), layout.layout_id().to_words())
}

/// Returns the name of a generator in the log.
fn name_of(namespace: Option<&str>, layout: &Layout) -> String {
    match namespace {
        Some(namespace) => format!("{namespace}/{}", Namespace::of_layout(layout)),
        None => Namespace::of_layout(layout).to_string(),
    }
}
