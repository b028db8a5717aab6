//! Settings that change under a live fleet. If the server itself can lose writes, renewals and fetches end. If a
//! failover can lose writes, the fleet reports it.

use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use snowmint::stores::connect;
use snowmint::{Error, ErrorKind, Id, Layout, LeaseOptions, Snowflake};
use snowmint_tests::engines::{Engine, Server};

use crate::hooked::Hooked;
use crate::scene::until_shown;
use crate::sql_scenes::{assert_says, refused, run};
use crate::support::{ONE_NODE, assert_unique};

/// How long to wait for an expected change: ten times the usual time.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A holder of a node, and the channel that gets the error when the lease is lost.
struct Holder {
    generator: Snowflake,
    lost: Receiver<Error>,
}

impl Holder {
    fn claim(url: &str, namespace: &str) -> Result<Self, Error> {
        Self::claim_for(url, namespace, Duration::from_secs(2))
    }

    fn claim_for(url: &str, namespace: &str, window: Duration) -> Result<Self, Error> {
        let (sender, lost) = channel();
        let lease = LeaseOptions::new()
            .layout(Layout::parse(ONE_NODE).expect("a layout"))
            .store(url)
            .namespace(namespace)
            .window(window)
            .max_wait(Duration::from_secs(30))
            .on_lost(move |error| drop(sender.send(error.clone())));
        Snowflake::lease(lease).map(|generator| Self { generator, lost })
    }

    fn end_ms(&self) -> i64 {
        self.generator.window().expect("a window").end_ms
    }

    fn wait_for(&self, what: &str, is_there: impl Fn(&Self) -> bool) -> &Self {
        let began = Instant::now();
        while !is_there(self) {
            assert!(began.elapsed() < TIMEOUT, "{what} does not come: {:?}", self.generator.status());
            std::thread::sleep(Duration::from_millis(5));
        }
        self
    }

    /// Mints until the lease is lost. Returns the IDs and the error.
    fn mint_until_lost(&self) -> (Vec<Id>, Error) {
        let (mut ids, began) = (Vec::new(), Instant::now());
        loop {
            ids.extend(self.generator.try_next_id());
            if let Ok(error) = self.lost.try_recv() {
                return (ids, error);
            }
            assert!(began.elapsed() < TIMEOUT, "renewals go on: {:?}", self.generator.status());
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A setting makes a live server lose writes. Renewals, fetches and claims end with that reason; after a crash of the
/// server no ID repeats.
fn nothing_is_granted_by_a_server_that_loses_writes(mut server: Server, spoil: &[&str], cure: &[&str], setting: &str) {
    let url = server.url();
    let holder = Holder::claim(&url, "orders").expect("a node");
    let first = holder.generator.next_id().expect("an ID");
    let client = |statement: &str| server.engine().client(server.port(), statement);
    // All in one `run`, since the store's connection ends with the runtime.
    run(async {
        let store = connect(&url).await.expect("it connects");
        assert_eq!(store.add("c", 1, 0).await, Ok(1));
        for statement in spoil {
            client(statement);
        }
        let began = Instant::now();
        // A reload takes a moment.
        let error = loop {
            match store.add("c", 1, 0).await {
                Err(error) => break error,
                Ok(_) => assert!(began.elapsed() < TIMEOUT, "fetches go on"),
            }
        };
        assert_says(&error, ErrorKind::UnsafeStore, &[setting, "confirmed writes can be lost"]);
    });
    // On a busy machine a renewal may have no answer for a while, and the window may be over before the first refusal.
    let is_refused = |holder: &Holder| {
        let status = holder.generator.status();
        let refusal = status.renewal_error.filter(|error| error.kind() == ErrorKind::UnsafeStore);
        refusal.is_some_and(|error| error.to_string().contains(setting)) || status.lost.is_some()
    };
    let end_ms = holder.wait_for("the refusal of a renewal", is_refused).end_ms();
    let (mut ids, lost) = holder.mint_until_lost();
    ids.push(first);
    assert_eq!(holder.end_ms(), end_ms, "no time is granted");
    assert_says(&lost, ErrorKind::WindowClosed, &["lease of node 0 was lost", setting]);
    let refused = holder.generator.next_id().expect_err("the window is over");
    assert_says(&refused, ErrorKind::WindowClosed, &[setting]);
    assert_says(&run(self::refused(&url)), ErrorKind::UnsafeStore, &[setting]);
    server.kill();
    server.restart();
    for statement in cure {
        server.engine().client(server.port(), statement);
    }
    let mut successor = None;
    let began = Instant::now();
    while successor.is_none() {
        // A store pauses between attempts to connect, so a claim may fail at first.
        successor = Holder::claim(&url, "orders").ok();
        assert!(began.elapsed() < TIMEOUT, "no claim succeeds");
    }
    let successor = successor.expect("a node");
    ids.extend(successor.generator.next_ids(10_000).expect("IDs"));
    assert!(assert_unique(ids) > 10_000);
}

#[test]
fn renewals_end_when_redis_stops_to_log() {
    let server = Server::start(Engine::Redis);
    nothing_is_granted_by_a_server_that_loses_writes(server, &["CONFIG SET appendonly no"], &[], "appendonly=no");
}

/// Nothing of a log that is turned on again is on disk until its first file is complete: a backup runs, and the file is not
/// begun.
#[test]
fn renewals_end_while_the_log_of_redis_waits_for_a_backup() {
    let server = Server::start(Engine::Redis);
    let spoil =
        ["CONFIG SET rdb-key-save-delay 10000000", "BGSAVE", "CONFIG SET appendonly no", "CONFIG SET appendonly yes"];
    nothing_is_granted_by_a_server_that_loses_writes(server, &spoil, &[], "aof_rewrite_scheduled=1");
}

/// The same while the file is written: the size of an older file, which Redis still reports, proves nothing.
#[test]
fn renewals_end_while_redis_writes_its_log_anew() {
    let server = Server::start(Engine::Redis);
    let client = |statement: &str| Engine::Redis.client(server.port(), statement);
    client("SET key value");
    client("BGREWRITEAOF");
    until_shown(&server, "INFO persistence", "aof_rewrite_in_progress:0");
    assert!(!client("INFO persistence").contains("aof_base_size:0"));
    let spoil = ["CONFIG SET rdb-key-save-delay 10000000", "CONFIG SET appendonly no", "CONFIG SET appendonly yes"];
    nothing_is_granted_by_a_server_that_loses_writes(server, &spoil, &[], "aof_rewrite_in_progress=1");
}

/// A rewrite of the log refuses renewals while it runs. The next one is granted, and the lease is kept.
#[test]
fn a_lease_outlives_a_rewrite_of_the_log() {
    let server = Server::start(Engine::Redis);
    let client = |statement: &str| Engine::Redis.client(server.port(), statement);
    // The window is renewed after five seconds, and the rewrite takes six: three for each of two keys.
    client("CONFIG SET rdb-key-save-delay 3000000");
    let holder = Holder::claim_for(&server.url(), "orders", Duration::from_secs(10)).expect("a node");
    let end_ms = holder.end_ms();
    client("BGREWRITEAOF");
    let refused = |holder: &Holder| {
        holder.generator.status().renewal_error.is_some_and(|error| error.kind() == ErrorKind::UnsafeStore)
    };
    holder.wait_for("the refusal of a renewal", refused);
    holder.wait_for("a renewal", |holder| holder.end_ms() > end_ms);
    assert!(holder.lost.try_recv().is_err(), "it is held");
    holder.generator.next_id().expect("an ID");
}

#[test]
fn renewals_end_when_postgres_stops_to_sync() {
    let server = Server::start(Engine::Postgres);
    let spoil = ["ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()"];
    let cure = ["ALTER SYSTEM RESET fsync", "SELECT pg_reload_conf()"];
    nothing_is_granted_by_a_server_that_loses_writes(server, &spoil, &cure, "fsync=off");
}

#[test]
fn renewals_end_when_a_postgres_table_is_unlogged() {
    let server = Server::start(Engine::Postgres);
    let spoil = ["ALTER TABLE snowmint.counters SET UNLOGGED"];
    let cure = ["ALTER TABLE snowmint.counters SET LOGGED"];
    nothing_is_granted_by_a_server_that_loses_writes(server, &spoil, &cure, "snowmint.counters is unlogged");
}

#[test]
fn renewals_end_when_mariadb_stops_to_flush() {
    let server = Server::start(Engine::Mariadb);
    let spoil = ["SET GLOBAL innodb_flush_log_at_trx_commit = 2"];
    nothing_is_granted_by_a_server_that_loses_writes(server, &spoil, &[], "innodb_flush_log_at_trx_commit=2");
}

#[test]
fn renewals_end_when_a_table_of_mariadb_leaves_innodb() {
    let server = Server::start(Engine::Mariadb);
    let spoil = ["ALTER TABLE snowmint_counters ENGINE=Aria TRANSACTIONAL=0"];
    let cure = ["ALTER TABLE snowmint_counters ENGINE=InnoDB"];
    nothing_is_granted_by_a_server_that_loses_writes(server, &spoil, &cure, "snowmint_counters is of engine Aria");
}

#[test]
fn renewals_wait_for_the_first_append_only_file() {
    let server = Server::start_with(Engine::Redis, &["--appendonly", "no"]);
    let client = |statement: &str| Engine::Redis.client(server.port(), statement);
    for key in 0..3 {
        client(&format!("SET key{key} value"));
    }
    // The file takes three seconds. A crash in that time would lose confirmed writes.
    client("CONFIG SET rdb-key-save-delay 1000000");
    client("CONFIG SET appendonly yes");
    let refusal = Holder::claim(&server.url(), "orders").map(|_| ()).expect_err("it is not complete");
    assert_says(&refusal, ErrorKind::UnsafeStore, &["aof_rewrite_in_progress=1", "not complete", "wait"]);
    let began = Instant::now();
    while let Err(error) = Holder::claim(&server.url(), "orders") {
        assert_eq!(error.kind(), ErrorKind::UnsafeStore, "{error}");
        assert!(began.elapsed() < TIMEOUT, "{error}");
    }
}

/// A setting changes after everything that the store knows, and before its first write with `marker` reaches the server. The
/// write does not count: a crash could lose it.
fn a_write_does_not_count(server: &Server, marker: &str, spoil: &'static [&str], shown: &'static str, setting: &str) {
    let proxy = Hooked::before(server.port());
    let (engine, port) = (server.engine(), server.port());
    run(async {
        let store = connect(&proxy.url(&server.url(), port)).await.expect("it connects");
        proxy.act_before(marker, move || {
            for statement in spoil {
                engine.client(port, statement);
            }
            let began = Instant::now();
            while !shown.is_empty() && !engine.client(port, shown).contains("off") {
                assert!(began.elapsed() < TIMEOUT, "{shown} does not change");
            }
        });
        let error = store.add("c", 1, 0).await.expect_err("a crash could lose it");
        assert_says(&error, ErrorKind::UnsafeStore, &[setting]);
    });
}

#[test]
fn a_write_counts_only_if_redis_logs_behind_it() {
    let server = Server::start(Engine::Redis);
    a_write_does_not_count(&server, "EVAL", &["CONFIG SET appendonly no"], "", "appendonly=no");
}

#[test]
fn a_write_counts_only_if_postgres_syncs_behind_it() {
    let server = Server::start(Engine::Postgres);
    let spoil = &["ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()"];
    a_write_does_not_count(&server, "INSERT INTO snowmint.counters", spoil, "SHOW fsync", "fsync=off");
}

#[test]
fn a_write_counts_only_if_mariadb_flushes_behind_it() {
    let server = Server::start(Engine::Mariadb);
    let spoil = &["SET GLOBAL innodb_flush_log_at_trx_commit = 2"];
    a_write_does_not_count(&server, "INSERT INTO snowmint_counters", spoil, "", "innodb_flush_log_at_trx_commit=2");
}

/// A standby is attached to a live server. The fleet continues and reports the risk; new claims are refused.
fn a_fleet_continues_and_new_claims_are_refused<T>(server: &Server, attach: impl FnOnce() -> T, words: &[&str]) {
    let url = server.url();
    let fleet: Vec<_> = (0..4).map(|at| Holder::claim(&url, &format!("fleet{at}")).expect("a node")).collect();
    assert_eq!(fleet[0].generator.status().standby_risk, None);
    run(async {
        let store = connect(&url).await.expect("it connects");
        let attached = attach();
        let reported = |holder: &Holder| holder.generator.status().standby_risk.is_some();
        let ends_ms: Vec<_> = fleet.iter().map(|holder| holder.wait_for("the report", reported).end_ms()).collect();
        for (holder, end_ms) in fleet.iter().zip(ends_ms) {
            let risk = holder.generator.status().standby_risk.expect("a risk");
            assert_says(&risk, ErrorKind::UnsafeStore, words);
            assert_says(
                &risk,
                ErrorKind::UnsafeStore,
                &["a failover can lose", "which ", "allow_standby=true if `snowmint fence`"],
            );
            // Two windows later; without renewals the window would be over.
            holder.wait_for("a renewal", |holder| holder.end_ms() >= end_ms + 4000);
            holder.generator.next_id().expect("an ID");
            assert!(holder.lost.try_recv().is_err(), "it is held");
            assert_eq!(holder.generator.status().renewal_error, None);
        }
        // Fetches continue too, and report the risk.
        assert_eq!(store.add("c", 1, 0).await, Ok(1));
        assert_says(&store.standby_risk().expect("a risk"), ErrorKind::UnsafeStore, words);
        // Claims are refused over the open connection and over a new one.
        let refusal = Holder::claim(&url, "newcomers").map(|_| ()).expect_err("a failover could lose it");
        assert_says(&refusal, ErrorKind::UnsafeStore, words);
        assert_says(&refused(&url).await, ErrorKind::UnsafeStore, words);
        assert_eq!(store.read("leases/newcomers/0").await, Ok(None), "nothing was written");
        let accepted = Holder::claim(&format!("{url}?allow_standby=true"), "newcomers").expect("a node");
        assert!(accepted.generator.status().standby_risk.is_some(), "an accepted risk is still reported");
        drop(attached);
    });
}

#[test]
fn a_fleet_continues_when_postgres_gets_a_standby() {
    let server = Server::start(Engine::Postgres);
    let words = ["asynchronous_standby=walreceiver", "every commit of this server wait for the standby"];
    a_fleet_continues_and_new_claims_are_refused(&server, || Server::start_standby(server.port()), &words);
}

#[test]
fn a_fleet_continues_when_mariadb_gets_a_replica() {
    let server = Server::start_with(
        Engine::Mariadb,
        &["--log-bin=b", "--sync-binlog=1", "--server-id=1", "--binlog-format=ROW"],
    );
    let attach = || {
        let replica = Server::start_with(Engine::Mariadb, &["--server-id=2"]);
        let follow = format!(
            "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={}, MASTER_USER='root'; START SLAVE",
            server.port()
        );
        replica.engine().client(replica.port(), &follow);
        until_shown(&server, "SHOW GLOBAL STATUS LIKE 'Slaves_connected'", "1");
        replica
    };
    let words = ["Slaves_connected=1", "turn semi-synchronous replication on"];
    a_fleet_continues_and_new_claims_are_refused(&server, attach, &words);
}

#[test]
fn a_fleet_continues_when_redis_gets_a_replica() {
    let server = Server::start(Engine::Redis);
    let attach = || {
        let port = server.port().to_string();
        let replica = Server::start_with(Engine::Redis, &["--replicaof", "127.0.0.1", &port]);
        until_shown(&server, "INFO replication", "connected_slaves:1");
        replica
    };
    let words = ["connected_slaves=1", "use a server without replicas"];
    a_fleet_continues_and_new_claims_are_refused(&server, attach, &words);
}
