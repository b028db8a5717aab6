//! Connections and statements for `SQLite`.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;
use snowmint_core::durability::Engine;
use sqlx::ConnectOptions as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

use super::SCHEMA;
use super::settings::{self, Identity};
use crate::engines::sql::dialect::{Leaf, Raise, Tables};
use crate::engines::sql::{Dialect, Failure, Settings, Statements};
use crate::error::Error;
use crate::store::filesystem::refuse_lossy_place;
use crate::store::url::Url;

/// `SQLite`.
#[derive(Debug)]
pub struct LiteDialect {
    pub(super) path: PathBuf,
    pub(super) name: String,
    pub(super) timeout: Duration,
    pub(super) allow_unsafe: bool,
    pub(super) create: bool,
    /// The file in which the tables were made.
    pub(super) settled: OnceLock<Identity>,
}

impl LiteDialect {
    /// The dialect of a URL, whose file this is.
    pub(super) fn new(url: &Url, path: PathBuf) -> Self {
        let name = format!("SQLite at {}", path.display());
        let Url { timeout, allow_unsafe, create, .. } = *url;
        Self { path, name, timeout, allow_unsafe, create, settled: OnceLock::new() }
    }
}

const EXISTING: &str = "SELECT name FROM sqlite_master WHERE type = 'table'";

#[async_trait]
impl Dialect for LiteDialect {
    type Connection = SqliteConnection;

    const TABLES: Tables = Tables {
        names: &["snowmint_records", "snowmint_counters"],
        existing: EXISTING,
        schema: SCHEMA,
        constant: "sqlite::SCHEMA",
    };
    const ENGINE: Engine = Engine::Sqlite;
    /// One connection writes at a time: others would wait for its lock in pauses, instead of sharing its next transaction.
    const CONNECTIONS: u32 = 1;
    const STATEMENTS: Statements = Statements {
        read: "SELECT version, value FROM snowmint_records WHERE name = $1",
        flush: None,
        insert: Raise {
            change: "INSERT INTO snowmint_records (value, version, name) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING \
                     RETURNING version",
            read_back: None,
        },
        update: "UPDATE snowmint_records SET value = $1, version = $2 WHERE name = $3 AND version = $4 \
                 RETURNING version",
        list: "SELECT name, version, value FROM snowmint_records \
               WHERE name >= $1 AND name < $2 AND instr(substr(name, length($3) + 1), '/') = 0",
        add: Raise {
            change: "INSERT INTO snowmint_counters AS c (value, name) VALUES ($1, $2) ON CONFLICT (name) \
                     DO UPDATE SET value = c.value + $3 WHERE c.value <= 9223372036854775807 - $3 RETURNING value",
            read_back: None,
        },
        raise: Raise {
            change: "UPDATE snowmint_counters SET value = value + $1 \
                     WHERE name = $2 AND value <= 9223372036854775807 - $1 RETURNING value",
            read_back: None,
        },
        lower: "UPDATE snowmint_counters SET value = $1 WHERE name = $2 AND value = $3",
        clock: None,
    };
    const LEAF: Leaf = Leaf::numbered(EXISTING);

    async fn open(&self) -> Result<SqliteConnection, Failure> {
        if !self.still_there() {
            let why = "the file was removed or replaced since the store was connected, so numbers could repeat";
            return Err(Error::invalid_store(&self.name, why).into());
        }
        if !self.allow_unsafe {
            refuse_lossy_place(&self.name, &self.path, "allow_unsafe=true")?;
        }
        let create = self.create && self.settled.get().is_none();
        if create {
            settings::make_private(&self.path);
        }
        let options = SqliteConnectOptions::new()
            .filename(&self.path)
            .create_if_missing(create)
            .busy_timeout(self.timeout)
            .pragma("synchronous", "FULL")
            // On macOS a plain fsync lets the drive write later.
            .pragma("fullfsync", "ON")
            .disable_statement_logging();
        let mut connection = options.connect().await?;
        settings::write_ahead(&mut connection).await?;
        Ok(connection)
    }

    async fn settings(&self, connection: &mut SqliteConnection) -> Result<Settings, Failure> {
        let rows: Vec<(String, String)> = sqlx::query_as(settings::QUERY).fetch_all(connection).await?;
        Ok(rows.into_iter().collect())
    }

    fn still_there(&self) -> bool {
        self.settled.get().is_none_or(|file| *file == Identity::of(&self.path))
    }

    fn settle(&self) {
        self.settled.get_or_init(|| Identity::of(&self.path));
    }
}
