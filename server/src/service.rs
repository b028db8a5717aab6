//! The service: all operations that the protocols call.

mod failure;
mod floored;
mod ids;
mod keys;
mod minted;
mod namespaces;
mod numbers;
mod openings;
mod pool;
mod queue;
mod tally;
mod ticket_stores;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use snowmint::LeaseStore;
use snowmint_core::{ErrorKind, Integer, Layout, Window};
use snowmint_stores::host::{Leases, Namespace, reserve};
use snowmint_stores::{CounterStore, Error, SectionHolder, Sections, SectionsOptions};
use tokio::time::interval;

pub use self::failure::Failure;
use self::floored::Floored;
use self::ids::Ids;
use self::keys::Keys;
use self::namespaces::Namespaces;
pub use self::numbers::Defined;
use self::numbers::Numbers;
use self::openings::Openings;
pub use self::openings::RETRY_AFTER_MS;
use self::tally::Tally;
pub use self::tally::{Counts, Nodes};
pub use self::ticket_stores::TicketStores;
use crate::monitored_store::MonitoredStore;

/// The limit of numbers in one request.
pub const MAX_COUNT: u64 = 100_000;
/// The limit of open sections of users: each section is renewed all the time.
const MAX_OPEN_SECTIONS: usize = 1000;
/// The limit of namespaces that have a metric each.
const MAX_COUNTED_NAMESPACES: usize = 100;
/// The pause between two sweeps. A name that is unused for one to two pauses is given back to the store.
const SWEEP_INTERVAL: Duration = Duration::from_mins(5);
/// The set of the users without a set.
pub const USERS: &str = Sections::USERS;

/// The settings of the service.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The layout of IDs, unless a request names another.
    pub layout: Layout,
    /// The namespace of the node for that layout; by default the layout's own.
    pub namespace: Option<Namespace>,
    /// How many numbers the first fetch of a key takes.
    pub step: u64,
    /// How long a request waits for the clock and the store, in ms.
    pub max_wait_ms: u64,
    /// The length of this server's windows of nodes and of sections of users, in ms.
    pub window_ms: u64,
    /// For how long the store grants a node to the directory of this machine's slots.
    pub reserve: Option<Duration>,
    /// The longest window that a client gets for a leased node, in ms.
    pub max_window_ms: u64,
    /// How many namespaces the store may have before a claim makes no new one.
    pub max_namespaces: usize,
    /// The percentage of a namespace's nodes that the holders of one token may have.
    pub node_share: u8,
    /// How many users share one record.
    pub section_size: NonZeroU32,
    /// The memory for users, in bytes.
    pub users_memory_bytes: u64,
    /// The stores of tickets, if they are not in the service's store.
    pub ticket_stores: Option<TicketStores>,
    /// The address of this server for clients of other servers.
    pub label: String,
}

/// The service on a store.
#[derive(Debug)]
pub struct Service {
    pub settings: Settings,
    pub store: Arc<MonitoredStore>,
    pub ids: Ids,
    pub keys: Keys,
    pub numbers: Numbers,
    pub leases: Leases,
    pub namespaces: Arc<Namespaces>,
    pub tally: Tally,
    sections: Sections,
}

impl Service {
    /// Starts the service over the store of a URL. Call this within a tokio runtime.
    ///
    /// # Errors
    /// `InvalidLayout` and others for settings that are out of range, or that differ from the settings pinned in the store.
    pub async fn new(monitored: Arc<MonitoredStore>, url: String, settings: Settings) -> Result<Arc<Self>, Error> {
        let store: Arc<dyn CounterStore> = Arc::<MonitoredStore>::clone(&monitored);
        Window::length_ms(&settings.layout, Some(settings.window_ms), Window::ENGINE_MS, 0)?;
        let options = SectionsOptions::default()
            .size(settings.section_size)
            .window(Duration::from_millis(settings.window_ms))
            .max_wait(Duration::from_millis(settings.max_wait_ms))
            .max_sections(MAX_OPEN_SECTIONS)
            .memory_bytes(settings.users_memory_bytes)
            .label(settings.label.clone());
        let floored = Floored::over(Arc::clone(&store));
        let openings = Openings::of(Arc::clone(&monitored), settings.max_wait_ms);
        let leases = Leases::new(store.clone());
        let namespaces = Arc::new(Namespaces::of(leases.clone(), &settings));
        let service = Self {
            ids: Ids::new(LeaseStore::over(store.clone(), url), openings.clone(), Arc::clone(&namespaces), &settings)?,
            keys: Keys::new(Arc::clone(&floored), openings.clone(), &settings),
            numbers: Numbers::new(floored, openings, &settings),
            namespaces,
            tally: Tally::of(leases.clone()),
            leases,
            sections: Sections::new(store, USERS, options)?,
            store: monitored,
            settings,
        };
        service.pin().await?;
        let service = Arc::new(service);
        let swept = Arc::downgrade(&service);
        drop(tokio::spawn(async move {
            let mut turns = interval(SWEEP_INTERVAL);
            loop {
                turns.tick().await;
                let Some(service) = swept.upgrade() else { return };
                tokio::join!(service.ids.sweep(), service.keys.sweep(), service.numbers.sweep());
            }
        }));
        Ok(service)
    }

    /// Pins the settings that must never change: section size and layout of the namespace.
    ///
    /// # Errors
    /// The store has other values.
    async fn pin(&self) -> Result<(), Error> {
        self.sections.pin().await?;
        let layout = &self.settings.layout;
        let namespace = self.settings.namespace.clone().unwrap_or_else(|| Namespace::of_layout(layout));
        self.leases.make(&namespace, layout).await.map(drop)
    }

    /// Takes the next `count` numbers of a user of a set.
    ///
    /// # Errors
    /// `WindowClosed` with the name of the server that has the user.
    pub async fn next_of_user(&self, set: &str, user: Integer, count: u64) -> Result<Vec<u64>, Error> {
        let sections = self.of_set(set)?;
        let mut numbers = reserve(count)?;
        for _ in 0..count {
            numbers.push(sections.next(user).await?);
        }
        Ok(numbers)
    }

    /// Returns the last number of a user of a set, and takes none. `None` if this server does not know it.
    ///
    /// # Errors
    /// `WindowClosed` with the name of the server that has the user.
    pub async fn last_of_user(&self, set: &str, user: Integer) -> Result<Option<u64>, Error> {
        self.of_set(set)?.last(user).await
    }

    /// Returns the other server that has a user, with its advertised address, if it is known.
    pub fn server_of_user(&self, set: &str, user: Integer) -> Option<SectionHolder> {
        self.of_set(set).ok()?.holder(user)
    }

    /// Returns the sections of a set. All sets share the limits of sections and of memory.
    fn of_set(&self, set: &str) -> Result<Sections, Error> {
        if set == USERS { Ok(self.sections.clone()) } else { self.sections.of_set(set) }
    }

    /// Returns how many names of each kind are open.
    pub fn names(&self) -> [(&'static str, usize); 6] {
        let [segments, sequences, formatted, tickets] = self.numbers.names();
        let (generators, keys) = (self.ids.names(), self.keys.names());
        [
            ("generator", generators),
            ("key", keys),
            ("segment", segments),
            ("sequence", sequences),
            ("formatted", formatted),
            ("ticket", tickets),
        ]
    }

    /// Gives back the sections of users. The end of the server begins with this, as another server waits for them.
    pub async fn close_users(&self) {
        if let Err(error) = self.sections.close().await {
            tracing::warn!(%error, "sections of users are not given back");
        }
    }

    /// Gives back leases and unused numbers.
    pub async fn close(&self) {
        tokio::join!(self.ids.close(), self.keys.close(), self.numbers.close());
    }
}

/// Returns the count of a request, by default 1.
///
/// # Errors
/// `InvalidId`, if the count is not 1 to [`MAX_COUNT`].
pub fn count(given: Option<u64>) -> Result<u64, Error> {
    match given.unwrap_or(1) {
        count @ 1..=MAX_COUNT => Ok(count),
        count => Err(Error::new(ErrorKind::InvalidId, format!("count must be 1 to {MAX_COUNT}, not {count}"))),
    }
}
