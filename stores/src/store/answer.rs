//! The answers of a store.

use snowmint_core::durability::Engine;

use super::Version;

/// A record and its version.
///
/// # Examples
/// ```
/// use snowmint_stores::{Versioned, connect};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let store = connect("memory:").await?;
/// assert_eq!(store.read("leases/orders/5").await?, None);
/// store.write("leases/orders/5", b"value", 0).await?;
/// let Versioned { value, version, .. } = store.read("leases/orders/5").await?.expect("a record");
/// assert_eq!(value, b"value");
/// assert!(version > 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Versioned {
    /// The bytes, up to [`MAX_VALUE_BYTES`](crate::MAX_VALUE_BYTES).
    pub value: Vec<u8>,
    /// The version, 1 or more. Every write gives a key a version that it never had before, also before a restored backup.
    pub version: Version,
}

impl Versioned {
    /// Makes the answer of a [`RecordStore`](crate::RecordStore).
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::Versioned;
    /// let found = Versioned::new("value", 1);
    /// assert_eq!((found.value.as_slice(), found.version), (&b"value"[..], 1));
    /// ```
    pub fn new(value: impl Into<Vec<u8>>, version: Version) -> Self {
        Self { value: value.into(), version }
    }
}

/// The outcome of a write.
///
/// # Examples
/// ```
/// use snowmint_stores::{WriteOutcome, connect};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let store = connect("memory:").await?;
/// let WriteOutcome::Version(version) = store.write("leases/orders/5", b"one", 0).await? else { panic!("it is new") };
/// assert_eq!(store.write("leases/orders/5", b"two", version + 1).await?, WriteOutcome::Conflict);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteOutcome {
    /// The record is durable and has this version.
    Version(Version),
    /// The record has another version than expected, so nothing was written.
    Conflict,
}

/// The settings that decide whether a server keeps confirmed writes.
///
/// # Examples
/// ```
/// use snowmint_core::durability::Engine;
/// use snowmint_stores::ServerSettings;
/// let ServerSettings { engine, values, .. } =
///     ServerSettings::new(Engine::Postgres, [("fsync".to_owned(), "off".to_owned())]);
/// let value = |name: &str| values.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str());
/// assert!(engine.refuse(value).is_some(), "a crash loses writes");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerSettings {
    /// The engine, whose rules judge the values.
    pub engine: Engine,
    /// Pairs of a name and a value. [`Engine::settings`] lists the names; here their case does not matter.
    pub values: Vec<(String, String)>,
}

impl ServerSettings {
    /// Makes the answer of [`RecordStore::settings`](crate::RecordStore::settings).
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::durability::Engine;
    /// use snowmint_stores::ServerSettings;
    /// let settings = ServerSettings::new(Engine::Postgres, [("fsync".to_owned(), "on".to_owned())]);
    /// assert_eq!(settings.values[0].1, "on");
    /// ```
    pub fn new(engine: Engine, values: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { engine, values: values.into_iter().collect() }
    }
}
