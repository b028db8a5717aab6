//! Properties that only a store in files has.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use snowmint::stores::{WriteOutcome, connect};
use snowmint::{ErrorKind, LeaseOptions, LeaseStore, Snowflake, layouts};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::crashes::rounds;
use crate::faults;
use crate::scene::directory;

/// The variable that gives a child process its number and the URL of its store.
const CHILD: &str = "SNOWMINT_TESTS_FILE_CHILD";

fn url(directory: &TempDir) -> String {
    format!("file:{}?allow_unsafe=true&timeout_ms=20000", directory.path().join("ids").display())
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let there = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path());
    there.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// A tidy-up removes files that have not changed for long, and a setting is written only once.
#[test]
fn a_store_in_use_touches_the_files_that_rest() {
    let directory = directory();
    faults::run(async {
        let store = connect(&url(&directory)).await.expect("it opens");
        for key in ["layouts/orders", "sizes/users", "leases/orders/0"] {
            store.write(key, b"value", 0).await.expect("an answer");
        }
        store.add("segments/a", 1, 0).await.expect("a sum");
        let long_ago = SystemTime::now() - Duration::from_secs(40 * 24 * 60 * 60);
        let old = || {
            let modified = |path: &PathBuf| fs::metadata(path).and_then(|found| found.modified()).expect("there");
            files(directory.path()).into_iter().filter(|path| modified(path) == long_ago).collect::<Vec<_>>()
        };
        for path in files(directory.path()) {
            File::options().write(true).open(path).and_then(|file| file.set_modified(long_ago)).expect("old");
        }
        assert_eq!(old().len(), 5);
        // As a renewal does.
        store.write("leases/orders/0", b"later", 1).await.expect("an answer");
        let since = Instant::now();
        while !old().is_empty() {
            assert!(since.elapsed() < Duration::from_secs(60), "{:?} rest", old());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
}

#[test]
fn a_layout_that_vanished_lets_no_other_layout_in() {
    let directory = directory();
    let runtime = Runtime::new().expect("a runtime");
    let store = runtime.block_on(connect(&url(&directory))).expect("it opens");
    let store = LeaseStore::own(store);
    let lease = |layout| Snowflake::lease(LeaseOptions::new().layout(layout).store(store.clone()).namespace("orders"));
    drop(lease(layouts::TWITTER).expect("a node"));
    let layout = files(directory.path()).into_iter().find(|path| path.ends_with("layouts@/orders@record"));
    fs::remove_file(layout.expect("a record")).expect("removed");
    let refused = lease(layouts::SNOWMINT).expect_err("another layout");
    assert_eq!(refused.kind(), ErrorKind::InvalidLayout);
    assert!(refused.to_string().contains("nodes of the namespace have records of another layout"), "{refused}");
    drop(lease(layouts::TWITTER).expect("the same layout"));
    let refused = lease(layouts::SNOWMINT).expect_err("another layout");
    assert!(refused.to_string().contains("namespace orders is of layout unused:1,time:41,datacenter:5"), "{refused}");
}

/// Not a test: a process that `confirmed_writes_outlive_kills_while_another_process_goes_on` starts and kills.
#[test]
#[ignore = "a process that another test starts"]
fn child() {
    let Ok(asked) = std::env::var(CHILD) else { return };
    let (number, url) = asked.split_once(' ').expect("a number and a URL");
    faults::run(async move {
        let store = connect(url).await.expect("it opens");
        let key = format!("faults/{number}");
        let found = store.read(&key).await.expect("an answer");
        let mut value =
            found.as_ref().map_or(0, |found| String::from_utf8_lossy(&found.value).parse().expect("a number"));
        let mut version = found.map_or(0, |found| found.version);
        let mut out = std::io::stdout();
        writeln!(out, "\nfound {value}").expect("a pipe");
        loop {
            let sum = store.add("faults/c", 1, 0).await.expect("a sum");
            writeln!(out, "sum {sum}").expect("a pipe");
            value += 1_u64;
            let wrote = store.write(&key, value.to_string().as_bytes(), version).await.expect("an answer");
            let WriteOutcome::Version(written) = wrote else { panic!("only this process writes it") };
            version = written;
            writeln!(out, "wrote {value}").expect("a pipe");
        }
    });
}

struct Going {
    process: Child,
    lines: BufReader<ChildStdout>,
}

impl Going {
    fn start(number: usize, url: &str) -> Self {
        let mut process = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "file_only::child", "--ignored", "--nocapture"])
            .env(CHILD, format!("{number} {url}"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let lines = BufReader::new(process.stdout.take().expect("a pipe"));
        Self { process, lines }
    }

    /// Reads the next line of the form `word number`.
    fn next(&mut self) -> Option<(String, u64)> {
        loop {
            let mut line = String::new();
            // The kill may have cut the last line; that does not count.
            if self.lines.read_line(&mut line).expect("a pipe") == 0 || !line.ends_with('\n') {
                return None;
            }
            if let Some((word, number)) = line.trim_end().split_once(' ')
                && ["found", "sum", "wrote"].contains(&word)
            {
                return Some((word.to_owned(), number.parse().expect("a number")));
            }
        }
    }
}

#[test]
fn confirmed_writes_outlive_kills_while_another_process_goes_on() {
    let directory = directory();
    let url = url(&directory);
    let (mut sums, mut confirmed) = (Vec::new(), [0, 0]);
    let mut going: Vec<_> = (0..2).map(|number| Going::start(number, &url)).collect();
    for round in 0..rounds() as usize {
        let killed = round % 2;
        for number in [1 - killed, killed] {
            // The first line of a new process is `found N`.
            for _ in 0..20 + 7 * round {
                let (word, value) = going[number].next().expect("it goes on");
                match word.as_str() {
                    "sum" => sums.push(value),
                    "found" => {
                        let last = confirmed[number];
                        assert!(value == last || value == last + 1, "{value} after {last} was confirmed");
                        confirmed[number] = value;
                    }
                    _ => confirmed[number] = value,
                }
            }
        }
        going[killed].process.kill().expect("it is killed");
        going[killed].process.wait().expect("it ends");
        while let Some((word, value)) = going[killed].next() {
            if word == "sum" { sums.push(value) } else { confirmed[killed] = value }
        }
        going[killed] = Going::start(killed, &url);
    }
    for child in &mut going {
        child.process.kill().expect("it is killed");
        child.process.wait().expect("it ends");
        while let Some((word, value)) = child.next() {
            if word == "sum" {
                sums.push(value);
            }
        }
    }
    let count = sums.len();
    sums.sort_unstable();
    sums.dedup();
    assert_eq!(sums.len(), count, "no sum twice");
    faults::run(async {
        let store = connect(&url).await.expect("it opens");
        let sum = store.add("faults/c", 0, 0).await.expect("a sum");
        assert!(sum >= sums[sums.len() - 1] && sum <= sums[sums.len() - 1] + 12, "{sum}");
    });
}

#[test]
fn a_damaged_file_is_named_and_left_alone() {
    let directory = directory();
    faults::run(async {
        let store = connect(&url(&directory)).await.expect("it opens");
        assert!(matches!(store.write("a/b", b"one", 0).await, Ok(WriteOutcome::Version(_))));
        assert_eq!(store.add("c", 5, 0).await, Ok(5));
        let all = files(&directory.path().join("ids/.store"));
        for (damaged, name) in [("records", "b@record"), ("counters", "c@counter")] {
            let path = all.iter().find(|path| path.ends_with(name)).expect(damaged);
            let whole = fs::read(path).expect("a file");
            let mut torn = whole.clone();
            torn[whole.len() - 1] ^= 1;
            for bytes in [&torn[..], &whole[..whole.len() / 2], &[]] {
                fs::write(path, bytes).expect("a file");
                let error = match damaged {
                    "records" => {
                        let listed = store.list("a/").await.expect_err("damaged");
                        assert!(listed.to_string().contains(name), "{listed}");
                        store.write("a/b", b"two", 1).await.expect_err("damaged");
                        store.read("a/b").await.map(drop).expect_err("damaged")
                    }
                    _ => store.add("c", 1, 0).await.map(drop).expect_err("damaged"),
                };
                assert_eq!(error.kind(), ErrorKind::StoreUnavailable);
                assert!(error.to_string().contains(&path.display().to_string()), "{error}");
                assert_eq!(fs::read(path).expect("a file"), bytes);
            }
            fs::write(path, &whole).expect("a file");
        }
        // A valid file of another key is not a record of this key.
        let path = all.iter().find(|path| path.ends_with("b@record")).expect("a file");
        fs::copy(path, path.with_file_name("x@record")).expect("copied");
        assert!(store.read("a/x").await.expect_err("of another").to_string().contains("x@record"));
    });
}

#[test]
fn a_held_lock_is_waited_for_until_the_timeout() {
    let directory = directory();
    faults::run(async {
        let patient = connect(&url(&directory)).await.expect("it opens");
        assert_eq!(patient.add("c", 1, 0).await, Ok(1));
        let store = connect(&url(&directory).replace("20000", "300")).await.expect("it opens");
        let lock = File::open(directory.path().join("ids/.store/lock")).expect("a file");
        lock.lock().expect("a lock");
        let began = Instant::now();
        let error = store.add("c", 1, 0).await.expect_err("locked");
        assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{error}");
        assert!((300..5000).contains(&began.elapsed().as_millis()), "{:?}", began.elapsed());
        lock.unlock().expect("unlocked");
        assert_eq!(patient.add("c", 1, 0).await, Ok(2), "the abandoned call is not done later");
    });
}

#[test]
fn a_directory_in_memory_is_refused_unless_allowed() {
    let in_memory = TempDir::new_in("/dev/shm").expect("a directory in memory");
    faults::run(async {
        let place = in_memory.path().display();
        let error = faults::refused(&format!("file:{place}")).await;
        assert_eq!(error.kind(), ErrorKind::UnsafeStore);
        assert!(error.to_string().contains("tmpfs") && error.to_string().contains("allow_unsafe=true"), "{error}");
        assert!(!in_memory.path().join(".store").exists(), "nothing is made there");
        connect(&format!("file:{place}?allow_unsafe=true")).await.expect("allowed");
        for url in ["file:", "file:/x?wrong=1"] {
            assert_eq!(faults::refused(url).await.kind(), ErrorKind::InvalidStore);
        }
    });
}

#[test]
fn all_files_lie_in_one_directory_beside_slots() {
    let directory = directory();
    faults::run(async {
        let store = connect(&url(&directory)).await.expect("it opens");
        for round in 0..3 {
            assert!(matches!(store.write(&format!("leases/{round}"), b"x", 0).await, Ok(WriteOutcome::Version(_))));
        }
        let there: Vec<_> = fs::read_dir(directory.path().join("ids")).expect("a directory").flatten().collect();
        assert_eq!(there.iter().map(fs::DirEntry::file_name).collect::<Vec<_>>(), [".store"]);
    });
}
