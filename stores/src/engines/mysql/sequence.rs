//! Native sequences of `MariaDB`.

use async_trait::async_trait;
use snowmint_core::mutant;
use sqlx::mysql::MySqlConnection;
use sqlx::{AssertSqlSafe, Connection};

use super::{Opening, guard, is, settings};
use crate::engines::sql::{self, Failure, Identifier, Pool};
use crate::error::Error;
use crate::store::NumberSource;

/// "Sequence has run out".
const RUN_OUT: u16 = 4084;

/// A sequence of a `MariaDB` database.
///
/// `NEXT VALUE` alone is not durable, even on a server that flushes every commit. So numbers are taken in a transaction that
/// also writes a row of `snowmint_guards`. Others who use the sequence at once, by `NEXT VALUE` of their own, may after a
/// crash of the server be given numbers that they had already, but none that were given here.
#[derive(Debug)]
pub struct Sequence {
    pool: Pool<Opening>,
    target: Target,
}

/// What a step has to know about it.
#[derive(Clone, Debug)]
struct Target {
    /// For sentences.
    source: String,
    sequence: Identifier,
    allow_unsafe: bool,
}

impl Sequence {
    pub(super) async fn open(pool: Pool<Opening>, name: &str, allow_unsafe: bool) -> Result<Self, Error> {
        let sequence = Identifier::new(pool.name(), name)?;
        let target = Target { source: format!("{}, sequence {sequence}", pool.name()), sequence, allow_unsafe };
        pool.run(target.clone(), |connection, target| {
            Box::pin(async move {
                target.check(connection).await?;
                target.room(connection, 1).await.map(|_| ())
            })
        })
        .await?;
        Ok(Self { pool, target })
    }
}

impl Target {
    async fn check(&self, connection: &mut MySqlConnection) -> Result<(), Failure> {
        let refuse = |why: &str| Err(Failure::Told(Error::unavailable(&self.source, why)));
        let rows: Vec<(String,)> = sqlx::query_as("SELECT VERSION()").fetch_all(&mut *connection).await?;
        if !rows.iter().any(|(version,)| version.contains("MariaDB")) {
            return refuse("MySQL has no sequences, only MariaDB has: use a counter or tickets");
        }
        let query = sqlx::query_as(
            "SELECT CAST(table_type AS CHAR), CAST(COALESCE(engine, 'none') AS CHAR) FROM information_schema.tables \
             WHERE table_schema = DATABASE() AND table_name = ?",
        );
        let rows: Vec<(String, String)> = query.bind(self.sequence.as_str()).fetch_all(connection).await?;
        match rows.into_iter().next() {
            None => refuse("there is none: CREATE SEQUENCE makes one"),
            Some((kind, _)) if kind != "SEQUENCE" => refuse("it is a table, not a sequence"),
            Some((_, engine)) if !settings::is_innodb(&engine) && !self.allow_unsafe => {
                Err(settings::not_innodb(&self.source, self.sequence.as_str(), &engine).into())
            }
            Some(_) => Ok(()),
        }
    }

    /// How many numbers to ask for; refused if they would repeat.
    async fn room(&self, connection: &mut MySqlConnection, count: u64) -> Result<i64, Failure> {
        let statement = format!(
            "SELECT CAST(next_not_cached_value AS SIGNED), CAST(increment AS SIGNED), CAST(minimum_value AS SIGNED), \
             CAST(maximum_value AS SIGNED), CAST(cycle_option AS SIGNED) FROM `{}`",
            self.sequence,
        );
        // An identifier has no quotes in it.
        let query = sqlx::query_as(AssertSqlSafe(statement));
        let rows: Vec<(i64, i64, i64, i64, i64)> = query.fetch_all(connection).await?;
        let Some((next, increment, min, max, cycle)) = rows.into_iter().next() else {
            return Err(Error::unavailable(&self.source, "it has no row").into());
        };
        if cycle != 0 && !self.allow_unsafe {
            return Err(sql::cycles(&self.source, &format!("`{}`", self.sequence)).into());
        }
        Ok(sql::within_room(count, next, increment, min, max))
    }

    async fn take(&self, connection: &mut MySqlConnection, count: u64) -> Result<Vec<i64>, Failure> {
        let mut count = self.room(&mut *connection, count).await?;
        // The rows of the range, which MariaDB makes up, are there to be counted.
        let statement = format!("SELECT NEXT VALUE FOR `{}` FROM seq_1_to_1000000 LIMIT ?", self.sequence);
        loop {
            let mut transaction = connection.begin().await?;
            let query = sqlx::query_as(AssertSqlSafe(statement.clone())).bind(count);
            let rows: Result<Vec<(i64,)>, _> = query.fetch_all(&mut *transaction).await;
            let numbers = match rows {
                Ok(rows) => rows.into_iter().map(|(number,)| number).collect(),
                Err(error) if !is(&error, &[RUN_OUT]) => return Err(error.into()),
                Err(_) => {
                    transaction.rollback().await?;
                    if count == 1 {
                        return Err(sql::run_out(&self.source).into());
                    }
                    // Others took some meanwhile: what is left comes one by one.
                    count = 1;
                    continue;
                }
            };
            if !mutant::removes("guard") {
                guard(&mut transaction, self.sequence.as_str()).await?;
            }
            transaction.commit().await?;
            return Ok(numbers);
        }
    }
}

#[async_trait]
impl NumberSource for Sequence {
    fn name(&self) -> &str {
        &self.target.source
    }

    async fn take(&self, count: u64) -> Result<Vec<i64>, Error> {
        let arguments = (self.target.clone(), count);
        self.pool.run(arguments, |connection, (target, count)| Box::pin(target.take(connection, *count))).await
    }
}
