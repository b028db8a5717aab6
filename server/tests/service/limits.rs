//! Limits: tokens, connections, silence, sizes, memory, host names and origins.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use super::support::{Server, command, connect, resident_kb, rest};

#[test]
fn other_machines_need_a_token() {
    for address in ["0.0.0.0:0", "[::]:0"] {
        for flag in ["--http", "--redis"] {
            let run = command().args(["serve", flag, address, "--store", "memory:"]).output().expect("it runs");
            let message = String::from_utf8_lossy(&run.stderr).into_owned();
            assert_eq!(run.status.code(), Some(2), "{message}");
            assert!(message.contains("a token is needed: --token-file FILE"), "{message}");
        }
    }
}

#[test]
fn the_number_of_connections_is_limited() {
    let (server, _directory) = Server::alone(&["--max-connections", "3"]);
    let held = [(); 3].map(|()| connect(&server.redis));
    // An answer proves that the connection is accepted.
    for held in &held {
        (&*held).write_all(b"*1\r\n$4\r\nPING\r\n").expect("written");
        let mut answer = [0; 7];
        (&*held).read_exact(&mut answer).expect("an answer");
    }
    assert_eq!(rest(&connect(&server.redis)), "-ERR max number of clients reached\r\n");
    // The limit of the other protocol is separate.
    assert_eq!(server.get("/healthz").status, 200);
    drop(held);
    let ping = || -> redis::RedisResult<String> {
        let client = redis::Client::open(format!("redis://{}/", server.redis))?;
        redis::cmd("PING").query(&mut client.get_connection()?)
    };
    let begun = Instant::now();
    while ping().as_deref() != Ok("PONG") {
        assert!(begun.elapsed() < Duration::from_mins(1), "no place is free again");
    }
}

#[test]
fn a_silent_client_is_closed() {
    let (server, _directory) = Server::alone(&["--idle-s", "1"]);
    let begun = Instant::now();
    let silent = connect(&server.redis);
    assert!(rest(&silent).contains("no complete command arrived in time"));
    let half = connect(&server.http);
    (&half).write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n").expect("written");
    rest(&half);
    let kept = connect(&server.http);
    (&kept).write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("written");
    assert!(rest(&kept).starts_with("HTTP/1.1 200"));
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
}

#[test]
fn bodies_heads_and_commands_are_limited_in_size() {
    let (server, _directory) = Server::alone(&[]);
    let large = "x".repeat(17 * 1024);
    let leases = "/v1/namespaces/n/leases";
    server.ask("POST", leases, &[("content-type", "application/json")], &large).problem(413, "BAD_REQUEST");
    let long = connect(&server.http);
    (&long).write_all(format!("GET /{large} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).expect("written");
    let answer = rest(&long);
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    let endless = connect(&server.redis);
    (&endless).write_all(b"*2\r\n$4\r\nINCR\r\n$70000\r\n").expect("written");
    // The server may close the connection during the write.
    let _ = (&endless).write_all(&vec![b'x'; 70_000]);
    assert!(rest(&endless).contains("longer than 64 kB"));
}

#[test]
fn a_body_that_comes_late_ends_no_connection() {
    let (server, _directory) = Server::alone(&[]);
    for (path, status) in [("/v1/users/1/next", "200"), ("/v1/nothing", "404"), ("/v1/namespaces/n/leases", "415")] {
        let client = connect(&server.http);
        let head =
            format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
        (&client).write_all(head.as_bytes()).expect("written");
        let mut asked_for_it = [0; 25];
        (&client).read_exact(&mut asked_for_it).expect("an answer");
        assert_eq!(asked_for_it, *b"HTTP/1.1 100 Continue\r\n\r\n", "{path}");
        (&client)
            .write_all(b"{}GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .expect("written");
        let answers = rest(&client);
        assert!(answers.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {answers}");
        assert_eq!(answers.matches("HTTP/1.1 ").count(), 2, "{path}: {answers}");
    }
    // The server reads no body of a request that it refuses by its head, and says that it closes.
    let stranger = connect(&server.http);
    (&stranger)
        .write_all(b"POST /v1/users/1/next HTTP/1.1\r\nHost: elsewhere.example\r\nContent-Length: 2\r\n\r\n")
        .expect("written");
    let answer = rest(&stranger);
    assert!(answer.starts_with("HTTP/1.1 4") && answer.contains("\r\nconnection: close\r\n"), "{answer}");
}

#[test]
fn a_client_that_does_not_read_holds_no_memory() {
    let (server, _directory) = Server::alone(&[]);
    let before = resident_kb(server.pid());
    let deafen = || {
        let mut stream = connect(&server.redis);
        stream.set_write_timeout(Some(Duration::from_secs(1))).expect("a timeout");
        let commands = b"*2\r\n$4\r\nECHO\r\n$1000\r\n".iter().copied();
        let command: Vec<u8> = commands.chain([b'x'; 1000]).chain(*b"\r\n").collect();
        let commands = command.repeat(64);
        // Writes until the server takes no more.
        for _ in 0..20_000 / 64 {
            if stream.write_all(&commands).is_err() {
                break;
            }
        }
        stream
    };
    let deaf: Vec<_> = std::thread::scope(|scope| {
        let deafened = [(); 20].map(|()| scope.spawn(deafen));
        deafened.into_iter().map(|stream| stream.join().expect("no panic")).collect()
    });
    let grown = resident_kb(server.pid()).saturating_sub(before);
    assert!(grown < 20_000, "{grown} kB for {} clients", deaf.len());
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn the_server_raises_its_limit_of_open_files() {
    let (server, _directory) = Server::alone(&[]);
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.pid())).expect("Linux");
    let line = limits.lines().find(|line| line.starts_with("Max open files")).expect("a line");
    let numbers: Vec<_> = line.split_whitespace().skip(3).take(2).collect();
    assert_eq!(numbers[0], numbers[1], "the soft limit equals the hard limit");
}

#[test]
fn a_foreign_host_name_needs_a_token() {
    let (server, directory) = Server::alone(&["--allow-host", "ids.example"]);
    let ask = |server: &Server, path, host| server.ask("GET", path, &[("host", host)], "");
    for path in ["/v1/ids", "/", "/healthz", "/nothing"] {
        let json = ask(&server, path, "evil.example:8080").problem(403, "HOST_NOT_ALLOWED");
        let detail = json["detail"].as_str().expect("a text");
        assert!(detail.contains("--allow-host NAME") && detail.contains("--token-file FILE"), "{detail}");
    }
    for host in ["localhost:1", "127.8.8.8", "[::1]:8080", "IDS.example:80"] {
        assert_eq!(ask(&server, "/v1/ids", host).status, 200, "{host}");
    }
    // HTTP/1.0 has no host name, and browsers do not use it.
    let old = connect(&server.http);
    (&old).write_all(b"GET /healthz HTTP/1.0\r\n\r\n").expect("written");
    assert!(rest(&old).starts_with("HTTP/1.0 200"));
    // With a token any host name is allowed, as no page knows the token.
    let file = directory.path().join("token");
    std::fs::write(&file, super::support::TOKEN).expect("written");
    let guarded = Server::start(directory.path(), &["--token-file", file.to_str().expect("text")]);
    assert_eq!(ask(&guarded, "/healthz", "evil.example").status, 200);
    ask(&guarded, "/v1/ids", "evil.example").problem(401, "UNAUTHORIZED");
}

#[test]
fn pages_of_an_allowed_origin_may_send_requests() {
    let (server, _directory) = Server::alone(&["--allow-origin", "https://app.example,http://localhost:3000"]);
    let preflight = |origin| {
        let headers = [
            ("origin", origin),
            ("access-control-request-method", "PUT"),
            ("access-control-request-headers", "authorization,content-type"),
        ];
        server.ask("OPTIONS", "/v1/namespaces/n/leases/0", &headers, "")
    };
    let answer = preflight("https://app.example");
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.headers["access-control-allow-origin"], "https://app.example");
    assert!(answer.headers["access-control-allow-methods"].to_str().expect("text").contains("PUT"));
    assert!(!preflight("https://other.example").headers.contains_key("access-control-allow-origin"));
    let answer = server.ask("GET", "/v1/ids", &[("origin", "http://localhost:3000")], "");
    assert_eq!(answer.headers["access-control-allow-origin"], "http://localhost:3000");
}
