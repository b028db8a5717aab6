//! Scenes that the tests of several SQL stores share.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use snowmint::ErrorKind;
use snowmint::stores::{CounterStore, Error, SegmentTable, Tag, WriteOutcome, connect};
use snowmint_tests::engines::{Engine, Server, with_option};
use tokio::runtime::Runtime;
use tokio::task::{JoinSet, block_in_place};
use tokio::time::sleep;

use crate::crashes::rounds;

/// How long a step may take on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(50);

pub fn run<F: Future>(test: F) -> F::Output {
    Runtime::new().expect("a runtime").block_on(test)
}

pub async fn refused(url: &str) -> Error {
    connect(url).await.err().unwrap_or_else(|| panic!("{url} is refused"))
}

/// Checks an error's kind, and that its message contains all words.
pub fn assert_says(error: &Error, kind: ErrorKind, words: &[&str]) {
    assert_eq!(error.kind(), kind, "{error}");
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "{word} is not in: {message}");
    }
}

pub async fn is_unsafe_unless_allowed(url: &str, words: &[&str]) {
    assert_says(&refused(url).await, ErrorKind::UnsafeStore, words);
    let store = connect(&format!("{url}?allow_unsafe=true")).await.expect("it is allowed");
    assert!(store.add("allowed", 1, 0).await.is_ok());
}

pub fn assert_unique(numbers: &[impl std::hash::Hash + Eq + Copy + std::fmt::Debug]) {
    let mut seen = HashSet::new();
    for number in numbers {
        assert!(seen.insert(*number), "{number:?} came twice in {numbers:?}");
    }
}

/// Connects. With a short timeout a busy machine may need several attempts.
pub async fn connect_soon(url: &str) -> Arc<dyn CounterStore> {
    until_back(|| connect(url)).await
}

/// Calls a store until it has noticed that its server was restarted: a connection that has just answered is used again without a
/// test, and that call fails.
pub async fn until_noticed(store: &dyn CounterStore) {
    let begin = Instant::now();
    while store.clock_ms().await.is_err_and(|error| error.kind() == ErrorKind::StoreUnavailable) {
        assert!(begin.elapsed() < TIMEOUT, "the server stays away");
    }
}

/// Asks until there is an answer. Every error before must be `StoreUnavailable`.
pub async fn until_back<T, F: Future<Output = Result<T, Error>>>(mut ask: impl FnMut() -> F) -> T {
    let begin = Instant::now();
    loop {
        match ask().await {
            Ok(answer) => return answer,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{error}");
                assert!(begin.elapsed() < TIMEOUT, "it does not come back: {error}");
            }
        }
        sleep(Duration::from_millis(10)).await;
    }
}

/// As `until_back`, for a server whose settings were unsafe.
pub async fn until_safe<T, F: Future<Output = Result<T, Error>>>(mut ask: impl FnMut() -> F) -> T {
    let begin = Instant::now();
    loop {
        match ask().await {
            Ok(answer) => return answer,
            Err(error) => assert!(begin.elapsed() < TIMEOUT, "it does not become safe: {error}"),
        }
        sleep(Duration::from_millis(10)).await;
    }
}

/// Waits for a condition.
async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < TIMEOUT, "{what}");
        sleep(Duration::from_millis(2)).await;
    }
}

/// Checks that numbers of several clients never repeat, while the server is killed and restarted five times.
pub async fn numbers_never_repeat_over_kills<T, F>(server: &mut Server, take: impl Fn(usize) -> F)
where
    T: std::hash::Hash + Eq + Copy + std::fmt::Debug + Send + 'static,
    F: Future<Output = Result<Vec<T>, Error>> + Send + 'static,
{
    let mut all = Vec::new();
    for round in 0..5 {
        all.extend(until_back(|| take(0)).await);
        let mut takers = JoinSet::new();
        let taken = Arc::new(AtomicUsize::new(0));
        for client in 0..3 {
            let next: Vec<_> = (0..400).map(|_| take(client)).collect();
            let count = taken.clone();
            takers.spawn(async move {
                let mut taken = Vec::new();
                for numbers in next {
                    match numbers.await {
                        Ok(numbers) => taken.extend(numbers),
                        Err(error) => {
                            assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{error}");
                            break;
                        }
                    }
                    count.fetch_add(1, Ordering::Relaxed);
                }
                taken
            });
        }
        until("the clients get nothing", || taken.load(Ordering::Relaxed) > 4 + round * 4).await;
        server.kill();
        all.extend(takers.join_all().await.concat());
        server.restart();
    }
    assert!(all.len() > 20, "{} numbers", all.len());
    assert_unique(&all);
}

pub async fn works_again_after_a_kill(engine: Engine) {
    let mut server = Server::start(engine);
    let store = connect(&format!("{}?timeout_ms=60000", server.url())).await.expect("it connects");
    assert_eq!(store.add("kills", 1, 0).await, Ok(1));
    // No call runs while the server is stopped.
    server.kill();
    server.restart();
    until_noticed(&*store).await;
    assert_eq!(store.add("kills", 1, 0).await, Ok(2));
    server.kill();
    let error = store.add("kills", 1, 0).await.expect_err("it is dead");
    assert_says(&error, ErrorKind::StoreUnavailable, &[store.name()]);
    let begin = Instant::now();
    loop {
        let error = store.add("kills", 1, 0).await.expect_err("it is dead");
        assert_eq!(error.kind(), ErrorKind::StoreUnavailable);
        assert!(begin.elapsed() < TIMEOUT, "it fails at once, and not after the timeout");
        if error.to_string().contains("next attempt to connect") {
            break;
        }
    }
    server.restart();
    assert_eq!(until_back(|| store.add("kills", 1, 0)).await, 3);
}

/// Calls end within the timeout, and a late answer is never taken for the answer to another call.
pub async fn a_paused_server_mixes_up_no_answers(engine: Engine) {
    const CALLERS: u8 = 20;
    let server = Server::start(engine);
    let patient = connect(&server.url()).await.expect("it connects");
    for key in 0..CALLERS {
        assert!(matches!(patient.write(&format!("stops/{key}"), &[key; 100], 0).await, Ok(WriteOutcome::Version(_))));
    }
    let store = connect_soon(&format!("{}?timeout_ms=400&connections=3", server.url())).await;
    let mut numbers = Vec::new();
    for _ in 0..3 {
        let mut calls = JoinSet::new();
        let (over, sums) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        // Whether each caller's last answer was an error.
        let failing: Arc<Vec<AtomicBool>> = Arc::new((0..CALLERS).map(|_| AtomicBool::new(false)).collect());
        for key in 0..CALLERS {
            let (store, over, count, failing) = (store.clone(), over.clone(), sums.clone(), failing.clone());
            calls.spawn(async move {
                let mut sums = Vec::new();
                while !over.load(Ordering::Relaxed) {
                    match store.read(&format!("stops/{key}")).await {
                        Ok(found) => assert_eq!(found.expect("a record").value, [key; 100]),
                        Err(error) => assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{error}"),
                    }
                    let sum = store.add("stops", 1, 0).await;
                    failing[usize::from(key)].store(sum.is_err(), Ordering::Relaxed);
                    if let Ok(sum) = sum {
                        sums.push(sum);
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                    sleep(Duration::from_millis(1)).await;
                }
                sums
            });
        }
        until("there are no sums", || sums.load(Ordering::Relaxed) >= 20).await;
        server.pause(true);
        until("a call does not end", || failing.iter().all(|failing| failing.load(Ordering::Relaxed))).await;
        server.pause(false);
        let before = sums.load(Ordering::Relaxed);
        until("it does not go on", || sums.load(Ordering::Relaxed) >= before + 20).await;
        over.store(true, Ordering::Relaxed);
        numbers.extend(calls.join_all().await.concat());
    }
    assert_unique(&numbers);

    server.pause(true);
    let error = store.clock_ms().await.expect_err("it is stopped");
    assert_says(&error, ErrorKind::StoreUnavailable, &["400 ms"]);
    let error = refused(&format!("{}?timeout_ms=400", server.url())).await;
    assert_says(&error, ErrorKind::StoreUnavailable, &["400 ms"]);
    server.pause(false);
}

/// Uses one connection, so that an answer left behind by a dropped call would reach the next call.
pub async fn dropped_calls_leave_no_answer_behind(url: &str) {
    let separator = if url.contains('?') { '&' } else { '?' };
    let store = connect(&format!("{url}{separator}connections=1")).await.expect("it connects");
    for key in 0..10_u8 {
        assert!(matches!(store.write(&format!("drops/{key}"), &[key; 100], 0).await, Ok(WriteOutcome::Version(_))));
    }
    let mut sums = Vec::new();
    for round in 0..60_u64 {
        let (dropped, kept) = (round % 10, (round + 1) % 10);
        let call = tokio::spawn({
            let store = store.clone();
            async move { (store.read(&format!("drops/{dropped}")).await, store.add("drops", 1, 0).await) }
        });
        sleep(Duration::from_micros(round * 20)).await;
        call.abort();
        let found = store.read(&format!("drops/{kept}")).await.expect("an answer").expect("a record");
        assert_eq!(u64::from(found.value[0]), kept);
        sums.push(store.add("drops", 1, 0).await.expect("a sum"));
    }
    assert_unique(&sums);
}

pub async fn eight_make_the_tables_at_once(url: &str) {
    let mut connects = JoinSet::new();
    for _ in 0..8 {
        let url = url.to_owned();
        connects.spawn(async move { connect(&url).await.expect("it connects").add("all", 1, 0).await.expect("a sum") });
    }
    let mut sums = connects.join_all().await;
    sums.sort_unstable();
    assert_eq!(sums, [1, 2, 3, 4, 5, 6, 7, 8]);
}

/// A server without TLS answers, but not to a client that means to use TLS and has not said so in the words of our client.
pub async fn options_of_other_drivers_are_refused(url: &str, words: &[(&str, &str)]) {
    drop(connect(url).await.expect("the server answers"));
    for (option, right) in words {
        let error = refused(&with_option(url, option)).await;
        assert_says(&error, ErrorKind::InvalidStore, &["there is no option", right]);
    }
}

pub async fn no_message_shows_a_password(scheme: &str) {
    for url in [
        format!("{scheme}://me:hushhush@127.0.0.1:1/db"),
        format!("{scheme}://me:hushhush@127.0.0.1:bad/db"),
        format!("{scheme}://me:hushhush@/%"),
        format!("{scheme}://me:hushhush@127.0.0.1:1/db?sslmode=wrong"),
        format!("{scheme}:me:hushhush@127.0.0.1"),
        format!("{scheme}://me:hushhush?x@127.0.0.1/db"),
        format!("{scheme}://me:hushhush/x@127.0.0.1/db"),
        format!("{scheme}://me:hushhush#x@127.0.0.1/db"),
        format!("{scheme}://me:hushhush@x@127.0.0.1:1/db"),
    ] {
        let error = refused(&url).await;
        let is_away = url.ends_with("@127.0.0.1:1/db");
        assert_eq!(
            error.kind(),
            if is_away { ErrorKind::StoreUnavailable } else { ErrorKind::InvalidStore },
            "{error}"
        );
        assert!(!error.to_string().contains("hushhush"), "{error}");
    }
}

pub fn table(store: &Arc<dyn CounterStore>) -> &dyn SegmentTable {
    store.segments().expect("it has a table of segments")
}

fn tag(next: u64, step: u64, description: &str) -> Tag {
    Tag::new(next, step).description(description)
}

pub async fn segments_use_leafs_table(store: Arc<dyn CounterStore>) {
    let table = table(&store);
    assert_eq!(table.tag("order").await, Ok(None));
    assert_eq!(table.fetch("order", 10).await, Ok(None));
    assert_eq!(table.lower("order", 1, 0).await, Ok(false));
    let order = tag(1, 2000, "orders; ' \" ü %_");
    assert_eq!(table.create("order", &order).await, Ok(true));
    assert_eq!(table.create("order", &tag(5, 5, "")).await, Ok(false));
    assert_eq!(table.tag("order").await, Ok(Some(order)));
    assert_eq!(table.fetch("order", 2000).await, Ok(Some(2001)));
    assert_eq!(table.fetch("order", 1).await, Ok(Some(2002)));
    assert_eq!(table.lower("order", 2001, 1500).await, Ok(false));
    assert_eq!(table.lower("order", 2002, 1500).await, Ok(true));
    assert_eq!(table.fetch("order", 0).await, Ok(Some(1500)));

    let last = u64::try_from(i64::MAX).expect("positive");
    assert_eq!(table.create("full", &tag(last - 5, 1, "")).await, Ok(true));
    assert_eq!(table.fetch("full", 6).await.expect_err("past the end").kind(), ErrorKind::Exhausted);
    assert_eq!(table.fetch("full", u64::MAX).await.expect_err("past the end").kind(), ErrorKind::Exhausted);
    assert_eq!(table.fetch("full", 5).await, Ok(Some(last)));
    assert_eq!(table.fetch("full", 1).await.expect_err("past the end").kind(), ErrorKind::Exhausted);
    for (next, step) in [(last + 1, 1), (1, 1 << 31)] {
        let error = table.create("beyond", &tag(next, step, "")).await.expect_err("beyond the columns");
        assert_says(&error, ErrorKind::StoreUnavailable, &["at most"]);
    }
    assert!(table.create(&"x".repeat(129), &tag(1, 1, "")).await.is_err() || store.name().starts_with("SQLite"));
    let tags = table.tags().await.expect("tags");
    assert_eq!(tags.iter().filter(|tag| ["order", "full"].contains(&tag.as_str())).count(), 2, "{tags:?}");

    let mut fetches = JoinSet::new();
    for _ in 0..6 {
        let store = store.clone();
        fetches.spawn(async move {
            let mut ends = Vec::new();
            for _ in 0..20 {
                ends.push(store.segments().expect("a table").fetch("order", 7).await.expect("an end").expect("a tag"));
            }
            ends
        });
    }
    let mut ends = fetches.join_all().await.concat();
    ends.sort_unstable();
    assert_eq!(ends, (1..=120).map(|count| 1500 + 7 * count).collect::<Vec<u64>>());
}

/// Many callers share the only connection. Each gets the answer to its own request, also beside one that is refused.
pub async fn callers_share_a_connection(url: &str) {
    const CALLERS: u64 = 300;
    // A busy machine takes its time for this many calls over one connection.
    let store = connect(&with_option(url, "connections=1&timeout_ms=60000")).await.expect("it connects");
    assert_eq!(store.add("crowd/full", 0, i64::MAX as u64).await, Ok(i64::MAX as u64));
    let mut calls = JoinSet::new();
    for caller in 0..CALLERS {
        let store = Arc::clone(&store);
        calls.spawn(async move {
            let (own, common) = (format!("crowd/{caller}"), format!("crowd/common-{}", caller % 3));
            let value = caller.to_string().into_bytes();
            let won = store.write(&common, &value, 0).await.expect("an answer") != WriteOutcome::Conflict;
            if caller % 50 == 0 {
                assert_says(&store.add("crowd/full", 1, 0).await.expect_err("full"), ErrorKind::Exhausted, &["full"]);
            }
            assert_eq!(store.add(&own, caller, 1000).await, Ok(1000 + caller));
            let Ok(WriteOutcome::Version(version)) = store.write(&own, &value, 0).await else { panic!("{own} is new") };
            let found = store.read(&own).await.expect("an answer").expect("a record");
            assert_eq!((found.value, found.version), (value, version));
            assert_eq!(store.lower(&own, 1000 + caller, 7).await, Ok(true));
            (won, store.add("crowd/sum", 1, 0).await.expect("a sum"))
        });
    }
    let (mut won, mut sums) = (0, Vec::new());
    while let Some(call) = calls.join_next().await {
        let (first, sum) = call.expect("no panic");
        won += u64::from(first);
        sums.push(sum);
    }
    sums.sort_unstable();
    assert_eq!((won, sums), (3, (1..=CALLERS).collect()));
}

/// Callers of many names share writes while the server is killed. No number comes twice, and the server loses none.
pub async fn names_that_share_writes_lose_no_number_over_kills(engine: Engine) {
    const CALLERS: usize = 64;
    const NAMES: usize = 200;
    let mut server = Server::start(engine);
    let store = connect(&with_option(&server.url(), "connections=4&timeout_ms=60000")).await.expect("it connects");
    let (over, given) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let (store, over, given) = (Arc::clone(&store), Arc::clone(&over), Arc::clone(&given));
        callers.spawn(async move {
            let mut took = Vec::new();
            for name in (caller..).step_by(7).map(|name| name % NAMES).take_while(|_| !over.load(Ordering::Relaxed)) {
                match store.add(&format!("names/{name}"), 1, 0).await {
                    Ok(number) => {
                        took.push((name, number));
                        given.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::StoreUnavailable, "{error}");
                        sleep(Duration::from_millis(10)).await;
                    }
                }
            }
            took
        });
    }
    for round in 0..=rounds() {
        let (before, begun) = (given.load(Ordering::Relaxed), Instant::now());
        while given.load(Ordering::Relaxed) < before + 500 {
            assert!(begun.elapsed() < TIMEOUT, "callers go on after kill {round}");
            sleep(Duration::from_millis(5)).await;
        }
        if round < rounds() {
            block_in_place(|| {
                server.kill();
                server.restart();
            });
        }
    }
    over.store(true, Ordering::Relaxed);
    let mut took = callers.join_all().await.concat();
    let count = took.len();
    took.sort_unstable();
    took.dedup();
    assert_eq!(took.len(), count, "no number twice");
    for same in took.chunk_by(|(a, _), (b, _)| a == b) {
        let [.., (name, highest)] = same else { continue };
        assert!(store.add(&format!("names/{name}"), 0, 0).await.expect("a sum") >= *highest, "{name}");
    }
}
