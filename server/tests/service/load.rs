//! Clients that send requests without a pause, and a ledger of their numbers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use redis::{Commands as _, ConnectionLike as _};

use super::support::{Server, assert_increasing, assert_unique};

/// A server that another one may replace.
pub type Place = RwLock<Arc<Server>>;

/// Puts a server into a place.
pub fn place(server: Server) -> Place {
    RwLock::new(Arc::new(server))
}

/// Returns the current server of a place.
pub fn there(place: &Place) -> Arc<Server> {
    Arc::clone(&place.read().expect("no panic"))
}

/// Kills the server of a place with SIGKILL, while clients use it.
pub fn kill(place: &Place) {
    let killed = std::process::Command::new("kill").args(["-9", &there(place).pid().to_string()]).status();
    assert!(killed.expect("kill").success());
}

/// The numbers of all clients.
#[derive(Default)]
pub struct Ledger {
    pub ids: Vec<u64>,
    keys: Vec<u64>,
    tickets: Vec<u64>,
    sequences: Vec<u64>,
    segments: Vec<u64>,
    users: BTreeMap<u64, Vec<u64>>,
}

impl Ledger {
    /// Returns the count of the kind with the fewest numbers; 0 if fewer than this many users have a number.
    pub fn least(&self, users: usize) -> usize {
        if self.users.len() < users {
            return 0;
        }
        let kinds = [&self.ids, &self.keys, &self.tickets, &self.sequences, &self.segments];
        kinds.into_iter().chain(self.users.values()).map(Vec::len).min().unwrap_or(0)
    }

    /// Checks that no number repeats, that the numbers of each user increase, and that each kind has at least `least` numbers.
    pub fn check(self, least: usize, users: usize) {
        println!(
            "{} IDs, {} numbers of keys, {} tickets, {} of sequences, {} of segments, {} of users",
            self.ids.len(),
            self.keys.len(),
            self.tickets.len(),
            self.sequences.len(),
            self.segments.len(),
            self.users.values().map(Vec::len).sum::<usize>()
        );
        for numbers in [self.ids, self.keys, self.tickets, self.sequences, self.segments] {
            assert!(numbers.len() >= least, "there was no load: {}", numbers.len());
            assert_unique(numbers);
        }
        assert_eq!(self.users.len(), users);
        for numbers in self.users.values() {
            assert!(numbers.len() >= least, "there was no load: {}", numbers.len());
            assert_increasing(numbers);
        }
    }
}

/// Asks one server over HTTP for every kind of number but users'. Failed requests are ignored.
pub fn http(place: &Place, over: &AtomicBool, ledger: &Mutex<Ledger>) {
    while !over.load(Ordering::Relaxed) {
        let server = there(place);
        let ask = |method, path: &str| server.try_ask(method, path, &[], "").ok().filter(|answer| answer.status == 200);
        let ids = ask("GET", "/v1/ids?count=7");
        let ticket = ask("GET", "/v1/tickets/t");
        let sequence = ask("POST", "/v1/sequences/s/next");
        let segment = ask("GET", "/v1/segments/orders?count=3");
        let mut ledger = ledger.lock().expect("no panic");
        ledger.ids.extend(ids.into_iter().flat_map(|answer| answer.ids()));
        ledger.tickets.extend(ticket.map(|answer| answer.id()));
        ledger.sequences.extend(sequence.into_iter().flat_map(|answer| answer.ids()));
        ledger.segments.extend(segment.into_iter().flat_map(|answer| answer.range()));
    }
}

/// Asks all servers for the numbers of one user.
pub fn user(user: u64, places: &[&Place], over: &AtomicBool, ledger: &Mutex<Ledger>) {
    let path = format!("/v1/users/{user}/next");
    while !over.load(Ordering::Relaxed) {
        for place in places {
            let answer = there(place).try_ask("POST", &path, &[], "").ok().filter(|answer| answer.status == 200);
            let Some(answer) = answer else { continue };
            ledger.lock().expect("no panic").users.entry(user).or_default().push(answer.id());
        }
    }
}

/// Asks one server for numbers of a key: single numbers, blocks and pipelines.
pub fn resp(place: &Place, over: &AtomicBool, ledger: &Mutex<Ledger>) {
    while !over.load(Ordering::Relaxed) {
        let client = redis::Client::open(format!("redis://{}/", there(place).redis)).expect("a URL");
        let Ok(mut client) = client.get_connection() else { continue };
        while !over.load(Ordering::Relaxed) && client.is_open() {
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
}
