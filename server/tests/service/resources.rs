//! The HTTP resources, one after another.

use serde_json::json;
use snowmint_core::layouts::{SNOWMINT, SONYFLAKE};
use snowmint_stores::host::Namespace;
use tempfile::TempDir;

use super::support::{Server, assert_increasing, command, directory, store, verb};

const NONCE: &str = "8f14e45fceea167a5a36dedd4bea2543";

#[test]
fn ids_of_any_count_are_unique_and_ascending() {
    let (server, directory) = Server::alone(&[]);
    let mut ids = server.get("/v1/ids").ids();
    for count in [1, 2, 1999, 2000, 2001, 100_000] {
        let more = server.get(&format!("/v1/ids?count={count}")).ids();
        assert_eq!(more.len(), count);
        ids.extend(more);
    }
    assert_increasing(&ids);
    let sharded = "time:41,shard:3,sequence:9;epoch=2025-01-01T00:00:00Z";
    let url = store(directory.path());
    verb(&["namespace", "create", "--layout", "twitter", "--store", &url]);
    verb(&["namespace", "create", "a", "--layout", sharded, "--store", &url]);
    let twitter = server.get("/v1/ids?layout=twitter").ids();
    let sharded = server.get(&format!("/v1/ids?layout={sharded}&namespace=a")).ids();
    assert!(twitter[0] > ids[0] && sharded[0] < ids[0]);
    for bad in ["count=0", "count=100001", "count=-1", "count=x", "counts=1"] {
        let code = if bad.starts_with("count=") && bad.contains(['0', '1']) && !bad.contains('-') {
            "INVALID_ID"
        } else {
            "BAD_REQUEST"
        };
        server.get(&format!("/v1/ids?{bad}")).problem(400, code);
    }
    server.get("/v1/ids?layout=twiter").problem(400, "INVALID_LAYOUT");
    server.get("/v1/ids?layout=baidu").problem(409, "TIME_OVERFLOW");
    server.get("/v1/ids?namespace=a/b").problem(400, "INVALID_NODE");
    server.get("/v1/ids?namespace=a").problem(409, "INVALID_LAYOUT");
}

#[test]
fn the_first_use_creates_sequences_tickets_and_users() {
    let (server, _directory) = Server::alone(&[]);
    assert_eq!(server.post("/v1/sequences/a/next").ids(), [1]);
    assert_eq!(server.post("/v1/sequences/a/next?count=3").ids(), [2, 3, 4]);
    server.post("/v1/sequences/a/next?count=1001").problem(400, "INVALID_ID");
    assert_eq!([server.get("/v1/tickets/t").id(), server.get("/v1/tickets/t").id()], [1, 2]);
    for user in ["0", "7", "18446744073709551615"] {
        let path = format!("/v1/users/{user}/next");
        assert_eq!([server.post(&path).id(), server.post(&path).id()], [1, 2]);
    }
    for user in ["-1", "18446744073709551616", "x", "+5"] {
        server.post(&format!("/v1/users/{user}/next")).problem(400, "INVALID_ID");
    }
    let long = "x".repeat(129);
    server.post(&format!("/v1/sequences/{long}/next")).problem(400, "INVALID_TEXT");
    server.get(&format!("/v1/tickets/{long}")).problem(400, "INVALID_TEXT");
    server.get("/v1/tickets/%ff").problem(400, "BAD_REQUEST");
}

#[test]
fn a_fence_raises_every_ticket() {
    let directory = directory();
    let mut server = Server::start(directory.path(), &[]);
    assert_eq!([server.get("/v1/tickets/t").id(), server.get("/v1/tickets/t").id()], [1, 2]);
    assert!(server.end());
    let store = store(directory.path());
    let fence = ["fence", "--skip", "1000", "--stopped", "--store", &store];
    assert!(command().args(fence).output().expect("it runs").status.success());
    assert_eq!(Server::start(directory.path(), &[]).get("/v1/tickets/t").id(), 1003);
}

#[test]
fn a_copy_of_the_file_of_an_ended_server_has_all_numbers() {
    let (directory, restored) = (directory(), directory());
    let mut server = Server::start(directory.path(), &[]);
    assert_eq!(server.get("/v1/ids").ids().len(), 1);
    // Several connections to the file.
    let given: Vec<_> = std::thread::scope(|scope| {
        let take = || (0..20).map(|_| server.get("/v1/tickets/t").id()).collect::<Vec<_>>();
        let takers: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
        takers.into_iter().flat_map(|taker| taker.join().expect("tickets")).collect()
    });
    assert!(server.end());
    let file = |directory: &TempDir| {
        let url = store(directory.path());
        std::path::PathBuf::from(url.trim_start_matches("sqlite:").split('?').next().expect("a path"))
    };
    // As people copy it: the file alone, without the write-ahead log.
    std::fs::copy(file(&directory), file(&restored)).expect("copied");
    let next = Server::start(restored.path(), &[]).get("/v1/tickets/t").id();
    assert!(next > *given.iter().max().expect("a ticket"), "{next} after {given:?}");
}

#[test]
fn a_backup_of_a_server_under_load_has_its_state_of_a_moment() {
    let (directory, restored) = (directory(), directory());
    let server = Server::start(directory.path(), &[]);
    let (from, to) = (store(directory.path()), store(restored.path()));
    let to = to.trim_start_matches("sqlite:").split('?').next().expect("a path").to_owned();
    let take = || server.get("/v1/tickets/t").id();
    let before = take();
    let ended = std::sync::atomic::AtomicBool::new(false);
    let taken = std::thread::scope(|scope| {
        let load = scope.spawn(|| {
            let mut taken = Vec::new();
            while !ended.load(std::sync::atomic::Ordering::Relaxed) {
                taken.push(take());
            }
            taken
        });
        let backup = command().args(["backup", &to, "--store", &from]).output().expect("it runs");
        assert!(backup.status.success(), "{}", String::from_utf8_lossy(&backup.stderr));
        ended.store(true, std::sync::atomic::Ordering::Relaxed);
        load.join().expect("tickets")
    });
    let again = command().args(["backup", &to, "--store", &from]).output().expect("it runs");
    assert!(String::from_utf8_lossy(&again.stderr).contains("the file exists"), "{again:?}");
    let restored_store = store(restored.path());
    let skip = taken.len().to_string();
    let fence = ["fence", "--stopped", "--skip", &skip, "--store", &restored_store];
    assert!(command().args(fence).output().expect("it runs").status.success());
    let next = Server::start(restored.path(), &[]).get("/v1/tickets/t").id();
    assert!(next > before && !taken.contains(&next), "{next} after {taken:?}");
}

#[test]
fn an_exhausted_sequence_is_a_conflict() {
    let (server, directory) = Server::alone(&[]);
    let store = store(directory.path());
    let made = command().args(["sequence", "--store", &store, "create", "short", "--max", "2"]).status();
    assert!(made.expect("it runs").success());
    assert_eq!(server.post("/v1/sequences/short/next?count=2").ids(), [1, 2]);
    server.post("/v1/sequences/short/next").problem(409, "EXHAUSTED");
}

#[test]
fn segments_need_an_existing_tag() {
    let (server, directory) = Server::alone(&[]);
    server.get("/v1/segments/orders").problem(404, "INVALID_TEXT");
    let store = store(directory.path());
    let made = command().args(["segment", "--store", &store, "create", "orders", "--start", "100"]).status();
    assert!(made.expect("it runs").success());
    assert_eq!(server.get("/v1/segments/orders").json(), json!({"start": "100", "end": "101"}));
    assert_eq!(server.get("/v1/segments/orders?count=5000").json(), json!({"start": "101", "end": "5101"}));
    // The same numbers for Leaf's clients.
    let answer = server.get("/api/segment/get/orders");
    assert_eq!((answer.status, answer.text.as_str()), (200, "5101"));
    assert_eq!(answer.headers["content-type"], "text/plain;charset=UTF-8");
}

#[test]
fn leafs_endpoints_answer_as_leaf_does() {
    let (server, _directory) = Server::alone(&[]);
    let answer = server.get("/api/snowflake/get/any");
    assert_eq!(answer.status, 200);
    let candidates = server.get(&format!("/v1/inspect/{}", answer.text)).json();
    assert!(candidates["candidates"].as_array().expect("a list").iter().any(|guess| guess["layout"] == "leaf"));
    for (path, message) in [
        ("/api/segment/get/none", "Result{id=-2, status=EXCEPTION}"),
        ("/api/segment/get/", "Key is none"),
        ("/api/snowflake/get/", "Key is none"),
    ] {
        let answer = server.get(path);
        let error = answer.json();
        assert_eq!((answer.status, error["message"].as_str()), (500, Some(message)));
        assert_eq!((error["error"].as_str(), error["path"].as_str()), (Some("Internal Server Error"), Some(path)));
    }
}

#[test]
fn a_node_is_leased_renewed_and_released_over_http() {
    let (server, _directory) = Server::alone(&["--max-window-ms", "20000"]);
    let leases = "/v1/namespaces/orders/leases";
    let claim = json!({"nonce": NONCE, "window_ms": 3_600_000, "label": "a test"});
    let claimed = server.ask_json("POST", leases, &claim);
    assert_eq!(claimed.status, 201, "{claimed:?}");
    let lease = claimed.json();
    assert_eq!((&lease["window_ms"], &lease["node"]), (&json!(20_000), &json!(0)));
    let ms = |value: &serde_json::Value| value.as_i64().expect("ms");
    let (start, end) = (ms(&lease["window"]["start"]), ms(&lease["window"]["end"]));
    assert!((end - start - 20_000).abs() < 100 && (ms(&lease["server_time_ms"]) - start).abs() < 5000);

    // A client that lost the answer sends its claim again.
    assert_eq!(server.ask_json("POST", leases, &claim).json()["window"], lease["window"]);
    let other = server.ask_json("POST", leases, &json!({"nonce": NONCE.replace('8', "9")}));
    assert_eq!(other.json()["node"], 1);

    let place = format!("{leases}/0");
    let renewal = json!({"nonce": NONCE, "unused_from_ms": end + 5000});
    let renewed = server.ask_json("PUT", &place, &renewal).json();
    assert!(ms(&renewed["window"]["end"]) >= end + 25_000, "{renewed}");
    server.ask_json("PUT", &format!("{leases}/1"), &renewal).problem(409, "WINDOW_CLOSED");
    server.ask_json("PUT", &format!("{leases}/9"), &renewal).problem(409, "WINDOW_CLOSED");
    let release = json!({"nonce": NONCE, "unused_from_ms": start + 1});
    let answer = server.ask_json("DELETE", &place, &release);
    assert_eq!(answer.status, 200, "{answer:?}");
    server.ask_json("PUT", &place, &renewal).problem(409, "WINDOW_CLOSED");
    let held = server.get(leases).json();
    let released: Vec<_> = held["leases"].as_array().expect("a list").iter().map(|lease| &lease["released"]).collect();
    assert_eq!(released, [true, false]);
    // The next claim gets the node at once.
    let next = server.ask_json("POST", leases, &json!({"nonce": NONCE.replace('8', "7")})).json();
    assert_eq!(next["node"], 0);
    assert!(ms(&next["window"]["start"]) > start);
}

#[test]
fn clients_and_the_server_share_a_layouts_namespace() {
    let (server, directory) = Server::alone(&[]);
    verb(&["namespace", "create", "--layout", "sonyflake", "--store", &store(directory.path())]);
    server.get("/v1/ids?layout=sonyflake").json();
    let sonyflake = Namespace::of_layout(&SONYFLAKE).to_string();
    let leases = format!("/v1/namespaces/{}/leases", sonyflake.replace('@', "%40"));
    let held = server.get(&leases).json();
    assert_eq!(held["leases"].as_array().map(Vec::len), Some(1), "{held}");
    let claim = json!({"nonce": NONCE, "layout": "sonyflake"});
    let claimed = server.ask_json("POST", &leases, &claim);
    assert_eq!((claimed.status, &claimed.json()["node"]), (201, &json!(1)));
    // The path may contain @ unescaped.
    assert_eq!(server.ask_json("POST", &leases.replace("%40", "@"), &claim).json()["node"], 1);
    let release = json!({"nonce": NONCE, "unused_from_ms": 0});
    assert_eq!(server.ask_json("DELETE", &format!("{leases}/1"), &release).status, 200);
    // No other layout may use the namespace, not even as the first one.
    let snowmint = Namespace::of_layout(&SNOWMINT);
    server.ask_json("POST", &format!("/v1/namespaces/{snowmint}/leases"), &claim).problem(409, "INVALID_LAYOUT");
    server.ask_json("POST", "/v1/namespaces/@.x/leases", &claim).problem(400, "INVALID_NODE");
}

#[test]
fn an_impossible_lease_is_a_problem() {
    let (server, _directory) = Server::alone(&[]);
    let leases = "/v1/namespaces/orders/leases";
    for (claim, code) in [
        (json!({}), "BAD_REQUEST"),
        (json!({"nonce": "x"}), "BAD_REQUEST"),
        (json!({"nonce": NONCE.to_uppercase()}), "BAD_REQUEST"),
        (json!({"nonce": NONCE, "window": 5}), "BAD_REQUEST"),
        (json!({"nonce": NONCE, "window_ms": 10}), "INVALID_LAYOUT"),
        (json!({"nonce": NONCE, "window_ms": 3_600_001}), "INVALID_LAYOUT"),
        (json!({"nonce": NONCE, "window_ms": 3_600_000, "max_ahead_ms": 1}), "INVALID_LAYOUT"),
        (json!({"nonce": NONCE, "max_ahead_ms": 60_001}), "BAD_REQUEST"),
        (json!({"nonce": NONCE, "last_node": 7.0}), "BAD_REQUEST"),
    ] {
        server.ask_json("POST", leases, &claim).problem(400, code);
    }
    let over = json!({"nonce": NONCE, "layout": "baidu"});
    server.ask_json("POST", leases, &over).problem(409, "TIME_OVERFLOW");
    let first = json!({"nonce": NONCE, "layout": "twitter", "last_node": 7});
    assert_eq!(server.ask_json("POST", leases, &first).json()["node"], 7);
    let part = |text: &str| json!({"nonce": NONCE.replace('8', "6"), "layout": "twitter", "nodes": text});
    assert_eq!(server.ask_json("POST", leases, &part("datacenter=3")).json()["node"], 96);
    server.ask_json("POST", leases, &part("region=3")).problem(400, "INVALID_NODE");
    let both = json!({"nonce": NONCE, "layout": "twitter", "node": 96, "nodes": "datacenter=3"});
    server.ask_json("POST", leases, &both).problem(400, "BAD_REQUEST");
    server.ask_json("POST", leases, &json!({"nonce": NONCE.replace('8', "9")})).problem(409, "INVALID_LAYOUT");
    server.ask("POST", leases, &[("content-type", "application/json")], "{").problem(400, "BAD_REQUEST");
    server.ask("POST", leases, &[("content-type", "text/plain")], "{}").problem(415, "BAD_REQUEST");
    server.ask_json("POST", "/v1/namespaces/.x/leases", &json!({"nonce": NONCE})).problem(400, "INVALID_NODE");
    server.ask_json("PUT", &format!("{leases}/x"), &json!({})).problem(400, "BAD_REQUEST");
    let far = json!({"nonce": NONCE, "unused_from_ms": 9_000_000_000_000_000_i64});
    server.ask_json("PUT", &format!("{leases}/0"), &far).problem(409, "INVALID_ID");
    for (window_ms, max_ahead_ms) in [(999, 0), (3_600_000, 1), (3_600_001, 0)] {
        let renewal =
            json!({"nonce": NONCE, "unused_from_ms": 0, "window_ms": window_ms, "max_ahead_ms": max_ahead_ms});
        server.ask_json("PUT", &format!("{leases}/0"), &renewal).problem(400, "INVALID_LAYOUT");
    }
    // The only node is taken.
    let one = "time:41,sequence:12;epoch=2025-01-01T00:00:00Z";
    let claim = |nonce: &str| json!({"nonce": nonce, "layout": one, "window_ms": 30_000});
    assert_eq!(server.ask_json("POST", "/v1/namespaces/one/leases", &claim(NONCE)).status, 201);
    let taken = server.ask_json("POST", "/v1/namespaces/one/leases", &claim(&NONCE.replace('8', "9")));
    let problem = taken.problem(503, "NODES_EXHAUSTED");
    assert!(problem["retry_after_ms"].as_u64().is_some_and(|ms| (1..=31_000).contains(&ms)), "{problem}");
    assert!(taken.headers.contains_key("retry-after"));
}

#[test]
fn ids_without_a_free_node_are_nodes_exhausted_for_every_request() {
    let (server, _directory) = Server::alone(&[]);
    let one = "time:41,sequence:12;epoch=2025-01-01T00:00:00Z";
    let claim = json!({"nonce": NONCE, "layout": one, "window_ms": 60_000});
    assert_eq!(server.ask_json("POST", "/v1/namespaces/one/leases", &claim).status, 201);
    let path = format!("/v1/ids?namespace=one&layout={}", one.replace(':', "%3A").replace(';', "%3B"));
    std::thread::scope(|scope| {
        let requests: Vec<_> = (0..4).map(|_| scope.spawn(|| server.get(&path))).collect();
        for request in requests {
            let refused = request.join().expect("an answer");
            let problem = refused.problem(503, "NODES_EXHAUSTED");
            assert!(problem["retry_after_ms"].as_u64().is_some_and(|ms| (1..=61_000).contains(&ms)), "{problem}");
            assert!(refused.headers.contains_key("retry-after"));
        }
    });
    // The alert SnowmintNodesExhausted counts them.
    let metrics = server.get("/metrics").text;
    let failures =
        metrics.lines().find(|line| line.contains("snowmint_failures_total") && line.contains("NODES_EXHAUSTED"));
    assert!(failures.is_some_and(|line| line.ends_with(" 4")), "{metrics}");
}

#[test]
fn ids_of_a_fenced_store_name_the_time_of_the_fence() {
    let directory = directory();
    let mut server = Server::start(directory.path(), &[]);
    assert_eq!(server.get("/v1/ids").ids().len(), 1);
    assert!(server.end());
    let store = store(directory.path());
    let fence = ["fence", "--skip", "0", "--stopped", "--store", &store];
    assert!(command().args(fence).output().expect("it runs").status.success());
    let refused = Server::start(directory.path(), &[]).get("/v1/ids");
    let problem = refused.problem(503, "NODES_EXHAUSTED");
    let detail = problem["detail"].as_str().expect("a message");
    assert!(detail.contains("the store is fenced until 20") && !detail.contains("more node bits"), "{detail}");
    let retry_after_ms = problem["retry_after_ms"].as_u64().expect("a time");
    assert!((3_500_000..=3_601_000).contains(&retry_after_ms), "{problem}");
    let doctor = command().args(["doctor", "--store", &store]).output().expect("it runs");
    let output = String::from_utf8_lossy(&doctor.stdout);
    assert!(output.contains("the store is fenced until 20") && !output.contains("more node bits"), "{output}");
}

#[test]
fn the_document_lists_every_path() {
    let (server, _directory) = Server::alone(&[]);
    let document = server.get("/openapi.json").json();
    let paths: Vec<_> = document["paths"].as_object().expect("paths").keys().cloned().collect();
    assert_eq!(paths.len(), 23, "{paths:?}");
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(server.get("/healthz").text, "ok\n");
    let metrics = server.get("/metrics").text;
    assert!(metrics.contains("snowmint_requests_total{protocol=\"http\"} 3\n"), "{metrics}");
    server.get("/nothing").problem(404, "NOT_FOUND");
    server.post("/v1/ids").problem(405, "METHOD_NOT_ALLOWED");
    let front = server.get("/");
    let (kind, expected) = if cfg!(feature = "page") {
        ("text/html; charset=utf-8", "<title>snowmint inspector</title>")
    } else {
        ("text/plain; charset=utf-8", "scripts/build-site.sh builds the page")
    };
    assert_eq!((front.status, front.headers["content-type"].to_str().expect("text")), (200, kind));
    assert!(front.text.contains(expected), "{front:?}");
    let inspected = server.get("/v1/inspect/garbage").json();
    assert_eq!(inspected, json!({"id": "garbage", "candidates": []}));
}
