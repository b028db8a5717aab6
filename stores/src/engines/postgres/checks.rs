//! Whether what the server confirms stays.

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
         pg_is_in_recovery(), current_setting('synchronous_standby_names')",
    );
    let rows: Vec<(String, String, String, bool, String)> = query.fetch_all(&mut *connection).await?;
    let Some((fsync, full_page_writes, synchronous_commit, standby, synchronous_standbys)) = rows.into_iter().next()
    else {
        return Err(Error::unavailable(store, "it does not tell its settings").into());
    };
    let refuse = |found: String, cure: &str| Err(Failure::Told(Error::unsafe_store(store, &found, cure)));
    for (setting, value) in [("fsync", fsync), ("full_page_writes", full_page_writes)] {
        if value != "on" {
            return refuse(format!("{setting}={value}"), &format!("set {setting}=on in postgresql.conf and reload it"));
        }
    }
    if synchronous_commit != "on" && synchronous_commit != "remote_apply" {
        return refuse(
            format!("synchronous_commit={synchronous_commit} stays although it was set on this connection"),
            "connect to the server itself instead of a pooler",
        );
    }
    if standby {
        return refuse("pg_is_in_recovery()=true, it is a standby".to_owned(), "connect to the primary");
    }
    if synchronous_standbys.is_empty()
        && let Some(follower) = asynchronous_standby(connection).await?
    {
        return refuse(
            format!("synchronous_standby_names='' while the standby {follower:?} follows (sync_state=async)"),
            "name it in synchronous_standby_names in postgresql.conf",
        );
    }
    Ok(())
}

/// A standby that could be promoted without our last commits. Visible to superusers and members of `pg_monitor`.
async fn asynchronous_standby(connection: &mut PgConnection) -> Result<Option<String>, Failure> {
    // A subscriber of logical replication and the tools that take backups are nothing that is failed over to.
    let query = sqlx::query_as(
        "SELECT r.application_name FROM pg_stat_replication r \
         WHERE r.sync_state = 'async' AND r.state IN ('catchup', 'streaming') \
         AND r.application_name NOT IN ('pg_basebackup', 'pg_receivewal') \
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
    Error::unsafe_store(store, &format!("{found} (relpersistence={persistence})"), &cure)
}
