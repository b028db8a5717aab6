//! Many names: each is opened independently and within its deadline, and the names unused for longest make room.

use std::io::Write as _;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use redis::Commands as _;
use snowmint_tests::engines::{Engine, Server as Store};

use super::slow::Way;
use super::support::{Server, connect, directory, rest, store, verb};

/// Ten times the usual duration.
const TIMEOUT: Duration = Duration::from_secs(20);

#[test]
fn new_keys_do_not_wait_for_each_other() {
    const CLIENTS: u32 = 40;
    const KEYS: u32 = 400;
    let store = Store::start(Engine::Redis);
    let way = Way::to(&store.url());
    let server = Server::over(&way.url(&store.url()), &["--max-wait-ms", "5000"]);
    way.takes_ms(20);
    let (begun, next) = (Instant::now(), AtomicU32::new(0));
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let mut client = server.client();
                while begun.elapsed() < TIMEOUT {
                    let key = next.fetch_add(1, Ordering::Relaxed);
                    if key >= KEYS {
                        return;
                    }
                    assert_eq!(client.incr::<_, _, u64>(format!("k{key}"), 1), Ok(1));
                }
            });
        }
    });
    let opened = next.load(Ordering::Relaxed).min(KEYS);
    println!("{:.0} new keys a second on a store 20 ms away", f64::from(opened) / begun.elapsed().as_secs_f64());
    assert_eq!(opened, KEYS, "after {TIMEOUT:?}");
}

#[test]
fn the_first_use_of_a_name_ends_at_its_deadline() {
    let store = Store::start(Engine::Redis);
    let way = Way::to(&store.url());
    let server = Server::over(&way.url(&store.url()), &["--max-wait-ms", "300"]);
    verb(&["namespace", "create", "new", "--store", &store.url()]);
    let mut client = server.client();
    let mut second = server.client();
    way.stop(true);
    let ended = |text: String, begun: Instant| {
        // The store's own deadline is 5 s, and two clients wait for the same name.
        assert!(begun.elapsed() < Duration::from_millis(4500), "{text} after {:?}", begun.elapsed());
        assert!(text.contains("STORE_UNAVAILABLE"), "{text}");
    };
    let second = &mut second;
    for words in [&["INCR", "new"][..], &["GET", "other"], &["SET", "third", "5"], &["EXISTS", "a"], &["DEL", "b"]] {
        let begun = Instant::now();
        thread::scope(|scope| {
            let run = |client: &mut redis::Connection| {
                let output = redis::cmd(words[0]).arg(&words[1..]).query::<redis::Value>(client).expect_err("no store");
                ended(format!("{words:?}: {output:?}"), begun);
            };
            let other = &mut *second;
            scope.spawn(move || run(other));
            run(&mut client);
        });
    }
    for (method, path) in [
        ("GET", "/v1/ids"),
        ("GET", "/v1/ids?namespace=new"),
        ("GET", "/v1/tickets/new"),
        ("GET", "/v1/segments/new"),
        ("POST", "/v1/sequences/new/next"),
        ("POST", "/v1/users/5/next"),
        ("GET", "/api/segment/get/new"),
    ] {
        let begun = Instant::now();
        let answer = server.ask(method, path, &[], "");
        assert!(begun.elapsed() < Duration::from_millis(4500), "{path}: {answer:?} after {:?}", begun.elapsed());
        assert_eq!(answer.status, if path.starts_with("/api") { 500 } else { 503 }, "{path}: {answer:?}");
    }
    way.stop(false);
    let begun = Instant::now();
    while server.get("/v1/ids?namespace=new").status != 200 {
        assert!(begun.elapsed() < TIMEOUT, "the store is back");
    }
}

#[test]
fn names_unused_for_longest_make_room() {
    const TICKETS: usize = 10_020;
    let server = Server::over("memory:", &[]);
    let mut client = server.client();
    let mut pipe = redis::pipe();
    for key in 0..10_100 {
        pipe.cmd("INCR").arg(format!("k{key}"));
    }
    let numbers: Vec<u64> = pipe.query(&mut client).expect("a number each");
    assert!(numbers.iter().all(|number| *number == 1));
    // k0 made room and gave its numbers back, while the last key is still open.
    assert_eq!(client.incr::<_, _, u64>("k0", 1), Ok(2));
    assert_eq!(client.incr::<_, _, u64>("k10099", 1), Ok(2));
    // Takes the tickets one after another on one connection.
    let request = |path: String| format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let requests: String = (0..TICKETS).map(|name| request(format!("/v1/tickets/t{name}"))).collect();
    let stream = connect(&server.http);
    let output = thread::scope(|scope| {
        scope.spawn(|| {
            (&stream).write_all(requests.as_bytes()).expect("written");
            let last = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            (&stream).write_all(last.as_bytes()).expect("written");
        });
        rest(&stream)
    });
    assert_eq!(output.matches("{\"id\":\"1\"}").count(), TICKETS);
    assert_eq!(server.get("/v1/tickets/t0").id(), 2);
}

#[test]
fn many_namespaces_do_not_block_other_ones() {
    let directory = directory();
    let server = Server::start(directory.path(), &["--max-wait-ms", "5000"]);
    assert_eq!(server.get("/v1/ids").status, 200);
    let make = |place: u32| verb(&["namespace", "create", &format!("n{place}"), "--store", &store(directory.path())]);
    make(0);
    let first = server.get("/v1/ids?namespace=n0").ids();
    for place in 1..70 {
        make(place);
        let answer = server.get(&format!("/v1/ids?namespace=n{place}"));
        assert_eq!(answer.status, 200, "{place}: {answer:?}");
    }
    // The default generator and Leaf's always have a place.
    assert_eq!(server.get("/v1/ids").status, 200);
    assert_eq!(server.get("/api/snowflake/get/any").status, 200);
    let again = server.get("/v1/ids?namespace=n0").ids();
    assert!(again > first, "{again:?} after {first:?}");
}
