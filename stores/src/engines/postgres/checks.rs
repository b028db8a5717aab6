//! Whether what the server confirms stays.

use std::collections::HashMap;

use snowmint_core::durability::Engine;
use sqlx::postgres::PgConnection;

use super::TABLES;
use crate::engines::sql::Failure;
use crate::error::Error;

/// Sets on our own connection what makes our own commits safe, whatever the server, the database or the role says.
pub(super) async fn cure(connection: &mut PgConnection) -> Result<(), Failure> {
    // `remote_apply` waits for more than `on`; all others wait for less. A statement's time limit would turn the wait for a
    // synchronous standby into a mere warning.
    let query = sqlx::query_as(
        "SELECT set_config('synchronous_commit', \
           CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false), \
         set_config('statement_timeout', '0', false), \
         set_config('default_transaction_isolation', 'read committed', false)",
    );
    let _rows: Vec<(String, String, String)> = query.fetch_all(connection).await?;
    Ok(())
}

/// Refuses settings of the server under which a confirmed write can be lost.
pub(super) async fn settings(store: &str, connection: &mut PgConnection) -> Result<(), Failure> {
    let query = sqlx::query_as(
        "SELECT current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'), \
         pg_is_in_recovery()::text, current_setting('synchronous_standby_names')",
    );
    let rows: Vec<(String, String, String, String, String)> = query.fetch_all(&mut *connection).await?;
    let Some((fsync, full_page_writes, synchronous_commit, in_recovery, synchronous_standbys)) =
        rows.into_iter().next()
    else {
        return Err(Error::unavailable(store, "it does not tell its settings").into());
    };
    let follower = if synchronous_standbys.is_empty() {
        asynchronous_standby(connection).await?.unwrap_or_default()
    } else {
        String::new()
    };
    let found = HashMap::from([
        ("fsync", fsync),
        ("full_page_writes", full_page_writes),
        ("synchronous_commit", synchronous_commit),
        ("pg_is_in_recovery()", in_recovery),
        ("asynchronous_standby", follower),
    ]);
    Ok(Error::refuse_unsafe(store, Engine::Postgres, |name| found.get(name).map(String::as_str))?)
}

/// A standby that could be promoted without our last commits. Who may not see what follows the server is told so.
async fn asynchronous_standby(connection: &mut PgConnection) -> Result<Option<String>, Failure> {
    // A subscriber of logical replication and the tools that take backups are nothing that is failed over to.
    let query = sqlx::query_as(
        "SELECT coalesce(r.application_name, 'one that only members of pg_monitor see') FROM pg_stat_replication r \
         WHERE (r.state IS NULL OR r.sync_state = 'async' AND r.state IN ('catchup', 'streaming') \
         AND r.application_name NOT IN ('pg_basebackup', 'pg_receivewal')) \
         AND NOT EXISTS (SELECT FROM pg_replication_slots s WHERE s.active_pid = r.pid AND s.slot_type = 'logical')",
    );
    let rows: Vec<(String,)> = query.fetch_all(connection).await?;
    Ok(rows.into_iter().next().map(|(name,)| name))
}

/// Refuses tables of ours that a crash empties.
pub(super) async fn tables(store: &str, connection: &mut PgConnection) -> Result<(), Failure> {
    let query = sqlx::query_as(
        "SELECT c.relname::text, c.relpersistence::text FROM unnest($1) AS t(name) \
         JOIN pg_class c ON c.oid = to_regclass(t.name) WHERE c.relpersistence <> 'p'",
    );
    let rows: Vec<(String, String)> = query.bind(&TABLES[..]).fetch_all(connection).await?;
    match rows.into_iter().next() {
        Some((table, persistence)) => Err(unlogged(store, "table", &table, &persistence).into()),
        None => Ok(()),
    }
}

pub(super) fn unlogged(store: &str, what: &str, name: &str, persistence: &str) -> Error {
    let found = format!("the {what} {name} is {}", if persistence == "t" { "temporary" } else { "unlogged" });
    let cure = if persistence == "t" {
        format!("drop it and make a permanent {what}")
    } else {
        format!("ALTER {} {name} SET LOGGED", what.to_uppercase())
    };
    Error::unsafe_store(store, format_args!("{found} (relpersistence={persistence})"), &cure)
}
