//! Faults that every store on a server survives: the server is killed and restarted, or is silent for a while.

use std::future::Future;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use snowmint::ErrorKind;
use snowmint::stores::{CounterStore, Error, WriteOutcome, connect};
use snowmint_tests::engines::{Engine, Server, shared, with_option};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::task::{JoinSet, block_in_place};
use tokio::time::sleep;

use crate::scene::unique;

const TIMEOUT: Duration = Duration::from_secs(1);
/// The default timeout of a URL.
const DEFAULT: Duration = Duration::from_secs(5);
/// How long a step may take on a busy machine.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(60);

/// Runs a test.
pub fn run(test: impl Future<Output = ()>) {
    Runtime::new().expect("a runtime").block_on(test);
}

/// Connects to the server with a short timeout.
async fn store(server: &Server) -> Arc<dyn CounterStore> {
    // A busy machine may need several attempts.
    let url = with_option(&server.url(), &format!("timeout_ms={}", TIMEOUT.as_millis()));
    until_back(|| connect(&url)).await
}

/// Returns the error of a connection that is refused.
pub async fn refused(url: &str) -> Error {
    connect(url).await.map(|store| store.name().to_owned()).expect_err(url)
}

/// Returns a directory with an authority, `ca.pem`, and a certificate that it signed for 127.0.0.1, `s.pem` with `s.key`.
pub fn certificates() -> TempDir {
    let directory = TempDir::new().expect("a directory");
    let script = "openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=ca -days 2 \
         -addext basicConstraints=critical,CA:TRUE && openssl req -newkey rsa:2048 -nodes -keyout s.key -out s.csr -subj \
         /CN=s && printf 'subjectAltName=IP:127.0.0.1\\n' > ext && openssl x509 -req -in s.csr -CA ca.pem -CAkey ca.key \
         -CAcreateserial -days 2 -extfile ext -out s.pem";
    let made = Command::new("sh").args(["-c", script]).current_dir(&directory).output().expect("sh starts");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    directory
}

/// Asks until there is an answer. Every error before must be `StoreUnavailable`.
pub async fn until_back<T, F: Future<Output = Result<T, Error>>>(mut ask: impl FnMut() -> F) -> T {
    let began = Instant::now();
    loop {
        match ask().await {
            Ok(answer) => return answer,
            Err(error) => assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{error}"),
        }
        assert!(began.elapsed() < RECOVERY_TIMEOUT, "it does not come back");
        sleep(Duration::from_millis(10)).await;
    }
}

/// Two clients continue while the server is killed and restarted five times. No confirmed write is lost.
pub async fn confirmed_writes_outlive_kills(engine: Engine) {
    let mut server = Server::start(engine);
    let (stop, rounds) = (Arc::new(AtomicBool::new(false)), Arc::new([AtomicU64::new(0), AtomicU64::new(0)]));
    let mut clients = JoinSet::new();
    for number in 0..2 {
        clients.spawn(client(store(&server).await, number, stop.clone(), rounds.clone()));
    }
    let mut confirmed = Vec::new();
    for kill in 0..5 {
        let before = [0, 1].map(|number| rounds[number].load(Ordering::Relaxed));
        let began = Instant::now();
        while [0, 1].iter().any(|number| rounds[*number].load(Ordering::Relaxed) < before[*number] + 5) {
            assert!(began.elapsed() < RECOVERY_TIMEOUT, "clients go on after kill {kill}");
            sleep(Duration::from_millis(3)).await;
            if let Some(failed) = clients.try_join_next() {
                panic!("a client ended: {failed:?}");
            }
        }
        block_in_place(|| {
            server.kill();
            std::thread::sleep(Duration::from_millis(150));
            server.restart();
        });
    }
    sleep(Duration::from_millis(500)).await;
    stop.store(true, Ordering::Relaxed);
    for sums in clients.join_all().await {
        assert!(sums.is_sorted_by(|a, b| a < b), "sums of one client increase");
        confirmed.extend(sums);
    }
    let highest = confirmed.iter().copied().max().expect("sums");
    let count = confirmed.len();
    confirmed.sort_unstable();
    confirmed.dedup();
    assert_eq!(confirmed.len(), count, "no sum twice");
    let fresh = connect(&server.url()).await.expect("it connects");
    assert!(fresh.add("faults/c", 0, 0).await.expect("a sum") >= highest);
}

/// Adds to a counter and writes a record until `stop`. Returns the confirmed sums. Asserts that the record has the
/// value of the last confirmed write, or of a later write without an answer.
pub async fn client(
    store: Arc<dyn CounterStore>,
    number: usize,
    stop: Arc<AtomicBool>,
    rounds: Arc<[AtomicU64; 2]>,
) -> Vec<u64> {
    let key = format!("faults/{number}");
    let (mut sums, mut confirmed, mut version) = (Vec::new(), 0_u64, 0);
    while !stop.load(Ordering::Relaxed) {
        match store.add("faults/c", 1, 0).await {
            Ok(sum) => sums.push(sum),
            Err(error) => assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{error}"),
        }
        let next = confirmed + 1;
        let wrote = store.write(&key, next.to_string().as_bytes(), version).await;
        if let Ok(WriteOutcome::Version(written)) = wrote {
            (confirmed, version) = (next, written);
            rounds[number].fetch_add(1, Ordering::Relaxed);
            continue;
        }
        let found = until_back(|| store.read(&key)).await;
        let value = found.as_ref().map_or(0, |found| String::from_utf8_lossy(&found.value).parse().expect("a number"));
        assert!(value == confirmed || value == next, "{value} after {confirmed} was confirmed");
        if wrote == Ok(WriteOutcome::Conflict) {
            assert_eq!(value, next, "a conflict without a write");
        }
        confirmed = value;
        version = found.map_or(0, |found| found.version);
    }
    sums
}

/// Calls to a paused server fail in time. When the server continues, the same store works, and each call gets its own
/// answer.
pub async fn a_silent_server_is_given_up_in_time(engine: Engine) {
    let server = Server::start(engine);
    let patient = connect(&server.url()).await.expect("it connects");
    for number in 0..8 {
        let wrote = patient.write(&format!("silent/{number}"), format!("v{number}").as_bytes(), 0).await;
        assert!(matches!(wrote, Ok(WriteOutcome::Version(_))), "{wrote:?}");
    }
    let store = store(&server).await;
    for _ in 0..2 {
        server.pause(true);
        // The signal takes a moment to stop every thread.
        sleep(Duration::from_millis(100)).await;
        let began = Instant::now();
        let mut asked = JoinSet::new();
        for number in 0..8 {
            let store = store.clone();
            asked.spawn(async move { store.read(&format!("silent/{number}")).await });
        }
        let added = store.add("silent/c", 1, 0).await.expect_err("no answer");
        assert_eq!(added.kind(), ErrorKind::StoreUnavailable, "{added}");
        for answer in asked.join_all().await {
            let error = answer.expect_err("no answer");
            assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{error}");
        }
        assert!(began.elapsed() < DEFAULT, "{:?}", began.elapsed());
        // To connect fails in time too.
        let began = Instant::now();
        let url = with_option(&server.url(), &format!("timeout_ms={}", TIMEOUT.as_millis()));
        assert_eq!(refused(&url).await.kind(), ErrorKind::StoreUnavailable);
        assert!(began.elapsed() < DEFAULT, "{:?}", began.elapsed());
        server.pause(false);
        until_back(|| store.read("silent/0")).await;
        for _ in 0..20 {
            let mut asked = JoinSet::new();
            for number in 0..8 {
                let store = store.clone();
                let key = format!("silent/{number}");
                asked.spawn(async move { (number, until_back(|| store.read(&key)).await) });
            }
            for (number, found) in asked.join_all().await {
                assert_eq!(found.expect("a record").value, format!("v{number}").as_bytes());
            }
        }
    }
    assert!(until_back(|| patient.add("silent/c", 0, 0)).await <= 2, "each unclear addition once at most");
}

/// A store still works after futures were dropped at any time. A future dropped while it connects counts as a failed
/// attempt, so the next call may have to wait for its pause.
pub async fn dropped_futures_are_harmless(engine: Engine) {
    let store = connect(shared(engine).url()).await.expect("it connects");
    let prefix = unique("dropped") + "/";
    let counter = format!("{prefix}c");
    for number in 0..200_u64 {
        let _ = tokio::time::timeout(Duration::from_micros(number * 10), store.add(&counter, 1, 0)).await;
        let key = format!("{prefix}{number}");
        let _ = tokio::time::timeout(Duration::from_micros(number * 10), store.write(&key, key.as_bytes(), 0)).await;
        if number % 10 == 0 {
            let found = until_back(|| store.read(&key)).await;
            assert!(found.is_none_or(|found| found.value == key.as_bytes()));
        }
    }
    assert!(until_back(|| store.add(&counter, 0, 0)).await <= 200);
    for (part, found) in until_back(|| store.list(&prefix)).await {
        assert_eq!(found.value, format!("{prefix}{part}").as_bytes());
    }
}

/// While a server is stopped, calls fail at once and name the time of the next attempt. Later the same store works.
pub async fn a_server_that_was_away_is_found_again(engine: Engine) {
    let mut server = Server::start(engine);
    let store = connect(&server.url()).await.expect("it connects");
    assert_eq!(store.add("away/c", 5, 0).await, Ok(5));
    block_in_place(|| server.kill());
    let began = Instant::now();
    let mut says_when = 0;
    while says_when < 10 {
        let error = store.add("away/c", 1, 0).await.expect_err("it is away");
        assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{error}");
        assert!(began.elapsed() < RECOVERY_TIMEOUT, "{error}");
        says_when += u32::from(error.to_string().contains("next attempt"));
    }
    block_in_place(|| server.restart());
    assert_eq!(until_back(|| store.add("away/c", 0, 0)).await, 5);
    assert_eq!(store.add("away/c", 1, 0).await, Ok(6));
    // No call ran while the server was away, so the next call finds the broken connection.
    sleep(Duration::from_millis(150)).await;
    block_in_place(|| {
        server.kill();
        server.restart();
    });
    sleep(Duration::from_millis(150)).await;
    assert_eq!(until_back(|| store.add("away/c", 0, 0)).await, 6);
}
