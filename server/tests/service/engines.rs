//! The service on every engine: two servers on one store with one of them killed, and the engine itself killed.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use redis::Commands as _;
use snowmint_core::layouts::SNOWMINT;
use snowmint_tests::engines::{Engine, Server as Store, shared, shared_database, with_option};

use super::load::{Ledger, http, kill, place, resp, there, user};
use super::support::{Answer, Server, assert_increasing, command, verb};

/// The limit for each step on a busy machine.
const TIMEOUT: Duration = Duration::from_mins(1);

fn make_tag(store: &str) {
    let made = command().args(["segment", "create", "orders", "--step", "50", "--store", store]).status();
    assert!(made.expect("it runs").success());
}

/// Returns the nodes of IDs.
fn nodes(ids: &[u64]) -> BTreeSet<u32> {
    ids.iter().map(|id| SNOWMINT.decode(*id).expect("an ID").node).collect()
}

/// Repeats a request until its answer passes the check, and returns that answer.
fn until(mut ask: impl FnMut() -> Answer, done: impl Fn(&Answer) -> bool) -> Answer {
    let begun = Instant::now();
    loop {
        let answer = ask();
        if done(&answer) {
            return answer;
        }
        assert!(begun.elapsed() < TIMEOUT, "{answer:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_store_that_refuses_the_service_for_good_is_500() {
    let store = Store::start(Engine::Redis);
    let server = Server::over(&store.url(), &[]);
    let next = |name: &str| server.ask("POST", &format!("/v1/sequences/{name}/next"), &[], "");
    assert_eq!(next("first").status, 200);
    // The user may not write any more. Settings can be read.
    Engine::Redis.client(store.port(), "ACL SETUSER default -eval");
    next("second").problem(500, "INVALID_STORE");
}

/// Runs two servers under load, kills one of them and starts it again.
fn fleet_over(engine: Engine) {
    // This test does not stop the engine, so it may share one.
    let url = match engine {
        Engine::Etcd | Engine::Zookeeper | Engine::Nats => {
            with_option(shared(engine).url(), &format!("prefix=fleet{}", std::process::id()))
        }
        _ => shared_database(engine).url().to_owned(),
    };
    // A busy machine may take longer than the 5 s of the default.
    let url = with_option(&url, "timeout_ms=30000");
    make_tag(&url);
    let start =
        || Server::over(&url, &["--window-ms", "1000", "--max-wait-ms", "500", "--section-size", "2", "--step", "50"]);
    let places = [(); 2].map(|()| place(start()));
    let status = |wanted: u16| move |answer: &Answer| answer.status == wanted;
    let ids = |place| until(|| there(place).get("/v1/ids?count=5"), status(200)).ids();
    let all_nodes = || places.each_ref().map(|place| nodes(&ids(place)));
    let [first, second] = all_nodes();
    assert!(first.len() == 1 && second.len() == 1 && first != second, "{first:?} {second:?}");
    // The first server gets the section of user 100.
    let path = "/v1/users/100/next";
    let number = |place| until(|| there(place).post(path), status(200)).id();
    let mut held = vec![number(&places[0]), number(&places[0])];
    let json = until(|| there(&places[1]).post(path), status(421)).problem(421, "WRONG_SERVER");
    assert_eq!(json["server"], format!("http://{}", there(&places[0]).http));

    let (over, ledger) = (AtomicBool::new(false), Mutex::new(Ledger::default()));
    thread::scope(|scope| {
        let (places, over, ledger) = (&places, &over, &ledger);
        for number in [0, 2] {
            scope.spawn(move || user(number, &places.each_ref(), over, ledger));
        }
        for place in places {
            scope.spawn(move || http(place, over, ledger));
            scope.spawn(move || resp(place, over, ledger));
        }
        let wait_for = |least: usize| {
            let begun = Instant::now();
            while ledger.lock().expect("no panic").least(2) < least && begun.elapsed() < TIMEOUT {
                thread::sleep(Duration::from_millis(20));
            }
        };
        wait_for(10);
        kill(&places[0]);
        held.push(number(&places[1]));
        *places[0].write().expect("no panic") = Arc::new(start());
        wait_for(40);
        over.store(true, Ordering::Relaxed);
    });
    assert_increasing(&held);
    let [first, second] = all_nodes();
    assert!(first != second, "{first:?} {second:?}");
    ledger.into_inner().expect("no panic").check(10, 2);
}

#[test]
fn two_servers_share_postgres() {
    fleet_over(Engine::Postgres);
}

#[test]
fn two_servers_share_mariadb() {
    fleet_over(Engine::Mariadb);
}

#[test]
fn two_servers_share_redis() {
    fleet_over(Engine::Redis);
}

#[test]
fn two_servers_share_etcd() {
    fleet_over(Engine::Etcd);
}

#[test]
fn two_servers_share_zookeeper() {
    fleet_over(Engine::Zookeeper);
}

#[test]
fn two_servers_share_nats() {
    fleet_over(Engine::Nats);
}

/// Kills the engine under a server, and starts it again.
fn outage_of(engine: Engine) {
    let mut store = Store::start(engine);
    make_tag(&store.url());
    let server = Server::over(&store.url(), &["--window-ms", "1000", "--max-wait-ms", "500", "--step", "10"]);
    let mut client = server.client();
    let paths = [("GET", "/v1/tickets/t"), ("POST", "/v1/sequences/s/next"), ("GET", "/v1/segments/orders?count=200")];
    let ask = |(method, path): (&str, &str)| server.ask(method, path, &[], "");
    let user = ("POST", "/v1/users/1/next");
    let mut incr = |count: u64| {
        let begun = Instant::now();
        loop {
            match client.incr::<_, _, u64>("k", count) {
                Ok(number) => return number,
                Err(error) => assert!(begun.elapsed() < TIMEOUT, "{error}"),
            }
            thread::sleep(Duration::from_millis(20));
        }
    };
    let mut keys = vec![incr(1)];
    let (yes, no) = (|answer: &Answer| answer.status == 200, |answer: &Answer| answer.status != 200);
    let mut users = vec![until(|| ask(user), yes).id()];
    let mut ids = until(|| server.get("/v1/ids?count=3"), yes).ids();
    let mut numbers = paths.map(|path| vec![last(&until(|| ask(path), yes))]);

    store.kill();
    let gone = |answer: &Answer| answer.status == 503 && answer.json()["code"] == "STORE_UNAVAILABLE";
    for path in paths {
        until(|| ask(path), gone).problem(503, "STORE_UNAVAILABLE");
    }
    // A block of numbers that are not in memory.
    let refused = server.client().incr::<_, _, u64>("k", 5000).expect_err("the store is away");
    assert!(refused.detail().is_some_and(|detail| detail.starts_with("STORE_UNAVAILABLE ")), "{refused}");
    assert_eq!(refused.code(), Some("ERR"));
    // Granted windows are usable until they end.
    until(|| ask(user), gone).problem(503, "STORE_UNAVAILABLE");
    let ended = until(|| server.get("/v1/ids"), no);
    assert_eq!(ended.status, 503, "{ended:?}");
    assert_eq!(server.get("/healthz").status, 200, "the server itself is there");

    store.restart();
    for (path, numbers) in paths.into_iter().zip(&mut numbers) {
        numbers.push(last(&until(|| ask(path), yes)));
    }
    users.push(until(|| ask(user), yes).id());
    ids.extend(until(|| server.get("/v1/ids?count=3"), yes).ids());
    for count in [1, 5000] {
        keys.push(incr(count));
    }
    [keys, users, ids].iter().chain(&numbers).for_each(|numbers| assert_increasing(numbers));
}

/// Returns the last number of an answer in any form.
fn last(answer: &Answer) -> u64 {
    assert_eq!(answer.status, 200, "{answer:?}");
    match answer.json() {
        json if json["ids"].is_array() => *answer.ids().last().expect("some"),
        json if json["end"].is_string() => answer.range().end - 1,
        _ => answer.id(),
    }
}

#[test]
fn the_service_survives_an_outage_of_postgres() {
    outage_of(Engine::Postgres);
}

#[test]
fn the_service_survives_an_outage_of_redis() {
    outage_of(Engine::Redis);
}

#[test]
fn an_unsafe_replica_is_reported_and_refuses_new_leases() {
    let store = Store::start(Engine::Redis);
    let server = Server::over(&store.url(), &["--window-ms", "1000"]);
    let risk = |wanted: u8| format!("snowmint_store_standby_risk {wanted}\n");
    server.get("/v1/ids?count=5").ids();
    assert!(server.get("/metrics").text.contains(&risk(0)));
    let port = store.port().to_string();
    verb(&["namespace", "create", "newcomers", "--store", &store.url()]);
    let replica = Store::start_with(Engine::Redis, &["--replicaof", "127.0.0.1", &port]);
    until(|| server.get("/metrics"), |answer| answer.text.contains(&risk(1)));
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(4) {
        server.get("/v1/ids?count=5").ids();
    }
    server.get("/v1/ids?namespace=newcomers").problem(503, "UNSAFE_STORE");
    let serve = |url: &str| {
        let mut refused = command();
        refused.args(["serve", "--http", "127.0.0.1:0", "--redis", "off", "--store", url]);
        refused.output().expect("it ends")
    };
    let refused = serve(&store.url());
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && message.contains("connected_slaves=1") && message.contains("allow_standby=true"),
        "{message}"
    );
    drop(replica);
    Server::over(&format!("{}?allow_standby=true", store.url()), &[]).get("/v1/ids?count=5").ids();
}
