//! The log of ranges: a line for each range that a server takes from the store, before a number of it is given out.

use std::path::Path;
use std::{fs, thread};

use redis::Commands as _;
use serde_json::Value;

use super::support::{Server, directory, store, verb};

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("a log");
    assert!(text.is_empty() || text.ends_with('\n'), "{text}");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"))).collect()
}

fn number(line: &Value, name: &str) -> i128 {
    line[name].as_str().expect("a string").parse().expect("a number")
}

/// Asserts that one line of a kind and a name has a number, and in a second run at most one more: a server that ends gives
/// back what it has not given out.
fn assert_logged(path: &Path, run: usize, kind: &str, name: &str, value: i128) {
    let all = lines(path);
    let has = |line: &&Value| {
        let (first, last, step) = (number(line, "first"), number(line, "last"), number(line, "step"));
        let (low, high) = (first.min(last), first.max(last));
        line["kind"] == kind && line["name"] == name && (low..=high).contains(&value) && (value - first) % step == 0
    };
    assert!((1..=1 + run).contains(&all.iter().filter(has).count()), "{kind} {name} {value} in {all:?}");
}

#[test]
fn each_number_of_every_kind_is_in_one_line() {
    let directory = directory();
    let path = directory.path().join("ranges.jsonl");
    let url = store(directory.path());
    verb(&["segment", "create", "t", "--step", "10", "--store", &url]);
    let log = path.to_str().expect("text");
    let options = ["--range-log", log, "--advertise", "http://ids-1.example", "--step", "10"];
    for run in 0..2 {
        let mut server = Server::start(directory.path(), &options);
        if run == 0 {
            assert_eq!(fs::read_to_string(&path).expect("a log"), "", "nothing is taken yet");
            let tens = serde_json::json!({"start": 100, "increment": -10, "min": -1000, "max": 100, "cache": 3});
            assert_eq!(server.ask_json("POST", "/v1/sequences/tens", &tens).status, 201);
        }
        for _ in 0..25 {
            let key: u64 = server.client().incr("k", 1).expect("a number");
            assert_logged(&path, run, "key", "k", key.into());
        }
        let range = server.get("/v1/segments/t?count=3").range();
        range.for_each(|number| assert_logged(&path, run, "segment", "t", number.into()));
        let leaf = server.get("/api/segment/get/t").text.parse().expect("a number");
        assert_logged(&path, run, "segment", "t", leaf);
        for number in server.get("/v1/tickets/a%2Fb?count=4").ids() {
            assert_logged(&path, run, "ticket", "a/b", number.into());
        }
        for _ in 0..5 {
            let answer = server.post("/v1/sequences/tens/next").json();
            let value: i128 = answer["ids"][0].as_str().expect("a string").parse().expect("a number");
            assert_logged(&path, run, "sequence", "tens", value);
        }
        let user = server.number("/v1/users/7/next");
        assert_logged(&path, run, "users", "users/0", user.into());
        let user = server.number("/v1/users/drafts/123456/next");
        assert_logged(&path, run, "users", "drafts/1", user.into());
        assert!(server.end());
    }
    let lines = lines(&path);
    assert!(lines.len() < 60, "a line for each range, not for each number: {lines:?}");
    for line in &lines {
        let time = line["time"].as_str().expect("a time");
        assert!(time.len() == 24 && time.ends_with('Z') && time.contains('T'), "{time}");
        assert_eq!(line["who"], "http://ids-1.example");
    }
}

#[test]
fn a_log_that_was_renamed_is_opened_again() {
    let directory = directory();
    let (path, old) = (directory.path().join("ranges.jsonl"), directory.path().join("ranges.1"));
    let server = Server::start(directory.path(), &["--range-log", path.to_str().expect("text")]);
    assert_eq!(server.get("/v1/tickets/t").id(), 1);
    fs::rename(&path, &old).expect("renamed");
    assert_eq!(server.get("/v1/tickets/t").id(), 2);
    server.signal("HUP");
    server.logged("opened again");
    assert_eq!(server.get("/v1/tickets/t").id(), 3);
    assert_eq!([lines(&old).len(), lines(&path).len()], [2, 1]);
    assert_logged(&path, 0, "ticket", "t", 3);
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_line_no_range_is_given_out() {
    let (server, _directory) = Server::alone(&["--range-log", "/dev/full", "--max-wait-ms", "300"]);
    for (method, path) in [("GET", "/v1/tickets/t"), ("POST", "/v1/sequences/s/next"), ("POST", "/v1/users/7/next")] {
        let refused = server.ask(method, path, &[], "").problem(503, "STORE_UNAVAILABLE");
        let detail = refused["detail"].as_str().expect("text");
        assert!(detail.contains("the range log cannot be written"), "{path}: {detail}");
        assert!(!detail.contains("/dev/full"), "clients learn no path: {detail}");
    }
    let refused = server.client().incr::<_, _, u64>("k", 1).expect_err("no number").to_string();
    assert!(refused.contains("STORE_UNAVAILABLE"), "{refused}");
    let line = server.logged("the range log cannot be written");
    assert_eq!(line["path"], "/dev/full", "{line}");
    // IDs come from leased nodes, not from ranges.
    assert_eq!(server.get("/v1/ids").ids().len(), 1);
}

#[test]
fn a_log_that_cannot_be_opened_ends_the_start() {
    let (code, said) = super::support::refused(&["serve", "--range-log", "/nothing/here", "--store", "memory:"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("--range-log /nothing/here"), "{said}");
}

#[test]
fn servers_may_share_a_log() {
    let directory = directory();
    let path = directory.path().join("ranges.jsonl");
    let servers = [(); 2].map(|()| Server::start(directory.path(), &["--range-log", path.to_str().expect("text")]));
    thread::scope(|scope| {
        for server in &servers {
            scope.spawn(move || {
                for _ in 0..100 {
                    server.get("/v1/tickets/t").id();
                }
            });
        }
    });
    assert_eq!(lines(&path).len(), 200);
    (1..=200).for_each(|ticket| assert_logged(&path, 0, "ticket", "t", ticket));
}
