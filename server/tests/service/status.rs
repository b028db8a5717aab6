//! `/v1/status`: version, store and leases, by one look at the store for all requests of 5 s.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use snowmint_core::layouts::SNOWMINT;
use snowmint_stores::connect;
use snowmint_stores::host::{Leases, Namespace};
use snowmint_tests::engines::{Engine, Server as Store};

use super::slow::Way;
use super::support::Server;

/// Lists of records that the server has asked its store for.
fn lists(server: &Server) -> u64 {
    server.metric("snowmint_store_request_duration_seconds_count", "operation=\"list\"")
}

/// Asks for the status until the counts are these: the server keeps older ones for 5 s.
fn until_counted(server: &Server, leases: u64, namespaces: u64) -> Value {
    let begun = Instant::now();
    loop {
        let json = server.get("/v1/status").json();
        if (&json["leases"], &json["namespaces"]) == (&json!(leases), &json!(namespaces)) {
            return json;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "not {leases} in {namespaces}: {json}");
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn the_status_shows_version_store_and_leases() {
    let (server, directory) = Server::alone(&[]);
    // The server's own namespace.
    let json = until_counted(&server, 0, 1);
    assert_eq!((&json["version"], &json["store"]), (&json!(env!("CARGO_PKG_VERSION")), &json!("SQLite")));
    assert!(!json.to_string().contains(&directory.path().display().to_string()), "{json}");
    server.get("/v1/ids");
    let nonce = "8f14e45fceea167a5a36dedd4bea2543";
    server.ask_json("POST", "/v1/namespaces/orders/leases", &json!({ "nonce": nonce })).json();
    until_counted(&server, 2, 2);
}

#[test]
fn metrics_count_nodes_and_ids_of_each_namespace() {
    let (server, _directory) = Server::alone(&[]);
    assert_eq!(server.get("/v1/ids?count=3").ids().len(), 3);
    let nonce = "8f14e45fceea167a5a36dedd4bea2543";
    server.ask_json("POST", "/v1/namespaces/orders/leases", &json!({ "nonce": nonce })).json();
    assert_eq!(server.get("/v1/ids?namespace=orders&count=5").ids().len(), 5);
    // A scrape shows the counts that the scrape before it has read from the store.
    let begun = Instant::now();
    while server.metric("snowmint_nodes", "namespace=\"orders\",state=\"held\"") != 2 {
        assert!(begun.elapsed() < Duration::from_mins(1), "{}", server.get("/metrics").text);
        thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(server.metric("snowmint_nodes", "namespace=\"orders\",state=\"free\""), 1022);
    assert_eq!(server.metric("snowmint_nodes", "namespace=\"@snowmint\",state=\"held\""), 1);
    assert_eq!(server.metric("snowmint_ids_total", "namespace=\"orders\""), 5);
    assert_eq!(server.metric("snowmint_ids_total", "namespace=\"@snowmint\""), 3);
}

#[test]
fn the_status_of_100_namespaces_takes_two_queries() {
    let store = Store::start(Engine::Postgres);
    let way = Way::to(&store.url());
    let server = Server::over(&way.url(&store.url()), &[]);
    let pin = async {
        let leases = Leases::new(connect(&store.url()).await.expect("it connects"));
        for place in 0..100 {
            let namespace = Namespace::named(&format!("n{place}")).expect("a name");
            leases.make(&namespace, &SNOWMINT).await.expect("it is made");
        }
    };
    tokio::runtime::Runtime::new().expect("a runtime").block_on(pin);
    server.get("/v1/ids?namespace=n7").ids();
    way.takes_ms(20);
    let (before, begun) = (lists(&server), Instant::now());
    let json = server.get("/v1/status").json();
    println!("the status of 101 namespaces at 20 ms took {:?}", begun.elapsed());
    assert_eq!((&json["leases"], &json["namespaces"]), (&json!(1), &json!(101)));
    assert_eq!(lists(&server) - before, 2);
}

#[test]
fn many_requests_share_one_look() {
    let store = Store::start(Engine::Redis);
    let way = Way::to(&store.url());
    let server = Server::over(&way.url(&store.url()), &[]);
    // A scrape looks too.
    way.stop(true);
    let (before, begun) = (lists(&server), Instant::now());
    thread::scope(|scope| {
        let asking: Vec<_> = (0..20).map(|_| scope.spawn(|| server.get("/v1/status"))).collect();
        way.wait_until_it_holds();
        way.stop(false);
        for answer in asking {
            assert_eq!(answer.join().expect("no panic").json()["namespaces"], 1);
        }
    });
    assert_eq!(server.get("/v1/status").status, 200);
    // Another look may begin every 5 s. Redis needs a list for each namespace, after it has refused to list all.
    let most = 3 * (1 + begun.elapsed().as_secs() / 5);
    let asked = lists(&server) - before;
    assert!(asked <= most, "{asked} lists in {:?}", begun.elapsed());
}

#[test]
fn a_failed_look_is_not_kept() {
    let store = Store::start(Engine::Redis);
    let way = Way::to(&store.url());
    let server = Server::over(&way.url(&format!("{}?timeout_ms=500", store.url())), &[]);
    way.stop(true);
    server.get("/v1/status").problem(503, "STORE_UNAVAILABLE");
    way.stop(false);
    let begun = Instant::now();
    while server.get("/v1/status").status != 200 {
        assert!(begun.elapsed() < Duration::from_mins(1), "the store is back");
        thread::sleep(Duration::from_millis(20));
    }
}
