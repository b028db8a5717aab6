//! A lease of a node over a store: claim, renewal and release.
//!
//! A store keeps a [`Record`] for each node of a namespace: its holder, and the end of its window. A holder writes the end
//! of its window before it mints. Each write replaces the version that the holder has read, so a store never grants a node
//! twice for the same time, whatever the clocks say and however late a write arrives. Expiry decides only who may try.
//!
//! [`Claim`] is the way to a node, and [`Renewal`] the way from window to window. Both are pure: a driver sends their
//! requests to a store and hands the replies back.

mod choice;
mod claim;
mod namespace;
mod record;
mod renewal;
mod terms;

pub use self::claim::{Claim, ClaimStep};
pub use self::namespace::{Floor, NamespaceRecord};
pub use self::record::{RECORD_BYTES, Record};
pub use self::renewal::{Renewal, RenewalStep};
pub use self::terms::Terms;

use crate::error::{Error, What};

/// Returns whether a generator of `node` is vouched for by its caller: a node that comes with a store or a namespace is
/// leased.
///
/// # Examples
/// ```
/// use snowmint_core::lease::is_vouched;
/// assert!(is_vouched(5, false, false));
/// assert!(!is_vouched(5, true, false));
/// ```
pub const fn is_vouched(_node: u32, has_store: bool, has_namespace: bool) -> bool {
    !has_store && !has_namespace
}

/// The places of the sentences that only leases need, for hosts that make texts themselves.
#[doc(hidden)]
pub fn sentences() -> impl Iterator<Item = usize> {
    use What::{
        FarEnd, LaterRecord, LayoutHidden, LeaseLost, NoRecord, NodeHeld, NodeTaken, NodesBusy, NodesFar, NodesTaken,
        RecordGone, RecordsGone,
    };
    [
        NodeHeld,
        NodeTaken,
        NodesTaken,
        NodesBusy,
        NodesFar,
        FarEnd,
        LeaseLost,
        LayoutHidden,
        NoRecord,
        LaterRecord,
        RecordGone,
        RecordsGone,
    ]
    .into_iter()
    .map(|what| what as usize)
}

/// How far ahead of the store's clock a window may end beyond its length, in ms.
const MAX_SKEW_MS: i64 = 60 * 60 * 1000;

/// Refuses a window that ends too far beyond the store's clock, because this machine's clock is wrong.
fn far_end(end_ms: i64, reach_ms: u64, store_ms: Option<i64>) -> Option<Error> {
    let store_ms = store_ms?;
    let latest_ms = store_ms.saturating_add_unsigned(reach_ms).saturating_add(MAX_SKEW_MS);
    (end_ms > latest_ms).then(|| Error::new(What::FarEnd, 0, end_ms.cast_unsigned(), store_ms.cast_unsigned()))
}
