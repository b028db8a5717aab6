//! Native sequences of `MariaDB`.

use async_trait::async_trait;
use snowmint_core::mutant;
use sqlx::mysql::MySqlConnection;
use sqlx::{AssertSqlSafe, Connection as _};

use super::dialect::{MyDialect, has_number};
use super::settings;
use crate::engines::sql::{Failure, NativeSequences, State, Target};
use crate::error::Error;

/// "Sequence has run out".
const SEQUENCE_RUN_OUT: u16 = 4084;

#[async_trait]
impl NativeSequences for MyDialect {
    fn quoted(name: &str) -> String {
        format!("`{name}`")
    }

    async fn check(connection: &mut MySqlConnection, target: &Target) -> Result<(), Failure> {
        let refuse = |why: &str| Err(Failure::Refused(Error::invalid_store(&target.source, why)));
        let rows: Vec<(String,)> = sqlx::query_as("SELECT VERSION()").fetch_all(&mut *connection).await?;
        if !rows.iter().any(|(version,)| version.contains("MariaDB")) {
            return refuse("MySQL has no sequences, only MariaDB has: use a counter or tickets");
        }
        match settings::table(connection, &target.name).await? {
            None => refuse("there is no such sequence: CREATE SEQUENCE makes it"),
            Some((kind, _)) if kind != "SEQUENCE" => refuse("it is a table, not a sequence"),
            Some(_) if target.allow_unsafe => Ok(()),
            Some((_, engine)) => Ok(settings::refuse_engine(&target.source, target.name.as_str(), &engine)?),
        }
    }

    async fn state(connection: &mut MySqlConnection, target: &Target) -> Result<State, Failure> {
        let statement = format!(
            "SELECT CAST(next_not_cached_value AS SIGNED), CAST(increment AS SIGNED), CAST(minimum_value AS SIGNED), \
             CAST(maximum_value AS SIGNED), CAST(cycle_option AS SIGNED) FROM `{}`",
            target.name,
        );
        // An identifier contains no quotes.
        let query = sqlx::query_as(AssertSqlSafe(statement));
        let rows: Vec<(i64, i64, i64, i64, i64)> = query.fetch_all(connection).await?;
        let Some((next, increment, min, max, cycle)) = rows.into_iter().next() else {
            return Err(Error::unavailable(&target.source, "it has no row").into());
        };
        Ok(State { next, increment, min, max, cycles: cycle != 0 })
    }

    async fn values(connection: &mut MySqlConnection, target: &Target, count: i64) -> Result<Vec<i64>, sqlx::Error> {
        let mut transaction = connection.begin().await?;
        // MariaDB makes up the rows of this table, whose name gives their number.
        let statement = format!("SELECT NEXT VALUE FOR `{}` FROM seq_1_to_1000000 LIMIT ?", target.name);
        let query = sqlx::query_as(AssertSqlSafe(statement)).bind(count);
        let rows: Vec<(i64,)> = match query.fetch_all(&mut *transaction).await {
            Ok(rows) => rows,
            Err(error) => {
                if Self::is_run_out(&error) {
                    transaction.rollback().await?;
                }
                return Err(error);
            }
        };
        if !mutant::removes("guard") {
            // With a row to flush the transaction is durable.
            let query = sqlx::query(
                "INSERT INTO snowmint_guards (name, uses) VALUES (?, 1) ON DUPLICATE KEY UPDATE uses = uses + 1",
            );
            query.bind(target.name.as_str().as_bytes()).execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        Ok(rows.into_iter().map(|(number,)| number).collect())
    }

    fn is_run_out(error: &sqlx::Error) -> bool {
        has_number(error, &[SEQUENCE_RUN_OUT])
    }
}
