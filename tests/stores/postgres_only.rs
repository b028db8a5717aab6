//! Properties that only a `PostgreSQL` store has.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use snowmint::ErrorKind;
use snowmint::stores::fence::{Fence, raise};
use snowmint::stores::postgres::{Postgres, SCHEMA, Sequence};
use snowmint::stores::{NativeNumbers, NumberSource, SegmentsOptions, Tag, Url, connect, scripts};
use snowmint_tests::engines::{Engine, Server, shared_database, with_option};

use crate::followers::follower;
use crate::sql_scenes::{
    self, assert_says, connect_soon, is_unsafe_unless_allowed, numbers_never_repeat_over_kills, refused, run, table,
    until_back, until_noticed, until_safe,
};

fn start(options: &[&str]) -> Server {
    Server::start_with(Engine::Postgres, options)
}

fn client(server: &Server, statement: &str) -> String {
    server.engine().client(server.port(), statement)
}

async fn postgres(url: &str) -> Postgres {
    Postgres::connect(&Url::parse(url).expect("a URL")).await.expect("it connects")
}

/// A session of another program.
struct Session(Child);

impl Session {
    /// Opens a session that runs the statements and then stays open.
    fn open(server: &Server, statements: &str) -> Self {
        let port = server.port().to_string();
        let mut session = Command::new("psql")
            .args(["-X", "-q", "-t", "-A", "-h", "127.0.0.1", "-U", "postgres", "-p", &port])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("psql starts");
        let stdin = session.stdin.as_mut().expect("a pipe");
        std::io::Write::write_all(stdin, format!("{statements};\n\\echo done\n").as_bytes()).expect("it is written");
        let mut lines = std::io::BufRead::lines(std::io::BufReader::new(session.stdout.as_mut().expect("a pipe")));
        assert!(lines.any(|line| line.is_ok_and(|line| line == "done")));
        Self(session)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn segments_use_leafs_table() {
    let server = shared_database(Engine::Postgres);
    run(async { sql_scenes::segments_use_leafs_table(connect(server.url()).await.expect("it connects")).await });
}

#[test]
fn eight_make_the_tables_at_once() {
    for _ in 0..5 {
        run(sql_scenes::eight_make_the_tables_at_once(shared_database(Engine::Postgres).url()));
    }
}

/// A row that another session holds stops the callers of that row alone.
#[test]
fn a_held_row_does_not_stop_other_names() {
    let server = start(&[]);
    run(async {
        let store = connect(&with_option(&server.url(), "timeout_ms=60000")).await.expect("it connects");
        assert_eq!(store.add("held", 1, 0).await, Ok(1));
        let open = Session::open(&server, "BEGIN; UPDATE snowmint.counters SET value = value WHERE name = 'held'");
        let add = || {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.add("held", 1, 0).await })
        };
        let held = [add(), add()];
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
        while client(&server, waiting).trim() != "2" {
            tokio::task::yield_now().await;
        }
        let mut others = 0;
        while others < 20 && held.iter().all(|call| !call.is_finished()) {
            assert_eq!(store.add(&format!("free/{others}"), 1, 0).await, Ok(1));
            others += 1;
        }
        // Otherwise the first of them would have waited until a held call failed.
        assert!(others > 2, "{others}");
        drop(open);
        for call in held {
            // The server gives a lock up after five seconds.
            drop(call.await.expect("no panic"));
        }
        assert!(store.add("held", 1, 0).await.expect("a number") >= 2);
    });
}

#[test]
fn names_that_share_writes_lose_no_number_over_kills() {
    run(sql_scenes::names_that_share_writes_lose_no_number_over_kills(Engine::Postgres));
}

#[test]
fn callers_share_a_connection() {
    run(sql_scenes::callers_share_a_connection(shared_database(Engine::Postgres).url()));
}

#[test]
fn it_works_again_after_a_kill() {
    run(sql_scenes::works_again_after_a_kill(Engine::Postgres));
}

#[test]
fn a_paused_server_mixes_up_no_answers() {
    run(sql_scenes::a_paused_server_mixes_up_no_answers(Engine::Postgres));
}

#[test]
fn dropped_calls_leave_no_answer_behind() {
    let server = shared_database(Engine::Postgres);
    run(sql_scenes::dropped_calls_leave_no_answer_behind(server.url()));
}

#[test]
fn options_of_other_drivers_are_refused() {
    let words = [
        ("ssl=require", "sslmode=require"),
        ("sslMode=verify-full", "sslmode=verify-full"),
        ("tls=true", "sslmode=require"),
        ("sslaccept=strict", "sslmode=require"),
        ("ssl_root_cert=/ca.pem", "sslrootcert=FILE"),
        ("allow-unsafe=true", "allow_unsafe"),
    ];
    run(sql_scenes::options_of_other_drivers_are_refused(shared_database(Engine::Postgres).url(), &words));
}

#[test]
fn no_message_shows_a_password() {
    run(sql_scenes::no_message_shows_a_password("postgres"));
}

#[test]
fn settings_are_looked_at_on_every_new_connection() {
    let mut server = start(&[]);
    run(async {
        let store = connect(&server.url()).await.expect("it connects");
        assert_eq!(store.add("c", 1, 0).await, Ok(1));
        client(&server, "ALTER SYSTEM SET fsync = off");
        server.kill();
        server.restart();
        until_noticed(&*store).await;
        for _ in 0..3 {
            assert_says(&store.add("c", 1, 0).await.expect_err("unsafe"), ErrorKind::UnsafeStore, &["fsync=off"]);
        }
        client(&server, "ALTER SYSTEM RESET fsync");
        server.kill();
        server.restart();
        assert_eq!(until_safe(|| store.add("c", 1, 0)).await, 2);
        assert_says(&refused("postgres://postgres@127.0.0.1:1/x").await, ErrorKind::StoreUnavailable, &["127.0.0.1:1"]);
    });
}

#[test]
fn asynchronous_commits_are_made_durable_on_our_connection() {
    for mode in ["off", "local", "remote_write"] {
        let mut server = start(&["-c", &format!("synchronous_commit={mode}"), "-c", "wal_writer_delay=10000"]);
        run(async {
            let store = connect(&server.url()).await.expect("it is cured");
            for sum in 1..=3 {
                assert_eq!(store.add("c", 1, 0).await, Ok(sum));
                server.kill();
                server.restart();
                until_noticed(&*store).await;
            }
            assert_eq!(store.add("c", 1, 0).await, Ok(4));
        });
    }
}

#[test]
fn calls_wait_for_a_synchronous_standby_within_the_timeout() {
    let server = start(&["-c", "synchronous_standby_names=*"]);
    let patient = format!("{}?timeout_ms=60000", server.url());
    // The client makes the tables without waiting for the standby, which does not follow yet.
    client(&server, &format!("SET synchronous_commit = local; {SCHEMA}"));
    let url = format!("{}?timeout_ms=1500", server.url());
    run(async {
        let store = connect_soon(&url).await;
        let alone = store.add("c", 1, 0).await.expect_err("no standby follows");
        assert_says(&alone, ErrorKind::StoreUnavailable, &["1500 ms"]);
    });
    let _standby = follower(&server, "second", &["--synchronous"]);
    run(async {
        let store = connect(&patient).await.expect("it connects");
        store.add("c", 1, 0).await.expect("it is waited for");
        // This standby receives the log and never applies it. A stronger setting is kept, so the call never ends.
        client(&server, "SET synchronous_commit = local; ALTER ROLE postgres SET synchronous_commit = remote_apply");
        let store = connect_soon(&url).await;
        assert_eq!(store.add("c", 1, 0).await.expect_err("not applied").kind(), ErrorKind::StoreUnavailable);
    });
}

#[test]
fn unlogged_tables_are_refused() {
    for (name, schema) in
        [("snowmint.records", SCHEMA), ("snowmint.counters", SCHEMA), ("leaf_alloc", scripts::POSTGRES_LEAF)]
    {
        let server = shared_database(Engine::Postgres);
        server.client(&schema.replace(&format!("TABLE IF NOT EXISTS {name}"), &format!("UNLOGGED TABLE {name}")));
        let cure = format!("ALTER TABLE {name} SET LOGGED");
        run(is_unsafe_unless_allowed(server.url(), &[name, "unlogged", &cure]));
        server.client(&cure);
        run(async { connect(server.url()).await.expect("it is cured") });
    }
}

#[test]
fn a_role_that_cannot_make_tables_uses_existing_tables() {
    let server = shared_database(Engine::Postgres);
    // Roles belong to the server and not to a database, so the name must be unique.
    let limited = format!("limited_{}", std::process::id());
    let url = server.url().replace("postgres://postgres@", &format!("postgres://{limited}@"));
    server.client(&format!("CREATE ROLE {limited} LOGIN"));
    run(async {
        let error = refused(&url).await;
        assert_says(&error, ErrorKind::InvalidStore, &["snowmint.records", "permission denied", "postgres::SCHEMA"]);
        let error = refused(&format!("{}?create=false", server.url())).await;
        assert_says(&error, ErrorKind::InvalidStore, &["snowmint.records", "create=false", "postgres::SCHEMA"]);
        server.client(SCHEMA);
        assert_says(&refused(&url).await, ErrorKind::InvalidStore, &["permission denied for schema snowmint", "USAGE"]);
        server.client(&format!("GRANT USAGE ON SCHEMA snowmint TO {limited}"));
        let tables = "snowmint.records, snowmint.counters";
        server.client(&format!("GRANT SELECT, INSERT, UPDATE ON {tables} TO {limited}"));
        server.client(&format!("CREATE SEQUENCE s; GRANT USAGE, SELECT ON SEQUENCE s TO {limited}"));
        let store = connect(&url).await.expect("it connects");
        assert_eq!(store.add("c", 1, 0).await, Ok(1));
        assert_eq!(postgres(&url).await.sequence("s").await.expect("a sequence").take(2).await, Ok(vec![1, 2]));
        assert!(connect(&format!("{url}?create=false")).await.is_ok());
        // Only a first tag needs Leaf's table.
        assert_eq!(table(&store).tags().await, Ok(Vec::new()));
        assert_eq!(table(&store).fetch("orders", 1).await, Ok(None));
        let tag = Tag::new(1, 10);
        let error = table(&store).create("orders", &tag).await.expect_err("no right");
        let told = ["leaf_alloc", "permission denied for schema public", "scripts::POSTGRES_LEAF"];
        assert_says(&error, ErrorKind::InvalidStore, &told);
    });
}

/// Two programs with different search paths lease from the same records.
#[test]
fn the_tables_lie_in_a_schema_of_their_own() {
    let server = shared_database(Engine::Postgres);
    server.client("CREATE SCHEMA app");
    run(async {
        let store = connect(server.url()).await.expect("it connects");
        assert_eq!(store.add("c", 1, 0).await, Ok(1));
        let (_, database) = server.url().rsplit_once('/').expect("a database");
        server.client(&format!("ALTER DATABASE {database} SET search_path = app"));
        let other = connect(server.url()).await.expect("it connects");
        assert_eq!(other.add("c", 1, 0).await, Ok(2));
    });
    let elsewhere = "SELECT count(*) FROM pg_tables WHERE schemaname IN ('public', 'app')";
    assert_eq!(server.client(elsewhere).trim(), "0");
}

/// A second table would give the same numbers, and a fence would not raise them.
#[test]
fn leafs_table_in_a_schema_outside_the_search_path_is_refused() {
    let server = shared_database(Engine::Postgres);
    server.client(&format!("CREATE SCHEMA app; SET search_path = app; {}", scripts::POSTGRES_LEAF));
    run(async {
        let store = connect(server.url()).await.expect("it connects");
        let told = ["relation \"leaf_alloc\" does not exist", "search_path"];
        let tag = Tag::new(1, 10);
        assert_says(&table(&store).create("a", &tag).await.expect_err("refused"), ErrorKind::InvalidStore, &told);
        assert_says(&table(&store).tags().await.expect_err("refused"), ErrorKind::InvalidStore, &told);
        assert_eq!(store.add("c", 1, 0).await, Ok(1));
        assert_says(&raise(&*store, &Fence::skipping(9)).await.expect_err("refused"), ErrorKind::InvalidStore, &told);
        assert_eq!(store.read("fence/floor").await, Ok(None), "nothing is raised");
        let (_, database) = server.url().rsplit_once('/').expect("a database");
        server.client(&format!("ALTER DATABASE {database} SET search_path = public, app"));
        assert_eq!(table(&connect(server.url()).await.expect("it connects")).create("a", &tag).await, Ok(true));
    });
}

#[test]
fn tables_of_an_earlier_version_are_refused_until_they_are_moved() {
    let server = shared_database(Engine::Postgres);
    for table in ["records", "counters"] {
        let key = "name text COLLATE \"C\" NOT NULL PRIMARY KEY";
        let columns =
            if table == "records" { "version bigint NOT NULL, value bytea NOT NULL" } else { "value bigint NOT NULL" };
        server.client(&format!("CREATE TABLE snowmint_{table} ({key}, {columns})"));
    }
    server.client("INSERT INTO snowmint_counters (name, value) VALUES ('c', 41)");
    run(async {
        let error = refused(server.url()).await;
        let told = ["an earlier version", "stop all programs", "ALTER TABLE snowmint_records SET SCHEMA snowmint"];
        assert_says(&error, ErrorKind::InvalidStore, &told);
        // Wherever they are.
        let (_, database) = server.url().rsplit_once('/').expect("a database");
        server.client(&format!("ALTER DATABASE {database} SET search_path = pg_catalog"));
        assert_says(&refused(server.url()).await, ErrorKind::InvalidStore, &told);
        server.client(&format!("ALTER DATABASE {database} RESET search_path"));
        server.client("CREATE SCHEMA snowmint");
        for table in ["records", "counters"] {
            server.client(&format!("ALTER TABLE snowmint_{table} SET SCHEMA snowmint"));
            server.client(&format!("ALTER TABLE snowmint.snowmint_{table} RENAME TO {table}"));
        }
        assert_eq!(connect(server.url()).await.expect("it connects").add("c", 1, 0).await, Ok(42));
    });
}

#[test]
fn dropped_tables_are_not_made_again() {
    let mut server = start(&[]);
    run(async {
        let store = connect(&server.url()).await.expect("it connects");
        assert_eq!(store.add("c", 9, 0).await, Ok(9));
        client(&server, "DROP TABLE snowmint.counters");
        server.kill();
        server.restart();
        until_noticed(&*store).await;
        assert_says(&store.add("c", 1, 0).await.expect_err("gone"), ErrorKind::InvalidStore, &["snowmint.counters"]);
        assert_eq!(client(&server, "SELECT to_regclass('snowmint.counters') IS NULL").trim(), "t");
    });
}

#[test]
fn an_existing_table_of_leaf_is_used() {
    let server = shared_database(Engine::Postgres);
    server.client(
        "CREATE TABLE leaf_alloc (biz_tag varchar(128) PRIMARY KEY, max_id int NOT NULL, step smallint NOT NULL, \
         description text, update_time timestamptz NOT NULL DEFAULT now())",
    );
    server.client("INSERT INTO leaf_alloc VALUES ('old', 12001, 2000, NULL), ('bad', -5, 1, NULL)");
    run(async {
        let store = connect(server.url()).await.expect("it connects");
        assert_eq!(table(&store).fetch("old", 2000).await, Ok(Some(14001)));
        let old = table(&store).tag("old").await.expect("an answer").expect("a tag");
        assert_eq!((old.next, old.step, old.description.as_str()), (14001, 2000, ""));
        assert_says(&table(&store).fetch("bad", 1).await.expect_err("negative"), ErrorKind::StoreUnavailable, &["-5"]);
        let mut tags = table(&store).tags().await.expect("tags");
        tags.sort();
        assert_eq!(tags, ["bad", "old"]);
    });
}

async fn sequence(url: &str, name: &str) -> Arc<Sequence> {
    Arc::new(postgres(url).await.sequence(name).await.expect("a sequence"))
}

#[test]
fn a_sequence_gives_its_numbers_and_ends() {
    let server = shared_database(Engine::Postgres);
    server.client(
        "CREATE SEQUENCE s; CREATE SEQUENCE \"Down\" INCREMENT -2 MINVALUE -7; CREATE SEQUENCE small MAXVALUE 5 CACHE 3",
    );
    server.client(
        "CREATE SEQUENCE big START 9223372036854775806; CREATE SEQUENCE \"set\"; SELECT setval('\"set\"', 9223372036854775805, false)",
    );
    run(async {
        // A busy machine takes its time for 100,000 numbers in one statement.
        let numbers = sequence(&with_option(server.url(), "timeout_ms=60000"), "s").await;
        assert!(numbers.name().contains("sequence s") && numbers.name().contains("127.0.0.1"), "{}", numbers.name());
        assert_eq!(numbers.take(3).await, Ok(vec![1, 2, 3]));
        assert_eq!(numbers.take(0).await, Ok(vec![4]));
        assert_eq!(numbers.take(u64::MAX).await.expect("numbers").len(), 100_000);
        for (name, wanted) in [
            ("Down", vec![-1, -3, -5, -7]),
            ("big", vec![i64::MAX - 1, i64::MAX]),
            ("set", vec![i64::MAX - 2, i64::MAX - 1, i64::MAX]),
            ("small", vec![1, 2, 3, 4, 5]),
        ] {
            let numbers = sequence(server.url(), name).await;
            let mut taken = Vec::new();
            let end = loop {
                match numbers.take(100).await {
                    Ok(some) => taken.extend(some),
                    Err(error) => break error,
                }
            };
            assert_eq!(taken, wanted, "{name}");
            assert_says(&end, ErrorKind::Exhausted, &[name]);
        }
        // From memory too, where a fetch asks for more than is left.
        server.client("CREATE SEQUENCE few MAXVALUE 3");
        let options = SegmentsOptions::default().max_wait(Duration::from_secs(60));
        let few = NativeNumbers::open(sequence(server.url(), "few").await, 100, options).expect("a step");
        for number in 1..=3 {
            assert_eq!(few.next().await, Ok(number));
        }
        for _ in 0..2 {
            let error = few.next().await.expect_err("it is used up");
            assert_says(&error, ErrorKind::Exhausted, &["sequence few has no more numbers"]);
            assert_eq!(error.retry_after_ms(), None);
        }
    });
}

#[test]
fn cycling_sequences_and_other_objects_are_refused() {
    let server = shared_database(Engine::Postgres);
    server.client("CREATE SEQUENCE round MAXVALUE 3 CYCLE; CREATE UNLOGGED SEQUENCE quick; CREATE TABLE t (x int)");
    run(async {
        let store = postgres(server.url()).await;
        let error = store.sequence("round").await.expect_err("it cycles");
        assert_says(&error, ErrorKind::UnsafeStore, &["CYCLE", "ALTER SEQUENCE \"round\" NO CYCLE", "allow_unsafe"]);
        let error = store.sequence("quick").await.expect_err("unlogged");
        assert_says(&error, ErrorKind::UnsafeStore, &["unlogged", "ALTER SEQUENCE \"quick\" SET LOGGED"]);
        for name in ["missing", "t", "s; DROP TABLE t", "\"", ""] {
            assert_eq!(store.sequence(name).await.expect_err(name).kind(), ErrorKind::InvalidStore, "{name}");
        }
        let careless = postgres(&format!("{}?allow_unsafe=true", server.url())).await;
        for name in ["round", "quick"] {
            assert!(careless.sequence(name).await.expect("allowed").take(1).await.is_ok());
        }
        // A sequence may get CYCLE later.
        server.client("CREATE SEQUENCE later");
        let numbers = sequence(server.url(), "later").await;
        server.client("ALTER SEQUENCE later CYCLE");
        assert_eq!(numbers.take(1).await.expect_err("it cycles").kind(), ErrorKind::UnsafeStore);
    });
}

#[test]
fn a_number_is_durable_even_if_another_session_logged_it() {
    // PostgreSQL logs 32 values ahead. If an open transaction wrote that log record, another session that takes one of
    // these values has no further log to flush.
    let mut server = start(&["-c", "wal_writer_delay=10000"]);
    client(&server, "CREATE SEQUENCE s");
    run(async {
        let numbers = sequence(&server.url(), "s").await;
        let mut taken = Vec::new();
        for _ in 0..3 {
            // After a failure the store connects at intervals of up to two seconds.
            taken.extend(until_back(|| numbers.take(1)).await);
            let _open = Session::open(&server, "BEGIN; SELECT nextval('s') FROM generate_series(1, 40)");
            taken.extend(numbers.take(1).await.expect("a number"));
            server.kill();
            server.restart();
        }
        taken.extend(until_back(|| numbers.take(1)).await);
        assert!(taken.is_sorted_by(|a, b| a < b), "{taken:?}");
    });
}

#[test]
fn numbers_of_a_sequence_never_repeat_over_kills() {
    let mut server = start(&["-c", "synchronous_commit=off", "-c", "wal_writer_delay=10000"]);
    client(&server, "CREATE SEQUENCE s");
    run(async {
        let numbers = sequence(&server.url(), "s").await;
        numbers_never_repeat_over_kills(&mut server, |client| {
            let numbers = numbers.clone();
            async move { numbers.take(u64::try_from(client).expect("small") * 7 + 1).await }
        })
        .await;
    });
}

#[test]
fn counters_and_segments_never_repeat_over_kills() {
    let mut server = start(&["-c", "synchronous_commit=off", "-c", "wal_writer_delay=10000"]);
    run(async {
        let store = connect(&server.url()).await.expect("it connects");
        let tag = Tag::new(1, 10);
        table(&store).create("t", &tag).await.expect("it is made");
        numbers_never_repeat_over_kills(&mut server, |client| {
            let store = store.clone();
            async move {
                if client == 0 {
                    return Ok(vec![("counter", store.add("c", 1, 0).await?)]);
                }
                Ok(vec![("segment", store.segments().expect("a table").fetch("t", 10).await?.expect("a tag"))])
            }
        })
        .await;
    });
}
