//! Roles and verbs: the rights of each role, the namespaces that are made, and the number of nodes of a token.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::thread;

use redis::{RedisResult, Value, cmd};
use serde_json::json;
use tempfile::TempDir;

use super::support::{Answer, Server, directory, store, verb};

const METRICS: &str = "a-token-that-reads-metrics";
const MINT: &str = "a-token-that-takes-numbers";
const SECOND: &str = "another-one-takes-numbers";
const ADMIN: &str = "a-token-that-sets-keys";
/// The tokens of the senders of a request; the first sender has no token.
const SENDERS: [Option<&str>; 4] = [None, Some(METRICS), Some(MINT), Some(ADMIN)];
const NONCE: &str = "8f14e45fceea167a5a36dedd4bea2543";
/// Eight nodes.
const SMALL: &str = "time:41,node:3,sequence:12;epoch=2025-01-01T00:00:00Z";

/// The status for each sender: no token, metrics, mint, admin.
type Statuses = [u16; 4];
const OPEN: Statuses = [200; 4];
const TO_METRICS: Statuses = [401, 200, 200, 200];
const TO_MINT: Statuses = [401, 403, 200, 200];
const TO_ADMIN: Statuses = [401, 403, 403, 200];

/// Every route of HTTP: method, route in the document, path of the request, answers. Claims are below.
const ROUTES: &[(&str, &str, &str, Statuses)] = &[
    ("GET", "/healthz", "/healthz", OPEN),
    ("GET", "/readyz", "/readyz", OPEN),
    ("GET", "/metrics", "/metrics", TO_METRICS),
    ("GET", "/v1/status", "/v1/status", TO_METRICS),
    ("GET", "/v1/ids", "/v1/ids", TO_MINT),
    ("GET", "/v1/inspect/{id}", "/v1/inspect/5", TO_MINT),
    ("GET", "/v1/namespaces/{ns}/leases", "/v1/namespaces/@snowmint/leases", TO_MINT),
    ("GET", "/v1/segments/{tag}", "/v1/segments/t", TO_MINT),
    ("POST", "/v1/sequences/{name}/next", "/v1/sequences/s/next", TO_MINT),
    ("GET", "/v1/sequences/{name}", "/v1/sequences/s", TO_MINT),
    ("GET", "/v1/sequences/{name}/current", "/v1/sequences/s/current", TO_MINT),
    ("GET", "/v1/tickets/{name}", "/v1/tickets/t", TO_MINT),
    ("POST", "/v1/users/{uid}/next", "/v1/users/5/next", TO_MINT),
    ("GET", "/v1/users/{uid}/current", "/v1/users/5/current", TO_MINT),
    ("POST", "/v1/users/{set}/{uid}/next", "/v1/users/drafts/5/next", TO_MINT),
    ("GET", "/v1/users/{set}/{uid}/current", "/v1/users/drafts/5/current", TO_MINT),
    ("GET", "/api/segment/get/{key}", "/api/segment/get/t", TO_MINT),
    ("GET", "/api/snowflake/get/{key}", "/api/snowflake/get/any", TO_MINT),
];

/// Routes with a body, and routes that the document does not list.
const OTHERS: &[(&str, &str)] = &[
    ("POST", "/v1/formatted/{name}"),
    ("POST", "/v1/formatted/{name}/next"),
    ("POST", "/v1/formatted/{name}/parse"),
    ("POST", "/v1/namespaces/{ns}/leases"),
    ("PUT", "/v1/namespaces/{ns}/leases/{node}"),
    ("DELETE", "/v1/namespaces/{ns}/leases/{node}"),
    ("POST", "/v1/sequences/{name}"),
    ("PUT", "/v1/sequences/{name}"),
    ("POST", "/v1/sequences/{name}/set"),
];

/// Every command of the Redis protocol, and the error code for each sender: no token, metrics, mint, admin.
const COMMANDS: &[(&[&str], [&str; 4])] = &[
    (&["INCR", "k"], ["NOAUTH", "NOPERM", "", ""]),
    (&["INCRBY", "k", "5"], ["NOAUTH", "NOPERM", "", ""]),
    (&["GET", "k"], ["NOAUTH", "NOPERM", "", ""]),
    (&["EXISTS", "k"], ["NOAUTH", "NOPERM", "", ""]),
    (&["SET", "set", "9223372036854775806"], ["NOAUTH", "NOPERM", "NOPERM", ""]),
    (&["DEL", "deleted"], ["NOAUTH", "NOPERM", "NOPERM", ""]),
    (&["UNLINK", "deleted"], ["NOAUTH", "NOPERM", "NOPERM", ""]),
    (&["PING"], ["NOAUTH", "", "", ""]),
    (&["ECHO", "x"], ["NOAUTH", "", "", ""]),
    (&["SELECT", "0"], ["NOAUTH", "", "", ""]),
    (&["INFO"], ["NOAUTH", "", "", ""]),
    (&["CLIENT", "ID"], ["NOAUTH", "", "", ""]),
    (&["COMMAND"], ["NOAUTH", "", "", ""]),
    (&["HELLO", "3"], ["NOAUTH", "", "", ""]),
];

/// Writes the token files, and returns the flags that name them.
fn flags(directory: &Path) -> Vec<String> {
    let file = |name: &str, tokens: &str| {
        let path: PathBuf = directory.join(name);
        std::fs::write(&path, tokens).expect("written");
        path.to_str().expect("text").to_owned()
    };
    vec![
        "--metrics-token-file".to_owned(),
        file("metrics", METRICS),
        "--token-file".to_owned(),
        file("mint", &format!("billing {MINT}\nshipping {SECOND}\n")),
        "--admin-token-file".to_owned(),
        file("admin", ADMIN),
    ]
}

/// Starts a server with tokens for all roles, a segment tag and a namespace `orders` of eight nodes.
fn guarded(options: &[&str]) -> (Server, TempDir) {
    let directory = directory();
    let url = store(directory.path());
    verb(&["segment", "create", "t", "--store", &url]);
    verb(&["namespace", "create", "orders", "--layout", SMALL, "--store", &url]);
    let flags = flags(directory.path());
    let options: Vec<_> = flags.iter().map(String::as_str).chain(options.iter().copied()).collect();
    (Server::start(directory.path(), &options), directory)
}

fn ask(server: &Server, token: Option<&str>, method: &str, path: &str, body: &str) -> Answer {
    let bearer = format!("Bearer {}", token.unwrap_or_default());
    let mut headers = vec![("content-type", "application/json")];
    headers.extend(token.map(|_| ("authorization", bearer.as_str())));
    server.ask(method, path, &headers, body)
}

fn claim(server: &Server, token: Option<&str>, namespace: &str, nonce: u32) -> Answer {
    let body = json!({"nonce": format!("{nonce:032x}"), "layout": SMALL, "label": "a holder"});
    ask(server, token, "POST", &format!("/v1/namespaces/{namespace}/leases"), &body.to_string())
}

#[test]
fn each_role_may_send_its_http_requests() {
    let (server, _directory) = guarded(&[]);
    for (method, _, path, statuses) in ROUTES {
        for (token, status) in SENDERS.into_iter().zip(statuses) {
            assert_eq!(ask(&server, token, method, path, "").status, *status, "{method} {path} with {token:?}");
        }
        assert_eq!(ask(&server, Some("a-wrong-token-of-nobody"), method, path, "").status, statuses[0], "{path}");
    }
    for (token, status) in SENDERS.into_iter().zip([401, 403, 201, 201]) {
        assert_eq!(claim(&server, token, "orders", 1).status, status, "a claim with {token:?}");
    }
    for (token, status) in SENDERS.into_iter().zip([401, 403, 403, 201]) {
        assert_eq!(claim(&server, token, "new", 1).status, status, "a claim in a new namespace with {token:?}");
    }
    let nonce = format!("{:032x}", 1);
    let renewal = json!({"nonce": nonce, "unused_from_ms": 0}).to_string();
    for (method, statuses) in [("PUT", [401, 403, 200, 200]), ("DELETE", [401, 403, 200, 200])] {
        for (token, status) in SENDERS.into_iter().zip(statuses) {
            let answer = ask(&server, token, method, "/v1/namespaces/orders/leases/0", &renewal);
            assert_eq!(answer.status, status, "{method} of a lease with {token:?}: {answer:?}");
        }
    }
    for (method, path, body, statuses) in [
        ("POST", "/v1/sequences/s", "{}", TO_ADMIN),
        ("PUT", "/v1/sequences/s", "{}", TO_ADMIN),
        ("POST", "/v1/sequences/s/set", r#"{"value":"41"}"#, TO_ADMIN),
        ("POST", "/v1/formatted/f", r#"{"pattern": "{0}", "overflow": "grow"}"#, TO_ADMIN),
        ("POST", "/v1/formatted/f/next", "", TO_MINT),
        ("POST", "/v1/formatted/f/parse", r#"{"text": "1"}"#, TO_MINT),
    ] {
        for (token, status) in SENDERS.into_iter().zip(statuses) {
            // A refused body stays unread, which may end the connection.
            let body = if status == 200 { body } else { "" };
            assert_eq!(ask(&server, token, method, path, body).status, status, "{method} {path} with {token:?}");
        }
    }
    for path in ["/openapi.json", "/"] {
        let statuses = if path == "/" { OPEN } else { TO_METRICS };
        for (token, status) in SENDERS.into_iter().zip(statuses) {
            assert_eq!(ask(&server, token, "GET", path, "").status, status, "{path} with {token:?}");
        }
    }
    assert_eq!(ask(&server, Some(METRICS), "GET", "/nothing", "").status, 404);
    let refused = ask(&server, Some(METRICS), "GET", "/v1/ids", "").problem(403, "FORBIDDEN");
    assert_eq!(refused["detail"], "this needs the role mint: send a token of --token-file");
}

#[test]
fn the_table_has_every_route_and_a_fence_is_none_of_them() {
    let (server, _directory) = Server::alone(&[]);
    let document = server.get("/openapi.json").json();
    let mut routes = BTreeSet::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        routes.extend(item.as_object().expect("methods").keys().map(|method| (method.to_uppercase(), path.clone())));
    }
    let known = ROUTES.iter().map(|(method, route, ..)| (*method, *route)).chain(OTHERS.iter().copied());
    let known: BTreeSet<_> = known.map(|(method, route)| (method.to_owned(), route.to_owned())).collect();
    assert_eq!(routes, known);
    assert!(!routes.iter().any(|(_, route)| route.contains("fence")));
}

#[test]
fn each_role_may_send_its_commands() {
    let (server, _directory) = guarded(&[]);
    for (place, token) in SENDERS.into_iter().enumerate() {
        let mut client = server.client();
        if let Some(token) = token {
            let _: () = cmd("AUTH").arg(token).query(&mut client).expect("OK");
        }
        for (words, wanted) in COMMANDS {
            let got: RedisResult<Value> = cmd(words[0]).arg(&words[1..]).query(&mut client);
            let code = got.as_ref().err().and_then(|error| error.code()).unwrap_or_default();
            assert_eq!(code, wanted[place], "{words:?} with {token:?}: {got:?}");
        }
    }
    let mut client = server.client();
    let _: () = cmd("AUTH").arg(MINT).query(&mut client).expect("OK");
    let refused = cmd("SET").arg("k").arg(5).query::<Value>(&mut client).expect_err("no administrator").to_string();
    assert!(refused.contains("'set' needs the role admin: send AUTH with a token of --admin-token-file"), "{refused}");
    // A transaction with a forbidden command runs none of its commands.
    let _: () = cmd("MULTI").query(&mut client).expect("OK");
    let _: Value = cmd("INCR").arg("in a transaction").query(&mut client).expect("QUEUED");
    assert_eq!(cmd("DEL").arg("k").query::<Value>(&mut client).expect_err("forbidden").code(), Some("NOPERM"));
    assert_eq!(cmd("EXEC").query::<Value>(&mut client).expect_err("refused").code(), Some("EXECABORT"));
    assert_eq!(cmd("EXISTS").arg("in a transaction").query::<u64>(&mut client), Ok(0));
}

#[test]
fn without_a_token_for_administrators_only_verbs_set_keys() {
    let directory = directory();
    let flags = flags(directory.path());
    let mut server = Server::start(directory.path(), &["--token-file", &flags[3]]);
    let mut client = server.client();
    let _: () = cmd("AUTH").arg(MINT).query(&mut client).expect("OK");
    assert_eq!(cmd("SET").arg("k").arg(5).query::<Value>(&mut client).expect_err("forbidden").code(), Some("NOPERM"));
    // Without a metrics token, the mint token reads metrics.
    assert_eq!(ask(&server, Some(MINT), "GET", "/metrics", "").status, 200);
    assert_eq!(ask(&server, Some(ADMIN), "GET", "/metrics", "").status, 401);
    assert!(server.end());
    let url = store(directory.path());
    verb(&["key", "set", "k", "5", "--store", &url]);
    assert_eq!(verb(&["key", "show", "k", "--store", &url]), "5\n");
    let (_, refused) = super::support::refused(&["serve", "--admin-token-file", &flags[5], "--store", &url]);
    assert!(refused.contains("--token-file"), "{refused}");
}

#[test]
fn a_key_that_was_set_to_its_end_is_lowered_by_an_operator() {
    let (mut server, directory) = guarded(&[]);
    let url = store(directory.path());
    let mut client = server.client();
    let _: () = cmd("AUTH").arg(ADMIN).query(&mut client).expect("OK");
    assert_eq!(cmd("INCR").arg("k").query::<u64>(&mut client), Ok(1));
    let _: () = cmd("SET").arg("k").arg(i64::MAX - 1).query(&mut client).expect("OK");
    let dead = cmd("INCR").arg("k").query::<u64>(&mut client).expect_err("no number is left").to_string();
    assert!(dead.contains("EXHAUSTED"), "{dead}");
    let set = cmd("SET").arg("k").arg(1).query::<Value>(&mut client).expect_err("it sets nothing").to_string();
    assert!(set.contains("INVALID_ID") && set.contains("nothing is set"), "{set}");
    assert!(server.end());
    assert_eq!(verb(&["key", "lower", "k", "1", "--stopped", "--store", &url]), "9223372036854775806\n");
    assert_eq!(verb(&["key", "ls", "--store", &url]), "k\n");
    let flags = flags(directory.path());
    let server = Server::start(directory.path(), &flags.iter().map(String::as_str).collect::<Vec<_>>());
    let mut client = server.client();
    let _: () = cmd("AUTH").arg(MINT).query(&mut client).expect("OK");
    assert_eq!(cmd("INCR").arg("k").query::<u64>(&mut client), Ok(2));
}

#[test]
fn a_get_of_another_layout_makes_no_namespace() {
    let directory = directory();
    let url = store(directory.path());
    let server = Server::start(directory.path(), &[]);
    let missing = server.get("/v1/ids?layout=sonyflake").problem(404, "NO_NAMESPACE");
    let output = missing["detail"].as_str().expect("text");
    assert!(output.contains("snowmint namespace create @sonyflake"), "{output}");
    server.get("/v1/ids?namespace=orders").problem(404, "NO_NAMESPACE");
    let listed = verb(&["namespace", "ls", "--store", &url]);
    assert!(listed.starts_with("@snowmint  ") && listed.lines().count() == 1, "{listed}");
    verb(&["namespace", "create", "--layout", "sonyflake", "--store", &url]);
    assert_eq!(server.get("/v1/ids?layout=sonyflake").ids().len(), 1);
    // A claim makes one too.
    let claim = json!({"nonce": NONCE, "layout": "snowmint"});
    assert_eq!(server.ask_json("POST", "/v1/namespaces/orders/leases", &claim).status, 201);
    assert_eq!(server.get("/v1/ids?namespace=orders").ids().len(), 1);
}

#[test]
fn the_number_of_namespaces_is_limited() {
    let directory = directory();
    let url = store(directory.path());
    let server = Server::start(directory.path(), &["--max-namespaces", "3"]);
    for (namespace, status) in [("a", 201), ("b", 201), ("c", 403), ("a", 201)] {
        let answer = claim(&server, None, namespace, 1);
        assert_eq!(answer.status, status, "{namespace}: {answer:?}");
    }
    let refused = claim(&server, None, "c", 1).problem(403, "FORBIDDEN");
    assert!(refused["detail"].as_str().is_some_and(|text| text.contains("--max-namespaces")), "{refused}");
    let (_, held) = super::support::refused(&["namespace", "rm", "b", "--store", &url]);
    assert!(held.contains("node 0 is held by a holder"), "{held}");
    let release = json!({"nonce": format!("{:032x}", 1), "unused_from_ms": 0});
    assert_eq!(server.ask_json("DELETE", "/v1/namespaces/b/leases/0", &release).status, 200);
    verb(&["namespace", "rm", "b", "--store", &url]);
    assert_eq!(server.get("/v1/ids?namespace=b").status, 404);
    assert_eq!(claim(&server, None, "c", 1).status, 201);
}

#[test]
fn the_holders_of_a_token_have_a_share_of_the_nodes() {
    let (server, _directory) = guarded(&["--node-share", "25"]);
    let barrier = Barrier::new(16);
    let answers: Vec<_> = thread::scope(|scope| {
        let claim = |nonce| {
            let (server, barrier) = (&server, &barrier);
            scope.spawn(move || {
                barrier.wait();
                claim(server, Some(MINT), "orders", nonce)
            })
        };
        let claims: Vec<_> = (1..=16).map(claim).collect();
        claims.into_iter().map(|claim| claim.join().expect("no panic")).collect()
    });
    let granted = answers.iter().filter(|answer| answer.status == 201).count();
    assert!((1..=2).contains(&granted), "{answers:?}");
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        let refused = answer.problem(503, "NODES_EXHAUSTED");
        assert!(refused["detail"].as_str().is_some_and(|text| text.contains("--node-share")), "{refused}");
    }
    let until_full = (20..40).map(|nonce| claim(&server, Some(MINT), "orders", nonce).status);
    let more = until_full.take_while(|status| *status == 201).count();
    assert_eq!(granted + more, 2, "a quarter of eight nodes");
    // Another token has its own share, and an administrator has none.
    assert_eq!(claim(&server, Some(SECOND), "orders", 50).status, 201);
    for nonce in 60..63 {
        assert_eq!(claim(&server, Some(ADMIN), "orders", nonce).status, 201);
    }
    let held = ask(&server, Some(MINT), "GET", "/v1/namespaces/orders/leases", "").json();
    let labels: Vec<_> = held["leases"].as_array().expect("a list").iter().map(|lease| &lease["label"]).collect();
    let of = |token: &str| labels.iter().filter(|label| **label == &json!(format!("{token}/a holder"))).count();
    assert_eq!([of("billing"), of("shipping"), of("admin")], [2, 1, 3], "{labels:?}");
}
