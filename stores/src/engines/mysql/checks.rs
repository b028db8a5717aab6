//! Whether what the server confirms stays.

use std::collections::HashMap;
use std::time::Duration;

use sqlx::Row;
use sqlx::mysql::MySqlConnection;

use super::schema;
use crate::engines::sql::Failure;
use crate::error::Error;

/// Sets on our own connection what our statements rely on, whatever the server says.
pub(super) async fn cure(connection: &mut MySqlConnection, timeout: Duration) -> Result<(), Failure> {
    // With `completion_type` CHAIN what follows a COMMIT would be in a transaction that nobody commits.
    let query = sqlx::query(
        "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', autocommit = 1, completion_type = 'NO_CHAIN', \
         innodb_lock_wait_timeout = ?",
    );
    let seconds = timeout.as_millis().div_ceil(1000).max(1);
    query.bind(i64::try_from(seconds).unwrap_or(600)).execute(&mut *connection).await?;
    sqlx::query("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED").execute(connection).await?;
    Ok(())
}

/// The URL has to name one.
pub(super) async fn database(store: &str, connection: &mut MySqlConnection) -> Result<(), Failure> {
    let rows: Vec<(Option<String>,)> = sqlx::query_as("SELECT DATABASE()").fetch_all(connection).await?;
    if rows.iter().any(|(database,)| database.is_some()) {
        return Ok(());
    }
    Err(Error::unavailable(store, "its URL names no database: mysql://USER@HOST/DATABASE").into())
}

/// Refuses settings of the server under which a confirmed write can be lost.
pub(super) async fn settings(store: &str, connection: &mut MySqlConnection) -> Result<(), Failure> {
    let query = sqlx::query_as(
        "SELECT CAST(@@GLOBAL.innodb_flush_log_at_trx_commit AS CHAR), CAST(@@GLOBAL.log_bin AS CHAR), \
         CAST(@@GLOBAL.sync_binlog AS CHAR), CAST(@@GLOBAL.read_only AS CHAR)",
    );
    let rows: Vec<(String, String, String, String)> = query.fetch_all(connection).await?;
    let Some((flush, log_bin, sync_binlog, read_only)) = rows.into_iter().next() else {
        return Err(Error::unavailable(store, "it does not tell its settings").into());
    };
    let is_off = |value: &str| value == "0" || value.eq_ignore_ascii_case("off");
    let refuse = |found: String, cure: &str| Err(Failure::Told(Error::unsafe_store(store, &found, cure)));
    if flush != "1" {
        return refuse(
            format!("innodb_flush_log_at_trx_commit={flush}"),
            "SET GLOBAL innodb_flush_log_at_trx_commit=1, and in the configuration file",
        );
    }
    if !is_off(&log_bin) && sync_binlog != "1" {
        return refuse(
            format!("sync_binlog={sync_binlog} with log_bin=ON"),
            "SET GLOBAL sync_binlog=1, and in the configuration file",
        );
    }
    if !is_off(&read_only) {
        return refuse(format!("read_only={read_only}, as on a replica"), "connect to the primary");
    }
    Ok(())
}

/// Refuses a server that follows another, and one whose followers could take over without our last commits.
pub(super) async fn replication(store: &str, connection: &mut MySqlConnection) -> Result<(), Failure> {
    let query = sqlx::query(
        "SHOW GLOBAL STATUS WHERE Variable_name IN \
         ('Slave_running', 'Slaves_running', 'Slaves_connected', 'Rpl_semi_sync_master_status')",
    );
    let mut status = HashMap::new();
    for row in query.fetch_all(connection).await? {
        let (name, value): (Vec<u8>, Vec<u8>) = (row.try_get_unchecked(0)?, row.try_get_unchecked(1)?);
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).to_ascii_lowercase();
        status.insert(text(name), text(value));
    }
    let value = |name: &str| status.get(name).map_or("0", String::as_str);
    let refuse = |found: String, cure: &str| Err(Failure::Told(Error::unsafe_store(store, &found, cure)));
    if value("slave_running") == "on" || value("slaves_running") != "0" {
        let running = value("slaves_running");
        return refuse(format!("Slaves_running={running}, it is a replica"), "connect to the primary");
    }
    let followers = value("slaves_connected");
    let semi_sync = value("rpl_semi_sync_master_status");
    if followers != "0" && semi_sync != "on" && semi_sync != "1" {
        return refuse(
            format!("Slaves_connected={followers} with rpl_semi_sync_master_enabled=OFF"),
            "turn semi-synchronous replication on, on the primary and on the replica",
        );
    }
    Ok(())
}

/// Refuses tables of ours that a crash can empty.
pub(super) async fn tables(store: &str, connection: &mut MySqlConnection) -> Result<(), Failure> {
    let found = schema::existing(connection).await?;
    match found.iter().find(|(_, engine)| !is_innodb(engine)) {
        Some((table, engine)) => Err(not_innodb(store, table, engine).into()),
        None => Ok(()),
    }
}

pub(super) fn is_innodb(engine: &str) -> bool {
    engine.eq_ignore_ascii_case("InnoDB")
}

pub(super) fn not_innodb(store: &str, table: &str, engine: &str) -> Error {
    let found = format!("the table {table} has ENGINE={engine}");
    Error::unsafe_store(store, &found, &format!("ALTER TABLE {table} ENGINE=InnoDB"))
}
