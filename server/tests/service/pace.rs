//! Clients that send slowly or not at all.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use super::support::{Server, TOKEN, directory};

/// The time after which a slow client must be gone, generous for a busy machine.
const HANG_TIMEOUT: Duration = Duration::from_secs(90);

fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(HANG_TIMEOUT)).expect("a timeout");
    stream
}

/// Sends a byte at a time until the server closes the connection.
fn drip(address: &str, bytes: impl Iterator<Item = u8>) {
    let begun = Instant::now();
    let mut stream = connect(address);
    stream.set_read_timeout(Some(Duration::from_millis(300))).expect("a timeout");
    for byte in bytes {
        if stream.write_all(&[byte]).is_err() {
            return;
        }
        match stream.read(&mut [0; 256]) {
            Ok(0) => return,
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return,
            Ok(_) | Err(_) => {}
        }
        assert!(begun.elapsed() < HANG_TIMEOUT, "a byte now and then holds a connection of {address}");
    }
}

#[test]
fn a_slow_head_or_command_ends_after_ten_seconds() {
    let (server, _directory) = Server::alone(&[]);
    let forever = || std::iter::repeat(b'x');
    thread::scope(|scope| {
        scope
            .spawn(|| drip(&server.http, b"GET / HTTP/1.1\r\nHost: localhost\r\nx: ".iter().copied().chain(forever())));
        // The same holds for the second request of a connection.
        let second = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET ".iter().copied();
        scope.spawn(|| drip(&server.http, second.chain(forever())));
        scope.spawn(|| drip(&server.redis, b"*2\r\n$4\r\nECHO\r\n$9000\r\n".iter().copied().chain(forever())));
    });
}

#[test]
fn a_client_without_the_token_is_closed_soon() {
    let directory = directory();
    let file = directory.path().join("token");
    std::fs::write(&file, TOKEN).expect("written");
    // Clients with the token may be silent for ten minutes.
    let server = Server::start(directory.path(), &["--token-file", file.to_str().expect("text")]);
    let mut known = server.client();
    let _: () = redis::cmd("AUTH").arg(TOKEN).query(&mut known).expect("OK");
    let known_http = connect(&server.http);
    let authorized = format!("GET /v1/tickets/t HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n");
    (&known_http).write_all(authorized.as_bytes()).expect("written");
    let silent = connect(&server.http);
    let unknown = connect(&server.http);
    (&unknown).write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("written");
    let mut stranger = connect(&server.redis);
    stranger.write_all(b"*1\r\n$4\r\nPING\r\n").expect("written");
    for mut sent_away in [silent, unknown, stranger] {
        let mut output = Vec::new();
        sent_away.read_to_end(&mut output).expect("the server closes, and does not hang");
    }
    assert_eq!(redis::cmd("PING").query::<String>(&mut known), Ok("PONG".to_owned()));
    (&known_http).write_all(authorized.as_bytes()).expect("written");
    let mut answers = String::new();
    while !answers.contains("{\"id\":\"2\"}") {
        let mut piece = [0; 1024];
        let read = (&known_http).read(&mut piece).expect("it is served");
        assert!(read > 0, "{answers}");
        answers.push_str(&String::from_utf8_lossy(&piece[..read]));
    }
}
