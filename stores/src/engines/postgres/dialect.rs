//! Connections and statements for `PostgreSQL`.

use std::fmt;

use async_trait::async_trait;
use snowmint_core::durability::Engine;
use sqlx::ConnectOptions as _;
use sqlx::error::DatabaseError;
use sqlx::postgres::{PgConnectOptions, PgConnection};

use super::{SCHEMA, settings};
use crate::engines::sql::{Dialect, Failure, Refusal, Settings, Statements};
use crate::error::Error;

/// `PostgreSQL`.
pub struct PgDialect {
    pub(super) options: PgConnectOptions,
    pub(super) name: String,
}

#[async_trait]
impl Dialect for PgDialect {
    type Connection = PgConnection;

    const MODULE: &'static str = "postgres";
    const SCHEMA: &'static str = SCHEMA;
    const TABLES: &'static [&'static str] = &["snowmint_records", "snowmint_counters", "leaf_alloc"];
    const ENGINE: Engine = Engine::Postgres;
    const STATEMENTS: Statements = Statements {
        // A commit that still waits for a synchronous standby is visible if its session was cut off. This commit waits for
        // all earlier ones.
        flush: Some("SELECT pg_logical_emit_message(true, 'snowmint', 'read')"),
        clock: Some("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"),
        ..Statements::numbered(
            "SELECT t.name FROM (VALUES ('snowmint_records'), ('snowmint_counters'), ('leaf_alloc')) AS t(name) \
             WHERE to_regclass(t.name) IS NOT NULL",
            "SELECT name, version, value FROM snowmint_records \
             WHERE name COLLATE \"C\" >= $1 AND name COLLATE \"C\" < $2 \
             AND strpos(substr(name, length($3) + 1), '/') = 0",
        )
    };

    async fn open(&self) -> Result<PgConnection, Failure> {
        let mut connection = self.options.connect().await?;
        settings::cure(&mut connection).await?;
        Ok(connection)
    }

    async fn settings(&self, connection: &mut PgConnection) -> Result<Settings, Failure> {
        let rows: Vec<(String, String)> = sqlx::query_as(settings::QUERY).fetch_all(connection).await?;
        Ok(rows.into_iter().collect())
    }

    fn refuse_table(store: &str, table: &str, persistence: &str) -> Result<(), Error> {
        Err(settings::unlogged(store, "table", table, persistence))
    }

    fn refusal(error: &dyn DatabaseError) -> Refusal {
        match error.code().as_deref() {
            // Serialization failure, deadlock.
            Some("40001" | "40P01") => Refusal::Undone,
            // Unique violation, duplicate table, duplicate object.
            Some("23505" | "42P07" | "42710") => Refusal::Duplicate,
            _ => Refusal::Other,
        }
    }
}

// The options hold the password.
impl fmt::Debug for PgDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
