//! Our tables.

use std::time::Duration;

use sqlx::error::DatabaseError;
use sqlx::postgres::PgConnection;
use tokio::time::sleep;

use crate::engines::sql::{self, Failure};

/// The tables of a store, in SQL: for roles that may not make them.
pub const SCHEMA: &str = include_str!("schema.sql");

pub(super) const TABLES: [&str; 3] = ["snowmint_records", "snowmint_counters", "leaf_alloc"];

/// How often the tables are made while other processes make them too.
const TRIES: u32 = 20;

/// A table that is not there.
pub(super) async fn missing(connection: &mut PgConnection) -> Result<Option<&'static str>, Failure> {
    let query = sqlx::query_as("SELECT t.name FROM unnest($1) AS t(name) WHERE to_regclass(t.name) IS NULL");
    let rows: Vec<(String,)> = query.bind(&TABLES[..]).fetch_all(connection).await?;
    Ok(TABLES.into_iter().find(|table| rows.iter().any(|(name,)| name == table)))
}

/// Makes the tables, unless all are there: a role may have no right to.
pub(super) async fn make(store: &str, connection: &mut PgConnection, create: bool) -> Result<(), Failure> {
    let mut tries = 0;
    while let Some(table) = missing(connection).await? {
        if !create {
            return Err(sql::no_table(store, table, "postgres").into());
        }
        let Err(error) = sqlx::raw_sql(SCHEMA).execute(&mut *connection).await else { continue };
        tries += 1;
        // IF NOT EXISTS does not see what another transaction is about to make: unique violation, duplicate table, object.
        let code = error.as_database_error().and_then(DatabaseError::code);
        if tries == TRIES || !code.is_some_and(|code| ["23505", "42P07", "42710", "40P01"].contains(&&*code)) {
            return Err(sql::not_made(store, table, "postgres", &error).into());
        }
        sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}
