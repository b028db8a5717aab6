//! A store in tables of an SQL database. The verbs are written once; a [`Dialect`] gives the statements.

pub(super) mod dialect;
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub(super) mod identifier;
mod leaf;
pub(super) mod pool;
pub(super) mod query;
pub(super) mod schema;
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub(super) mod sequence;

use std::fmt;
use std::slice;

use async_trait::async_trait;
use sqlx::Connection as _;

use self::dialect::Raise;
pub(super) use self::dialect::{Dialect, Failure, Refusal, Settings, Statements};
use self::pool::Pool;
use self::query::{Change as _, Select, Value, end_of, signed, unsigned};
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub(super) use self::sequence::{NativeSequences, Sequence, State, Target};
use crate::engines::settings::of_server;
use crate::error::Error;
use crate::store::counter::{full, sum};
use crate::store::url::Url;
use crate::store::version;
use crate::store::{Found, SegmentTable, ServerSettings, Store, Version, Wrote};

/// A store in tables of an SQL database.
pub struct SqlStore<D: Dialect> {
    pub(super) pool: Pool<D>,
}

impl<D: Dialect> SqlStore<D> {
    /// Connects, makes the missing tables, and checks the server's settings.
    pub(super) async fn open(name: String, url: &Url, dialect: D) -> Result<Self, Error> {
        let pool = Pool::new(name.clone(), url, dialect);
        pool.run((name, url.create), |connection, (name, create)| {
            Box::pin(schema::make::<D>(name, connection, *create))
        })
        .await?;
        pool.refuse_standby().await?;
        pool.settle();
        Ok(Self { pool })
    }

    /// Runs a statement. Returns `false` if it changed no row, or found a row of that name where it should add one.
    async fn change(&self, statement: &'static str, values: Vec<Value>) -> Result<bool, Error> {
        let changed = self.pool.run((statement, values), |connection, (statement, values)| {
            Box::pin(async move {
                match connection.change(statement, values).await {
                    Err(error) if Refusal::of::<D>(&error) == Refusal::Duplicate => Ok(false),
                    changed => Ok(changed? == 1),
                }
            })
        });
        changed.await
    }

    /// Runs a query and reads all its rows.
    async fn select<R: Send + 'static>(&self, query: &'static str, values: Vec<Value>) -> Result<Vec<R>, Error>
    where
        D::Connection: Select<R>,
    {
        let rows = self.pool.run((query, values), |connection, (query, values)| {
            Box::pin(async move {
                let rows: Vec<R> = connection.select(query, values).await?;
                Ok(rows)
            })
        });
        rows.await
    }

    /// Adds to the number of `name` and returns the sum. `None` without such a number, or for a sum beyond 2^63-1.
    async fn raise(&self, raise: Raise, values: Vec<Value>, name: Value) -> Result<Option<u64>, Error> {
        let number = self.pool.run((raise, values, name.clone()), |connection, (raise, values, name)| {
            Box::pin(async move {
                let rows: Vec<(i64,)> = match raise.read_back {
                    None => connection.select(raise.change, values).await?,
                    Some(read_back) => {
                        // The row stays locked until the sum is read.
                        let mut transaction = connection.begin().await?;
                        let changed = match transaction.change(raise.change, values).await {
                            Err(error) if Refusal::of::<D>(&error) == Refusal::Beyond => 0,
                            changed => changed?,
                        };
                        if changed == 0 {
                            transaction.rollback().await?;
                            return Ok(None);
                        }
                        let rows = transaction.select(read_back, slice::from_ref(name)).await?;
                        transaction.commit().await?;
                        rows
                    }
                };
                Ok(rows.into_iter().next().map(|(number,)| number))
            })
        });
        number.await?.map(|number| unsigned(self.name(), &name.to_string(), number)).transpose()
    }

    fn version(&self, version: i64) -> Result<Version, Error> {
        unsigned(self.name(), "a version", version)
    }
}

#[async_trait]
impl<D: Dialect> Store for SqlStore<D> {
    fn name(&self) -> &str {
        self.pool.name()
    }

    async fn read(&self, key: &str) -> Result<Option<Found>, Error> {
        let rows = self.pool.run(D::key(key), |connection, key| {
            Box::pin(async move {
                let rows: Vec<(i64, Vec<u8>)> = connection.select(D::STATEMENTS.read, slice::from_ref(key)).await?;
                // Reads are rare, so the extra commit does not matter.
                if let Some(flush) = D::STATEMENTS.flush.filter(|_| !rows.is_empty()) {
                    connection.change(flush, &[]).await?;
                }
                Ok(rows)
            })
        });
        let Some((version, value)) = rows.await?.into_iter().next() else { return Ok(None) };
        Ok(Some(Found { value, version: self.version(version)? }))
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<Wrote, Error> {
        let Some(seen) = signed(expected) else { return Ok(Wrote::Conflict) };
        let version = version::fresh(expected)?;
        // Below 2^53.
        let mut values = vec![Value::Bytes(value.to_owned()), Value::Number(version.cast_signed()), D::key(key)];
        let written = if seen == 0 {
            self.change(D::STATEMENTS.insert, values).await?
        } else {
            values.push(Value::Number(seen));
            self.change(D::STATEMENTS.update, values).await?
        };
        Ok(if written { Wrote::Version(version) } else { Wrote::Conflict })
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Found)>, Error> {
        // A range of keys, as LIKE has wildcards.
        let values = vec![D::key(prefix), D::key(&end_of(prefix)), D::key(prefix)];
        let rows: Vec<(String, i64, Vec<u8>)> = self.select(D::STATEMENTS.list, values).await?;
        let found = rows.into_iter().map(|(key, version, value)| {
            let part = key.strip_prefix(prefix).unwrap_or(&key).to_owned();
            Ok((part, Found { value, version: self.version(version)? }))
        });
        found.collect()
    }

    async fn add(&self, counter: &str, delta: u64, start: u64) -> Result<u64, Error> {
        let Some(amount) = signed(delta).map(Value::Number) else { return Err(full(self.name(), counter)) };
        let name = D::key(counter);
        let (raise, values) = match sum(start, delta).and_then(signed) {
            Some(first) => (D::STATEMENTS.add, vec![Value::Number(first), name.clone(), amount]),
            // A new counter would begin beyond its end.
            None => (D::STATEMENTS.raise, vec![amount, name.clone()]),
        };
        self.raise(raise, values, name).await?.ok_or_else(|| full(self.name(), counter))
    }

    async fn lower(&self, counter: &str, end: u64, start: u64) -> Result<bool, Error> {
        let (Some(end), Some(start)) = (signed(end), signed(start)) else { return Ok(false) };
        self.change(D::STATEMENTS.lower, vec![Value::Number(start), D::key(counter), Value::Number(end)]).await
    }

    async fn clock_ms(&self) -> Result<Option<i64>, Error> {
        let Some(clock) = D::STATEMENTS.clock else { return Ok(None) };
        let rows: Vec<(i64,)> = self.select(clock, Vec::new()).await?;
        Ok(rows.into_iter().next().map(|(now_ms,)| now_ms))
    }

    async fn refuse_standby(&self) -> Result<(), Error> {
        self.pool.refuse_standby().await
    }

    fn standby_risk(&self) -> Option<Error> {
        self.pool.standby_risk()
    }

    async fn settings(&self) -> Result<Option<ServerSettings>, Error> {
        Ok(Some(of_server(D::ENGINE, self.pool.settings().await?)))
    }

    async fn close(&self) {
        self.pool.close().await;
    }

    fn segments(&self) -> Option<&dyn SegmentTable> {
        Some(self)
    }
}

impl<D: Dialect> Clone for SqlStore<D> {
    fn clone(&self) -> Self {
        Self { pool: self.pool.clone() }
    }
}

impl<D: Dialect> fmt::Debug for SqlStore<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SqlStore({})", self.name())
    }
}
