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
mod clock;
mod fence;
mod namespace;
mod nodes;
mod record;
mod renewal;
mod reservation;
mod service;
mod state;
mod terms;

pub use self::claim::{Claim, ClaimStep, claim_patience_ms};
pub use self::clock::lessor_ahead_us;
pub use self::fence::FenceTime;
pub use self::namespace::{Floor, NamespaceName, NamespaceRecord, NamespaceRefusal};
pub use self::nodes::{Outlook, SlotNodes, StoreNodes, Tally};
pub use self::record::{RECORD_BYTES, Record};
pub use self::renewal::{Renewal, RenewalStep};
pub use self::reservation::{FileIdentity, RESERVATION_BYTES, Reservation};
pub use self::service::{NOT_SNOWMINT, REFUSALS, TOKEN_REFUSED};
pub use self::state::NodeState;
pub use self::terms::Terms;

use crate::error::{Error, What};
use crate::layout::Layout;
use crate::layout::layouts::SNOWMINT;

/// Returns whether the caller vouches for the node that it gives: a node that comes with a store or a namespace is leased.
///
/// # Examples
/// ```
/// use snowmint_core::lease::is_vouched;
/// assert!(is_vouched(false, false));
/// assert!(!is_vouched(true, false));
/// ```
pub const fn is_vouched(has_store: bool, has_namespace: bool) -> bool {
    !has_store && !has_namespace
}

/// Returns the layout of a generator: the caller's, or else the one that the variable `SNOWMINT_LAYOUT` names, or else
/// [`SNOWMINT`].
///
/// # Errors
/// `InvalidLayout`, if the variable names no layout.
///
/// # Examples
/// ```
/// use snowmint_core::layouts::{LEAF, SNOWMINT, TWITTER};
/// use snowmint_core::lease::layout_of;
/// assert_eq!(layout_of(Some(TWITTER), Some("leaf")), Ok(TWITTER));
/// assert_eq!(layout_of(None, Some("leaf")), Ok(LEAF));
/// assert_eq!(layout_of(None, None), Ok(SNOWMINT));
/// ```
pub fn layout_of(given: Option<Layout>, variable: Option<&str>) -> Result<Layout, Error> {
    match (given, variable) {
        (Some(layout), _) => Ok(layout),
        (None, Some(name_or_text)) => Layout::find(name_or_text),
        (None, None) => Ok(SNOWMINT),
    }
}

/// Returns how far the time of an ID can be from the clock of the store, in ms: behind it by a tick and the error of this machine's
/// clock, or ahead of it by `max_ahead_ms` and this error. A positive skew is a clock that is ahead.
///
/// Two IDs of a fleet sort in the order of their calls, if the calls lie further apart than the sum of this for both generators.
///
/// # Examples
/// ```
/// use snowmint_core::layouts::{SNOWMINT, SONYFLAKE};
/// use snowmint_core::lease::disorder_ms;
/// assert_eq!(disorder_ms(&SNOWMINT, 1000, -3), 1004);
/// assert_eq!(disorder_ms(&SONYFLAKE, 0, 20), 30);
/// ```
pub const fn disorder_ms(layout: &Layout, max_ahead_ms: u64, skew_ms: i64) -> u64 {
    // A tick below 1 ms counts as one.
    let tick_ms = if layout.tick_ms() == 0 { 1 } else { layout.tick_ms() };
    max_ahead_ms.saturating_add(skew_ms.unsigned_abs()).saturating_add(tick_ms)
}

/// Refuses a lease of one node, if the caller also excludes the node or uses it without a lease in this process.
///
/// # Errors
/// `InvalidNode`.
///
/// # Examples
/// ```
/// use snowmint_core::ErrorKind;
/// use snowmint_core::lease::check_node;
/// assert_eq!(check_node(5, false, false), Ok(()));
/// assert_eq!(check_node(5, true, false).unwrap_err().kind(), ErrorKind::InvalidNode);
/// ```
pub const fn check_node(node: u32, is_excluded: bool, is_vouched: bool) -> Result<(), Error> {
    match (is_excluded, is_vouched) {
        (true, _) => Err(Error::new(What::NodeExcluded, 0, node as u64, 0)),
        (_, true) => Err(Error::new(What::NodeVouched, 0, node as u64, 0)),
        _ => Ok(()),
    }
}

/// The mean of the ms from a failed renewal to the next one.
const RETRY_MS: u64 = 200;

/// Returns the ms from a renewal to the next one: 35 to 50 % of a window, or of the `left_ms` of it if that is less, but
/// at least 100 ms. After `failures` in a row it is up to 400 ms.
///
/// `left_ms` is the time to the end of the granted window, less `max_ahead_ms`. That window can be shorter than the one
/// asked for: a service may shorten it, and a reservation or the device of a browser may end sooner.
///
/// The nonce of the lease decides, so that the leases of a fleet that started at one moment, or found their store again at one,
/// are not renewed at the same moment.
///
/// # Examples
/// ```
/// use snowmint_core::lease::renewal_pause_ms;
/// assert!((1050..=1500).contains(&renewal_pause_ms(3000, 3000, 0, 0x5eed)));
/// assert!((350..=500).contains(&renewal_pause_ms(3000, 1000, 0, 0x5eed)));
/// assert!((1..=400).contains(&renewal_pause_ms(3000, 3000, 1, 0x5eed)));
/// assert_eq!(renewal_pause_ms(3000, 0, 0, 0x5eed), 100);
/// ```
pub const fn renewal_pause_ms(window_ms: u64, left_ms: u64, failures: u64, nonce: u128) -> u64 {
    let granted_ms = if left_ms < window_ms { left_ms } else { window_ms };
    let spread_ms = if failures == 0 { granted_ms / 20 * 3 } else { 2 * RETRY_MS - 1 };
    let least_ms = if failures > 0 {
        1
    } else if granted_ms < 3 * RETRY_MS / 2 {
        RETRY_MS / 2
    } else {
        granted_ms / 2 - spread_ms
    };
    least_ms + bits_of(nonce, failures) % (spread_ms + 1)
}

/// Returns 64 bits of a nonce for its use of this number. They begin at another place for each of 128 uses.
const fn bits_of(nonce: u128, number: u64) -> u64 {
    // 29 has no factor in common with 128.
    nonce.rotate_right((number % 128 * 29) as u32) as u64
}

/// How far ahead of the store's clock a window may end beyond its length, in ms.
const MAX_SKEW_MS: i64 = 60 * 60 * 1000;

/// Refuses a window that ends too far beyond the store's clock, because this machine's clock is wrong.
fn far_end(end_ms: i64, reach_ms: u64, store_ms: Option<i64>) -> Option<Error> {
    let store_ms = store_ms?;
    let latest_ms = store_ms.saturating_add_unsigned(reach_ms).saturating_add(MAX_SKEW_MS);
    (end_ms > latest_ms).then(|| Error::new(What::FarEnd, 0, end_ms.cast_unsigned(), store_ms.cast_unsigned()))
}
