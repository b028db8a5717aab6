//! Measures the cost of a number of a segment from memory, and the round trips to the store for a million numbers.
//!
//! `cargo run --release -p snowmint-benches --bin numbers [URL]...` also measures the stores of these URLs.

mod turns;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, UNIX_EPOCH};

use snowmint::stores::memory::Memory;
use snowmint::stores::{CounterStore, Segments, SegmentsOptions, Tag, Tickets, connect};
use snowmint::{Error, ErrorKind};
use turns::{Contender, compare};

const MILLION: u64 = 1_000_000;

async fn open(store: &Arc<dyn CounterStore>, tag: &str, step: u64) -> Result<Segments, Error> {
    Segments::create(&**store, tag, &Tag::new(1, step).description("a benchmark")).await?;
    Segments::open(store.clone(), tag, SegmentsOptions::default().max_wait(Duration::from_secs(60))).await
}

/// Until the number that is fetched in the background is there.
fn insist(mut take: impl FnMut() -> Result<u64, Error>) -> Result<u64, Error> {
    loop {
        match take() {
            Err(error) if error.kind() == ErrorKind::Exhausted => std::hint::spin_loop(),
            outcome => return outcome,
        }
    }
}

async fn round_trips(store: &Arc<dyn CounterStore>) -> Result<(), Error> {
    let unique = UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
    for step in [1000, 10_000, 100_000] {
        let numbers = open(store, &format!("bench-{unique}-{step}"), step).await?;
        let started = Instant::now();
        let mut taken = 0;
        let mut local = numbers.local();
        while taken < MILLION {
            local.next().await?;
            taken += 1;
        }
        let (trips, ms) = (numbers.fetches(), started.elapsed().as_millis());
        eprintln!("  step {step:>7}: {trips:>5} round trips and {ms:>6} ms for a million numbers, from the first on");
    }
    let tickets = Tickets::over(vec![store.clone()], &format!("bench-{unique}"))?;
    let started = Instant::now();
    for _ in 0..1000 {
        tickets.next().await?;
    }
    let us = started.elapsed().as_micros() / 1000;
    eprintln!("  tickets:       one round trip each, {us} us one after the other");
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store: Arc<dyn CounterStore> = Arc::new(Memory::new());
    let (shared, runs, threads_own) =
        (open(&store, "a", MILLION).await?, open(&store, "b", MILLION).await?, open(&store, "c", MILLION).await?);
    let mut local = threads_own.local();
    let (added, swapped) = (AtomicU64::new(0), AtomicU64::new(0));
    compare(
        "Rust: numbers of a segment of 1,000,000, fetched from memory in the background",
        &mut [
            Contender::new("floor: fetch_add", || Ok::<_, Error>(added.fetch_add(1, Ordering::Relaxed) + 1)),
            Contender::new("floor: load and compare-and-swap", || {
                let there = swapped.load(Ordering::Relaxed);
                swapped.compare_exchange(there, there + 1, Ordering::Relaxed, Ordering::Relaxed).map(|there| there + 1)
            }),
            Contender::new("Segments::try_next, shared", || insist(|| shared.try_next())),
            Contender::new("LocalNumbers::try_next, a thread's", || insist(|| local.try_next())),
        ],
    );
    compare(
        "Rust: runs of 1000 numbers of a segment, a number",
        &mut [Contender::batch("Segments::try_next_run", || {
            let mut left = 1000;
            let mut last = 0;
            while left > 0 {
                last = insist(|| {
                    runs.try_next_run(left).map(|run| {
                        left -= run.end - run.start;
                        run.end - 1
                    })
                })?;
            }
            Ok::<_, Error>(last)
        })],
    );
    eprintln!("memory");
    round_trips(&store).await?;
    for url in std::env::args().skip(1) {
        let store = connect(&url).await?;
        eprintln!("{}", store.name());
        round_trips(&store).await?;
    }
    Ok(())
}
