//! `PostgreSQL` behind `PgBouncer` and Pgpool-II, in each of their modes, on a server whose commits do not wait.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rand::RngExt as _;
use snowmint::stores::{NumberSource, Segments, Sequences, Tag, Url, connect, postgres::Postgres};
use snowmint_core::sequence::Options;
use snowmint_tests::engines::{Engine, Server};
use snowmint_tests::takes::{self, Kind};
use tempfile::TempDir;

use crate::scene::directory;
use crate::sql_scenes::{run, until_back};
use crate::support::{Running, assert_unique, ledger, minter};

const KINDS: [Kind; 4] = [Kind::Sequence, Kind::Segment, Kind::Ticket, Kind::Native];

/// Reads a number of rounds from the environment.
pub fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Starts a `PostgreSQL` that loses the commits of the last 30 s in a crash, if commits do not wait.
fn forgetful() -> Server {
    Server::start_with(Engine::Postgres, &["-c", "synchronous_commit=off", "-c", "wal_writer_delay=10000"])
}

/// Starts such a `PostgreSQL`, and a `PgBouncer` in front of it.
fn start(mode: &str) -> (Server, Server) {
    let server = forgetful();
    // In session mode a client keeps its session. In the other modes clients share a few.
    let sessions = if mode == "session" { 80 } else { 5 };
    let options = [format!("pool_mode={mode}"), format!("default_pool_size={sessions}")];
    let pooler = Server::start_pooler(Engine::Pgbouncer, server.port(), &options);
    (server, pooler)
}

/// Returns the options of a Pgpool-II, which has a process for each client.
fn of_pgpool(clustering: &str) -> Vec<String> {
    let processes = 10 + 8 * setting("SNOWMINT_PROCESSES", 2);
    vec![format!("backend_clustering_mode='{clustering}'"), format!("num_init_children={processes}")]
}

/// Processes that lease and mint, and as many that take numbers, with their ledgers.
struct Work {
    processes: usize,
    directory: TempDir,
    takers: Vec<Running>,
    _minters: Vec<Running>,
}

impl Work {
    fn start(url: &str) -> Self {
        let processes = setting("SNOWMINT_PROCESSES", 2);
        let directory = directory();
        let kinds: Vec<_> = KINDS.iter().map(|kind| kind.name()).collect();
        let url = format!("{url}{}connections=2", if url.contains('?') { '&' } else { '?' });
        let start_minter = |number| {
            let options = ["window_ms=1000", "pace_us=1000", "max_wait_ms=90000"];
            let path = ids(&directory, number);
            let mut command = minter("mint");
            command.arg(format!("store={url}")).arg(format!("ledger={}", path.display())).args(options);
            Running::start(&mut command)
        };
        let start_taker = |_| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_snowmint-taker"));
            command.args([&kinds.join(","), &url]).arg(directory.path()).arg("1").stdin(Stdio::null());
            Running::start(&mut command)
        };
        let minters = (0..processes).map(start_minter).collect();
        let takers = (0..processes).map(start_taker).collect();
        Self { processes, directory, takers, _minters: minters }
    }

    /// Waits until each minter has this many IDs.
    fn wait_for_ids(&self, each: usize) {
        let fewest = || (0..self.processes).map(|number| ledger(&ids(&self.directory, number)).len()).min();
        Self::wait("IDs of a minter", || fewest().unwrap_or_default(), each);
    }

    /// Waits until the takers together have this many numbers of a sequence for each of them.
    fn wait_for_numbers(&self, each: usize) {
        let numbers = || takes::ledger(self.directory.path(), Kind::Sequence).len();
        Self::wait("numbers", numbers, self.processes * each);
    }

    fn wait(what: &str, count: impl Fn() -> usize, enough: usize) {
        let deadline = Instant::now() + Duration::from_secs(600);
        while count() < enough {
            assert!(Instant::now() < deadline, "{} of {enough} {what}", count());
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Checks that nothing repeats.
    fn check(self) {
        let Self { directory, processes, .. } = self;
        let all = (0..processes).flat_map(|number| ledger(&ids(&directory, number))).collect();
        println!("{} IDs", assert_unique(all));
        for kind in KINDS {
            let took = takes::ledger(directory.path(), kind);
            takes::assert_unique(kind, &took);
            println!("{} {} numbers", took.len(), kind.name());
        }
    }
}

fn ids(directory: &TempDir, number: usize) -> PathBuf {
    directory.path().join(format!("ids.{number}"))
}

fn nothing_repeats((mut server, mut pooler): (Server, Server), url: &str) {
    Engine::Postgres.client(server.port(), "CREATE SEQUENCE takes");
    run(async {
        let store = connect(url).await.expect("it connects");
        let tag = Tag::new(1, 20).description("it's $1 \\");
        Segments::create(&*store, "takes", &tag).await.expect("a tag");
        let options = Options { cache: Some(500), ..Options::DEFAULT };
        Sequences::new(store).create("takes", &options).await.expect("a sequence");
    });
    let mut work = Work::start(url);
    work.wait_for_ids(10);
    work.wait_for_numbers(10);
    let mut random = rand::rng();
    for _ in 0..setting("SNOWMINT_KILLS", 1) {
        for victim in [&mut server, &mut pooler] {
            thread::sleep(Duration::from_millis(random.random_range(100..700)));
            victim.kill();
            thread::sleep(Duration::from_millis(random.random_range(0..300)));
            victim.restart();
        }
    }
    let enough = setting("SNOWMINT_NUMBERS", 200);
    work.wait_for_numbers(enough);
    // They take numbers without rest.
    work.takers.clear();
    work.wait_for_ids(enough);
    work.check();
}

#[test]
fn nothing_repeats_behind_pgbouncer_in_session_mode() {
    let (server, pooler) = start("session");
    let url = pooler.url();
    nothing_repeats((server, pooler), &url);
}

#[test]
fn nothing_repeats_behind_pgbouncer_in_transaction_mode() {
    let (server, pooler) = start("transaction");
    let url = pooler.url();
    nothing_repeats((server, pooler), &url);
}

#[test]
fn nothing_repeats_behind_pgbouncer_in_statement_mode() {
    let (server, pooler) = start("statement");
    let url = pooler.url();
    nothing_repeats((server, pooler), &url);
}

#[test]
fn nothing_repeats_behind_pgpool() {
    let server = forgetful();
    let pooler = Server::start_pooler(Engine::Pgpool, server.port(), &of_pgpool("raw"));
    let url = pooler.url();
    nothing_repeats((server, pooler), &url);
}

#[test]
fn nothing_repeats_behind_pgpool_that_balances_load() {
    let server = forgetful();
    let standby = Server::start_standby(server.port());
    let mut options = of_pgpool("streaming_replication");
    // A read at the standby would miss the last grants.
    options.extend([
        "load_balance_mode=on\nbackend_weight0=0\nbackend_weight1=1".to_owned(),
        format!("backend_hostname1='127.0.0.1'\nbackend_port1={}", standby.port()),
        "backend_flag1='DISALLOW_TO_FAILOVER'".to_owned(),
    ]);
    let pooler = Server::start_pooler(Engine::Pgpool, server.port(), &options);
    let nodes = pooler.engine().client(pooler.port(), "SHOW pool_nodes");
    let standby_reads = nodes.lines().any(|node| node.contains("|standby|") && node.contains("|true|"));
    assert!(standby_reads, "other clients read at the standby: {nodes}");
    // Nothing is promoted here.
    let url = format!("{}?allow_standby=true", pooler.url());
    nothing_repeats((server, pooler), &url);
}

#[test]
fn confirmed_numbers_outlast_a_kill_behind_pgbouncer() {
    for mode in ["session", "transaction", "statement"] {
        let (mut server, pooler) = start(mode);
        Engine::Postgres.client(server.port(), "CREATE SEQUENCE takes");
        run(async {
            let store = connect(&pooler.url()).await.expect("it connects");
            let native = Postgres::connect(&Url::parse(&pooler.url()).expect("a URL")).await.expect("it connects");
            let native = native.sequence("takes").await.expect("a sequence");
            let mut sum = 0;
            for _ in 0..3 {
                let next = until_back(|| store.add("c", 1, 0)).await;
                assert!(next > sum, "{mode}: {next} after {sum}");
                sum = next;
                server.kill();
                server.restart();
                let last = until_back(|| native.take(1)).await;
                server.kill();
                server.restart();
                assert!(until_back(|| native.take(1)).await > last, "{mode}: {last:?}");
            }
        });
    }
}

#[test]
fn other_clients_of_a_session_change_nothing() {
    let (_server, pooler) = start("transaction");
    run(async {
        let store = connect(&format!("{}?connections=4", pooler.url())).await.expect("it connects");
        // It stays in the session, as does a prepared statement, of which clients of sqlx have one.
        for _ in 0..5 {
            pooler.engine().client(
                pooler.port(),
                "SET synchronous_commit = off; SET bytea_output = escape; SET standard_conforming_strings = off; \
                 SET default_transaction_isolation = serializable; DEALLOCATE ALL; PREPARE sqlx_s_1 AS SELECT 1",
            );
        }
        let wrote = store.write("a/b", b"'\\\0\xff", 0).await.expect("it is written");
        let found = store.read("a/b").await.expect("it is read").expect("it is there");
        assert_eq!(found.value, b"'\\\0\xff");
        assert_eq!(wrote, snowmint::stores::WriteOutcome::Version(found.version));
        let adds = (0..40).map(|_| {
            let store = store.clone();
            tokio::spawn(async move { store.add("c", 1, 0).await })
        });
        let mut sums = Vec::new();
        for sum in adds.collect::<Vec<_>>() {
            sums.push(sum.await.expect("no panic").expect("it is added"));
        }
        sums.sort_unstable();
        assert_eq!(sums, (1..=40).collect::<Vec<_>>());
    });
}
