//! The contract of a store: three verbs for records and two for counters. Each is durable before it returns.

pub(crate) mod ask;
#[cfg(feature = "engines")]
pub(crate) mod counter;
pub mod filesystem;
#[cfg(feature = "engines")]
pub(crate) mod floor;
pub(crate) mod key;
#[cfg(feature = "engines")]
mod options;
pub mod plain_file;
#[cfg(feature = "engines")]
pub(crate) mod url;
#[cfg(any(
    feature = "file",
    feature = "redis",
    feature = "sql",
    feature = "etcd",
    feature = "zookeeper",
    feature = "nats"
))]
pub(crate) mod version;

use std::fmt;

use async_trait::async_trait;
use snowmint_core::durability::Engine;
pub use snowmint_core::store::Version;

use crate::error::Error;

/// A record and its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The bytes, up to [`MAX_VALUE_BYTES`].
    pub value: Vec<u8>,
    /// The version, 1 or more. Every write gives a key a version that it never had before, also before a restored backup.
    pub version: Version,
}

/// The outcome of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrote {
    /// The record is durable and has this version.
    Version(Version),
    /// The record has another version than expected, so nothing was written.
    Conflict,
}

/// The most bytes of a record.
pub const MAX_VALUE_BYTES: usize = 1024;
/// The most bytes of a key.
pub const MAX_KEY_BYTES: usize = 512;

/// Keeps the records of leases. Each answer of `Ok` is durable and linearizable.
///
/// Keys are made by this crate, such as `leases/orders/5`: ASCII of `a-z A-Z 0-9 . _ - % /`, at most [`MAX_KEY_BYTES`] long.
/// Records are never deleted.
///
/// After an error of the kind `StoreUnavailable` a write may have happened, or may still happen. Every future ends: an
/// implementation gives up after some seconds. Dropping a future is harmless.
#[async_trait]
pub trait RecordStore: fmt::Debug + Send + Sync + 'static {
    /// Returns the engine and its address, for sentences: `PostgreSQL at db:5432`. Never a password.
    fn name(&self) -> &str;

    /// Reads the record of a key. `None` if the key has no record.
    async fn read(&self, key: &str) -> Result<Option<Found>, Error>;

    /// Writes the record of a key if its version still is `expected`. Pass 0 for a new record.
    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<Wrote, Error>;

    /// Lists the records directly under `prefix`, a key that ends in a slash: the rest of each key, in any order.
    async fn list(&self, prefix: &str) -> Result<Vec<(String, Found)>, Error>;

    /// Lists the records below `prefix` at any depth by one query: the rest of each key, in any order. `None` if the engine has
    /// no such query.
    async fn list_below(&self, prefix: &str) -> Result<Option<Vec<(String, Found)>>, Error> {
        let _ = prefix;
        Ok(None)
    }

    /// Reads the store's clock, in Unix ms. `None` if the store has no clock.
    async fn clock_ms(&self) -> Result<Option<i64>, Error> {
        Ok(None)
    }

    /// Checks the store's settings before a claim. `UnsafeStore` if a failover could lose the claim, unless the store was
    /// opened with `allow_standby`. Renewals and fetches do not ask.
    async fn refuse_standby(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Returns the setting by which a failover could lose confirmed writes, as of the last check. `None` without such a setting.
    fn standby_risk(&self) -> Option<Error> {
        None
    }

    /// Reads the settings that decide whether the store's server keeps confirmed writes, also where the URL has
    /// `allow_unsafe`. `None` if the store does not know such settings.
    async fn settings(&self) -> Result<Option<ServerSettings>, Error> {
        Ok(None)
    }

    /// Closes idle connections at the end of a program. `SQLite` then moves its write-ahead log into the database file.
    async fn close(&self) {}
}

/// Keeps numbers beside the records: what segments, tickets, sequences and sections need of a store.
///
/// A record and a counter of the same key are unrelated. After an error of the kind `StoreUnavailable` an addition may have
/// happened, or may still happen.
#[async_trait]
pub trait CounterStore: RecordStore {
    /// Adds `delta` to a counter and returns the sum. A new counter begins at `start`.
    ///
    /// `Exhausted` if the sum would pass 2^63-1: the counter stays unchanged.
    async fn add(&self, counter: &str, delta: u64, start: u64) -> Result<u64, Error>;

    /// Sets a counter from `end` back to `start`, and returns `false` if it is not at `end` any more. For unused numbers.
    async fn lower(&self, counter: &str, end: u64, start: u64) -> Result<bool, Error>;

    /// Returns the engine's own table of segments, Leaf's `leaf_alloc`. `None` for engines without tables.
    fn segments(&self) -> Option<&dyn SegmentTable> {
        None
    }
}

/// The settings that decide whether a server keeps confirmed writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// The engine, whose rules judge the values.
    pub engine: Engine,
    /// Names and values, by name. The names are those of [`Engine::settings`], in any case.
    pub values: Vec<(String, String)>,
}

/// The definition of a segment tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The next unused number; Leaf's `max_id`.
    pub next: u64,
    /// How many numbers the first fetches take.
    pub step: u64,
    /// A text for people.
    pub description: String,
}

/// Leaf's table `leaf_alloc(biz_tag, max_id, step, description, update_time)`. An existing table stays unchanged.
#[async_trait]
pub trait SegmentTable: Send + Sync {
    /// Reads the row of a tag. `None` if the tag does not exist.
    async fn tag(&self, tag: &str) -> Result<Option<Tag>, Error>;
    /// Adds a row. `false` if the tag exists.
    async fn create(&self, tag: &str, row: &Tag) -> Result<bool, Error>;
    /// Lists all tags.
    async fn tags(&self) -> Result<Vec<String>, Error>;
    /// Adds `amount` to `max_id` and returns the sum. `None` if the tag does not exist.
    async fn fetch(&self, tag: &str, amount: u64) -> Result<Option<u64>, Error>;
    /// Sets `max_id` from `end` back to `start`, and returns `false` if it is not at `end` any more.
    async fn lower(&self, tag: &str, end: u64, start: u64) -> Result<bool, Error>;
}

/// A source of numbers that never gives a number twice, such as a native sequence of a database.
#[async_trait]
pub trait NumberSource: fmt::Debug + Send + Sync + 'static {
    /// Returns the engine, its address and the name of the source there. Never a password.
    fn name(&self) -> &str;
    /// Returns the most numbers of one `take`.
    fn most(&self) -> u64 {
        100_000
    }

    /// Takes 1 to `count` numbers, in the order in which they were made. They are durable: the source never repeats them.
    ///
    /// `Exhausted` if the source has no more numbers.
    async fn take(&self, count: u64) -> Result<Vec<i64>, Error>;
}

/// A server of tickets.
#[async_trait]
pub trait TicketServer: fmt::Debug + Send + Sync + 'static {
    /// Returns the engine and its address. Never a password.
    fn name(&self) -> &str;
    /// Takes the next number. [`Form`](snowmint_core::ticket::Form) says how a number becomes a ticket.
    async fn take(&self) -> Result<u64, Error>;
}
