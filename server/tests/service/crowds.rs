//! More connections than there are places: silent clients, addresses with many connections, and the port for health checks.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::support::{Server, TOKEN, connect, directory, rest};

/// The time after which the server must have done something, generous for a busy machine.
const HANG_TIMEOUT: Duration = Duration::from_secs(90);
/// The beginning of the warning.
const WARNING: &str = "too many connections";

/// Sends a request on a new connection, and returns the answer.
fn ask(address: &str, path: &str) -> String {
    let stream = connect(address);
    stream.set_read_timeout(Some(HANG_TIMEOUT)).expect("a timeout");
    // A server without a place may close the connection at once.
    let _ = write!(&stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    rest(&stream)
}

/// Sends a request on new connections until one is answered with 200. On a busy machine a client may be too late for its place.
fn until_answered(address: &str, path: &str) {
    let begun = Instant::now();
    loop {
        let answer = ask(address, path);
        if answer.starts_with("HTTP/1.1 200") {
            return;
        }
        assert!(begun.elapsed() < HANG_TIMEOUT, "{path}: {answer:?}");
    }
}

/// Connects from another address of this machine.
fn connect_from(source: &str, address: &str) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
        socket.bind(format!("{source}:0").parse().expect("an address")).expect("an address of loopback");
        let stream = socket.connect(address.parse().expect("an address")).await.expect("a connection");
        stream.into_std().expect("a stream")
    });
    stream.set_nonblocking(false).expect("set");
    stream.set_read_timeout(Some(HANG_TIMEOUT)).expect("a timeout");
    stream
}

/// Sends PING, and returns whether PONG comes back.
fn is_served(mut stream: &TcpStream) -> bool {
    let mut answer = [0; 7];
    stream.write_all(b"*1\r\n$4\r\nPING\r\n").and_then(|()| stream.read_exact(&mut answer)).is_ok()
        && answer == *b"+PONG\r\n"
}

/// Waits until the server closes a silent connection.
fn wait_for_the_end_of(mut stream: &TcpStream) {
    stream.set_read_timeout(Some(HANG_TIMEOUT)).expect("a timeout");
    match stream.read(&mut [0; 64]) {
        Ok(0) => {}
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {}
        other => panic!("it is not closed: {other:?}"),
    }
}

fn raise_the_limit_of_files() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).expect("more files");
}

/// Opens up to a thousand connections a second while `load` runs. Each connection sends `bytes` and is then silent.
/// Returns the number of connections.
fn under_a_flood(address: &str, bytes: &[u8], load: impl FnOnce(&AtomicUsize)) -> usize {
    raise_the_limit_of_files();
    let (over, opened) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut held = VecDeque::new();
            while !over.load(Ordering::Relaxed) {
                let Ok(mut stream) = TcpStream::connect(address) else { continue };
                // It may be closed already.
                let _ = stream.write_all(bytes);
                held.push_back(stream);
                if held.len() > 3000 {
                    held.pop_front();
                }
                opened.fetch_add(1, Ordering::Relaxed);
                // The rate of the flood.
                thread::sleep(Duration::from_millis(1));
            }
        });
        // The flood ends also if a check of the load fails.
        let loaded = catch_unwind(AssertUnwindSafe(|| load(&opened)));
        over.store(true, Ordering::Relaxed);
        loaded.unwrap_or_else(|failed| resume_unwind(failed));
    });
    opened.into_inner()
}

#[test]
fn health_is_answered_under_a_flood_of_silent_connections() {
    for bytes in [&b""[..], b"G"] {
        let (server, _directory) = Server::alone(&["--health", "127.0.0.1:0"]);
        let begun = Instant::now();
        let (mut asked, mut missed) = (0, Vec::new());
        let opened = under_a_flood(&server.http, bytes, |opened| {
            // Twice as many as there are places.
            while opened.load(Ordering::Relaxed) < 2048 {
                for path in ["/healthz", "/readyz", "/metrics", "/v1/ids"] {
                    let answer = ask(&server.http, path);
                    asked += 1;
                    if !answer.starts_with("HTTP/1.1 200") {
                        missed.push((path, answer));
                    }
                }
                assert!(ask(&server.health, "/healthz").starts_with("HTTP/1.1 200"));
                assert!(begun.elapsed() < HANG_TIMEOUT, "{opened:?}");
            }
        });
        // On a busy machine a client may pause before its request, and lose its place as a silent client.
        assert!(missed.len() * 10 <= asked, "{} of {asked} after {opened}: {missed:?}", missed.len());
        let line = server.logged(WARNING);
        assert_eq!((line["protocol"].as_str(), line["refused"].as_u64()), (Some("http"), Some(0)), "{line}");
        assert!(server.metric("snowmint_connections_displaced_total", "http") >= 1, "after {opened}");
        let lines = server.lines(WARNING).len();
        assert!(lines <= 1 + usize::try_from(begun.elapsed().as_secs() / 60).expect("minutes"), "{lines} lines");
    }
}

#[test]
fn the_oldest_silent_client_loses_its_place_to_the_newest() {
    let (server, _directory) = Server::alone(&["--max-connections", "3"]);
    let known = connect(&server.redis);
    assert!(is_served(&known));
    // The port accepts them one after another.
    let [first, second] = [(); 2].map(|()| connect(&server.redis));
    let newest = connect(&server.redis);
    assert!(is_served(&newest));
    wait_for_the_end_of(&first);
    assert!(is_served(&second) && is_served(&known));
    // All have sent a command, so none of them makes room.
    assert_eq!(rest(&connect(&server.redis)), "-ERR max number of clients reached\r\n");
}

#[test]
fn an_address_has_a_share_of_the_connections() {
    let (server, _directory) = Server::alone(&["--max-connections", "4", "--max-connections-per-address", "2"]);
    let held = [(); 2].map(|()| connect(&server.redis));
    assert!(held.iter().all(is_served));
    assert_eq!(rest(&connect(&server.redis)), "-ERR max number of clients reached\r\n");
    let others = [(); 2].map(|()| connect_from("127.0.0.2", &server.redis));
    assert!(others.iter().all(is_served));
    assert_eq!(server.logged(WARNING)["refused"], 1);
}

#[test]
fn the_first_byte_is_due_soon_when_half_of_the_places_are_taken() {
    // Clients of a server without a token may be silent for ten minutes.
    let (server, _directory) = Server::alone(&["--max-connections", "4"]);
    let silent = [(); 3].map(|()| connect(&server.redis));
    wait_for_the_end_of(&silent[0]);
    assert!(is_served(&silent[1]) && is_served(&silent[2]), "the others take half of the places");
}

#[test]
fn a_connection_above_the_limits_serves_health_alone() {
    let (server, _directory) = Server::alone(&["--max-connections", "2"]);
    let held = [(); 2].map(|()| connect(&server.http));
    for mut stream in &held {
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("written");
        stream.read_exact(&mut [0; 12]).expect("an answer");
    }
    for path in ["/healthz", "/readyz"] {
        assert!(ask(&server.http, path).starts_with("HTTP/1.1 200"), "{path}");
    }
    let answer = ask(&server.http, "/v1/ids");
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("\"BUSY\""), "{answer}");
    drop(held);
    let begun = Instant::now();
    while !ask(&server.http, "/v1/ids").starts_with("HTTP/1.1 200") {
        assert!(begun.elapsed() < HANG_TIMEOUT, "no place is free again");
    }
}

#[test]
fn the_port_for_health_mints_nothing() {
    let directory = directory();
    let file = directory.path().join("token");
    std::fs::write(&file, TOKEN).expect("written");
    let options = ["--token-file", file.to_str().expect("text"), "--health", "127.0.0.1:0", "--max-connections", "1"];
    let server = Server::start(directory.path(), &options);
    // The only place of HTTP is taken.
    let held = connect(&server.http);
    write!(&held, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n")
        .expect("written");
    (&held).read_exact(&mut [0; 12]).expect("an answer");
    let status = |path: &str, token: &str| {
        let stream = connect(&server.health);
        let head = format!("Host: localhost\r\nAuthorization: Bearer {token}\r\nConnection: close");
        write!(&stream, "GET {path} HTTP/1.1\r\n{head}\r\n\r\n").expect("written");
        let answer = rest(&stream);
        answer.split(' ').nth(1).unwrap_or_else(|| panic!("{path}: {answer:?}")).to_owned()
    };
    for (path, wanted) in [("/healthz", "200"), ("/readyz", "200"), ("/metrics", "401"), ("/v1/ids", "401")] {
        assert_eq!(status(path, "none"), wanted, "{path}");
    }
    for (path, wanted) in [("/metrics", "200"), ("/v1/ids", "404"), ("/v1/tickets/t", "404"), ("/", "404")] {
        assert_eq!(status(path, TOKEN), wanted, "{path}");
    }
}

#[test]
fn health_is_answered_when_no_more_files_may_be_opened() {
    const FEW: &str = "the limit of open files is 64, and --max-connections 1024 needs";
    const FAILED: &str = "connections were not accepted";
    let server = Server::with_files(64, "memory:", &["--health", "127.0.0.1:0"]);
    assert_eq!(server.lines(FEW).len(), 1, "a warning at the start");
    let begun = Instant::now();
    // Their requests are accepted, so none of them makes room.
    let held = [(); 100].map(|()| {
        let stream = connect(&server.http);
        (&stream).write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("written");
        stream
    });
    let line = server.logged(FAILED);
    assert!(line["error"].as_str().is_some_and(|error| error.contains("Too many open files")), "{line}");
    for address in [&server.health, &server.http, &server.health, &server.http] {
        until_answered(address, "/healthz");
    }
    drop(held);
    until_answered(&server.http, "/v1/ids");
    // Each port has its own line.
    let most = 3 * (1 + begun.elapsed().as_secs() / 60);
    assert!(server.lines(FAILED).len() as u64 <= most, "{:?}", server.lines(FAILED));
}

#[test]
fn silent_clients_make_room_when_no_more_files_may_be_opened() {
    let server = Server::with_files(64, "memory:", &[]);
    // The first lease starts a thread, which opens files too.
    assert!(ask(&server.http, "/v1/ids").starts_with("HTTP/1.1 200"));
    let held = [(); 100].map(|()| connect(&server.redis));
    for _ in 0..5 {
        until_answered(&server.http, "/v1/ids");
    }
    let begun = Instant::now();
    while !is_served(&connect(&server.redis)) {
        assert!(begun.elapsed() < HANG_TIMEOUT, "no client of the Redis protocol is served");
    }
    drop(held);
}
