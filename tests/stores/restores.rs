//! Stores that lost records, as after a restored backup: behind a fence no ID repeats, also beside a suspended holder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use snowmint::stores::connect;
use snowmint::stores::fence::{Fence, raise};
use snowmint::{ErrorKind, LeaseOptions, Snowflake};
use snowmint_core::Layout;
use snowmint_core::lease::Record;
use snowmint_tests::engines::{Engine, Server};
use tempfile::TempDir;

use crate::scene::directory;
use crate::sql_scenes::run;
use crate::support::{ONE_NODE, Running, assert_unique, ledger, minter, wait_for};

/// A layout with few IDs per tick, so that generators soon reach `max_ahead_ms`.
const FEW_IDS: &str = "time:41,node:2,sequence:2;epoch=2025-01-01T00:00:00Z";

/// A database file, its backup, and ledgers.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(directory())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn url(&self) -> String {
        format!("sqlite:{}?allow_unsafe=true", self.path("ids.db").display())
    }

    fn sql(&self, statement: &str) -> String {
        // Waits, because a connection of a store may still be open.
        let mut command = Command::new("sqlite3");
        command.args(["-cmd", ".timeout 10000"]).arg(self.path("ids.db")).arg(statement);
        let output = command.output().expect("sqlite3 starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn back_up(&self) {
        self.sql(&format!("VACUUM INTO '{}'", self.path("backup.db").display()));
    }

    fn restore(&self) {
        for part in ["ids.db-wal", "ids.db-shm"] {
            let _ = fs::remove_file(self.path(part));
        }
        fs::copy(self.path("backup.db"), self.path("ids.db")).expect("the backup is there");
    }

    fn minter(&self, ledger: &str, options: &[&str]) -> Command {
        let mut command = minter("mint");
        command
            .arg(format!("store={}", self.url()))
            .arg(format!("ledger={}", self.path(ledger).display()))
            .arg(format!("layout={FEW_IDS}"))
            .args(["window_ms=1000", "namespace=orders"])
            .args(options);
        command
    }

    fn lease(&self) -> LeaseOptions {
        LeaseOptions::new()
            .layout(Layout::parse(FEW_IDS).expect("a layout"))
            .store(self.url())
            .namespace("orders")
            .window(Duration::from_secs(1))
    }

    /// Runs a fence for holders whose window and `max_ahead_ms` are together that long, and returns its time.
    fn fence(&self, reach_ms: u64) -> i64 {
        let mut until_ms = 0;
        run(async {
            let fence = Fence::skipping(0).reach(Duration::from_millis(reach_ms)).accepts_empty(true);
            let raised = raise(&*connect(&self.url()).await.expect("it connects"), &fence).await.expect("raised");
            until_ms = raised.until_ms;
        });
        until_ms
    }
}

#[test]
fn a_fence_holds_nodes_first_granted_after_the_backup() {
    let place = Place::new();
    crate::support::run(&mut place.minter("ids", &["count=5", "max_wait_ms=20000"]));
    place.back_up();
    // Both holders mint up to six seconds ahead of the clock. The backup has a record of node 0 only.
    let holders = [0, 1].map(|number| {
        let ledger = format!("holder{number}");
        let mut holder = Running::start(&mut place.minter(&ledger, &["max_ahead_ms=6000", "max_wait_ms=20000"]));
        assert_eq!(holder.node(), number);
        holder
    });
    for number in 0..2 {
        wait_for("the holders mint", || ledger(&place.path(&format!("holder{number}"))).len() > 20_000);
    }
    for holder in holders {
        holder.kill();
    }
    place.restore();
    // The time of the fence is further ahead than the successor may mint.
    let until_ms = place.fence(12_000);
    let options = ["count=8000", "max_ahead_ms=3000", "max_wait_ms=60000"];
    crate::support::run(&mut place.minter("successor", &options));
    let successor = ledger(&place.path("successor"));
    let ids = ["ids", "holder0", "holder1", "successor"].map(|name| ledger(&place.path(name))).concat();
    assert!(assert_unique(ids) > 24_000);
    let layout = Layout::parse(FEW_IDS).expect("a layout");
    let first = layout.decode(successor[0]).expect("an ID");
    assert!(first.timestamp_ms >= until_ms, "{first:?} is before {until_ms}");
}

#[test]
fn a_fence_holds_namespaces_made_after_the_backup() {
    let place = Place::new();
    run(async { drop(connect(&place.url()).await.expect("it connects")) });
    place.back_up();
    let mut holder = Running::start(&mut place.minter("holder", &["max_ahead_ms=6000", "max_wait_ms=20000"]));
    assert_eq!(holder.node(), 0);
    wait_for("the holder mints", || ledger(&place.path("holder")).len() > 20_000);
    holder.kill();
    place.restore();
    place.fence(12_000);
    let options = ["count=8000", "max_ahead_ms=3000", "max_wait_ms=60000"];
    crate::support::run(&mut place.minter("successor", &options));
    assert!(assert_unique(["holder", "successor"].map(|name| ledger(&place.path(name))).concat()) > 16_000);
}

#[test]
fn vanished_records_close_holders_and_stop_claims_until_fenced() {
    let place = Place::new();
    let first = Snowflake::lease(place.lease()).expect("a node");
    let second = Snowflake::lease(place.lease().exclude([9])).expect("a node");
    assert_eq!((first.node(), second.node()), (0, 1));
    // First one of two records vanishes, then both.
    for (statement, lost) in [
        ("DELETE FROM snowmint_records WHERE name = 'leases/orders/1'", &second),
        ("DELETE FROM snowmint_records WHERE name LIKE 'leases/%'", &first),
    ] {
        place.sql(statement);
        wait_for("the holder is closed", || lost.status().lost.is_some());
        let why = lost.status().lost.expect("it is lost").to_string();
        assert!(why.contains("vanished"), "{why}");
        let refusal = Snowflake::lease(place.lease().exclude([7])).expect_err("records are missing");
        assert_eq!(refusal.kind(), ErrorKind::StoreUnavailable, "{refusal}");
        assert!(refusal.to_string().contains("snowmint fence"), "{refusal}");
    }
    place.fence(60_000);
    let refusal = Snowflake::lease(place.lease()).expect_err("nodes begin behind the fence");
    assert_eq!(refusal.kind(), ErrorKind::NodesExhausted, "{refusal}");
}

/// A store with one node, of which backups are made and restored.
trait Restorable {
    fn url(&self) -> String;
    fn back_up(&mut self, to: &Path);
    fn restore(&mut self, from: &Path);
}

/// A server, whose data directory is copied while it is stopped.
impl Restorable for Server {
    fn url(&self) -> String {
        Self::url(self)
    }

    fn back_up(&mut self, to: &Path) {
        self.stop();
        copy(&self.directory().join("data"), to);
        self.restart();
    }

    fn restore(&mut self, from: &Path) {
        self.stop();
        fs::remove_dir_all(self.directory().join("data")).expect("the data are there");
        copy(from, &self.directory().join("data"));
        self.restart();
    }
}

/// A database file, by the backup of `sqlite3`.
impl Restorable for Place {
    fn url(&self) -> String {
        Self::url(self)
    }

    fn back_up(&mut self, to: &Path) {
        self.sql(&format!(".backup {}", to.display()));
    }

    fn restore(&mut self, from: &Path) {
        self.sql(&format!(".restore {}", from.display()));
    }
}

fn copy(from: &Path, to: &Path) {
    crate::support::run(Command::new("cp").arg("-a").arg(from).arg(to));
}

/// Suspends a holder, restores an older backup, raises a fence, and lets the holder continue when a new holder has written
/// the node's record as often as the old one. Versions that count are then equal. `behind` is how many other writes of the
/// engine the fence and the claim were.
fn a_suspended_holder_mints_nothing_beside_its_successor(store: &mut dyn Restorable, behind: u64) {
    let directory = directory();
    let url = snowmint_tests::engines::with_option(&store.url(), "timeout_ms=20000");
    let holder = |name: &str| {
        let mut command = minter("mint");
        command
            .args([format!("store={url}"), format!("ledger={}", directory.path().join(name).display())])
            .args([format!("layout={ONE_NODE}"), "namespace=orders".to_owned()])
            .args(["window_ms=1000", "pace_us=300", "max_wait_ms=90000"]);
        Running::start(&mut command)
    };
    let record = || {
        let mut record = None;
        run(async {
            // A restarted server may refuse the first requests.
            let found = match connect(&url).await {
                Ok(store) => store.read("leases/orders/0").await.ok().flatten(),
                Err(_) => None,
            };
            record = found.map(|found| Record::from_bytes(&found.value).expect("a record"));
        });
        record
    };
    let serial = || record().map_or(0, |record| record.serial);
    let minted = |name: &str| ledger(&directory.path().join(name)).len();

    let mut suspended = holder("suspended");
    assert_eq!(suspended.node(), 0);
    let backup = directory.path().join("backup");
    store.back_up(&backup);
    let saved = serial();
    wait_for("the holder renews", || serial() > saved + behind + 2);
    suspended.signal("STOP");
    let known = serial();
    store.restore(&backup);
    wait_for("the backup is there", || (1..known).contains(&serial()));
    // The windows that the backup knows end, as a fence refuses nodes that may have a live holder.
    let mut until_ms = 0;
    wait_for("the store is fenced", || {
        run(async {
            let fence = Fence::skipping(0).reach(Duration::from_secs(1));
            let Ok(store) = connect(&url).await else { return };
            until_ms = raise(&*store, &fence).await.map_or(0, |raised| raised.until_ms);
        });
        until_ms > 0
    });
    let mut successor = holder("successor");
    assert_eq!(successor.node(), 0);
    wait_for("the successor has renewed as often", || serial() >= known - behind);
    suspended.signal("CONT");
    // One of them ends when it has lost the node.
    for (holder, name) in [(&mut suspended, "suspended"), (&mut successor, "successor")] {
        let before = minted(name);
        wait_for("a holder ends or mints", || {
            holder.child.try_wait().expect("a child").is_some() || minted(name) > before + 2000
        });
    }
    drop((suspended, successor));
    let ids = ["suspended", "successor"].map(|name| ledger(&directory.path().join(name))).concat();
    assert!(assert_unique(ids) > 2000);
}

#[test]
fn a_suspended_holder_of_sqlite_is_stopped_by_a_fence() {
    a_suspended_holder_mints_nothing_beside_its_successor(&mut Place::new(), 0);
}

#[test]
fn a_suspended_holder_of_postgres_is_stopped_by_a_fence() {
    a_suspended_holder_mints_nothing_beside_its_successor(&mut Server::start(Engine::Postgres), 0);
}

#[test]
fn a_suspended_holder_of_mariadb_is_stopped_by_a_fence() {
    a_suspended_holder_mints_nothing_beside_its_successor(&mut Server::start(Engine::Mariadb), 0);
}

#[test]
fn a_suspended_holder_of_redis_is_stopped_by_a_fence() {
    a_suspended_holder_mints_nothing_beside_its_successor(&mut Server::start(Engine::Redis), 0);
}

#[test]
fn a_suspended_holder_of_zookeeper_is_stopped_by_a_fence() {
    a_suspended_holder_mints_nothing_beside_its_successor(&mut Server::start(Engine::Zookeeper), 0);
}

// The revisions of these engines count all writes, also the writes of the floor and of the namespace.
#[test]
fn a_suspended_holder_of_etcd_is_stopped_by_a_fence() {
    a_suspended_holder_mints_nothing_beside_its_successor(&mut Server::start(Engine::Etcd), 2);
}

#[test]
fn a_suspended_holder_of_nats_is_stopped_by_a_fence() {
    a_suspended_holder_mints_nothing_beside_its_successor(&mut Server::start(Engine::Nats), 2);
}
