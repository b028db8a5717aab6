//! Whether what the server confirms stays.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::Duration;

use snowmint_core::durability::Engine;
use sqlx::mysql::MySqlConnection;
use sqlx::{AssertSqlSafe, Row};

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

/// What the names of our tables have in front where the server tells its settings.
const TABLE: &str = "table ";

/// Refuses settings of the server under which a confirmed write can be lost, a server that follows another, and tables of
/// ours that a crash can empty; what a failover could lose.
pub(super) async fn look(store: &str, connection: &mut MySqlConnection) -> Result<Option<Error>, Failure> {
    let mut found = HashMap::new();
    // Three answers to one request.
    for row in sqlx::raw_sql(AssertSqlSafe(LOOK.as_str())).fetch_all(connection).await? {
        let (name, value): (Vec<u8>, Vec<u8>) = (row.try_get_unchecked(0)?, row.try_get_unchecked(1)?);
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        found.insert(text(name).to_ascii_lowercase(), text(value));
    }
    let value = |name: &str| found.get(&name.to_ascii_lowercase()).map(String::as_str);
    Error::refuse_unsafe(store, Engine::Mysql, value)?;
    let mut tables = found.iter().filter_map(|(name, engine)| Some((name.strip_prefix(TABLE)?, engine)));
    if let Some((table, engine)) = tables.find(|(_, engine)| !is_innodb(engine)) {
        return Err(not_innodb(store, table, engine).into());
    }
    Ok(Error::standby_risk(store, Engine::Mysql, value))
}

static LOOK: LazyLock<String> = LazyLock::new(|| {
    // Those of a list that is our own, and no more than letters and underscores.
    let names: Vec<_> = Engine::Mysql.settings().map(|name| format!("'{name}'")).collect();
    let settings =
        ["VARIABLES", "STATUS"].map(|what| format!("SHOW GLOBAL {what} WHERE Variable_name IN ({})", names.join(", ")));
    // One table at a time, which the server need not look for among all those of the database.
    let tables = schema::TABLES.map(|table| {
        format!(
            "SELECT '{TABLE}{table}', CAST(COALESCE(engine, 'none') AS CHAR) FROM information_schema.tables \
             WHERE table_schema = DATABASE() AND table_name = '{table}'"
        )
    });
    format!("{}; {}", settings.join("; "), tables.join(" UNION ALL "))
});

pub(super) fn is_innodb(engine: &str) -> bool {
    engine.eq_ignore_ascii_case("InnoDB")
}

pub(super) fn not_innodb(store: &str, table: &str, engine: &str) -> Error {
    let found = format!("the table {table} has ENGINE={engine}");
    Error::unsafe_store(store, &found, &format!("ALTER TABLE {table} ENGINE=InnoDB"))
}
