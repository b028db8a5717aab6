//! `PostgreSQL`: tables, and native sequences.

mod schema;
mod segments;
mod sequence;
mod settings;

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use sqlx::ConnectOptions;
use sqlx::error::DatabaseError;
use sqlx::postgres::{PgConnectOptions, PgConnection};

pub use self::schema::SCHEMA;
use self::schema::TABLES;
pub use self::sequence::Sequence;
use super::sql::{self, Engine, Failure, Pool};
use crate::error::Error;
use crate::store::counter::full;
use crate::store::url::Url;
use crate::store::{Found, SegmentTable, Store, Version, Wrote};

/// A store in tables of a `PostgreSQL` database.
///
/// Sequences of the database are sources of numbers too: [`sequence`](Self::sequence).
#[derive(Clone, Debug)]
pub struct Postgres {
    pool: Pool<Opening>,
    allow_unsafe: bool,
}

/// How its connections are opened.
pub(super) struct Opening {
    options: PgConnectOptions,
    name: String,
    /// Whether the tables were all there once.
    settled: AtomicBool,
}

#[async_trait]
impl Engine for Opening {
    type Connection = PgConnection;

    async fn open(&self) -> Result<PgConnection, Failure> {
        let mut connection = self.options.connect().await?;
        settings::cure(&mut connection).await?;
        if self.settled.load(Ordering::Acquire)
            && let Some(table) = schema::missing(&mut connection).await?
        {
            return Err(sql::gone(&self.name, table).into());
        }
        Ok(connection)
    }

    async fn look(&self, connection: &mut PgConnection) -> Result<Option<Error>, Failure> {
        settings::look(&self.name, connection).await
    }

    fn undone(&self, error: &dyn DatabaseError) -> bool {
        // Serialization failure, deadlock.
        error.code().is_some_and(|code| code == "40001" || code == "40P01")
    }
}

impl Postgres {
    /// Connects, makes the tables that are missing, and looks whether the settings keep what the server confirms.
    ///
    /// # Errors
    /// `StoreUnavailable`, or `UnsafeStore` naming setting, value and cure.
    pub async fn connect(url: &Url) -> Result<Self, Error> {
        let name = sql::server_name("PostgreSQL", url)?;
        let options = url.rest.parse().map_err(|error| sql::unavailable(&name, &error))?;
        let opening = Opening { options, name: name.clone(), settled: AtomicBool::new(false) };
        let pool = Pool::new(name.clone(), url, opening);
        pool.run((name, url.create), |connection, (name, create)| Box::pin(schema::make(name, connection, *create)))
            .await?;
        pool.refuse_standby().await?;
        pool.engine().settled.store(true, Ordering::Release);
        Ok(Self { pool, allow_unsafe: url.allow_unsafe })
    }

    /// A sequence of the database as a source of numbers.
    ///
    /// # Errors
    /// `StoreUnavailable`, if there is none of that name; `UnsafeStore`, if it is unlogged or has `CYCLE`.
    pub async fn sequence(&self, name: &str) -> Result<Sequence, Error> {
        Sequence::open(self.pool.clone(), name, self.allow_unsafe).await
    }
}

#[async_trait]
impl Store for Postgres {
    fn name(&self) -> &str {
        self.pool.name()
    }

    async fn read(&self, key: &str) -> Result<Option<Found>, Error> {
        let found = self.pool.run(key.to_owned(), |connection, key| {
            Box::pin(async move {
                let query = sqlx::query_as("SELECT version, value FROM snowmint_records WHERE name = $1");
                let rows: Vec<(i64, Vec<u8>)> = query.bind(key).fetch_all(&mut *connection).await?;
                if !rows.is_empty() {
                    // A commit whose wait for a synchronous standby was cut short is seen all the same. One of our own
                    // waits for all that came before it. Reads are rare.
                    sqlx::query("SELECT pg_logical_emit_message(true, 'snowmint', 'read')")
                        .fetch_all(connection)
                        .await?;
                }
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
                     WHERE name COLLATE \"C\" >= $1 AND name COLLATE \"C\" < $2 \
                     AND strpos(substr(name, length($1) + 1), '/') = 0",
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
                        "INSERT INTO snowmint_counters AS c (name, value) VALUES ($1, $3) ON CONFLICT (name) DO UPDATE \
                         SET value = c.value + $2 WHERE c.value <= 9223372036854775807 - $2 RETURNING c.value",
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

    async fn clock_ms(&self) -> Result<Option<i64>, Error> {
        let clock = self.pool.run((), |connection, ()| {
            Box::pin(async move {
                let query = sqlx::query_as("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint");
                let rows: Vec<(i64,)> = query.fetch_all(connection).await?;
                Ok(rows.into_iter().next().map(|(now,)| now))
            })
        });
        clock.await
    }

    async fn refuse_standby(&self) -> Result<(), Error> {
        self.pool.refuse_standby().await
    }

    fn standby_risk(&self) -> Option<Error> {
        self.pool.standby_risk()
    }

    fn segments(&self) -> Option<&dyn SegmentTable> {
        Some(self)
    }
}
