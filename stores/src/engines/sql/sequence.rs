//! Native sequences as sources of numbers.

use async_trait::async_trait;
use snowmint_core::durability::Denial;
use snowmint_core::native::{State, fewer};

use super::SqlStore;
use super::dialect::{Dialect, Failure, denial};
use super::pool::Pool;
use crate::error::Error;
use crate::numbers::NativeTarget as Target;
use crate::store::NumberSource;

/// A row of [`State`]: value, whether it is called, increment, lowest and highest number, whether it cycles, how it is kept.
pub type Row = (i64, i32, i64, i64, i64, i32, String);

/// A dialect whose databases have sequences.
#[async_trait]
pub trait NativeSequences: Dialect {
    /// Reads the server's version and the type of the object. Runs once.
    async fn object(connection: &mut Self::Connection, target: &Target) -> Result<(String, Option<String>), Failure>;

    /// Reads the state of a sequence.
    async fn state(connection: &mut Self::Connection, target: &Target) -> Result<Option<Row>, Failure>;

    /// Takes the next `count` numbers, durably. All or none.
    async fn values(connection: &mut Self::Connection, target: &Target, count: u64) -> Result<Vec<i64>, sqlx::Error>;
}

/// A sequence of a database. Other sessions may use it at the same time.
#[derive(Debug)]
pub struct Sequence<D: NativeSequences> {
    pool: Pool<D>,
    target: Target,
}

impl<D: NativeSequences> SqlStore<D> {
    /// Opens a sequence of the database as a source of numbers.
    ///
    /// # Errors
    /// `InvalidStore` if the sequence does not exist, or the server is `MySQL`, which has no sequences.
    /// `UnsafeStore` for a sequence that has `CYCLE`, is unlogged, or is not of `InnoDB`.
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
    pub async fn sequence(&self, name: &str) -> Result<Sequence<D>, Error> {
        let pool = self.pool.clone();
        let target = Target::new(pool.name(), Some(D::ENGINE), name, pool.allow_unsafe())?;
        pool.run(target.clone(), |connection, target| {
            Box::pin(async move {
                let (version, kind) = D::object(connection, target).await?;
                target.refuse_object(&version, kind.as_deref())?;
                room::<D>(connection, target, 1).await.map(drop)
            })
        })
        .await?;
        Ok(Sequence { pool, target })
    }
}

/// Returns how many numbers to ask for, at most `count`.
async fn room<D: NativeSequences>(connection: &mut D::Connection, target: &Target, count: u64) -> Result<u64, Failure> {
    let row = D::state(connection, target).await?;
    let state = row.as_ref().map(|(value, is_called, increment, min, max, cycles, kept)| State {
        value: *value,
        is_called: *is_called != 0,
        increment: *increment,
        min: *min,
        max: *max,
        cycles: *cycles != 0,
        kept,
    });
    Ok(target.room(state, count)?)
}

async fn take<D: NativeSequences>(
    connection: &mut D::Connection,
    target: &Target,
    count: u64,
) -> Result<Vec<i64>, Failure> {
    let mut count = Some(room::<D>(connection, target, count).await?);
    while let Some(asked) = count {
        match D::values(connection, target, asked).await {
            Ok(numbers) => return Ok(numbers),
            Err(error) if is_run_out::<D>(&error) => count = fewer(asked),
            Err(error) => return Err(error.into()),
        }
    }
    Err(target.run_out().into())
}

#[async_trait]
impl<D: NativeSequences> NumberSource for Sequence<D> {
    fn name(&self) -> &str {
        self.target.source()
    }

    async fn take(&self, count: u64) -> Result<Vec<i64>, Error> {
        let arguments = (self.target.clone(), count);
        self.pool.run(arguments, |connection, (target, count)| Box::pin(take::<D>(connection, target, *count))).await
    }
}

/// Returns whether an error says that a sequence has no more numbers.
pub(in crate::engines) fn is_run_out<D: Dialect>(error: &sqlx::Error) -> bool {
    denial::<D>(error) == Denial::RunOut
}
