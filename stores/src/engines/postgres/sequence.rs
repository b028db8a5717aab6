//! Native sequences of `PostgreSQL`.

use async_trait::async_trait;
use sqlx::error::DatabaseError;
use sqlx::postgres::PgConnection;

use super::dialect::PgDialect;
use super::{message, settings};
use crate::engines::sql::query::Value;
use crate::engines::sql::{Failure, NativeSequences, State, Target};
use crate::error::Error;

#[async_trait]
impl NativeSequences for PgDialect {
    fn quoted(name: &str) -> String {
        format!("\"{name}\"")
    }

    async fn check(_: &mut PgConnection, _: &Target) -> Result<(), Failure> {
        Ok(())
    }

    async fn state(connection: &mut PgConnection, target: &Target) -> Result<State, Failure> {
        let quoted = Self::quoted(target.name.as_str());
        let statement = format!(
            "SELECT s.last_value, s.is_called, p.seqincrement, p.seqmin, p.seqmax, p.seqcycle, c.relpersistence::text \
             FROM {quoted} s, pg_sequence p JOIN pg_class c ON c.oid = p.seqrelid WHERE p.seqrelid = {}::regclass",
            regclass_of(target),
        );
        // An identifier contains no quotes.
        let rows: Vec<(i64, bool, i64, i64, i64, bool, String)> = message::rows(connection, &statement).await?;
        let Some((last, called, increment, min, max, cycles, persistence)) = rows.into_iter().next() else {
            return Err(Error::invalid_store(&target.source, "it is not a sequence").into());
        };
        if persistence != "p" && !target.allow_unsafe {
            return Err(settings::unlogged(&target.source, &quoted, &persistence).into());
        }
        // After the last number the sum may be no `bigint`. Then the room is 0, and the server reports the end.
        let next = if called { last.saturating_add(increment) } else { last };
        Ok(State { next, increment, min, max, cycles })
    }

    async fn values(connection: &mut PgConnection, target: &Target, count: i64) -> Result<Vec<i64>, sqlx::Error> {
        // The message makes the server write to its log: `nextval` writes only for every 32nd value, and a statement that
        // wrote nothing is not flushed. A crash would lose the values between, and give them again, if another, still open
        // transaction wrote for them.
        let query = format!(
            "WITH logged AS MATERIALIZED (SELECT pg_logical_emit_message(true, 'snowmint', '') AS lsn) \
             SELECT nextval({}::regclass) FROM logged, generate_series(1, {count}) WHERE logged.lsn IS NOT NULL",
            regclass_of(target),
        );
        // All rows, as the commit comes after the last one.
        let rows: Vec<(i64,)> = message::rows(connection, &query).await?;
        Ok(rows.into_iter().map(|(number,)| number).collect())
    }

    fn is_run_out(error: &sqlx::Error) -> bool {
        error.as_database_error().and_then(DatabaseError::code).is_some_and(|code| code == "2200H")
    }
}

/// Returns the quoted name as a literal.
fn regclass_of(target: &Target) -> String {
    message::literal(&Value::Text(PgDialect::quoted(target.name.as_str())))
}
