//! SIGKILL under load: every number of every client is unique, and the numbers of each user increase.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rand::RngExt as _;
use redis::Commands as _;

use super::load::{self, Ledger, http, kill, resp, user};
use super::support::{Server, assert_increasing, command, directory, store};

pub fn rounds() -> u32 {
    std::env::var("SNOWMINT_KILLS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(4)
}

#[test]
fn no_number_repeats_over_many_kills() {
    let directory = directory();
    let store = store(directory.path());
    let made = command().args(["segment", "create", "orders", "--step", "100", "--store", &store]).status();
    assert!(made.expect("it runs").success());
    let ledger = Mutex::new(Ledger::default());
    let mut random = rand::rng();
    for _ in 0..rounds() {
        let options = ["--window-ms", "1000", "--max-wait-ms", "3000", "--step", "100"];
        let place = load::place(Server::start(directory.path(), &options));
        let over = AtomicBool::new(false);
        let enough = Duration::from_millis(random.random_range(1200..1800));
        thread::scope(|scope| {
            let (place, over, ledger) = (&place, &over, &ledger);
            for number in 0..2 {
                scope.spawn(move || http(place, over, ledger));
                scope.spawn(move || user(number, &[place], over, ledger));
                scope.spawn(move || resp(place, over, ledger));
            }
            thread::sleep(enough);
            kill(place);
            thread::sleep(Duration::from_millis(20));
            over.store(true, Ordering::Relaxed);
        });
    }
    ledger.into_inner().expect("no panic").check(rounds() as usize, 2);
}

#[test]
fn an_orderly_end_gives_everything_back() {
    let directory = directory();
    let one_node = ["--layout", "time:41,sequence:12;epoch=2025-01-01T00:00:00Z", "--window-ms", "60000"];
    let mut server = Server::start(directory.path(), &one_node);
    let first = server.get("/v1/ids").ids();
    let mut client = server.client();
    assert_eq!(client.incr::<_, _, u64>("k", 5), Ok(5));
    assert_eq!(server.post("/v1/users/1/next").id(), 1);
    let begun = Instant::now();
    assert!(server.end());
    assert!(begun.elapsed() < Duration::from_secs(8), "a silent client does not delay the end");
    // The window of a minute was given back, so the next server does not wait for its end.
    let server = Server::start(directory.path(), &one_node);
    let second = server.get("/v1/ids").ids();
    assert_increasing(&[first, second].concat());
    assert_eq!(server.client().incr::<_, _, u64>("k", 1), Ok(6));
    assert!(server.post("/v1/users/1/next").id() > 1);
}
