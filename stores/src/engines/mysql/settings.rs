//! Settings that decide whether the server keeps confirmed writes.

use std::sync::LazyLock;
use std::time::Duration;

use snowmint_core::durability::Engine;
use sqlx::mysql::MySqlConnection;
use sqlx::{AssertSqlSafe, Row};

use crate::engines::sql::dialect::{Failure, Settings};
use crate::engines::sql::identifier::Identifier;
use crate::error::Error;
use crate::scripts::MYSQL_TABLES;

/// Sets the settings of this connection that the statements rely on, whatever the server's settings.
pub(super) async fn cure(connection: &mut MySqlConnection, timeout: Duration) -> Result<(), Failure> {
    // With `completion_type` CHAIN the statements after a COMMIT would be in a transaction without a commit.
    let query = sqlx::query(
        "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', autocommit = 1, completion_type = 'NO_CHAIN', \
         innodb_lock_wait_timeout = ?",
    );
    let seconds = timeout.as_millis().div_ceil(1000).max(1);
    query.bind(i64::try_from(seconds).unwrap_or(600)).execute(&mut *connection).await?;
    sqlx::query("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED").execute(connection).await?;
    Ok(())
}

/// Refuses a URL without a database.
pub(super) async fn database(store: &str, connection: &mut MySqlConnection) -> Result<(), Failure> {
    let rows: Vec<(Option<String>,)> = sqlx::query_as("SELECT DATABASE()").fetch_all(connection).await?;
    if rows.iter().any(|(database,)| database.is_some()) {
        return Ok(());
    }
    Err(Error::invalid_store(store, "its URL names no database: mysql://USER@HOST/DATABASE").into())
}

/// Reads the settings of the server and the storage engines of the tables, by names in lower case.
pub(super) async fn read(connection: &mut MySqlConnection) -> Result<Settings, Failure> {
    let mut settings = Settings::new();
    // One request with three answers.
    for row in sqlx::raw_sql(AssertSqlSafe(QUERIES.as_str())).fetch_all(connection).await? {
        let (name, value): (Vec<u8>, Vec<u8>) = (row.try_get_unchecked(0)?, row.try_get_unchecked(1)?);
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        settings.insert(text(name).to_ascii_lowercase(), text(value));
    }
    Ok(settings)
}

/// The queries of [`read`].
static QUERIES: LazyLock<String> = LazyLock::new(|| {
    // The names come from a constant list, and contain only letters and underscores.
    let names: Vec<_> = Engine::Mysql.settings().map(|name| format!("'{name}'")).collect();
    let settings =
        ["VARIABLES", "STATUS"].map(|what| format!("SHOW GLOBAL {what} WHERE Variable_name IN ({})", names.join(", ")));
    format!("{}; {MYSQL_TABLES}", settings.join("; "))
});

/// Refuses a table or sequence of another engine than `InnoDB`: `UnsafeStore`.
pub(super) fn refuse_engine(store: &str, table: &str, engine: &str) -> Result<(), Error> {
    if engine.eq_ignore_ascii_case("InnoDB") {
        return Ok(());
    }
    let found = format!("the table {table} has ENGINE={engine}");
    Err(Error::unsafe_store(store, &found, &format!("ALTER TABLE {table} ENGINE=InnoDB")))
}

/// Reads type and storage engine of a table or sequence. `None` if it does not exist.
pub(super) async fn table(
    connection: &mut MySqlConnection,
    name: &Identifier,
) -> Result<Option<(String, String)>, sqlx::Error> {
    let query = sqlx::query_as(
        "SELECT CAST(table_type AS CHAR), CAST(COALESCE(engine, 'none') AS CHAR) FROM information_schema.tables \
         WHERE table_schema = DATABASE() AND table_name = ?",
    );
    let rows: Vec<(String, String)> = query.bind(name.as_str()).fetch_all(connection).await?;
    Ok(rows.into_iter().next())
}
