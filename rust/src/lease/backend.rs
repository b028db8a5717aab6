//! Where leases are kept.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use snowmint_stores::{BlockingStore, Error};

use super::lessor::Lessor;
use crate::slots::SlotDirectory;

/// The place where leases are kept. Two backends are equal if they are the same directory, or have the same identity.
#[derive(Clone)]
pub enum Backend {
    /// Slots of this machine.
    Slots(SlotDirectory),
    /// A store.
    Store(Arc<dyn BlockingStore>, Identity),
    /// A service that grants nodes by its own clock.
    Lessor(Arc<dyn Lessor>, Identity),
}

/// The identity of a store or lessor in this process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Identity {
    /// The URL of an engine.
    Url(String),
    /// A number that no other store or lessor has while this one lives, such as the address of an object.
    Object(usize),
}

impl Backend {
    /// Returns a store of the caller, with a number that no other store or lessor has while this one lives.
    pub fn store(store: impl BlockingStore, number: usize) -> Self {
        Self::Store(Arc::new(store), Identity::Object(number))
    }

    /// Returns a lessor of the caller, with a number that no other store or lessor has while this one lives.
    pub fn lessor(lessor: impl Lessor, number: usize) -> Self {
        Self::Lessor(Arc::new(lessor), Identity::Object(number))
    }

    /// Returns the backend of a URL: `file:DIRECTORY` for slots, or an engine whose feature is on.
    ///
    /// # Errors
    /// `InvalidStore`: this build has no such store.
    pub fn of_url(url: &str) -> Result<Self, Error> {
        if url.starts_with("file:") {
            return SlotDirectory::of_url(url).map(Self::Slots);
        }
        #[cfg(feature = "engines")]
        return Ok(Self::Store(Arc::new(snowmint_stores::EngineStore::of_url(url)?), Identity::Url(url.to_owned())));
        #[cfg(not(feature = "engines"))]
        SlotDirectory::of_url(url).map(Self::Slots)
    }

    /// Returns whether generators read the backend's clock instead of the system's.
    pub(crate) const fn has_clock(&self) -> bool {
        matches!(self, Self::Lessor(..))
    }

    /// Returns whether the caller gave the store or lessor: its calls may need the thread that waits for them.
    pub(crate) const fn is_the_callers(&self) -> bool {
        matches!(self, Self::Store(_, Identity::Object(_)) | Self::Lessor(_, Identity::Object(_)))
    }

    /// Returns engine and address, or the directory, for error messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Slots(directory) => format!("slots in {}", directory.path.display()),
            Self::Store(store, _) => store.name().to_owned(),
            Self::Lessor(lessor, _) => lessor.name().to_owned(),
        }
    }
}

impl PartialEq for Backend {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Slots(own), Self::Slots(other)) => own == other,
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
            Self::Store(_, identity) | Self::Lessor(_, identity) => identity.hash(state),
        }
    }
}

// The name has no password; a URL may have one.
impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Backend({})", self.name())
    }
}
