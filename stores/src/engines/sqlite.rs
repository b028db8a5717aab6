//! `SQLite`: a database file of one machine.

mod backup;
mod dialect;
mod group;
mod settings;

use std::path::Path;

use self::dialect::LiteDialect;
use super::sql::SqlStore;
use crate::error::Error;
use crate::scripts::SQLITE_SCHEMA;
use crate::store::url::Url;

/// The SQL that makes the tables.
pub const SCHEMA: &str = SQLITE_SCHEMA;

/// A store in tables of a `SQLite` database. Other processes of the machine may use the file at the same time.
///
/// It has no clock: the machine's clock is used.
///
/// # Examples
/// ```no_run
/// use snowmint_stores::sqlite::Sqlite;
/// use snowmint_stores::{CounterStore, Url};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let store = Sqlite::connect(&Url::parse("sqlite:/var/lib/ids.db")?).await?;
/// println!("{}", store.add("counter", 1, 0).await?);
/// # Ok(())
/// # }
/// ```
pub type Sqlite = SqlStore<LiteDialect>;

impl Sqlite {
    /// Opens or makes the file of the URL, and makes the missing tables.
    ///
    /// # Errors
    /// `StoreUnavailable`, `InvalidStore`, or `UnsafeStore`, which names setting, value and cure.
    ///
    /// # Examples
    /// ```no_run
    /// use snowmint_stores::sqlite::Sqlite;
    /// use snowmint_stores::Url;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = Sqlite::connect(&Url::parse("sqlite:/var/lib/ids.db")?).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn connect(url: &Url) -> Result<Self, Error> {
        let dialect = LiteDialect::new(url, settings::path(url)?);
        Self::open(dialect.name.clone(), url, dialect).await
    }

    /// Copies the database of a URL into a new file, which is durable afterwards. Other processes may use the database
    /// meanwhile: the copy is its state at one moment. After it was restored, run a [`fence`](crate::fence).
    ///
    /// # Errors
    /// `StoreUnavailable` if there is no database, the file exists, or it cannot be written; `UnsafeStore` for a database in memory;
    /// `InvalidStore` for a path in a directory that does not exist.
    ///
    /// # Examples
    /// ```no_run
    /// use std::path::Path;
    /// use snowmint_stores::sqlite::Sqlite;
    /// use snowmint_stores::Url;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// Sqlite::back_up(&Url::parse("sqlite:/var/lib/ids.db")?, Path::new("/backups/ids.db")).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn back_up(url: &Url, to: &Path) -> Result<(), Error> {
        backup::back_up(url, to).await
    }
}
