//! Segments: numbers from memory, fetched ahead in the background.

mod fetch;
mod local;
mod options;
mod tags;

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use snowmint_core::segment::{Bounds, Segment, block};
use snowmint_core::{ErrorKind, Integer};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use self::fetch::Dry;
pub use self::local::LocalNumbers;
pub use self::options::SegmentsOptions;

use super::source::{Counter, Source, Table, unknown};
use super::{definition, runtime, served};
use crate::error::Error;
use crate::process::fork::{Cell, Fetched};
use crate::process::forked;
use crate::process::lock;
use crate::process::monotonic::monotonic_ms;
use crate::store::key::key;
use crate::store::{CounterStore, Tag};

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
///
/// # Examples
/// ```
/// use snowmint_stores::{Segments, SegmentsOptions, Tag, connect};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let store = connect("memory:").await?;
/// Segments::create(&*store, "orders", &Tag::new(1, 1000)).await?;
/// let orders = Segments::open(store, "orders", SegmentsOptions::default()).await?;
/// assert_eq!(orders.next().await?, 1);
/// assert_eq!(orders.try_next()?, 2);
/// orders.close().await?;
/// # Ok(())
/// # }
/// ```
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
    /// Opens a tag, and fetches nothing yet. Call it within a tokio runtime, which runs the fetches.
    ///
    /// # Errors
    /// `InvalidText` for an unknown tag; `InvalidId` for a step that is not 1 to 2^31-1; `StoreUnavailable`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Segments, SegmentsOptions, Tag, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// Segments::create(&*store, "orders", &Tag::new(1, 1000)).await?;
    /// let orders = Segments::open(store.clone(), "orders", SegmentsOptions::default()).await?;
    /// assert_eq!(orders.next().await?, 1);
    /// assert!(Segments::open(store, "refunds", SegmentsOptions::default()).await.is_err(), "no such tag");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn open(store: Arc<dyn CounterStore>, tag: &str, options: SegmentsOptions) -> Result<Self, Error> {
        Self::find(&store, tag, options).await?.ok_or_else(|| unknown(&*store, tag))
    }

    /// Opens a tag, and makes it by `row` if it is missing. A tag that exists keeps its own row.
    ///
    /// # Errors
    /// As [`Segments::create`] and [`Segments::open`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Segments, SegmentsOptions, Tag, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("memory:").await?;
    /// let options = SegmentsOptions::default();
    /// let orders = Segments::open_or_create(store.clone(), "orders", &Tag::new(100, 10), options).await?;
    /// assert_eq!(orders.next().await?, 100);
    /// let again = Segments::open_or_create(store, "orders", &Tag::default(), options).await?;
    /// assert_eq!(again.next().await?, 110);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn open_or_create(
        store: Arc<dyn CounterStore>,
        tag: &str,
        row: &Tag,
        options: SegmentsOptions,
    ) -> Result<Self, Error> {
        tags::record(row)?;
        if let Some(opened) = Self::find(&store, tag, options).await? {
            return Ok(opened);
        }
        Self::create(&*store, tag, row).await?;
        Self::open(store, tag, options).await
    }

    /// Opens a tag. `None` if it does not exist.
    async fn find(store: &Arc<dyn CounterStore>, tag: &str, options: SegmentsOptions) -> Result<Option<Self>, Error> {
        let key = key("segments/", tag)?;
        if let Some(service) = store.service() {
            // The service knows whether the tag exists, and says so at the first fetch.
            let source = served::Tag { service, name: tag.to_owned() };
            return Self::over(Box::new(source), Tag::default().step, options).map(Some);
        }
        let table = store.segments();
        let row = match table {
            Some(table) => table.tag(tag).await?,
            None => definition::read_tag(&**store, &key).await?,
        };
        let Some(row) = row else { return Ok(None) };
        let (is_table, store) = (table.is_some(), Arc::clone(store));
        let source: Box<dyn Source> = if is_table {
            Box::new(Table { store, tag: tag.to_owned() })
        } else {
            Box::new(Counter { store, key, start: row.next, is_tag: true })
        };
        Self::over(source, row.step, options).map(Some)
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
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Segments, SegmentsOptions, Tag, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// # let store = connect("memory:").await?;
    /// # Segments::create(&*store, "orders", &Tag::new(1, 1000)).await?;
    /// let orders = Segments::open(store, "orders", SegmentsOptions::default()).await?;
    /// assert_eq!(orders.next().await?, 1);
    /// assert_eq!(orders.try_next()?, 2);
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn try_next(&self) -> Result<u64, Error> {
        Ok(self.take()?)
    }

    /// Takes 1 to `count` consecutive numbers from memory.
    ///
    /// # Errors
    /// As [`Segments::try_next`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Segments, SegmentsOptions, Tag, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// # let store = connect("memory:").await?;
    /// # Segments::create(&*store, "orders", &Tag::new(1, 1000)).await?;
    /// let orders = Segments::open(store, "orders", SegmentsOptions::default()).await?;
    /// assert_eq!(orders.next().await?, 1);
    /// assert_eq!(orders.try_next_run(10)?, 2..12);
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn try_next_run(&self, count: u64) -> Result<Range<u64>, Error> {
        Ok(self.take_run(count)?)
    }

    /// Takes a number, and waits for a fetch if memory is empty.
    ///
    /// # Errors
    /// As [`Segments::try_next`], after `max_wait_ms` at the latest.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Segments, SegmentsOptions, Tag, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// # let store = connect("memory:").await?;
    /// # Segments::create(&*store, "orders", &Tag::new(1, 1000)).await?;
    /// let orders = Segments::open(store, "orders", SegmentsOptions::default()).await?;
    /// assert_eq!(orders.next().await?, 1);
    /// assert_eq!(orders.next().await?, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn next(&self) -> Result<u64, Error> {
        match self.take() {
            Ok(number) => Ok(number),
            Err(_) => self.patiently(|| self.take()).await,
        }
    }

    /// Takes 1 to `count` consecutive numbers, and waits for a fetch if memory is empty.
    ///
    /// # Errors
    /// As [`Segments::next`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Segments, SegmentsOptions, Tag, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// # let store = connect("memory:").await?;
    /// # Segments::create(&*store, "orders", &Tag::new(1, 1000)).await?;
    /// let orders = Segments::open(store, "orders", SegmentsOptions::default()).await?;
    /// let run = orders.next_run(10).await?;
    /// assert!(run.start == 1 && (1..=10).contains(&run.count()));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn next_run(&self, count: u64) -> Result<Range<u64>, Error> {
        match self.take_run(count) {
            Ok(run) => Ok(run),
            Err(_) => self.patiently(|| self.take_run(count)).await,
        }
    }

    /// Takes `count` consecutive numbers, up to 2^63-1; 0 counts as 1. Later numbers are higher.
    ///
    /// # Errors
    /// `InvalidId` for another count, and the errors of [`Segments::next`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Segments, SegmentsOptions, Tag, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// # let store = connect("memory:").await?;
    /// # Segments::create(&*store, "orders", &Tag::new(1, 1000)).await?;
    /// let orders = Segments::open(store, "orders", SegmentsOptions::default()).await?;
    /// assert_eq!(orders.next_block(10).await?, 1..11);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn next_block(&self, count: impl Into<Integer>) -> Result<Range<u64>, Error> {
        let count = block(count.into())?;
        match self.take_block(count) {
            Ok(block) => Ok(block),
            Err(_) => self.patiently(|| self.take_block(count)).await,
        }
    }

    #[inline]
    fn take(&self) -> Result<u64, Dry> {
        let range = &self.0.fetched.get().range;
        let Some(number) = range.take() else { return self.run_after_fill(1, 1).map(|run| run.start) };
        if range.is_due() {
            self.prefetch();
        }
        Ok(number)
    }

    #[inline]
    fn take_run(&self, count: u64) -> Result<Range<u64>, Dry> {
        let range = &self.0.fetched.get().range;
        let run = range.take_run(count.max(1));
        if run.is_empty() {
            return self.run_after_fill(count.max(1), 1);
        }
        if range.is_due() {
            self.prefetch();
        }
        Ok(run)
    }

    fn take_block(&self, count: u64) -> Result<Range<u64>, Dry> {
        let range = &self.0.fetched.get().range;
        let Some(block) = range.take_block(count) else { return self.run_after_fill(count, count) };
        if range.is_due() {
            self.prefetch();
        }
        Ok(block)
    }

    /// Returns the next number, provided that no other holder of the tag fetches before. `None` before the first fetch.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Segments, SegmentsOptions, Tag, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// # let store = connect("memory:").await?;
    /// # Segments::create(&*store, "orders", &Tag::new(1, 1000)).await?;
    /// let orders = Segments::open(store, "orders", SegmentsOptions::default()).await?;
    /// assert_eq!(orders.upcoming(), None);
    /// assert_eq!(orders.next().await?, 1);
    /// assert_eq!(orders.upcoming(), Some(2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn upcoming(&self) -> Option<u64> {
        self.0.fetched.get().range.upcoming()
    }

    /// Begins the first fetch.
    pub(super) fn begin(&self) {
        // Those who take numbers hear of an error.
        drop(self.fill(1));
    }

    /// As [`Segments::upcoming`], after the first fetch. `None` at the end of all numbers.
    ///
    /// # Errors
    /// As [`Segments::next`].
    pub(super) async fn begun(&self) -> Result<Option<u64>, Error> {
        match self.patiently(|| self.fill(1)).await {
            Ok(()) => Ok(self.upcoming()),
            Err(error) if error.kind() == ErrorKind::Exhausted && error.wait_ms().is_none() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens numbers for one thread, which takes them in runs.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Segments, SegmentsOptions, Tag, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// # let store = connect("memory:").await?;
    /// # Segments::create(&*store, "orders", &Tag::new(1, 1000)).await?;
    /// let orders = Segments::open(store, "orders", SegmentsOptions::default()).await?;
    /// let mut numbers = orders.local();
    /// assert_eq!(numbers.next().await?, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn local(&self) -> LocalNumbers {
        LocalNumbers::new(self.clone())
    }

    /// Returns the number of fetches.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Segments, SegmentsOptions, Tag, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// # let store = connect("memory:").await?;
    /// # Segments::create(&*store, "orders", &Tag::new(1, 1000)).await?;
    /// let orders = Segments::open(store, "orders", SegmentsOptions::default()).await?;
    /// assert_eq!(orders.next().await?, 1);
    /// assert_eq!(orders.fetches(), 1);
    /// # Ok(())
    /// # }
    /// ```
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
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::{Segments, SegmentsOptions, Tag, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// # let store = connect("memory:").await?;
    /// # Segments::create(&*store, "orders", &Tag::new(1, 1000)).await?;
    /// let orders = Segments::open(store, "orders", SegmentsOptions::default()).await?;
    /// assert_eq!(orders.next().await?, 1);
    /// assert!(orders.close().await? > 0, "unused numbers go back");
    /// assert_eq!(orders.next().await.expect_err("closed").code(), "WINDOW_CLOSED");
    /// # Ok(())
    /// # }
    /// ```
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
}
