//! kill -9 under load: every number that any client got is unique, and each user's increase.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rand::Rng as _;
use redis::Commands as _;
use tempfile::TempDir;

use super::support::{Server, assert_increasing, assert_unique};

/// What the clients of all rounds got.
#[derive(Default)]
struct Ledger {
    ids: Vec<u64>,
    keys: Vec<u64>,
    tickets: Vec<u64>,
    sequences: Vec<u64>,
    users: BTreeMap<u64, Vec<u64>>,
}

fn rounds() -> u32 {
    std::env::var("SNOWMINT_KILLS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(20)
}

/// Asks until it is told to end; an answer that does not come is no number.
fn http(server: &Server, over: &AtomicBool, ledger: &Mutex<Ledger>, user: u64) {
    let ask = |method, path: &str| server.try_ask(method, path, &[], "").ok().filter(|answer| answer.status == 200);
    while !over.load(Ordering::Relaxed) {
        if let Some(answer) = ask("GET", "/v1/ids?count=7") {
            ledger.lock().expect("no panic").ids.extend(answer.ids());
        }
        if let Some(answer) = ask("GET", "/v1/tickets/t") {
            ledger.lock().expect("no panic").tickets.push(answer.id());
        }
        if let Some(answer) = ask("POST", "/v1/sequences/s/next") {
            ledger.lock().expect("no panic").sequences.extend(answer.ids());
        }
        if let Some(answer) = ask("POST", &format!("/v1/users/{user}/next")) {
            ledger.lock().expect("no panic").users.entry(user).or_default().push(answer.id());
        }
    }
}

fn resp(server: &Server, over: &AtomicBool, ledger: &Mutex<Ledger>) {
    let client = redis::Client::open(format!("redis://{}/", server.redis)).expect("a URL");
    let Ok(mut client) = client.get_connection() else { return };
    while !over.load(Ordering::Relaxed) {
        let one: Result<u64, _> = client.incr("k", 1);
        let block: Result<u64, _> = client.incr("k", 50);
        let many: Result<Vec<u64>, _> =
            (0..100).fold(redis::pipe(), |mut pipe, _| pipe.cmd("INCR").arg("k").clone()).query(&mut client);
        let mut ledger = ledger.lock().expect("no panic");
        ledger.keys.extend(one);
        ledger.keys.extend(block.into_iter().flat_map(|last| last - 49..=last));
        ledger.keys.extend(many.into_iter().flatten());
    }
}

#[test]
fn nothing_comes_twice_over_many_kills() {
    let directory = TempDir::new().expect("a directory");
    let ledger = Mutex::new(Ledger::default());
    let mut random = rand::rng();
    for round in 0..rounds() {
        let server =
            Server::start(directory.path(), &["--window-ms", "1000", "--max-wait-ms", "3000", "--step", "100"]);
        let over = Arc::new(AtomicBool::new(false));
        let enough = Duration::from_millis(random.random_range(1200..1800));
        thread::scope(|scope| {
            for user in 0..2 {
                let (server, over, ledger) = (&server, &over, &ledger);
                scope.spawn(move || http(server, over, ledger, user));
                scope.spawn(move || resp(server, over, ledger));
            }
            thread::sleep(enough);
            // While they ask.
            let killed = std::process::Command::new("kill").args(["-9", &server.pid().to_string()]).status();
            assert!(killed.expect("kill").success(), "round {round}");
            thread::sleep(Duration::from_millis(20));
            over.store(true, Ordering::Relaxed);
        });
    }
    let ledger = ledger.into_inner().expect("no panic");
    println!(
        "{} IDs, {} numbers of keys, {} tickets, {} of sequences, {} of users",
        ledger.ids.len(),
        ledger.keys.len(),
        ledger.tickets.len(),
        ledger.sequences.len(),
        ledger.users.values().map(Vec::len).sum::<usize>()
    );
    for numbers in [&ledger.ids, &ledger.keys, &ledger.tickets, &ledger.sequences] {
        assert!(numbers.len() > rounds() as usize, "there was no load");
        assert_unique(numbers.clone());
    }
    assert_eq!(ledger.users.len(), 2);
    ledger.users.values().for_each(|numbers| assert_increasing(numbers));
}

#[test]
fn an_end_on_request_gives_everything_back() {
    let directory = TempDir::new().expect("a directory");
    let one_node = ["--layout", "time:41,sequence:12;epoch=2025-01-01T00:00:00Z", "--window-ms", "60000"];
    let mut server = Server::start(directory.path(), &one_node);
    let first = server.get("/v1/ids").ids();
    let mut client = server.client();
    assert_eq!(client.incr::<_, _, u64>("k", 5), Ok(5));
    assert_eq!(server.post("/v1/users/1/next").id(), 1);
    let begun = Instant::now();
    assert!(server.end());
    assert!(begun.elapsed() < Duration::from_secs(8), "a client that says nothing does not keep it");
    // Nobody waits for a window of a minute.
    let server = Server::start(directory.path(), &one_node);
    let second = server.get("/v1/ids").ids();
    assert_increasing(&[first, second].concat());
    assert_eq!(server.client().incr::<_, _, u64>("k", 1), Ok(6));
    assert!(server.post("/v1/users/1/next").id() > 1);
}
