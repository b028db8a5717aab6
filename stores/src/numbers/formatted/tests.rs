use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use async_trait::async_trait;
use snowmint_core::ErrorKind;
use snowmint_core::formatted::{Overflow, Period, Zone};
use snowmint_core::time::parse_rfc3339;
use tokio::task::JoinSet;

use super::*;
use crate::engines::memory::Memory;
use crate::fence::{Fence, raise};
use crate::store::{RecordStore, Version, Versioned, WriteOutcome};

/// A store with a clock, which counts the reads of it.
#[derive(Debug)]
struct Clocked {
    memory: Memory,
    now_ms: AtomicI64,
    reads: AtomicU64,
}

impl Clocked {
    fn at(time: &str) -> Arc<Self> {
        Arc::new(Self { memory: Memory::new(), now_ms: ms(time).into(), reads: 0.into() })
    }
}

#[async_trait]
impl RecordStore for Clocked {
    fn name(&self) -> &'static str {
        "clocked"
    }

    async fn read(&self, key: &str) -> Result<Option<Versioned>, Error> {
        self.memory.read(key).await
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, Error> {
        self.memory.write(key, value, expected).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Versioned)>, Error> {
        self.memory.list(prefix).await
    }

    async fn clock_ms(&self) -> Result<Option<i64>, Error> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        Ok(Some(self.now_ms.load(Ordering::Relaxed)))
    }
}

#[async_trait]
impl CounterStore for Clocked {
    async fn add(&self, counter: &str, delta: u64, start: u64) -> Result<u64, Error> {
        self.memory.add(counter, delta, start).await
    }

    async fn lower(&self, counter: &str, end: u64, start: u64) -> Result<bool, Error> {
        self.memory.lower(counter, end, start).await
    }
}

fn ms(time: &str) -> i64 {
    parse_rfc3339(time.as_bytes()).expect("a time")
}

fn pattern(text: &str, period: Period, overflow: Overflow) -> Pattern {
    Pattern::new(text, period, Zone::UTC, overflow).expect("a pattern")
}

fn yearly() -> Pattern {
    pattern("INV-{yyyy}-{000}", Period::Year, Overflow::Error)
}

/// A server, and the clock that its machine shows.
fn server(store: &Arc<impl CounterStore>, pattern: Pattern, time: &str) -> (Formatted, Arc<AtomicI64>) {
    let clock = Arc::new(AtomicI64::new(ms(time)));
    let shown = Arc::clone(&clock);
    let store = Arc::<_>::clone(store) as Arc<dyn CounterStore>;
    let formatted = Formatted::new(store, "invoices", pattern).expect("a name");
    (formatted.with_clock(move || shown.load(Ordering::Relaxed)), clock)
}

async fn text(formatted: &Formatted) -> String {
    formatted.next().await.expect("a number").text
}

#[tokio::test]
async fn servers_with_different_clocks_repeat_nothing_at_midnight() {
    let store = Arc::new(Memory::new());
    let (behind, clock_behind) = server(&store, yearly(), "2026-12-31T23:59:58Z");
    let (right, clock) = server(&store, yearly(), "2026-12-31T23:59:59Z");
    assert_eq!([text(&right).await, text(&behind).await], ["INV-2026-001", "INV-2026-002"]);
    clock.store(ms("2027-01-01T00:00:00Z"), Ordering::Relaxed);
    clock_behind.store(ms("2026-12-31T23:59:59Z"), Ordering::Relaxed);
    assert_eq!([text(&right).await, text(&behind).await], ["INV-2027-001", "INV-2026-003"]);
    clock_behind.store(ms("2027-01-01T00:00:00Z"), Ordering::Relaxed);
    assert_eq!([text(&behind).await, text(&right).await], ["INV-2027-002", "INV-2027-003"]);
    // A clock that is set back continues the old year.
    clock.store(ms("2026-12-31T23:59:59Z"), Ordering::Relaxed);
    let number = right.next().await.expect("a number");
    assert_eq!((number.text.as_str(), number.number, number.period.as_str()), ("INV-2026-004", 4, "2026"));
}

#[tokio::test]
async fn a_clock_a_year_ahead_is_bounded_by_the_stores_clock() {
    let store = Clocked::at("2026-11-27T12:00:00Z");
    let (ahead, clock) = server(&store, yearly(), "2027-11-27T12:00:00Z");
    for wanted in ["INV-2026-001", "INV-2026-002"] {
        assert_eq!(text(&ahead).await, wanted);
    }
    assert_eq!(store.reads.load(Ordering::Relaxed), 1, "the clock is read once a minute");
    clock.store(ms("2025-11-27T12:00:00Z"), Ordering::Relaxed);
    assert_eq!(text(&ahead).await, "INV-2025-001", "a clock behind opens no period early");
}

#[tokio::test]
async fn a_pattern_without_a_date_reads_no_clock() {
    let store = Clocked::at("2026-11-27T12:00:00Z");
    let timeless = pattern("A-{000}", Period::None, Overflow::Error);
    let formatted = Formatted::new(Arc::<Clocked>::clone(&store), "articles", timeless).expect("a name");
    let formatted = formatted.with_clock(|| panic!("nobody needs the time"));
    assert_eq!([text(&formatted).await, text(&formatted).await], ["A-001", "A-002"]);
    assert_eq!(store.reads.load(Ordering::Relaxed), 0);
    assert_eq!(Sequences::new(store).next("articles").await, Ok(3), "the sequence has the name itself");
}

#[tokio::test]
async fn a_number_of_too_many_digits_is_an_error() {
    let store = Arc::new(Memory::new());
    let ten = pattern("{yyyy}-{0}", Period::Year, Overflow::Error);
    let (strict, clock) = server(&store, ten, "2026-11-27T12:00:00Z");
    for number in 1..=9 {
        assert_eq!(text(&strict).await, format!("2026-{number}"));
    }
    for _ in 0..2 {
        let error = strict.next().await.expect_err("two digits");
        assert_eq!((error.kind(), error.retry_after_ms()), (ErrorKind::Exhausted, None));
    }
    let (grows, _) = server(&store, pattern("{yyyy}-{0}", Period::Year, Overflow::Grow), "2026-11-27T12:00:00Z");
    assert_eq!(text(&grows).await, "2026-12", "each refused call has taken a number");
    clock.store(ms("2027-01-01T00:00:00Z"), Ordering::Relaxed);
    assert_eq!(text(&strict).await, "2027-1");
}

#[tokio::test]
async fn a_fence_skips_numbers_of_old_and_of_new_periods() {
    let store = Arc::new(Memory::new());
    let (before, _) = server(&store, yearly(), "2026-12-31T23:59:59Z");
    assert_eq!(text(&before).await, "INV-2026-001");
    raise(&*store, &Fence::skipping(100)).await.expect("a fence");
    let (after, clock) = server(&store, yearly(), "2026-12-31T23:59:59Z");
    assert_eq!(text(&after).await, "INV-2026-102");
    clock.store(ms("2027-01-01T00:00:00Z"), Ordering::Relaxed);
    assert_eq!(text(&after).await, "INV-2027-101", "servers may have given numbers of 2027 after the backup");
}

#[tokio::test]
async fn two_periods_at_once_have_no_gaps_and_no_repeats() {
    let store = Arc::new(Memory::new());
    let daily = pattern("{yyyy}{MM}{dd}-{000}", Period::Day, Overflow::Error);
    let mut calls = JoinSet::new();
    for time in ["2026-11-27T23:59:59Z", "2026-11-28T00:00:00Z"] {
        for _ in 0..2 {
            let formatted = Arc::new(server(&store, daily, time).0);
            for _ in 0..50 {
                let formatted = Arc::clone(&formatted);
                calls.spawn(async move { text(&formatted).await });
            }
        }
    }
    let mut texts = calls.join_all().await;
    texts.sort();
    let day = |day: u32| (1..=100).map(move |number| format!("202611{day}-{number:03}"));
    assert_eq!(texts, day(27).chain(day(28)).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_definition_in_the_store_stays_as_it_is() {
    let store: Arc<dyn CounterStore> = Arc::new(Memory::new());
    let first = Definition::new(yearly(), Some(7), Some(3)).expect("a definition");
    let other = Definition::new(yearly(), Some(7), Some(4)).expect("a definition");
    assert!(Formatted::open(Arc::clone(&store), "invoices").await.expect("an answer").is_none());
    for (definition, is_kept) in [(&first, true), (&first, true), (&other, false)] {
        assert_eq!(Formatted::define(&*store, "invoices", definition).await, Ok(is_kept));
    }
    let opened = Formatted::open(Arc::clone(&store), "invoices").await.expect("an answer").expect("a definition");
    let opened = opened.with_clock(|| ms("2026-11-27T12:00:00Z"));
    assert_eq!([text(&opened).await, text(&opened).await], ["INV-2026-007", "INV-2026-010"]);
    for name in ["a\n", &"a".repeat(124)] {
        let refused = Formatted::define(&*store, name, &first).await.expect_err("no name");
        assert_eq!(refused.kind(), ErrorKind::InvalidText);
    }
    store.write("formatted/newer", b"formatted 2\n", 0).await.expect("a record");
    let error = Formatted::open(store, "newer").await.expect_err("another version");
    assert_eq!(error.kind(), ErrorKind::StoreUnavailable);
}

#[tokio::test]
async fn a_sequence_that_cycles_is_refused() {
    let store: Arc<dyn CounterStore> = Arc::new(Memory::new());
    let cycle = Options { max: Some(3), cycle: true, ..Options::DEFAULT };
    let articles = || Formatted::new(Arc::clone(&store), "articles", pattern("{0}", Period::None, Overflow::Error));
    let refused = articles().expect("a name").with_options(&cycle).expect_err("a cycle");
    assert_eq!(refused.kind(), ErrorKind::InvalidId);
    Sequences::new(Arc::clone(&store)).create("articles", &cycle).await.expect("a sequence");
    assert_eq!(articles().expect("a name").next().await.expect_err("a cycle").kind(), ErrorKind::InvalidId);
}
