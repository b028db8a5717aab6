//! Statements and scripts that the stores of every language send to an engine.
//!
//! # Examples
//! ```
//! use snowmint_stores::scripts;
//! // For a role that may not make tables.
//! assert!(scripts::POSTGRES_SCHEMA.contains("CREATE TABLE IF NOT EXISTS snowmint.records"));
//! ```

/// The commands, one per line, whose answers are the settings of a Redis server. They are sent behind each request, in the
/// same round trip: the reply to the request counts only if these settings keep it.
pub const REDIS_LOOK: &str = include_str!("scripts/redis/look.txt");

/// A step of a Redis store, in Lua. Key: a hash. Arguments: a field, its expected version, and its new value.
pub const REDIS_WRITE: &str = include_str!("scripts/redis/write.lua");

/// A step of a Redis store, in Lua. Key: a counter. Arguments: the amount to add, and the sum for a new counter, empty if too large. Returns the sum, or nil if
/// it would be too large.
pub const REDIS_ADD: &str = include_str!("scripts/redis/add.lua");

/// Makes Leaf's table of segments.
pub const POSTGRES_LEAF: &str = include_str!("scripts/postgres/leaf.sql");

/// Makes Leaf's table of segments.
pub const MYSQL_LEAF: &str = include_str!("scripts/mysql/leaf.sql");

/// The names of the store's tables that exist, `leaf_alloc` in any schema: a second one in another schema would give its numbers
/// again.
pub const POSTGRES_EXISTING: &str = include_str!("scripts/postgres/existing.sql");

/// Makes the tables of records and counters in a schema of their own, whatever the `search_path` is. It refuses to, if a schema
/// has the tables of an earlier version: their nodes and numbers would be given again.
pub const POSTGRES_SCHEMA: &str = include_str!("scripts/postgres/schema.sql");

/// Reads the settings that decide whether the server keeps confirmed writes, and the tables that a crash empties.
///
/// `asynchronous_standby` is a standby that could be promoted without our last commits; a role that may not see standbys gets
/// a message. Subscribers of logical replication and backup tools are never promoted.
pub const POSTGRES_SETTINGS: &str = include_str!("scripts/postgres/settings.sql");

/// A query whose settings hold until the end of its transaction, and make its commit durable. It returns one row.
///
/// Of the values of `synchronous_commit` only `remote_apply` waits for more than `on`. A time limit of a statement would turn
/// the wait for a synchronous standby into a mere warning; a time limit for locks does not.
pub const POSTGRES_CURE: &str = include_str!("scripts/postgres/cure.sql");

/// Reads version and value of a record: key. A row that is found makes the commit wait for all earlier commits: a commit that
/// still waits for a synchronous standby is visible if its session was cut off.
pub const POSTGRES_READ: &str = include_str!("scripts/postgres/read.sql");

/// Adds a record, and returns a row if it did: value, version, key.
pub const POSTGRES_INSERT: &str = include_str!("scripts/postgres/insert.sql");

/// Replaces a record, and returns a row if it did: value, new version, key, expected version.
pub const POSTGRES_UPDATE: &str = include_str!("scripts/postgres/update.sql");

/// Adds to a counter and returns the sum, or no row beyond 2^63-1: sum for a new counter, counter, amount.
pub const POSTGRES_ADD: &str = include_str!("scripts/postgres/add.sql");

/// As [`POSTGRES_ADD`], for a counter that exists: amount, counter.
pub const POSTGRES_RAISE: &str = include_str!("scripts/postgres/raise.sql");

/// Reads Unix ms.
pub const POSTGRES_CLOCK: &str = include_str!("scripts/postgres/clock.sql");

/// Reads the version of the server, and the type of the object whose name replaces `{sequence}`; NULL without one.
pub const POSTGRES_OBJECT: &str = include_str!("scripts/postgres/object.sql");

/// Reads the state of a sequence, whose name replaces `{sequence}`. `snowmint_core::native::State` lists the columns.
///
/// `pg_sequence_last_value` waits while another session alters the sequence. A query of the sequence alone can find no row then.
pub const POSTGRES_SEQUENCE: &str = include_str!("scripts/postgres/sequence.sql");

/// Takes numbers of a sequence. Their number replaces `{count}`.
///
/// The message makes the server write to its log: `nextval` writes only for every 32nd value, and a statement that wrote nothing
/// is not flushed. A crash would lose the values between, and give them again, if another, still open transaction wrote for them.
pub const POSTGRES_NEXTVAL: &str = include_str!("scripts/postgres/nextval.sql");

/// Makes the tables of records, counters and guards.
pub const MYSQL_SCHEMA: &str = include_str!("scripts/mysql/schema.sql");

/// Reads the tables that a crash empties. It is a query for each table, so that the server does not read the whole list of
/// tables.
pub const MYSQL_TABLES: &str = include_str!("scripts/mysql/tables.sql");

/// A commit that waits for the flush of all earlier ones. `InnoDB` shows a commit before it is flushed.
pub const MYSQL_FLUSH: &str = include_str!("scripts/mysql/flush.sql");

/// Reads Unix ms. It reads UTC: `UNIX_TIMESTAMP` of a local time is wrong in one of the two hours that have the same local
/// time.
pub const MYSQL_CLOCK: &str = include_str!("scripts/mysql/clock.sql");

/// Reads the version of the server, and the type of the object whose name replaces `{sequence}`; NULL without one.
pub const MYSQL_OBJECT: &str = include_str!("scripts/mysql/object.sql");

/// Reads the state of a sequence of `MariaDB`, as [`POSTGRES_SEQUENCE`].
pub const MYSQL_SEQUENCE: &str = include_str!("scripts/mysql/sequence.sql");

/// Takes numbers of a sequence of `MariaDB`, as [`POSTGRES_NEXTVAL`], by a table that the server makes up: its name gives the number
/// of its rows. [`MYSQL_GUARD`] belongs into the same transaction.
pub const MYSQL_NEXTVAL: &str = include_str!("scripts/mysql/nextval.sql");

/// Writes a row for a sequence. Only a transaction with a row to flush is durable.
pub const MYSQL_GUARD: &str = include_str!("scripts/mysql/guard.sql");

/// Makes the tables of records and counters.
pub const SQLITE_SCHEMA: &str = include_str!("scripts/sqlite/schema.sql");
