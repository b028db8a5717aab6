//! `MariaDB` and `MySQL`: tables, native sequences of `MariaDB`, and Flickr's tickets.

mod dialect;
mod message;
mod sequence;
mod settings;
mod tickets;

use sqlx::ConnectOptions as _;
use sqlx::mysql::MySqlConnectOptions;

use self::dialect::MyDialect;
pub use self::tickets::Tickets;
use super::sql::{self, SqlStore};
use crate::error::Error;
use crate::scripts::MYSQL_SCHEMA;
use crate::store::url::Url;

/// The SQL that makes the tables, for roles that may not make them.
pub const SCHEMA: &str = MYSQL_SCHEMA;

/// The SQL that makes Flickr's table of tickets, which [`Mysql::tickets`] uses.
pub const TICKETS_SCHEMA: &str = include_str!("mysql/tickets.sql");

/// A store in tables of a `MariaDB` or `MySQL` database.
///
/// Two more sources of numbers are [`sequence`](Self::sequence) and [`tickets`](Self::tickets).
///
/// # Examples
/// ```no_run
/// use snowmint_stores::mysql::Mysql;
/// use snowmint_stores::{CounterStore, Url};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let store = Mysql::connect(&Url::parse("mysql://me:secret@db/app")?).await?;
/// println!("{}", store.add("counter", 1, 0).await?);
/// # Ok(())
/// # }
/// ```
pub type Mysql = SqlStore<MyDialect>;

/// A sequence of a `MariaDB` database.
///
/// `NEXT VALUE` alone is not durable, even on a server that flushes every commit. So numbers are taken in a transaction that
/// also writes a row of `snowmint_guards`. Other sessions may use the sequence by `NEXT VALUE`: after a crash of the server
/// they may get their own numbers again, but never a number taken here.
///
/// # Examples
/// ```no_run
/// use std::sync::Arc;
/// use snowmint_stores::mysql::Mysql;
/// use snowmint_stores::{NativeNumbers, SegmentsOptions, Url};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let store = Mysql::connect(&Url::parse("mysql://me:secret@db/app")?).await?;
/// let source = Arc::new(store.sequence("invoices").await?);
/// let invoices = NativeNumbers::open(source, 100, SegmentsOptions::default())?;
/// println!("{}", invoices.next().await?);
/// # Ok(())
/// # }
/// ```
pub type Sequence = sql::Sequence<MyDialect>;

impl Mysql {
    /// Connects, makes the missing tables, and checks that the server keeps confirmed writes.
    ///
    /// # Errors
    /// `StoreUnavailable`, `InvalidStore`, or `UnsafeStore`, which names setting, value and cure.
    ///
    /// # Examples
    /// ```no_run
    /// use snowmint_stores::mysql::Mysql;
    /// use snowmint_stores::{RecordStore, Url};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = Mysql::connect(&Url::parse("mysql://me:secret@db/app")?).await?;
    /// println!("{}", store.name());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn connect(url: &Url) -> Result<Self, Error> {
        let name = url.server("MySQL")?;
        let options: MySqlConnectOptions = url.rest.parse().map_err(|error| Error::invalid_store(&name, error))?;
        let options = options.disable_statement_logging();
        Self::open(
            name.clone(),
            url,
            MyDialect { options, name, timeout: url.timeout, allow_unsafe: url.allow_unsafe, create: url.create },
        )
        .await
    }
}
