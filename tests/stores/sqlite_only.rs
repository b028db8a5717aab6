//! Properties that only a `SQLite` store has.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use snowmint::stores::{Key, SegmentsOptions, WriteOutcome, connect, sqlite};
use snowmint::{ErrorKind, LeaseOptions, Snowflake};
use snowmint_tests::engines::with_option;
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::poolers::setting;
use crate::scene::directory;
use crate::sql_scenes::{self, assert_says, refused, run};

fn place() -> (TempDir, String) {
    let directory = directory();
    let url = format!("sqlite:{}?allow_unsafe=true", directory.path().join("ids.db").display());
    (directory, url)
}

fn sqlite3(file: &Path, statement: &str) -> String {
    // A connection that a store has given up is closed in the background.
    let output = Command::new("sqlite3").args(["-cmd", ".timeout 30000"]).arg(file).arg(statement).output();
    let output = output.expect("sqlite3 starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn segments_use_leafs_table() {
    let (_directory, url) = place();
    run(async { sql_scenes::segments_use_leafs_table(connect(&url).await.expect("it connects")).await });
}

#[test]
fn eight_make_the_file_at_once() {
    for _ in 0..5 {
        let (_directory, url) = place();
        run(sql_scenes::eight_make_the_tables_at_once(&url));
    }
}

#[test]
fn callers_share_a_connection() {
    let (_directory, url) = place();
    run(sql_scenes::callers_share_a_connection(&url));
}

#[test]
fn keys_that_are_closed_together_lose_no_number() {
    let (_directory, url) = place();
    run(async {
        let store = connect(&with_option(&url, "timeout_ms=600000")).await.expect("it connects");
        let all = setting("SNOWMINT_KEYS", 2000);
        let options = SegmentsOptions::default().max_wait(Duration::from_secs(600));
        for round in [1, 2] {
            let mut keys = JoinSet::new();
            for name in 0..all {
                let store = Arc::clone(&store);
                keys.spawn(async move {
                    let key = Key::open(store, &name.to_string(), 1000, options).await.expect("a key");
                    assert_eq!(key.next().await, Ok(round));
                    key
                });
            }
            let keys = keys.join_all().await;
            let begun = Instant::now();
            let mut closed: JoinSet<_> = keys.into_iter().map(|key| async move { key.close().await }).collect();
            while let Some(unused) = closed.join_next().await {
                assert!(unused.expect("no panic").expect("closed") >= 999);
            }
            println!("{all} keys are given back in {:?}", begun.elapsed());
        }
    });
}

#[test]
fn dropped_calls_leave_no_answer_behind() {
    let (_directory, url) = place();
    run(sql_scenes::dropped_calls_leave_no_answer_behind(&url));
}

#[test]
fn a_database_in_memory_is_refused() {
    run(async {
        for url in
            ["sqlite::memory:", "sqlite:", "sqlite://", "sqlite:file::memory:", "sqlite::memory:?allow_unsafe=true"]
        {
            assert_says(&refused(url).await, ErrorKind::UnsafeStore, &["memory:"]);
        }
    });
}

#[test]
fn a_file_system_in_memory_is_refused_unless_allowed() {
    let directory = tempfile::tempdir_in("/dev/shm").expect("a directory in memory");
    let file = directory.path().join("ids.db");
    run(async {
        let url = format!("sqlite:{}", file.display());
        assert_says(&refused(&url).await, ErrorKind::UnsafeStore, &["tmpfs", "local disk", "allow_unsafe=true"]);
        assert!(!file.exists());
        let store = connect(&format!("{url}?allow_unsafe=true")).await.expect("it is allowed");
        assert_eq!(store.add("c", 1, 0).await, Ok(1));
    });
}

#[test]
fn options_and_directories_that_are_not_there_are_named() {
    run(async {
        assert_says(&refused("sqlite:/tmp/x.db?mode=memory").await, ErrorKind::InvalidStore, &["mode"]);
        assert_says(&refused("sqlite:/nowhere/at/all/x.db").await, ErrorKind::InvalidStore, &["/nowhere/at/all/x.db"]);
    });
}

#[test]
fn without_create_a_missing_file_or_table_is_named() {
    let (directory, url) = place();
    run(async {
        assert_eq!(refused(&format!("{url}&create=false")).await.kind(), ErrorKind::InvalidStore);
        let file = directory.path().join("ids.db");
        assert!(!file.exists());
        sqlite3(&file, "CREATE TABLE other (x)");
        let error = refused(&format!("{url}&create=false")).await;
        assert_says(&error, ErrorKind::InvalidStore, &["snowmint_records", "create=false", "sqlite::SCHEMA"]);
        sqlite3(&file, sqlite::SCHEMA);
        assert!(connect(&format!("{url}&create=false")).await.is_ok());
    });
}

#[test]
fn other_programs_share_the_file_through_the_write_ahead_log() {
    let (directory, url) = place();
    let file = directory.path().join("ids.db");
    run(async {
        let store = connect(&url).await.expect("it connects");
        assert_eq!(store.add("c", 5, 0).await, Ok(5));
        assert_eq!(sqlite3(&file, "PRAGMA journal_mode"), "wal");
        sqlite3(&file, "UPDATE snowmint_counters SET value = value + 100");
        assert_eq!(store.add("c", 1, 0).await, Ok(106));
        assert_eq!(store.clock_ms().await, Ok(None));
    });
}

#[test]
fn a_locked_file_is_waited_for_within_the_timeout() {
    let (directory, url) = place();
    let file = directory.path().join("ids.db");
    run(async {
        let store = connect(&url).await.expect("it connects");
        assert_eq!(store.add("c", 1, 0).await, Ok(1));
        let hasty = sql_scenes::connect_soon(&format!("{url}&timeout_ms=300")).await;
        let mut locker = Command::new("sqlite3")
            .arg(&file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("sqlite3 starts");
        let mut statements = locker.stdin.take().expect("a pipe");
        statements.write_all(b"BEGIN IMMEDIATE; SELECT 'locked';\n").expect("it reads");
        let mut line = String::new();
        BufReader::new(locker.stdout.take().expect("a pipe")).read_line(&mut line).expect("it answers");
        assert_eq!(line, "locked\n");
        let begin = Instant::now();
        let error = hasty.add("c", 1, 0).await.expect_err("it is locked");
        assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{error}");
        assert!(begin.elapsed() < Duration::from_secs(5), "the timeout is the default");
        statements.write_all(b"COMMIT;\n").expect("it reads");
        drop(statements);
        assert!(locker.wait().expect("it ends").success());
        let sum = store.add("c", 1, 0).await.expect("a sum");
        assert!(sum == 2 || sum == 3, "{sum}: the first one may have been done late");
    });
}

#[test]
fn a_lease_on_an_unwritable_file_reports_the_reason() {
    let (directory, url) = place();
    let file = directory.path().join("ids.db");
    let lease = || Snowflake::lease(LeaseOptions::new().store(url.clone()));
    // The first lease pins the namespace's layout.
    lease().expect("a node").close();
    for change in ["INSERT", "UPDATE"] {
        let refuse = "BEGIN SELECT RAISE(ABORT, 'the disk is full'); END";
        sqlite3(&file, &format!("CREATE TRIGGER no_{change} BEFORE {change} ON snowmint_records {refuse}"));
    }
    assert_says(&lease().expect_err("nothing can be written"), ErrorKind::StoreUnavailable, &["the disk is full"]);
}

#[test]
fn a_removed_or_replaced_file_is_not_used_any_more() {
    let (directory, url) = place();
    let file = directory.path().join("ids.db");
    run(async {
        let store = connect(&url).await.expect("it connects");
        assert_eq!(store.add("c", 10, 0).await, Ok(10));
        for name in ["ids.db", "ids.db-wal", "ids.db-shm"] {
            let _ = std::fs::rename(directory.path().join(name), directory.path().join(format!("old-{name}")));
        }
        assert_says(
            &store.add("c", 1, 0).await.expect_err("it is gone"),
            ErrorKind::InvalidStore,
            &["removed or replaced"],
        );
        assert!(!file.exists(), "it is not made again");
        let fresh = connect(&url).await.expect("it connects");
        assert_eq!(fresh.add("c", 1, 0).await, Ok(1));
        assert_eq!(store.add("c", 1, 0).await.expect_err("another file").kind(), ErrorKind::InvalidStore);
    });
}

#[test]
fn a_relative_path_belongs_to_the_directory_at_connect() {
    // All tests of the process share the working directory, so the test does not change it but checks the store's name.
    run(async {
        let directory = tempfile::tempdir_in(".").expect("a directory");
        let relative = directory.path().strip_prefix(std::env::current_dir().expect("one")).unwrap_or(directory.path());
        let store =
            connect(&format!("sqlite:{}/ids.db?allow_unsafe=true", relative.display())).await.expect("it connects");
        assert!(store.name().starts_with("SQLite at /"), "{}", store.name());
        assert!(matches!(store.write("a/b", b"x", 0).await, Ok(WriteOutcome::Version(_))));
        let slashes = format!("sqlite://{}/ids.db?allow_unsafe=true", directory.path().display());
        assert_eq!(
            connect(&slashes).await.expect("it connects").write("a/b", b"x", 0).await,
            Ok(WriteOutcome::Conflict)
        );
    });
}
