//! `MariaDB` and `MySQL`: tables, native sequences of `MariaDB`, and Flickr's tickets.

mod schema;
mod segments;
mod sequence;
mod settings;
mod tickets;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use sqlx::error::DatabaseError;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection, MySqlDatabaseError};
use sqlx::{ConnectOptions, Connection};

pub use self::schema::{SCHEMA, TICKETS_SCHEMA};
pub use self::sequence::Sequence;
pub use self::tickets::Tickets;
use super::sql::{self, Engine, Failure, Pool};
use crate::error::Error;
use crate::store::counter::full;
use crate::store::url::Url;
use crate::store::{Found, SegmentTable, Store, Version, Wrote};

/// A store in tables of a `MariaDB` or `MySQL` database.
///
/// There are two more sources of numbers: [`sequence`](Self::sequence) and [`tickets`](Self::tickets).
#[derive(Clone, Debug)]
pub struct Mysql {
    pool: Pool<Opening>,
    allow_unsafe: bool,
    create: bool,
}

/// How its connections are opened.
pub(super) struct Opening {
    options: MySqlConnectOptions,
    name: String,
    timeout: Duration,
    /// Whether the tables were all there once.
    settled: AtomicBool,
}

#[async_trait]
impl Engine for Opening {
    type Connection = MySqlConnection;

    async fn open(&self) -> Result<MySqlConnection, Failure> {
        let mut connection = self.options.connect().await?;
        settings::cure(&mut connection, self.timeout).await?;
        settings::database(&self.name, &mut connection).await?;
        if self.settled.load(Ordering::Acquire)
            && let Some(table) = schema::missing(&mut connection).await?
        {
            return Err(sql::gone(&self.name, table).into());
        }
        Ok(connection)
    }

    async fn look(&self, connection: &mut MySqlConnection) -> Result<Option<Error>, Failure> {
        settings::look(&self.name, connection).await
    }

    fn undone(&self, error: &dyn DatabaseError) -> bool {
        matches!(number(error), DEADLOCK | LOCK_WAIT_TIMEOUT)
    }
}

const DUPLICATE: u16 = 1062;
const LOCK_WAIT_TIMEOUT: u16 = 1205;
const DEADLOCK: u16 = 1213;
/// Out of a column's range, out of the range of `BIGINT`.
const BEYOND: [u16; 2] = [1264, 1690];

/// The number of an error of the server; 0 for others.
fn number(error: &dyn DatabaseError) -> u16 {
    error.try_downcast_ref::<MySqlDatabaseError>().map_or(0, MySqlDatabaseError::number)
}

/// Whether the server said that, of a statement which so had no effect.
fn is(error: &sqlx::Error, numbers: &[u16]) -> bool {
    error.as_database_error().is_some_and(|error| numbers.contains(&number(error)))
}

/// Writes a row, so that the transaction, or statement, has something to flush.
async fn guard(connection: &mut MySqlConnection, name: &str) -> Result<(), sqlx::Error> {
    let query =
        sqlx::query("INSERT INTO snowmint_guards (name, uses) VALUES (?, 1) ON DUPLICATE KEY UPDATE uses = uses + 1");
    query.bind(name.as_bytes()).execute(connection).await.map(|_| ())
}

impl Mysql {
    /// Connects, makes the tables that are missing, and looks whether the settings keep what the server confirms.
    ///
    /// # Errors
    /// `StoreUnavailable`, or `UnsafeStore` naming setting, value and cure.
    pub async fn connect(url: &Url) -> Result<Self, Error> {
        let name = sql::server_name("MySQL", url)?;
        let options = url.rest.parse().map_err(|error| sql::unavailable(&name, &error))?;
        let opening = Opening { options, name: name.clone(), timeout: url.timeout, settled: AtomicBool::new(false) };
        let pool = Pool::new(name.clone(), url, opening);
        pool.run((name, url.create), |connection, (name, create)| Box::pin(schema::make(name, connection, *create)))
            .await?;
        pool.refuse_standby().await?;
        pool.engine().settled.store(true, Ordering::Release);
        Ok(Self { pool, allow_unsafe: url.allow_unsafe, create: url.create })
    }

    /// A sequence of a `MariaDB` database as a source of numbers.
    ///
    /// # Errors
    /// `StoreUnavailable`, if there is none of that name, or the server is `MySQL`, which has none; `UnsafeStore`, if it is
    /// not of `InnoDB` or has `CYCLE`.
    pub async fn sequence(&self, name: &str) -> Result<Sequence, Error> {
        Sequence::open(self.pool.clone(), name, self.allow_unsafe).await
    }

    /// Flickr's table of tickets, `Tickets64` there, as one server of tickets: of those that are `offset` modulo
    /// `increment`. The table is made if it is missing. Stubs of one table share its numbers.
    ///
    /// # Errors
    /// `StoreUnavailable`, if the table is none of tickets; `UnsafeStore`, if it is not of `InnoDB`.
    pub async fn tickets(&self, table: &str, stub: &str, increment: u64, offset: u64) -> Result<Tickets, Error> {
        Tickets::open(self, table, stub, increment, offset).await
    }
}

#[async_trait]
impl Store for Mysql {
    fn name(&self) -> &str {
        self.pool.name()
    }

    async fn read(&self, key: &str) -> Result<Option<Found>, Error> {
        let found = self.pool.run(key.to_owned(), |connection, key| {
            Box::pin(async move {
                let query = sqlx::query_as("SELECT version, value FROM snowmint_records WHERE name = ?");
                let rows: Vec<(i64, Vec<u8>)> = query.bind(key.as_bytes()).fetch_all(&mut *connection).await?;
                if !rows.is_empty() {
                    // InnoDB shows a commit before it is flushed. One of our own, which is confirmed when it is flushed, has
                    // the log flushed up to there, so that no crash takes back what was read. Reads are rare.
                    guard(connection, "read").await?;
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
                if *seen == 0 {
                    // Not INSERT IGNORE, which would cut what is too long.
                    let query = sqlx::query("INSERT INTO snowmint_records (version, value, name) VALUES (1, ?, ?)");
                    return match query.bind(value).bind(key.as_bytes()).execute(connection).await {
                        Ok(_) => Ok(true),
                        Err(error) if is(&error, &[DUPLICATE]) => Ok(false),
                        Err(error) => Err(error.into()),
                    };
                }
                let query = sqlx::query(
                    "UPDATE snowmint_records SET value = ?, version = version + 1 WHERE name = ? AND version = ?",
                );
                let done = query.bind(value).bind(key.as_bytes()).bind(*seen).execute(connection).await?;
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
                    "SELECT name, version, value FROM snowmint_records \
                     WHERE name >= ? AND name < ? AND LOCATE('/', name, ? + 1) = 0",
                );
                let length = i64::try_from(prefix.len()).unwrap_or(i64::MAX - 1);
                let query = query.bind(prefix.as_bytes()).bind(end.as_bytes()).bind(length);
                let rows: Vec<(Vec<u8>, i64, Vec<u8>)> = query.fetch_all(connection).await?;
                Ok(rows)
            })
        });
        let found = rows.await?.into_iter().map(|(name, version, value)| {
            let part = String::from_utf8_lossy(name.get(prefix.len()..).unwrap_or_default()).into_owned();
            Ok((part, Found { value, version: sql::unsigned(self.name(), "a version", version)? }))
        });
        found.collect()
    }

    async fn add(&self, counter: &str, delta: u64, start: u64) -> Result<u64, Error> {
        let Some(more) = sql::signed(delta) else { return Err(full(self.name(), counter)) };
        let arguments = (counter.to_owned(), more, sql::first_sum(start, delta));
        let sum = self.pool.run(arguments, |connection, (counter, more, first)| {
            Box::pin(async move {
                // In one transaction, as there is no RETURNING for it: the row stays locked until the sum is read.
                let mut transaction = connection.begin().await?;
                let query = match first {
                    Some(first) => sqlx::query(
                        "INSERT INTO snowmint_counters (value, name) VALUES (?, ?) ON DUPLICATE KEY UPDATE value = value + ?",
                    )
                    .bind(*first)
                    .bind(counter.as_bytes())
                    .bind(*more),
                    None => sqlx::query("UPDATE snowmint_counters SET value = value + ? WHERE name = ?")
                        .bind(*more)
                        .bind(counter.as_bytes()),
                };
                let done = match query.execute(&mut *transaction).await {
                    Err(error) if !is(&error, &BEYOND) => return Err(error.into()),
                    done => done.ok().filter(|done| done.rows_affected() > 0),
                };
                if done.is_none() {
                    transaction.rollback().await?;
                    return Ok(None);
                }
                let query = sqlx::query_as("SELECT value FROM snowmint_counters WHERE name = ?");
                let rows: Vec<(i64,)> = query.bind(counter.as_bytes()).fetch_all(&mut *transaction).await?;
                transaction.commit().await?;
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
                let query = sqlx::query("UPDATE snowmint_counters SET value = ? WHERE name = ? AND value = ?");
                let done = query.bind(*start).bind(counter.as_bytes()).bind(*end).execute(connection).await?;
                Ok(done.rows_affected() == 1)
            })
        });
        lowered.await
    }

    async fn clock_ms(&self) -> Result<Option<i64>, Error> {
        let clock = self.pool.run((), |connection, ()| {
            Box::pin(async move {
                let query = sqlx::query_as("SELECT CAST(FLOOR(UNIX_TIMESTAMP(SYSDATE(6)) * 1000) AS SIGNED)");
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
