//! Memory: of users, by user that has asked, and of transactions. At the limits the server goes on.

use std::io::{BufRead as _, BufReader, Write as _};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::support::{Server, command, connect, directory, resident_kb, rest};

/// Takes a number of each user, over several connections, and returns the answers: a number, or the code of a problem.
fn take(server: &Server, users: &[u64]) -> Vec<Result<u64, String>> {
    let asked = |users: &[u64]| {
        let stream = connect(&server.http);
        let output = thread::scope(|scope| {
            scope.spawn(|| {
                for user in users {
                    let request = format!("POST /v1/users/{user}/next HTTP/1.1\r\nHost: localhost\r\n\r\n");
                    // The server may have ended, which the answers show.
                    let _ = (&stream).write_all(request.as_bytes());
                }
                let _ = (&stream).write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
            });
            rest(&stream)
        });
        let bodies =
            output.lines().filter_map(|line| serde_json::from_str::<Value>(line.split("HTTP/1.1").next()?).ok());
        let answers = bodies.map(|body| {
            if let Some(number) = body["id"].as_str() {
                return Ok(number.parse().expect("a number"));
            }
            assert!(body["retry_after_ms"].as_u64() >= Some(1), "{body}");
            Err(body["code"].to_string())
        });
        answers.collect::<Vec<_>>()
    };
    let answers: Vec<_> = thread::scope(|scope| {
        let parts: Vec<_> =
            users.chunks(users.len().div_ceil(4)).map(|part| scope.spawn(move || asked(part))).collect();
        parts.into_iter().flat_map(|part| part.join().expect("no panic")).collect()
    });
    assert_eq!(answers.len(), users.len(), "an answer to each request");
    answers
}

/// Users of 100 sections, mixed.
fn random_users(count: u64) -> Vec<u64> {
    (0..count).map(|place| (place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % 10_000_000).collect()
}

#[test]
fn random_users_take_memory_by_user() {
    let (server, _directory) = Server::alone(&[]);
    server.number("/v1/users/1/next");
    let before = resident_kb(server.pid());
    let answers = take(&server, &random_users(10_000));
    assert!(answers.iter().all(Result::is_ok), "{:?}", answers.iter().find(|answer| answer.is_err()));
    let grown = resident_kb(server.pid()).saturating_sub(before);
    println!("{grown} kB for 10000 users");
    assert!(grown < 20_000, "{grown} kB for 10000 users");
}

#[test]
fn a_thousand_sections_fit_into_600_mb() {
    let directory = directory();
    let server = Server::within(600_000, directory.path(), &[]);
    let users: Vec<u64> = (0..1000).map(|section| section * 100_000).collect();
    let answers = take(&server, &users);
    assert!(answers.iter().all(|answer| answer == &Ok(1)), "{answers:?}");
    // Batches need memory too.
    for _ in 0..3 {
        assert_eq!(server.get("/v1/ids?count=100000").ids().len(), 100_000);
    }
}

#[test]
fn users_beyond_the_memory_are_forgotten_and_continue_above_their_numbers() {
    // One section has more users than 1 MiB holds: a table of all takes 4 MB.
    let (server, _directory) = Server::alone(&["--users-memory", "1MiB", "--section-size", "1000000"]);
    let users: Vec<u64> = (0..60_000).collect();
    let first = take(&server, &users);
    let second = take(&server, &users[..1000]);
    for (first, second) in first.iter().zip(&second) {
        let (first, second) = (first.as_ref().expect("a number"), second.as_ref().expect("a number"));
        assert!(second > first, "{second} after {first}");
    }
    assert!(second[0] > Ok(10_000), "the first user was forgotten: {:?}", second[0]);
}

#[test]
fn sections_beyond_the_memory_are_refused_with_a_time_to_retry() {
    let (server, _directory) = Server::alone(&["--users-memory", "1MiB"]);
    let users: Vec<u64> = (0..400).map(|section| section * 100_000).collect();
    let answers = take(&server, &users);
    // On a slow machine the first sections are unused for a second, and make room.
    let refused = answers.iter().filter(|answer| answer.is_err()).count();
    println!("{refused} of 400 sections are refused");
    assert!(answers.iter().all(|answer| matches!(answer, Ok(1)) || answer == &Err("\"EXHAUSTED\"".to_owned())));
    assert!(answers[..50].iter().any(Result::is_ok));
    // Once the others are unused, a section has room.
    assert_eq!(server.number("/v1/users/90000000/next"), 1);
}

#[test]
fn transactions_of_all_clients_have_a_limit_together() {
    let (server, _directory) = Server::alone(&[]);
    let before = resident_kb(server.pid());
    // 240 kB of a client's transaction, which may have 256.
    let echo = [b"*2\r\n$4\r\nECHO\r\n$60000\r\n".as_slice(), "x".repeat(60_000).as_bytes(), b"\r\n"].concat();
    let queue = || {
        let stream = connect(&server.redis);
        (&stream).write_all(b"*1\r\n$5\r\nMULTI\r\n").expect("written");
        let mut answers = BufReader::new(stream.try_clone().expect("a second handle")).lines();
        assert_eq!(answers.next().expect("an answer").expect("text"), "+OK");
        for _ in 0..4 {
            (&stream).write_all(&echo).expect("written");
            let answer = answers.next().expect("an answer").expect("text");
            if answer != "+QUEUED" {
                assert!(answer.starts_with("-BUSY transactions of other clients"), "{answer}");
                (&stream).write_all(b"*1\r\n$4\r\nEXEC\r\n").expect("written");
                let aborted = answers.next().expect("an answer").expect("text");
                assert!(aborted.starts_with("-EXECABORT"), "{aborted}");
                return Err(stream);
            }
        }
        Ok(stream)
    };
    let clients: Vec<_> = (0..300).map(|_| queue()).collect();
    let grown = resident_kb(server.pid()).saturating_sub(before);
    let (queued, refused): (Vec<_>, Vec<_>) = clients.into_iter().partition(Result::is_ok);
    println!("{} transactions are queued, {} refused, {grown} kB", queued.len(), refused.len());
    assert!(queued.len() > 100 && refused.len() > 100, "{} are queued, {} refused", queued.len(), refused.len());
    assert!(grown < 64_000, "{grown} kB");
    // The memory of clients that leave is free again.
    drop(queued);
    let begun = Instant::now();
    while queue().is_err() {
        assert!(begun.elapsed() < Duration::from_mins(1), "the memory is not free again");
    }
}

#[test]
fn a_memory_for_users_is_at_least_1_mib() {
    for (size, right) in
        [("1000", "at least 1048576 bytes, not 1000"), ("lots", "such as 64MiB"), ("-1", "--users-memory")]
    {
        let option = format!("--users-memory={size}");
        let run = command().args(["serve", &option, "--store", "memory:"]).output().expect("it runs");
        let message = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(2), "{message}");
        assert!(message.contains(right), "{message}");
    }
    for size in ["1MiB", "64Mi", "100 MB", "1048576"] {
        assert_eq!(Server::over("memory:", &["--users-memory", size]).get("/healthz").status, 200);
    }
}
