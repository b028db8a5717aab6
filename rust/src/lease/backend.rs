//! Where leases are kept.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use snowmint_core::host::whole_ms;
use snowmint_core::lease::Reservation;
use snowmint_stores::host::background::Background;
use snowmint_stores::host::{Claimer, Outcome, Refusal, StoreLease, Terms, claim_node};
use snowmint_stores::{Error, RecordStore};

use super::connector::Connector;
use super::grant::{Grant, Holding};
use super::lanes::{Place, lane};
use super::lessor::{Lessor, LessorLease};
use crate::reservations::Reservations;
use crate::slots::SlotDirectory;

/// The place where leases are kept. Two backends are equal if they are the same directory, URL or object.
#[derive(Clone)]
pub enum Backend {
    /// Slots of this machine.
    Slots(SlotDirectory),
    /// The store of a URL, one for the process.
    #[cfg(feature = "engines")]
    Url(String),
    /// A store of the caller whose calls block, with the number of [`Backend::blocking`].
    Store(Arc<dyn RecordStore>, usize),
    /// A store of the caller whose calls wait on a runtime of tokio, with its number, and the URL of the store behind it, if it
    /// has one.
    #[cfg(feature = "engines")]
    AsyncStore(Arc<dyn RecordStore>, usize, Option<String>),
    /// A service that grants nodes by its own clock, with the number of [`Backend::lessor`].
    Lessor(Arc<dyn Lessor>, usize),
    /// Slots of this machine, whose nodes a store has reserved.
    Reserved(Reservations),
}

#[async_trait]
impl Holding for StoreLease {
    async fn renew(&mut self, now_ms: i64, last_ms: i64, reach_ms: u64) -> Outcome {
        Self::renew(self, now_ms, last_ms, reach_ms).await
    }

    async fn release(mut self: Box<Self>, end_ms: i64) {
        drop(Self::release(&mut self, end_ms).await);
    }
}

impl Backend {
    /// Returns a store of the caller whose calls block, with a number that no other store or lessor has while this one lives.
    pub fn blocking(store: impl RecordStore, number: usize) -> Self {
        Self::Store(Arc::new(store), number)
    }

    /// Returns a lessor of the caller, with a number that no other store or lessor has while this one lives.
    pub fn lessor(lessor: impl Lessor, number: usize) -> Self {
        Self::Lessor(Arc::new(lessor), number)
    }

    /// Returns the backend of a URL: `file:DIRECTORY` for slots, or an engine whose feature is on.
    ///
    /// # Errors
    /// `InvalidStore`: this build has no such store.
    pub fn of_url(url: &str) -> Result<Self, Error> {
        #[cfg(feature = "engines")]
        if !url.starts_with("file:") {
            return snowmint_stores::host::longest_call(url).map(|_| Self::Url(url.to_owned()));
        }
        SlotDirectory::of_url(url).map(Self::Slots)
    }

    /// Claims a node. `slowest_ms` takes how long the slowest answer of a store took so far.
    pub(crate) async fn claim(&self, terms: &Terms, now_ms: i64, slowest_ms: &AtomicU64) -> Result<Grant, Refusal> {
        let store = match self {
            Self::Slots(directory) => return directory.claim(terms, now_ms),
            Self::Reserved(reservations) => return reservations.claim(terms, now_ms, slowest_ms),
            Self::Lessor(lessor, _) => return LessorLease::claim(Arc::clone(lessor), terms).await,
            Self::Store(store, _) => Arc::clone(store),
            #[cfg(feature = "engines")]
            Self::Url(_) | Self::AsyncStore(..) => self.record_store().await?,
        };
        let answered = |took: Duration| {
            slowest_ms.fetch_max(whole_ms(took), Ordering::Relaxed);
        };
        let claimer = Claimer::this_process()?;
        let lease = claim_node(store, terms, &claimer, now_ms, &answered).await?;
        Ok(Grant {
            node: lease.node(),
            window: lease.window(),
            window_ms: terms.window_ms,
            nonce: claimer.nonce,
            clock: None,
            outer: None,
            skew_ms: lease.skew_ms,
            standby_risk: lease.standby_risk(),
            skipped: lease.skipped.clone(),
            holding: Box::new(lease),
        })
    }

    /// Returns the store, connected.
    ///
    /// # Errors
    /// `InvalidStore` for slots and lessors; the errors of a connection.
    #[cfg_attr(not(feature = "engines"), expect(clippy::unused_async, reason = "only engines connect"))]
    pub(crate) async fn record_store(&self) -> Result<Arc<dyn RecordStore>, Error> {
        match self {
            #[cfg(feature = "engines")]
            Self::Url(url) => snowmint_stores::host::connected(url).await,
            Self::Store(store, _) => Ok(Arc::clone(store)),
            #[cfg(feature = "engines")]
            Self::AsyncStore(store, ..) => Ok(Arc::clone(store)),
            Self::Slots(_) | Self::Lessor(..) | Self::Reserved(_) => {
                Err(Error::invalid_store(&self.name(), "it has no records"))
            }
        }
    }

    /// Returns where the calls of the backend run in this process.
    ///
    /// # Errors
    /// `StoreUnavailable`: the system gives no thread.
    #[cfg_attr(
        not(feature = "engines"),
        expect(clippy::unnecessary_wraps, reason = "only the runtime of engines can fail")
    )]
    pub(crate) fn background(&self) -> Result<Background, Error> {
        let place = match self {
            Self::Slots(directory) | Self::Reserved(Reservations { slots: directory, .. }) => {
                Place::Directory(directory.path.clone())
            }
            #[cfg(feature = "engines")]
            Self::Url(_) | Self::AsyncStore(..) => {
                return snowmint_stores::host::runtime().map(Background::Runtime);
            }
            Self::Store(_, number) | Self::Lessor(_, number) => Place::Object(*number),
        };
        Ok(Background::Thread(lane(place)))
    }

    /// Returns where claims run. Claims in a reservation wait for a store, so a separate thread runs them.
    ///
    /// # Errors
    /// As [`Self::background`].
    pub(crate) fn claims_on(&self) -> Result<Background, Error> {
        match self {
            Self::Reserved(reservations) => {
                Ok(Background::Thread(lane(Place::Reservations(reservations.slots.path.clone()))))
            }
            _ => self.background(),
        }
    }

    /// Returns the directory of the slots of this machine, if there is one.
    pub(crate) const fn slots(&self) -> Option<&SlotDirectory> {
        match self {
            Self::Slots(directory) => Some(directory),
            Self::Reserved(reservations) => Some(&reservations.slots),
            _ => None,
        }
    }

    /// Returns this backend, whose nodes the processes of a machine take from reservations of a directory.
    ///
    /// # Errors
    /// `InvalidStore`, if the backend has no records, or this system cannot distinguish a directory from its copy.
    pub(crate) fn reserved(self, machine: &SlotDirectory, reserve_ms: u64) -> Result<Self, Error> {
        let number = match &self {
            Self::Slots(_) | Self::Lessor(..) | Self::Reserved(_) => return Err(Reservation::no_store().into()),
            #[cfg(feature = "engines")]
            Self::Url(_) => None,
            #[cfg(feature = "engines")]
            Self::AsyncStore(_, number, _) => Some(*number),
            Self::Store(_, number) => Some(*number),
        };
        let identity = self.identity()?;
        Reservations::new(machine, Arc::new(self), &identity, number, reserve_ms).map(Self::Reserved)
    }

    /// Returns the name of the store for all processes of a machine, without a password.
    #[cfg_attr(not(feature = "engines"), expect(clippy::unnecessary_wraps, reason = "only URLs of engines are read"))]
    fn identity(&self) -> Result<String, Error> {
        match self {
            #[cfg(feature = "engines")]
            Self::Url(url) | Self::AsyncStore(_, _, Some(url)) => {
                let url = snowmint_stores::Url::parse(url)?;
                // Users, and options of a client, may have another schema of the same database.
                let options = url.rest.split_once('?').map_or("", |(_, options)| options);
                // Two processes may have the same relative path and different directories.
                let path = url.rest.strip_prefix("sqlite:").and_then(|path| std::path::absolute(path).ok());
                let place = path.map_or_else(|| url.place().to_owned(), |path| path.display().to_string());
                Ok(format!("{} at {place} {options} {} {}", url.scheme, url.prefix, url.user()))
            }
            _ => Ok(self.name()),
        }
    }

    /// Returns how long a claim waits at least. An engine ends each call by itself, with a better message.
    pub(crate) fn least_patience(&self) -> Duration {
        match self {
            #[cfg(feature = "engines")]
            Self::Url(url) => snowmint_stores::host::longest_call(url).unwrap_or_default(),
            Self::Reserved(reservations) => reservations.least_patience(),
            _ => Duration::ZERO,
        }
    }

    /// Returns whether generators read the backend's clock instead of the system's.
    pub(crate) const fn has_clock(&self) -> bool {
        matches!(self, Self::Lessor(..))
    }

    /// Returns whether the caller gave the store or lessor.
    pub(crate) const fn is_the_callers(&self) -> bool {
        match self {
            Self::Slots(_) => false,
            Self::Reserved(reservations) => reservations.is_the_callers(),
            #[cfg(feature = "engines")]
            Self::Url(_) => false,
            #[cfg(feature = "engines")]
            Self::AsyncStore(..) => true,
            Self::Store(..) | Self::Lessor(..) => true,
        }
    }

    /// Returns engine and address, or the directory, for error messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Slots(directory) => format!("slots in {}", directory.path.display()),
            Self::Reserved(reservations) => reservations.name(),
            // The URL may have a password.
            #[cfg(feature = "engines")]
            Self::Url(url) => url.split(':').next().unwrap_or_default().to_owned(),
            Self::Store(store, _) => store.name().to_owned(),
            #[cfg(feature = "engines")]
            Self::AsyncStore(store, ..) => store.name().to_owned(),
            Self::Lessor(lessor, _) => lessor.name().to_owned(),
        }
    }
}

#[async_trait]
impl Connector for Backend {
    fn name(&self) -> String {
        Self::name(self)
    }

    fn background(&self) -> Result<Background, Error> {
        Self::background(self)
    }

    fn least_patience(&self) -> Duration {
        Self::least_patience(self)
    }

    async fn record_store(&self) -> Result<Arc<dyn RecordStore>, Error> {
        Self::record_store(self).await
    }
}

impl PartialEq for Backend {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Slots(own), Self::Slots(other)) => own == other,
            (Self::Reserved(own), Self::Reserved(other)) => own == other,
            #[cfg(feature = "engines")]
            (Self::Url(own), Self::Url(other)) => own == other,
            #[cfg(feature = "engines")]
            (Self::AsyncStore(_, own, _), Self::AsyncStore(_, other, _)) => own == other,
            (Self::Store(_, own), Self::Store(_, other)) | (Self::Lessor(_, own), Self::Lessor(_, other)) => {
                own == other
            }
            _ => false,
        }
    }
}

impl Eq for Backend {}

impl Hash for Backend {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Slots(directory) => directory.hash(state),
            Self::Reserved(reservations) => reservations.hash(state),
            #[cfg(feature = "engines")]
            Self::Url(url) => url.hash(state),
            #[cfg(feature = "engines")]
            Self::AsyncStore(_, number, _) => number.hash(state),
            Self::Store(_, number) | Self::Lessor(_, number) => number.hash(state),
        }
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Backend({})", self.name())
    }
}
