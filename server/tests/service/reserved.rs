//! Nodes that the store reserves for hours.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use snowmint_core::layouts::SNOWMINT;
use snowmint_tests::engines::{Engine, Server as Store};

use super::support::{Server, directory, refused, store};

/// The limit for each step on a busy machine.
const TIMEOUT: Duration = Duration::from_mins(1);
const WINDOW_MS: i64 = 1000;

fn start(engine: &Store, slots: &Path) -> Server {
    Server::with_slots(slots, &engine.url(), &["--reserve", "1h", "--window-ms", &WINDOW_MS.to_string()])
}

/// Takes IDs until one has this time, and returns them.
fn ids_until(server: &Server, time_ms: i64) -> Vec<u64> {
    let (begun, mut ids) = (Instant::now(), Vec::new());
    loop {
        let answer = server.get("/v1/ids?count=10");
        if answer.status == 200 {
            ids.extend(answer.ids());
        }
        match ids.last().map(|id| SNOWMINT.decode(*id).expect("an ID").timestamp_ms) {
            Some(reached_ms) if reached_ms >= time_ms => return ids,
            reached_ms => assert!(begun.elapsed() < TIMEOUT, "{reached_ms:?}: {answer:?}"),
        }
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn ids_go_on_for_hours_while_the_store_is_unreachable() {
    let (mut engine, slots) = (Store::start(Engine::Redis), tempfile::tempdir().expect("a directory"));
    let mut server = start(&engine, slots.path());
    let mut ids = ids_until(&server, 0);
    let leased = server.logged("leased a node");
    let reserved_ms = leased["reserved_end_ms"].as_i64().expect("an end");
    let window_s = server.metric("snowmint_lease_window_end_seconds", "node=\"0\"");
    assert_eq!(server.metric("snowmint_lease_reserved_end_seconds", "node=\"0\"").cast_signed(), reserved_ms / 1000);
    assert!(reserved_ms / 1000 > window_s.cast_signed() + 3000);

    engine.kill();
    ids.extend(ids_until(&server, window_s.cast_signed() * 1000 + 3 * WINDOW_MS));
    assert_eq!(server.get("/readyz").status, 503, "numbers need the store");

    // A server that starts again has the node of the directory, not one more of the store.
    server.kill();
    engine.restart();
    let server = start(&engine, slots.path());
    ids.extend(ids_until(&server, 0));
    assert_eq!((&leased["node"], &server.logged("leased a node")["node"]), (&Value::from(0), &Value::from(0)));
    assert!(ids.is_sorted_by(|before, after| before < after));
}

#[test]
fn the_first_request_for_ids_may_come_while_the_store_is_unreachable() {
    let (mut engine, slots) = (Store::start(Engine::Redis), tempfile::tempdir().expect("a directory"));
    let server = start(&engine, slots.path());
    assert!(server.logged("leased a node")["reserved_end_ms"].is_i64());
    engine.kill();
    assert_eq!(ids_until(&server, 0).len(), 10);
}

#[test]
fn a_machine_that_cannot_keep_a_reservation_is_refused_at_the_start() {
    let directory = directory();
    // A pod without a volume. A server that starts all the same is killed in time.
    let ended = Command::new("timeout")
        .args([
            "60",
            env!("CARGO_BIN_EXE_snowmint"),
            "serve",
            "--http",
            "127.0.0.1:0",
            "--redis",
            "off",
            "--reserve",
            "1h",
        ])
        .args(["--store", &store(directory.path())])
        .env_remove("SNOWMINT_STATE_DIR")
        .env("KUBERNETES_SERVICE_HOST", "10.0.0.1")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(!ended.status.success() && said.contains("SNOWMINT_STATE_DIR"), "{said}");
}

#[test]
fn a_reservation_is_at_least_four_windows() {
    for (words, said) in [
        (&["--reserve", "1m", "--window-ms", "30000"][..], "--reserve with --window-ms 30000: reserve is a number"),
        (&["--reserve", "a day"], "reserve is a number and s, m, h or d"),
    ] {
        let (code, error) = refused(&[&["serve", "--http", "127.0.0.1:0", "--redis", "off"], words].concat());
        assert!(code == Some(2) && error.contains(said), "{code:?}: {error}");
    }
}
