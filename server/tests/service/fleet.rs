//! Several servers on one store.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use redis::Commands as _;

use super::kills::rounds;
use super::load::{Ledger, http, kill, place, resp, user};
use super::support::{Server, assert_increasing, assert_unique, command, directory, store};

#[test]
fn two_servers_on_one_store_share_no_number() {
    let directory = directory();
    let servers = [(); 2].map(|()| Server::start(directory.path(), &["--step", "50"]));
    let (mut ids, mut keys, mut tickets) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..100 {
        for server in &servers {
            ids.extend(server.get("/v1/ids?count=10").ids());
            tickets.push(server.get("/v1/tickets/t").id());
        }
    }
    let mut clients = [servers[0].client(), servers[1].client()];
    for _ in 0..2000 {
        keys.extend(clients.iter_mut().map(|client| client.incr::<_, _, u64>("k", 1).expect("a number")));
    }
    assert_eq!((ids.len(), keys.len(), tickets.len()), (2000, 4000, 200));
    [ids, keys, tickets].into_iter().for_each(assert_unique);
}

#[test]
fn another_server_takes_over_a_user_after_a_kill() {
    let directory = directory();
    let options = ["--window-ms", "2500", "--max-wait-ms", "200"];
    let (mut first, second) = (Server::start(directory.path(), &options), Server::start(directory.path(), &options));
    let path = "/v1/users/42/next";
    let mut numbers: Vec<u64> = (0..5).map(|_| first.number(path)).collect();
    let json = second.post_until(path, 421).problem(421, "WRONG_SERVER");
    assert_eq!(json["server"], format!("http://{}", first.http), "the answer names the right server");
    assert!(json["detail"].as_str().expect("a text").contains(&first.http), "{json}");
    numbers.push(first.number(path));
    first.kill();
    let killed = Instant::now();
    loop {
        let answer = second.post(path);
        if answer.status == 200 {
            numbers.push(answer.id());
            break;
        }
        // Nobody is sent to a server that is gone. An answer from before the kill may count a little longer.
        assert!(answer.status == 503 || killed.elapsed() < Duration::from_secs(1), "{answer:?}");
        if answer.status == 503 {
            assert!(answer.headers.contains_key("retry-after"), "{answer:?}");
        }
        assert!(killed.elapsed() < Duration::from_mins(1), "no server took over: {answer:?}");
        thread::sleep(Duration::from_millis(20));
    }
    println!("taken over after {} ms", killed.elapsed().as_millis());
    numbers.push(second.number(path));
    assert_increasing(&numbers);
}

#[test]
fn the_wrong_server_names_the_server_of_a_user() {
    let directory = directory();
    // Long limits: a client that waits for them makes the test fail.
    let options = ["--window-ms", "120000", "--max-wait-ms", "60000"];
    let ids_1 = ["--advertise", "https://ids-1.example"];
    let mut first = Server::start(directory.path(), &[&options[..], &ids_1].concat());
    let second = Server::start(directory.path(), &options);
    let path = "/v1/users/42/next";
    assert_eq!(first.post(path).id(), 1);
    for _ in 0..3 {
        let json = second.post(path).problem(421, "WRONG_SERVER");
        assert_eq!(json["server"], "https://ids-1.example", "{json}");
        // After this time the server reads the record again.
        thread::sleep(Duration::from_millis(150));
    }
    assert!(first.end());
    assert!(second.post(path).id() > 1);
}

#[test]
fn a_restarted_server_does_not_name_itself() {
    let directory = directory();
    let options = ["--window-ms", "3000", "--max-wait-ms", "200", "--advertise", "http://ids-1.example:8080"];
    let mut first = Server::start(directory.path(), &options);
    let path = "/v1/users/42/next";
    let before = first.number(path);
    first.kill();
    let again = Server::start(directory.path(), &options);
    let begun = Instant::now();
    let after = loop {
        let answer = again.post(path);
        if answer.status == 200 {
            break answer.id();
        }
        let json = answer.json();
        assert_eq!(answer.status, 503, "{json}");
        // On a busy machine the server may not have read the record yet.
        assert!(["WINDOW_CLOSED", "EXHAUSTED"].contains(&json["code"].as_str().expect("a code")), "{json}");
        assert!(json.get("server").is_none(), "{json}");
        let ms = json["retry_after_ms"].as_u64().expect("a time");
        assert!((1..=5000).contains(&ms), "{json}");
        assert!(answer.headers.contains_key("retry-after"));
        assert!(begun.elapsed() < Duration::from_secs(30), "{json}");
        thread::sleep(Duration::from_millis(20));
    };
    assert!(after > before);
}

#[test]
fn users_survive_the_kills_of_their_servers() {
    let directory = directory();
    let store = store(directory.path());
    assert!(command().args(["segment", "create", "orders", "--store", &store]).status().expect("it runs").success());
    let start =
        || Server::start(directory.path(), &["--window-ms", "1000", "--max-wait-ms", "100", "--section-size", "2"]);
    let places = [(); 2].map(|()| place(start()));
    let (over, ledger) = (AtomicBool::new(false), Mutex::new(Ledger::default()));
    thread::scope(|scope| {
        let (places, over, ledger) = (&places, &over, &ledger);
        // Two sections of two users, with one client per user. Other clients take all other kinds of numbers.
        for number in 0..4 {
            scope.spawn(move || user(number, &places.each_ref(), over, ledger));
        }
        for place in places {
            scope.spawn(move || http(place, over, ledger));
            scope.spawn(move || resp(place, over, ledger));
        }
        for round in 0..rounds().div_ceil(2) as usize {
            thread::sleep(Duration::from_millis(1500));
            kill(&places[round % 2]);
            // For a while only the other server runs.
            thread::sleep(Duration::from_millis(500));
            *places[round % 2].write().expect("no panic") = Arc::new(start());
        }
        // A busy machine takes longer.
        let begun = Instant::now();
        while ledger.lock().expect("no panic").least(4) < 20 {
            assert!(begun.elapsed() < Duration::from_mins(1), "there is no load");
            thread::sleep(Duration::from_millis(20));
        }
        over.store(true, Ordering::Relaxed);
    });
    ledger.into_inner().expect("no panic").check(20, 4);
}
