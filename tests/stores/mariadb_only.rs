//! Properties that only a `MariaDB` store has.

use std::sync::Arc;

use snowmint::ErrorKind;
use snowmint::stores::mysql::{Mysql, SCHEMA, Sequence, TICKETS_SCHEMA, Tickets};
use snowmint::stores::{NumberSource, Tag, TicketServer, Url, connect, scripts};
use snowmint_core::layouts::SNOWMINT;
use snowmint_inspect::sql::MariadbFunction;
use snowmint_tests::engines::{Engine, Server, shared_database, with_option};
use tokio::task::JoinSet;

use crate::sql_scenes::{
    self, assert_says, numbers_never_repeat_over_kills, refused, run, table, until_noticed, until_safe,
};

fn start(options: &[&str]) -> Server {
    Server::start_with(Engine::Mariadb, options)
}

fn client(server: &Server, statement: &str) -> String {
    server.engine().client(server.port(), statement)
}

async fn mysql(url: &str) -> Mysql {
    Mysql::connect(&Url::parse(url).expect("a URL")).await.expect("it connects")
}

#[test]
fn segments_use_leafs_table() {
    let server = shared_database(Engine::Mariadb);
    run(async { sql_scenes::segments_use_leafs_table(connect(server.url()).await.expect("it connects")).await });
}

#[test]
fn eight_make_the_tables_at_once() {
    for _ in 0..5 {
        run(sql_scenes::eight_make_the_tables_at_once(shared_database(Engine::Mariadb).url()));
    }
}

#[test]
fn it_works_again_after_a_kill() {
    run(sql_scenes::works_again_after_a_kill(Engine::Mariadb));
}

#[test]
fn a_paused_server_mixes_up_no_answers() {
    run(sql_scenes::a_paused_server_mixes_up_no_answers(Engine::Mariadb));
}

#[test]
fn names_that_share_writes_lose_no_number_over_kills() {
    run(sql_scenes::names_that_share_writes_lose_no_number_over_kills(Engine::Mariadb));
}

#[test]
fn callers_share_a_connection() {
    run(sql_scenes::callers_share_a_connection(shared_database(Engine::Mariadb).url()));
}

#[test]
fn dropped_calls_leave_no_answer_behind() {
    let server = shared_database(Engine::Mariadb);
    run(sql_scenes::dropped_calls_leave_no_answer_behind(server.url()));
}

#[test]
fn options_of_other_drivers_are_refused() {
    let words = [
        ("ssl=require", "ssl-mode=REQUIRED"),
        ("sslMode=verify-full", "ssl-mode=VERIFY_IDENTITY"),
        ("tls=true", "ssl-mode=REQUIRED"),
        ("sslaccept=strict", "ssl-mode=REQUIRED"),
        ("ssl_root_cert=/ca.pem", "ssl-ca=FILE"),
        ("allow-unsafe=true", "allow_unsafe"),
    ];
    run(sql_scenes::options_of_other_drivers_are_refused(shared_database(Engine::Mariadb).url(), &words));
}

#[test]
fn no_message_shows_a_password() {
    run(sql_scenes::no_message_shows_a_password("mysql"));
}

#[test]
fn settings_are_looked_at_on_every_new_connection() {
    let mut server = start(&[]);
    run(async {
        let store = connect(&server.url()).await.expect("it connects");
        assert_eq!(store.add("c", 1, 0).await, Ok(1));
        client(&server, "SET GLOBAL innodb_flush_log_at_trx_commit = 2");
        // Only new connections read the settings, so the idle ones are closed.
        let kills = "SELECT CONCAT('KILL ', id, ';') FROM information_schema.processlist \
                     WHERE command = 'Sleep' AND id <> CONNECTION_ID()";
        client(&server, &client(&server, kills));
        // A connection that was in use a moment ago is not tested before it is used.
        store.add("c", 1, 0).await.expect_err("closed or unsafe");
        for _ in 0..3 {
            let error = store.add("c", 1, 0).await.expect_err("unsafe");
            assert_says(&error, ErrorKind::UnsafeStore, &["innodb_flush_log_at_trx_commit=2"]);
        }
        server.kill();
        server.restart();
        assert_eq!(until_safe(|| store.add("c", 1, 0)).await, 2);
    });
}

#[test]
fn server_defaults_do_not_change_our_sessions() {
    let server = start(&[
        "--sql-mode=",
        "--autocommit=0",
        "--completion-type=CHAIN",
        "--transaction-isolation=REPEATABLE-READ",
        "--auto-increment-increment=7",
    ]);
    let mut server = server;
    run(async {
        let store = connect(&server.url()).await.expect("it connects");
        assert_eq!(store.add("c", 1, 0).await, Ok(1));
        assert!(store.write("a/b", b"x", 0).await.is_ok());
        assert_eq!(store.lower("c", 1, 0).await, Ok(true));
        assert_eq!(store.add("c", 5, 0).await, Ok(5));
        // A value that is too long is refused and not cut.
        assert!(store.write("a/c", &[0; 2000], 0).await.is_err());
        server.kill();
        server.restart();
        until_noticed(&*store).await;
        assert_eq!(store.read("a/b").await.expect("an answer").expect("a record").value, b"x");
        assert_eq!(store.add("c", 1, 0).await, Ok(6));
    });
}

#[test]
fn tables_outside_of_innodb_are_refused() {
    for name in ["snowmint_records", "snowmint_counters", "snowmint_guards", "leaf_alloc"] {
        let server = shared_database(Engine::Mariadb);
        server.client(SCHEMA);
        server.client(scripts::MYSQL_LEAF);
        for engine in ["MyISAM", "Aria", "MEMORY"] {
            server.client(&format!("ALTER TABLE {name} ENGINE={engine}"));
            let found = format!("the table {name} is of engine {engine}");
            run(async {
                let error = refused(server.url()).await;
                let cure = format!("ALTER TABLE {name} ENGINE=InnoDB");
                assert_says(&error, ErrorKind::UnsafeStore, &[&found, &cure, "allow_unsafe=true"]);
                connect(&format!("{}?allow_unsafe=true", server.url())).await.expect("it is allowed");
            });
        }
    }
}

#[test]
fn a_role_that_cannot_make_tables_uses_existing_tables() {
    let server = shared_database(Engine::Mariadb);
    // Users belong to the server and not to a database, so the name must be unique.
    let limited = format!("limited_{}", std::process::id());
    let (address, database) = server.url().rsplit_once('/').expect("a database");
    server.client(&format!(
        "CREATE USER {limited}@'127.0.0.1'; GRANT SELECT, INSERT, UPDATE, DELETE ON {database}.* TO {limited}@'127.0.0.1'"
    ));
    let url = server.url().replace("root@", &format!("{limited}@"));
    run(async {
        let error = refused(&url).await;
        assert_says(&error, ErrorKind::InvalidStore, &["snowmint_records", "denied", "mysql::SCHEMA"]);
        let error = refused(&format!("{}?create=false", server.url())).await;
        assert_says(&error, ErrorKind::InvalidStore, &["snowmint_records", "create=false", "mysql::SCHEMA"]);
        let error = refused(address).await;
        assert_says(&error, ErrorKind::InvalidStore, &["names no database"]);
        server.client(SCHEMA);
        server.client("CREATE SEQUENCE s");
        assert_eq!(connect(&url).await.expect("it connects").add("c", 1, 0).await, Ok(1));
        let store = mysql(&format!("{url}?create=false")).await;
        assert_eq!(store.sequence("s").await.expect("a sequence").take(2).await, Ok(vec![1, 2]));
        let error = store.tickets("Tickets64", "a", 1, 1).await.expect_err("it is missing");
        assert_says(&error, ErrorKind::InvalidStore, &["Tickets64", "mysql::TICKETS_SCHEMA"]);
        server.client(TICKETS_SCHEMA);
        assert_eq!(store.tickets("Tickets64", "a", 1, 1).await.expect("tickets").take().await, Ok(1));
    });
}

#[test]
fn dropped_tables_are_not_made_again() {
    let mut server = start(&[]);
    run(async {
        let store = connect(&server.url()).await.expect("it connects");
        assert_eq!(store.add("c", 9, 0).await, Ok(9));
        client(&server, "DROP TABLE snowmint_counters");
        server.kill();
        server.restart();
        until_noticed(&*store).await;
        assert_says(&store.add("c", 1, 0).await.expect_err("gone"), ErrorKind::InvalidStore, &["snowmint_counters"]);
        assert_eq!(client(&server, "SHOW TABLES LIKE 'snowmint_counters'"), "");
    });
}

#[test]
fn an_existing_table_of_leaf_is_used() {
    let server = shared_database(Engine::Mariadb);
    server.client(
        "CREATE TABLE leaf_alloc (biz_tag varchar(128) NOT NULL DEFAULT '', max_id bigint(20) NOT NULL DEFAULT '1', \
         step int(11) NOT NULL, description varchar(256) DEFAULT NULL, update_time timestamp NOT NULL DEFAULT \
         CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, PRIMARY KEY (biz_tag)) ENGINE=InnoDB DEFAULT CHARSET=latin1",
    );
    server.client("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('old', 12001, 2000), ('bad', -5, 1)");
    run(async {
        let store = connect(server.url()).await.expect("it connects");
        assert_eq!(table(&store).fetch("old", 2000).await, Ok(Some(14001)));
        let old = table(&store).tag("old").await.expect("an answer").expect("a tag");
        assert_eq!((old.next, old.step, old.description.as_str()), (14001, 2000, ""));
        assert_says(&table(&store).fetch("bad", 1).await.expect_err("negative"), ErrorKind::StoreUnavailable, &["-5"]);
        assert_eq!(table(&store).tags().await, Ok(vec!["bad".to_owned(), "old".to_owned()]));
        server.client("DELETE FROM leaf_alloc WHERE biz_tag = 'bad'");
        server.client("ALTER TABLE leaf_alloc MODIFY max_id int unsigned NOT NULL, MODIFY step smallint unsigned");
        assert_eq!(table(&store).fetch("old", 2000).await, Ok(Some(16001)));
        assert_eq!(table(&store).tag("old").await.expect("an answer").map(|tag| tag.step), Some(2000));
        let error = table(&store).fetch("old", 1 << 32).await.expect_err("beyond the column");
        assert_eq!(error.kind(), ErrorKind::Exhausted);
    });
}

async fn sequence(url: &str, name: &str) -> Arc<Sequence> {
    Arc::new(mysql(url).await.sequence(name).await.expect("a sequence"))
}

#[test]
fn a_sequence_gives_its_numbers_and_ends() {
    let server = shared_database(Engine::Mariadb);
    server.client(
        "CREATE SEQUENCE s; CREATE SEQUENCE `Down` INCREMENT -2 MINVALUE -7 MAXVALUE -1; CREATE SEQUENCE small MAXVALUE 5",
    );
    server.client(
        "CREATE SEQUENCE big START 9223372036854775804; CREATE SEQUENCE few MAXVALUE 5 CACHE 2; CREATE SEQUENCE bare MAXVALUE 5 NOCACHE",
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
            ("big", vec![i64::MAX - 3, i64::MAX - 2, i64::MAX - 1]),
            ("small", vec![1, 2, 3, 4, 5]),
            ("few", vec![1, 2, 3, 4, 5]),
            ("bare", vec![1, 2, 3, 4, 5]),
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
    });
}

#[test]
fn cycling_sequences_and_other_objects_are_refused() {
    let server = shared_database(Engine::Mariadb);
    server
        .client("CREATE SEQUENCE round MAXVALUE 3 CYCLE; CREATE SEQUENCE quick ENGINE=MyISAM; CREATE TABLE t (x int)");
    run(async {
        let store = mysql(server.url()).await;
        let error = store.sequence("round").await.expect_err("it cycles");
        assert_says(&error, ErrorKind::UnsafeStore, &["CYCLE", "ALTER SEQUENCE `round` NO", "allow_unsafe"]);
        let error = store.sequence("quick").await.expect_err("MyISAM");
        assert_says(&error, ErrorKind::UnsafeStore, &["ENGINE=MyISAM", "ENGINE=InnoDB"]);
        for name in ["missing", "t", "s; DROP TABLE t", "`", ""] {
            assert_eq!(store.sequence(name).await.expect_err(name).kind(), ErrorKind::InvalidStore, "{name}");
        }
        let careless = mysql(&format!("{}?allow_unsafe=true", server.url())).await;
        for name in ["round", "quick"] {
            assert!(careless.sequence(name).await.expect("allowed").take(1).await.is_ok());
        }
        server.client("CREATE SEQUENCE later");
        let numbers = sequence(server.url(), "later").await;
        assert_eq!(numbers.take(1).await, Ok(vec![1]));
        server.client("ALTER SEQUENCE later CYCLE");
        assert_eq!(numbers.take(1).await.expect_err("it cycles").kind(), ErrorKind::UnsafeStore);
    });
}

#[test]
fn numbers_of_a_sequence_never_repeat_over_kills() {
    for options in ["CACHE 1000", "NOCACHE"] {
        let mut server = start(&[]);
        client(&server, &format!("CREATE SEQUENCE s {options}"));
        run(async {
            let numbers = sequence(&server.url(), "s").await;
            numbers_never_repeat_over_kills(&mut server, |client| {
                let numbers = numbers.clone();
                async move { numbers.take(u64::try_from(client).expect("small") * 7 + 1).await }
            })
            .await;
        });
    }
}

#[test]
fn counters_and_segments_never_repeat_over_kills() {
    let mut server = start(&[]);
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

async fn tickets(url: &str, stub: &str, increment: u64, offset: u64) -> Arc<Tickets> {
    let store = mysql(url).await;
    Arc::new(store.tickets("Tickets64", stub, increment, offset).await.expect("tickets"))
}

#[test]
fn tickets_use_flickrs_table() {
    let server = start(&["--auto-increment-increment=10", "--auto-increment-offset=3"]);
    run(async {
        let odd = tickets(&server.url(), "a", 2, 1).await;
        assert!(odd.name().contains("table Tickets64"), "{}", odd.name());
        assert_eq!((odd.take().await, odd.take().await), (Ok(1), Ok(3)));
        // All stubs share one row of numbers.
        assert_eq!(tickets(&server.url(), "b", 2, 1).await.take().await, Ok(5));
        assert_eq!(client(&server, "SELECT stub, id FROM Tickets64 ORDER BY id"), "a\t3\nb\t5\n");
        // One connection serves several tickets with different offsets.
        let store = mysql(&format!("{}?connections=1", server.url())).await;
        let even = store.tickets("Tickets64", "a", 2, 2).await.expect("tickets");
        let odd = store.tickets("Tickets64", "a", 2, 1).await.expect("tickets");
        for _ in 0..3 {
            assert_eq!(even.take().await.expect("a ticket") % 2, 0);
            assert_eq!(odd.take().await.expect("a ticket") % 2, 1);
        }
        assert!(store.tickets("Tickets64", "too long", 1, 1).await.expect("tickets").take().await.is_err());
        for (increment, offset) in [(0, 0), (2, 0), (2, 3), (65_536, 1)] {
            let error = store.tickets("Tickets64", "a", increment, offset).await.expect_err("refused");
            assert_says(&error, ErrorKind::InvalidStore, &["1 to their increment"]);
        }
    });
}

#[test]
fn tables_unfit_for_tickets_are_refused() {
    let server = shared_database(Engine::Mariadb);
    server.client(&TICKETS_SCHEMA.replace("InnoDB", "MyISAM"));
    server.client("CREATE TABLE plain (id bigint PRIMARY KEY, stub char(1) UNIQUE)");
    run(async {
        let store = mysql(server.url()).await;
        let error = store.tickets("Tickets64", "a", 1, 1).await.expect_err("MyISAM");
        assert_says(&error, ErrorKind::UnsafeStore, &["ENGINE=MyISAM", "ALTER TABLE Tickets64 ENGINE=InnoDB"]);
        let careless = mysql(&format!("{}?allow_unsafe=true", server.url())).await;
        assert_eq!(careless.tickets("Tickets64", "a", 1, 1).await.expect("allowed").take().await, Ok(1));
        let error = store.tickets("plain", "a", 1, 1).await.expect_err("plain");
        assert_says(&error, ErrorKind::InvalidStore, &["AUTO_INCREMENT"]);
        assert!(store.tickets("a`b", "a", 1, 1).await.is_err());
    });
}

#[test]
fn tickets_end_and_do_not_repeat_the_last() {
    let server = shared_database(Engine::Mariadb);
    run(async {
        let store = mysql(server.url()).await;
        for (kind, last) in
            [("bigint unsigned", u64::MAX), ("bigint", 1 << 63), ("int", 1 << 31), ("tinyint unsigned", 256)]
        {
            server.client(&format!(
                "CREATE OR REPLACE TABLE t (id {kind} NOT NULL AUTO_INCREMENT PRIMARY KEY, stub char(1) UNIQUE) \
                     AUTO_INCREMENT={}",
                last - 5
            ));
            for (increment, offset) in [(1, 1), (3, 2)] {
                let tickets = store.tickets("t", "a", increment, offset).await.expect("tickets");
                let mut taken = Vec::new();
                for _ in 0..12 {
                    match tickets.take().await {
                        Ok(ticket) => taken.push(ticket),
                        Err(error) => assert_eq!(error.kind(), ErrorKind::Exhausted, "{kind} {increment}: {error}"),
                    }
                }
                println!("{kind} {increment} {taken:?}");
                sql_scenes::assert_unique(&taken);
                assert!(taken.len() < 12);
            }
        }
    });
}

#[test]
fn two_ticket_servers_share_no_number_under_several_clients() {
    let (other, shared) = (start(&[]), shared_database(Engine::Mariadb));
    run(async {
        let mut clients = JoinSet::new();
        for (url, offset) in [&other.url(), shared.url()].into_iter().zip(1..) {
            for client in 0..4 {
                let tickets = tickets(url, if client % 2 == 0 { "a" } else { "b" }, 2, offset).await;
                clients.spawn(async move {
                    let mut taken = Vec::new();
                    for _ in 0..50 {
                        let ticket = tickets.take().await.expect("a ticket");
                        assert_eq!(ticket % 2, offset % 2);
                        taken.push(ticket);
                    }
                    assert!(taken.is_sorted_by(|a, b| a < b));
                    taken
                });
            }
        }
        let taken = clients.join_all().await.concat();
        assert_eq!(taken.len(), 400);
        sql_scenes::assert_unique(&taken);
    });
    println!("{}", client(&other, "SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'"));
}

#[test]
fn tickets_never_repeat_over_kills() {
    let mut server = start(&[]);
    run(async {
        let stubs = [
            tickets(&server.url(), "a", 2, 1).await,
            tickets(&server.url(), "b", 2, 1).await,
            tickets(&server.url(), "a", 2, 1).await,
        ];
        numbers_never_repeat_over_kills(&mut server, |client| {
            let tickets = stubs[client].clone();
            async move { tickets.take().await.map(|ticket| vec![ticket]) }
        })
        .await;
    });
}

/// Makes the function `next_id` by the statements of `mariadb_function`.
fn make_function(server: &Server) {
    let function = MariadbFunction::new(&SNOWMINT, "ids", "next_id", 5.into()).expect("names that fit");
    for statement in function.statements() {
        client(server, &format!("DELIMITER //\n{statement}//"));
    }
}

#[test]
fn a_function_mints_under_any_sql_mode() {
    let server = start(&[]);
    let mut ids = Vec::new();
    for mode in ["", "ORACLE", "ANSI,NO_BACKSLASH_ESCAPES", "MSSQL,EMPTY_STRING_IS_NULL,STRICT_ALL_TABLES"] {
        client(&server, &format!("SET GLOBAL sql_mode = '{mode}'"));
        make_function(&server);
        ids.push(client(&server, "SELECT next_id()").trim().parse::<u64>().expect("an ID"));
    }
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
}

#[test]
fn the_table_of_a_function_is_made_in_no_other_engine() {
    let server = start(&["--enforce-storage-engine=InnoDB", "--innodb-strict-mode=OFF", "--sql-mode="]);
    let made = "BEGIN NOT ATOMIC DECLARE EXIT HANDLER FOR 1290 SELECT 'refused';";
    let function = MariadbFunction::new(&SNOWMINT, "ids", "next_id", 5.into()).expect("names that fit");
    let [table, ..] = function.statements();
    assert_eq!(client(&server, &format!("DELIMITER //\n{made} {table}; END//")), "refused\n");
    assert_eq!(client(&server, "SHOW TABLES"), "");
}

#[test]
fn a_function_mints_beside_a_binary_log() {
    let server = start(&["--log-bin=log", "--server-id=1"]);
    let replica = start(&["--log-bin=log", "--log-slave-updates", "--server-id=2"]);
    client(
        &replica,
        &format!("CHANGE MASTER TO master_host='127.0.0.1', master_port={}, master_user='root'", server.port()),
    );
    client(&replica, "START SLAVE");
    let replicated = |query: &str| {
        let place = client(&server, "SELECT @@gtid_binlog_pos");
        let waited = client(&replica, &format!("SELECT MASTER_GTID_WAIT('{}', 60)", place.trim()));
        assert_eq!(waited, "0\n", "{}", client(&replica, "SHOW SLAVE STATUS"));
        client(&replica, query)
    };
    client(&server, "CREATE TABLE orders (id BIGINT UNSIGNED PRIMARY KEY, format TEXT)");
    make_function(&server);
    for format in ["ROW", "MIXED"] {
        client(&server, &format!("SET GLOBAL binlog_format = {format}"));
        client(&server, "INSERT INTO orders SELECT next_id(), @@binlog_format FROM seq_1_to_3");
        let rows = "SELECT * FROM orders ORDER BY id";
        assert_eq!(replicated(rows), client(&server, rows), "{format}");
    }
    client(&server, "SET GLOBAL binlog_format = STATEMENT");
    let refused = "BEGIN NOT ATOMIC DECLARE EXIT HANDLER FOR SQLSTATE 'SN006' SELECT 'refused';
                   INSERT INTO orders VALUES (next_id(), @@binlog_format); END//";
    assert_eq!(client(&server, &format!("DELIMITER //\n{refused}")), "refused\n");
    assert_eq!(replicated("SELECT format, COUNT(*) FROM orders GROUP BY format"), "MIXED\t3\nROW\t3\n");
}
