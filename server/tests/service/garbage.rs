//! Thousands of malformed inputs: each gets an error or a closed connection, never a crash or a repeated number.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use redis::Commands as _;

use super::support::{Server, assert_increasing};

/// How many inputs each test sends.
const INPUTS: u32 = 3000;

/// Sends bytes, and returns the answer up to the end of the connection.
fn answer(address: &str, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("it is there");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    // The server may refuse the input before all of it is written.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}"),
    }
    answer
}

/// Joins pieces of the protocol at random, and breaks some bytes.
fn broken(random: &mut StdRng, pieces: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..random.random_range(1..12) {
        bytes.extend_from_slice(pieces.choose(random).expect("some"));
    }
    for _ in 0..random.random_range(0..4) {
        let place = random.random_range(0..bytes.len());
        match random.random_range(0..3) {
            0 => bytes[place] = random.random(),
            1 => bytes.truncate(place.max(1)),
            _ => bytes.insert(place, random.random()),
        }
    }
    bytes
}

#[test]
fn broken_commands_get_errors() {
    let (server, _directory) = Server::alone(&[]);
    let mut random = StdRng::seed_from_u64(1);
    let pieces: [&[u8]; 18] = [
        b"*1\r\n",
        b"*2\r\n",
        b"*3\r\n",
        b"*-1\r\n",
        b"*99999999999\r\n",
        b"$4\r\nINCR\r\n",
        b"$3\r\nGET\r\n",
        b"$1\r\na\r\n",
        b"$-1\r\n",
        b"$9223372036854775807\r\n",
        b"$18446744073709551615\r\n",
        b"$0\r\n\r\n",
        b":5\r\n",
        b"+OK\r\n",
        b"\r\n",
        b"PING\r\n",
        b"$6\r\nINCRBY\r\n",
        b"$5\r\nHELLO\r\n",
    ];
    let mut client = server.client();
    let mut numbers = Vec::new();
    for _ in 0..INPUTS {
        let bytes = broken(&mut random, &pieces);
        let answer = answer(&server.redis, &bytes);
        let first = answer.first();
        assert!(first.is_none_or(|byte| b"+-:$*_%".contains(byte)), "{:?}", String::from_utf8_lossy(&answer));
        assert!(answer.is_empty() || answer.ends_with(b"\r\n"));
        if numbers.len() < 300 {
            numbers.push(client.incr::<_, _, u64>("a", 1).expect("it serves others"));
        }
    }
    // Arrays nested as deep as possible.
    answer(&server.redis, &b"*1\r\n".repeat(100_000));
    numbers.push(client.incr("a", 1).expect("it is there"));
    assert_increasing(&numbers);
}

#[test]
fn broken_requests_get_errors() {
    let (server, _directory) = Server::alone(&[]);
    let mut random = StdRng::seed_from_u64(2);
    let pieces: [&[u8]; 19] = [
        b"GET /v1/ids HTTP/1.1\r\n",
        b"GET /v1/ids?count=99999999999999999999 HTTP/1.1\r\n",
        b"POST /v1/users/5/next HTTP/1.1\r\n",
        b"POST /v1/namespaces/n/leases HTTP/1.1\r\n",
        b"PUT /v1/namespaces/%00/leases/-1 HTTP/1.1\r\n",
        b"GET /v1/inspect/%ff%fe HTTP/1.0\r\n",
        b"Host: x\r\n",
        b"Content-Length: 2\r\n",
        b"Content-Length: 99999999999999\r\n",
        b"Content-Type: application/json\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Expect: 100-continue\r\n",
        b"Connection: close\r\n",
        b"\r\n",
        b"{}",
        b"{\"nonce\":",
        b"5\r\nabcde\r\n0\r\n\r\n",
        b"\x16\x03\x01",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ];
    let mut ids = Vec::new();
    for _ in 0..INPUTS {
        let bytes = broken(&mut random, &pieces);
        let answer = answer(&server.http, &bytes);
        let (sent, output) = (String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&answer));
        // Without an answer, the head was incomplete or HTTP/2.
        let whole = sent.trim_start_matches(['\r', '\n']).contains("\r\n\r\n") && !sent.contains("PRI *");
        assert!(output.starts_with("HTTP/1.") || (output.is_empty() && !whole), "{sent:?}: {output:?}");
        if ids.len() < 300 {
            ids.extend(server.get("/v1/ids").ids());
        }
    }
    ids.extend(server.get("/v1/ids").ids());
    assert_increasing(&ids);
}
