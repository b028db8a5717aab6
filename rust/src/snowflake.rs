//! The generator on the system's clock.

use snowmint_core::{Integer, Layout, Options, Window};
use snowmint_stores::{Config, Environment, Error, Generator, Status, SystemHost};

use crate::lease::Lease;

/// A generator of IDs for one node, shared by threads, and safe to use after a fork.
///
/// | method | waits | fails with |
/// | --- | --- | --- |
/// | [`try_next_id`](Self::try_next_id) | never | `Exhausted`, `ClockBackwards`, `WindowClosed`, `TimeOverflow`, `BeforeEpoch`, `Forked` |
/// | [`next_id`](Self::next_id), [`next_ids`](Self::next_ids), [`fill`](Self::fill) | up to `max_wait_ms` in all | the same |
///
/// IDs strictly increase, across threads too, if `time` stands above `sequence` in the layout, and any `random` field
/// below both.
#[derive(Debug)]
pub struct Snowflake(Generator);

impl Snowflake {
    /// A generator on a lease: while it lives no other generator of the namespace has its node, nor had it at the times
    /// of its IDs. Where `SNOWMINT_NODE` is set and the lease names neither store nor namespace, that node is used.
    ///
    /// In a forked child it leases a node of its own when first used.
    ///
    /// # Errors
    /// `NodesExhausted`, if no node is free within `max_wait_ms`; `StoreUnavailable`; `UnsafeStore`; `InvalidNode`, also
    /// where the default directory is not the machine's, as in Kubernetes; `InvalidLayout`; `TimeOverflow`; `BeforeEpoch`.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{Lease, Snowflake, layouts};
    /// # let directory = tempfile::tempdir()?;
    /// # let lease = Lease { store: Some(format!("file:{}", directory.path().display())), ..Lease::default() };
    /// # let _ = Lease::default();
    /// let generator = Snowflake::lease(lease)?; // Lease::default() is a slot of this machine
    /// let id = generator.next_id()?;
    /// assert_eq!(layouts::SNOWMINT.decode(id)?.node, generator.node());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lease(lease: Lease) -> Result<Self, Error> {
        let layout = lease.layout;
        Self::open(&layout, lease.into_config())
    }

    /// A generator of a node that no other process uses at the same time or later, which is for the caller to see to.
    ///
    /// Generators of one process share one state for a layout and node. In a forked child it is refused with `Forked`.
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
        Self::with_options(layout, node, Options::DEFAULT)
    }

    /// As [`Snowflake::new`], with options.
    ///
    /// # Errors
    /// As [`Snowflake::new`].
    pub fn with_options(layout: &Layout, node: impl Into<Integer>, options: Options) -> Result<Self, Error> {
        let node = layout.node(node.into())?;
        Self::open(layout, Config { node: Some(node), options, ..Config::default() })
    }

    fn open(layout: &Layout, config: Config) -> Result<Self, Error> {
        Generator::open(layout, config, &Environment::of_process(), &mut SystemHost::new()).map(Self)
    }

    /// The next ID. Waits at most `max_wait_ms`.
    ///
    /// # Errors
    /// See the table of the type.
    #[inline]
    pub fn next_id(&self) -> Result<u64, Error> {
        self.0.next_id(&mut SystemHost::new())
    }

    /// The next ID. Never waits.
    ///
    /// # Errors
    /// See the table of the type.
    #[inline]
    pub fn try_next_id(&self) -> Result<u64, Error> {
        self.0.try_next_id(snowmint_core::SystemHost::unix_ms())
    }

    /// The next `count` IDs, 0 to 2^24.
    ///
    /// # Errors
    /// See the table of the type; `InvalidId` for another count, before any memory is taken.
    pub fn next_ids(&self, count: impl Into<Integer>) -> Result<Vec<u64>, Error> {
        let mut ids = vec![0; count.into().batch()?];
        self.fill(&mut ids)?;
        Ok(ids)
    }

    /// Fills `ids`, all or, if the clock stops meanwhile, none of which is to be used.
    ///
    /// # Errors
    /// See the table of the type.
    pub fn fill(&self, ids: &mut [u64]) -> Result<(), Error> {
        let mut filled = 0;
        self.0.take(&mut SystemHost::new(), ids.len(), |mut run| filled += run.write(&mut ids[filled..]))
    }

    /// The node in the IDs. In a forked child that is the parent's until the child has leased one.
    pub fn node(&self) -> u32 {
        self.0.node()
    }

    /// The layout of the IDs.
    pub const fn layout(&self) -> &Layout {
        self.0.layout()
    }

    /// The window of time that is granted, Unix ms; nothing for a vouched node.
    pub fn window(&self) -> Option<Window> {
        self.0.window()
    }

    /// What the generator is doing.
    pub fn status(&self) -> Status {
        self.0.status()
    }

    /// Ends this generator, as dropping it does: later calls are refused with `WindowClosed`. The last one of a lease
    /// gives the rest of its window back, so that a restart waits for nothing.
    pub fn close(&self) {
        self.0.close();
    }
}
