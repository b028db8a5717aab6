//! The generator on the system's clock.

use snowmint_core::{Integer, Layout, Options, Window};
use snowmint_stores::Error;

use crate::environment::Environment;
use crate::generator::Generator;
use crate::generator::options::LeaseOptions;
use crate::generator::status::Status;
use crate::generator::system::SystemHost;

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
    /// Opens a generator on a leased node: no other generator of the namespace has the node at the times of its IDs.
    /// `SNOWMINT_NODE`, `SNOWMINT_STORE` and `SNOWMINT_NAMESPACE` fill in options that are missing.
    ///
    /// Blocks while it claims the node. In a forked child the generator leases another node when first used, or fails with
    /// `Forked` if the options name a node.
    ///
    /// # Errors
    /// `NodesExhausted`, if no node is free within `max_wait_ms`; `StoreUnavailable`; `UnsafeStore`; `InvalidNode`, also
    /// where the default directory is not the machine's, as in Kubernetes; `InvalidLayout`; `TimeOverflow`; `BeforeEpoch`.
    ///
    /// # Examples
    /// ```
    /// use snowmint::{LeaseOptions, Snowflake, layouts};
    /// # let directory = tempfile::tempdir()?;
    /// # let options = LeaseOptions { store: Some(format!("file:{}", directory.path().display()).into()), ..LeaseOptions::default() };
    /// # let _ = LeaseOptions::default();
    /// let generator = Snowflake::lease(options)?; // LeaseOptions::default() is a slot of this machine
    /// let id = generator.next_id()?;
    /// assert_eq!(layouts::SNOWMINT.decode(id)?.node, generator.node());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lease(options: LeaseOptions) -> Result<Self, Error> {
        Generator::lease(options, &Environment::of_process(), &mut SystemHost::new()).map(Self)
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
        Self::with_options(layout, node, Options::DEFAULT)
    }

    /// Opens a generator as [`Snowflake::new`] does, with options.
    ///
    /// # Errors
    /// As [`Snowflake::new`].
    pub fn with_options(layout: &Layout, node: impl Into<Integer>, options: Options) -> Result<Self, Error> {
        let node = layout.node(node.into())?;
        Generator::vouched(layout, node, options, None).map(Self)
    }

    /// Returns the next ID. Blocks at most `max_wait_ms`.
    ///
    /// # Errors
    /// See the table of the type.
    #[inline]
    pub fn next_id(&self) -> Result<u64, Error> {
        self.0.next_id(&mut SystemHost::new())
    }

    /// Returns the next ID. Never waits.
    ///
    /// # Errors
    /// See the table of the type.
    #[inline]
    pub fn try_next_id(&self) -> Result<u64, Error> {
        self.0.try_next_id(snowmint_core::SystemHost::unix_ms())
    }

    /// Returns the next `count` IDs, 0 to 2^24. Blocks at most `max_wait_ms`.
    ///
    /// # Errors
    /// See the table of the type; `InvalidId` for another count, before any memory is taken.
    pub fn next_ids(&self, count: impl Into<Integer>) -> Result<Vec<u64>, Error> {
        let mut ids = vec![0; count.into().batch()?];
        self.fill(&mut ids)?;
        Ok(ids)
    }

    /// Fills `ids`. Blocks at most `max_wait_ms`. After an error no ID in `ids` may be used.
    ///
    /// # Errors
    /// See the table of the type.
    pub fn fill(&self, ids: &mut [u64]) -> Result<(), Error> {
        let mut filled = 0;
        self.0.take(&mut SystemHost::new(), ids.len(), |mut run| filled += run.write(&mut ids[filled..]))
    }

    /// Returns the node in the IDs. In a forked child it is the parent's until the child has leased another one.
    pub fn node(&self) -> u32 {
        self.0.node()
    }

    /// Returns the layout of the IDs.
    pub const fn layout(&self) -> &Layout {
        self.0.layout()
    }

    /// Returns the granted window of time, Unix ms; `None` for a vouched node.
    pub fn window(&self) -> Option<Window> {
        self.0.window()
    }

    /// Returns the status of the generator.
    pub fn status(&self) -> Status {
        self.0.status()
    }

    /// Closes this generator, as dropping it does: later calls fail with `WindowClosed`. The last generator of a lease
    /// releases it, so that a restart need not wait.
    pub fn close(&self) {
        self.0.close();
    }
}
