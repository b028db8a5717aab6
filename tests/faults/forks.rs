//! P4: a forked child never mints from its parent's state.
#![cfg(unix)]

#[path = "support.rs"]
mod support;

use std::time::Duration;
use std::{fs, thread};

use support::{ONE_NODE, Running, Scene, assert_unique, run, run_refused, signal};

fn nodes_of_children(printed: &str) -> Vec<&str> {
    printed.lines().filter_map(|line| line.strip_prefix("child node ")).collect()
}

#[test]
fn four_forked_children_and_their_parent_repeat_no_id() {
    let scene = Scene::new();
    let printed = run(&mut scene.minter("fork", &["children=4", "count=2000"]));
    assert_eq!(assert_unique(scene.ledger()), 1 + 5 * 2000);
    let mut nodes = nodes_of_children(&printed);
    nodes.sort_unstable();
    assert_eq!(nodes, ["1", "2", "3", "4"], "the parent keeps node 0");
}

#[test]
fn four_children_of_a_raw_clone_repeat_no_id() {
    let scene = Scene::new();
    let printed = run(&mut scene.minter("clone", &["children=4", "count=2000"]));
    assert_eq!(assert_unique(scene.ledger()), 1 + 5 * 2000);
    let mut nodes = nodes_of_children(&printed);
    nodes.sort_unstable();
    assert_eq!(nodes, ["1", "2", "3", "4"]);
}

#[test]
fn a_forked_child_has_nothing_of_a_threads_run() {
    // A tick lasts so long that parent and children mint in it.
    let layout = "layout=time:31,node:10,sequence:20;epoch=2025-01-01T00:00:00Z;tick=10s";
    for verb in ["fork", "clone"] {
        let scene = Scene::new();
        run(&mut scene.minter(verb, &["children=4", "count=200", "before=70", "local=true", layout]));
        assert_eq!(assert_unique(scene.ledger()), 70 + 5 * 200);
        let scene = Scene::new();
        let mut minter = support::minter(verb);
        minter.args(["node=5", "children=1", "count=200", "before=70", "local=true", layout]);
        run(minter.arg(format!("ledger={}", scene.path("ledger").display())));
        assert_eq!(assert_unique(scene.ledger()), 70 + 200, "only the parent mints");
    }
}

#[test]
fn a_vouched_node_is_refused_as_forked_in_every_child() {
    for verb in ["fork", "clone"] {
        let scene = Scene::new();
        let mut minter = support::minter(verb);
        minter.args(["node=5", "children=4", "count=2000"]).arg(format!("ledger={}", scene.path("ledger").display()));
        let printed = run(&mut minter);
        assert_eq!(printed.lines().filter(|line| line.starts_with("FORKED ")).count(), 4, "{printed}");
        assert_eq!(assert_unique(scene.ledger()), 1 + 2000, "only the parent mints");
    }
}

#[test]
fn a_fork_in_a_signal_handler_repeats_no_id() {
    let scene = Scene::new();
    let rounds = 60;
    let mut printed = String::new();
    for round in 0..rounds {
        // Spreads the forks evenly over the time that a claim takes on this machine.
        let claimed = run(&mut scene.minter("mint", &["count=0"]));
        let us = claimed.split(" after ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<u64>().ok());
        let us = us.unwrap_or_else(|| panic!("no time in {claimed:?}"));
        let alarm = format!("alarm_us={}", 1 + us * round / rounds);
        printed += &run(&mut scene.minter("alarm", &["count=200", &alarm]));
    }
    let minted = assert_unique(scene.ledger());
    let stuck = printed.lines().filter(|line| *line == "the child could start no thread").count();
    assert!(stuck < 5, "{printed}");
    let minters = usize::try_from(rounds * 2).expect("small") - stuck;
    assert_eq!(minted, minters * 200, "each process has a node: {printed}");
}

/// Starts a minter with an idle child that can outlive it. Returns the minter and the child's process number.
fn orphan(scene: &Scene, verb: &str) -> (Running, u32) {
    let options = [&format!("layout={ONE_NODE}"), "children=1", "window_ms=1000", "idle=true"];
    let mut parent = Running::start(&mut scene.minter(verb, &options));
    assert_eq!(parent.node(), 0);
    let line = parent.line();
    let child = line.strip_prefix("child ").and_then(|pid| pid.trim().parse().ok());
    (parent, child.unwrap_or_else(|| panic!("no child but {line:?}")))
}

/// Kills a process that is not a child of this process, and waits until its files are closed.
fn kill(process: u32) {
    signal(process, "KILL");
    // A process that no one has waited for yet is a zombie, without files.
    let lives = || fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    while lives() {
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_forked_child_neither_keeps_nor_frees_its_parents_slot() {
    let scene = Scene::new();
    let next = || scene.minter("mint", &[&format!("layout={ONE_NODE}"), "count=1", "max_wait_ms=5000"]);
    let (parent, child) = orphan(&scene, "fork");
    // The slot is taken while the parent lives.
    assert!(run_refused(&mut next()).contains("are taken"));
    parent.kill();
    assert!(fs::exists(format!("/proc/{child}")).expect("procfs"), "the child lives on");
    assert!(run(&mut next()).starts_with("node 0 "));
    signal(child, "KILL");
}

#[test]
fn a_parent_keeps_its_slot_when_its_children_are_gone() {
    let scene = Scene::new();
    let (parent, child) = orphan(&scene, "fork");
    kill(child);
    let refused = run_refused(&mut scene.minter("mint", &[&format!("layout={ONE_NODE}"), "count=1"]));
    assert!(refused.contains("are taken"), "{refused}");
    drop(parent);
}

#[test]
fn a_raw_clone_keeps_the_slot_busy_until_it_exits() {
    let scene = Scene::new();
    let next = || scene.minter("mint", &[&format!("layout={ONE_NODE}"), "count=1", "max_wait_ms=5000"]);
    let (parent, child) = orphan(&scene, "clone");
    parent.kill();
    assert!(run_refused(&mut next()).contains("are taken"), "the child has the parent's file open");
    kill(child);
    assert!(run(&mut next()).starts_with("node 0 "));
}
