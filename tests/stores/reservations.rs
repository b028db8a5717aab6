//! P1 and P5 while the store does not answer for hours: processes start and mint within the reservations of their directory.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rand::RngExt as _;
use snowmint::core::Host;
use snowmint::core::host::whole_ms;
use snowmint::core::lease::Record;
use snowmint::host::{ClockId, Environment, ProcessGenerator, SystemHost, unix_ms};
use snowmint::stores::connect;
use snowmint::{Error, ErrorKind, LeaseOptions, Window};
use snowmint_tests::engines::{Engine, Server, with_option};
use tempfile::TempDir;

use crate::crashes::rounds;
use crate::support::{Running, assert_unique, ledger, minter, run_refused, wait_for_more};

/// Two machines, each with a directory, one store, and the ledger of all IDs.
struct Fleet {
    server: Server,
    directory: TempDir,
}

impl Fleet {
    fn new(engine: Engine) -> Self {
        Self { server: Server::start(engine), directory: TempDir::new().expect("a temporary directory") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn url(&self) -> String {
        with_option(&self.server.url(), "timeout_ms=2000")
    }

    /// Makes a command that mints on a machine.
    fn minter(&self, machine: &str, options: &[&str]) -> Command {
        let mut command = minter("mint");
        command.env("SNOWMINT_STATE_DIR", self.path(machine)).env("SNOWMINT_RESERVE", "24h");
        command.arg(format!("store={}", self.url())).arg(format!("ledger={}", self.path("ledger").display()));
        command.args(["window_ms=1000", "pace_us=100"]).args(options);
        command
    }

    fn start(&self, machine: &str) -> (Running, u32) {
        let mut running = Running::start(&mut self.minter(machine, &[]));
        let node = running.node();
        (running, node)
    }

    fn ids(&self) -> Vec<u64> {
        ledger(&self.path("ledger"))
    }

    fn wait_for_more(&self) {
        wait_for_more("minters mint", 10, || self.ids().len());
    }
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").args([from, to]).status().expect("cp is there");
    assert!(copied.success());
}

/// Three processes of a machine are killed again and again while the store is dead, and start at once on the same nodes.
fn processes_start_again_while_the_store_is_dead(engine: Engine) {
    let mut fleet = Fleet::new(engine);
    let mut running: Vec<_> = (0..3).map(|_| fleet.start("a")).collect();
    let nodes: BTreeSet<_> = running.iter().map(|(_, node)| *node).collect();
    assert_eq!(nodes.len(), 3);
    let (other, of_other) = fleet.start("b");
    assert!(!nodes.contains(&of_other), "another machine has another node");
    fleet.wait_for_more();
    fleet.server.kill();
    let mut random = rand::rng();
    for _ in 0..rounds() {
        let (victim, _) = running.swap_remove(random.random_range(0..running.len()));
        victim.kill();
        running.push(fleet.start("a"));
        fleet.wait_for_more();
    }
    let now: BTreeSet<_> = running.iter().map(|(_, node)| *node).collect();
    assert_eq!(now, nodes, "no node is taken from the fleet");
    // The store is back, and confirms the reservations of the directory.
    fleet.server.restart();
    let (victim, _) = running.pop().expect("three");
    victim.kill();
    let (again, node) = fleet.start("a");
    assert!(nodes.contains(&node));
    fleet.wait_for_more();
    for (each, _) in running {
        each.kill();
    }
    again.kill();
    other.kill();
    println!("{} IDs", assert_unique(fleet.ids()));
}

#[test]
fn processes_start_again_while_postgres_is_dead() {
    processes_start_again_while_the_store_is_dead(Engine::Postgres);
}

#[test]
fn processes_start_again_while_redis_is_dead() {
    processes_start_again_while_the_store_is_dead(Engine::Redis);
}

#[test]
fn a_copied_directory_is_refused_without_the_store_and_gets_another_node_with_it() {
    let mut fleet = Fleet::new(Engine::Redis);
    let (first, node) = fleet.start("a");
    fleet.wait_for_more();
    copy(&fleet.path("a"), &fleet.path("copy"));
    fleet.server.kill();
    let refused = run_refused(&mut fleet.minter("copy", &["count=10"]));
    assert!(refused.contains("1 reservations in") && refused.contains("the directory was copied"), "{refused}");
    fleet.wait_for_more();
    fleet.server.restart();
    let (second, of_copy) = fleet.start("copy");
    assert_ne!(of_copy, node);
    fleet.wait_for_more();
    first.kill();
    second.kill();
    assert_unique(fleet.ids());
}

#[test]
fn a_reservation_that_the_store_no_longer_knows_is_given_up() {
    let mut fleet = Fleet::new(Engine::Redis);
    let begin = |fleet: &Fleet, machine: &str| {
        let mut running = Running::start(&mut fleet.minter(machine, &["namespace=orders"]));
        let node = running.node();
        fleet.wait_for_more();
        (running, node)
    };
    let (first, node) = begin(&fleet, "a");
    first.kill();
    // An operator gives the node of the dead machine to the fleet.
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let store = connect(&fleet.url()).await.expect("it connects");
        let key = format!("leases/orders/{node}");
        let found = store.read(&key).await.expect("an answer").expect("a record");
        let record = Record::from_bytes(&found.value).expect("a record");
        let window = Window { end_ms: unix_ms(), ..record.window };
        let free = Record { released: true, window, nonce: 0, ..record };
        store.write(&key, &free.to_bytes(), found.version).await.expect("written");
        let namespace = store.read("layouts/orders").await.expect("an answer").expect("a record");
        assert!(namespace.value.ends_with(b" reserve=86400000"), "a fence takes it into account: {namespace:?}");
    });
    let (other, of_other) = begin(&fleet, "b");
    assert_eq!(of_other, node);
    let (again, of_first) = begin(&fleet, "a");
    assert_ne!(of_first, node, "another machine has it");
    again.kill();
    // The machine does not take a lost node again, also while the store does not answer.
    fleet.server.kill();
    for _ in 0..2 {
        let (again, of_first) = begin(&fleet, "a");
        assert_ne!(of_first, node);
        again.kill();
    }
    other.kill();
    assert_unique(fleet.ids());
}

/// A clock that the test moves, and the sleep of the system.
struct Moved(Arc<AtomicI64>, Option<Instant>);

impl Host for Moved {
    type Error = Error;

    fn now_ms(&mut self) -> Result<i64, Error> {
        Ok(self.0.load(Ordering::Relaxed))
    }

    fn pause(&mut self, ms: u64) -> Result<(), Error> {
        self.1.get_or_insert_with(Instant::now);
        thread::sleep(Duration::from_millis(ms));
        Ok(())
    }

    fn paused_ms(&mut self) -> u64 {
        self.1.map_or(0, |since| whole_ms(since.elapsed()))
    }
}

fn environment(directory: &Path) -> Environment {
    Environment { state_dir: Some(directory.to_owned()), ..Environment::default() }
}

#[test]
fn a_process_mints_to_the_end_of_its_reservation_and_not_a_ms_longer() {
    // The last window begins within a window's length of the end.
    const STEP_MS: i64 = 7000;
    let mut server = Server::start(Engine::Redis);
    let directory = TempDir::new().expect("a temporary directory");
    let now_ms = Arc::new(AtomicI64::new(unix_ms()));
    let host = || Moved(Arc::clone(&now_ms), None);
    let options = LeaseOptions::new().store(with_option(&server.url(), "timeout_ms=2000")).clock_id(ClockId(1));
    let options =
        options.reserve(Duration::from_mins(1)).window(Duration::from_secs(10)).max_wait(Duration::from_mins(1));
    let generator = ProcessGenerator::lease(options, &environment(directory.path()), &mut host()).expect("a node");
    let end_ms = generator.status().reserved.expect("a reservation").end_ms;
    server.kill();
    let time_of = |id: u64| generator.layout().decode(id).expect("its own").timestamp_ms;
    let mut last_ms = 0;
    while now_ms.load(Ordering::Relaxed) < end_ms {
        last_ms = time_of(generator.next_id(&mut host()).expect("within the reservation"));
        now_ms.fetch_add(STEP_MS, Ordering::Relaxed);
    }
    assert!((end_ms - STEP_MS..end_ms).contains(&last_ms), "{last_ms} {end_ms}");
    let error = generator.try_next_id(end_ms).expect_err("the reservation is over");
    assert_eq!(error.kind(), ErrorKind::WindowClosed);
    server.restart();
    // The store grants more time, as the same machine still has the node.
    assert!(time_of(generator.next_id(&mut host()).expect("renewed")) >= end_ms);
}

#[test]
fn stores_and_lengths_that_cannot_be_are_refused() {
    let directory = TempDir::new().expect("a temporary directory");
    let slots = format!("file:{}", directory.path().display());
    let sqlite = format!("sqlite:{}", directory.path().join("ids.db").display());
    let hours = Duration::from_hours;
    let cases = [
        (LeaseOptions::new().store(&slots).reserve(hours(24)), "reserve needs a store of records"),
        (LeaseOptions::new().store(&sqlite).reserve(Duration::from_secs(59)), "such as 24h: 1m to 7d"),
        (LeaseOptions::new().store(&sqlite).reserve(hours(24 * 7 + 1)), "such as 24h: 1m to 7d"),
        (LeaseOptions::new().store(&sqlite).reserve(hours(1)).window(Duration::from_mins(16)), "at least four windows"),
    ];
    for (options, part) in cases {
        let environment = environment(directory.path());
        let error: Error =
            ProcessGenerator::lease(options, &environment, &mut SystemHost::new()).map(drop).expect_err(part);
        assert_eq!(error.kind(), ErrorKind::InvalidStore);
        assert!(error.to_string().contains(part), "{error}");
    }
    assert!(!directory.path().join(".reserved").exists(), "nothing was made");
}
