//! Segments: numbers from memory, fetched ahead in the background.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use snowmint_core::segment::{Bounds, LAST, Segment};
use snowmint_core::store::{Ask, Next, Reply};
use snowmint_core::{ErrorKind, Integer};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::source::{Counter, Source, Table, unknown};
use super::{MAX_WAIT_MS, definition, runtime};
use crate::error::Error;
use crate::process::fork::{Cell, Fetched};
use crate::process::forked;
use crate::process::lock;
use crate::process::monotonic::monotonic_ms;
use crate::store::floor::skipped;
use crate::store::key::{key, name, refuse_new};
use crate::store::{Store, Tag};

/// The time between two reads of the configured step, in ms, as in Leaf.
const REREAD_MS: u64 = 60_000;
/// The numbers that a [`LocalNumbers`] takes at once.
const RUN: u64 = 256;

/// Options of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentsOptions {
    /// The longest wait of a call while memory is empty, in ms: 1000.
    pub max_wait_ms: u64,
}

impl Default for SegmentsOptions {
    fn default() -> Self {
        Self { max_wait_ms: MAX_WAIT_MS }
    }
}

/// The numbers of one tag, from memory. Clones share them.
///
/// Memory holds a range of a counter in a store. The next range is fetched when a tenth of the present one is used. On an SQL
/// store the tag is a row of Leaf's table `leaf_alloc`, which servers of Leaf may use at the same time.
///
/// | call | result | waits |
/// | --- | --- | --- |
/// | [`try_next`](Self::try_next) | one number | never |
/// | [`next`](Self::next) | one number | for the store, at most `max_wait_ms` |
/// | [`next_run`](Self::next_run) | 1 to `count` consecutive numbers | as `next` |
/// | [`next_block`](Self::next_block) | `count` consecutive numbers | as `next` |
/// | [`local`](Self::local) | numbers for one thread, in runs that save atomic operations | never |
///
/// Numbers are unique, and increase within a thread. Unused numbers of memory are skipped, unless [`close`](Self::close)
/// gives them back. During an outage of the store memory serves until it is empty.
#[derive(Clone, Debug)]
pub struct Segments(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    fetched: Cell<Fetched>,
    machine: Mutex<Segment>,
    source: Box<dyn Source>,
    max_wait_ms: u64,
    /// The runtime of the fetches.
    runtime: Handle,
    /// Notified after each fetch.
    news: Notify,
    /// The error of the last fetch, if it failed.
    failed: Mutex<Option<Error>>,
    reread_ms: AtomicU64,
    fetches: AtomicU64,
}

impl Segments {
    /// Makes a tag with a first number and a step. Returns `false` if the tag exists, and leaves it unchanged.
    ///
    /// After a fence the first number is higher by the numbers that the fence skips.
    ///
    /// # Errors
    /// `InvalidText` for a tag that [`names`](snowmint_core::names) does not allow; `InvalidId` for a first number beyond
    /// 2^63-2 and for a step that is not 1 to 2^31-1; `StoreUnavailable`.
    pub async fn create(store: &dyn Store, tag: &str, row: &Tag) -> Result<bool, Error> {
        let key = key("segments/", tag)?;
        refuse_new(&key)?;
        Segment::new(Integer::from(row.step), Bounds::Below)?;
        if row.next >= LAST {
            let next = row.next;
            return Err(Error::told(
                ErrorKind::InvalidId,
                format!("the first number of a tag must be 0 to 2^63-2, not {next}"),
            ));
        }
        // A tag of this name may have been made after the backup.
        let next = row.next.saturating_add(skipped(store).await?).min(LAST);
        let row = Tag { next, ..row.clone() };
        match store.segments() {
            Some(table) => table.create(tag, &row).await,
            None => definition::create(store, &key, definition::tag_text(&row).as_bytes()).await,
        }
    }

    /// Lists the tags of a store, in any order.
    ///
    /// # Errors
    /// `StoreUnavailable`.
    pub async fn tags(store: &dyn Store) -> Result<Vec<String>, Error> {
        match store.segments() {
            Some(table) => table.tags().await,
            None => Ok(store.list("segments/").await?.iter().filter_map(|(part, _)| name(part)).collect()),
        }
    }

    /// Opens a tag, and fetches nothing yet. Call it within a tokio runtime, which runs the fetches.
    ///
    /// # Errors
    /// `InvalidText` for an unknown tag; `InvalidId` for a step that is not 1 to 2^31-1; `StoreUnavailable`.
    pub async fn open(store: Arc<dyn Store>, tag: &str, options: SegmentsOptions) -> Result<Self, Error> {
        let key = key("segments/", tag)?;
        if store.segments().is_some() {
            let source = Table { store, tag: tag.to_owned() };
            let row = source.row().await?;
            Self::over(Box::new(source), row.step, options)
        } else {
            let row = definition::read_tag(&*store, &key).await?.ok_or_else(|| unknown(&*store, tag))?;
            Self::over(Box::new(Counter { store, key, start: row.next, is_tag: true }), row.step, options)
        }
    }

    pub(super) fn over(source: Box<dyn Source>, step: u64, options: SegmentsOptions) -> Result<Self, Error> {
        let fetched = Cell::new();
        Fetched::of_this_process(&fetched);
        Ok(Self(Arc::new(Inner {
            fetched,
            machine: Mutex::new(Segment::new(Integer::from(step), Bounds::Below)?),
            source,
            max_wait_ms: options.max_wait_ms,
            runtime: runtime()?,
            news: Notify::new(),
            failed: Mutex::default(),
            reread_ms: AtomicU64::new(monotonic_ms()),
            fetches: AtomicU64::new(0),
        })))
    }

    pub(super) fn limit(&self, most: u64) {
        lock(&self.0.machine).limit(most);
    }

    /// Takes a number from memory.
    ///
    /// # Errors
    /// `Exhausted` with a time to retry if memory is empty and a fetch is under way, without a time at the end of all numbers.
    /// `StoreUnavailable` if memory is empty and the last fetch failed. `WindowClosed` after a close. `Forked`.
    #[inline]
    pub fn try_next(&self) -> Result<u64, Error> {
        let range = &self.0.fetched.get().range;
        match range.take() {
            Some(number) => {
                if range.is_due() {
                    self.prefetch();
                }
                Ok(number)
            }
            None => self.try_run_dry(1, 1).map(|run| run.start),
        }
    }

    /// Takes 1 to `count` consecutive numbers from memory.
    ///
    /// # Errors
    /// As [`Segments::try_next`].
    #[inline]
    pub fn try_next_run(&self, count: u64) -> Result<Range<u64>, Error> {
        let range = &self.0.fetched.get().range;
        let run = range.take_run(count.max(1));
        if run.is_empty() {
            return self.try_run_dry(count.max(1), 1);
        }
        if range.is_due() {
            self.prefetch();
        }
        Ok(run)
    }

    /// Takes a number, and waits for a fetch if memory is empty.
    ///
    /// # Errors
    /// As [`Segments::try_next`], after `max_wait_ms` at the latest.
    pub async fn next(&self) -> Result<u64, Error> {
        match self.try_next() {
            Ok(number) => Ok(number),
            Err(error) => self.wait_after(error, 1, 1).await.map(|run| run.start),
        }
    }

    /// Takes 1 to `count` consecutive numbers, and waits for a fetch if memory is empty.
    ///
    /// # Errors
    /// As [`Segments::next`].
    pub async fn next_run(&self, count: u64) -> Result<Range<u64>, Error> {
        match self.try_next_run(count) {
            Ok(run) => Ok(run),
            Err(error) => self.wait_after(error, count, 1).await,
        }
    }

    /// Takes `count` consecutive numbers; 0 counts as 1. Later numbers are higher.
    ///
    /// # Errors
    /// As [`Segments::next`].
    pub async fn next_block(&self, count: u64) -> Result<Range<u64>, Error> {
        let count = count.max(1);
        match self.try_next_block(count) {
            Ok(block) => Ok(block),
            Err(error) => self.wait_after(error, count, count).await,
        }
    }

    fn try_next_block(&self, count: u64) -> Result<Range<u64>, Error> {
        let range = &self.0.fetched.get().range;
        let Some(block) = range.take_block(count) else { return self.try_run_dry(count, count) };
        if range.is_due() {
            self.prefetch();
        }
        Ok(block)
    }

    /// Returns the next number, provided that no other holder of the tag fetches before. `None` before the first fetch.
    pub fn upcoming(&self) -> Option<u64> {
        self.0.fetched.get().range.upcoming()
    }

    /// Begins the first fetch.
    pub(super) fn begin(&self) {
        // Those who take numbers hear of an error.
        drop(self.filled());
    }

    /// As [`Segments::upcoming`], after the first fetch. `None` at the end of all numbers.
    ///
    /// # Errors
    /// As [`Segments::next`].
    pub(super) async fn begun(&self) -> Result<Option<u64>, Error> {
        let deadline = Instant::now() + Duration::from_millis(self.0.max_wait_ms);
        loop {
            let news = self.0.news.notified();
            let error = match self.filled() {
                Ok(()) => return Ok(self.upcoming()),
                Err(error) => error,
            };
            match error.kind() {
                ErrorKind::Exhausted if error.wait_ms().is_none() => return Ok(None),
                ErrorKind::StoreUnavailable | ErrorKind::Exhausted if Instant::now() < deadline => {}
                _ => return Err(error),
            }
            let pause = Instant::now() + Duration::from_millis(error.wait_ms().unwrap_or(50).clamp(50, 100));
            // After news and after the pause alike.
            let _ = timeout_at(pause.min(deadline), news).await;
        }
    }

    /// Begins a fetch if memory is empty.
    ///
    /// # Errors
    /// As [`Segments::try_next`].
    fn filled(&self) -> Result<(), Error> {
        let fetched = self.0.fetched.get();
        if fetched.is_of_parent() {
            return Err(forked());
        }
        self.refill(&fetched.range, 1)
    }

    /// Opens numbers for one thread, which takes them in runs.
    pub fn local(&self) -> LocalNumbers {
        LocalNumbers { segments: self.clone(), next: 0, end: 0 }
    }

    /// Returns the number of fetches.
    pub fn fetches(&self) -> u64 {
        self.0.fetches.load(Ordering::Relaxed)
    }

    /// Closes the segment for all clones, gives unused numbers back, and returns how many.
    ///
    /// Waits for a fetch under way, at most `max_wait_ms`. Numbers go back only if no other holder of the tag has fetched
    /// since.
    ///
    /// # Errors
    /// `StoreUnavailable` leaves open whether the numbers went back; `Exhausted` if the fetch under way takes too long, and
    /// none went back; `Forked`.
    pub async fn close(&self) -> Result<u64, Error> {
        let fetched = self.0.fetched.get();
        if fetched.is_of_parent() {
            return Err(forked());
        }
        let deadline = Instant::now() + Duration::from_millis(self.0.max_wait_ms);
        let rest = loop {
            let news = self.0.news.notified();
            let rest = lock(&self.0.machine).close(&fetched.range);
            match rest {
                Ok(rest) => break rest,
                Err(late) => timeout_at(deadline, news).await.map_err(|_| late)?,
            }
        };
        self.0.news.notify_waiters();
        let Some(rest) = rest else { return Ok(0) };
        Ok(if self.0.source.lower(rest.end, rest.start).await? { rest.end - rest.start } else { 0 })
    }

    #[cold]
    fn prefetch(&self) {
        let inner = &self.0;
        // A forked child, where this lock may be locked forever, does not get here: its range is wiped.
        if let Ok(mut machine) = inner.machine.try_lock()
            && let Some(Ask::Add(amount)) = machine.prefetch(&inner.fetched.get().range, monotonic_ms())
        {
            self.fetch(amount);
        }
    }

    #[cold]
    fn try_run_dry(&self, count: u64, least: u64) -> Result<Range<u64>, Error> {
        let fetched = self.0.fetched.get();
        if fetched.is_of_parent() {
            return Err(forked());
        }
        loop {
            self.refill(&fetched.range, least)?;
            let run = if least > 1 { fetched.range.take_block(least) } else { Some(fetched.range.take_run(count)) };
            if let Some(run) = run.filter(|run| !run.is_empty()) {
                return Ok(run);
            }
        }
    }

    /// Puts the fetched range into memory if memory has fewer than `least` numbers, or begins a fetch.
    fn refill(&self, range: &snowmint_core::segment::Range, least: u64) -> Result<(), Error> {
        let refilled = lock(&self.0.machine).refill_block(range, least, monotonic_ms());
        match refilled {
            Ok(Next::Done(())) => Ok(()),
            Ok(Next::Ask(Ask::Add(amount))) => {
                self.fetch(amount);
                Err(self.dry(1))
            }
            Ok(Next::Ask(_)) => Err(self.dry(1)),
            Err(error) => Err(error.wait_ms().map_or_else(|| error.into(), |wait_ms| self.dry(wait_ms))),
        }
    }

    /// Memory is empty: the last fetch failed, or a fetch is under way.
    fn dry(&self, wait_ms: u64) -> Error {
        lock(&self.0.failed).clone().unwrap_or_else(|| snowmint_core::Error::numbers_dry(wait_ms).into())
    }

    async fn wait_after(&self, mut error: Error, count: u64, least: u64) -> Result<Range<u64>, Error> {
        let try_again = || if least > 1 { self.try_next_block(least) } else { self.try_next_run(count) };
        let deadline = Instant::now() + Duration::from_millis(self.0.max_wait_ms);
        loop {
            if !matches!(error.kind(), ErrorKind::StoreUnavailable | ErrorKind::Exhausted)
                || (error.kind() == ErrorKind::Exhausted && error.wait_ms().is_none())
                || Instant::now() >= deadline
            {
                return Err(error);
            }
            let news = self.0.news.notified();
            // A fetch may have ended in between, and the machine repeats a failed fetch after a while.
            match try_again() {
                Ok(run) => return Ok(run),
                Err(later) => error = later,
            }
            let pause = Instant::now() + Duration::from_millis(error.wait_ms().unwrap_or(50).clamp(50, 100));
            // After news and after the pause alike.
            let _ = timeout_at(pause.min(deadline), news).await;
            match try_again() {
                Ok(run) => return Ok(run),
                Err(later) => error = later,
            }
        }
    }

    /// Fetches in the background.
    fn fetch(&self, amount: u64) {
        let inner = Arc::clone(&self.0);
        // The task goes on without its handle, and always reports its outcome to the machine.
        drop(self.0.runtime.spawn(async move {
            inner.fetches.fetch_add(1, Ordering::Relaxed);
            let outcome = inner.source.fetch(amount).await;
            let (reply, mut failed) = match outcome {
                Ok(sum) => (Reply::Sum(sum), None),
                Err(error) if error.kind() == ErrorKind::Exhausted => (Reply::Full, None),
                Err(error) => (Reply::Unknown, Some(error)),
            };
            {
                let mut machine = lock(&inner.machine);
                if let Err(error) = machine.reply(&inner.fetched.get().range, reply, monotonic_ms()) {
                    failed = Some(error.into());
                }
            }
            let fine = failed.is_none();
            *lock(&inner.failed) = failed;
            inner.news.notify_waiters();
            if fine {
                inner.reread().await;
            }
        }));
    }
}

impl Inner {
    /// Reads the configured step again, once a minute.
    async fn reread(&self) {
        let (last_ms, now_ms) = (self.reread_ms.load(Ordering::Relaxed), monotonic_ms());
        if now_ms.saturating_sub(last_ms) < REREAD_MS {
            return;
        }
        self.reread_ms.store(now_ms, Ordering::Relaxed);
        // After a failed read, or for a wrong step, the present step stays.
        if let Ok(Some(step)) = self.source.step().await {
            let _ = lock(&self.machine).configure(Integer::from(step));
        }
    }
}

/// Numbers for one thread, taken from a [`Segments`] in runs of 256, so that most calls need no atomic operation.
///
/// A drop skips the rest of the run. In a forked child every call is `Forked`.
#[derive(Debug)]
pub struct LocalNumbers {
    segments: Segments,
    next: u64,
    end: u64,
}

impl LocalNumbers {
    /// Takes a number, as [`Segments::try_next`].
    ///
    /// # Errors
    /// As [`Segments::try_next`].
    #[inline]
    pub fn try_next(&mut self) -> Result<u64, Error> {
        // The run is not on a page that a forked child sees wiped.
        if self.next < self.end && !self.segments.0.fetched.get().is_of_parent() {
            self.next += 1;
            return Ok(self.next - 1);
        }
        self.refill()
    }

    /// Takes a number, as [`Segments::next`].
    ///
    /// # Errors
    /// As [`Segments::next`].
    pub async fn next(&mut self) -> Result<u64, Error> {
        match self.try_next() {
            Ok(number) => Ok(number),
            Err(error) => {
                let run = self.segments.wait_after(error, RUN, 1).await?;
                Ok(self.keep(&run))
            }
        }
    }

    #[cold]
    fn refill(&mut self) -> Result<u64, Error> {
        (self.next, self.end) = (0, 0);
        let run = self.segments.try_next_run(RUN)?;
        Ok(self.keep(&run))
    }

    fn keep(&mut self, run: &Range<u64>) -> u64 {
        (self.next, self.end) = (run.start + 1, run.end);
        run.start
    }
}
