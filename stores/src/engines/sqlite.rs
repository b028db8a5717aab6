//! `SQLite`: a database file of one machine.

mod segments;
mod settings;

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;
use sqlx::ConnectOptions;
use sqlx::error::DatabaseError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

use self::settings::Identity;
use super::sql::{self, Engine, Failure, Pool};
use crate::error::Error;
use crate::store::counter::full;
use crate::store::url::Url;
use crate::store::{Found, SegmentTable, Store, Version, Wrote};
use crate::surroundings::refuse_lossy_place;

/// The tables of a store, in SQL.
pub const SCHEMA: &str = include_str!("sqlite/schema.sql");

const TABLES: [&str; 3] = ["snowmint_records", "snowmint_counters", "leaf_alloc"];

/// A store in tables of a `SQLite` database. Other processes of the machine may use the file at once.
///
/// It has no clock of its own: the machine's is ours.
#[derive(Clone, Debug)]
pub struct Sqlite {
    pool: Pool<Opening>,
}

/// How its connections are opened.
struct Opening {
    path: PathBuf,
    name: String,
    timeout: Duration,
    allow_unsafe: bool,
    create: bool,
    /// Which file it was at connect.
    settled: OnceLock<Identity>,
}

#[async_trait]
impl Engine for Opening {
    type Connection = SqliteConnection;

    async fn open(&self) -> Result<SqliteConnection, Failure> {
        if !self.still_there() {
            let why = "the file was removed or replaced since the store was connected, so numbers could repeat";
            return Err(Error::unavailable(&self.name, why).into());
        }
        if !self.allow_unsafe {
            refuse_lossy_place(&self.name, &self.path, "allow_unsafe=true")?;
        }
        let create = self.create && self.settled.get().is_none();
        if create {
            settings::make_own(&self.path);
        }
        let options = SqliteConnectOptions::new()
            .filename(&self.path)
            .create_if_missing(create)
            .busy_timeout(self.timeout)
            .pragma("synchronous", "FULL")
            // On macOS a plain fsync leaves it to the drive when to write.
            .pragma("fullfsync", "ON");
        let mut connection = options.connect().await?;
        settings::write_ahead(&mut connection).await?;
        if self.settled.get().is_some()
            && let Some(table) = missing(&mut connection).await?
        {
            return Err(sql::gone(&self.name, table).into());
        }
        Ok(connection)
    }

    async fn look(&self, connection: &mut SqliteConnection) -> Result<Option<Error>, Failure> {
        settings::settings(&self.name, connection).await.map(|()| None)
    }

    fn still_there(&self) -> bool {
        self.settled.get().is_none_or(|file| *file == Identity::of(&self.path))
    }

    fn undone(&self, _: &dyn DatabaseError) -> bool {
        // A database that is busy was waited for already.
        false
    }
}

/// A table that is not there.
async fn missing(connection: &mut SqliteConnection) -> Result<Option<&'static str>, Failure> {
    let query = sqlx::query_as("SELECT name FROM sqlite_master WHERE type = 'table'");
    let rows: Vec<(String,)> = query.fetch_all(connection).await?;
    Ok(TABLES.into_iter().find(|table| !rows.iter().any(|(name,)| name.eq_ignore_ascii_case(table))))
}

impl Sqlite {
    /// Opens the file of the URL, or makes it, and the tables that are missing.
    ///
    /// # Errors
    /// `StoreUnavailable`, or `UnsafeStore` naming setting, value and cure.
    pub async fn connect(url: &Url) -> Result<Self, Error> {
        let path = settings::path(url)?;
        let name = format!("SQLite at {}", path.display());
        let opening = Opening {
            path: path.clone(),
            name: name.clone(),
            timeout: url.timeout,
            allow_unsafe: url.allow_unsafe,
            create: url.create,
            settled: OnceLock::new(),
        };
        let pool = Pool::new(name.clone(), url, opening);
        pool.run((name, url.create), |connection, (name, create)| {
            Box::pin(async move {
                let Some(table) = missing(&mut *connection).await? else { return Ok(()) };
                if !create {
                    return Err(sql::no_table(name, table, "sqlite").into());
                }
                sqlx::raw_sql(SCHEMA)
                    .execute(connection)
                    .await
                    .map_err(|error| sql::not_made(name, table, "sqlite", &error))?;
                Ok(())
            })
        })
        .await?;
        pool.engine().settled.get_or_init(|| Identity::of(&path));
        Ok(Self { pool })
    }
}

#[async_trait]
impl Store for Sqlite {
    fn name(&self) -> &str {
        self.pool.name()
    }

    async fn read(&self, key: &str) -> Result<Option<Found>, Error> {
        let found = self.pool.run(key.to_owned(), |connection, key| {
            Box::pin(async move {
                let query = sqlx::query_as("SELECT version, value FROM snowmint_records WHERE name = $1");
                let rows: Vec<(i64, Vec<u8>)> = query.bind(key).fetch_all(connection).await?;
                Ok(rows.into_iter().next())
            })
        });
        let Some((version, value)) = found.await? else { return Ok(None) };
        Ok(Some(Found { value, version: sql::unsigned(self.name(), "a version", version)? }))
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<Wrote, Error> {
        // Versions begin at 1 and never come near the end.
        let Some(seen) = sql::signed(expected).filter(|seen| *seen < i64::MAX) else { return Ok(Wrote::Conflict) };
        let written = self.pool.run((key.to_owned(), value.to_owned(), seen), |connection, (key, value, seen)| {
            Box::pin(async move {
                let query = if *seen == 0 {
                    sqlx::query("INSERT INTO snowmint_records (name, version, value) VALUES ($1, $3 + 1, $2) ON CONFLICT DO NOTHING")
                } else {
                    sqlx::query("UPDATE snowmint_records SET value = $2, version = version + 1 WHERE name = $1 AND version = $3")
                };
                let done = query.bind(key).bind(value).bind(*seen).execute(connection).await?;
                Ok(done.rows_affected() == 1)
            })
        });
        Ok(if written.await? { Wrote::Version(expected + 1) } else { Wrote::Conflict })
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Found)>, Error> {
        let rows = self.pool.run((prefix.to_owned(), sql::end_of(prefix)), |connection, (prefix, end)| {
            Box::pin(async move {
                // A range, as LIKE has wildcards.
                let query = sqlx::query_as(
                    "SELECT substr(name, length($1) + 1), version, value FROM snowmint_records \
                     WHERE name >= $1 AND name < $2 AND instr(substr(name, length($1) + 1), '/') = 0",
                );
                let rows: Vec<(String, i64, Vec<u8>)> = query.bind(prefix).bind(end).fetch_all(connection).await?;
                Ok(rows)
            })
        });
        let found = rows.await?.into_iter().map(|(part, version, value)| {
            Ok((part, Found { value, version: sql::unsigned(self.name(), "a version", version)? }))
        });
        found.collect()
    }

    async fn add(&self, counter: &str, delta: u64, start: u64) -> Result<u64, Error> {
        let Some(more) = sql::signed(delta) else { return Err(full(self.name(), counter)) };
        let arguments = (counter.to_owned(), more, sql::first_sum(start, delta));
        let sum = self.pool.run(arguments, |connection, (counter, more, first)| {
            Box::pin(async move {
                // No row comes back where the sum would be too large; nothing is changed then.
                let query = match first {
                    Some(first) => sqlx::query_as(
                        "INSERT INTO snowmint_counters (name, value) VALUES ($1, $3) ON CONFLICT (name) DO UPDATE \
                         SET value = value + $2 WHERE value <= 9223372036854775807 - $2 RETURNING value",
                    )
                    .bind(counter)
                    .bind(*more)
                    .bind(*first),
                    None => sqlx::query_as(
                        "UPDATE snowmint_counters SET value = value + $2 \
                         WHERE name = $1 AND value <= 9223372036854775807 - $2 RETURNING value",
                    )
                    .bind(counter)
                    .bind(*more),
                };
                let rows: Vec<(i64,)> = query.fetch_all(connection).await?;
                Ok(rows.into_iter().next())
            })
        });
        let (sum,) = sum.await?.ok_or_else(|| full(self.name(), counter))?;
        sql::unsigned(self.name(), counter, sum)
    }

    async fn lower(&self, counter: &str, end: u64, start: u64) -> Result<bool, Error> {
        let (Some(end), Some(start)) = (sql::signed(end), sql::signed(start)) else { return Ok(false) };
        let lowered = self.pool.run((counter.to_owned(), end, start), |connection, (counter, end, start)| {
            Box::pin(async move {
                let query = sqlx::query("UPDATE snowmint_counters SET value = $3 WHERE name = $1 AND value = $2");
                let done = query.bind(counter).bind(*end).bind(*start).execute(connection).await?;
                Ok(done.rows_affected() == 1)
            })
        });
        lowered.await
    }

    fn segments(&self) -> Option<&dyn SegmentTable> {
        Some(self)
    }
}
