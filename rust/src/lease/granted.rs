//! A granted node, before a process opens its cell.

use std::sync::Arc;
use std::time::Instant;

use snowmint_core::Window;
use snowmint_stores::Error;

use super::held::Hold;
use super::lessor_clock::LessorClock;

/// A granted node, as its slot, store or lessor granted it.
#[derive(Debug)]
pub(crate) struct GrantedNode {
    pub(crate) hold: Hold,
    /// When the claim read the clock: the window counts from then.
    pub(crate) since: Instant,
    pub(crate) node: u32,
    pub(crate) window: Window,
    pub(crate) window_ms: u64,
    /// The clock of the lessor, if a lessor granted the node.
    pub(crate) clock: Option<Arc<LessorClock>>,
    /// How far this machine's clock is ahead of the store's, in ms.
    pub(crate) skew_ms: Option<i64>,
    /// The writes that a failover of the store could lose.
    pub(crate) standby_risk: Option<Error>,
    /// Slot files or records that are not valid.
    pub(crate) skipped: Vec<String>,
}
