//! An unavailable store, as operators and clients see it.

use std::thread;
use std::time::{Duration, Instant};

use redis::Commands as _;
use snowmint_tests::engines::{Engine, Server as Store};

use super::support::Server;

/// The limit for each step on a busy machine.
const TIMEOUT: Duration = Duration::from_mins(1);

fn until(what: &str, done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < TIMEOUT, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_store_outage_shows_in_readiness_log_and_metrics() {
    let mut store = Store::start(Engine::Redis);
    let server = Server::over(&store.url(), &["--window-ms", "1000", "--max-wait-ms", "500"]);
    let ready = || server.get("/readyz");
    assert_eq!((ready().status, ready().text.as_str()), (200, "ok\n"));
    until("no ID", || server.get("/v1/ids").status == 200);
    assert_eq!(server.metric("snowmint_store_up", ""), 1);
    assert_eq!(server.metric("snowmint_store_errors_total", ""), 0);
    assert!(server.metric("snowmint_store_request_duration_seconds_count", "operation=\"write\"") > 0);
    assert!(server.metric("snowmint_lease_window_end_seconds", "node=\"0\"") > 1_700_000_000);
    assert_eq!(server.metric("snowmint_lease_renewal_failures_total", ""), 0);
    assert_eq!(server.metric("snowmint_names", "kind=\"generator\""), 1);

    store.kill();
    until("it is ready without a store", || ready().status == 503);
    ready().problem(503, "STORE_UNAVAILABLE");
    let gone = server.logged("the store does not answer");
    assert_eq!(gone["level"], "WARN", "{gone}");
    assert!(gone["error"].as_str().is_some_and(|error| error.contains("Redis at 127.0.0.1")), "{gone}");
    let missed = server.logged("a window was not renewed");
    assert_eq!((&missed["level"], &missed["node"]), (&"WARN".into(), &0.into()), "{missed}");
    assert_eq!(server.get("/healthz").status, 200, "the server itself is there");
    until("no error is counted", || server.metric("snowmint_store_errors_total", "") > 0);
    until("no failure is counted", || server.metric("snowmint_lease_renewal_failures_total", "node=\"0\"") > 0);
    assert_eq!(server.metric("snowmint_store_up", ""), 0);
    until("the window goes on", || server.get("/v1/ids").status == 503);
    let over = server.get("/v1/ids").problem(503, "WINDOW_CLOSED");
    assert!(over["retry_after_ms"].as_u64() >= Some(1000), "{over}");

    store.restart();
    until("it is not ready again", || ready().status == 200);
    assert_eq!(server.logged("the store answers again")["level"], "INFO");
    server.logged("windows are renewed again");
    assert_eq!(server.metric("snowmint_store_up", ""), 1);
}

#[test]
fn clients_never_see_path_or_host_of_the_store() {
    let mut store = Store::start(Engine::Redis);
    let server = Server::over(&store.url(), &["--max-wait-ms", "500"]);
    let mut client = server.client();
    let info: String = redis::cmd("INFO").query(&mut client).expect("a text");
    assert!(info.contains("store:Redis\r\n"), "{info}");
    store.kill();
    let mut messages = vec![client.incr::<_, _, u64>("k", 1).expect_err("the store is away").to_string()];
    for (method, path) in [
        ("GET", "/v1/ids"),
        ("GET", "/v1/tickets/t"),
        ("GET", "/v1/segments/orders"),
        ("POST", "/v1/sequences/s/next"),
        ("POST", "/v1/users/1/next"),
        ("GET", "/v1/namespaces/n/leases"),
        ("GET", "/readyz"),
    ] {
        let problem = server.ask(method, path, &[], "").problem(503, "STORE_UNAVAILABLE");
        messages.push(format!("{method} {path}: {problem}"));
    }
    messages.push(server.get("/api/segment/get/orders").text);
    for text in messages {
        let port = store.port().to_string();
        assert!(!text.contains("127.0.0.1") && !text.contains(&port) && !text.contains("refused"), "{text}");
    }
}

#[test]
fn metrics_are_classic_text_unless_the_scraper_accepts_openmetrics() {
    let (server, _directory) = Server::alone(&[]);
    let media_type = |accept: &[(&str, &str)]| {
        let answer = server.ask("GET", "/metrics", accept, "");
        (answer.headers["content-type"].clone(), answer.text)
    };
    let (classic, text) = media_type(&[]);
    assert_eq!(classic, "text/plain; version=0.0.4; charset=utf-8");
    assert!(text.contains("# TYPE snowmint_requests_total counter\nsnowmint_requests_total{"), "{text}");
    assert!(text.contains("# TYPE snowmint_build_info gauge\n") && !text.contains("# EOF"), "{text}");
    let accept = "application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
    let (open, text) = media_type(&[("accept", accept)]);
    assert_eq!(open, "application/openmetrics-text; version=1.0.0; charset=utf-8");
    assert!(text.contains("# TYPE snowmint_requests counter\n") && text.ends_with("# EOF\n"), "{text}");
}

#[test]
fn the_log_has_no_sql() {
    let (mut server, _directory) = Server::alone(&["--log", "trace"]);
    assert_eq!(server.get("/v1/ids").status, 200);
    assert!(server.get("/v1/tickets/t").id() > 0);
    assert!(server.end());
    let log = server.log(Duration::from_secs(30));
    assert!(log.contains("ending"), "{log}");
    for word in ["SELECT", "INSERT", "UPDATE", "snowmint.records"] {
        assert!(!log.contains(word), "{word}: {log}");
    }
}

#[test]
fn metrics_cover_build_process_and_routes() {
    let (server, _directory) = Server::alone(&[]);
    assert_eq!(server.get("/v1/ids?count=3").status, 200);
    server.get("/v1/ids?count=0").problem(400, "INVALID_ID");
    server.get("/v1/tickets/secret");
    server.get("/none/secret").problem(404, "NOT_FOUND");
    let text = server.get("/metrics").text;
    for line in [
        "snowmint_http_request_duration_seconds_count{method=\"GET\",route=\"/v1/ids\",status=\"200\"} 1",
        "snowmint_http_request_duration_seconds_count{method=\"GET\",route=\"/v1/ids\",status=\"400\"} 1",
        "snowmint_http_request_duration_seconds_count{method=\"GET\",route=\"/v1/tickets/{name}\",status=\"200\"} 1",
        "snowmint_http_request_duration_seconds_count{method=\"GET\",route=\"none\",status=\"404\"} 1",
        "snowmint_names{kind=\"ticket\"} 1",
        &format!("snowmint_build_info{{version=\"{}\"}} 1", env!("CARGO_PKG_VERSION")),
    ] {
        assert!(text.lines().any(|found| found == line), "no {line}: {text}");
    }
    assert!(text.contains("\nprocess_cpu_seconds_total "), "{text}");
    assert!(!text.contains("secret"), "names from clients are not labels: {text}");
    for name in [
        "process_resident_memory_bytes",
        "process_virtual_memory_bytes",
        "process_start_time_seconds",
        "process_open_fds",
        "process_max_fds",
    ] {
        assert!(server.metric(name, "") > 0, "{name}: {text}");
    }
}
