//! UUIDs, ULIDs and `ObjectId`s across forks and threads.
#![cfg(unix)]

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use snowmint::ulid::{self, Ulid};
use snowmint::uuid::{self, Uuid};
use snowmint_tests::tries;

/// Runs `snowmint-wide` and returns the number of IDs of each kind. Panics if an ID repeats.
fn minted(verb: &str, parties: usize, count: usize) -> BTreeMap<String, usize> {
    let directory = tempfile::TempDir::new().expect("a temporary directory");
    let ledger = directory.path().join("ledger");
    let done = Command::new(env!("CARGO_BIN_EXE_snowmint-wide"))
        .arg(verb)
        .arg(&ledger)
        .args([parties, count].map(|number| number.to_string()))
        .output()
        .expect("it starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let lines = fs::read_to_string(ledger).expect("a ledger");
    let mut kinds = BTreeMap::<_, Vec<_>>::new();
    for line in lines.lines() {
        let (kind, text) = line.split_once(' ').expect("a kind and a text");
        kinds.entry(kind.to_owned()).or_default().push(text);
    }
    let counted = kinds.into_iter().map(|(kind, texts)| {
        let duplicates = texts.len() - texts.iter().collect::<HashSet<_>>().len();
        assert_eq!(duplicates, 0, "{kind}: duplicates");
        (kind, texts.len())
    });
    counted.collect()
}

fn each_kind(count: usize) -> BTreeMap<String, usize> {
    ["object_id", "ulid", "uuid1", "uuid4", "uuid6", "uuid7"].map(|kind| (kind.to_owned(), count)).into()
}

#[test]
fn four_forked_children_and_their_parent_repeat_no_id() {
    assert_eq!(minted("fork", 4, 2000), each_kind(1 + 5 * 2000));
}

#[test]
fn four_children_of_a_raw_clone_repeat_no_id() {
    assert_eq!(minted("clone", 4, 2000), each_kind(1 + 5 * 2000));
}

#[test]
fn eight_threads_repeat_no_id_and_each_mints_in_order() {
    let count = tries(4000) as usize;
    assert_eq!(minted("threads", 8, count), each_kind(1 + 8 * count));
}

#[test]
fn a_later_id_of_any_thread_is_greater() {
    let last = Mutex::new((Uuid::NIL, Uuid::NIL, Ulid::from_bits(0)));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..5000 {
                    let mut last = last.lock().expect("no thread has panicked");
                    let next = (
                        uuid::v6().expect("a version 6"),
                        uuid::v7().expect("a version 7"),
                        ulid::next().expect("a ULID"),
                    );
                    assert!(next.0 > last.0 && next.1 > last.1 && next.2 > last.2, "{last:?}, then {next:?}");
                    *last = next;
                }
            });
        }
    });
}
