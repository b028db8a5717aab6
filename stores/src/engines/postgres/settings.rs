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

/// What the server tells of itself: the settings in the order of the statement, and one of our tables that a crash empties.
type Told = (String, String, String, String, String, Option<Vec<String>>);

/// Refuses settings of the server under which a confirmed write can be lost, and tables of ours that a crash empties; what
/// a failover could lose.
pub(super) async fn look(store: &str, connection: &mut PgConnection) -> Result<Option<Error>, Failure> {
    // A standby that could be promoted without our last commits: who may not see what follows the server is told so. A
    // subscriber of logical replication and the tools that take backups are nothing that is failed over to.
    let query = sqlx::query_as(
        "SELECT current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'), \
         pg_is_in_recovery()::text, \
         coalesce((SELECT coalesce(r.application_name, 'one that only members of pg_monitor see') \
           FROM pg_stat_replication r WHERE current_setting('synchronous_standby_names') = '' \
           AND (r.state IS NULL OR r.sync_state = 'async' AND r.state IN ('catchup', 'streaming') \
           AND r.application_name NOT IN ('pg_basebackup', 'pg_receivewal')) \
           AND NOT EXISTS (SELECT FROM pg_replication_slots s WHERE s.active_pid = r.pid AND s.slot_type = 'logical') \
           LIMIT 1), ''), \
         (SELECT ARRAY[c.relname::text, c.relpersistence::text] FROM unnest($1) AS t(name) \
           JOIN pg_class c ON c.oid = to_regclass(t.name) WHERE c.relpersistence <> 'p' LIMIT 1)",
    );
    let rows: Vec<Told> = query.bind(&TABLES[..]).fetch_all(connection).await?;
    let Some((fsync, full_page_writes, synchronous_commit, in_recovery, follower, lossy)) = rows.into_iter().next()
    else {
        return Err(Error::unavailable(store, "it does not tell its settings").into());
    };
    let found = HashMap::from([
        ("fsync", fsync),
        ("full_page_writes", full_page_writes),
        ("synchronous_commit", synchronous_commit),
        ("pg_is_in_recovery()", in_recovery),
        ("asynchronous_standby", follower),
    ]);
    let value = |name: &str| found.get(name).map(String::as_str);
    Error::refuse_unsafe(store, Engine::Postgres, value)?;
    if let Some([table, persistence]) = lossy.as_deref() {
        return Err(unlogged(store, "table", table, persistence).into());
    }
    Ok(Error::standby_risk(store, Engine::Postgres, value))
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
