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

mod engines;
mod errors;
mod refusal;
mod rule;

pub use self::errors::Denial;
pub use self::refusal::{Accepting, Refusal};

use self::engines::{DYNAMODB, MYSQL, NATS, POSTGRES, REDIS, SQLITE};
use self::rule::Rule;

use crate::error::ErrorKind;

/// An engine with settings that a driver can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// `PostgreSQL`: settings, tables that a crash empties, such as `table snowmint.records`, and `asynchronous_standby`,
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
#[non_exhaustive]
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

    /// Returns the first setting of another kind than [`Kind::Failover`], under which nothing may be granted. `found`
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
        let message = finding.refusal(&Accepting::URL).to_string();
        assert_eq!(message, "role=slave, so it is not the server to write to: name the primary");
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
        for (setting, value, expected) in [
            ("sync_interval", "120s", "sync_interval=120s"),
            ("storage", "memory", "storage=memory, the bucket is in memory"),
            ("persist_mode", "async", "persist_mode=async"),
            ("max_age", "1000", "max_age=1000 ns, records expire"),
            ("discard", "old", "discard=old, a full bucket drops records"),
            ("mirror", "KV_ids", "mirror=KV_ids, the bucket is a copy"),
        ] {
            let mut settings = std::vec::Vec::from([(setting, value)]);
            settings.extend(safe);
            assert_eq!(found(Engine::Nats, &settings).expect("refused").0, expected);
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
