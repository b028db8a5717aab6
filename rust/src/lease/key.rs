//! The identity of a lease in this process.

use std::hash::{Hash, Hasher};

use snowmint_core::Options;
use snowmint_stores::host::Terms;

use super::backend::Backend;

/// Identifies a clock of the caller. Generators share states and leases only if they read the same clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClockId(
    /// A number that no other clock of the process has.
    pub usize,
);

/// How much longer than a window a claim waits for its end, in ms.
const ROUNDING_MS: u64 = 100;

/// A lease to claim: its terms, and where it is kept.
///
/// Generators share one lease if backend, clock, namespace, layout, node and excluded nodes are the same.
#[derive(Debug)]
pub(crate) struct LeaseKey {
    pub(crate) backend: Backend,
    /// The caller's clock; `None` is the system's.
    pub(crate) clock: Option<ClockId>,
    pub(crate) terms: Terms,
}

impl LeaseKey {
    /// Returns the options with which a claim waits. In a reservation it waits at least one window, as after a crash.
    pub(crate) const fn patient(&self, options: Options) -> Options {
        let (given_ms, window_ms) = (options.max_wait_ms, self.terms.window_ms.saturating_add(ROUNDING_MS));
        match self.backend {
            Backend::Reserved(_) if given_ms < window_ms => Options { max_wait_ms: window_ms, ..options },
            _ => options,
        }
    }

    /// Returns whether both lease from one namespace of one backend.
    pub(crate) fn is_beside(&self, other: &Self) -> bool {
        self.backend == other.backend && self.terms.namespace == other.terms.namespace
    }
}

impl PartialEq for LeaseKey {
    fn eq(&self, other: &Self) -> bool {
        self.is_beside(other)
            && self.clock == other.clock
            && self.terms.layout.layout_id() == other.terms.layout.layout_id()
            && self.terms.nodes == other.terms.nodes
            && self.terms.exclude == other.terms.exclude
    }
}

impl Eq for LeaseKey {}

impl Hash for LeaseKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.backend.hash(state);
        self.terms.namespace.hash(state);
        self.terms.layout.layout_id().hash(state);
    }
}
