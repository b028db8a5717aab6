//! The options of a leased generator.

use std::fmt;
use std::time::Duration;

use snowmint_core::host::whole_ms;
use snowmint_core::{Layout, Nodes, Options, SequenceStart};
use snowmint_stores::Error;

use crate::clock::Clock;
use crate::lease::key::ClockId;
use crate::lease::on_lost::OnLost;
use crate::lease::store::{Connect, LeaseStore};

/// The options of a leased generator. The environment and defaults fill in missing options.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use snowmint::{LeaseOptions, layouts::TWITTER};
/// let options = LeaseOptions::new().layout(TWITTER).store("file:/var/lib/ids").max_wait(Duration::from_millis(200));
/// assert!(format!("{options:?}").contains("file:/var/lib/ids"));
/// ```
#[derive(Clone)]
pub struct LeaseOptions {
    pub(crate) layout: Option<Layout>,
    pub(crate) nodes: Option<Nodes>,
    pub(crate) store: Option<LeaseStore>,
    /// Connects to a store, given here or in `SNOWMINT_STORE`, for whose URL this build has no engine.
    pub(super) connect: Option<Connect>,
    pub(super) namespace: Option<String>,
    pub(crate) options: Options,
    pub(super) window_ms: Option<u64>,
    pub(super) reserve_ms: Option<u64>,
    pub(super) exclude: Vec<u32>,
    pub(crate) on_lost: Option<OnLost>,
    /// The caller's clock. `None` is the system's.
    pub(crate) clock: Option<ClockId>,
    /// The caller's clock, if the generator reads it.
    pub(crate) read: Option<Clock>,
}

impl LeaseOptions {
    /// Makes options of which all are missing.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{LeaseOptions, Snowflake, layouts::SNOWMINT};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = format!("file:{}", directory.path().display());
    /// let options = LeaseOptions::new(); // a slot of this machine
    /// # let options = options.store(store);
    /// assert_eq!(*Snowflake::lease(options)?.layout(), SNOWMINT);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the layout of the IDs.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{LeaseOptions, Snowflake, layouts::TWITTER};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = format!("file:{}", directory.path().display());
    /// let options = LeaseOptions::new().store(store).layout(TWITTER);
    /// assert_eq!(*Snowflake::lease(options)?.layout(), TWITTER);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn layout(mut self, layout: Layout) -> Self {
        self.layout = Some(layout);
        self
    }

    /// Sets the node: no other one is leased. [`Layout::node`] and [`Layout::parse_node`] make it of fields.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{LeaseOptions, Snowflake, layouts::TWITTER};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = format!("file:{}", directory.path().display());
    /// let options = LeaseOptions::new().store(store).layout(TWITTER).node(TWITTER.parse_node("datacenter=1,worker=2")?);
    /// assert_eq!(Snowflake::lease(options)?.node(), 34);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn node(mut self, node: u32) -> Self {
        self.nodes = Some(Nodes::one(node));
        self
    }

    /// Sets the nodes from which the lease takes one, such as the nodes of a region. [`Layout::parse_nodes`] and
    /// [`Layout::nodes_of`] make such a set from some of the fields.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{LeaseOptions, Snowflake, layouts::TWITTER};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = format!("file:{}", directory.path().display());
    /// let options = LeaseOptions::new().store(store).layout(TWITTER).nodes(TWITTER.parse_nodes("datacenter=3")?);
    /// assert_eq!(Snowflake::lease(options)?.node(), 96);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn nodes(mut self, nodes: Nodes) -> Self {
        self.nodes = Some(nodes);
        self
    }

    /// Sets the store: a URL, or a store of the caller by `LeaseStore::own` or [`LeaseStore::blocking`].
    ///
    /// # Examples
    /// ```
    /// use snowmint::{LeaseOptions, Snowflake};
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().display();
    /// let generator = Snowflake::lease(LeaseOptions::new().store(format!("file:{path}")))?;
    /// assert!(generator.window().is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn store(mut self, store: impl Into<LeaseStore>) -> Self {
        self.store = Some(store.into());
        self
    }

    /// Sets the namespace, 1 to 64 of `a-z A-Z 0-9 . _ -`: leases of one never have the same node, leases of two may.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{LeaseOptions, Snowflake};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = format!("file:{}", directory.path().display());
    /// let lease = |name| Snowflake::lease(LeaseOptions::new().store(&store).namespace(name));
    /// let (orders, mails) = (lease("orders")?, lease("mails")?);
    /// assert_eq!((orders.node(), mails.node()), (0, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Sets how the generator treats its clock.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{Id, LeaseOptions, Options, Snowflake};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = format!("file:{}", directory.path().display());
    /// let options = LeaseOptions::new().store(store).options(Options::EVENT_LOOP);
    /// assert!(Snowflake::lease(options)?.next_id()? > Id::new(0)); // waits for at most 100 ms
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Sets how far IDs may run ahead of the clock, in whole ms: 0 by default.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{LeaseOptions, Snowflake};
    /// use std::time::Duration;
    /// # let directory = tempfile::tempdir()?;
    /// # let store = format!("file:{}", directory.path().display());
    /// let options = LeaseOptions::new().store(store).max_ahead(Duration::from_secs(1));
    /// // More IDs than a ms has, without a wait.
    /// assert_eq!(Snowflake::lease(options)?.next_ids(100_000)?.len(), 100_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn max_ahead(mut self, max_ahead: Duration) -> Self {
        self.options = self.options.max_ahead(max_ahead);
        self
    }

    /// Sets how long one call may wait, in whole ms: 1000 by default.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use snowmint::{ErrorKind, LeaseOptions, Snowflake};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = format!("file:{}", directory.path().display());
    /// let lease = |name| LeaseOptions::new().store(&store).node(7).namespace("orders").max_wait(Duration::ZERO).exclude(name);
    /// let error = Snowflake::lease(lease([7])).err().ok_or("the node is excluded")?;
    /// assert_eq!(error.kind(), ErrorKind::InvalidNode);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn max_wait(mut self, max_wait: Duration) -> Self {
        self.options = self.options.max_wait(max_wait);
        self
    }

    /// Sets where the sequence begins in a new tick.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{LeaseOptions, SequenceStart, Snowflake, layouts::SNOWMINT};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = format!("file:{}", directory.path().display());
    /// let options = LeaseOptions::new().store(store).sequence_start(SequenceStart::Random);
    /// let parts = SNOWMINT.decode(Snowflake::lease(options)?.next_id()?)?;
    /// assert!(parts.sequence < 1 << 11);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn sequence_start(mut self, start: SequenceStart) -> Self {
        self.options = self.options.sequence_start(start);
        self
    }

    /// Sets the length of the windows, in whole ms: at least a second and four ticks, at most an hour with
    /// [`max_ahead`](Self::max_ahead). 3 s by default for slots, and 30 s for stores.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{LeaseOptions, Snowflake};
    /// use std::time::Duration;
    /// # let directory = tempfile::tempdir()?;
    /// # let store = format!("file:{}", directory.path().display());
    /// let options = LeaseOptions::new().store(store).window(Duration::from_secs(10));
    /// let window = Snowflake::lease(options)?.window().ok_or("a leased node")?;
    /// assert!(window.end_ms - window.start_ms >= 10_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn window(mut self, window: Duration) -> Self {
        self.window_ms = Some(whole_ms(window));
        self
    }

    /// Sets for how long the store grants a node to a directory of this machine, in whole ms: a minute to seven days.
    /// `SNOWMINT_RESERVE` is the same, such as `24h`. Within that time processes of the machine start and mint also while the store
    /// does not answer. The directory is the same as for slots, `SNOWMINT_STATE_DIR` or `/var/tmp/snowmint`.
    ///
    /// A lost or restarted machine blocks its nodes until the end of their reservations. A claim waits up to a window
    /// for a node that its directory has reserved, even if [`max_wait`](Self::max_wait) is shorter.
    ///
    /// # Examples
    /// ```
    /// # #[cfg(all(feature = "sqlite", target_os = "linux"))] {
    /// use snowmint::{LeaseOptions, Snowflake};
    /// use std::time::Duration;
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("ids.db");
    /// let store = format!("sqlite:{}", path.display());
    /// # let store = format!("{store}?allow_unsafe=true");
    /// let generator = Snowflake::lease(LeaseOptions::new().store(store).reserve(Duration::from_secs(24 * 3600)))?;
    /// let status = generator.status();
    /// let (window, reserved) = (status.window.ok_or("leased")?, status.reserved.ok_or("reserved")?);
    /// assert!(window.end_ms + 80_000_000 < reserved.end_ms);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn reserve(mut self, reserve: Duration) -> Self {
        self.reserve_ms = Some(whole_ms(reserve));
        self
    }

    /// Adds nodes that the lease does not get, such as the nodes of a system that this one replaces.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{LeaseOptions, Snowflake};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = format!("file:{}", directory.path().display());
    /// let options = LeaseOptions::new().store(store).exclude(0..5);
    /// assert_eq!(Snowflake::lease(options)?.node(), 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn exclude(mut self, nodes: impl IntoIterator<Item = u32>) -> Self {
        self.exclude.extend(nodes);
        self
    }

    /// Sets the function that is called with the reason when the lease is lost, once, on a separate thread.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{LeaseOptions, Snowflake};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = format!("file:{}", directory.path().display());
    /// let options = LeaseOptions::new().store(store).on_lost(|error| eprintln!("no more IDs: {error}"));
    /// assert!(Snowflake::lease(options)?.status().lost.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn on_lost(mut self, callback: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        self.on_lost = Some(OnLost::new(callback));
        self
    }

    /// Sets the clock. Without one it is the system's.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{Clock, LeaseOptions, Snowflake, layouts::SNOWMINT};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = format!("file:{}", directory.path().display());
    /// let options = LeaseOptions::new().store(store).clock(Clock::new(|| 1_800_000_000_000));
    /// let id = Snowflake::lease(options)?.next_id()?;
    /// assert_eq!(SNOWMINT.decode(id)?.timestamp_ms, 1_800_000_000_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = Some(clock.id());
        self.read = Some(clock);
        self
    }
}

/// What only hosts set.
#[doc(hidden)]
impl LeaseOptions {
    /// Sets an option that may be missing, by its setter.
    #[must_use]
    pub fn given<T>(self, value: Option<T>, set: impl FnOnce(Self, T) -> Self) -> Self {
        match value {
            Some(value) => set(self, value),
            None => self,
        }
    }

    /// Sets how to connect to a store, given here or in `SNOWMINT_STORE`, for whose URL this build has no engine.
    #[must_use]
    pub fn connect(mut self, connect: Connect) -> Self {
        self.connect = Some(connect);
        self
    }

    /// Sets the clock of a host that reads it itself.
    #[must_use]
    pub fn clock_id(mut self, clock: ClockId) -> Self {
        self.clock = Some(clock);
        self
    }
}

impl Default for LeaseOptions {
    fn default() -> Self {
        Self {
            layout: None,
            nodes: None,
            store: None,
            connect: None,
            namespace: None,
            options: Options::DEFAULT,
            window_ms: None,
            reserve_ms: None,
            exclude: Vec::new(),
            on_lost: None,
            clock: None,
            read: None,
        }
    }
}

// A URL may have a password.
impl fmt::Debug for LeaseOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaseOptions")
            .field("layout", &self.layout.map(|layout| layout.to_string()))
            .field("nodes", &self.nodes)
            .field("store", &self.store)
            .field("namespace", &self.namespace)
            .field("options", &self.options)
            .field("window_ms", &self.window_ms)
            .field("reserve_ms", &self.reserve_ms)
            .finish_non_exhaustive()
    }
}
