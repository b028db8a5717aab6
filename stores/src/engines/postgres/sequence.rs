//! Native sequences.

use async_trait::async_trait;
use sqlx::AssertSqlSafe;
use sqlx::error::DatabaseError;
use sqlx::postgres::PgConnection;

use super::{Opening, settings};
use crate::engines::sql::{self, Failure, Identifier, Pool};
use crate::error::Error;
use crate::store::NumberSource;

/// A sequence of a `PostgreSQL` database: others may use it at once, by `nextval` of their own.
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

/// Next value at the earliest, increment, min, max.
type State = (i64, i64, i64, i64);

impl Sequence {
    pub(super) async fn open(pool: Pool<Opening>, name: &str, allow_unsafe: bool) -> Result<Self, Error> {
        let sequence = Identifier::new(pool.name(), name)?;
        let target = Target { source: format!("{}, sequence {sequence}", pool.name()), sequence, allow_unsafe };
        pool.run(target.clone(), |connection, target| Box::pin(target.state(connection))).await?;
        Ok(Self { pool, target })
    }
}

impl Target {
    fn quoted(&self) -> String {
        format!("\"{}\"", self.sequence.as_str())
    }

    /// How far it is; refused if its numbers would repeat.
    async fn state(&self, connection: &mut PgConnection) -> Result<State, Failure> {
        let statement = format!(
            "SELECT s.last_value, s.is_called, p.seqincrement, p.seqmin, p.seqmax, p.seqcycle, c.relpersistence::text \
             FROM {} s, pg_sequence p JOIN pg_class c ON c.oid = p.seqrelid WHERE p.seqrelid = $1::regclass",
            self.quoted(),
        );
        // An identifier has no quotes in it.
        let query = sqlx::query_as(AssertSqlSafe(statement)).bind(self.quoted());
        let rows: Vec<(i64, bool, i64, i64, i64, bool, String)> = query.fetch_all(connection).await?;
        let Some((last, called, increment, min, max, cycle, persistence)) = rows.into_iter().next() else {
            return Err(Error::unavailable(&self.source, "it is not a sequence").into());
        };
        if cycle && !self.allow_unsafe {
            return Err(sql::cycles(&self.source, &self.quoted()).into());
        }
        if persistence != "p" && !self.allow_unsafe {
            return Err(settings::unlogged(&self.source, "sequence", &self.quoted(), &persistence).into());
        }
        // Past its end the next value is no `bigint`: there is no room, which `within_room` makes 1, and the server says so.
        let next = if called { last.saturating_add(increment) } else { last };
        Ok((next, increment, min, max))
    }

    async fn take(&self, connection: &mut PgConnection, count: u64) -> Result<Vec<i64>, Failure> {
        let (next, increment, min, max) = self.state(&mut *connection).await?;
        let mut count = sql::within_room(count, next, increment, min, max);
        loop {
            // The message, which nobody reads, is there for the log: `nextval` writes to the log only for every 32nd value,
            // and a statement that wrote nothing is not flushed. The values between would be lost in a crash, and given
            // again, if the transaction that wrote for them is another one, still open.
            let query = sqlx::query_as(
                "WITH logged AS MATERIALIZED (SELECT pg_logical_emit_message(true, 'snowmint', '') AS lsn) \
                 SELECT nextval($1::regclass) FROM logged, generate_series(1, $2) WHERE logged.lsn IS NOT NULL",
            );
            // All of it, to its end: the commit comes after the last row.
            let rows: Result<Vec<(i64,)>, _> = query.bind(self.quoted()).bind(count).fetch_all(&mut *connection).await;
            match rows {
                Ok(rows) => return Ok(rows.into_iter().map(|(number,)| number).collect()),
                Err(error) if !is_run_out(&error) => return Err(error.into()),
                // Others took some meanwhile: what is left comes one by one.
                Err(_) if count > 1 => count = 1,
                Err(_) => return Err(sql::run_out(&self.source).into()),
            }
        }
    }
}

fn is_run_out(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(DatabaseError::code).is_some_and(|code| code == "2200H")
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
