//! The part of a generator that belongs to one process.

use once_cell::race::OnceBox;
use snowmint_core::{ErrorKind, Layout, Options, Snowflake};
use snowmint_stores::Error;
use snowmint_stores::host::background::Pending;
use snowmint_stores::host::fork::Cell;

use crate::lease::Lease;
use crate::lease::on_lost::OnLost;
use crate::lease::registry::LeaseRef;

/// The generator of one process. A forked child adds its generator as `next`.
#[derive(Debug)]
pub(super) struct Incarnation {
    pub(super) core: Snowflake<Cell>,
    lease_ref: Option<LeaseRef>,
    pub(super) next: OnceBox<Self>,
}

impl Incarnation {
    pub(super) fn new(layout: &Layout, node: u32, options: Options, cell: Cell, lease_ref: Option<LeaseRef>) -> Self {
        // Each process has its own entropy. Without entropy IDs are still unique.
        let seed = if options.seed == 0 { getrandom::u64().unwrap_or_default() } else { options.seed };
        Self { core: Snowflake::with(layout, node, Options { seed, ..options }, cell), lease_ref, next: OnceBox::new() }
    }

    pub(super) fn leased(layout: &Layout, options: Options, lease_ref: LeaseRef) -> Self {
        let lease = &lease_ref.0;
        Self::new(layout, lease.node(), options, lease.cell(), Some(lease_ref))
    }

    /// Notes the needs of this generator in the lease.
    pub(super) fn serve(&self, options: Options, on_lost: Option<&OnLost>) {
        if let Some(lease) = self.lease() {
            lease.serve(options.max_ahead_ms, on_lost);
        }
    }

    /// Gives the reference to the lease up, once. The last reference begins to release the lease.
    pub(super) fn leave(&self, on_lost: Option<&OnLost>) -> Option<Pending<()>> {
        let lease_ref = self.lease_ref.as_ref()?;
        let releasing = lease_ref.leave();
        // A child must not touch the parent's lease: a thread of the parent may hold its locks.
        if let Some(on_lost) = on_lost.filter(|_| !self.core.words().is_wiped()) {
            lease_ref.0.forget(on_lost);
        }
        releasing
    }

    pub(super) fn lease(&self) -> Option<&Lease> {
        self.lease_ref.as_ref().map(|lease_ref| &*lease_ref.0)
    }

    /// Adds why the lease was lost or not renewed, where core knows only that its cell is closed or its window over.
    pub(super) fn explain(&self, error: snowmint_core::Error) -> Error {
        let Some(lease) = self.lease().filter(|_| error.kind() == ErrorKind::WindowClosed) else { return error.into() };
        if let Some(lost) = lease.lost() {
            return lost.clone();
        }
        lease.trouble().map_or_else(|| error.into(), |trouble| Error::explained(error, &trouble))
    }

    /// Asks for a renewal, if the end of the window stopped a call.
    pub(super) fn heed(&self, error: &snowmint_core::Error, now_ms: i64) {
        // A generator that is closed for good has no waiting time.
        if error.kind() == ErrorKind::WindowClosed
            && error.wait_ms().is_some()
            && let Some(lease) = self.lease()
        {
            lease.ask(now_ms);
        }
    }
}
