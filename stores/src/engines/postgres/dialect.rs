//! Connections and statements for `PostgreSQL`.

use std::fmt;

use async_trait::async_trait;
use snowmint_core::durability::Engine;
use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgConnection};

use super::{SCHEMA, message};
use crate::engines::sql::dialect::{Leaf, Raise, Tables};
use crate::engines::sql::{Dialect, Failure, Settings, Statements};
use crate::scripts::{
    POSTGRES_ADD, POSTGRES_CLOCK, POSTGRES_EXISTING, POSTGRES_INSERT, POSTGRES_RAISE, POSTGRES_READ, POSTGRES_SETTINGS,
    POSTGRES_UPDATE,
};

/// `PostgreSQL`.
pub struct PgDialect {
    pub(super) options: PgConnectOptions,
    pub(super) name: String,
}

#[async_trait]
impl Dialect for PgDialect {
    type Connection = PgConnection;

    const TABLES: Tables = Tables {
        names: &["snowmint.records", "snowmint.counters"],
        existing: POSTGRES_EXISTING,
        schema: SCHEMA,
        constant: "postgres::SCHEMA",
    };
    const ENGINE: Engine = Engine::Postgres;
    const STATEMENTS: Statements = Statements {
        read: POSTGRES_READ,
        flush: None,
        insert: Raise { change: POSTGRES_INSERT, read_back: None },
        update: POSTGRES_UPDATE,
        list: "SELECT name, version, value FROM snowmint.records \
               WHERE name COLLATE \"C\" >= $1 AND name COLLATE \"C\" < $2 \
               AND strpos(substr(name, length($3) + 1), '/') = 0",
        add: Raise { change: POSTGRES_ADD, read_back: None },
        raise: Raise { change: POSTGRES_RAISE, read_back: None },
        lower: "UPDATE snowmint.counters SET value = $1 WHERE name = $2 AND value = $3",
        clock: Some(POSTGRES_CLOCK),
    };
    const LEAF: Leaf = Leaf::numbered(POSTGRES_EXISTING);

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
