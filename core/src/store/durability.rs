//! Settings of engines under which confirmed writes can be lost. The drivers of all languages use this table.
//!
//! A driver asks the engine for [`Engine::settings`] with each write, and hands the answers to [`Engine::refuse`] and
//! [`Engine::standby_risk`]. Sources: a test in which confirmed writes were lost, or the engine's manual, for writes
//! that are lost in a crash of the machine.
//!
//! | kind | such as | at a claim | at a renewal or fetch |
//! | --- | --- | --- | --- |
//! | [`Kind::Crash`] | `fsync=off`, `appendonly no` | refused, unless `allow_unsafe` | refused: nothing new is granted |
//! | [`Kind::Failover`] | commits do not wait for a standby | refused, unless `allow_standby` | reported and granted |
//! | [`Kind::Reader`] | `read_only`, or the server is a standby | refused | refused |
//! | [`Kind::Ending`] | a server that shuts down | refused as one that does not answer | the same |

mod errors;

use core::fmt;

use crate::error::ErrorKind;

/// An engine with settings that a driver can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// `PostgreSQL`: settings, tables that a crash empties, such as `table snowmint_records`, and `asynchronous_standby`,
    /// the name of a standby that could be promoted without the last commits, or an empty text.
    Postgres,
    /// `MySQL` and `MariaDB`: global variables, variables of the global status, whose names begin with a capital, and tables
    /// that a crash empties.
    Mysql,
    /// Redis: lines of `INFO`, and answers to `CONFIG GET`.
    Redis,
    /// `SQLite`: pragmas, and `file`, the path of the database, which is empty for a database in memory.
    Sqlite,
    /// NATS `JetStream`: `sync_interval` of a server, `always` or a time, and the configuration of a bucket's stream:
    /// `storage`, `persist_mode`, `max_age` in ns, `discard`, and `mirror`, the name of the mirrored stream.
    Nats,
    /// `DynamoDB`: `global_table_replicas`, the number of a table's replicas in other regions, and
    /// `multi_region_consistency`.
    Dynamodb,
}

/// The risk of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// This server can lose confirmed writes, in a crash or while it runs.
    Crash,
    /// A failover can lose confirmed writes: another server takes over without them.
    Failover,
    /// The server does not take writes.
    Reader,
    /// The server is shutting down, most likely: soon it, or another one at its address, says otherwise.
    Ending,
}

impl Kind {
    /// Returns the kind of the error that refuses a store with such a setting.
    pub const fn error_kind(self) -> ErrorKind {
        match self {
            Self::Ending => ErrorKind::StoreUnavailable,
            Self::Crash | Self::Failover | Self::Reader => ErrorKind::UnsafeStore,
        }
    }
}

/// A setting under which confirmed writes can be lost.
#[derive(Clone, Copy, Debug)]
pub struct Finding<'a> {
    rule: &'static Rule,
    value: Option<&'a str>,
}

#[derive(Debug)]
struct Rule {
    kind: Kind,
    setting: &'static str,
    right: Right,
    /// Whether an engine without this setting is safe.
    may_lack: bool,
    /// Another setting, and the values of it that remove the risk.
    unless: Option<(&'static str, Right)>,
    /// The meaning of the value: follows it in a sentence.
    note: &'static str,
    /// The advice; for a failover also its price, in a clause with "which".
    cure: &'static str,
}

/// The safe values of a setting. Case does not matter.
#[derive(Debug)]
enum Right {
    OneOf(&'static [&'static str]),
    NoneOf(&'static [&'static str]),
    NotBeginning(&'static str),
}

const OFF: &[&str] = &["0", "off"];
const ON: &[&str] = &["1", "on"];

const fn rule(setting: &'static str, right: Right, note: &'static str, cure: &'static str) -> Rule {
    Rule { kind: Kind::Crash, setting, right, may_lack: false, unless: None, note, cure }
}

const fn failover(setting: &'static str, right: Right, note: &'static str, cure: &'static str) -> Rule {
    Rule { kind: Kind::Failover, ..rule(setting, right, note, cure) }
}

const fn reader(setting: &'static str, right: Right, note: &'static str, cure: &'static str) -> Rule {
    Rule { kind: Kind::Reader, ..rule(setting, right, note, cure) }
}

/// A word of Redis on a rewrite of its append-only file.
const fn rewrite(setting: &'static str) -> Rule {
    let note = ", its append-only file is not complete";
    Rule { may_lack: true, ..rule(setting, Right::OneOf(&["0"]), note, "wait until the rewrite ends") }
}

/// A table that a crash empties; an engine reports no other tables. The value says why.
const fn table(setting: &'static str, cure: &'static str) -> Rule {
    Rule { may_lack: true, ..rule(setting, Right::OneOf(&[]), "", cure) }
}

/// The beginning of the settings that are tables.
const TABLE: &str = "table ";

const POSTGRES: &[Rule] = &[
    rule("fsync", Right::OneOf(&["on"]), "", "set fsync=on in postgresql.conf and reload it"),
    rule("full_page_writes", Right::OneOf(&["on"]), "", "set full_page_writes=on in postgresql.conf and reload it"),
    // With any other value a commit waits for less.
    rule(
        "synchronous_commit",
        Right::OneOf(&["on", "remote_apply"]),
        " stays although it was set on this connection",
        "connect to the server itself instead of a pooler",
    ),
    table("table snowmint_records", "ALTER TABLE snowmint_records SET LOGGED"),
    table("table snowmint_counters", "ALTER TABLE snowmint_counters SET LOGGED"),
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

const MYSQL: &[Rule] = &[
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

const REDIS: &[Rule] = &[
    reader("role", Right::OneOf(&["master"]), "", "name the primary"),
    rule("aof_last_write_status", Right::OneOf(&["ok"]), "", "make room on the server's disk"),
    rule("appendonly", Right::OneOf(&["yes"]), "", "set appendonly yes in redis.conf"),
    rule("appendfsync", Right::OneOf(&["always"]), "", "set appendfsync always in redis.conf"),
    // With yes, Redis does not sync writes while a child process rewrites the file, despite appendfsync.
    rule("no-appendfsync-on-rewrite", Right::OneOf(&["no"]), "", "set no-appendfsync-on-rewrite no in redis.conf"),
    // After appendonly was turned on, nothing is on disk until its first file is complete, and before it is begun. No word of
    // Redis tells the first file from a later one: aof_base_size stays when the log is turned off and on.
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
const SENTINEL: &str = "sentinel";

const SQLITE: &[Rule] = &[
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

const NATS: &[Rule] = &[
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

const DYNAMODB: &[Rule] = &[
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

impl Engine {
    const fn rules(self) -> &'static [Rule] {
        match self {
            Self::Postgres => POSTGRES,
            Self::Mysql => MYSQL,
            Self::Redis => REDIS,
            Self::Sqlite => SQLITE,
            Self::Nats => NATS,
            Self::Dynamodb => DYNAMODB,
        }
    }

    /// Returns the engine with this name: `postgres`, `mysql`, `redis`, `sqlite`, `nats` or `dynamodb`; `None` for any other
    /// name.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::durability::Engine;
    /// assert_eq!(Engine::find("redis"), Some(Engine::Redis));
    /// assert_eq!(Engine::find("oracle"), None);
    /// ```
    pub fn find(name: &str) -> Option<Self> {
        let named = [
            ("postgres", Self::Postgres),
            ("mysql", Self::Mysql),
            ("redis", Self::Redis),
            ("sqlite", Self::Sqlite),
            ("nats", Self::Nats),
            ("dynamodb", Self::Dynamodb),
        ];
        named.into_iter().find(|(known, _)| *known == name).map(|(_, engine)| engine)
    }

    /// Returns the names of all settings to read. Some names come twice.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::durability::Engine;
    /// assert!(Engine::Postgres.settings().any(|setting| setting == "fsync"));
    /// ```
    pub fn settings(self) -> impl Iterator<Item = &'static str> {
        self.rules()
            .iter()
            .flat_map(|rule| core::iter::once(rule.setting).chain(rule.unless.as_ref().map(|(setting, _)| *setting)))
    }

    /// Returns the first setting of [`Kind::Crash`] or [`Kind::Reader`], under which nothing may be granted. `found`
    /// returns the value of a setting, or `None` if the engine does not report it.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::durability::{Engine, Kind};
    /// let found = |setting: &str| match setting {
    ///     "fsync" => Some("off"),
    ///     "full_page_writes" | "synchronous_commit" => Some("on"),
    ///     "pg_is_in_recovery()" => Some("f"),
    ///     _ => None,
    /// };
    /// let finding = Engine::Postgres.refuse(found).expect("a server that can lose writes");
    /// assert_eq!((finding.kind(), finding.to_string()), (Kind::Crash, "fsync=off".into()));
    /// ```
    pub fn refuse<'a>(self, found: impl Fn(&str) -> Option<&'a str>) -> Option<Finding<'a>> {
        self.first(found, |kind| kind != Kind::Failover)
    }

    /// Returns the first setting of [`Kind::Failover`]: a claim refuses it, a renewal or fetch reports it.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::durability::{Engine, Kind};
    /// // No standby could be promoted without the last commits.
    /// assert!(Engine::Postgres.standby_risk(|_| Some("")).is_none());
    /// let finding = Engine::Postgres.standby_risk(|_| Some("standby1")).expect("a standby");
    /// assert_eq!(finding.kind(), Kind::Failover);
    /// ```
    pub fn standby_risk<'a>(self, found: impl Fn(&str) -> Option<&'a str>) -> Option<Finding<'a>> {
        self.first(found, |kind| kind == Kind::Failover)
    }

    fn first<'a>(self, found: impl Fn(&str) -> Option<&'a str>, counts: impl Fn(Kind) -> bool) -> Option<Finding<'a>> {
        self.findings(found).find(|finding| counts(finding.kind()))
    }

    /// Returns all settings under which confirmed writes can be lost, in the order of core's table.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::durability::Engine;
    /// let found = |setting: &str| Some(if setting == "file" { "/srv/ids.db" } else { "off" });
    /// let findings: Vec<_> = Engine::Sqlite.findings(found).map(|finding| finding.to_string()).collect();
    /// assert_eq!(findings[0], "journal_mode=off");
    /// ```
    pub fn findings<'a>(self, found: impl Fn(&str) -> Option<&'a str>) -> impl Iterator<Item = Finding<'a>> {
        self.rules().iter().filter_map(move |rule| {
            let value = found(rule.setting);
            let removed =
                rule.unless.as_ref().is_some_and(|(other, right)| found(other).is_some_and(|value| right.has(value)));
            let is_wrong = !removed && value.map_or(!rule.may_lack, |value| !rule.right.has(value));
            is_wrong.then_some(Finding { rule, value })
        })
    }
}

impl Right {
    /// Returns whether a value is safe.
    fn has(&self, value: &str) -> bool {
        let among = |all: &[&str]| all.iter().any(|each| each.eq_ignore_ascii_case(value));
        match self {
            Self::OneOf(right) => among(right),
            Self::NoneOf(wrong) => !among(wrong),
            Self::NotBeginning(wrong) => {
                !value.get(..wrong.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(wrong))
            }
        }
    }
}

/// The options that accept risks, in the spelling of the caller's language.
#[derive(Clone, Copy, Debug)]
pub struct Accepting {
    /// The option that accepts all settings, such as `allow_unsafe=true`.
    pub lossy: &'static str,
    /// The option that accepts settings of [`Kind::Failover`], such as `allow_standby=true`.
    pub standby: &'static str,
}

impl Accepting {
    /// The spelling in URLs, Rust and Python.
    pub const URL: Self = Self { lossy: "allow_unsafe=true", standby: "allow_standby=true" };
    /// The spelling in JavaScript.
    pub const JAVASCRIPT: Self = Self { lossy: "allowUnsafe: true", standby: "allowStandby: true" };
}

impl<'a> Finding<'a> {
    /// Returns the risk of the setting.
    pub const fn kind(&self) -> Kind {
        self.rule.kind
    }

    /// Returns the sentence that refuses a store with this setting: the setting, the risk, and what to do.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::durability::{Accepting, Engine};
    /// let finding = Engine::Postgres.refuse(|_| Some("off")).expect("a server that can lose writes");
    /// assert_eq!(
    ///     finding.refusal(&Accepting::URL).to_string(),
    ///     "fsync=off, so confirmed writes can be lost: set fsync=on in postgresql.conf and reload it, or pass \
    ///      allow_unsafe=true"
    /// );
    /// ```
    pub const fn refusal(&'a self, accepting: &'a Accepting) -> impl fmt::Display + 'a {
        Sentence { found: self, accepting }
    }
}

struct Sentence<'a> {
    found: &'a Finding<'a>,
    accepting: &'a Accepting,
}

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, accepting } = self;
        let cure = found.rule.cure;
        match found.rule.kind {
            Kind::Crash => Refusal { found, cure, option: accepting.lossy }.fmt(f),
            Kind::Failover => write!(
                f,
                "{found}, so a failover can lose confirmed writes: {cure}, or pass {} if `snowmint fence` follows every \
                 failover",
                accepting.standby
            ),
            Kind::Reader | Kind::Ending => write!(f, "{found}, so it is not the server to write to: {cure}"),
        }
    }
}

/// Writes the setting and its value: `fsync=off`, `the table snowmint_records is unlogged`.
impl fmt::Display for Finding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Some(value) if self.rule.setting.starts_with(TABLE) => write!(f, "the {} is {value}", self.rule.setting),
            Some(value) => write!(f, "{}={value}{}", self.rule.setting, self.rule.note),
            None => write!(f, "{} is not reported", self.rule.setting),
        }
    }
}

/// The sentence that refuses a store, the same in every language.
#[derive(Clone, Copy, Debug)]
pub struct Refusal<'a, Found> {
    /// The reason: a setting, a table, a file system.
    pub found: Found,
    /// What to do.
    pub cure: &'a str,
    /// The option that accepts the risk, such as `allow_unsafe=true`.
    pub option: &'a str,
}

impl<Found: fmt::Display> fmt::Display for Refusal<'_, Found> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, cure, option } = self;
        write!(f, "{found}, so confirmed writes can be lost: {cure}, or pass {option}")
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::format;
    use std::string::ToString;

    fn found(engine: Engine, settings: &[(&str, &'static str)]) -> Option<(std::string::String, &'static str)> {
        let value = |name: &str| settings.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        engine.refuse(value).map(|finding| (finding.to_string(), finding.rule.cure))
    }

    const SAFE_MYSQL: [(&str, &str); 4] =
        [("innodb_flush_log_at_trx_commit", "1"), ("log_bin", "0"), ("sync_binlog", "0"), ("read_only", "OFF")];

    #[test]
    fn a_missing_setting_is_refused_unless_an_engine_may_lack_it() {
        assert_eq!(found(Engine::Redis, &[]).expect("refused").0, "role is not reported");
        assert_eq!(found(Engine::Mysql, &SAFE_MYSQL), None);
    }

    #[test]
    fn a_mariadb_that_shuts_down_is_not_called_a_replica() {
        let refused = |slave_running| {
            let value = |name: &str| match name {
                "Slaves_running" => Some("1"),
                "Slave_running" => Some(slave_running),
                _ => SAFE_MYSQL.iter().find(|(known, _)| *known == name).map(|(_, value)| *value),
            };
            Engine::Mysql.refuse(value).expect("refused").kind().error_kind()
        };
        assert_eq!(refused("OFF"), ErrorKind::StoreUnavailable, "a shutdown");
        assert_eq!(refused("ON"), ErrorKind::UnsafeStore, "a replica");
    }

    #[test]
    fn a_setting_can_remove_the_risk_of_another() {
        let mut settings = SAFE_MYSQL;
        settings[1] = ("log_bin", "ON");
        assert_eq!(found(Engine::Mysql, &settings).expect("refused").0, "sync_binlog=0 with log_bin=ON");
        settings[2] = ("sync_binlog", "1");
        assert_eq!(found(Engine::Mysql, &settings), None);
    }

    #[test]
    fn the_case_of_values_does_not_matter() {
        let settings = [("file", "/srv/a.db"), ("journal_mode", "OFF"), ("synchronous", "2")];
        assert_eq!(found(Engine::Sqlite, &settings).expect("refused").0, "journal_mode=OFF");
    }

    #[test]
    fn a_refusal_names_the_setting_the_cure_and_the_option() {
        let finding = Engine::Sqlite.refuse(|name| Some(if name == "journal_mode" { "off" } else { "3" }));
        assert_eq!(
            finding.expect("refused").refusal(&Accepting::URL).to_string(),
            "journal_mode=off, so confirmed writes can be lost: PRAGMA journal_mode=WAL must be possible, or pass \
             allow_unsafe=true"
        );
    }

    #[test]
    fn a_standby_is_a_risk_but_is_not_refused() {
        let settings = [
            ("fsync", "on"),
            ("full_page_writes", "on"),
            ("synchronous_commit", "on"),
            ("pg_is_in_recovery()", "f"),
            ("asynchronous_standby", "second"),
        ];
        let value = |name: &str| settings.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        assert!(Engine::Postgres.refuse(value).is_none());
        let risk = Engine::Postgres.standby_risk(value).expect("a risk");
        assert_eq!(
            (risk.kind(), risk.refusal(&Accepting::JAVASCRIPT).to_string().as_str()),
            (
                Kind::Failover,
                "asynchronous_standby=second with synchronous_standby_names='', so a failover can lose confirmed writes: \
                 name it in synchronous_standby_names in postgresql.conf, which makes every commit of this server wait \
                 for the standby, or pass allowStandby: true if `snowmint fence` follows every failover"
            )
        );
    }

    #[test]
    fn every_cure_of_a_failover_names_its_price() {
        for engine in [Engine::Postgres, Engine::Mysql, Engine::Redis] {
            let rules = engine.rules().iter().filter(|rule| rule.kind == Kind::Failover);
            assert!(rules.clone().count() > 0 && rules.clone().all(|rule| rule.cure.contains("which ")), "{engine:?}");
        }
        assert!(Engine::Sqlite.rules().iter().all(|rule| rule.kind == Kind::Crash), "one file has no failover");
    }

    #[test]
    fn no_option_accepts_a_server_without_writes() {
        let finding = Engine::Redis.refuse(|name| (name == "role").then_some("slave")).expect("refused");
        assert_eq!(finding.kind(), Kind::Reader);
        let sentence = finding.refusal(&Accepting::URL).to_string();
        assert_eq!(sentence, "role=slave, so it is not the server to write to: name the primary");
    }

    #[test]
    fn an_append_only_file_that_is_or_will_be_rewritten_is_not_complete() {
        let safe = [
            ("role", "master"),
            ("aof_last_write_status", "ok"),
            ("appendonly", "yes"),
            ("appendfsync", "always"),
            ("no-appendfsync-on-rewrite", "no"),
            ("maxmemory-policy", "noeviction"),
            // An older file proves nothing.
            ("aof_base_size", "505"),
        ];
        let rewrite = |scheduled, in_progress| {
            let words = [("aof_rewrite_scheduled", scheduled), ("aof_rewrite_in_progress", in_progress)];
            found(Engine::Redis, &[&safe[..], &words].concat()).map(|(setting, _)| setting)
        };
        assert_eq!(rewrite("0", "0"), None);
        for (scheduled, in_progress, setting) in
            [("1", "0", "aof_rewrite_scheduled=1"), ("0", "1", "aof_rewrite_in_progress=1")]
        {
            let refused = rewrite(scheduled, in_progress).expect("refused");
            assert_eq!(refused, format!("{setting}, its append-only file is not complete"));
        }
    }

    #[test]
    fn nats_syncs_each_write_and_keeps_each_record() {
        let safe = [("sync_interval", "always"), ("storage", "file"), ("max_age", "0"), ("discard", "new")];
        assert_eq!(found(Engine::Nats, &safe), None);
        for (setting, value, told) in [
            ("sync_interval", "120s", "sync_interval=120s"),
            ("storage", "memory", "storage=memory, the bucket is in memory"),
            ("persist_mode", "async", "persist_mode=async"),
            ("max_age", "1000", "max_age=1000 ns, records expire"),
            ("discard", "old", "discard=old, a full bucket drops records"),
            ("mirror", "KV_ids", "mirror=KV_ids, the bucket is a copy"),
        ] {
            let mut settings = std::vec::Vec::from([(setting, value)]);
            settings.extend(safe);
            assert_eq!(found(Engine::Nats, &settings).expect("refused").0, told);
        }
        assert_eq!(found(Engine::Nats, &safe[1..]).expect("refused").0, "sync_interval is not reported");
    }

    #[test]
    fn a_global_table_needs_strong_consistency() {
        let table = |replicas, consistency| {
            found(Engine::Dynamodb, &[("global_table_replicas", replicas), ("multi_region_consistency", consistency)])
        };
        assert_eq!((table("0", ""), table("2", "STRONG")), (None, None));
        for consistency in ["", "EVENTUAL"] {
            let (found, _) = table("1", consistency).expect("refused");
            assert_eq!(found, "global_table_replicas=1, two regions can write the same record");
        }
    }

    #[test]
    fn each_engine_is_found_by_its_name_and_knows_its_settings() {
        for name in ["postgres", "mysql", "redis", "sqlite", "nats", "dynamodb"] {
            assert!(Engine::find(name).expect("known").settings().count() >= 2);
        }
        assert_eq!(Engine::find("oracle"), None);
    }
}
