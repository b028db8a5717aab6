//! Sources of numbers beside the counters of a store: tables of segments, native sequences, servers of tickets.

use std::fmt;

use async_trait::async_trait;
use snowmint_core::segment::TagRecord;

use crate::error::Error;

/// The definition of a segment tag.
///
/// # Examples
/// ```
/// use snowmint_stores::{Segments, Tag, connect};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let store = connect("memory:").await?;
/// Segments::create(&*store, "orders", &Tag::new(1, 1000).description("numbers of orders")).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tag {
    /// The next unused number; Leaf's `max_id`.
    pub next: u64,
    /// How many numbers the first fetches take.
    pub step: u64,
    /// A text for people.
    pub description: String,
}

impl Tag {
    /// Makes the definition of a tag without a description.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::Tag;
    /// let tag = Tag::new(1, 1000);
    /// assert_eq!((tag.next, tag.step, tag.description.as_str()), (1, 1000, ""));
    /// ```
    pub const fn new(next: u64, step: u64) -> Self {
        Self { next, step, description: String::new() }
    }

    /// Sets the text for people.
    ///
    /// # Examples
    /// ```
    /// use snowmint_stores::Tag;
    /// let tag = Tag::new(1, 1000).description("numbers of orders");
    /// assert_eq!(tag.description, "numbers of orders");
    /// ```
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }
}

impl Default for Tag {
    /// Numbers from 1 on, 1000 at first.
    fn default() -> Self {
        Self::new(TagRecord::DEFAULT.next, TagRecord::DEFAULT.step)
    }
}

/// Leaf's table `leaf_alloc(biz_tag, max_id, step, description, update_time)`. An existing table stays unchanged.
///
/// # Examples
/// ```no_run
/// use snowmint_stores::connect;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), snowmint_stores::Error> {
/// let store = connect("postgres://me:secret@db/app").await?;
/// let table = store.segments().expect("an SQL store");
/// for tag in table.tags().await? {
///     println!("{tag}: {:?}", table.tag(&tag).await?);
/// }
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait SegmentTable: Send + Sync {
    /// Reads the row of a tag. `None` if the tag does not exist.
    ///
    /// # Examples
    /// ```no_run
    /// use snowmint_stores::connect;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("postgres://me:secret@db/app").await?;
    /// let table = store.segments().expect("an SQL store");
    /// println!("{:?}", table.tag("orders").await?);
    /// # Ok(())
    /// # }
    /// ```
    async fn tag(&self, tag: &str) -> Result<Option<Tag>, Error>;
    /// Adds a row. `false` if the tag exists.
    ///
    /// # Examples
    /// ```no_run
    /// use snowmint_stores::{Tag, connect};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("postgres://me:secret@db/app").await?;
    /// let table = store.segments().expect("an SQL store");
    /// assert!(table.create("orders", &Tag::new(1, 1000)).await?);
    /// # Ok(())
    /// # }
    /// ```
    async fn create(&self, tag: &str, row: &Tag) -> Result<bool, Error>;
    /// Lists all tags.
    ///
    /// # Examples
    /// ```no_run
    /// use snowmint_stores::connect;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("postgres://me:secret@db/app").await?;
    /// let table = store.segments().expect("an SQL store");
    /// println!("{:?}", table.tags().await?);
    /// # Ok(())
    /// # }
    /// ```
    async fn tags(&self) -> Result<Vec<String>, Error>;
    /// Adds `amount` to `max_id` and returns the sum. `None` if the tag does not exist.
    ///
    /// # Examples
    /// ```no_run
    /// use snowmint_stores::connect;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("postgres://me:secret@db/app").await?;
    /// let table = store.segments().expect("an SQL store");
    /// println!("{:?}", table.fetch("orders", 1000).await?);
    /// # Ok(())
    /// # }
    /// ```
    async fn fetch(&self, tag: &str, amount: u64) -> Result<Option<u64>, Error>;
    /// Sets `max_id` from `end` back to `start`, and returns `false` if it is not at `end` any more.
    ///
    /// # Examples
    /// ```no_run
    /// use snowmint_stores::connect;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), snowmint_stores::Error> {
    /// let store = connect("postgres://me:secret@db/app").await?;
    /// let table = store.segments().expect("an SQL store");
    /// println!("{}", table.lower("orders", 2001, 1500).await?);
    /// # Ok(())
    /// # }
    /// ```
    async fn lower(&self, tag: &str, end: u64, start: u64) -> Result<bool, Error>;
}

/// A source of numbers that never gives a number twice, such as a native sequence of a database.
///
/// # Examples
/// ```
/// use std::sync::atomic::{AtomicI64, Ordering};
/// use snowmint_stores::{Error, NumberSource};
///
/// /// Even numbers of this process. A real source answers when its numbers are durable.
/// #[derive(Debug, Default)]
/// struct Even(AtomicI64);
///
/// #[async_trait::async_trait]
/// impl NumberSource for Even {
///     fn name(&self) -> &str {
///         "even numbers"
///     }
///
///     async fn take(&self, count: u64) -> Result<Vec<i64>, Error> {
///         Ok((0..count).map(|_| self.0.fetch_add(2, Ordering::Relaxed)).collect())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// assert_eq!(Even::default().take(3).await?, [0, 2, 4]);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait NumberSource: fmt::Debug + Send + Sync + 'static {
    /// Returns the engine, its address and the name of the source there. Never a password.
    fn name(&self) -> &str;
    /// Returns the most numbers of one `take`.
    fn most(&self) -> u64 {
        100_000
    }

    /// Takes 1 to `count` numbers, in the order in which they were made. They are durable: the source never repeats them.
    ///
    /// `Exhausted` if the source has no more numbers.
    async fn take(&self, count: u64) -> Result<Vec<i64>, Error>;
}

/// A server of tickets.
///
/// # Examples
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use snowmint_stores::{Error, TicketServer};
///
/// /// Tickets of this process. A real server answers when its number is durable.
/// #[derive(Debug, Default)]
/// struct Counter(AtomicU64);
///
/// #[async_trait::async_trait]
/// impl TicketServer for Counter {
///     fn name(&self) -> &str {
///         "a counter"
///     }
///
///     async fn take(&self) -> Result<u64, Error> {
///         Ok(self.0.fetch_add(1, Ordering::Relaxed) + 1)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// assert_eq!(Counter::default().take().await?, 1);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait TicketServer: fmt::Debug + Send + Sync + 'static {
    /// Returns the engine and its address. Never a password.
    fn name(&self) -> &str;
    /// Takes the next number. [`Form`](snowmint_core::ticket::Form) says how a number becomes a ticket.
    async fn take(&self) -> Result<u64, Error>;
}
