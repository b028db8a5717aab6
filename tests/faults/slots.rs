//! Slots of one machine: a node has one holder, across all processes and users and on every disk.
#![cfg(target_os = "linux")]

#[path = "support.rs"]
mod support;

use std::collections::HashSet;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use snowmint::Slots;
use support::{ONE_NODE, Running, Scene, TWO_NODES, assert_unique, minter, run, run_refused, wait_for};

#[test]
fn sixteen_processes_started_at_once_have_sixteen_nodes() {
    for _ in 0..10 {
        let scene = Scene::new();
        let begin = UNIX_EPOCH.elapsed().expect("after 1970") + Duration::from_millis(60);
        let at = format!("at={}", begin.as_millis());
        let mut held: Vec<_> =
            (0..16).map(|_| Running::start(scene.minter("hold", &[&at]).stdin(Stdio::piped()))).collect();
        let nodes: HashSet<_> = held.iter_mut().map(Running::node).collect();
        assert_eq!(nodes.len(), 16, "duplicates among {nodes:?}");
        for holder in &mut held {
            drop(holder.child.stdin.take());
            assert!(holder.child.wait().expect("it ends").success());
        }
    }
}

#[test]
fn eight_threads_on_one_lease_mint_800_000_distinct_ids() {
    let scene = Scene::new();
    run(&mut scene.minter("mint", &["threads=8", "count=100000", "batch=true"]));
    assert_eq!(assert_unique(scene.ledger()), 800_000);
}

#[test]
fn a_process_is_refused_when_all_nodes_are_taken() {
    let scene = Scene::new();
    let options = [&format!("layout={TWO_NODES}"), "pace_us=1000"];
    let mut held: Vec<_> = (0..2).map(|_| Running::start(&mut scene.minter("mint", &options))).collect();
    let mut nodes: Vec<_> = held.iter_mut().map(Running::node).collect();
    nodes.sort_unstable();
    assert_eq!(nodes, [0, 1]);
    let refused = run_refused(&mut scene.minter("mint", &options));
    assert!(refused.contains("all 2 nodes"), "{refused}");
}

#[test]
fn a_holder_abandons_a_slot_file_that_was_replaced() {
    let scene = Scene::new();
    let options = [&format!("layout={ONE_NODE}"), "window_ms=1000", "pace_us=1000"];
    let mut holder = Running::start(&mut scene.minter("mint", &options));
    holder.node();
    // As after a restored backup or a clean-up: the name leads to another file.
    fs::copy(scene.slot(0), scene.path("copy")).expect("copied");
    fs::rename(scene.path("copy"), scene.slot(0)).expect("replaced");
    let mut output = [holder.line(), holder.line()];
    output.sort_unstable();
    assert!(output[0].starts_with("WINDOW_CLOSED the slot of node 0 was lost"), "nothing more is minted: {output:?}");
    assert!(output[1].starts_with("lost the slot of node 0 was lost: another file"), "on_lost is called: {output:?}");
    assert_eq!(holder.line(), "", "the process ends");
}

#[test]
fn a_namespace_keeps_its_first_layout() {
    let scene = Scene::new();
    run(&mut scene.minter("mint", &["namespace=orders", "layout=twitter", "count=1"]));
    // Other names for the same numbers are the same layout.
    run(&mut scene.minter("mint", &["namespace=orders", "layout=leaf", "count=1"]));
    let refused = run_refused(&mut scene.minter("mint", &["namespace=orders", "layout=snowmint", "count=1"]));
    assert!(refused.contains("namespace orders is of layout unused:1,time:41,datacenter:5"), "{refused}");
}

#[test]
fn a_linked_slot_and_a_directory_are_skipped_and_reported() {
    let scene = Scene::new();
    run(&mut scene.minter("mint", &["count=1"]));
    let (first, second) = (scene.slot(0), scene.slot(1));
    fs::rename(&first, scene.path("elsewhere")).expect("moved");
    symlink(scene.path("elsewhere"), &first).expect("linked");
    fs::create_dir(&second).expect("made");
    let printed = run(&mut scene.minter("mint", &["count=1"]));
    assert!(printed.starts_with("node 2 "), "{printed}");
    assert!(printed.contains("0.slot") && printed.contains("1.slot"), "{printed}");
}

fn make_fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("it starts").success());
}

/// To open a fifo for reading waits for a writer.
#[test]
fn a_fifo_instead_of_a_file_blocks_no_claim() {
    let scene = Scene::new();
    run(&mut scene.minter("mint", &["count=1"]));
    let first = scene.slot(0);
    fs::remove_file(&first).expect("removed");
    make_fifo(&first);
    let printed = run(&mut scene.minter("mint", &["count=1"]));
    assert!(printed.starts_with("node 1 ") && printed.contains("0.slot"), "{printed}");
    let layout = first.with_file_name("layout");
    fs::remove_file(&layout).expect("removed");
    make_fifo(&layout);
    // A minter that hangs would not end.
    let mut minter = Command::new("timeout");
    let command = scene.minter("mint", &["count=1"]);
    minter.arg("20").arg(command.get_program()).args(command.get_args());
    let refused = run_refused(&mut minter);
    assert!(refused.contains("layout: it is no plain file"), "{refused}");
}

/// Runs a minter in a directory with a separate file system, made with `options` and changed by `script`.
fn on_file_system(options: &str, script: &str) -> String {
    let scene = Scene::new();
    fs::create_dir(scene.path("slots")).expect("made");
    let mint = scene.minter("mint", &["count=1"]);
    // In a separate mount namespace, so that the mount ends with the process.
    let mut shell = Command::new("unshare");
    let path = scene.path("slots").display().to_string();
    let store = format!("store=file:{path}?allow_unsafe=true");
    shell
        .args(["-m", "sh", "-ec"])
        .arg(format!("mount -t tmpfs -o {options} none \"$1\"; {script}; exec \"$2\" mint \"$3\" count=1"));
    shell.args(["sh", &path]).arg(mint.get_program()).arg(store);
    run_refused(&mut shell)
}

#[test]
fn a_full_or_read_only_disk_is_a_typed_error() {
    let full = on_file_system("size=16k", "dd if=/dev/zero of=\"$1/fill\" bs=4k count=10 2> /dev/null || true");
    assert!(full.contains("cannot") && full.contains("No space left"), "{full}");
    let read_only = on_file_system("size=64k", "mount -o remount,ro \"$1\"");
    assert!(read_only.contains("cannot") && read_only.contains("Read-only file system"), "{read_only}");
}

#[test]
fn an_error_names_the_directory_that_cannot_be_made() {
    let refused = run_refused(minter("mint").args(["store=file:/proc/slots", "count=1"]));
    assert!(refused.contains("cannot make /proc/slots"), "{refused}");
    let refused = run_refused(minter("mint").env("SNOWMINT_STATE_DIR", "/dev/null/slots").arg("count=1"));
    assert!(refused.contains("/dev/null/slots") && refused.contains("SNOWMINT_STATE_DIR"), "{refused}");
}

/// The last holder ran ahead of the clock by ten seconds.
#[test]
fn a_slot_that_vanished_is_refused_until_a_fence() {
    let layout = "layout=time:41,node:2,sequence:3;epoch=2025-01-01T00:00:00Z";
    for emptied in [false, true] {
        let scene = Scene::new();
        let options = [layout, "max_ahead_ms=20000", "count=80000"];
        let mut other = Running::start(&mut scene.minter("mint", &[layout, "pace_us=1000"]));
        assert_eq!(other.node(), 0);
        run(&mut scene.minter("mint", &options));
        if emptied {
            fs::write(scene.slot(1), "").expect("emptied");
        } else {
            fs::remove_file(scene.slot(1)).expect("removed");
        }
        let again = scene.minter("mint", &options).output().expect("it starts");
        assert_unique(scene.ledger());
        let refused = String::from_utf8_lossy(&again.stderr).into_owned();
        assert!(refused.contains("2 nodes had a record, and only 1 have one now"), "{refused}");
        assert!(refused.contains("run snowmint fence"), "{refused}");
        // The holder of the other slot goes on; its operator stops it.
        other.kill();
        let last_ms = i64::try_from(UNIX_EPOCH.elapsed().expect("after 1970").as_millis()).expect("a time") + 10_500;
        let slots = Slots::of_url(&format!("file:{}", scene.path("slots").display())).expect("a URL").expect("slots");
        slots.fence(last_ms).expect("fenced");
        run(&mut scene.minter("mint", &options));
        assert!(assert_unique(scene.ledger()) >= 160_000, "two runs, and the other holder");
    }
}

const ANOTHER_LAYOUT: &str = "layout=time:41,sequence:13;epoch=2025-01-01T00:00:00Z";

/// As after a tidy-up: the file `layout` was written once, and slots are written at each renewal.
#[test]
fn a_layout_that_vanished_lets_no_other_layout_in() {
    let scene = Scene::new();
    let (ours, other) = (format!("layout={TWO_NODES}"), ANOTHER_LAYOUT);
    let ours = ["namespace=orders", &ours, "count=1"];
    let other = ["namespace=orders", other, "count=1"];
    run(&mut scene.minter("mint", &ours));
    for emptied in [false, true] {
        let layout = scene.path("slots/orders/layout");
        if emptied {
            fs::write(&layout, "").expect("emptied");
        } else {
            fs::remove_file(&layout).expect("removed");
        }
        let refused = run_refused(&mut scene.minter("mint", &other));
        assert!(refused.contains("nodes of the namespace have records of another layout"), "{refused}");
        run(&mut scene.minter("mint", &ours));
        let refused = run_refused(&mut scene.minter("mint", &other));
        assert!(refused.contains("namespace orders is of layout time:41,node:1,sequence:12"), "{refused}");
    }
}

#[test]
fn renewals_keep_the_layout_and_touch_it() {
    let scene = Scene::new();
    let ours = format!("layout={TWO_NODES}");
    let ours = ["namespace=orders", &ours, "window_ms=1000", "pace_us=1000"];
    // Two nodes, of which the second one rests.
    let mut holder = Running::start(&mut scene.minter("mint", &ours));
    holder.node();
    run(&mut scene.minter("mint", &[&ours[..], &["count=1"]].concat()));
    let (layout, resting) = (scene.path("slots/orders/layout"), scene.path("slots/orders/1.slot"));
    let long_ago = SystemTime::now() - Duration::from_secs(40 * 24 * 60 * 60);
    let is_old = |path: &Path| fs::metadata(path).and_then(|found| found.modified()).expect("there") == long_ago;
    for path in [&layout, &resting] {
        File::options().write(true).open(path).and_then(|file| file.set_modified(long_ago)).expect("old");
    }
    wait_for("a renewal touches the layout", || !is_old(&layout));
    run_refused(&mut scene.minter("mint", &["namespace=orders", ANOTHER_LAYOUT, "count=1"]));
    run(&mut scene.minter("mint", &[&ours[..], &["count=1"]].concat()));
    assert!(!is_old(&resting), "a claim touches slots that rest");
    fs::remove_file(&layout).expect("removed");
    wait_for("a renewal writes the layout again", || layout.exists());
    let written = fs::read_to_string(&layout).expect("text");
    assert!(written.starts_with("time:41,node:1,sequence:12;") && written.ends_with(" nodes=2\n"), "{written}");
}

/// Makes a command that runs a minter as another user, who may not open this process's files.
fn as_user(scene: &Scene, user: &str, options: &[&str]) -> Command {
    let program = scene.path("minter");
    if !program.exists() {
        fs::set_permissions(scene.path(""), Permissions::from_mode(0o755)).expect("opened");
        // By a separate process: a child that another test forks meanwhile would hold a copy of this process open for writing, and
        // such a program cannot start.
        run(Command::new("cp").args([minter("").get_program(), program.as_os_str()]));
    }
    let mut command = Command::new("setpriv");
    for (name, _) in minter("").get_envs() {
        command.env_remove(name);
    }
    command.args(["--reuid", user, "--clear-groups", "--"]).arg(program).arg("mint").arg(scene.store()).args(options);
    command
}

#[test]
fn users_share_a_named_directory_of_mode_1777() {
    let scene = Scene::new();
    fs::create_dir(scene.path("slots")).expect("made");
    fs::set_permissions(scene.path("slots"), Permissions::from_mode(0o1777)).expect("opened");
    let users = ["4711", "65534", "0"];
    let mut held = users.map(|user| Running::start(&mut as_user(&scene, user, &["pace_us=1000"])));
    let nodes: HashSet<_> = held.iter_mut().map(Running::node).collect();
    assert_eq!(nodes.len(), users.len(), "each has its own");
    assert_eq!(fs::metadata(scene.path("slots")).expect("there").uid(), 0, "it keeps its owner");
}

#[test]
fn an_error_names_the_missing_right() {
    let scene = Scene::new();
    run(&mut scene.minter("mint", &["count=1"]));
    fs::set_permissions(scene.path("slots"), Permissions::from_mode(0o755)).expect("closed");
    for options in [&["count=1"][..], &["count=1", "namespace=orders"]] {
        let refused = run_refused(&mut as_user(&scene, "4711", options));
        assert!(refused.contains("Permission denied") && !refused.contains("No such file"), "{refused}");
        assert!(refused.contains("user 4711 may not write to "), "{refused}");
        assert!(refused.contains(", which has mode 755 and belongs to user 0; a directory of mode 1777 "), "{refused}");
    }
}

#[test]
fn in_kubernetes_default_slots_are_refused_with_the_cure() {
    let refused = run_refused(minter("mint").env("KUBERNETES_SERVICE_HOST", "10.0.0.1").arg("count=1"));
    assert!(refused.contains("Kubernetes") && refused.contains("SNOWMINT_STORE"), "{refused}");
    let vouched =
        run(minter("mint").env("KUBERNETES_SERVICE_HOST", "10.0.0.1").env("SNOWMINT_NODE", "7").arg("count=1"));
    assert!(vouched.starts_with("node 7 "), "{vouched}");
}

#[test]
fn an_exiting_process_releases_the_rest_of_its_window() {
    let scene = Scene::new();
    // The process exits without closing its generator.
    let options = [&format!("layout={ONE_NODE}"), "count=1", "exit=true", "max_wait_ms=20"];
    for _ in 0..3 {
        run(&mut scene.minter("mint", &options));
        thread::sleep(Duration::from_millis(2));
    }
    assert!(scene.ledger().is_sorted_by(|a, b| a < b));
    assert_eq!(scene.ledger().len(), 3);
}

#[test]
fn a_linked_state_directory_is_accepted_from_the_caller() {
    let scene = Scene::new();
    fs::create_dir(scene.path("elsewhere")).expect("made");
    symlink(scene.path("elsewhere"), scene.path("slots")).expect("linked");
    assert!(run(&mut scene.minter("mint", &["count=1"])).starts_with("node 0 "));
}
