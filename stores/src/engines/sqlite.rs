//! `SQLite`: a database file of one machine.

mod dialect;
mod settings;

use std::sync::OnceLock;

use self::dialect::LiteDialect;
use super::sql::SqlStore;
use crate::error::Error;
use crate::store::url::Url;

/// The SQL that makes the tables.
pub const SCHEMA: &str = concat!(include_str!("../scripts/sqlite/schema.sql"), include_str!("sql/leaf.sql"));

/// A store in tables of a `SQLite` database. Other processes of the machine may use the file at the same time.
///
/// It has no clock: the machine's clock is used.
pub type Sqlite = SqlStore<LiteDialect>;

impl Sqlite {
    /// Opens or makes the file of the URL, and makes the missing tables.
    ///
    /// # Errors
    /// `StoreUnavailable`, `InvalidStore`, or `UnsafeStore`, which names setting, value and cure.
    pub async fn connect(url: &Url) -> Result<Self, Error> {
        let path = settings::path(url)?;
        let name = format!("SQLite at {}", path.display());
        let (timeout, allow_unsafe, create) = (url.timeout, url.allow_unsafe, url.create);
        let dialect = LiteDialect { path, name: name.clone(), timeout, allow_unsafe, create, settled: OnceLock::new() };
        Self::open(name, url, dialect).await
    }
}
