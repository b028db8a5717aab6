//! Leases of nodes over a store, by several processes.

use std::collections::HashSet;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use snowmint::{Error, ErrorKind, LeaseOptions, Options, Snowflake};
use snowmint_core::Layout;
use tempfile::TempDir;

use crate::scene::{Kind, Scene, directory, unique};
use crate::support::{
    ONE_NODE, Running, TWO_NODES, assert_unique, clock_off, ledger, minter, run, run_refused, ticks, wait_for_more,
};

/// Minters on one namespace of a store.
struct Minters {
    store: String,
    namespace: String,
    directory: TempDir,
}

impl Minters {
    fn on(scene: &Scene) -> Self {
        Self { store: scene.url().to_owned(), namespace: unique("minters"), directory: directory() }
    }

    fn ledger(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn minter(&self, verb: &str, ledger: &str, options: &[&str]) -> Command {
        let mut command = minter(verb);
        command
            .arg(format!("store={}", self.store))
            .arg(format!("namespace={}", self.namespace))
            .arg(format!("ledger={}", self.ledger(ledger).display()))
            .args(options);
        command
    }

    /// Waits until a ledger has `count` more IDs.
    fn wait_for_more(&self, count: usize, name: &str) {
        wait_for_more(&format!("{name} mints"), count, || ledger(&self.ledger(name)).len());
    }

    fn lease(&self, layout: &str) -> LeaseOptions {
        LeaseOptions::new()
            .layout(Layout::find(layout).expect("a layout"))
            .store(self.store.clone())
            .namespace(self.namespace.clone())
    }
}

fn waiting(max_wait_ms: u64) -> Options {
    let mut options = Options::DEFAULT;
    options.max_wait_ms = max_wait_ms;
    options
}

pub async fn eight_processes_claim_eight_nodes(scene: Arc<Scene>) {
    let minters = Minters::on(&scene);
    let at = std::time::UNIX_EPOCH.elapsed().expect("after 1970").as_millis() + 400;
    let at = format!("at={at}");
    let mut running: Vec<_> = (0..8)
        .map(|_| Running::start(&mut minters.minter("mint", "ids", &[&at, "pace_us=500", "max_wait_ms=20000"])))
        .collect();
    let nodes: HashSet<_> = running.iter_mut().map(Running::node).collect();
    assert_eq!(nodes.len(), 8, "{nodes:?}");
    minters.wait_for_more(1, "ids");
    drop(running);
    assert!(assert_unique(ledger(&minters.ledger("ids"))) > 8);
}

pub async fn a_paused_holder_mints_nothing_after_its_node_was_reassigned(scene: Arc<Scene>) {
    let minters = Minters::on(&scene);
    let layout = format!("layout={ONE_NODE}");
    let options = [&*layout, "window_ms=1000", "pace_us=300", "max_wait_ms=15000"];
    let mut stopped = Running::start(&mut minters.minter("mint", "stopped", &options));
    assert_eq!(stopped.node(), 0);
    minters.wait_for_more(50, "stopped");
    stopped.signal("STOP");
    let mut successor = Running::start(&mut minters.minter("mint", "successor", &options));
    assert_eq!(successor.node(), 0, "the only node, when its window is over");
    minters.wait_for_more(50, "successor");
    stopped.signal("CONT");
    let said = stopped.line() + &stopped.line();
    assert!(said.contains("lost") && said.contains("the lease of node 0 was lost"), "{said}");
    minters.wait_for_more(50, "successor");
    successor.kill();
    let (first, second) = (ledger(&minters.ledger("stopped")), ledger(&minters.ledger("successor")));
    let (last_tick, first_tick) =
        (ticks(ONE_NODE, &first).into_iter().max(), ticks(ONE_NODE, &second).into_iter().min());
    assert!(last_tick < first_tick, "each within its window: {last_tick:?} {first_tick:?}");
    assert!(assert_unique([first, second].concat()) > 100);
}

/// Plays the story of a node that is named: its holder keeps it, is paused, loses it, is killed, and restarts under a clock
/// that is an hour behind.
pub async fn a_given_node_repeats_nothing_under_any_fault(scene: Arc<Scene>) {
    let minters = Minters::on(&scene);
    // A holder on a busy machine may wait for seconds.
    let options = |max_wait_ms| ["node=5", "window_ms=3000", "pace_us=300", max_wait_ms];
    let start = |ledger| {
        let mut running = Running::start(&mut minters.minter("mint", ledger, &options("max_wait_ms=20000")));
        assert_eq!(running.node(), 5);
        running
    };
    let refused = |max_wait_ms| {
        let said = run_refused(&mut minters.minter("mint", "refused", &options(max_wait_ms)));
        assert!(said.contains("node 5 "), "{said}");
    };
    let minted = |name: &str| ledger(&minters.ledger(name));
    let wait_for_more = |name| minters.wait_for_more(100, name);

    let mut first = start("first");
    refused("max_wait_ms=50");
    wait_for_more("first");

    first.signal("STOP");
    if scene.kind == Kind::File {
        // The lock of a slot lasts as long as its process.
        refused("max_wait_ms=1500");
        first.signal("CONT");
        wait_for_more("first");
        first.kill();
    } else {
        let second = start("second");
        wait_for_more("second");
        first.signal("CONT");
        let said = first.line() + &first.line();
        assert!(said.contains("the lease of node 5 was lost"), "{said}");
        second.kill();
    }

    let mut behind = minters.minter("mint", "refused", &options("max_wait_ms=1500"));
    let said = run_refused(clock_off(&mut behind, -3600.0));
    assert!(said.contains("node 5 "), "{said}");
    let restarted = start("restarted");
    wait_for_more("restarted");
    restarted.kill();

    assert!(minted("refused").is_empty());
    let ids = ["first", "second", "restarted"].map(minted).concat();
    assert!(ids.is_sorted_by(|earlier, later| earlier < later), "IDs that repeat or step back");
    assert!(ids.iter().all(|id| id >> 12 & 1023 == 5));
}

pub async fn released_nodes_are_free_at_once_others_after_their_window(scene: Arc<Scene>) {
    let minters = Minters::on(&scene);
    let layout = format!("layout={ONE_NODE}");
    for exit in ["count=5", "exit=true"] {
        // Each run gets the node without waiting.
        let options = [&*layout, "count=5", "max_wait_ms=5", "window_ms=30000", exit];
        run(&mut minters.minter("mint", "ids", &options));
    }
    let mut killed = Running::start(&mut minters.minter("mint", "ids", &[&*layout, "window_ms=2000", "pace_us=500"]));
    assert_eq!(killed.node(), 0);
    minters.wait_for_more(1, "ids");
    killed.kill();
    let refused = Snowflake::lease(minters.lease(ONE_NODE).options(waiting(0))).expect_err("it is taken");
    assert_eq!(refused.kind(), ErrorKind::NodesExhausted, "{refused}");
    run(&mut minters.minter("mint", "ids", &[&layout, "count=5", "max_wait_ms=20000"]));
    assert!(assert_unique(ledger(&minters.ledger("ids"))) > 15, "the killed process minted none");
}

pub async fn forked_children_lease_separate_nodes(scene: Arc<Scene>) {
    let minters = Minters::on(&scene);
    for verb in ["fork", "clone"] {
        let printed = run(&mut minters.minter(verb, "ids", &["count=2000", "batch=true", "max_wait_ms=20000"]));
        assert_eq!(printed.matches("child node").count(), 4, "{printed}");
    }
    assert_eq!(assert_unique(ledger(&minters.ledger("ids"))), 2 * (1 + 5 * 2000));
}

pub async fn forked_children_cannot_use_their_parents_connections(scene: Arc<Scene>) {
    for verb in ["fork", "clone"] {
        crate::forks::children(verb, scene.url());
    }
}

pub async fn forked_children_are_refused_a_connection(scene: Arc<Scene>) {
    let minters = Minters::on(&scene);
    for verb in ["fork", "clone"] {
        let printed = run(&mut minters.minter(verb, "ids", &["count=200", "max_wait_ms=20000"]));
        assert_eq!(printed.matches("STORE_UNAVAILABLE").count(), 4, "{printed}");
        assert_eq!(printed.matches("forked").count(), 4, "{printed}");
    }
    assert_eq!(assert_unique(ledger(&minters.ledger("ids"))), 2 * (1 + 200), "the parent goes on");
}

pub async fn a_namespace_keeps_its_layout_and_skips_excluded_nodes(scene: Arc<Scene>) {
    let minters = Minters::on(&scene);
    let held = Snowflake::lease(minters.lease(TWO_NODES)).expect("a node");
    assert_eq!(held.node(), 0);
    let other = Snowflake::lease(minters.lease(ONE_NODE)).expect_err("another layout");
    assert_eq!(other.kind(), ErrorKind::InvalidLayout, "{other}");
    let excluded = Snowflake::lease(minters.lease(TWO_NODES).exclude([0])).expect("a node");
    assert_eq!(excluded.node(), 1);
    let refused: Error = Snowflake::lease(minters.lease(TWO_NODES).exclude([0, 1])).expect_err("none");
    assert_eq!(refused.kind(), ErrorKind::NodesExhausted);
    let status = held.status();
    assert_eq!((status.node, status.renewal_failures, status.lost), (0, 0, None));
    assert!(status.skew_ms.is_none_or(|skew_ms| skew_ms.abs() < 60_000), "{:?}", status.skew_ms);
    assert_eq!(status.disorder_ms, status.skew_ms.map(|skew_ms| skew_ms.unsigned_abs() + 1));
    // A released node is claimed again: node 0.
    held.close();
    let again = Snowflake::lease(minters.lease(TWO_NODES)).expect("a node");
    assert_eq!(again.node(), 0);
}
