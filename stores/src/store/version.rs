//! Versions of records that never come back, also after the store was restored from a backup.

#[cfg(any(feature = "etcd", feature = "zookeeper", feature = "nats"))]
use std::hash::{DefaultHasher, Hasher};
#[cfg(any(feature = "zookeeper", feature = "nats"))]
use std::time::Duration;

#[cfg(any(feature = "zookeeper", feature = "nats"))]
use snowmint_core::host::whole_ms;
#[cfg(any(feature = "etcd", feature = "zookeeper", feature = "nats"))]
use snowmint_core::mutant;
use snowmint_core::store::new_version;

use super::Version;
#[cfg(any(feature = "file", feature = "redis", feature = "sql", feature = "zookeeper", feature = "nats"))]
use crate::error::Error;
#[cfg(any(feature = "zookeeper", feature = "nats"))]
use crate::process::monotonic::monotonic_ms;
#[cfg(any(feature = "file", feature = "redis", feature = "sql"))]
use crate::process::nonce::nonce;

/// Returns a new version for a write, for an engine that stores the versions that we make.
#[cfg(any(feature = "file", feature = "redis", feature = "sql"))]
pub(crate) fn fresh(expected: Version) -> Result<Version, Error> {
    // Half of the random bits, which always fits.
    Ok(new_version(expected, u64::try_from(nonce()? >> 64).unwrap_or_default()))
}

/// Returns the version of a record of an engine that counts versions itself. A restored backup counts again, so the version
/// is a hash of the engine's count and of the value. The engine's own count of a record is not needed.
#[cfg(any(feature = "etcd", feature = "zookeeper", feature = "nats"))]
pub(crate) fn of(value: &[u8], count: u64) -> Version {
    if mutant::removes("versions") {
        return count;
    }
    let mut hasher = DefaultHasher::new();
    hasher.write_u64(count);
    hasher.write(value);
    new_version(0, hasher.finish())
}

/// The time of a look at a record, before a write that relies on it: for engines that compare counts only.
#[cfg(any(feature = "zookeeper", feature = "nats"))]
pub(crate) struct Look {
    latest_ms: u64,
}

#[cfg(any(feature = "zookeeper", feature = "nats"))]
impl Look {
    /// Begins a look.
    pub(crate) fn new(timeout: Duration) -> Self {
        Self { latest_ms: monotonic_ms().saturating_add(whole_ms(timeout)) }
    }

    /// Refuses a write after the timeout: if this process was suspended, a backup may have been restored meanwhile.
    pub(crate) fn refuse_late(&self, store: &str) -> Result<(), Error> {
        if monotonic_ms() <= self.latest_ms {
            return Ok(());
        }
        Err(Error::unavailable(store, "this process was suspended in the middle of a write, which is given up"))
    }
}
