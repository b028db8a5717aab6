//! Connections and statements for `PostgreSQL`.

use std::fmt;

use async_trait::async_trait;
use snowmint_core::durability::Engine;
use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgConnection};

use super::{SCHEMA, message};
use crate::engines::sql::{Dialect, Failure, Settings, Statements};
use crate::scripts::{POSTGRES_CLOCK, POSTGRES_READ, POSTGRES_SETTINGS};

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
        read: POSTGRES_READ,
        clock: Some(POSTGRES_CLOCK),
        ..Statements::numbered(
            "SELECT t.name FROM (VALUES ('snowmint_records'), ('snowmint_counters'), ('leaf_alloc')) AS t(name) \
             WHERE to_regclass(t.name) IS NOT NULL",
            "SELECT name, version, value FROM snowmint_records \
             WHERE name COLLATE \"C\" >= $1 AND name COLLATE \"C\" < $2 \
             AND strpos(substr(name, length($3) + 1), '/') = 0",
        )
    };

    async fn open(&self) -> Result<PgConnection, Failure> {
        Ok(self.options.connect().await?)
    }

    async fn settings(&self, connection: &mut PgConnection) -> Result<Settings, Failure> {
        let rows: Vec<(String, String)> = message::rows(connection, POSTGRES_SETTINGS).await?;
        Ok(rows.into_iter().collect())
    }
}

// The options hold the password.
impl fmt::Debug for PgDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
