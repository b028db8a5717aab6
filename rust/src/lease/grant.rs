//! A granted node, before a process opens its cell.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use snowmint_core::Window;
use snowmint_stores::Error;
use snowmint_stores::host::Outcome;

use super::lessor_clock::LessorClock;
use super::outer::Outer;

/// A granted node. Its window is durable.
#[derive(Debug)]
pub(crate) struct Grant {
    pub(crate) node: u32,
    pub(crate) window: Window,
    pub(crate) window_ms: u64,
    /// The random identity of the claim.
    pub(crate) nonce: u128,
    /// Renews and releases the node.
    pub(crate) holding: Box<dyn Holding>,
    /// The clock of the lessor, if a lessor granted the node.
    pub(crate) clock: Option<Arc<LessorClock>>,
    /// The reservation within which the windows lie, if a store has granted one.
    pub(crate) outer: Option<Arc<Outer>>,
    /// How far this machine's clock is ahead of the store's, in ms.
    pub(crate) skew_ms: Option<i64>,
    /// The writes that a failover of the store could lose.
    pub(crate) standby_risk: Option<Error>,
    /// Slot files or records that are not valid.
    pub(crate) skipped: Vec<String>,
}

/// A node that this process holds: by a locked file, a record in a store, or the grant of a lessor.
#[async_trait]
pub(crate) trait Holding: fmt::Debug + Send + Sync {
    /// Extends the window to `reach_ms` past `now_ms` or past `last_ms`, the start of the first unused tick (Unix ms).
    async fn renew(&mut self, now_ms: i64, last_ms: i64, reach_ms: u64) -> Outcome;

    /// Releases the node; no ID at or past `end_ms` (Unix ms) was taken. If that fails, the window runs out by itself.
    async fn release(self: Box<Self>, end_ms: i64);
}
