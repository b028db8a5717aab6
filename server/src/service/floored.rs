//! The store as counters of numbers see it: the floor of a fence is read twice a second, and not for each new name.

use std::sync::Arc;
use std::time::Duration;

use snowmint_core::lease::Floor;
use snowmint_stores::{CounterStore, Error, Ranges, RecordStore, SegmentTable, Version, Versioned, WriteOutcome};
use tokio::sync::Mutex;
use tokio::time::Instant;

/// How long the floor is kept. [`fence::raise`](snowmint_stores::fence::raise) waits longer before it lists the names.
const MAX_AGE: Duration = Duration::from_millis(snowmint_stores::fence::NOTICE_MS);

/// A store whose floor is kept for a moment. Leases must not use it: a claim needs the floor of now.
#[derive(Debug)]
pub struct Floored {
    store: Arc<dyn CounterStore>,
    /// The time of the last request for the floor, and its answer. Concurrent callers wait for the answer.
    floor: Mutex<Option<(Instant, Option<Versioned>)>>,
}

impl Floored {
    pub fn over(store: Arc<dyn CounterStore>) -> Arc<dyn CounterStore> {
        Arc::new(Self { store, floor: Mutex::default() })
    }

    async fn floor(&self) -> Result<Option<Versioned>, Error> {
        let mut floor = self.floor.lock().await;
        if let Some((_, found)) = floor.as_ref().filter(|(asked, _)| asked.elapsed() < MAX_AGE) {
            return Ok(found.clone());
        }
        let asked = Instant::now();
        let found = self.store.read(Floor::KEY).await?;
        *floor = Some((asked, found.clone()));
        Ok(found)
    }
}

#[async_trait::async_trait]
impl RecordStore for Floored {
    fn name(&self) -> &str {
        self.store.name()
    }

    async fn read(&self, key: &str) -> Result<Option<Versioned>, Error> {
        if key == Floor::KEY { self.floor().await } else { self.store.read(key).await }
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, Error> {
        self.store.write(key, value, expected).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Versioned)>, Error> {
        self.store.list(prefix).await
    }

    async fn clock_ms(&self) -> Result<Option<i64>, Error> {
        self.store.clock_ms().await
    }
}

#[async_trait::async_trait]
impl CounterStore for Floored {
    async fn add(&self, counter: &str, delta: u64, start: u64) -> Result<u64, Error> {
        self.store.add(counter, delta, start).await
    }

    async fn lower(&self, counter: &str, end: u64, start: u64) -> Result<bool, Error> {
        self.store.lower(counter, end, start).await
    }

    fn segments(&self) -> Option<&dyn SegmentTable> {
        self.store.segments()
    }

    fn ranges(&self) -> Option<&dyn Ranges> {
        self.store.ranges()
    }
}
