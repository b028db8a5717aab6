//! The settings that real servers report, and the stores' judgement of them.
//!
//! `tests/vectors/server_settings.json` keeps the answers for the tests of the other languages. With
//! `SNOWMINT_RECORD=1` the tests write the file, otherwise they compare it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use snowmint::ErrorKind;
use snowmint::core::durability::{Accepting, Engine as Rules, Kind};
use snowmint::stores::{connect, postgres};
use snowmint_tests::engines::{Engine, Server, with_option};

use crate::followers::{Follower, follower, subscriber};
use crate::scene::until_shown;
use crate::sql_scenes::run;

/// One server in one state.
#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    engine: String,
    settings: BTreeMap<String, String>,
    refusal: Option<String>,
    standby_risk: Option<String>,
}

#[derive(Deserialize)]
struct Record {
    _comment: String,
    cases: Vec<Case>,
}

const COMMENT: &str = "Written by tests/stores/server_settings.rs. settings: what a server answered when it was asked for them, by \
                       name. refusal: why nothing is granted. standby_risk: what a failover could lose. Both are null where \
                       there is nothing to say.";

/// The cases of one engine, in the order in which they were tried.
struct Tried {
    engine: Engine,
    rules: Rules,
    name: &'static str,
    cases: Vec<Case>,
}

impl Tried {
    fn new(engine: Engine, name: &'static str) -> Self {
        Self { engine, rules: Rules::find(name).expect("an engine"), name, cases: Vec::new() }
    }

    /// Reads the settings by the engine's own client, lets core judge them, and compares with the judgement of the
    /// store, which reads the settings itself.
    fn look(&mut self, name: &str, url: &str, server: &Server) {
        let settings = settings(self.rules, server, url);
        let value = |name: &str| settings.get(name).map(String::as_str);
        let (refusal, risk) = (self.rules.refuse(value), self.rules.standby_risk(value));
        let kind = refusal.or(risk).map(|finding| finding.kind());
        let message = |finding: snowmint::core::durability::Finding<'_>| finding.refusal(&Accepting::URL).to_string();
        let (refusal, standby_risk) = (refusal.map(message), risk.map(message));
        run(async {
            let found = refusal.as_ref().or(standby_risk.as_ref());
            match (connect(url).await, found) {
                (Ok(store), None) => {
                    store.add("safe", 1, 0).await.expect("it can be written");
                    assert_eq!(store.standby_risk(), None, "{name}");
                }
                (Err(error), Some(expected)) => {
                    assert_eq!(error.kind(), ErrorKind::UnsafeStore, "{name}: {error}");
                    let message = error.to_string();
                    assert_eq!(message.split_once(": ").expect("the store's name").1, expected, "{name}");
                }
                (connected, found) => panic!("{name}: {:?}, but the answers say {found:?}", connected.err()),
            }
            if kind == Some(Kind::Failover) {
                let store = connect(&with_option(url, "allow_standby=true")).await.expect("the option accepts it");
                assert!(store.standby_risk().is_some(), "{name}: an accepted risk is still reported");
            }
            // A standby of PostgreSQL cannot be written at all.
            if kind.is_some() && value("pg_is_in_recovery()") != Some("true") {
                connect(&with_option(url, "allow_unsafe=true")).await.expect("the option accepts it");
            }
            if kind == Some(Kind::Crash) {
                let store = connect(&with_option(url, "allow_unsafe=true")).await.expect("the option accepts it");
                store.add("allowed", 1, 0).await.expect("it can be written");
            }
        });
        let (name, engine) = (name.to_owned(), self.name.to_owned());
        self.cases.push(Case { name, engine, settings, refusal, standby_risk });
    }

    /// Compares the cases of this engine with the file, or writes them.
    fn end(self) {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors");
        let alone = fs::File::open(&directory).expect("the directory is there");
        alone.lock().expect("it can be locked");
        let path = directory.join("server_settings.json");
        let recorded = fs::read_to_string(&path).map_or_else(
            |_| Vec::new(),
            |text| serde_json::from_str::<Record>(&text).expect("the file is a record").cases,
        );
        let (same, mut all): (Vec<_>, Vec<_>) = recorded.into_iter().partition(|case| case.engine == self.name);
        if std::env::var_os("SNOWMINT_RECORD").is_none() {
            assert_eq!(self.cases, same, "{:?} answers differently: SNOWMINT_RECORD=1 writes it", self.engine);
            return;
        }
        all.extend(self.cases);
        all.sort_by(|a, b| a.engine.cmp(&b.engine));
        let lines: Vec<_> = all.iter().map(|case| serde_json::to_string(case).expect("JSON")).collect();
        let comment = serde_json::to_string(COMMENT).expect("JSON");
        let text = format!("{{\n  \"_comment\": {comment},\n  \"cases\": [\n    {}\n  ]\n}}\n", lines.join(",\n    "));
        fs::write(path, text).expect("the file can be written");
    }
}

/// Reads each setting that matters by the server's own client.
fn settings(rules: Rules, server: &Server, url: &str) -> BTreeMap<String, String> {
    let client = |statement: &str| server.engine().client(server.port(), statement);
    let names: Vec<_> = rules.settings().collect();
    let quoted = || names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    let lines = |text: String, separator: &str| -> Vec<(String, String)> {
        let pair =
            |line: &str| line.split_once(separator).map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
        text.lines().filter_map(pair).collect()
    };
    let settings = match server.engine() {
        Engine::Postgres => {
            let role = url.split(['/', '@']).nth(2).expect("a role");
            lines(client(&format!("SET ROLE {role}; {}", POSTGRES.replace("NAMES", &quoted()))), "|")
        }
        Engine::Mariadb => ["VARIABLES", "STATUS"]
            .iter()
            .flat_map(|what| lines(client(&format!("SHOW GLOBAL {what} WHERE Variable_name IN ({})", quoted())), "\t"))
            .collect(),
        Engine::Redis => {
            let info = lines(client("INFO"), ":");
            let is_there = |name: &str| info.iter().any(|(known, _)| known == name);
            let others = names.iter().filter(|name| !is_there(name)).map(|name| client(&format!("CONFIG GET {name}")));
            let configured: Vec<_> = others.flat_map(|text| lines(text.replacen('\n', "\t", 1), "\t")).collect();
            info.into_iter().chain(configured).collect()
        }
        Engine::Nats => nats(server),
        engine => panic!("{engine:?} has no settings to look at"),
    };
    settings.into_iter().filter(|(name, _)| names.contains(&name.as_str())).collect()
}

/// Reads the settings of NATS and of its bucket at the server's monitoring port.
fn nats(server: &Server) -> Vec<(String, String)> {
    let url = format!("http://127.0.0.1:{}/jsz?streams=1&config=1", server.second_port());
    let output = Command::new("curl").args(["--silent", "--fail", &url]).output().expect("curl starts");
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let interval = &json["config"];
    let seconds = interval["sync_interval"].as_u64().map(|ns| format!("{}s", ns / 1_000_000_000));
    let interval = if interval["sync_always"] == true { Some("always".to_owned()) } else { seconds };
    let bucket = &json["account_details"][0]["stream_detail"][0]["config"];
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let settings = ["storage", "discard", "max_age", "persist_mode"].map(|name| (name, &bucket[name]));
    let settings =
        settings.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.to_owned(), text(value)));
    settings.chain(interval.map(|interval| ("sync_interval".to_owned(), interval))).collect()
}

/// The same query as in the stores.
const POSTGRES: &str = "SELECT name, setting FROM pg_settings WHERE name IN (NAMES) \
    UNION ALL SELECT 'pg_is_in_recovery()', pg_is_in_recovery()::text \
    UNION ALL SELECT 'asynchronous_standby', coalesce((SELECT \
    coalesce(r.application_name, 'one that only members of pg_monitor see') FROM pg_stat_replication r \
    WHERE current_setting('synchronous_standby_names') = '' AND (r.state IS NULL \
    OR r.sync_state = 'async' AND r.state IN ('catchup', 'streaming') \
    AND r.application_name NOT IN ('pg_basebackup', 'pg_receivewal')) \
    AND NOT EXISTS (SELECT FROM pg_replication_slots s WHERE s.active_pid = r.pid AND s.slot_type = 'logical') \
    LIMIT 1), '')";

#[test]
fn postgres_is_judged_by_its_settings() {
    let server = Server::start_with(Engine::Postgres, &["-c", "wal_level=logical"]);
    let client = |statement: &str| Engine::Postgres.client(server.port(), statement);
    let set = |setting: &str, value: &str| {
        client(&format!("ALTER SYSTEM SET {setting} = {value}"));
        client("SELECT pg_reload_conf()");
        until_shown(
            &server,
            &format!("SELECT '<' || current_setting('{setting}') || '>'"),
            &format!("<{}>", value.trim_matches('\'')),
        );
    };
    let gone = |follower: Follower, name: &str| {
        drop(follower);
        until_shown(
            &server,
            &format!("SELECT count(*) FROM pg_stat_replication WHERE application_name = '{name}'"),
            "0",
        );
    };
    let url = server.url();
    let mut tried = Tried::new(Engine::Postgres, "postgres");
    tried.look("a new server", &url, &server);
    for setting in ["fsync", "full_page_writes"] {
        set(setting, "off");
        tried.look(&format!("{setting}=off"), &url, &server);
        set(setting, "on");
    }
    let (backup, _directory) = follower(&server, "pg_receivewal", &[]);
    tried.look("a backup follows", &url, &server);
    gone(backup, "pg_receivewal");
    let changes = subscriber(&server);
    tried.look("a subscriber of logical replication follows", &url, &server);
    gone(changes, "pg_recvlogical");
    let (second, _directory) = follower(&server, "second", &[]);
    tried.look("a standby called second follows", &url, &server);
    gone(second, "second");
    let standby = Server::start_standby(server.port());
    until_shown(&server, "SELECT state FROM pg_stat_replication WHERE application_name = 'walreceiver'", "streaming");
    tried.look("a standby follows", &url, &server);
    tried.look("the standby itself", &standby.url(), &standby);
    client("CREATE ROLE app LOGIN");
    let tables = "snowmint.records, snowmint.counters";
    assert!(tables.split(", ").all(|table| postgres::SCHEMA.contains(table)));
    client("GRANT USAGE ON SCHEMA snowmint TO app");
    client(&format!("GRANT SELECT, INSERT, UPDATE ON {tables} TO app"));
    let as_role = url.replace("//postgres@", "//app@");
    tried.look("a standby follows, asked by a role that is not of pg_monitor", &as_role, &server);
    set("synchronous_standby_names", "'*'");
    until_shown(&server, "SELECT sync_state FROM pg_stat_replication", "sync");
    tried.look("a standby that is waited for follows", &url, &server);
    tried.end();
}

#[test]
fn mariadb_is_judged_by_its_settings() {
    let plain = Server::start(Engine::Mariadb);
    let options = ["--log-bin=b", "--server-id=1", "--binlog-format=ROW"];
    let primary = Server::start_with(Engine::Mariadb, &options);
    let set = |server: &Server, setting: &str, value: u32| {
        Engine::Mariadb.client(server.port(), &format!("SET GLOBAL {setting} = {value}"));
    };
    let mut tried = Tried::new(Engine::Mariadb, "mysql");
    tried.look("a new server", &plain.url(), &plain);
    for (setting, wrong, right) in
        [("innodb_flush_log_at_trx_commit", 0, 1), ("innodb_flush_log_at_trx_commit", 2, 1), ("read_only", 1, 0)]
    {
        set(&plain, setting, wrong);
        tried.look(&format!("{setting}={wrong}"), &plain.url(), &plain);
        set(&plain, setting, right);
    }
    tried.look("log_bin with sync_binlog=0, as it is at first", &primary.url(), &primary);
    set(&primary, "sync_binlog", 100);
    tried.look("log_bin with sync_binlog=100", &primary.url(), &primary);
    set(&primary, "sync_binlog", 1);
    tried.look("log_bin with sync_binlog=1", &primary.url(), &primary);

    // A replica needs another server ID than its primary. From this point `plain` is a replica.
    set(&plain, "server_id", 2);
    let follow = format!(
        "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={}, MASTER_USER='root', MASTER_USE_GTID=current_pos; \
         START SLAVE",
        primary.port()
    );
    // Both servers already have our tables, so the replica drops its own.
    Engine::Mariadb.client(plain.port(), &format!("DROP DATABASE ids; CREATE DATABASE ids; {follow}"));
    until_shown(&plain, "SHOW GLOBAL STATUS LIKE 'Slaves_running'", "1");
    until_shown(&primary, "SHOW GLOBAL STATUS LIKE 'Slaves_connected'", "1");
    tried.look("a replica", &plain.url(), &plain);
    tried.look("a replica follows", &primary.url(), &primary);
    set(&primary, "rpl_semi_sync_master_enabled", 1);
    let anew = "STOP SLAVE; SET GLOBAL rpl_semi_sync_slave_enabled = 1; START SLAVE";
    Engine::Mariadb.client(plain.port(), anew);
    until_shown(&primary, "SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_master_clients'", "1");
    until_shown(&primary, "SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_master_status'", "ON");
    until_shown(&primary, "SHOW GLOBAL STATUS LIKE 'Slaves_connected'", "1");
    tried.look("a replica that is waited for follows", &primary.url(), &primary);
    tried.end();
}

#[test]
fn redis_is_judged_by_its_settings() {
    let server = Server::start(Engine::Redis);
    let client = |statement: &str| Engine::Redis.client(server.port(), statement);
    let set = |setting: &str| assert_eq!(client(&format!("CONFIG SET {setting}")).trim(), "OK");
    let url = server.url();
    let mut tried = Tried::new(Engine::Redis, "redis");
    tried.look("a new server", &url, &server);
    for (wrong, right) in [
        ("appendfsync everysec", "appendfsync always"),
        ("appendfsync no", "appendfsync always"),
        ("no-appendfsync-on-rewrite yes", "no-appendfsync-on-rewrite no"),
        ("maxmemory-policy allkeys-lru", "maxmemory-policy noeviction"),
        // Our keys have no time to live, so this policy is safe.
        ("maxmemory-policy volatile-lru", "maxmemory-policy noeviction"),
        ("appendonly no", "rdb-key-save-delay 10000000"),
    ] {
        set(wrong);
        tried.look(wrong, &url, &server);
        set(right);
    }
    // The new file takes ten seconds for each key. A crash in that time would lose confirmed writes.
    set("appendonly yes");
    tried.look("appendonly yes, whose first file is not complete", &url, &server);
    set("appendonly no");
    set("rdb-key-save-delay 0");
    set("appendonly yes");
    until_shown(&server, "INFO persistence", "aof_rewrite_in_progress:0");
    tried.look("appendonly yes, whose first file is complete", &url, &server);
    // A rewrite of a complete file looks like the first one.
    set("rdb-key-save-delay 10000000");
    client("BGREWRITEAOF");
    tried.look("a rewrite of the file", &url, &server);
    let saving = Server::start(Engine::Redis);
    for command in ["SET key value", "CONFIG SET rdb-key-save-delay 10000000", "CONFIG SET appendonly no", "BGSAVE"] {
        Engine::Redis.client(saving.port(), command);
    }
    Engine::Redis.client(saving.port(), "CONFIG SET appendonly yes");
    tried.look("appendonly yes during a BGSAVE, whose first file is not begun", &saving.url(), &saving);
    let replica = Server::start_with(Engine::Redis, &["--replicaof", "127.0.0.1", &server.port().to_string()]);
    until_shown(&replica, "INFO replication", "master_link_status:up");
    until_shown(&replica, "INFO persistence", "aof_rewrite_in_progress:0");
    until_shown(&server, "INFO replication", "state=online");
    tried.look("a replica", &replica.url(), &replica);
    tried.look("a replica follows", &url, &server);
    let cluster = Server::start_with(Engine::Redis, &["--cluster-enabled", "yes"]);
    tried.look("a member of a cluster", &cluster.url(), &cluster);
    tried.end();
}

#[test]
fn nats_is_judged_by_its_settings() {
    let mut server = Server::start(Engine::Nats);
    let (port, url) = (server.port(), server.url());
    let mut tried = Tried::new(Engine::Nats, "nats");
    // The store makes the bucket.
    run(async { drop(connect(&url).await.expect("it connects")) });
    tried.look("a new server", &url, &server);
    for (line, name) in
        [("jetstream { sync_interval: 30s }", "sync_interval: 30s"), ("jetstream: enabled", "no sync_interval")]
    {
        server.set_options(&[line]);
        server.restart();
        tried.look(name, &url, &server);
    }
    server.set_options(&[]);
    server.restart();
    for (setting, value) in [
        ("storage", json!("memory")),
        ("persist_mode", json!("async")),
        ("max_age", json!(3_600_000_000_000_i64)),
        ("discard", json!("old")),
    ] {
        run(async {
            let client = async_nats::connect(format!("127.0.0.1:{port}")).await.expect("it connects");
            let context = async_nats::jetstream::new(client);
            context.delete_stream("KV_ids").await.expect("it is deleted");
            let mut bucket = json!({
                "name": "KV_ids", "subjects": ["$KV.ids.>"], "storage": "file", "retention": "limits", "discard": "new",
                "max_msgs_per_subject": 1, "num_replicas": 1, "max_age": 0,
            });
            bucket[setting] = value.clone();
            let made: Value = context.request("STREAM.CREATE.KV_ids", &bucket).await.expect("an answer");
            assert!(made.get("error").is_none(), "{made}");
        });
        tried.look(&format!("a bucket with {setting}: {value}"), &url, &server);
    }
    tried.end();
}
