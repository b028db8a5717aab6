//! The generator that Rust users see.

mod iterators;

use snowmint_core::{Id, Integer, Layout, Options, Window};
use snowmint_stores::Error;
use snowmint_stores::host::reserve;

use crate::clock::{CallHost, Clock};
use crate::environment::Environment;
use crate::generator::options::LeaseOptions;
use crate::generator::status::Status;
use crate::generator::{OfThread, ProcessGenerator};

pub use self::iterators::{Ids, LocalSnowflake};

/// A generator of IDs for one node, shared by threads, and safe to use after a fork.
///
/// | method | waits | fails with |
/// | --- | --- | --- |
/// | [`try_next_id`](Self::try_next_id) | never | `Exhausted`, `ClockBackwards`, `WindowClosed`, `TimeOverflow`, `BeforeEpoch`, `Forked` |
/// | [`next_id`](Self::next_id), [`next_ids`](Self::next_ids), [`fill`](Self::fill), [`iter`](Self::iter) | block up to `max_wait_ms` in all | the same |
///
/// With the feature `tokio`, `lease_async`, `next_id_async` and `close_async` wait without blocking the thread.
///
/// IDs strictly increase, across threads too, if `time` is above `sequence` in the layout, and any `random` field
/// below both.
///
/// # Examples
/// ```
/// use snowmint::{Snowflake, layouts::TWITTER};
/// let generator = Snowflake::new(&TWITTER, 20)?;
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| generator.next_id());
///     }
/// });
/// # Ok::<(), snowmint::Error>(())
/// ```
#[derive(Debug)]
pub struct Snowflake {
    generator: ProcessGenerator,
    clock: Option<Clock>,
}

impl Snowflake {
    /// Opens a generator on a leased node: no other generator of the namespace has the node at the times of its IDs.
    /// `SNOWMINT_LAYOUT`, `SNOWMINT_NODE`, `SNOWMINT_STORE` and `SNOWMINT_NAMESPACE` fill in options that are missing.
    ///
    /// In a container where one person works, such as a dev container or a job of CI, the slots of the machine come with a
    /// warning on standard error.
    ///
    /// Blocks while it claims the node. In a forked child the generator leases another node when first used, or fails with
    /// `Forked` if the options name a node.
    ///
    /// # Errors
    /// `NodesExhausted`, if no node is free within `max_wait_ms`; `StoreUnavailable`; `InvalidStore`; `UnsafeStore`;
    /// `InvalidNode`, also where the default directory is not the machine's, as in Kubernetes; `InvalidLayout`;
    /// `TimeOverflow`; `BeforeEpoch`.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{LeaseOptions, Snowflake, layouts};
    /// # let directory = tempfile::tempdir()?;
    /// # let options = LeaseOptions::new().store(format!("file:{}", directory.path().display()));
    /// let generator = Snowflake::lease(options)?; // LeaseOptions::new() is a slot of this machine
    /// let id = generator.next_id()?;
    /// assert_eq!(layouts::SNOWMINT.decode(id)?.node, generator.node());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lease(options: LeaseOptions) -> Result<Self, Error> {
        let clock = options.read.clone();
        let generator =
            ProcessGenerator::lease(options, &Environment::of_process(), &mut CallHost::new(clock.as_ref()))?;
        Ok(Self::warning(generator, clock))
    }

    /// Opens a generator as [`Snowflake::lease`] does, and waits without blocking the thread. Needs a runtime of tokio.
    ///
    /// # Errors
    /// As [`Snowflake::lease`].
    ///
    /// # Examples
    /// ```
    /// use snowmint::{LeaseOptions, Snowflake};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # let options = LeaseOptions::new().store(format!("file:{}", directory.path().display()));
    /// let generator = Snowflake::lease_async(options).await?;
    /// assert!(generator.next_id_async().await? < generator.next_id_async().await?);
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "tokio")]
    pub async fn lease_async(options: LeaseOptions) -> Result<Self, Error> {
        let clock = options.read.clone();
        let mut host = CallHost::new(clock.as_ref());
        let generator = ProcessGenerator::lease_async(options, &Environment::of_process(), &mut host).await?;
        Ok(Self::warning(generator, clock))
    }

    fn warning(generator: ProcessGenerator, clock: Option<Clock>) -> Self {
        if let Some(warning) = generator.warning() {
            eprintln!("snowmint: {warning}");
        }
        Self { generator, clock }
    }

    /// Opens a generator on a node for which the caller vouches: no other process uses it at the same time or later.
    ///
    /// Generators of one process share one state for a layout and node. A forked child gets `Forked`.
    ///
    /// # Errors
    /// `InvalidNode`, also if the node is leased in this process; `TimeOverflow`.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{Snowflake, layouts::TWITTER};
    /// let generator = Snowflake::new(&TWITTER, 5)?;
    /// assert!(generator.next_id()? < generator.next_id()?);
    /// # Ok::<(), snowmint::Error>(())
    /// ```
    pub fn new(layout: &Layout, node: impl Into<Integer>) -> Result<Self, Error> {
        Self::with(layout, node, Options::DEFAULT, None)
    }

    /// Opens a generator as [`Snowflake::new`] does, with options, and on a clock of the caller if there is one.
    ///
    /// # Errors
    /// As [`Snowflake::new`].
    ///
    /// # Examples
    /// ```
    /// use snowmint::{Clock, Options, SequenceStart, Snowflake, layouts::TWITTER};
    /// let options = Options::DEFAULT.sequence_start(SequenceStart::Random);
    /// let spread = Snowflake::with(&TWITTER, 8, options, None)?;
    /// let of_2023 = Snowflake::with(&TWITTER, 8, options, Clock::new(|| 1_700_000_000_000))?;
    /// assert!(of_2023.next_id()? < spread.next_id()?);
    /// # Ok::<(), snowmint::Error>(())
    /// ```
    pub fn with(
        layout: &Layout,
        node: impl Into<Integer>,
        options: Options,
        clock: impl Into<Option<Clock>>,
    ) -> Result<Self, Error> {
        let (node, clock) = (layout.node(node.into())?, clock.into());
        let generator = ProcessGenerator::vouched(layout, node, options, clock.as_ref().map(Clock::id))?;
        Ok(Self { generator, clock })
    }

    /// Returns the next ID. Blocks at most `max_wait_ms`.
    ///
    /// # Errors
    /// See the table of the type.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{Snowflake, layouts::TWITTER};
    /// let generator = Snowflake::new(&TWITTER, 21)?;
    /// assert!(generator.next_id()? < generator.next_id()?);
    /// # Ok::<(), snowmint::Error>(())
    /// ```
    #[inline]
    pub fn next_id(&self) -> Result<Id, Error> {
        match self.free_id() {
            Some(id) => Ok(id.into()),
            None => self.generator.next_id(&mut self.host()).map(Id::from),
        }
    }

    #[inline]
    fn free_id(&self) -> Option<u64> {
        if self.clock.is_some() { None } else { self.generator.free_id() }
    }

    const fn host(&self) -> CallHost<'_> {
        CallHost::new(self.clock.as_ref())
    }

    /// Returns the next ID. Waits at most `max_wait_ms`, without blocking the thread. Needs a runtime of tokio.
    ///
    /// # Errors
    /// See the table of the type.
    ///
    /// # Examples
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use snowmint::{LeaseOptions, Snowflake};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = format!("file:{}", directory.path().display());
    /// let generator = Snowflake::lease_async(LeaseOptions::new().store(store)).await?;
    /// assert!(generator.next_id_async().await? < generator.next_id_async().await?);
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "tokio")]
    pub async fn next_id_async(&self) -> Result<Id, Error> {
        let since = std::time::Instant::now();
        loop {
            let error = match self.try_next_id() {
                Ok(id) => return Ok(id),
                Err(error) => error,
            };
            let waited_ms = snowmint_core::host::whole_ms(since.elapsed());
            let pause_ms =
                error.wait_ms().map_or(0, |wanted_ms| self.generator.options().pause_ms(wanted_ms, waited_ms));
            if pause_ms == 0 {
                return Err(error);
            }
            tokio::time::sleep(std::time::Duration::from_millis(pause_ms)).await;
        }
    }

    /// Returns the next ID. Never waits.
    ///
    /// # Errors
    /// See the table of the type.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{Snowflake, layouts::TWITTER};
    /// let generator = Snowflake::new(&TWITTER, 22)?;
    /// match generator.try_next_id() {
    ///     Ok(id) => assert_eq!(TWITTER.decode(id)?.node, 22),
    ///     Err(error) => println!("again in {:?} ms", error.wait_ms()),
    /// }
    /// # Ok::<(), snowmint::Error>(())
    /// ```
    #[inline]
    pub fn try_next_id(&self) -> Result<Id, Error> {
        self.generator.try_next_id(self.generator.now_ms(&mut self.host())?).map(Id::from)
    }

    /// Returns the next `count` IDs, 0 to 2^24. Blocks at most `max_wait_ms`.
    ///
    /// # Errors
    /// The errors in the table of the type; `InvalidId` for another count, before any memory is taken; `Exhausted` if
    /// the memory is too short for the IDs.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{Snowflake, layouts::TWITTER};
    /// let generator = Snowflake::new(&TWITTER, 23)?;
    /// let ids = generator.next_ids(1000)?;
    /// assert!(ids.len() == 1000 && ids.is_sorted());
    /// # Ok::<(), snowmint::Error>(())
    /// ```
    pub fn next_ids(&self, count: impl Into<Integer>) -> Result<Vec<Id>, Error> {
        let count = count.into().batch()?;
        let mut ids = reserve(count as u64)?;
        ids.resize(count, Id::new(0));
        self.fill(&mut ids)?;
        Ok(ids)
    }

    /// Fills `ids`. Blocks at most `max_wait_ms`. After an error no ID in `ids` may be used.
    ///
    /// # Errors
    /// See the table of the type.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{Id, Snowflake, layouts::TWITTER};
    /// let generator = Snowflake::new(&TWITTER, 24)?;
    /// let mut ids = [Id::new(0); 100];
    /// generator.fill(&mut ids)?;
    /// assert!(ids.is_sorted() && ids[0] > Id::new(0));
    /// # Ok::<(), snowmint::Error>(())
    /// ```
    pub fn fill(&self, ids: &mut [Id]) -> Result<(), Error> {
        let mut filled = 0;
        self.generator.take(&mut self.host(), ids.len(), |mut run| filled += run.write(&mut ids[filled..]))
    }

    /// Returns an iterator of IDs without end, each as by [`next_id`](Self::next_id).
    ///
    /// # Examples
    /// ```
    /// use snowmint::{Snowflake, layouts::TWITTER};
    /// let generator = Snowflake::new(&TWITTER, 7)?;
    /// let ids = generator.iter().take(3).collect::<Result<Vec<_>, _>>()?;
    /// assert!(ids.is_sorted());
    /// # Ok::<(), snowmint::Error>(())
    /// ```
    pub const fn iter(&self) -> Ids<'_> {
        Ids(self)
    }

    /// Returns a handle for one thread, which mints faster where several threads use the generator: it takes up to 64 IDs of
    /// the tick at once, and leaves the others alone meanwhile.
    ///
    /// IDs of a handle strictly increase, and have the tick of their call. Between two handles the order within a tick is open.
    /// IDs of a tick that a handle has taken and not minted are lost when the tick ends: where ticks have few IDs, use the
    /// generator itself.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{Snowflake, layouts::TWITTER};
    /// let generator = Snowflake::new(&TWITTER, 9)?;
    /// std::thread::scope(|scope| {
    ///     let minting = || generator.local().take(1000).collect::<Result<Vec<_>, _>>();
    ///     let threads = [scope.spawn(minting), scope.spawn(minting)];
    ///     for ids in threads.map(|thread| thread.join().unwrap()) {
    ///         assert!(ids?.is_sorted());
    ///     }
    ///     Ok::<(), snowmint::Error>(())
    /// })?;
    /// # Ok::<(), snowmint::Error>(())
    /// ```
    pub const fn local(&self) -> LocalSnowflake<'_> {
        LocalSnowflake { snowflake: self, thread: OfThread::new() }
    }

    /// Returns the node in the IDs. In a forked child it is the parent's until the child has leased another one.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{Snowflake, layouts::TWITTER};
    /// let generator = Snowflake::new(&TWITTER, 25)?;
    /// assert_eq!(generator.node(), 25);
    /// # Ok::<(), snowmint::Error>(())
    /// ```
    pub fn node(&self) -> u32 {
        self.generator.node()
    }

    /// Returns the layout of the IDs.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{Snowflake, layouts::TWITTER};
    /// let generator = Snowflake::new(&TWITTER, 26)?;
    /// assert_eq!(*generator.layout(), TWITTER);
    /// # Ok::<(), snowmint::Error>(())
    /// ```
    pub const fn layout(&self) -> &Layout {
        self.generator.layout()
    }

    /// Returns the granted window of time, Unix ms; `None` for a vouched node.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{LeaseOptions, Snowflake};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = format!("file:{}", directory.path().display());
    /// let generator = Snowflake::lease(LeaseOptions::new().store(store))?;
    /// let window = generator.window().ok_or("a leased node")?;
    /// assert!(window.start_ms < window.end_ms);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn window(&self) -> Option<Window> {
        self.generator.window()
    }

    /// Returns the status of the generator.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{Snowflake, layouts::TWITTER};
    /// let generator = Snowflake::new(&TWITTER, 27)?;
    /// let status = generator.status();
    /// assert!(status.node == 27 && !status.closed && status.lost.is_none());
    /// # Ok::<(), snowmint::Error>(())
    /// ```
    pub fn status(&self) -> Status {
        self.generator.status()
    }

    /// Closes this generator: later calls fail with `WindowClosed`. The last generator of a lease releases it, so that a restart
    /// need not wait; for that it waits 2 s for the store at most. A generator that is dropped begins the release, and does not
    /// wait: the next claim of this process in the namespace does, and so does the end of the process.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{ErrorKind, Snowflake, layouts::TWITTER};
    /// let generator = Snowflake::new(&TWITTER, 28)?;
    /// generator.close();
    /// assert_eq!(generator.next_id().map_err(|error| error.kind()), Err(ErrorKind::WindowClosed));
    /// # Ok::<(), snowmint::Error>(())
    /// ```
    pub fn close(&self) {
        self.generator.close();
    }

    /// Closes this generator as [`Snowflake::close`] does, and waits without blocking the thread. Needs a runtime of tokio.
    ///
    /// # Examples
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use snowmint::{LeaseOptions, Snowflake};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = format!("file:{}", directory.path().display());
    /// let generator = Snowflake::lease_async(LeaseOptions::new().store(store)).await?;
    /// generator.close_async().await;
    /// assert!(generator.status().closed);
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "tokio")]
    pub async fn close_async(&self) {
        self.generator.close_async().await;
    }
}
