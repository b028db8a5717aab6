//! Numbers and leases while clients and the server are killed by SIGKILL.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rand::RngExt as _;
use snowmint::stores::{Segments, Sequences, Tag, connect};
use snowmint_core::sequence::Options;
use snowmint_tests::engines::{Engine, Server};
use snowmint_tests::takes::{self, Kind};
use tempfile::TempDir;

use crate::scene::directory;
use crate::support::{Running, assert_unique, ledger, minter};

/// Returns how often a client and the server are killed.
pub fn rounds() -> u32 {
    std::env::var("SNOWMINT_KILLS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(4)
}

const NUMBERS: [Kind; 4] = [Kind::Segment, Kind::Ticket, Kind::Sequence, Kind::User];

/// Takers and minters on one store, with their ledgers.
struct Work {
    url: String,
    kinds: Vec<Kind>,
    directory: TempDir,
}

impl Work {
    fn new(url: &str, kinds: &[Kind]) -> Self {
        let work = Self { url: url.to_owned(), kinds: kinds.to_vec(), directory: directory() };
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let store = connect(url).await.expect("it connects");
            let tag = Tag::new(1, 20);
            Segments::create(&*store, "takes", &tag).await.expect("a tag");
            let options = Options { cache: Some(3), ..Options::DEFAULT };
            Sequences::new(store).create("takes", &options).await.expect("a sequence");
        });
        work
    }

    fn taker(&self) -> Running {
        let kinds: Vec<_> = self.kinds.iter().map(|kind| kind.name()).collect();
        let mut command = Command::new(env!("CARGO_BIN_EXE_snowmint-taker"));
        command.args([&kinds.join(","), &self.url]).arg(self.directory.path()).arg("1").stdin(Stdio::null());
        Running::start(&mut command)
    }

    fn minter(&self) -> Running {
        let mut command = minter("mint");
        command
            .arg(format!("store={}", self.url))
            .arg(format!("ledger={}", self.directory.path().join("ids").display()));
        Running::start(command.args(["window_ms=1000", "pace_us=1000", "max_wait_ms=90000"]))
    }

    /// Waits until the ledger of every kind and the minters' ledger have grown by three entries.
    fn wait_for_more(&self) {
        let counts = || -> Vec<usize> {
            let takes = self.kinds.iter().map(|kind| takes::ledger(self.directory.path(), *kind).len());
            takes.chain([ledger(&self.directory.path().join("ids")).len()]).collect()
        };
        let (before, deadline) = (counts(), Instant::now() + Duration::from_secs(60));
        while before.iter().zip(counts()).any(|(before, now)| now < before + 3) {
            assert!(Instant::now() < deadline, "{:?}: from {before:?} to {:?} only", self.kinds, counts());
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn check(&self, path: &Path) {
        for kind in &self.kinds {
            let took = takes::ledger(path, *kind);
            takes::assert_unique(*kind, &took);
            if *kind == Kind::User {
                takes::assert_increasing(&took);
            }
            println!("{} {} numbers", took.len(), kind.name());
        }
        let ids = assert_unique(ledger(&path.join("ids")));
        println!("{ids} IDs");
    }
}

/// Runs two takers and two minters, and kills in each round one of each and then the server.
fn no_number_repeats(work: &Work, mut server: Option<&mut Server>) {
    let mut takers = [work.taker(), work.taker()];
    let mut minters = [work.minter(), work.minter()];
    work.wait_for_more();
    let mut random = rand::rng();
    for round in 0..rounds() {
        thread::sleep(Duration::from_millis(random.random_range(50..400)));
        let client = round as usize % 2;
        // The assignment drops, and so kills, the former process.
        takers[client] = work.taker();
        minters[client] = work.minter();
        if let Some(server) = &mut server {
            thread::sleep(Duration::from_millis(random.random_range(0..300)));
            server.kill();
            thread::sleep(Duration::from_millis(random.random_range(0..300)));
            server.restart();
        }
    }
    // On a machine with much else to do a server may have been away for longer than a claim waits, which ends the
    // minter.
    let last = work.minter();
    work.wait_for_more();
    drop((takers, minters, last));
    work.check(work.directory.path());
}

fn over(engine: Engine, kinds: &[Kind], prepare: &str) {
    let mut server = Server::start(engine);
    let work = Work::new(&server.url(), kinds);
    if !prepare.is_empty() {
        engine.client(server.port(), prepare);
    }
    no_number_repeats(&work, Some(&mut server));
}

#[test]
fn no_number_repeats_over_kills_of_clients_of_files() {
    let directory = directory();
    no_number_repeats(&Work::new(&format!("file:{}?allow_unsafe=true", directory.path().display()), &NUMBERS), None);
}

#[test]
fn no_number_repeats_over_kills_of_clients_of_sqlite() {
    let directory = directory();
    let url = format!("sqlite:{}?allow_unsafe=true", directory.path().join("ids.db").display());
    no_number_repeats(&Work::new(&url, &NUMBERS), None);
}

#[test]
fn no_number_repeats_over_kills_of_clients_and_postgres() {
    let kinds = [&NUMBERS[..], &[Kind::Native]].concat();
    over(Engine::Postgres, &kinds, "CREATE SEQUENCE takes");
}

#[test]
fn no_number_repeats_over_kills_of_clients_and_mariadb() {
    let kinds = [&NUMBERS[..], &[Kind::Native, Kind::Flickr]].concat();
    over(Engine::Mariadb, &kinds, "CREATE SEQUENCE takes");
}

#[test]
fn no_number_repeats_over_kills_of_clients_and_redis() {
    over(Engine::Redis, &NUMBERS, "");
}

#[test]
fn no_number_repeats_over_kills_of_clients_and_etcd() {
    over(Engine::Etcd, &NUMBERS, "");
}

#[test]
fn no_number_repeats_over_kills_of_clients_and_zookeeper() {
    over(Engine::Zookeeper, &NUMBERS, "");
}

#[test]
fn no_number_repeats_over_kills_of_clients_and_nats() {
    over(Engine::Nats, &NUMBERS, "");
}
