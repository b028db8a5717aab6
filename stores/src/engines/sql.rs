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
mod shared;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use async_trait::async_trait;

use self::dialect::Raise;
pub(super) use self::dialect::{Dialect, Failure, Settings, Statements};
use self::pool::Pool;
use self::query::{Select, Value, end_of, signed, unsigned};
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub(super) use self::sequence::{NativeSequences, Row, Sequence};
use self::shared::{Asked, Shared};
use crate::engines::settings::of_server;
use crate::error::Error;
use crate::store::counter::{full, sum};
use crate::store::url::Url;
use crate::store::version;
use crate::store::{
    CounterStore, MAX_KEY_BYTES, RecordStore, SegmentTable, ServerSettings, Version, Versioned, WriteOutcome,
};

/// A store in tables of an SQL database.
///
/// # Examples
/// ```no_run
/// use snowmint_stores::sqlite::Sqlite;
/// use snowmint_stores::{RecordStore, Url};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let store = Sqlite::connect(&Url::parse("sqlite:/var/lib/ids.db")?).await?;
/// println!("{:?}", store.settings().await?);
/// # Ok(())
/// # }
/// ```
pub struct SqlStore<D: Dialect> {
    pub(super) pool: Pool<D>,
    create: bool,
    /// Whether Leaf's table was there, so that it is never made again.
    has_leaf: Arc<AtomicBool>,
    changes: Shared<(i64,)>,
    reads: Shared<(i64, Vec<u8>)>,
}

impl<D: Dialect> SqlStore<D> {
    /// Connects, makes the missing tables, and checks the server's settings.
    pub(super) async fn open(name: String, url: &Url, dialect: D) -> Result<Self, Error> {
        let pool = Pool::new(name.clone(), url, dialect);
        pool.run((name, url.create), |connection, (name, create)| {
            Box::pin(schema::make::<D>(name, connection, &D::TABLES, *create))
        })
        .await?;
        pool.refuse_standby().await?;
        pool.settle();
        // Reads are rare, so the extra commit does not matter.
        let (changes, reads) = (Shared::new(None), Shared::new(D::STATEMENTS.flush));
        Ok(Self { pool, create: url.create, has_leaf: Arc::default(), changes, reads })
    }

    /// Runs a statement. Returns `false` if it changed no row, or found a row of that name where it should add one.
    async fn change(&self, statement: &'static str, values: Vec<Value>, name: Value) -> Result<bool, Error> {
        let done = self.changes.run(&self.pool, Asked { statements: vec![(statement, values)], name }).await?;
        Ok(done.first().is_some_and(|(changed, _)| *changed == 1))
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

    /// Changes the number of `name` and returns it. `None` without such a number, or for one beyond 2^63-1.
    async fn raise(&self, raise: Raise, values: Vec<Value>, name: Value) -> Result<Option<u64>, Error> {
        let read_back = raise.read_back.map(|query| (query, vec![name.clone()]));
        let statements = std::iter::once((raise.change, values)).chain(read_back).collect();
        let done = self.changes.run(&self.pool, Asked { statements, name: name.clone() }).await?;
        // Without a row to change, the query could find a number that the change refused.
        let refused = raise.read_back.is_some() && done.first().is_none_or(|(changed, _)| *changed == 0);
        let number = done.last().and_then(|(_, rows)| rows.first()).filter(|_| !refused);
        number.map(|(number,)| unsigned(self.name(), &name.to_string(), *number)).transpose()
    }

    /// Reads the records whose keys begin with `prefix`, and have no slash beyond the length of `free`.
    async fn range(&self, prefix: &str, free: &str) -> Result<Vec<(String, Versioned)>, Error> {
        // A range of keys, as LIKE has wildcards.
        let values = vec![D::key(prefix), D::key(&end_of(prefix)), D::key(free)];
        let rows: Vec<(String, i64, Vec<u8>)> = self.select(D::STATEMENTS.list, values).await?;
        let found = rows.into_iter().map(|(key, version, value)| {
            let part = key.strip_prefix(prefix).unwrap_or(&key).to_owned();
            Ok((part, Versioned { value, version: self.version(version)? }))
        });
        found.collect()
    }

    fn version(&self, version: i64) -> Result<Version, Error> {
        unsigned(self.name(), "a version", version)
    }
}

#[async_trait]
impl<D: Dialect> RecordStore for SqlStore<D> {
    fn name(&self) -> &str {
        self.pool.name()
    }

    async fn read(&self, key: &str) -> Result<Option<Versioned>, Error> {
        let name = D::key(key);
        let statements = vec![(D::STATEMENTS.read, vec![name.clone()])];
        let done = self.reads.run(&self.pool, Asked { statements, name }).await?;
        let found = done.into_iter().next().and_then(|(_, rows)| rows.into_iter().next());
        found.map(|(version, value)| Ok(Versioned { value, version: self.version(version)? })).transpose()
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, Error> {
        let Some(seen) = signed(expected) else { return Ok(WriteOutcome::Conflict) };
        let version = version::fresh(expected)?;
        // Below 2^53.
        let name = D::key(key);
        let mut values = vec![Value::Bytes(value.to_owned()), Value::Number(version.cast_signed()), name.clone()];
        let written = if seen == 0 {
            self.raise(D::STATEMENTS.insert, values, name).await? == Some(version)
        } else {
            values.push(Value::Number(seen));
            self.change(D::STATEMENTS.update, values, name).await?
        };
        Ok(if written { WriteOutcome::Version(version) } else { WriteOutcome::Conflict })
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Versioned)>, Error> {
        self.range(prefix, prefix).await
    }

    async fn list_below(&self, prefix: &str) -> Result<Option<Vec<(String, Versioned)>>, Error> {
        // No key is longer, so that a slash is allowed anywhere.
        self.range(prefix, &"/".repeat(MAX_KEY_BYTES)).await.map(Some)
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
}

#[async_trait]
impl<D: Dialect> CounterStore for SqlStore<D> {
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
        let name = D::key(counter);
        let values = vec![Value::Number(start), name.clone(), Value::Number(end)];
        self.change(D::STATEMENTS.lower, values, name).await
    }

    fn segments(&self) -> Option<&dyn SegmentTable> {
        Some(self)
    }
}

impl<D: Dialect> Clone for SqlStore<D> {
    fn clone(&self) -> Self {
        Self {
            pool: self.pool.clone(),
            create: self.create,
            has_leaf: Arc::clone(&self.has_leaf),
            changes: self.changes.clone(),
            reads: self.reads.clone(),
        }
    }
}

impl<D: Dialect> fmt::Debug for SqlStore<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SqlStore({})", self.name())
    }
}
