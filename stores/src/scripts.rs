//! Statements and scripts that the stores of every language send to an engine.

/// A step of a Redis store, in Lua. Key: a hash. Arguments: a field, its expected version, and its new value.
pub const REDIS_WRITE: &str = include_str!("scripts/redis/write.lua");

/// A step of a Redis store, in Lua. Key: a counter. Arguments: the amount to add, and the sum for a new counter, empty if too large. Returns the sum, or nil if
/// it would be too large.
pub const REDIS_ADD: &str = include_str!("scripts/redis/add.lua");

/// Makes the tables of records and counters.
pub const POSTGRES_SCHEMA: &str = include_str!("scripts/postgres/schema.sql");

/// Reads the settings that decide whether the server keeps confirmed writes, and the tables that a crash empties.
///
/// `asynchronous_standby` is a standby that could be promoted without our last commits; a role that may not see standbys gets
/// a sentence. Subscribers of logical replication and backup tools are never promoted.
pub const POSTGRES_SETTINGS: &str = include_str!("scripts/postgres/settings.sql");

/// A commit that waits for all earlier ones. A commit that still waits for a synchronous standby is visible if its session was
/// cut off.
pub const POSTGRES_FLUSH: &str = include_str!("scripts/postgres/flush.sql");

/// Reads Unix ms.
pub const POSTGRES_CLOCK: &str = include_str!("scripts/postgres/clock.sql");

/// Makes the tables of records, counters and guards.
pub const MYSQL_SCHEMA: &str = include_str!("scripts/mysql/schema.sql");

/// Reads the tables that a crash empties. It is a query for each table, so that the server does not read the whole list of
/// tables.
pub const MYSQL_TABLES: &str = include_str!("scripts/mysql/tables.sql");

/// A commit that waits for the flush of all earlier ones. `InnoDB` shows a commit before it is flushed.
pub const MYSQL_FLUSH: &str = include_str!("scripts/mysql/flush.sql");

/// Reads Unix ms.
pub const MYSQL_CLOCK: &str = include_str!("scripts/mysql/clock.sql");

/// Makes the tables of records and counters.
pub const SQLITE_SCHEMA: &str = include_str!("scripts/sqlite/schema.sql");
