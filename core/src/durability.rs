//! Which settings of an engine keep what it confirms: the table that every driver, in whatever language, looks things up in.
//!
//! A driver asks the engine for [`Engine::settings`] and hands what it hears to [`Engine::refuse`]. Sources: the engines'
//! manuals; each row was seen to lose confirmed writes, or is said there to lose them in a crash of the machine.

use core::fmt;

/// An engine whose settings can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// `PostgreSQL`; `asynchronous_standby` is the name of one that could be promoted without the last commits, if any.
    Postgres,
    /// `MySQL` and `MariaDB`: global variables, and of the global status the names in capitals.
    Mysql,
    /// Redis: lines of `INFO` and answers to `CONFIG GET`.
    Redis,
    /// `SQLite`: pragmas, and `file`, the path of the database, empty if it is in memory.
    Sqlite,
}

/// A setting under which confirmed writes can be lost.
#[derive(Clone, Copy, Debug)]
pub struct Finding<'a> {
    rule: &'static Rule,
    value: Option<&'a str>,
}

#[derive(Debug)]
struct Rule {
    setting: &'static str,
    right: Right,
    /// What it is not told about, it does not have.
    may_lack: bool,
    /// A setting that makes up for it, with its values.
    unless: Option<(&'static str, &'static [&'static str])>,
    /// What the value means.
    note: &'static str,
    cure: &'static str,
}

/// Values are compared whatever their case.
#[derive(Debug)]
enum Right {
    OneOf(&'static [&'static str]),
    NoneOf(&'static [&'static str]),
    NotBeginning(&'static str),
}

const OFF: &[&str] = &["0", "off"];
const ON: &[&str] = &["1", "on"];

const fn rule(setting: &'static str, right: Right, note: &'static str, cure: &'static str) -> Rule {
    Rule { setting, right, may_lack: false, unless: None, note, cure }
}

const POSTGRES: &[Rule] = &[
    rule("fsync", Right::OneOf(&["on"]), "", "set fsync=on in postgresql.conf and reload it"),
    rule("full_page_writes", Right::OneOf(&["on"]), "", "set full_page_writes=on in postgresql.conf and reload it"),
    // All others wait for less.
    rule(
        "synchronous_commit",
        Right::OneOf(&["on", "remote_apply"]),
        " stays although it was set on this connection",
        "connect to the server itself instead of a pooler",
    ),
    rule("pg_is_in_recovery()", Right::OneOf(&["false", "f"]), ", it is a standby", "connect to the primary"),
    rule(
        "asynchronous_standby",
        Right::OneOf(&[""]),
        " with synchronous_standby_names=''",
        "name it in synchronous_standby_names in postgresql.conf",
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
        unless: Some(("log_bin", OFF)),
        ..rule(
            "sync_binlog",
            Right::OneOf(&["1"]),
            " with log_bin=ON",
            "SET GLOBAL sync_binlog=1, and in the configuration file",
        )
    },
    rule("read_only", Right::OneOf(OFF), ", as on a replica", "connect to the primary"),
    Rule { may_lack: true, ..rule("Slaves_running", Right::OneOf(OFF), ", it is a replica", "connect to the primary") },
    Rule { may_lack: true, ..rule("Slave_running", Right::OneOf(OFF), ", it is a replica", "connect to the primary") },
    Rule {
        may_lack: true,
        unless: Some(("Rpl_semi_sync_master_status", ON)),
        ..rule(
            "Slaves_connected",
            Right::OneOf(OFF),
            " with rpl_semi_sync_master_enabled=OFF",
            "turn semi-synchronous replication on, on the primary and on the replica",
        )
    },
];

const REDIS: &[Rule] = &[
    rule("role", Right::OneOf(&["master"]), "", "name the primary, one without replicas"),
    rule(
        "cluster_enabled",
        Right::OneOf(&["0"]),
        "",
        "use a server of its own, outside of a cluster, whose failover loses writes",
    ),
    rule(
        "connected_slaves",
        Right::OneOf(&["0"]),
        "",
        "use a server without replicas, to which a failover loses writes",
    ),
    rule("aof_last_write_status", Right::OneOf(&["ok"]), "", "make room on the server's disk"),
    rule("appendonly", Right::OneOf(&["yes"]), "", "set appendonly yes in redis.conf"),
    rule("appendfsync", Right::OneOf(&["always"]), "", "set appendfsync always in redis.conf"),
    // Writes are not synced while a child process rewrites the file, whatever appendfsync says.
    rule("no-appendfsync-on-rewrite", Right::OneOf(&["no"]), "", "set no-appendfsync-on-rewrite no in redis.conf"),
    // The others evict only what has been given a time to live, which nothing of ours has.
    rule("maxmemory-policy", Right::NotBeginning("allkeys-"), "", "set maxmemory-policy noeviction in redis.conf"),
];

const SQLITE: &[Rule] = &[
    rule(
        "file",
        Right::NoneOf(&[""]),
        ", the database is in memory",
        "use the file of a database, or a memory store for tests",
    ),
    rule("journal_mode", Right::NoneOf(&["off", "memory"]), "", "PRAGMA journal_mode=WAL must be possible"),
    rule("synchronous", Right::OneOf(&["2", "3"]), "", "PRAGMA synchronous=FULL must be possible"),
    // The commit is the removal of the journal, which FULL does not sync: after a loss of power it may be back.
    Rule {
        unless: Some(("journal_mode", &["wal", "truncate", "persist"])),
        ..rule(
            "synchronous",
            Right::OneOf(&["3"]),
            " with journal_mode=delete",
            "PRAGMA synchronous=EXTRA or journal_mode=WAL must be possible",
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
        }
    }

    /// The engine of that name: `postgres`, `mysql`, `redis`, `sqlite`.
    pub fn find(name: &str) -> Option<Self> {
        let named =
            [("postgres", Self::Postgres), ("mysql", Self::Mysql), ("redis", Self::Redis), ("sqlite", Self::Sqlite)];
        named.into_iter().find(|(known, _)| *known == name).map(|(_, engine)| engine)
    }

    /// The names of all settings that matter, some of them twice.
    pub fn settings(self) -> impl Iterator<Item = &'static str> {
        self.rules()
            .iter()
            .flat_map(|rule| core::iter::once(rule.setting).chain(rule.unless.map(|(setting, _)| setting)))
    }

    /// The first setting under which confirmed writes can be lost. `found` tells the value of a setting, if it is known.
    pub fn refuse<'a>(self, found: impl Fn(&str) -> Option<&'a str>) -> Option<Finding<'a>> {
        let among = |value: &str, all: &[&str]| all.iter().any(|each| each.eq_ignore_ascii_case(value));
        let wrong = |rule: &&'static Rule| {
            if rule.unless.is_some_and(|(other, values)| found(other).is_some_and(|value| among(value, values))) {
                return false;
            }
            let Some(value) = found(rule.setting) else { return !rule.may_lack };
            match rule.right {
                Right::OneOf(right) => !among(value, right),
                Right::NoneOf(wrong) => among(value, wrong),
                Right::NotBeginning(wrong) => {
                    value.get(..wrong.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(wrong))
                }
            }
        };
        self.rules().iter().find(wrong).map(|rule| Finding { rule, value: found(rule.setting) })
    }
}

impl<'a> Finding<'a> {
    /// The sentence that refuses a store for it. `option` is what accepts it all the same, as its caller writes it.
    pub const fn refusal(&'a self, option: &'a str) -> Refusal<'a, &'a Self> {
        Refusal { found: self, cure: self.rule.cure, option }
    }

    /// What to do about it.
    pub const fn cure(&self) -> &'static str {
        self.rule.cure
    }
}

/// The setting as it was found: `fsync=off`.
impl fmt::Display for Finding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Some(value) => write!(f, "{}={value}{}", self.rule.setting, self.rule.note),
            None => write!(f, "{} is not told", self.rule.setting),
        }
    }
}

/// Why a store is refused, and what would be right, in the words of every language.
#[derive(Clone, Copy, Debug)]
pub struct Refusal<'a, Found> {
    /// What was found: a setting, a table, a file system.
    pub found: Found,
    /// What to do about it.
    pub cure: &'a str,
    /// What accepts it all the same, such as `allow_unsafe=true`.
    pub option: &'a str,
}

impl<Found: fmt::Display> fmt::Display for Refusal<'_, Found> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, cure, option } = self;
        write!(f, "{found}, so confirmed writes can be lost: {cure}, or pass {option}")
    }
}

/// The file system of that number (`f_type` of Linux's `statfs(2)`), if writes may be lost there, or locks do not hold
/// everybody off.
pub const fn unsafe_file_system(number: u32) -> Option<&'static str> {
    match number {
        0x6969 => Some("NFS"),
        0x517b | 0xff53_4d42 | 0xfe53_4d42 => Some("SMB"),
        0x0102_1997 => Some("9p"),
        0x6573_5546 => Some("FUSE"),
        0x0102_1994 | 0x8584_58f6 => Some("tmpfs"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    fn found(engine: Engine, settings: &[(&str, &'static str)]) -> Option<(std::string::String, &'static str)> {
        let value = |name: &str| settings.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        engine.refuse(value).map(|finding| (finding.to_string(), finding.cure()))
    }

    const SAFE_MYSQL: [(&str, &str); 4] =
        [("innodb_flush_log_at_trx_commit", "1"), ("log_bin", "0"), ("sync_binlog", "0"), ("read_only", "OFF")];

    #[test]
    fn a_setting_that_is_not_told_is_refused_unless_an_engine_may_lack_it() {
        assert_eq!(found(Engine::Redis, &[]).expect("refused").0, "role is not told");
        assert_eq!(found(Engine::Mysql, &SAFE_MYSQL), None);
    }

    #[test]
    fn a_setting_can_make_up_for_another() {
        let mut settings = SAFE_MYSQL;
        settings[1] = ("log_bin", "ON");
        assert_eq!(found(Engine::Mysql, &settings).expect("refused").0, "sync_binlog=0 with log_bin=ON");
        settings[2] = ("sync_binlog", "1");
        assert_eq!(found(Engine::Mysql, &settings), None);
    }

    #[test]
    fn values_are_compared_whatever_their_case() {
        let settings = [("file", "/srv/a.db"), ("journal_mode", "OFF"), ("synchronous", "2")];
        assert_eq!(found(Engine::Sqlite, &settings).expect("refused").0, "journal_mode=OFF");
    }

    #[test]
    fn a_refusal_says_what_was_found_what_to_do_and_what_accepts_it() {
        let finding = Engine::Sqlite.refuse(|name| Some(if name == "journal_mode" { "off" } else { "3" }));
        assert_eq!(
            finding.expect("refused").refusal("allow_unsafe=true").to_string(),
            "journal_mode=off, so confirmed writes can be lost: PRAGMA journal_mode=WAL must be possible, or pass \
             allow_unsafe=true"
        );
    }

    #[test]
    fn each_engine_is_found_by_its_name_and_knows_its_settings() {
        for name in ["postgres", "mysql", "redis", "sqlite"] {
            assert!(Engine::find(name).expect("known").settings().count() >= 3);
        }
        assert_eq!(Engine::find("oracle"), None);
    }
}
