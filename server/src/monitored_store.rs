//! The store, with metrics of its operations. The log shows when the store stops answering and when it answers again.
//!
//! Clients learn that the store does not answer. The reason and the address of the store are in the log only.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use snowmint_core::ErrorKind;
use snowmint_stores::host::lock;
use snowmint_stores::{CounterStore, Error, Ranges, RecordStore, SegmentTable, Tag, Version, Versioned, WriteOutcome};
use tokio::time::{Instant, sleep, timeout};

use crate::metrics::StoreCounts;
use crate::range_log::RangeLog;

/// The time without an operation after which the store is probed.
const PROBE_AFTER: Duration = Duration::from_secs(5);
/// The pause between probes while the store is unavailable. Also the greatest age of an answer of `/readyz`.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);
/// The key of a probe. No record has this key.
const PROBE_KEY: &str = "readyz/probe";

/// A store, and whether it answers.
#[derive(Debug)]
pub struct MonitoredStore {
    store: Arc<dyn CounterStore>,
    /// The engine, without its address.
    engine: String,
    counts: StoreCounts,
    /// The log of ranges.
    ranges: Option<Arc<RangeLog>>,
    /// How long a probe waits.
    patience: Duration,
    state: Mutex<State>,
    /// Held while the store is probed.
    probing: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct State {
    /// When the last operation ended.
    heard: Instant,
    /// When the store last answered.
    answered: Instant,
    away: Option<Away>,
}

/// A store that does not answer.
#[derive(Debug)]
struct Away {
    since: Instant,
    /// Whether a write failed: then only a write proves that the store is back.
    writing: bool,
    error: Error,
}

impl MonitoredStore {
    /// Watches a store that was just connected. Call this within a runtime of tokio.
    pub fn over(
        store: Arc<dyn CounterStore>,
        counts: StoreCounts,
        ranges: Option<Arc<RangeLog>>,
        max_wait_ms: u64,
    ) -> Arc<Self> {
        let name = store.name();
        let engine = kind(name).to_owned();
        counts.up.set(1);
        let monitored = Arc::new(Self {
            store,
            engine,
            counts,
            ranges,
            patience: Duration::from_millis(max_wait_ms),
            state: Mutex::new(State { heard: Instant::now(), answered: Instant::now(), away: None }),
            probing: tokio::sync::Mutex::default(),
        });
        let probed = Arc::downgrade(&monitored);
        drop(tokio::spawn(async move {
            loop {
                sleep(PROBE_INTERVAL).await;
                let Some(monitored) = probed.upgrade() else { return };
                let (away, heard) = {
                    let state = monitored.state();
                    (state.away.is_some(), state.heard)
                };
                if away || heard.elapsed() >= PROBE_AFTER {
                    monitored.probe().await;
                }
            }
        }));
        monitored
    }

    /// Probes the store, unless an operation ended a moment ago.
    ///
    /// # Errors
    /// `StoreUnavailable`, `InvalidStore` or `UnsafeStore`, if the store does not answer.
    pub async fn ready(&self) -> Result<(), Error> {
        let _probing = self.probing.lock().await;
        if self.state().heard.elapsed() >= PROBE_INTERVAL {
            self.probe().await;
        }
        self.state().away.as_ref().map_or(Ok(()), |away| Err(away.error.clone()))
    }

    /// Sends a conditional write whose condition never holds. The store must be ready for writes to answer, but writes
    /// nothing.
    async fn probe(&self) {
        if timeout(self.patience, self.write(PROBE_KEY, &[], 1)).await.is_err() {
            let ms = self.patience.as_millis();
            let error = Error::unavailable(self.store.name(), format_args!("no answer within {ms} ms"));
            drop(self.failed("write", true, &error));
        }
    }

    /// Returns whether the store answered since a time, and is available now.
    pub fn answers_since(&self, time: Instant) -> bool {
        let state = self.state();
        state.away.is_none() && state.answered >= time
    }

    /// Returns the error of the range log, while it cannot be written.
    pub fn refusal(&self) -> Option<Error> {
        self.ranges.as_ref()?.refusal()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Runs an operation and notes its end. An operation that its caller cancels is not noted.
    async fn watch<T>(
        &self,
        operation: &'static str,
        writing: bool,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        use ErrorKind::{InvalidStore, StoreUnavailable, UnsafeStore};
        let begun = Instant::now();
        let done = work.await;
        self.counts.took(operation, begun.elapsed().as_secs_f64());
        match done {
            Err(error) if matches!(error.kind(), StoreUnavailable | InvalidStore | UnsafeStore) => {
                Err(self.failed(operation, writing, &error))
            }
            answered => {
                self.answered(writing);
                answered
            }
        }
    }

    fn answered(&self, writing: bool) {
        let mut state = self.state();
        state.answered = Instant::now();
        state.heard = state.answered;
        if let Some(away) = state.away.take_if(|away| writing || !away.writing) {
            self.counts.up.set(1);
            let seconds = away.since.elapsed().as_secs_f64();
            tracing::info!(store = self.store.name(), away_s = seconds, "the store answers again");
        }
    }

    /// Notes a failure, and returns the error for clients.
    fn failed(&self, operation: &'static str, writing: bool, error: &Error) -> Error {
        self.counts.failed(operation, error.code());
        self.counts.up.set(0);
        let why = match error.kind() {
            ErrorKind::UnsafeStore => {
                "a setting of the store could lose numbers in a crash, so the service refuses it; the log names the setting"
            }
            ErrorKind::InvalidStore => "the store refuses the service as it is configured; the log has the reason",
            _ => "the store does not answer; the log of the service has the reason",
        };
        let public = Error::new(error.kind(), format!("{}: {why}", self.engine));
        let now = Instant::now();
        let mut state = self.state();
        state.heard = now;
        match &mut state.away {
            Some(away) => {
                away.writing |= writing;
                away.error = public.clone();
                tracing::debug!(operation, %error, "the store does not answer yet");
            }
            away @ None => {
                *away = Some(Away { since: now, writing, error: public.clone() });
                tracing::warn!(operation, %error, "the store does not answer");
            }
        }
        public
    }
}

#[async_trait::async_trait]
impl RecordStore for MonitoredStore {
    fn name(&self) -> &str {
        &self.engine
    }

    async fn read(&self, key: &str) -> Result<Option<Versioned>, Error> {
        self.watch("read", false, self.store.read(key)).await
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, Error> {
        self.watch("write", true, self.store.write(key, value, expected)).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Versioned)>, Error> {
        self.watch("list", false, self.store.list(prefix)).await
    }

    async fn list_below(&self, prefix: &str) -> Result<Option<Vec<(String, Versioned)>>, Error> {
        self.watch("list", false, self.store.list_below(prefix)).await
    }

    async fn clock_ms(&self) -> Result<Option<i64>, Error> {
        self.watch("clock", false, self.store.clock_ms()).await
    }

    async fn refuse_standby(&self) -> Result<(), Error> {
        self.store.refuse_standby().await.map_err(|error| match error.kind() {
            // The store answers, so it is not away.
            ErrorKind::UnsafeStore => {
                tracing::warn!(%error, "a lease was refused");
                let why = "a failover could lose confirmed writes, so no lease is granted; the log names the cures";
                Error::new(ErrorKind::UnsafeStore, format!("{}: {why}", self.engine))
            }
            _ => self.failed("settings", false, &error),
        })
    }

    fn standby_risk(&self) -> Option<Error> {
        self.store.standby_risk()
    }

    async fn close(&self) {
        self.store.close().await;
    }
}

#[async_trait::async_trait]
impl CounterStore for MonitoredStore {
    async fn add(&self, counter: &str, delta: u64, start: u64) -> Result<u64, Error> {
        self.watch("add", true, self.store.add(counter, delta, start)).await
    }

    async fn lower(&self, counter: &str, end: u64, start: u64) -> Result<bool, Error> {
        self.watch("lower", true, self.store.lower(counter, end, start)).await
    }

    fn segments(&self) -> Option<&dyn SegmentTable> {
        self.store.segments().map(|_| self as &dyn SegmentTable)
    }

    fn ranges(&self) -> Option<&dyn Ranges> {
        self.ranges.as_deref().map(|ranges| ranges as &dyn Ranges)
    }
}

impl MonitoredStore {
    /// Returns the segment table of the store.
    fn table(&self) -> Result<&dyn SegmentTable, Error> {
        self.store.segments().ok_or_else(|| Error::unavailable(&self.engine, "there is no table of segments"))
    }
}

#[async_trait::async_trait]
impl SegmentTable for MonitoredStore {
    async fn tag(&self, tag: &str) -> Result<Option<Tag>, Error> {
        self.watch("tag", false, self.table()?.tag(tag)).await
    }

    async fn create(&self, tag: &str, row: &Tag) -> Result<bool, Error> {
        self.watch("create", true, self.table()?.create(tag, row)).await
    }

    async fn tags(&self) -> Result<Vec<String>, Error> {
        self.watch("tags", false, self.table()?.tags()).await
    }

    async fn fetch(&self, tag: &str, amount: u64) -> Result<Option<u64>, Error> {
        self.watch("fetch", true, self.table()?.fetch(tag, amount)).await
    }

    async fn lower(&self, tag: &str, end: u64, start: u64) -> Result<bool, Error> {
        self.watch("lower", true, self.table()?.lower(tag, end, start)).await
    }
}

/// Returns the name of a store without its path or host, which are for operators only.
pub fn kind(name: &str) -> &str {
    [" at ", " in "].iter().fold(name, |kind, word| kind.split(word).next().unwrap_or(kind))
}

#[cfg(test)]
mod tests {
    use super::kind;

    #[test]
    fn a_store_is_named_without_path_or_host() {
        let names =
            ["SQLite at /srv/a at b.db", "Redis at h:1", "files in /srv/ids", "PostgreSQL at /run in x", "memory"];
        assert_eq!(names.map(kind), ["SQLite", "Redis", "files", "PostgreSQL", "memory"]);
    }
}
