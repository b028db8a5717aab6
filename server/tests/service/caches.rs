//! A cache in front of the service: Varnish, with its built-in rules.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use super::support::{Server, TOKEN, make_tag};

/// A Varnish process. Dropping it kills the process.
struct Varnish {
    child: Child,
    socket: PathBuf,
    _directory: TempDir,
}

impl Varnish {
    fn before(server: &Server) -> Self {
        let directory = TempDir::new().expect("a directory");
        let socket = directory.path().join("socket");
        let child = Command::new("/usr/sbin/varnishd")
            .args(["-F", "-j", "none", "-s", "default,8m", "-n"])
            .arg(directory.path().join("work"))
            .arg("-a")
            .arg(&socket)
            .args(["-b", &server.http])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("varnishd starts: scripts/setup.sh installs it");
        let varnish = Self { child, socket, _directory: directory };
        let begun = Instant::now();
        // Varnish compiles its rules first.
        while varnish.ask("/healthz").0 != 200 {
            assert!(begun.elapsed() < Duration::from_mins(1), "Varnish does not answer");
            thread::sleep(Duration::from_millis(50));
        }
        varnish
    }

    /// Returns the status and the body, or status 0 without a connection.
    fn ask(&self, path: &str) -> (u16, String) {
        let Ok(mut stream) = UnixStream::connect(&self.socket) else { return (0, String::new()) };
        let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let mut answer = String::new();
        stream.write_all(head.as_bytes()).expect("written");
        stream.read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        assert!(head.to_ascii_lowercase().contains("x-varnish"), "{head}");
        (head.split(' ').nth(1).expect("a status").parse().expect("a number"), body.to_owned())
    }
}

impl Drop for Varnish {
    fn drop(&mut self) {
        // The worker process of Varnish ends with it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_cache_gives_no_number_twice() {
    let (server, directory) = Server::alone(&[]);
    make_tag(directory.path(), "orders");
    let varnish = Varnish::before(&server);
    for path in [
        "/v1/ids",
        "/v1/ids?count=3",
        "/v1/segments/orders",
        "/v1/tickets/t",
        "/api/segment/get/orders",
        "/api/snowflake/get/any",
    ] {
        let mut answers: Vec<_> = (0..4).map(|_| varnish.ask(path)).collect();
        assert!(answers.iter().all(|(status, _)| *status == 200), "{path}: {answers:?}");
        answers.sort_unstable();
        answers.dedup();
        assert_eq!(answers.len(), 4, "{path}: a cache answered: {answers:?}");
    }
}

#[test]
fn a_cache_stores_no_error() {
    let (server, directory) = Server::alone(&[]);
    let varnish = Varnish::before(&server);
    assert_eq!(varnish.ask("/v1/segments/late").0, 404);
    make_tag(directory.path(), "late");
    assert_eq!(varnish.ask("/v1/segments/late").0, 200);
}

#[test]
fn every_answer_but_the_page_forbids_caching() {
    let (server, directory) = Server::alone(&["--allow-origin", "https://app.example"]);
    make_tag(directory.path(), "orders");
    let leases = "/v1/namespaces/n/leases";
    let preflight = [("origin", "https://app.example"), ("access-control-request-method", "GET")];
    let json = [("content-type", "application/json")];
    let claim = json!({"nonce": "8f14e45fceea167a5a36dedd4bea2543"}).to_string();
    let requests: [(&str, &str, &[_], &str); 26] = [
        ("GET", "/v1/ids", &[], ""),
        ("GET", "/v1/ids?count=5000", &[], ""),
        ("GET", "/v1/ids?count=0", &[], ""),
        ("GET", "/v1/ids?layout=none", &[], ""),
        ("POST", "/v1/ids", &[], ""),
        ("GET", "/v1/segments/orders", &[], ""),
        ("GET", "/v1/segments/none", &[], ""),
        ("POST", "/v1/sequences/s/next", &[], ""),
        ("POST", "/v1/formatted/f", &json, r#"{"pattern": "{0}"}"#),
        ("POST", "/v1/formatted/f/next", &[], ""),
        ("GET", "/v1/tickets/t", &[], ""),
        ("GET", "/v1/tickets/%ff", &[], ""),
        ("POST", "/v1/users/1/next", &[], ""),
        ("GET", "/v1/inspect/1", &[], ""),
        ("POST", leases, &json, &claim),
        ("POST", leases, &json, "{"),
        ("GET", leases, &[], ""),
        ("GET", "/api/segment/get/orders", &[], ""),
        ("GET", "/api/segment/get/none", &[], ""),
        ("GET", "/api/snowflake/get/any", &[], ""),
        ("GET", "/api/segment/get/", &[], ""),
        ("GET", "/healthz", &[], ""),
        ("GET", "/metrics", &[], ""),
        ("GET", "/openapi.json", &[], ""),
        ("GET", "/nothing", &[], ""),
        ("OPTIONS", "/v1/ids", &preflight, ""),
    ];
    for (method, path, headers, body) in requests {
        let answer = server.ask(method, path, headers, body);
        let control = answer.headers.get("cache-control").map(|value| value.to_str().expect("text"));
        assert_eq!(control, Some("no-store"), "{method} {path}: {answer:?}");
    }
    let strange = server.ask("GET", "/v1/ids", &[("host", "evil.example")], "");
    assert_eq!((strange.status, &strange.headers["cache-control"]), (403, &"no-store".parse().expect("a value")));
    let file = directory.path().join("token");
    std::fs::write(&file, TOKEN).expect("written");
    let guarded = Server::start(directory.path(), &["--token-file", file.to_str().expect("text")]);
    let refused = guarded.get("/v1/ids");
    assert_eq!((refused.status, &refused.headers["cache-control"]), (401, &"no-store".parse().expect("a value")));
    // Caches may store the page, but must check with the server before each use.
    if cfg!(feature = "page") {
        assert_eq!(server.get("/").headers["cache-control"], "no-cache");
    }
}

#[test]
fn a_head_takes_no_number() {
    let (server, directory) = Server::alone(&[]);
    make_tag(directory.path(), "orders");
    for path in ["/v1/tickets/t", "/v1/segments/orders", "/v1/ids", "/api/segment/get/orders"] {
        let head = server.ask("HEAD", path, &[], "");
        assert_eq!((head.status, &head.headers["allow"]), (405, &"GET".parse().expect("a value")), "{path}");
    }
    assert_eq!(server.get("/v1/tickets/t").id(), 1);
    assert_eq!(server.get("/v1/segments/orders").range(), 1..2);
    assert_eq!(server.metric("snowmint_numbers_total", "http"), 2);
    for path in ["/", "/healthz", "/metrics", "/openapi.json", "/v1/inspect/1", "/v1/namespaces/n/leases"] {
        assert_eq!(server.ask("HEAD", path, &[], "").status, 200, "{path}");
    }
}
