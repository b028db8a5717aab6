//! Which settings of an engine keep what it confirms: the table that every driver, in whatever language, looks things up in.
//!
//! A driver asks the engine for [`Engine::settings`] with each write, and hands the answers to [`Engine::refuse`] and
//! [`Engine::standby_risk`]. Sources: the engines' manuals; each row was seen to lose confirmed writes, or is said there to
//! lose them in a crash of the machine.
//!
//! | kind | such as | at a claim | at a renewal or fetch |
//! | --- | --- | --- | --- |
//! | [`Kind::Crash`] | `fsync=off`, `appendonly no` | refused, unless `allow_unsafe` | refused: nothing new is granted |
//! | [`Kind::Failover`] | a standby that is not waited for | refused, unless `allow_standby` | reported, and granted |
//! | [`Kind::Reader`] | `read_only`, a standby itself | refused | refused |

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

/// What a setting puts at risk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// This server can lose confirmed writes, in a crash or while it runs.
    Crash,
    /// A failover can lose confirmed writes, as another server takes over without them.
    Failover,
    /// The server is not the one to write to.
    Reader,
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
    /// What it is not told about, it does not have.
    may_lack: bool,
    /// A setting that makes up for it, with the values that do.
    unless: Option<(&'static str, Right)>,
    /// What the value means.
    note: &'static str,
    /// What to do about it; of a failover's setting with its price.
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
    Rule { kind: Kind::Crash, setting, right, may_lack: false, unless: None, note, cure }
}

const fn failover(setting: &'static str, right: Right, note: &'static str, cure: &'static str) -> Rule {
    Rule { kind: Kind::Failover, ..rule(setting, right, note, cure) }
}

const fn reader(setting: &'static str, right: Right, note: &'static str, cure: &'static str) -> Rule {
    Rule { kind: Kind::Reader, ..rule(setting, right, note, cure) }
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
    reader("read_only", Right::OneOf(OFF), ", as on a replica", "connect to the primary"),
    Rule {
        may_lack: true,
        ..reader("Slaves_running", Right::OneOf(OFF), ", it is a replica", "connect to the primary")
    },
    Rule {
        may_lack: true,
        ..reader("Slave_running", Right::OneOf(OFF), ", it is a replica", "connect to the primary")
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
    // Writes are not synced while a child process rewrites the file, whatever appendfsync says.
    rule("no-appendfsync-on-rewrite", Right::OneOf(&["no"]), "", "set no-appendfsync-on-rewrite no in redis.conf"),
    // After appendonly was turned on, a crash loses everything until the first file is complete.
    Rule {
        may_lack: true,
        unless: Some(("aof_base_size", Right::NoneOf(&["0"]))),
        ..rule(
            "aof_rewrite_in_progress",
            Right::OneOf(&["0"]),
            ", its first append-only file is not complete",
            "wait until it is",
        )
    },
    // The others evict only what has been given a time to live, which nothing of ours has.
    rule("maxmemory-policy", Right::NotBeginning("allkeys-"), "", "set maxmemory-policy noeviction in redis.conf"),
    // Known before the server is asked.
    Rule {
        may_lack: true,
        ..failover(
            SENTINEL,
            Right::OneOf(&["no"]),
            "",
            "use a server without Sentinel, which nobody stands in for while it is down",
        )
    },
    failover(
        "cluster_enabled",
        Right::OneOf(&["0"]),
        "",
        "use a server outside of a cluster, which nobody stands in for while it is down",
    ),
    failover(
        "connected_slaves",
        Right::OneOf(&["0"]),
        "",
        "use a server without replicas, which nobody stands in for while it is down",
    ),
];

/// Whether the client finds its server by Sentinel, which the server does not tell.
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
    // The commit is the removal of the journal, which FULL does not sync: after a loss of power it may be back.
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
            .flat_map(|rule| core::iter::once(rule.setting).chain(rule.unless.as_ref().map(|(setting, _)| *setting)))
    }

    /// Returns the first setting under which nothing is granted: [`Kind::Crash`] and [`Kind::Reader`]. `found` tells the
    /// value of a setting, if it is known.
    pub fn refuse<'a>(self, found: impl Fn(&str) -> Option<&'a str>) -> Option<Finding<'a>> {
        self.first(found, |kind| kind != Kind::Failover)
    }

    /// Returns the first setting of [`Kind::Failover`]: a claim refuses it, a renewal or fetch reports it.
    pub fn standby_risk<'a>(self, found: impl Fn(&str) -> Option<&'a str>) -> Option<Finding<'a>> {
        self.first(found, |kind| kind == Kind::Failover)
    }

    fn first<'a>(self, found: impl Fn(&str) -> Option<&'a str>, counts: impl Fn(Kind) -> bool) -> Option<Finding<'a>> {
        let wrong = |rule: &&'static Rule| {
            let made_up_for =
                rule.unless.as_ref().is_some_and(|(other, right)| found(other).is_some_and(|value| right.has(value)));
            counts(rule.kind)
                && !made_up_for
                && found(rule.setting).map_or(!rule.may_lack, |value| !rule.right.has(value))
        };
        self.rules().iter().find(wrong).map(|rule| Finding { rule, value: found(rule.setting) })
    }
}

impl Right {
    /// Whether a value is right.
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

/// The options that accept findings, as the caller writes them.
#[derive(Clone, Copy, Debug)]
pub struct Accepting {
    /// Accepts all settings, such as `allow_unsafe=true`.
    pub lossy: &'static str,
    /// Accepts settings that matter in a failover only, such as `allow_standby=true`.
    pub standby: &'static str,
}

impl Accepting {
    /// In URLs, and in Rust and Python.
    pub const URL: Self = Self { lossy: "allow_unsafe=true", standby: "allow_standby=true" };
    /// In JavaScript.
    pub const JAVASCRIPT: Self = Self { lossy: "allowUnsafe: true", standby: "allowStandby: true" };
}

impl<'a> Finding<'a> {
    /// What the setting puts at risk.
    pub const fn kind(&self) -> Kind {
        self.rule.kind
    }

    /// The sentence that refuses a store for it: the setting, what it can lose, and each cure.
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
            Kind::Reader => write!(f, "{found}, so it is not the server to write to: {cure}"),
        }
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

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    fn found(engine: Engine, settings: &[(&str, &'static str)]) -> Option<(std::string::String, &'static str)> {
        let value = |name: &str| settings.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        engine.refuse(value).map(|finding| (finding.to_string(), finding.rule.cure))
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
            finding.expect("refused").refusal(&Accepting::URL).to_string(),
            "journal_mode=off, so confirmed writes can be lost: PRAGMA journal_mode=WAL must be possible, or pass \
             allow_unsafe=true"
        );
    }

    #[test]
    fn a_standby_is_a_risk_and_no_reason_to_stop() {
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
    fn the_price_is_told_of_every_cure_of_a_failover() {
        for engine in [Engine::Postgres, Engine::Mysql, Engine::Redis] {
            let rules = engine.rules().iter().filter(|rule| rule.kind == Kind::Failover);
            assert!(rules.clone().count() > 0 && rules.clone().all(|rule| rule.cure.contains("which ")), "{engine:?}");
        }
        assert!(Engine::Sqlite.rules().iter().all(|rule| rule.kind == Kind::Crash), "one file has no failover");
    }

    #[test]
    fn a_server_that_cannot_be_written_is_offered_no_option() {
        let finding = Engine::Redis.refuse(|name| (name == "role").then_some("slave")).expect("refused");
        assert_eq!(finding.kind(), Kind::Reader);
        let told = finding.refusal(&Accepting::URL).to_string();
        assert_eq!(told, "role=slave, so it is not the server to write to: name the primary");
    }

    #[test]
    fn the_first_append_only_file_has_to_be_complete() {
        let first = |in_progress, base| {
            let value = move |name: &str| match name {
                "role" => Some("master"),
                "aof_last_write_status" => Some("ok"),
                "appendonly" => Some("yes"),
                "appendfsync" => Some("always"),
                "no-appendfsync-on-rewrite" => Some("no"),
                "maxmemory-policy" => Some("noeviction"),
                "aof_rewrite_in_progress" => Some(in_progress),
                "aof_base_size" => base,
                _ => None,
            };
            Engine::Redis.refuse(value).map(|finding| finding.to_string())
        };
        assert_eq!((first("0", Some("0")), first("1", Some("88"))), (None, None));
        for base in [Some("0"), None] {
            let told = first("1", base).expect("refused");
            assert_eq!(told, "aof_rewrite_in_progress=1, its first append-only file is not complete");
        }
    }

    #[test]
    fn each_engine_is_found_by_its_name_and_knows_its_settings() {
        for name in ["postgres", "mysql", "redis", "sqlite"] {
            assert!(Engine::find(name).expect("known").settings().count() >= 3);
        }
        assert_eq!(Engine::find("oracle"), None);
    }
}
