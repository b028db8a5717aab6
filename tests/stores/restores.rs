//! Stores that lost records, as after a restored backup: behind a fence no ID repeats, also beside a suspended holder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use snowmint::stores::connect;
use snowmint::stores::fence::{Fence, raise};
use snowmint::{ErrorKind, LeaseOptions, Snowflake};
use snowmint_core::Layout;
use tempfile::TempDir;

use crate::scene::directory;
use crate::sql_scenes::run;
use crate::support::{Running, assert_unique, ledger, minter};

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
            let fence = Fence { reach_ms, accepts_empty: true, ..Fence::skipping(0) };
            let raised = raise(&*connect(&self.url()).await.expect("it connects"), &fence).await.expect("raised");
            until_ms = raised.until_ms;
        });
        until_ms
    }
}

fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_fence_holds_nodes_first_granted_after_the_backup() {
    let place = Place::new();
    crate::support::run(&mut place.minter("ids", &["count=5", "max_wait_ms=20000"]));
    place.back_up();
    // Both holders mint up to three seconds ahead of the clock. The backup has a record of node 0 only.
    let mut holders: Vec<_> = (0..2)
        .map(|number| {
            let ledger = format!("holder{number}");
            Running::start(&mut place.minter(&ledger, &["max_ahead_ms=3000", "max_wait_ms=20000"]))
        })
        .collect();
    let mut nodes: Vec<_> = holders.iter_mut().map(Running::node).collect();
    nodes.sort_unstable();
    assert_eq!(nodes, [0, 1]);
    for number in 0..2 {
        wait_for("the holders mint", || ledger(&place.path(&format!("holder{number}"))).len() > 8000);
    }
    for holder in holders {
        holder.kill();
    }
    place.restore();
    let until_ms = place.fence(4000);
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
    let mut holder = Running::start(&mut place.minter("holder", &["max_ahead_ms=3000", "max_wait_ms=20000"]));
    assert_eq!(holder.node(), 0);
    wait_for("the holder mints", || ledger(&place.path("holder")).len() > 8000);
    holder.kill();
    place.restore();
    place.fence(4000);
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
