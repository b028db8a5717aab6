//! The settings of each engine.

use super::Kind;
use super::rule::{OFF, ON, Right, Rule, failover, reader, rewrite, rule, table};

pub(super) const POSTGRES: &[Rule] = &[
    rule("fsync", Right::OneOf(&["on"]), "", "set fsync=on in postgresql.conf and reload it"),
    rule("full_page_writes", Right::OneOf(&["on"]), "", "set full_page_writes=on in postgresql.conf and reload it"),
    // With any other value a commit waits for less.
    rule(
        "synchronous_commit",
        Right::OneOf(&["on", "remote_apply"]),
        " stays although it was set on this connection",
        "connect to the server itself instead of a pooler",
    ),
    table("table snowmint.records", "ALTER TABLE snowmint.records SET LOGGED"),
    table("table snowmint.counters", "ALTER TABLE snowmint.counters SET LOGGED"),
    table("table leaf_alloc", "ALTER TABLE leaf_alloc SET LOGGED"),
    reader("pg_is_in_recovery()", Right::OneOf(&["false", "f"]), ", it is a standby", "connect to the primary"),
    failover(
        "asynchronous_standby",
        Right::OneOf(&[""]),
        " with synchronous_standby_names=''",
        "name it in synchronous_standby_names in postgresql.conf, which makes every commit of this server wait for the \
         standby",
    ),
];

pub(super) const MYSQL: &[Rule] = &[
    rule(
        "innodb_flush_log_at_trx_commit",
        Right::OneOf(&["1"]),
        "",
        "SET GLOBAL innodb_flush_log_at_trx_commit=1, and in the configuration file",
    ),
    Rule {
        unless: Some(("log_bin", Right::OneOf(OFF))),
        ..rule(
            "sync_binlog",
            Right::OneOf(&["1"]),
            " with log_bin=ON",
            "SET GLOBAL sync_binlog=1, and in the configuration file",
        )
    },
    table("table snowmint_records", "ALTER TABLE snowmint_records ENGINE=InnoDB"),
    table("table snowmint_counters", "ALTER TABLE snowmint_counters ENGINE=InnoDB"),
    table("table snowmint_guards", "ALTER TABLE snowmint_guards ENGINE=InnoDB"),
    table("table leaf_alloc", "ALTER TABLE leaf_alloc ENGINE=InnoDB"),
    reader("read_only", Right::OneOf(OFF), ", as on a replica", "connect to the primary"),
    Rule {
        may_lack: true,
        ..reader("Slave_running", Right::OneOf(OFF), ", it is a replica", "connect to the primary")
    },
    // MariaDB says 1 from the begin of a shutdown on. A replica says so too, but one with an unnamed source says it above.
    Rule {
        kind: Kind::Ending,
        may_lack: true,
        ..reader(
            "Slaves_running",
            Right::OneOf(OFF),
            ", it is shutting down, or a replica of a named source",
            "wait, or connect to the primary",
        )
    },
    Rule {
        may_lack: true,
        unless: Some(("Rpl_semi_sync_master_status", Right::OneOf(ON))),
        ..failover(
            "Slaves_connected",
            Right::OneOf(OFF),
            " with rpl_semi_sync_master_enabled=OFF",
            "turn semi-synchronous replication on, on the primary and on the replica, which makes every commit of this \
             server wait for the replica",
        )
    },
];

pub(super) const REDIS: &[Rule] = &[
    reader("role", Right::OneOf(&["master"]), "", "name the primary"),
    rule(
        "aof_last_write_status",
        Right::OneOf(&["ok"]),
        "",
        "make room on the server's disk, or use a server that says ok",
    ),
    rule("appendonly", Right::OneOf(&["yes"]), "", "set appendonly yes in redis.conf"),
    rule("appendfsync", Right::OneOf(&["always"]), "", "set appendfsync always in redis.conf"),
    // With yes, Redis does not sync writes while a child process rewrites the file, despite appendfsync.
    rule("no-appendfsync-on-rewrite", Right::OneOf(&["no"]), "", "set no-appendfsync-on-rewrite no in redis.conf"),
    // After appendonly was turned on, no write is on disk until the first file is complete. Until then a rewrite is
    // scheduled or in progress. Redis does not report whether a rewrite makes the first file or a later one:
    // aof_base_size keeps its value when the log is turned off and on.
    rewrite("aof_rewrite_scheduled"),
    rewrite("aof_rewrite_in_progress"),
    // Other policies evict only keys with a time to live, and no key of snowmint has one.
    rule("maxmemory-policy", Right::NotBeginning("allkeys-"), "", "set maxmemory-policy noeviction in redis.conf"),
    // The client knows this setting itself; a server does not report it.
    Rule {
        may_lack: true,
        ..failover(
            SENTINEL,
            Right::OneOf(&["no"]),
            "",
            "use a server without Sentinel, which no other server replaces while it is down",
        )
    },
    failover(
        "cluster_enabled",
        Right::OneOf(&["0"]),
        "",
        "use a server outside of a cluster, which no other server replaces while it is down",
    ),
    failover(
        "connected_slaves",
        Right::OneOf(&["0"]),
        "",
        "use a server without replicas, which no other server replaces while it is down",
    ),
];

/// The name of the setting whether the client finds its server by Sentinel.
pub(super) const SENTINEL: &str = "sentinel";

pub(super) const SQLITE: &[Rule] = &[
    rule(
        "file",
        Right::NoneOf(&[""]),
        ", the database is in memory",
        "use the file of a database, or a memory store for tests",
    ),
    rule("journal_mode", Right::NoneOf(&["off", "memory"]), "", "PRAGMA journal_mode=WAL must be possible"),
    rule("synchronous", Right::OneOf(&["2", "3"]), "", "PRAGMA synchronous=FULL must be possible"),
    // A commit removes the journal, and FULL does not sync the removal: after a power loss the journal may be back.
    Rule {
        unless: Some(("journal_mode", Right::OneOf(&["wal", "truncate", "persist"]))),
        ..rule(
            "synchronous",
            Right::OneOf(&["3"]),
            " with journal_mode=delete",
            "PRAGMA synchronous=EXTRA or journal_mode=WAL must be possible",
        )
    },
];

pub(super) const NATS: &[Rule] = &[
    rule(
        "sync_interval",
        Right::OneOf(&["always"]),
        "",
        "set sync_interval: always in the block jetstream of the server's configuration, which needs nats-server 2.10 or \
         later, and restart the server",
    ),
    rule("storage", Right::OneOf(&["file"]), ", the bucket is in memory", "use a bucket with file storage"),
    Rule {
        may_lack: true,
        ..rule("persist_mode", Right::NoneOf(&["async"]), "", "use a bucket whose stream has the default persist_mode")
    },
    rule("max_age", Right::OneOf(&["0"]), " ns, records expire", "use a bucket without a time to live"),
    rule(
        "discard",
        Right::OneOf(&["new"]),
        ", a full bucket drops records",
        "use a bucket whose stream has discard new",
    ),
    Rule {
        may_lack: true,
        ..reader("mirror", Right::OneOf(&[""]), ", the bucket is a copy", "name the bucket that it mirrors")
    },
];

pub(super) const DYNAMODB: &[Rule] = &[
    // Regions accept writes without each other, and the later one wins.
    Rule {
        unless: Some(("multi_region_consistency", Right::OneOf(&["STRONG"]))),
        ..rule(
            "global_table_replicas",
            Right::OneOf(&["0"]),
            ", two regions can write the same record",
            "use a table of one region, or a global table with multi-Region strong consistency",
        )
    },
];
