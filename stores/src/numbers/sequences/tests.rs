use async_trait::async_trait;
use tokio::task::JoinSet;

use super::*;
use crate::RecordStore;
use crate::engines::memory::Memory;
use crate::store::{Version, Versioned, WriteOutcome};

const WRITE: Duration = Duration::from_millis(10);

/// A store whose writes take time, and are counted.
#[derive(Debug, Default)]
struct Slow {
    memory: Memory,
    writes: AtomicU64,
}

#[async_trait]
impl RecordStore for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    async fn read(&self, key: &str) -> Result<Option<Versioned>, Error> {
        self.memory.read(key).await
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, Error> {
        sleep(WRITE).await;
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.memory.write(key, value, expected).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Versioned)>, Error> {
        self.memory.list(prefix).await
    }
}

#[async_trait]
impl CounterStore for Slow {
    async fn add(&self, counter: &str, delta: u64, start: u64) -> Result<u64, Error> {
        self.memory.add(counter, delta, start).await
    }

    async fn lower(&self, counter: &str, end: u64, start: u64) -> Result<bool, Error> {
        self.memory.lower(counter, end, start).await
    }
}

/// Makes a sequence, and a session that has seen it.
async fn opened() -> (Arc<Slow>, Arc<Sequences>) {
    let store = Arc::new(Slow::default());
    let session = Arc::new(Sequences::new(Arc::<Slow>::clone(&store)));
    assert_eq!(session.next("orders").await, Ok(1));
    store.writes.store(0, Ordering::Relaxed);
    (store, session)
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_share_a_write_and_leave_no_gap() {
    let (store, session) = opened().await;
    let mut calls = JoinSet::new();
    for _ in 0..100 {
        let session = Arc::clone(&session);
        calls.spawn(async move { session.next("orders").await });
    }
    let values = calls.join_all().await.into_iter().collect::<Result<Vec<_>, _>>().expect("values");
    assert_eq!(values.iter().max(), Some(&101), "no gap");
    assert_eq!(values.iter().collect::<std::collections::BTreeSet<_>>().len(), 100, "no repeat");
    assert_eq!(store.writes.load(Ordering::Relaxed), 2, "one for the first call, and one for all that began meanwhile");
    for expected in 102..105 {
        assert_eq!(session.next("orders").await, Ok(expected), "alone a call takes one value");
    }
}

#[tokio::test(start_paused = true)]
async fn a_later_call_never_gets_what_a_call_that_was_given_up_has_left() {
    let (store, session) = opened().await;
    let [first, second, third] = [(); 3].map(|()| {
        let session = Arc::clone(&session);
        tokio::spawn(async move { session.next("orders").await })
    });
    assert_eq!(first.await.expect("no panic"), Ok(2));
    sleep(WRITE / 2).await;
    third.abort();
    assert_eq!(second.await.expect("no panic"), Ok(3), "of a block of 3 and 4");
    let other = Sequences::new(store);
    assert_eq!(other.next("orders").await, Ok(5));
    assert_eq!(session.next("orders").await, Ok(6), "4 would come after 5");
}
