//! Stores whose calls block, such as those that a host language gives.

use std::fmt;
use std::sync::Arc;

use crate::error::Error;
use crate::store::{Found, ServerSettings, Version, Wrote};

/// A store of leases whose calls block: the methods of [`Store`](super::Store) that leases need.
///
/// Each call ends, by a timeout if need be. An answer of `Ok` is durable and linearizable. An error of the kind
/// `StoreUnavailable` leaves open whether a write was done. A forked child uses the same object: it must not use what the
/// parent opened, such as a connection.
pub trait BlockingStore: fmt::Debug + Send + Sync + 'static {
    /// Returns engine and address for error messages, without a password.
    fn name(&self) -> &str;

    /// See [`Store::read`](super::Store::read).
    ///
    /// # Errors
    /// `StoreUnavailable`, `UnsafeStore`, `Forked`; the same for the other calls.
    fn read(&self, key: &str) -> Result<Option<Found>, Error>;

    /// See [`Store::write`](super::Store::write).
    ///
    /// # Errors
    /// See [`read`](Self::read).
    fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<Wrote, Error>;

    /// See [`Store::list`](super::Store::list).
    ///
    /// # Errors
    /// See [`read`](Self::read).
    fn list(&self, prefix: &str) -> Result<Vec<(String, Found)>, Error>;

    /// See [`Store::clock_ms`](super::Store::clock_ms).
    ///
    /// # Errors
    /// See [`read`](Self::read).
    fn clock_ms(&self) -> Result<Option<i64>, Error>;

    /// See [`Store::refuse_standby`](super::Store::refuse_standby).
    ///
    /// # Errors
    /// See [`read`](Self::read).
    fn refuse_standby(&self) -> Result<(), Error> {
        Ok(())
    }

    /// See [`Store::settings`](super::Store::settings).
    ///
    /// # Errors
    /// See [`read`](Self::read).
    fn settings(&self) -> Result<Option<ServerSettings>, Error> {
        Ok(None)
    }

    /// See [`Store::standby_risk`](super::Store::standby_risk).
    fn standby_risk(&self) -> Option<Error> {
        None
    }

    /// Returns the store that renewals ask, if it is not this one. A lease keeps the last error of its renewals: a store of
    /// a host language returns one whose errors keep no exception.
    fn for_renewals(&self) -> Option<Arc<dyn BlockingStore>> {
        None
    }
}
