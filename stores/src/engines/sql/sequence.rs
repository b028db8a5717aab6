//! Native sequences as sources of numbers.

use async_trait::async_trait;
use snowmint_core::ErrorKind;

use super::SqlStore;
use super::dialect::{Dialect, Failure};
use super::identifier::Identifier;
use super::pool::Pool;
use crate::error::Error;
use crate::store::NumberSource;

/// The most numbers that one request asks a sequence for.
const MAX_NUMBERS: u64 = 100_000;

/// A dialect whose databases have sequences.
#[async_trait]
pub trait NativeSequences: Dialect {
    /// Returns a name between the quotes of the dialect.
    fn quoted(name: &str) -> String;

    /// Refuses a sequence that does not exist, or whose numbers a crash would repeat. Runs once.
    async fn check(connection: &mut Self::Connection, target: &Target) -> Result<(), Failure>;

    /// Reads the state of a sequence.
    async fn state(connection: &mut Self::Connection, target: &Target) -> Result<State, Failure>;

    /// Takes the next `count` numbers, durably. All or none.
    async fn values(connection: &mut Self::Connection, target: &Target, count: i64) -> Result<Vec<i64>, sqlx::Error>;

    /// Returns whether an error says that the sequence has no more numbers.
    fn is_run_out(error: &sqlx::Error) -> bool;
}

/// A sequence of a database. Other sessions may use it at the same time.
#[derive(Debug)]
pub struct Sequence<D: NativeSequences> {
    pool: Pool<D>,
    target: Target,
}

/// The sequence that a step works on.
#[derive(Clone, Debug)]
pub struct Target {
    /// The database and the sequence, for messages.
    pub(in crate::engines) source: String,
    pub(in crate::engines) name: Identifier,
    pub(in crate::engines) allow_unsafe: bool,
}

/// The state of a sequence.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// The next number at the earliest, as a cache may hold lower ones.
    pub next: i64,
    /// The difference of a number to the next.
    pub increment: i64,
    /// The lowest number.
    pub min: i64,
    /// The highest number.
    pub max: i64,
    /// Whether the sequence begins again after its last number.
    pub cycles: bool,
}

impl State {
    /// Limits `count` to the numbers that are left, at least 1. A request that fails midway would lose its first numbers.
    ///
    /// 1 is always worth a try, as caches may hold numbers after the last one of the state.
    fn within_room(self, count: u64) -> i64 {
        let Self { next, increment, min, max, .. } = self;
        let (next, increment) = (i128::from(next), i128::from(increment));
        let room = match increment {
            1.. => (i128::from(max) - next).div_euclid(increment) + 1,
            ..0 => (next - i128::from(min)).div_euclid(-increment) + 1,
            0 => 1,
        };
        let count = i128::from(count.min(MAX_NUMBERS));
        i64::try_from(room.min(count).max(1)).unwrap_or(1)
    }
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
        let name = Identifier::new(pool.name(), name)?;
        let source = format!("{}, sequence {name}", pool.name());
        let target = Target { source, name, allow_unsafe: pool.allow_unsafe() };
        pool.run(target.clone(), |connection, target| {
            Box::pin(async move {
                D::check(connection, target).await?;
                target.state::<D>(connection).await.map(drop)
            })
        })
        .await?;
        Ok(Sequence { pool, target })
    }
}

impl Target {
    /// Reads the state, and refuses a sequence whose numbers repeat.
    async fn state<D: NativeSequences>(&self, connection: &mut D::Connection) -> Result<State, Failure> {
        let state = D::state(connection, self).await?;
        if state.cycles && !self.allow_unsafe {
            let (source, sequence) = (&self.source, D::quoted(self.name.as_str()));
            let why = format!(
                "{source}: it has CYCLE, so its numbers repeat: ALTER SEQUENCE {sequence} NO CYCLE, or pass \
                 allow_unsafe=true"
            );
            return Err(Error::new(ErrorKind::UnsafeStore, why).into());
        }
        Ok(state)
    }

    async fn take<D: NativeSequences>(&self, connection: &mut D::Connection, count: u64) -> Result<Vec<i64>, Failure> {
        let mut count = self.state::<D>(connection).await?.within_room(count);
        loop {
            match D::values(connection, self, count).await {
                Ok(numbers) => return Ok(numbers),
                Err(error) if !D::is_run_out(&error) => return Err(error.into()),
                // Other sessions took numbers meanwhile, so the last ones come one by one.
                Err(_) if count > 1 => count = 1,
                Err(_) => return Err(run_out(&self.source).into()),
            }
        }
    }
}

#[async_trait]
impl<D: NativeSequences> NumberSource for Sequence<D> {
    fn name(&self) -> &str {
        &self.target.source
    }

    async fn take(&self, count: u64) -> Result<Vec<i64>, Error> {
        let arguments = (self.target.clone(), count);
        self.pool.run(arguments, |connection, (target, count)| Box::pin(target.take::<D>(connection, *count))).await
    }
}

/// `Exhausted`: a source has no more numbers.
pub(in crate::engines) fn run_out(source: &str) -> Error {
    Error::new(ErrorKind::Exhausted, format!("{source} has no more numbers"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(count: u64, next: i64, increment: i64, min: i64, max: i64) -> i64 {
        State { next, increment, min, max, cycles: false }.within_room(count)
    }

    #[test]
    fn the_room_of_a_sequence_includes_both_ends() {
        assert_eq!(room(10, 1, 1, 1, 3), 3);
        assert_eq!(room(2, 1, 1, 1, 3), 2);
        assert_eq!(room(10, 4, 1, 1, 3), 1, "a cache may hold more");
        assert_eq!(room(10, 1, 5, 1, 11), 3);
        assert_eq!(room(10, -1, -2, -5, -1), 3);
        assert_eq!(room(10, i64::MAX, 1, 1, i64::MAX), 1);
        assert_eq!(room(0, i64::MIN, 1, i64::MIN, i64::MAX), 1);
        assert_eq!(room(u64::MAX, 1, 1, 1, i64::MAX), 100_000);
        assert_eq!(room(10, 1, 0, 1, 100), 1);
    }
}
