//! What a store has to do: four verbs, each durable before it returns.

#[cfg(feature = "engines")]
pub(crate) mod counter;
#[cfg(feature = "engines")]
pub(crate) mod floor;
pub(crate) mod key;
#[cfg(feature = "engines")]
pub(crate) mod url;

use std::fmt;

use async_trait::async_trait;
pub use snowmint_core::store::Version;

use crate::error::Error;

/// A record, and which version it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What was written; up to [`MAX_VALUE_BYTES`].
    pub value: Vec<u8>,
    /// Its version, 1 or more; another one after each write, never one that this key had before.
    pub version: Version,
}

/// What came of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrote {
    /// It is durable; this is its version.
    Version(Version),
    /// A record of another version is there, or none where one was expected, or one where none was: nothing was written.
    Conflict,
}

/// The most bytes of a record.
pub const MAX_VALUE_BYTES: usize = 1024;
/// The most bytes of a key.
pub const MAX_KEY_BYTES: usize = 512;

/// Where grants and numbers live. Each answer of `Ok` is durable and linearizable.
///
/// Keys are ASCII of `a-z A-Z 0-9 . _ - % /`, made by this crate, at most [`MAX_KEY_BYTES`] long, such as `leases/orders/5`;
/// those of records and of counters have nothing to do with each other. Records are never deleted.
///
/// An error of the kind `StoreUnavailable` leaves open whether a write or an addition was done, or will be. No future is
/// left hanging: an implementation gives up after some seconds. Dropping a future is harmless.
#[async_trait]
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// The engine and where it is, for sentences: `PostgreSQL at db:5432`. No password.
    fn name(&self) -> &str;

    /// The record of that key.
    async fn read(&self, key: &str) -> Result<Option<Found>, Error>;

    /// Writes the record of that key if it still is of the version `expected`; 0 is that of a record that is not there.
    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<Wrote, Error>;

    /// All records right under `prefix`, a key with a slash at its end, in any order: the part of the key after it.
    async fn list(&self, prefix: &str) -> Result<Vec<(String, Found)>, Error>;

    /// Raises a counter by `delta`, from `start` if it is not there yet; the counter after that. Both, and the counter,
    /// are at most 2^63-1; beyond it the counter stays as it is, and the error is `Exhausted`.
    async fn add(&self, counter: &str, delta: u64, start: u64) -> Result<u64, Error>;

    /// Sets a counter from `end` to `start`, if it still is at `end`; whether it was. For numbers that are given back.
    async fn lower(&self, counter: &str, end: u64, start: u64) -> Result<bool, Error>;

    /// The store's clock, in Unix ms, if it has one.
    async fn clock_ms(&self) -> Result<Option<i64>, Error> {
        Ok(None)
    }

    /// Looks at the store's settings, and refuses a claim where a failover could lose it: `UnsafeStore`, unless the store
    /// was told that failovers are followed by a fence (`allow_standby`). Renewals and fetches go on.
    async fn refuse_standby(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Returns what the last look at the settings found by which a failover could lose what is confirmed, if anything.
    fn standby_risk(&self) -> Option<Error> {
        None
    }

    /// The table of segments that this engine has beside its counters: Leaf's `leaf_alloc`.
    fn segments(&self) -> Option<&dyn SegmentTable> {
        None
    }
}

/// A segment's definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The next number that nobody has; Leaf's `max_id`.
    pub next: u64,
    /// How many numbers the first fetches take.
    pub step: u64,
    /// For people.
    pub description: String,
}

/// Leaf's table `leaf_alloc(biz_tag, max_id, step, description, update_time)`, used as it is where it exists.
#[async_trait]
pub trait SegmentTable: Send + Sync {
    /// The row of a tag.
    async fn tag(&self, tag: &str) -> Result<Option<Tag>, Error>;
    /// Adds a row, unless there is one; whether it was added.
    async fn create(&self, tag: &str, row: &Tag) -> Result<bool, Error>;
    /// All tags.
    async fn tags(&self) -> Result<Vec<String>, Error>;
    /// `max_id = max_id + amount`; what it is then. `None` if there is no such tag.
    async fn fetch(&self, tag: &str, amount: u64) -> Result<Option<u64>, Error>;
    /// Sets `max_id` from `end` to `start` if it still is `end`; whether it was.
    async fn lower(&self, tag: &str, end: u64, start: u64) -> Result<bool, Error>;
}

/// A native sequence of a database, or anything else that gives numbers which nobody else gets.
#[async_trait]
pub trait NumberSource: fmt::Debug + Send + Sync + 'static {
    /// The engine, where it is, and what it is called there. No password.
    fn name(&self) -> &str;
    /// The most numbers of a `take`.
    fn most(&self) -> u64 {
        100_000
    }

    /// Up to `count` numbers, at least one, in the order in which they were made, durable: none of them is given again.
    ///
    /// `Exhausted` if there are none left.
    async fn take(&self, count: u64) -> Result<Vec<i64>, Error>;
}

/// One server of tickets.
#[async_trait]
pub trait TicketServer: fmt::Debug + Send + Sync + 'static {
    /// The engine and where it is. No password.
    fn name(&self) -> &str;
    /// One more; what it means is for [`Form`](snowmint_core::ticket::Form) to say.
    async fn take(&self) -> Result<u64, Error>;
}
