//! The generator that keeps its promises across forks, restarts and steps of the clock: core's generator on a cell of this
//! process.

pub(crate) mod clock;
mod incarnation;
mod mint;
pub(crate) mod options;
pub(crate) mod source;
pub(crate) mod status;
pub(crate) mod system;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};

use snowmint_core::{Host, Layout, Options, SystemHost, Window};
use snowmint_stores::Error;
use snowmint_stores::host::background::{Pending, block_on};

pub(crate) use self::mint::OfThread;

use self::incarnation::Incarnation;
use self::options::LeaseOptions;
use self::source::Source;
use self::status::Status;
use crate::environment::Environment;
use crate::lease::Lease;
use crate::lease::acquire::acquire;
use crate::lease::key::{ClockId, LeaseKey};
use crate::lease::on_lost::OnLost;
use crate::lease::registry::{forget_ended, registry};
use crate::lease::release::wait_for;
#[cfg(feature = "tokio")]
use crate::lease::release::wait_for_async;
#[cfg(feature = "tokio")]
use crate::lease::wait::Asynchronous;
use crate::lease::wait::{Blocking, Wait};

/// A generator of IDs on a vouched or a leased node, safe to use after a fork.
///
/// | | in the process that made it | in a forked child |
/// | --- | --- | --- |
/// | vouched node | shares its state with generators of the same layout, node and clock | `Forked` |
/// | leased node that the caller named | shares its lease with generators of the same store, namespace and layout | `Forked` |
/// | any leased node | shares its lease in the same way | leases another node when first used |
///
/// The methods are the same as in [`snowmint_core::Snowflake`], with the clock as an argument.
#[derive(Debug)]
pub struct ProcessGenerator {
    first: Incarnation,
    layout: Layout,
    options: Options,
    /// The lease to claim again in a forked child; `None` for a vouched node.
    key: Option<Arc<LeaseKey>>,
    on_lost: Option<OnLost>,
    closed: AtomicBool,
}

impl ProcessGenerator {
    /// Opens a generator. The environment fills in a missing node, store and namespace (`SNOWMINT_NODE`, `SNOWMINT_STORE`,
    /// `SNOWMINT_NAMESPACE`). Then:
    /// 1. a node without a store and without a namespace is vouched for by the caller;
    /// 2. a node with a store or a namespace is leased;
    /// 3. without a node any free node is leased: from the store, or without a store from the slots of this machine.
    ///
    /// # Errors
    /// `InvalidNode`, `InvalidLayout`, `TimeOverflow`, `BeforeEpoch`; for a lease also `NodesExhausted`,
    /// `StoreUnavailable`, `InvalidStore`, `UnsafeStore`; and errors of the host's clock or wait.
    pub fn open<H>(options: LeaseOptions, environment: &Environment, host: &mut H) -> Result<Self, H::Error>
    where
        H: Host,
        H::Error: From<Error>,
    {
        block_on(Self::resolve(options, environment, false, &mut Blocking(host)))
    }

    /// Opens a generator as [`ProcessGenerator::open`] does, but leases a node in the options in any case.
    ///
    /// # Errors
    /// As [`ProcessGenerator::open`].
    pub fn lease<H>(options: LeaseOptions, environment: &Environment, host: &mut H) -> Result<Self, H::Error>
    where
        H: Host,
        H::Error: From<Error>,
    {
        block_on(Self::resolve(options, environment, true, &mut Blocking(host)))
    }

    /// Opens a generator on a node for which the caller vouches: no other process uses it at the same time or later.
    ///
    /// # Errors
    /// `InvalidNode`, if a generator of this process leases the node; `TimeOverflow`; `InvalidLayout`, if no generator can
    /// mint in the layout.
    pub fn vouched(layout: &Layout, node: u32, options: Options, clock: Option<ClockId>) -> Result<Self, Error> {
        layout.refuse_unmintable()?;
        if clock.is_none() {
            layout.refuse_if_over(SystemHost::unix_ms())?;
        }
        let cell = registry().vouched(clock, layout, node)?;
        let first = Incarnation::new(layout, node, options, cell, None);
        let closed = AtomicBool::new(false);
        Ok(Self { first, layout: *layout, options, key: None, on_lost: None, closed })
    }

    /// Opens a generator as [`ProcessGenerator::lease`] does, on a runtime of tokio: no thread waits.
    ///
    /// # Errors
    /// As [`ProcessGenerator::open`].
    #[cfg(feature = "tokio")]
    pub async fn lease_async<H>(
        options: LeaseOptions,
        environment: &Environment,
        host: &mut H,
    ) -> Result<Self, H::Error>
    where
        H: Host,
        H::Error: From<Error>,
    {
        // A claim is rare, and its future is large.
        Box::pin(Self::resolve(options, environment, true, &mut Asynchronous::new(host))).await
    }

    async fn resolve<W: Wait>(
        options: LeaseOptions,
        environment: &Environment,
        leases: bool,
        wait: &mut W,
    ) -> Result<Self, W::Error> {
        let layout = environment.layout(options.layout)?;
        let LeaseOptions { options: own, clock, .. } = options;
        let on_lost = options.on_lost.clone();
        let key = match options.resolve(environment, leases)? {
            Source::Vouched(node) => return Ok(Self::vouched(&layout, node, own, clock)?),
            Source::Leased(key) => key,
        };
        // A caller's clock may be a script, which a reading here would advance.
        if clock.is_none() && !key.backend.has_clock() {
            layout.refuse_if_over(SystemHost::unix_ms()).map_err(Error::from)?;
        }
        let first = Incarnation::leased(&layout, own, acquire(&key, own, wait).await?);
        first.serve(own, on_lost.as_ref());
        Ok(Self { first, layout, options: own, key: Some(key), on_lost, closed: AtomicBool::new(false) })
    }

    /// Returns the time that the generator reads, Unix ms: the lessor's, or without a lessor the host's.
    ///
    /// # Errors
    /// The host's.
    #[inline]
    pub fn now_ms<H: Host>(&self, host: &mut H) -> Result<i64, H::Error> {
        self.lessor_ms().map_or_else(|| host.now_ms(), Ok)
    }

    /// Returns the lessor's time (Unix ms), if there is a lessor.
    #[inline]
    pub fn lessor_ms(&self) -> Option<i64> {
        if self.key.as_ref().is_some_and(|key| key.backend.has_clock()) {
            self.current().lease().and_then(Lease::lessor_ms)
        } else {
            None
        }
    }

    /// Returns the incarnation of this process.
    #[inline]
    fn current(&self) -> &Incarnation {
        let mut current = &self.first;
        while let Some(next) = current.next.get() {
            current = next;
        }
        current
    }

    #[inline]
    fn open_current(&self) -> Result<&Incarnation, Error> {
        if self.closed.load(Ordering::Relaxed) {
            Err(snowmint_core::Error::closed().into())
        } else {
            Ok(self.current())
        }
    }

    /// Returns the layout of the IDs.
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the options.
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the node in the IDs. In a forked child it is the parent's until the child has leased another one.
    pub fn node(&self) -> u32 {
        self.current().core.node()
    }

    /// Returns the granted window; `None` for a vouched node.
    pub fn window(&self) -> Option<Window> {
        self.current().lease().map(Lease::window)
    }

    /// Returns the warning about the slots of a container where one person works, for the caller to show. Each process gets
    /// it once.
    pub fn warning(&self) -> Option<&str> {
        static SHOWN: AtomicBool = AtomicBool::new(false);
        self.key.as_ref()?.backend.slots()?.warning.as_deref().filter(|_| !SHOWN.swap(true, Ordering::Relaxed))
    }

    /// Returns the status of the generator.
    pub fn status(&self) -> Status {
        let current = self.current();
        let lease = current.lease();
        Status {
            node: current.core.node(),
            window: lease.map(Lease::window),
            reserved: lease.and_then(Lease::reserved),
            namespace: self.key.as_ref().map(|key| key.terms.namespace.to_string()),
            closed: self.closed.load(Ordering::Relaxed),
            lost: lease.and_then(Lease::lost).cloned(),
            skipped: lease.map_or(&[][..], Lease::skipped).to_vec(),
            renewal_failures: lease.map_or(0, Lease::failures),
            renewal_error: lease.and_then(Lease::trouble),
            standby_risk: lease.and_then(Lease::standby_risk),
            skew_ms: lease.and_then(Lease::skew_ms),
            disorder_ms: lease.and_then(Lease::disorder_ms),
        }
    }

    /// Closes this generator: later calls fail with `WindowClosed`. The last generator of a lease releases it; others of the
    /// same node go on. A forked child does not touch the parent's lease.
    pub fn close(&self) {
        wait_for(self.begin_close());
        self.end_close();
    }

    /// Closes this generator as [`ProcessGenerator::close`] does, on a runtime of tokio: no thread waits for the release.
    #[cfg(feature = "tokio")]
    pub async fn close_async(&self) {
        wait_for_async(self.begin_close()).await;
        self.end_close();
    }

    fn begin_close(&self) -> Option<Pending<()>> {
        // Sequentially consistent with `follow`: one of the two calls sees the other.
        self.closed.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        self.current().leave(self.on_lost.as_ref())
    }

    /// Keeps a release that this thread must not wait for, because its store may hang.
    fn keep_release(&self, releasing: Option<Pending<()>>) {
        if let (Some(key), Some(releasing)) = (&self.key, releasing) {
            registry().keep_release(key, releasing);
        }
    }

    fn end_close(&self) {
        if let Some(key) = &self.key {
            forget_ended(key);
        }
    }
}

/// Releases the leases of this process over stores and lessors of the caller: for when these are about to go.
pub fn release_callers_stores() {
    crate::lease::registry::release_callers_stores();
}

/// Forgets the states of the vouched nodes on a clock of the caller: for when the clock is gone, and no generator of it is
/// made any more.
pub fn forget_clock(clock: ClockId) {
    crate::lease::registry::forget_clock(clock);
}

/// Releases all leases of this process: for when it is about to end by `_exit`, which runs no handlers.
pub fn release_leases() {
    crate::lease::registry::release_leases();
}

impl Drop for ProcessGenerator {
    fn drop(&mut self) {
        self.keep_release(self.begin_close());
        self.end_close();
    }
}
