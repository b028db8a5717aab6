//! Claimers of one namespace that all begin at once, on each engine: the time until the last claimer has a node, and
//! how many store calls each claimer makes.
//!
//! If `SNOWMINT_SERVER` names the program of the service, also claimers at a service over `SQLite` and over
//! `PostgreSQL`, and numbers of one name and of many names at a service over each engine.
//!
//! The servers are the servers of the tests. Claimers share at most 64 connections, as `PostgreSQL` has 100.

#[allow(dead_code, reason = "contenders are for other programs")]
mod turns;

use std::collections::HashSet;
use std::error::Error;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use snowmint::host::unix_ms;
use snowmint::stores::host::{Claimer, Namespace, Refusal, Terms, claim_node};
use snowmint::stores::{Error as StoreError, RecordStore, Version, Versioned, WriteOutcome, connect};
use snowmint::{Nodes, layouts};
use snowmint_engines::{Engine, Server, with_option};
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use tokio::time::sleep;
use turns::deciles;

const CLAIMERS: [usize; 5] = [1, 16, 64, 256, 1024];
const MAX_STORES: usize = 64;
const ROUNDS: usize = 3;
/// No node becomes free while others are claimed.
const WINDOW_MS: u64 = 3_600_000;
const PATIENCE: Duration = Duration::from_secs(60);

/// A store that counts the calls that ask it: etcd and `ZooKeeper` have neither a clock nor settings to read.
#[derive(Debug)]
struct Counting {
    store: Arc<dyn RecordStore>,
    has_settings: bool,
    calls: Arc<AtomicU64>,
}

impl Counting {
    fn counted(&self) -> &dyn RecordStore {
        self.calls.fetch_add(1, Ordering::Relaxed);
        &*self.store
    }
}

#[async_trait::async_trait]
impl RecordStore for Counting {
    fn name(&self) -> &str {
        self.store.name()
    }

    async fn read(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        self.counted().read(key).await
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, StoreError> {
        self.counted().write(key, value, expected).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Versioned)>, StoreError> {
        self.counted().list(prefix).await
    }

    async fn clock_ms(&self) -> Result<Option<i64>, StoreError> {
        let now_ms = self.store.clock_ms().await?;
        self.calls.fetch_add(u64::from(now_ms.is_some()), Ordering::Relaxed);
        Ok(now_ms)
    }

    async fn refuse_standby(&self) -> Result<(), StoreError> {
        self.calls.fetch_add(u64::from(self.has_settings), Ordering::Relaxed);
        self.store.refuse_standby().await
    }
}

/// Claims a node as a process does: again after each refusal that will pass.
async fn claim(store: Arc<dyn RecordStore>, terms: Arc<Terms>, begin: Arc<Barrier>) -> Result<u32, StoreError> {
    let claimer = Claimer::this_process()?;
    begin.wait().await;
    let since = Instant::now();
    loop {
        let (pause_ms, error) = match claim_node(store.clone(), &terms, &claimer, unix_ms(), &|_| {}).await {
            Ok(lease) => return Ok(lease.node()),
            Err(Refusal::Error(error)) => return Err(error),
            Err(Refusal::Taken(error)) => (5, error),
            Err(Refusal::NotYet(wait_ms, error)) => (wait_ms, error),
        };
        if since.elapsed() > PATIENCE {
            return Err(error);
        }
        sleep(Duration::from_millis(pause_ms)).await;
    }
}

/// Lets claimers of a new namespace begin, and returns how long the last one took in ms, the calls of all, and the errors.
async fn herd(
    stores: &[Arc<dyn RecordStore>],
    namespace: &str,
    claimers: usize,
) -> Result<(f64, u64, Vec<StoreError>), Box<dyn Error>> {
    let terms = Arc::new(Terms {
        namespace: Namespace::named(namespace)?,
        layout: layouts::SNOWMINT,
        nodes: Nodes::ALL,
        exclude: Vec::new(),
        max_ahead_ms: 0,
        max_wait_ms: 60_000,
        window_ms: WINDOW_MS,
        system_clock: true,
    });
    let calls = Arc::new(AtomicU64::new(0));
    let has_settings = stores[0].settings().await?.is_some();
    let begin = Arc::new(Barrier::new(claimers + 1));
    let mut claiming = JoinSet::new();
    for number in 0..claimers {
        let store =
            Arc::new(Counting { store: stores[number % stores.len()].clone(), has_settings, calls: calls.clone() });
        claiming.spawn(claim(store, terms.clone(), begin.clone()));
    }
    begin.wait().await;
    let since = Instant::now();
    let (mut nodes, mut failed) = (HashSet::new(), Vec::new());
    for claimed in claiming.join_all().await {
        match claimed {
            Ok(node) => assert!(nodes.insert(node), "node {node} was granted twice"),
            Err(error) => failed.push(error),
        }
    }
    Ok((since.elapsed().as_secs_f64() * 1000.0, calls.load(Ordering::Relaxed), failed))
}

#[allow(clippy::cast_precision_loss, reason = "no count comes near 2^52")]
async fn measure(url: &str) -> Result<(), Box<dyn Error>> {
    let engine = url.split(':').next().unwrap_or_default();
    let one_file = engine == "sqlite";
    let mut stores: Vec<Arc<dyn RecordStore>> = Vec::new();
    for _ in 0..if one_file { 1 } else { MAX_STORES } {
        let pooled = ["postgres", "mysql"].contains(&engine);
        stores.push(connect(&if pooled { with_option(url, "connections=1") } else { url.to_owned() }).await?);
    }
    let mut rows = Vec::new();
    for claimers in CLAIMERS {
        let (mut took_ms, mut calls, mut failed) = (Vec::new(), 0, Vec::new());
        for round in 0..ROUNDS {
            let (ms, called, refused) = herd(&stores, &format!("herd-{claimers}-{round}"), claimers).await?;
            took_ms.push(ms);
            calls += called;
            failed.extend(refused);
        }
        let [low, median, high] = deciles(&mut took_ms);
        let each = calls as f64 / (claimers * ROUNDS) as f64;
        let why = failed.first().map_or(String::new(), |error| format!(": {error}"));
        let note = format!("{each:.1} calls of the store each, {} of {} failed{why}", failed.len(), claimers * ROUNDS);
        rows.push(format!(
            "{{\"name\":\"claimers: {claimers}\",\"p10\":{low:.1},\"median\":{median:.1},\"p90\":{high:.1},\"note\":{note:?}}}"
        ));
    }
    println!("{{\"title\":\"Claimers at once over {engine}\",\"unit\":\"ms\",\"rows\":[{}]}}", rows.join(","));
    Ok(())
}

/// Runs a script beside this program, which measures a service over `SQLite` and over each of the engines.
fn at_service(script: &str, program: &OsStr, engines: &[Engine]) -> Result<(), Box<dyn Error>> {
    let servers: Vec<_> = engines.iter().map(|engine| Server::start(*engine)).collect();
    let status = Command::new("python3")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("service").join(script))
        .arg(program)
        .arg("sqlite:DIRECTORY/ids.db")
        .args(servers.iter().map(Server::url))
        .status()?;
    assert!(status.success(), "{status}");
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|each| each == name);
    if is_wanted("sqlite") {
        let directory = tempfile::tempdir()?;
        measure(&format!("sqlite:{}/store.db", directory.path().display())).await?;
    }
    for engine in Engine::STORES {
        if is_wanted(&format!("{engine:?}").to_lowercase()) {
            let server = Server::start(engine);
            measure(&server.url()).await?;
        }
    }
    if let Some(program) = std::env::var_os("SNOWMINT_SERVER") {
        if is_wanted("service") {
            at_service("herd.py", &program, &[Engine::Postgres])?;
        }
        if is_wanted("names") {
            at_service("names.py", &program, &Engine::STORES)?;
        }
    }
    Ok(())
}
