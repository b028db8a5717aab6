//! Connections and statements for `MariaDB` and `MySQL`.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use snowmint_core::durability::Engine;
use sqlx::ConnectOptions as _;
use sqlx::error::DatabaseError;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection, MySqlDatabaseError};

use super::{SCHEMA, settings};
use crate::engines::sql::dialect::{LEAF_ALLOC, Leaf, Raise, Tables};
use crate::engines::sql::query::Value;
use crate::engines::sql::{Dialect, Failure, Settings, Statements};
use crate::scripts::{MYSQL_CLOCK, MYSQL_FLUSH, MYSQL_LEAF};

/// `MariaDB` and `MySQL`.
pub struct MyDialect {
    pub(super) options: MySqlConnectOptions,
    pub(super) name: String,
    pub(super) timeout: Duration,
    pub(super) allow_unsafe: bool,
    pub(super) create: bool,
}

#[async_trait]
impl Dialect for MyDialect {
    type Connection = MySqlConnection;

    const TABLES: Tables = Tables {
        names: &["snowmint_records", "snowmint_counters", "snowmint_guards"],
        existing: EXISTING,
        schema: SCHEMA,
        constant: "mysql::SCHEMA",
    };
    const ENGINE: Engine = Engine::Mysql;
    const STATEMENTS: Statements = Statements {
        read: "SELECT version, value FROM snowmint_records WHERE name = ?",
        flush: Some(MYSQL_FLUSH),
        // Not INSERT IGNORE, which would cut long values.
        insert: Raise {
            change: "INSERT INTO snowmint_records (value, version, name) VALUES (?, ?, ?) \
                     ON DUPLICATE KEY UPDATE version = version",
            read_back: Some("SELECT version FROM snowmint_records WHERE name = ?"),
        },
        update: "UPDATE snowmint_records SET value = ?, version = ? WHERE name = ? AND version = ?",
        // Keys are ASCII, and latin1 gives every byte a letter.
        list: "SELECT CONVERT(name USING latin1), version, value FROM snowmint_records \
               WHERE name >= ? AND name < ? AND LOCATE('/', name, LENGTH(?) + 1) = 0",
        add: Raise {
            change: "INSERT INTO snowmint_counters (value, name) VALUES (?, ?) \
                     ON DUPLICATE KEY UPDATE value = value + ?",
            read_back: READ_COUNTER,
        },
        raise: Raise {
            change: "UPDATE snowmint_counters SET value = value + ? WHERE name = ?",
            read_back: READ_COUNTER,
        },
        lower: "UPDATE snowmint_counters SET value = ? WHERE name = ? AND value = ?",
        clock: Some(MYSQL_CLOCK),
    };
    const LEAF: Leaf = Leaf {
        tables: Tables { names: LEAF_ALLOC, existing: EXISTING, schema: MYSQL_LEAF, constant: "scripts::MYSQL_LEAF" },
        tag: "SELECT CAST(COALESCE(description, '') AS CHAR), CAST(max_id AS SIGNED), CAST(step AS SIGNED) \
              FROM leaf_alloc WHERE biz_tag = ?",
        create: "INSERT INTO leaf_alloc (biz_tag, max_id, step, description) VALUES (?, ?, ?, ?)",
        tags: "SELECT CAST(biz_tag AS CHAR) FROM leaf_alloc ORDER BY biz_tag",
        // As Leaf does it.
        fetch: Raise {
            change: "UPDATE leaf_alloc SET max_id = max_id + ? WHERE biz_tag = ? AND max_id >= 0",
            read_back: Some("SELECT CAST(max_id AS SIGNED) FROM leaf_alloc WHERE biz_tag = ?"),
        },
        lower: "UPDATE leaf_alloc SET max_id = ? WHERE biz_tag = ? AND max_id = ?",
    };

    async fn open(&self) -> Result<MySqlConnection, Failure> {
        let mut connection = self.options.connect().await?;
        settings::cure(&mut connection, self.timeout).await?;
        settings::database(&self.name, &mut connection).await?;
        Ok(connection)
    }

    async fn settings(&self, connection: &mut MySqlConnection) -> Result<Settings, Failure> {
        settings::read(connection).await
    }

    fn code(error: &dyn DatabaseError) -> String {
        number(error).to_string()
    }

    // The columns are binary, for an exact comparison.
    fn key(key: &str) -> Value {
        Value::Bytes(key.as_bytes().to_owned())
    }
}

const EXISTING: &str = "SELECT CAST(table_name AS CHAR) FROM information_schema.tables WHERE table_schema = DATABASE() \
    AND table_name IN ('snowmint_records', 'snowmint_counters', 'snowmint_guards', 'leaf_alloc')";
const READ_COUNTER: Option<&str> = Some("SELECT value FROM snowmint_counters WHERE name = ?");

/// Returns the number of a server's error. 0 for other errors.
fn number(error: &dyn DatabaseError) -> u16 {
    error.try_downcast_ref::<MySqlDatabaseError>().map_or(0, MySqlDatabaseError::number)
}

/// Returns whether an error is the server's, with one of these numbers.
pub(super) fn has_number(error: &sqlx::Error, numbers: &[u16]) -> bool {
    error.as_database_error().is_some_and(|error| numbers.contains(&number(error)))
}

// The options hold the password.
impl fmt::Debug for MyDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
