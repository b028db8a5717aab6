//! The differences between SQL databases: their connections, their statements, and the meaning of their errors.

use std::collections::HashMap;
use std::fmt;

use async_trait::async_trait;
use snowmint_core::durability::{Denial, Engine};
use sqlx::Connection;
use sqlx::error::DatabaseError;

use super::query::{Change, Group, Select, Value};
use crate::error::Error;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
use crate::scripts::POSTGRES_LEAF;

/// One kind of SQL database. A [`SqlStore`](super::SqlStore) works on each of them alike.
#[async_trait]
pub trait Dialect: fmt::Debug + Send + Sync + 'static {
    /// A connection.
    type Connection: Connection
        + Change
        + Group<(i64,)>
        + Group<(i64, Vec<u8>)>
        + Select<(i64,)>
        + Select<(String,)>
        + Select<(String, i64, Vec<u8>)>
        + Select<(String, i64, i64)>;

    /// The tables of records and counters.
    const TABLES: Tables;
    /// The kind of the engine, which has rules for its settings.
    const ENGINE: Engine;
    /// The statements of the verbs.
    const STATEMENTS: Statements;
    /// Leaf's table of segments.
    const LEAF: Leaf;

    /// The most connections, unless the URL or the program names another number.
    const CONNECTIONS: u32 = 4;

    /// Opens a connection and sets its own safe settings.
    async fn open(&self) -> Result<Self::Connection, Failure>;

    /// Reads the settings that decide whether the server keeps confirmed writes, by name, in one round trip.
    ///
    /// `table NAME` is why a crash empties a table; tables that it does not empty are left out.
    async fn settings(&self, connection: &mut Self::Connection) -> Result<Settings, Failure>;

    /// Returns whether open connections lead to the database where new connections would lead.
    fn still_there(&self) -> bool {
        true
    }

    /// Takes note that the tables exist: from now on none of them is made again.
    fn settle(&self) {}

    /// Returns the code of a server's error, as core knows it.
    fn code(error: &dyn DatabaseError) -> String {
        error.code().unwrap_or_default().into_owned()
    }

    /// Returns the advice for an error that means: the store is configured wrongly. `None` for other errors.
    fn advice(error: &sqlx::Error) -> Option<&'static str> {
        let error = error.as_database_error()?;
        Self::ENGINE.misconfigured(&Self::code(error), error.message())
    }

    /// Returns a key as a parameter of a statement.
    fn key(key: &str) -> Value {
        Value::Text(key.to_owned())
    }
}

/// Settings by name, in lower case.
pub type Settings = HashMap<String, String>;

/// Returns what an error of the client says of a statement.
pub(in crate::engines) fn denial<D: Dialect>(error: &sqlx::Error) -> Denial {
    error.as_database_error().map_or(Denial::Other, |error| D::ENGINE.denial(&D::code(error)))
}

/// The reason why a step failed.
#[derive(Debug)]
pub enum Failure {
    /// The client's error: the step may have been done. The connection is not used again.
    Client(sqlx::Error),
    /// A refusal: the step was not done. The connection stays usable.
    Refused(Error),
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        Self::Client(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl Failure {
    pub(in crate::engines) fn into_error<D: Dialect>(self, store: &str) -> Error {
        match self {
            Self::Client(error) => of_client::<D>(store, error),
            Self::Refused(error) => error,
        }
    }
}

/// `StoreUnavailable` or `InvalidStore`, with the client's error.
pub(super) fn of_client<D: Dialect>(store: &str, error: sqlx::Error) -> Error {
    match (&error, D::advice(&error)) {
        (sqlx::Error::Io(inner), _) => Error::unavailable(store, inner),
        // Without the line of the server's source, which `Display` adds.
        (sqlx::Error::Database(inner), Some(cure)) => {
            Error::invalid_store(store, format_args!("{}{cure}", inner.message()))
        }
        (sqlx::Error::Database(inner), None) => Error::unavailable(store, inner.message()),
        (inner, _) => Error::unavailable(store, inner),
    }
    .with_source(error)
}

/// Tables that are made together.
#[derive(Clone, Copy, Debug)]
pub struct Tables {
    /// Their names.
    pub names: &'static [&'static str],
    /// The names of those that exist, possibly with other tables. No parameters.
    pub existing: &'static str,
    /// The SQL that makes them.
    pub schema: &'static str,
    /// The constant with this SQL, for messages.
    pub constant: &'static str,
}

/// The statements of a dialect, each with its parameters in order.
#[derive(Clone, Copy, Debug)]
pub struct Statements {
    /// Version and value of a record: key.
    pub read: &'static str,
    /// A commit that waits until all commits which a read saw are durable. `None` if a read sees durable commits only.
    pub flush: Option<&'static str>,
    /// Adds a record: value, version, key. If the key had a record already, its version afterwards differs from the
    /// given one.
    pub insert: Raise,
    /// Replaces a record: value, new version, key, expected version.
    pub update: &'static str,
    /// Key, version and value of the records under a prefix: prefix, the key after all its keys, and a text with the length of
    /// the part of a key in which slashes are allowed, such as the prefix.
    pub list: &'static str,
    /// Adds to a counter: sum for a new counter, counter, amount.
    pub add: Raise,
    /// Adds to a counter that exists: amount, counter.
    pub raise: Raise,
    /// Lowers a counter: new number, counter, expected number.
    pub lower: &'static str,
    /// The server's clock in Unix ms. `None` for a file.
    pub clock: Option<&'static str>,
}

/// Leaf's table of segments, and the statements on it, each with its parameters in order.
#[derive(Clone, Copy, Debug)]
pub struct Leaf {
    /// The table.
    pub tables: Tables,
    /// Description, `max_id` and `step` of a row of Leaf's table: tag.
    pub tag: &'static str,
    /// Adds a row: tag, `max_id`, `step`, description.
    pub create: &'static str,
    /// All tags. No parameters.
    pub tags: &'static str,
    /// Adds to `max_id`: amount, tag.
    pub fetch: Raise,
    /// Lowers `max_id`: new number, tag, expected number.
    pub lower: &'static str,
}

/// A statement that changes a number and returns it. It leaves a number unchanged where it would be beyond 2^63-1.
#[derive(Clone, Copy, Debug)]
pub struct Raise {
    /// The statement.
    pub change: &'static str,
    /// The query of the number, by name, for servers that do not return it: both run in one transaction.
    pub read_back: Option<&'static str>,
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
impl Leaf {
    /// The statements for `PostgreSQL` and `SQLite`, which find tables differently.
    pub(in crate::engines) const fn numbered(existing: &'static str) -> Self {
        Self {
            tables: Tables { names: LEAF_ALLOC, existing, schema: POSTGRES_LEAF, constant: "scripts::POSTGRES_LEAF" },
            tag: "SELECT CAST(coalesce(description, '') AS text), CAST(max_id AS bigint), CAST(step AS bigint) \
                  FROM leaf_alloc WHERE biz_tag = $1",
            create: "INSERT INTO leaf_alloc (biz_tag, max_id, step, description, update_time) \
                     VALUES ($1, $2, $3, $4, CURRENT_TIMESTAMP) ON CONFLICT DO NOTHING",
            tags: "SELECT CAST(biz_tag AS text) FROM leaf_alloc ORDER BY biz_tag",
            fetch: Raise {
                change: "UPDATE leaf_alloc SET max_id = max_id + $1, update_time = CURRENT_TIMESTAMP \
                         WHERE biz_tag = $2 AND max_id BETWEEN 0 AND 9223372036854775807 - $1 \
                         RETURNING CAST(max_id AS bigint)",
                read_back: None,
            },
            lower: "UPDATE leaf_alloc SET max_id = $1, update_time = CURRENT_TIMESTAMP \
                    WHERE biz_tag = $2 AND max_id = $3",
        }
    }
}

/// Leaf's name of its table.
pub(in crate::engines) const LEAF_ALLOC: &[&str] = &["leaf_alloc"];
