//! P5: after a crash and restart no ID is issued again, under any clock.
#![cfg(target_os = "linux")]

#[path = "support.rs"]
mod support;

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::time::{Duration, Instant};
use std::{env, thread};

use rand::RngExt as _;
use snowmint_core::Layout;
use support::{ONE_NODE, Running, Scene, TWO_NODES, assert_unique, clock_off, run, run_refused, ticks};

/// Minters are killed at random times, four at once, each with its clock up to an hour off.
#[test]
fn kills_and_restarts_with_stepping_clocks_repeat_no_id() {
    let rounds: usize = env::var("SNOWMINT_ROUNDS").map_or(60, |rounds| rounds.parse().expect("a number"));
    let scene = Scene::new();
    let mut random = rand::rng();
    let mut slowest_us = 0;
    for round in 0..rounds / 4 {
        let minters: Vec<_> = (0..4)
            .map(|_| {
                let mut minter = scene.minter("mint", &["window_ms=1000", "pace_us=20"]);
                Running::start(clock_off(&mut minter, random.random_range(-3600.0..3600.0)))
            })
            .collect();
        for mut minter in minters {
            let line = minter.line();
            let us = line.split(' ').nth(3).and_then(|us| us.parse().ok());
            slowest_us = slowest_us.max(us.unwrap_or_else(|| panic!("round {round}: {line:?}")));
            // Most minters die young; a few live long enough to renew their windows.
            let life_ms = if random.random_bool(0.03) { 1500 } else { random.random_range(0..40) };
            thread::sleep(Duration::from_millis(life_ms));
            minter.kill();
        }
    }
    let ids = scene.ledger();
    println!("{rounds} kills, {} IDs, slowest lease {slowest_us} us", ids.len());
    assert!(ids.len() > rounds, "they did mint");
    assert_unique(ids);
}

#[test]
fn no_clock_set_back_reuses_a_killed_holders_window() {
    let scene = Scene::new();
    let layout = format!("layout={ONE_NODE}");
    let mut first = Running::start(&mut scene.minter("mint", &[&layout, "window_ms=1000", "pace_us=100"]));
    first.node();
    scene.wait_for_ms(ONE_NODE, 3000);
    first.kill();
    let before = scene.ledger();
    // The IDs of the last second now lie in the future of the clock.
    let mut second = scene.minter("mint", &[&layout, "count=2000", "pace_us=100", "max_wait_ms=10000"]);
    run(clock_off(&mut second, -1.2));
    let ids = scene.ledger();
    let (old, new) = (ticks(ONE_NODE, &before), ticks(ONE_NODE, &ids[before.len()..]));
    assert_unique(ids);
    assert!(new[0] > old[old.len() - 1], "it goes on above the end that was written ahead");
}

#[test]
fn a_clean_restart_continues_at_once_above_the_last_id() {
    let scene = Scene::new();
    let options = [&format!("layout={ONE_NODE}"), "count=50"];
    let mut first_id_us = Vec::new();
    for _ in 0..50 {
        let started = Instant::now();
        let mut minter = Running::start(&mut scene.minter("mint", &options));
        assert_eq!(minter.node(), 0);
        first_id_us.push(started.elapsed().as_micros());
        assert!(minter.child.wait().expect("it ends").success());
    }
    first_id_us.sort_unstable();
    println!("clean restart to a granted window: median {} us, slowest {} us", first_id_us[25], first_id_us[49]);
    let ids = scene.ledger();
    assert_eq!(ids.len(), 50 * 50);
    assert!(ids.is_sorted_by(|a, b| a < b), "a step back or duplicates");
}

#[test]
fn a_torn_record_is_never_trusted_while_the_other_holds() {
    for torn in [0, 4096] {
        let scene = Scene::new();
        let layout = format!("layout={ONE_NODE}");
        let mut first = Running::start(&mut scene.minter("mint", &[&layout, "window_ms=1000", "pace_us=100"]));
        first.node();
        scene.wait_for_ms(ONE_NODE, 1200);
        first.kill();
        let mut slot = OpenOptions::new().write(true).open(scene.slot(0)).expect("its slot");
        slot.seek(SeekFrom::Start(torn + 20)).expect("within");
        slot.write_all(&[0xff; 30]).expect("written");
        let before = scene.ledger().len();
        let mut second = scene.minter("mint", &[&layout, "count=200", "max_wait_ms=5000"]);
        run(clock_off(&mut second, -0.8));
        assert!(scene.ledger().len() > before);
        assert_unique(scene.ledger());
    }
}

#[test]
fn an_emptied_slot_is_refused_and_garbage_is_skipped() {
    let scene = Scene::new();
    let options = [&format!("layout={TWO_NODES}"), "count=1"];
    run(&mut scene.minter("mint", &options));
    fs::write(scene.slot(0), "").expect("emptied");
    let refused = run_refused(&mut scene.minter("mint", &options));
    assert!(refused.contains("records have vanished"), "{refused}");
    for garbage in [&b"garbage"[..], &[0; 8192]] {
        fs::write(scene.slot(0), garbage).expect("spoilt");
        let printed = run(&mut scene.minter("mint", &options));
        assert!(printed.starts_with("node 1 "), "{printed}");
        assert!(printed.contains("skipped ") && printed.contains("0.slot"), "{printed}");
        assert_eq!(fs::read(scene.slot(0)).expect("there"), garbage, "it is left as it is");
    }
    fs::write(scene.slot(1), "garbage too").expect("spoilt");
    let refused = run_refused(&mut scene.minter("mint", &options));
    assert!(refused.contains("all 2 nodes") && refused.contains("1.slot was skipped"), "{refused}");
}

#[test]
fn a_running_process_survives_clock_steps_back_and_forth() {
    let scene = Scene::new();
    let clock = scene.path("clock");
    // A rename is atomic, so no process reads a half-written offset.
    let step = |offset: &str| {
        fs::write(scene.path("draft"), offset).expect("written");
        fs::rename(scene.path("draft"), &clock).expect("renamed");
    };
    step("+0");
    let mut minter = scene.minter("mint", &["window_ms=1000", "pace_us=50", "max_wait_ms=60000"]);
    clock_off(&mut minter, 0.0).env_remove("FAKETIME");
    minter.env("FAKETIME_TIMESTAMP_FILE", &clock).env("FAKETIME_NO_CACHE", "1");
    let mut running = Running::start(&mut minter);
    running.node();
    for offset in ["+0.2", "-0.1", "+3600", "+3599.9", "+3601", "+7200", "+7199.5", "+7300"] {
        scene.wait_for_more(1000, |_| true);
        step(offset);
    }
    scene.wait_for_more(1000, |_| true);
    running.kill();
    let ids = scene.ledger();
    let ticks = ticks("snowmint", &ids);
    assert!(ticks[ticks.len() - 1] - ticks[0] > 7_200_000, "it followed the clock forward");
    assert!(ids.is_sorted_by(|a, b| a < b), "a step back or duplicates");
}

#[test]
fn a_process_paused_past_its_window_repeats_no_id() {
    let scene = Scene::new();
    let layout = format!("layout={TWO_NODES}");
    let options = [&layout, "window_ms=1000", "pace_us=50"];
    let mut first = Running::start(&mut scene.minter("mint", &options));
    assert_eq!(first.node(), 0);
    first.signal("STOP");
    thread::sleep(Duration::from_millis(2200));
    let mut second = Running::start(&mut scene.minter("mint", &options));
    assert_eq!(second.node(), 1, "a stopped holder still holds");
    let two_nodes = Layout::find(TWO_NODES).expect("valid");
    for node in [0, 1] {
        first.signal("CONT");
        scene.wait_for_more(1000, |id| two_nodes.decode(id).expect("its own").node == node);
    }
    first.kill();
    second.kill();
    assert_unique(scene.ledger());
}
