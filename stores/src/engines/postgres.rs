//! `PostgreSQL`: tables, and native sequences.

mod dialect;
mod message;
mod sequence;

use sqlx::ConnectOptions as _;
use sqlx::postgres::PgConnectOptions;

use self::dialect::PgDialect;
use super::sql::{self, SqlStore};
use crate::error::Error;
use crate::scripts::POSTGRES_SCHEMA;
use crate::store::url::Url;

/// The SQL that makes the tables, for roles that may not make them.
pub const SCHEMA: &str = POSTGRES_SCHEMA;

/// A store in the tables `records` and `counters` of the schema `snowmint` of a `PostgreSQL` database, whatever the `search_path`
/// is.
///
/// It may be behind a pooler such as `PgBouncer`, in any mode: each step is one message with its own settings.
///
/// Sequences of the database are sources of numbers too: [`sequence`](Self::sequence).
///
/// # Examples
/// ```no_run
/// use snowmint_stores::postgres::Postgres;
/// use snowmint_stores::{CounterStore, Url};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let store = Postgres::connect(&Url::parse("postgres://me:secret@db/app")?).await?;
/// println!("{}", store.add("counter", 1, 0).await?);
/// # Ok(())
/// # }
/// ```
pub type Postgres = SqlStore<PgDialect>;

/// A sequence of a `PostgreSQL` database. Other sessions may use it at the same time, by `nextval`.
///
/// # Examples
/// ```no_run
/// use std::sync::Arc;
/// use snowmint_stores::postgres::Postgres;
/// use snowmint_stores::{NativeNumbers, SegmentsOptions, Url};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let store = Postgres::connect(&Url::parse("postgres://me:secret@db/app")?).await?;
/// let source = Arc::new(store.sequence("invoices_id_seq").await?);
/// let invoices = NativeNumbers::open(source, 100, SegmentsOptions::default())?;
/// println!("{}", invoices.next().await?);
/// # Ok(())
/// # }
/// ```
pub type Sequence = sql::Sequence<PgDialect>;

impl Postgres {
    /// Connects, makes the missing tables, and checks that the server keeps confirmed writes.
    ///
    /// # Errors
    /// `StoreUnavailable`, `InvalidStore`, or `UnsafeStore`, which names setting, value and cure.
    ///
    /// # Examples
    /// ```no_run
    /// use snowmint_stores::postgres::Postgres;
    /// use snowmint_stores::{RecordStore, Url};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = Postgres::connect(&Url::parse("postgres://me:secret@db/app")?).await?;
    /// println!("{}", store.name());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn connect(url: &Url) -> Result<Self, Error> {
        let name = url.server("PostgreSQL")?;
        let options: PgConnectOptions = url.rest.parse().map_err(|error| Error::invalid_store(&name, error))?;
        // PgBouncer refuses the parameter, which is for floating-point numbers.
        let options = options.extra_float_digits(None).disable_statement_logging();
        Self::open(name.clone(), url, PgDialect { options, name }).await
    }
}
