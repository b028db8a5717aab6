//! Our tables.

use sqlx::mysql::MySqlConnection;

use crate::engines::sql::{self, Failure};

/// The tables of a store, in SQL: for roles that may not make them.
pub const SCHEMA: &str = include_str!("schema.sql");

/// Flickr's table of tickets, which [`Mysql::tickets`](super::Mysql::tickets) makes, in SQL.
pub const TICKETS_SCHEMA: &str = include_str!("tickets.sql");

pub(super) const TABLES: [&str; 4] = ["snowmint_records", "snowmint_counters", "snowmint_guards", "leaf_alloc"];

/// Those of our tables that are there, with their storage engine.
pub(super) async fn existing(connection: &mut MySqlConnection) -> Result<Vec<(&'static str, String)>, Failure> {
    let query = sqlx::query_as(
        "SELECT CAST(table_name AS CHAR), CAST(COALESCE(engine, 'none') AS CHAR) FROM information_schema.tables \
         WHERE table_schema = DATABASE() \
         AND table_name IN ('snowmint_records', 'snowmint_counters', 'snowmint_guards', 'leaf_alloc')",
    );
    let rows: Vec<(String, String)> = query.fetch_all(connection).await?;
    let known = |name: &str| TABLES.into_iter().find(|table| table.eq_ignore_ascii_case(name));
    Ok(rows.into_iter().filter_map(|(name, engine)| Some((known(&name)?, engine))).collect())
}

/// A table that is not there.
pub(super) async fn missing(connection: &mut MySqlConnection) -> Result<Option<&'static str>, Failure> {
    let found = existing(connection).await?;
    Ok(TABLES.into_iter().find(|table| !found.iter().any(|(name, _)| name == table)))
}

/// Makes the tables, unless all are there: a role may have no right to.
pub(super) async fn make(store: &str, connection: &mut MySqlConnection, create: bool) -> Result<(), Failure> {
    let Some(table) = missing(connection).await? else { return Ok(()) };
    if !create {
        return Err(sql::no_table(store, table, "mysql").into());
    }
    let made = sqlx::raw_sql(SCHEMA).execute(&mut *connection).await;
    made.map_err(|error| sql::not_made(store, table, "mysql", &error))?;
    Ok(())
}
