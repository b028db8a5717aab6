//! Many new names at the same time.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use redis::Commands as _;
use snowmint_tests::engines::{Engine, Server as Store, shared_database};

use super::support::Server;

/// How many transactions a server has committed. A session reports its own at the latest when it ends.
fn commits(store: &Store) -> u64 {
    let output =
        Engine::Postgres.client(store.port(), "COPY (SELECT sum(xact_commit) FROM pg_stat_database) TO STDOUT");
    output.trim().parse().expect("a number")
}

/// A session that keeps a transaction open until it is dropped.
struct Held(Child);

impl Held {
    fn by(url: &str, statement: &str) -> Self {
        let mut child = Command::new("psql")
            .args(["--quiet", "--no-psqlrc", url])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("psql starts");
        let input = child.stdin.as_mut().expect("a pipe");
        writeln!(input, "BEGIN; {statement};\n\\echo held").expect("it reads");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("it answers");
        assert_eq!(line, "held\n");
        Self(child)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        drop(self.0.wait());
    }
}

#[test]
fn names_that_are_used_for_the_first_time_at_once_share_transactions() {
    const CLIENTS: usize = 150;
    let store = Store::start(Engine::Postgres);
    let mut server = Server::over(&store.url(), &[]);
    let begin = Barrier::new(CLIENTS);
    thread::scope(|scope| {
        let all: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let (server, begin) = (&server, &begin);
                scope.spawn(move || {
                    let mut connection = server.client();
                    begin.wait();
                    (0..4).map(|name| connection.incr(format!("{client}/{name}"), 1).expect("a number")).collect()
                })
            })
            .collect();
        for numbers in all {
            let numbers: Vec<u64> = numbers.join().expect("no panic");
            assert_eq!(numbers, [1; 4]);
        }
    });
    // They are given back together too.
    server.signal("TERM");
    assert!(server.wait(Duration::from_mins(1)), "it does not end");
    let commits = commits(&store);
    println!("{commits} transactions for {} names", CLIENTS * 4);
    // A name that is opened alone takes two, one more to be given back, and a look at the settings behind each.
    assert!(commits < 5 * 4 * CLIENTS as u64, "{commits} transactions");
}

#[test]
fn a_request_behind_others_is_busy_and_what_it_began_is_kept() {
    let store = shared_database(Engine::Postgres);
    let server = Server::over(store.url(), &["--max-wait-ms", "1500"]);
    let mut client = server.client();
    // A session of an operator keeps the record of a name back.
    let held = Held::by(store.url(), "INSERT INTO snowmint.records (name, version, value) VALUES ('keys/held', 1, '')");
    let message = thread::scope(|scope| {
        let held = scope.spawn(|| server.client().incr::<_, _, u64>("held", 1).expect_err("it is held").to_string());
        for name in 0.. {
            assert_eq!(client.incr::<_, _, u64>(format!("free{name}"), 1), Ok(1));
            if held.is_finished() {
                break;
            }
        }
        held.join().expect("no panic")
    });
    assert!(message.contains("BUSY") && message.contains("--store-connections"), "{message}");
    drop(held);
    // The first range of the name is not lost with the request.
    let begun = Instant::now();
    let number = loop {
        match client.incr::<_, _, u64>("held", 1) {
            Ok(number) => break number,
            Err(error) => assert!(begun.elapsed() < Duration::from_mins(1), "{error}"),
        }
    };
    assert_eq!(number, 1);
}
