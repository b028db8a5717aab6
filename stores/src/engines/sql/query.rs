//! Statements with their parameters, in one form for all clients.

use std::fmt;
#[cfg(any(feature = "mysql", feature = "postgres"))]
use std::fmt::Write as _;

use async_trait::async_trait;
use futures_util::{Stream, StreamExt as _};
#[cfg(any(feature = "mysql", feature = "sqlite"))]
use sqlx::{Arguments, Encode, Type};
use sqlx::{Database, Either, FromRow};

use crate::error::Error;

/// A parameter of a statement.
#[derive(Clone, Debug)]
pub enum Value {
    /// A text.
    Text(String),
    /// A number.
    Number(i64),
    /// Bytes, or a text that is compared byte by byte.
    Bytes(Vec<u8>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => number.fmt(f),
            Self::Bytes(bytes) => String::from_utf8_lossy(bytes).fmt(f),
        }
    }
}

/// A statement and its values.
pub type Statement = (&'static str, Vec<Value>);

/// The outcome of a statement: the number of rows that it changed or found, and the rows that it returned.
pub type Outcome<R> = (u64, Vec<R>);

/// A connection that runs several statements whose rows have one type.
#[async_trait]
pub trait Group<R>: Send {
    /// Runs statements in one transaction, and in one round trip to a server. After an error none of them had an effect.
    async fn group(&mut self, statements: &[Statement]) -> Result<Vec<Outcome<R>>, sqlx::Error>;
}

/// A connection that runs statements without rows.
#[async_trait]
pub trait Change: Send {
    /// Runs a statement, and returns the number of rows that it changed.
    async fn change(&mut self, statement: &'static str, values: &[Value]) -> Result<u64, sqlx::Error>;

    /// Runs several statements without parameters.
    async fn script(&mut self, statements: &'static str) -> Result<(), sqlx::Error>;
}

/// A connection that runs queries for rows of a type.
#[async_trait]
pub trait Select<R>: Send {
    /// Runs a query, and reads all its rows: a change that returns rows is committed after the last row.
    async fn select(&mut self, query: &'static str, values: &[Value]) -> Result<Vec<R>, sqlx::Error>;
}

/// Implements both traits for the connections of a client.
#[cfg(any(feature = "mysql", feature = "sqlite"))]
macro_rules! connection {
    ($database:ty, $connection:ty, $row:ty) => {
        #[async_trait]
        impl Change for $connection {
            async fn change(&mut self, statement: &'static str, values: &[Value]) -> Result<u64, sqlx::Error> {
                let query = sqlx::query_with(statement, arguments::<$database>(values)?);
                Ok(query.execute(self).await?.rows_affected())
            }

            async fn script(&mut self, statements: &'static str) -> Result<(), sqlx::Error> {
                sqlx::raw_sql(statements).execute(self).await.map(drop)
            }
        }

        #[async_trait]
        impl<R: for<'r> FromRow<'r, $row> + Send + Unpin + 'static> Select<R> for $connection {
            async fn select(&mut self, query: &'static str, values: &[Value]) -> Result<Vec<R>, sqlx::Error> {
                sqlx::query_as_with(query, arguments::<$database>(values)?).fetch_all(self).await
            }
        }
    };
}

#[cfg(feature = "mysql")]
connection!(sqlx::MySql, sqlx::MySqlConnection, sqlx::mysql::MySqlRow);
#[cfg(feature = "sqlite")]
connection!(sqlx::Sqlite, sqlx::SqliteConnection, sqlx::sqlite::SqliteRow);

#[cfg(any(feature = "mysql", feature = "sqlite"))]
pub(in crate::engines) fn arguments<DB: Database>(values: &[Value]) -> Result<DB::Arguments, sqlx::Error>
where
    for<'q> &'q str: Encode<'q, DB> + Type<DB>,
    for<'q> &'q [u8]: Encode<'q, DB> + Type<DB>,
    for<'q> i64: Encode<'q, DB> + Type<DB>,
{
    let mut arguments = DB::Arguments::default();
    for value in values {
        match value {
            Value::Text(text) => arguments.add(text.as_str()),
            Value::Number(number) => arguments.add(*number),
            Value::Bytes(bytes) => arguments.add(bytes.as_slice()),
        }
        .map_err(sqlx::Error::Encode)?;
    }
    Ok(arguments)
}

/// Returns bytes as the digits of a literal.
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub(in crate::engines) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Reads the outcomes of statements to their end, in order, and leaves the first ones out.
pub(in crate::engines) async fn outcomes<DB, R>(
    mut steps: impl Stream<Item = Result<Either<DB::QueryResult, DB::Row>, sqlx::Error>> + Unpin,
    first: usize,
    changed: fn(&DB::QueryResult) -> u64,
) -> Result<Vec<Outcome<R>>, sqlx::Error>
where
    DB: Database,
    R: for<'r> FromRow<'r, DB::Row>,
{
    let (mut done, mut rows) = (Vec::new(), Vec::new());
    while let Some(step) = steps.next().await {
        match step? {
            Either::Right(row) => rows.push(row),
            Either::Left(result) => done.push((changed(&result), std::mem::take(&mut rows))),
        }
    }
    let decoded = |rows: Vec<DB::Row>| rows.iter().map(R::from_row).collect::<Result<Vec<R>, _>>();
    done.into_iter().skip(first).map(|(changed, rows)| Ok((changed, decoded(rows)?))).collect()
}

/// Converts a number to SQL's `BIGINT`. `None` beyond 2^63-1.
pub(super) fn signed(number: u64) -> Option<i64> {
    i64::try_from(number).ok()
}

/// Converts a number from SQL's `BIGINT`.
///
/// # Errors
/// `StoreUnavailable`, naming the number, if it is negative.
pub(super) fn unsigned(store: &str, name: &str, number: i64) -> Result<u64, Error> {
    u64::try_from(number).map_err(|_| Error::unavailable(store, format_args!("{name} is {number}, not 0 or more")))
}

/// Returns the end of a range of keys: the first text after all texts that begin with `prefix`, which is ASCII.
pub(super) fn end_of(prefix: &str) -> String {
    let mut end = prefix.to_owned();
    let last = end.pop().unwrap_or('\u{7e}');
    end.push(char::from_u32(u32::from(last) + 1).unwrap_or('\u{7f}'));
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_keys_ends_before_the_next_letter() {
        assert_eq!(end_of("leases/a_%/"), "leases/a_%0");
    }
}
