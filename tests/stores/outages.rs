//! Generators and numbers while the store is unavailable, and after its return.

use std::sync::Arc;
use std::time::{Duration, Instant};

use snowmint::stores::memory::Memory;
use snowmint::stores::{
    CounterStore, Sections, SectionsOptions, Segments, SegmentsOptions, Sequences, Tag, Tickets, connect,
};
use snowmint::{ErrorKind, Integer, LeaseOptions, Options, Snowflake};
use snowmint_tests::engines::{Engine, Server, with_option};
use tokio::runtime::Runtime;

/// How long a call may wait.
const MAX_WAIT_MS: u64 = 500;
/// How long a call may take on a busy machine.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(30);

/// Checks that a call is refused in time, with one of these kinds.
async fn refused<T: std::fmt::Debug>(call: impl Future<Output = Result<T, snowmint::Error>>, kinds: &[ErrorKind]) {
    let began = Instant::now();
    let error = call.await.expect_err("the store is away");
    assert!(kinds.contains(&error.kind()), "{error:?}");
    assert!(began.elapsed() < RECOVERY_TIMEOUT, "{error:?} after {:?}", began.elapsed());
}

/// Calls until a call is refused with one of these kinds: numbers in memory are used up first, and a signal takes a
/// moment.
async fn refuses<T, F: Future<Output = Result<T, snowmint::Error>>>(mut call: impl FnMut() -> F, kinds: &[ErrorKind]) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        match call().await {
            Ok(_) => assert!(Instant::now() < deadline, "it goes on"),
            Err(error) if kinds.contains(&error.kind()) => return,
            Err(error) => assert!(Instant::now() < deadline, "{error:?}"),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Calls until a call succeeds, within a minute, on objects that were open before.
async fn recovers<T, F: Future<Output = Result<T, snowmint::Error>>>(mut call: impl FnMut() -> F) -> T {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        match call().await {
            Ok(value) => return value,
            Err(error) => assert!(Instant::now() < deadline, "{error:?}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn a_store_that_goes_away_and_comes_back(engine: Engine) {
    let mut server = Server::start(engine);
    let runtime = Runtime::new().expect("a runtime");
    let url = with_option(&server.url(), "timeout_ms=2000");
    let store = runtime.block_on(connect(&url)).expect("it connects");
    let lease = Snowflake::lease(
        LeaseOptions::new()
            .store(url.clone())
            .window(Duration::from_secs(1))
            .options(Options { max_wait_ms: MAX_WAIT_MS, ..Options::DEFAULT }),
    )
    .expect("a node");
    let (segments, sequences, sections, first) = runtime.block_on(async {
        let row = Tag::new(1, 100);
        Segments::create(&*store, "away", &row).await.expect("a tag");
        let options = SegmentsOptions::default().max_wait(Duration::from_millis(MAX_WAIT_MS));
        let segments = Segments::open(store.clone(), "away", options).await.expect("a tag");
        let sequences = Sequences::new(store.clone()).with_max_wait(Duration::from_millis(MAX_WAIT_MS));
        let options =
            SectionsOptions::default().max_wait(Duration::from_millis(MAX_WAIT_MS)).window(Duration::from_secs(1));
        let sections = Sections::new(store.clone(), "away", options).expect("an allocator");
        // On a busy machine the first answer may come too late. Then its number is skipped.
        let first = (
            recovers(|| segments.next()).await,
            recovers(|| sequences.next("away")).await,
            recovers(|| sections.next(Integer::from(5u64))).await,
        );
        (segments, sequences, sections, first)
    });
    let before = lease.next_id().expect("an ID");

    // A paused server is silent; a killed server refuses connections.
    for silent in [true, false] {
        if silent {
            server.pause(true);
        } else {
            server.kill();
        }
        runtime.block_on(async {
            // Numbers come from memory, until it is empty.
            let mut taken = 0;
            let error = loop {
                match segments.try_next() {
                    Ok(_) => taken += 1,
                    Err(error) => break error,
                }
            };
            assert!(taken >= 50, "{taken}");
            assert!(matches!(error.kind(), ErrorKind::Exhausted | ErrorKind::StoreUnavailable), "{error:?}");
            refuses(|| segments.next(), &[ErrorKind::Exhausted, ErrorKind::StoreUnavailable]).await;
            refuses(|| sequences.next("away"), &[ErrorKind::StoreUnavailable]).await;
            // Holders continue for three quarters of a window.
            refuses(|| async { lease.next_id() }, &[ErrorKind::WindowClosed]).await;
            let kinds = [ErrorKind::Exhausted, ErrorKind::StoreUnavailable, ErrorKind::WindowClosed];
            refuses(|| sections.next(Integer::from(5u64)), &kinds).await;
            // Afterwards each call is refused in time.
            refused(segments.next(), &[ErrorKind::Exhausted, ErrorKind::StoreUnavailable]).await;
            refused(sequences.next("away"), &[ErrorKind::StoreUnavailable]).await;
            refused(sections.next(Integer::from(5u64)), &kinds).await;
            refused(async { lease.next_id() }, &[ErrorKind::WindowClosed]).await;
        });
        assert!(lease.status().lost.is_none());
        if silent {
            server.pause(false);
        } else {
            server.restart();
        }
        runtime.block_on(async {
            assert!(recovers(|| segments.next()).await > first.0 + 50);
            assert!(recovers(|| sequences.next("away")).await > first.1);
            assert!(recovers(|| sections.next(Integer::from(5u64))).await > first.2);
            assert!(recovers(|| async { lease.next_id() }).await > before);
            // Fills both ranges again for the next outage.
            for _ in 0..30 {
                recovers(|| segments.next()).await;
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        });
        let began = Instant::now();
        while lease.status().renewal_failures > 0 {
            assert!(began.elapsed() < RECOVERY_TIMEOUT, "renewals fail: {:?}", lease.status());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn postgres_goes_away_and_comes_back() {
    a_store_that_goes_away_and_comes_back(Engine::Postgres);
}

#[test]
fn mariadb_goes_away_and_comes_back() {
    a_store_that_goes_away_and_comes_back(Engine::Mariadb);
}

#[test]
fn redis_goes_away_and_comes_back() {
    a_store_that_goes_away_and_comes_back(Engine::Redis);
}

#[test]
fn etcd_goes_away_and_comes_back() {
    a_store_that_goes_away_and_comes_back(Engine::Etcd);
}

#[test]
fn zookeeper_goes_away_and_comes_back() {
    a_store_that_goes_away_and_comes_back(Engine::Zookeeper);
}

#[test]
fn nats_goes_away_and_comes_back() {
    a_store_that_goes_away_and_comes_back(Engine::Nats);
}

#[test]
fn one_of_three_stores_is_enough_for_tickets() {
    let mut servers = [Server::start(Engine::Redis), Server::start(Engine::Postgres), Server::start(Engine::Redis)];
    Runtime::new().expect("a runtime").block_on(async {
        let mut stores: Vec<Arc<dyn CounterStore>> = Vec::new();
        for server in &servers {
            stores.push(connect(&server.url()).await.expect("it connects"));
        }
        let tickets = Tickets::over(stores, "photos").expect("three stores").with_max_wait(Duration::from_secs(15));
        let mut taken = Vec::new();
        for _ in 0..9 {
            taken.push(tickets.next().await.expect("a ticket"));
        }
        assert_eq!(taken, (1..=9).collect::<Vec<u64>>(), "in turn");
        servers[0].kill();
        servers[1].pause(true);
        for _ in 0..20 {
            let began = Instant::now();
            let ticket = tickets.next().await.expect("a ticket");
            assert_eq!(ticket % 3, 0, "of the third");
            assert!(began.elapsed() < RECOVERY_TIMEOUT);
            taken.push(ticket);
        }
        servers[2].kill();
        refused(tickets.next(), &[ErrorKind::StoreUnavailable]).await;
        servers[0].restart();
        servers[1].pause(false);
        servers[2].restart();
        for _ in 0..9 {
            taken.push(recovers(|| tickets.next()).await);
        }
        let count = taken.len();
        taken.sort_unstable();
        taken.dedup();
        assert_eq!(taken.len(), count, "no ticket twice");
    });
}

#[test]
fn tickets_of_no_store_at_all_are_refused() {
    let error = Tickets::over(vec![], "photos").expect_err("no store");
    assert_eq!(error.kind(), ErrorKind::InvalidId);
    let stores: Vec<Arc<dyn CounterStore>> =
        (0..33).map(|_| -> Arc<dyn CounterStore> { Arc::new(Memory::new()) }).collect();
    assert_eq!(Tickets::over(stores, "photos").expect_err("too many").kind(), ErrorKind::InvalidId);
}
