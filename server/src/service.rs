//! Every verb of the service once: the protocols call this, and nothing deeper.

mod given;
mod ids;
mod keys;
mod numbers;
mod opened;
mod queue;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use snowmint_core::{Error as CoreError, ErrorKind, Layout, Window};
use snowmint_stores::{Error, Leases, Namespace, SectionHolder, Sections, SectionsOptions, Store};
use tokio::time::{Instant, interval, timeout_at};

use self::ids::Ids;
use self::keys::Keys;
use self::numbers::Numbers;
use crate::watched::Watched;

/// The most numbers of a request.
pub const MOST: u64 = 100_000;
/// How many names are given back at a time.
const AT_ONCE: usize = 256;
/// The most sections of users: each is renewed all the time.
const MOST_SECTIONS: usize = 1000;
/// What was not used for one to two of these goes back to the store.
const SWEEP: Duration = Duration::from_secs(300);
/// The set that the users of the service are in.
pub const USERS: &str = "users";

/// How the service works.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The layout of IDs, unless a request asks for another.
    pub layout: Layout,
    /// The namespace of that layout's node; by default the layout's own.
    pub namespace: Option<Namespace>,
    /// How many numbers the first fetch of a key takes.
    pub step: u64,
    /// How long a request waits for clock and store, in ms.
    pub max_wait_ms: u64,
    /// The length of this server's own windows, and of those of its sections of users, in ms.
    pub window_ms: u64,
    /// The longest window that a holder elsewhere gets, in ms.
    pub max_window_ms: u64,
    /// How many users share a record.
    pub section_size: NonZeroU32,
    /// Where others find this server.
    pub label: String,
}

/// The service over a store.
#[derive(Debug)]
pub struct Service {
    pub settings: Settings,
    pub store: Arc<Watched>,
    pub ids: Ids,
    pub keys: Keys,
    pub numbers: Numbers,
    pub leases: Leases,
    sections: Sections,
}

impl Service {
    /// To be made within a runtime of tokio.
    ///
    /// # Errors
    /// Those of the settings, and of settings that are pinned in the store with other values.
    pub async fn new(watched: Arc<Watched>, settings: Settings) -> Result<Arc<Self>, Error> {
        let store: Arc<dyn Store> = Arc::<Watched>::clone(&watched);
        Window::length_ms(&settings.layout, Some(settings.window_ms), Window::ENGINE_MS, 0)?;
        let options = SectionsOptions {
            size: settings.section_size,
            window_ms: settings.window_ms,
            max_wait_ms: settings.max_wait_ms,
            most: MOST_SECTIONS,
            label: Some(settings.label.clone()),
            ..SectionsOptions::default()
        };
        let service = Self {
            ids: Ids::new(Arc::clone(&store), &settings)?,
            keys: Keys::new(Arc::clone(&store), &settings),
            numbers: Numbers::new(Arc::clone(&store), &settings),
            leases: Leases::new(Arc::clone(&store)),
            sections: Sections::new(store, USERS, options)?,
            store: watched,
            settings,
        };
        service.pin().await?;
        let service = Arc::new(service);
        let swept = Arc::downgrade(&service);
        drop(tokio::spawn(async move {
            let mut turns = interval(SWEEP);
            loop {
                turns.tick().await;
                let Some(service) = swept.upgrade() else { return };
                service.ids.sweep();
                service.keys.sweep().await;
                service.numbers.sweep().await;
            }
        }));
        Ok(service)
    }

    /// Pins what must stay the same for good, or refuses to begin.
    async fn pin(&self) -> Result<(), Error> {
        self.sections.pin().await?;
        let layout = &self.settings.layout;
        let namespace = self.settings.namespace.clone().unwrap_or_else(|| Namespace::of_layout(layout));
        self.leases.pin(&namespace, layout).await
    }

    /// The next number of a user.
    ///
    /// # Errors
    /// `WindowClosed`, naming the server that has the user.
    pub async fn next_of_user(&self, user: snowmint_core::Integer) -> Result<u64, Error> {
        self.sections.next(user).await
    }

    /// The other server that has a user, as it advertises itself, if it is known.
    pub fn server_of_user(&self, user: snowmint_core::Integer) -> Option<SectionHolder> {
        self.sections.holder(user)
    }

    /// How many names of each kind are open.
    pub fn names(&self) -> [(&'static str, usize); 5] {
        let [segments, sequences, tickets] = self.numbers.names();
        let (generators, keys) = (self.ids.names(), self.keys.names());
        [("generator", generators), ("key", keys), ("segment", segments), ("sequence", sequences), ("ticket", tickets)]
    }

    /// Gives users back, for whom another server waits: the first thing at the end.
    pub async fn close_users(&self) {
        if let Err(error) = self.sections.close().await {
            tracing::warn!(%error, "sections of users are not given back");
        }
    }

    /// Gives everything else back that can be.
    pub async fn close(&self) {
        tokio::join!(self.ids.close(), self.keys.close(), self.numbers.close());
    }
}

/// Until when a request waits for the store, whatever it needs of it.
#[derive(Clone, Copy, Debug)]
struct Deadline<'a> {
    store: &'a dyn Store,
    max_wait_ms: u64,
    at: Instant,
}

impl<'a> Deadline<'a> {
    fn of(store: &'a dyn Store, max_wait_ms: u64) -> Self {
        Self { store, max_wait_ms, at: Instant::now() + Duration::from_millis(max_wait_ms) }
    }

    /// Ends a call then.
    async fn ends<T>(&self, call: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        timeout_at(self.at, call).await.unwrap_or_else(|_| {
            let ms = self.max_wait_ms;
            Err(Error::told(ErrorKind::StoreUnavailable, format!("{}: no answer within {ms} ms", self.store.name())))
        })
    }
}

/// Refuses what no request may ask for.
///
/// # Errors
/// `InvalidId`.
pub fn count(given: Option<u64>) -> Result<u64, Error> {
    match given.unwrap_or(1) {
        count @ 1..=MOST => Ok(count),
        count => Err(Error::told(ErrorKind::InvalidId, format!("count is 1 to {MOST}, not {count}"))),
    }
}

fn closing() -> Error {
    CoreError::closed().into()
}
