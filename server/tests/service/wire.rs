//! HTTP requests as bytes: pipelined, in pieces, malformed.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use super::support::{Server, TOKEN, connect, directory, rest};

const TICKET: &str = "GET /v1/tickets/t HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Sends bytes on a connection that stays open.
fn send(server: &Server, bytes: &str) -> TcpStream {
    let mut stream = TcpStream::connect(&server.http).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
    // The server may refuse the request before all bytes are written.
    let _ = stream.write_all(bytes.as_bytes());
    stream
}

/// Reads until a text has arrived `times` times.
fn read_until(mut stream: &TcpStream, text: &str, times: usize) -> String {
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let read = String::from_utf8_lossy(&bytes).into_owned();
        if read.matches(text).count() >= times {
            return read;
        }
        match stream.read(&mut piece) {
            Ok(more) if more > 0 => bytes.extend_from_slice(&piece[..more]),
            ended => panic!("{ended:?} before {text:?} came {times} times: {read:?}"),
        }
    }
}

#[test]
fn a_stray_line_end_delays_no_answer() {
    let (server, _directory) = Server::alone(&[]);
    let stream = send(&server, &format!("{TICKET}\r\n"));
    assert!(read_until(&stream, "}", 1).ends_with("{\"id\":\"1\"}"));
}

#[test]
fn pipelined_requests_do_not_wait_for_the_next_one() {
    let (server, _directory) = Server::alone(&[]);
    let stream = send(&server, &format!("{TICKET}{TICKET}{TICKET}GET /v1/tick"));
    let answers = read_until(&stream, "}", 3);
    let places = [1, 2, 3].map(|id| answers.find(&format!("{{\"id\":\"{id}\"}}")).expect("an answer"));
    assert!(places.is_sorted(), "{answers}");
    (&stream).write_all(b"ets/t HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("written");
    read_until(&stream, "{\"id\":\"4\"}", 1);
}

#[test]
fn malformed_requests_get_a_status() {
    let (server, _directory) = Server::alone(&[]);
    let long = "x".repeat(17 * 1024);
    let longer = "x".repeat(1024 * 1024);
    for (request, status) in [
        ("GARBAGE\r\n\r\n".to_owned(), "400 Bad Request"),
        ("GET / HTTP/1.1\r\nno colon\r\n\r\n".to_owned(), "400 Bad Request"),
        (format!("{TICKET}GARBAGE\r\n\r\n"), "400 Bad Request"),
        (format!("GET / HTTP/1.1\r\nHost: localhost\r\nx: {long}\r\n\r\n"), "431 Request Header Fields Too Large"),
        (format!("GET /{long} HTTP/1.1\r\nHost: localhost\r\n\r\n"), "431 Request Header Fields Too Large"),
        (format!("GET /{longer} HTTP/1.1\r\nHost: localhost\r\n\r\n"), "431 Request Header Fields Too Large"),
    ] {
        let answer = read_until(&send(&server, &request), &format!("HTTP/1.1 {status}\r\n"), 1);
        assert_eq!(answer.contains("{\"id\":\""), request.starts_with(TICKET), "{answer}");
    }
}

/// Sends a request whose head has these lines, and returns the answer.
fn answer(server: &Server, head: &str) -> String {
    let stream = connect(&server.http);
    (&stream).write_all(format!("{head}\r\nConnection: close\r\n\r\n").as_bytes()).expect("written");
    rest(&stream)
}

#[test]
fn a_request_without_one_plain_host_is_malformed() {
    let directory = directory();
    let file = directory.path().join("token");
    std::fs::write(&file, TOKEN).expect("written");
    let open = Server::start(directory.path(), &[]);
    let guarded = Server::start(directory.path(), &["--token-file", file.to_str().expect("text")]);
    let token = format!("Authorization: Bearer {TOKEN}");
    for server in [&open, &guarded] {
        for (target, hosts) in [
            ("/v1/ids", ""),
            ("/healthz", ""),
            ("/v1/ids", "Host: localhost\r\nHost: localhost\r\n"),
            ("/v1/ids", "Host: user@localhost\r\n"),
            ("/v1/ids", "Host: localhost@evil.example\r\n"),
            ("/v1/ids", "Host: local host\r\n"),
            ("http://user@localhost/v1/ids", "Host: localhost\r\n"),
        ] {
            let output = answer(server, &format!("GET {target} HTTP/1.1\r\n{hosts}{token}"));
            assert!(
                output.starts_with("HTTP/1.1 400") && output.contains("BAD_REQUEST"),
                "{target} {hosts:?}: {output}"
            );
        }
        for (target, version) in [("/v1/ids", "1.0"), ("http://localhost/v1/ids", "1.1")] {
            let host = if version == "1.1" { "Host: localhost\r\n" } else { "" };
            let output = answer(server, &format!("GET {target} HTTP/{version}\r\n{host}{token}"));
            assert!(output.contains(" 200 OK") && output.contains("{\"ids\":["), "{target}: {output}");
        }
    }
    // The host of the target counts as the header does.
    let output = answer(&open, "GET http://evil.example/v1/ids HTTP/1.1\r\nHost: localhost");
    assert!(output.starts_with("HTTP/1.1 403") && output.contains("HOST_NOT_ALLOWED"), "{output}");
}

#[test]
fn no_browser_guesses_the_type_of_an_answer() {
    let (server, _directory) = Server::alone(&["--allow-origin", "https://app.example"]);
    for (method, path) in [
        ("GET", "/v1/ids"),
        ("GET", "/"),
        ("GET", "/healthz"),
        ("GET", "/metrics"),
        ("GET", "/openapi.json"),
        ("GET", "/nothing"),
        ("POST", "/v1/ids"),
        ("HEAD", "/v1/ids"),
        ("OPTIONS", "/v1/ids"),
        ("GET", "/api/segment/get/none"),
        ("GET", "/v1/inspect/%3Cscript%3E"),
    ] {
        let answer = server.ask(method, path, &[], "");
        let value = answer.headers.get("x-content-type-options").and_then(|value| value.to_str().ok());
        assert_eq!(value, Some("nosniff"), "{method} {path}: {answer:?}");
    }
}
