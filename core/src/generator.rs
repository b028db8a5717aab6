//! The Snowflake generator: compare-and-swap around the pure step.

mod cycles;
mod host;
mod local;
mod minter;
mod options;
mod run;
mod step;
mod words;

use core::borrow::Borrow;

pub use self::cycles::CycleClock;
pub use self::host::Host;
#[cfg(feature = "std")]
pub use self::host::SystemHost;
pub use self::local::LocalRun;
pub use self::minter::Minter;
pub use self::options::{Options, SequenceStart, whole_ms};
pub use self::run::Run;
pub use self::words::Words;

use crate::error::Error;
use crate::int::Integer;
use crate::layout::Layout;

/// A Snowflake generator for one node. `W` holds its two words of state, inside the generator or shared.
///
/// | method | waits | clock reads | fails with |
/// | --- | --- | --- | --- |
/// | [`try_next_id`](Self::try_next_id) | never | none: the caller passes the time | `Exhausted`, `ClockBackwards`, `WindowClosed`, `Forked`, `TimeOverflow`, `BeforeEpoch` |
/// | [`try_run`](Self::try_run) | never | none: the caller passes the time | the same |
/// | [`next_id`](Self::next_id) | up to `max_wait_ms` | one, and one after each wait | the same |
/// | [`take`](Self::take), [`fill`](Self::fill) | up to `max_wait_ms` in all | one for each run of free IDs | the same |
///
/// IDs strictly increase, across threads too, if `time` is above `sequence` in the layout, and any `random` field
/// is below both. The tick of an ID is the clock's tick or the last ID's, whichever is later. When the sequence of
/// a tick is used up, the generator goes on to the next tick, at most `max_ahead_ms` ahead of the clock.
///
/// # Examples
/// ```
/// use snowmint_core::{Integer, Snowflake, SystemHost, layouts::TWITTER};
/// let generator = Snowflake::new(&TWITTER, Integer::from(5))?;
/// let first = generator.next_id(&mut SystemHost::new())?;
/// assert!(generator.next_id(&mut SystemHost::new())? > first);
/// # Ok::<(), snowmint_core::Error>(())
/// ```
#[derive(Debug)]
// In this order: the fields that minting reads come before the long layout.
#[repr(C)]
pub struct Snowflake<W = Words> {
    minter: Minter<W>,
    options: Options,
    node: u32,
    layout: Layout,
}

impl Snowflake<Words> {
    /// Makes a generator with the default options and a new state, for a node that no other generator uses.
    ///
    /// Two such generators for one node repeat each other's IDs. The crate `snowmint` shares one state between them.
    ///
    /// # Errors
    /// `InvalidNode`, if the layout has no such node; as [`Layout::refuse_unmintable`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{ErrorKind, Integer, Snowflake, layouts::SNOWMINT};
    /// assert_eq!(Snowflake::new(&SNOWMINT, Integer::from(5))?.node(), 5);
    /// let error = Snowflake::new(&SNOWMINT, Integer::from(1024)).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::InvalidNode);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn new(layout: &Layout, node: Integer) -> Result<Self, Error> {
        layout.refuse_unmintable()?;
        let node = layout.node(node)?;
        Ok(Self::with(layout, node, Options::DEFAULT, Words::vouched()))
    }
}

impl<W: Borrow<Words>> Snowflake<W> {
    /// Makes a generator for `node`, which [`Layout::node`] has checked, with the given state. The layout must not be one
    /// that [`Layout::refuse_unmintable`] refuses: with opaque bits or ticks below 1 ms, its IDs would be wrong.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Options, Snowflake, Words, layouts::SNOWMINT};
    /// let options = Options { max_ahead_ms: 1000, ..Options::DEFAULT };
    /// let generator = Snowflake::with(&SNOWMINT, 5, options, Words::vouched());
    /// generator.try_next_id(1_772_323_200_123)?;
    /// // The clock may go back by a second.
    /// assert!(generator.try_next_id(1_772_323_199_200).is_ok());
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn with(layout: &Layout, node: u32, options: Options, words: W) -> Self {
        Self { minter: Minter::new(layout, node, &options, words), layout: *layout, node, options }
    }

    /// Returns the layout of the IDs.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Integer, Snowflake, layouts::SNOWMINT};
    /// let generator = Snowflake::new(&SNOWMINT, Integer::from(5))?;
    /// let id = generator.try_next_id(1_772_323_200_123)?;
    /// assert_eq!(generator.layout().decode(id)?.node, 5);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the node in the IDs.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Snowflake, layouts::TWITTER};
    /// let node = TWITTER.parse_node("datacenter=11,worker=26")?;
    /// assert_eq!(Snowflake::new(&TWITTER, node.into())?.node(), 378);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn node(&self) -> u32 {
        self.node
    }

    /// Returns the state.
    pub fn words(&self) -> &Words {
        self.minter.words()
    }

    /// Returns the options.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Integer, Snowflake, layouts::SNOWMINT};
    /// let generator = Snowflake::new(&SNOWMINT, Integer::from(5))?;
    /// assert_eq!(generator.options().max_wait_ms, 1000);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the next ID at the time `now_ms` (Unix ms). Never waits.
    ///
    /// # Errors
    /// See the table of the type. A refused call changes nothing.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Integer, Snowflake, layouts::SNOWMINT};
    /// let generator = Snowflake::new(&SNOWMINT, Integer::from(5))?;
    /// let id = generator.try_next_id(1_772_323_200_123)?;
    /// let parts = SNOWMINT.decode(id)?;
    /// assert_eq!((parts.timestamp_ms, parts.node, parts.sequence), (1_772_323_200_123, 5, 0));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    #[inline]
    pub fn try_next_id(&self, now_ms: i64) -> Result<u64, Error> {
        self.minter.try_next_id(now_ms)
    }

    /// Returns up to `want` consecutive IDs (1 or more) at the time `now_ms` (Unix ms). Never waits.
    ///
    /// Returns fewer IDs, if the missing ones will be free within `patience_ms`, and fails otherwise. So with a
    /// patience of 0 it is all or nothing.
    ///
    /// # Errors
    /// See the table of the type. A refused call changes nothing.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Integer, Snowflake, layouts::SNOWMINT};
    /// let generator = Snowflake::new(&SNOWMINT, Integer::from(5))?;
    /// let ids: Vec<_> = generator.try_run(1_772_323_200_123, 3, 0)?.collect();
    /// assert_eq!((ids[1], ids[2]), (ids[0] + 1, ids[0] + 2));
    /// // A ms has 4,096 IDs of a node.
    /// assert!(generator.try_run(1_772_323_200_123, 4096, 0).is_err());
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn try_run(&self, now_ms: i64, want: u64, patience_ms: u64) -> Result<Run<'_>, Error> {
        self.minter.try_run(now_ms, want, patience_ms)
    }

    /// Works as [`Minter::next_local`].
    ///
    /// # Errors
    /// See the table of the type.
    #[inline]
    pub fn next_local(&self, run: &mut LocalRun, now_ms: i64) -> Result<u64, Error> {
        self.minter.next_local(run, now_ms)
    }

    /// Returns the next ID. Waits at most `max_wait_ms`.
    ///
    /// # Errors
    /// See the table of the type; also an error of the host's clock or pause.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Integer, Snowflake, SystemHost, layouts::SNOWMINT};
    /// let generator = Snowflake::new(&SNOWMINT, Integer::from(5))?;
    /// let id = generator.next_id(&mut SystemHost::new())?;
    /// assert_eq!(SNOWMINT.decode(id)?.node, 5);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    #[inline]
    pub fn next_id<H: Host>(&self, host: &mut H) -> Result<u64, H::Error> {
        let now_ms = host.now_ms()?;
        match self.try_next_id(now_ms) {
            Ok(id) => Ok(id),
            Err(error) => self.next_id_after(error, host),
        }
    }

    #[cold]
    fn next_id_after<H: Host>(&self, mut error: Error, host: &mut H) -> Result<u64, H::Error> {
        loop {
            self.pause(&error, host)?;
            match self.try_next_id(host.now_ms()?) {
                Ok(id) => return Ok(id),
                Err(again) => error = again,
            }
        }
    }

    /// Hands `count` IDs to `sink`, run by run. Waits at most `max_wait_ms` in all.
    ///
    /// A batch that cannot be complete within that time is refused at once and takes no ID. If the clock stops during
    /// the batch, the IDs taken so far are lost: IDs may have gaps.
    ///
    /// # Errors
    /// See the table of the type; also an error of the host's clock or pause.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Integer, Snowflake, SystemHost, layouts::SNOWMINT};
    /// let generator = Snowflake::new(&SNOWMINT, Integer::from(5))?;
    /// let mut ids = Vec::new();
    /// generator.take(&mut SystemHost::new(), 5000, |run| ids.extend(run))?;
    /// assert!(ids.len() == 5000 && ids.is_sorted());
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn take<H: Host>(&self, host: &mut H, count: usize, mut sink: impl FnMut(Run<'_>)) -> Result<(), H::Error> {
        let mut left = count as u64;
        let mut patience_ms = self.options.max_wait_ms;
        while left > 0 {
            match self.try_run(host.now_ms()?, left, patience_ms) {
                Ok(run) => {
                    left -= run.len() as u64;
                    // The batch has begun: now only the deadline ends it.
                    patience_ms = u64::MAX;
                    sink(run);
                }
                // The batch cannot be complete in time, so waiting does not help.
                Err(error) if error.retry_after_ms().is_some_and(|ms| ms > patience_ms) => return Err(error.into()),
                Err(error) => self.pause(&error, host)?,
            }
        }
        Ok(())
    }

    /// Fills `ids`, as [`Snowflake::take`] does. Waits at most `max_wait_ms` in all.
    ///
    /// # Errors
    /// See the table of the type; also an error of the host's clock or pause.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Integer, Snowflake, SystemHost, layouts::SNOWMINT};
    /// let generator = Snowflake::new(&SNOWMINT, Integer::from(5))?;
    /// let mut ids = [0; 100];
    /// generator.fill(&mut SystemHost::new(), &mut ids)?;
    /// assert!(ids[0] > 0 && ids.is_sorted());
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn fill<H: Host>(&self, host: &mut H, ids: &mut [u64]) -> Result<(), H::Error> {
        let mut filled = 0;
        self.take(host, ids.len(), |mut run| filled += run.write(&mut ids[filled..]))
    }

    fn pause<H: Host>(&self, error: &Error, host: &mut H) -> Result<(), H::Error> {
        let pause_ms = error.wait_ms().map_or(0, |wanted_ms| self.options.pause_ms(wanted_ms, host.paused_ms()));
        if pause_ms > 0 { host.pause(pause_ms) } else { Err((*error).into()) }
    }
}
