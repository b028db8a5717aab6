//! `snowmint-wide`: a process that tests fork. It mints UUIDs, ULIDs and `ObjectId`s into a ledger: a file of lines,
//! each a kind and a text.

#[path = "../minter/forks.rs"]
mod forks;

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;
use std::process::ExitCode;
use std::{env, io, thread};

use snowmint::{Error, object_id, ulid, uuid};

const USAGE: &str = "usage: snowmint-wide fork|clone|threads LEDGER PARTIES COUNT
mints one ID of each kind, then COUNT of each kind in each of PARTIES children or threads, and with children in the parent";

type Next = fn() -> Result<String, Error>;

/// The kinds of IDs, by name.
const KINDS: [(&str, Next); 6] = [
    ("uuid1", || text(uuid::v1())),
    ("uuid4", || text(uuid::v4())),
    ("uuid6", || text(uuid::v6())),
    ("uuid7", || text(uuid::v7())),
    ("ulid", || text(ulid::next())),
    ("object_id", || text(object_id::next())),
];
/// The kinds whose texts increase within a process.
const IN_ORDER: [&str; 3] = ["uuid6", "uuid7", "ulid"];

fn text<T: Display>(id: Result<T, Error>) -> Result<String, Error> {
    id.map(|id| id.to_string())
}

/// Mints `count` IDs of each kind, in turn, and appends them to the ledger in one write.
fn mint(ledger: &str, count: usize) -> io::Result<()> {
    let mut lines = String::new();
    let mut last = KINDS.map(|_| String::new());
    for _ in 0..count {
        for ((kind, next), last) in KINDS.iter().zip(&mut last) {
            let text = next().map_err(io::Error::other)?;
            assert!(!IN_ORDER.contains(kind) || text > *last, "{kind} goes in order: {last}, {text}");
            lines.extend([kind, " ", &text, "\n"]);
            *last = text;
        }
    }
    OpenOptions::new().create(true).append(true).open(ledger)?.write_all(lines.as_bytes())
}

fn run(verb: &str, ledger: &str, parties: usize, count: usize) -> Result<(), Box<dyn std::error::Error>> {
    mint(ledger, 1)?;
    match verb {
        "fork" | "clone" => {
            let split = if verb == "fork" { forks::fork } else { forks::raw_clone };
            let children: Vec<_> = (0..parties).map(|_| split(|| mint(ledger, count))).collect();
            mint(ledger, count)?;
            for child in children {
                assert_eq!(forks::wait(child?)?, 0, "a child ended well");
            }
        }
        "threads" => thread::scope(|scope| {
            for _ in 0..parties {
                scope.spawn(|| mint(ledger, count).expect("the ledger can be written"));
            }
        }),
        _ => return Err(USAGE.into()),
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let done = match arguments.as_slice() {
        [verb, ledger, parties, count] => match (parties.parse(), count.parse()) {
            (Ok(parties), Ok(count)) => run(verb, ledger, parties, count),
            _ => Err(USAGE.into()),
        },
        _ => Err(USAGE.into()),
    };
    if let Err(error) = done {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
