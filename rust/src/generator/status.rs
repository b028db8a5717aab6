//! The status of a generator.

use snowmint_core::Window;
use snowmint_stores::Error;

/// The status of a generator.
///
/// # Examples
/// ```
/// use snowmint::{LeaseOptions, Snowflake};
/// # let directory = tempfile::tempdir()?;
/// # let store = format!("file:{}", directory.path().display());
/// let generator = Snowflake::lease(LeaseOptions::new().store(store).namespace("orders"))?;
/// let status = generator.status();
/// assert_eq!(status.namespace.as_deref(), Some("orders"));
/// assert!(status.lost.is_none() && status.renewal_failures == 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Status {
    /// The node in its IDs.
    pub node: u32,
    /// The granted window; `None` for a vouched node.
    pub window: Option<Window>,
    /// The reservation within which its windows lie; `None` without one.
    pub reserved: Option<Window>,
    /// The namespace of the lease.
    pub namespace: Option<String>,
    /// Whether the generator was closed.
    pub closed: bool,
    /// Why the lease was lost.
    pub lost: Option<Error>,
    /// Slot files or records that a claim left out because they are not valid.
    pub skipped: Vec<String>,
    /// How many renewals of the lease have failed since the last success.
    pub renewal_failures: u64,
    /// Why the last renewal failed, if none has succeeded since.
    pub renewal_error: Option<Error>,
    /// The writes that a failover of the store could lose, such as writes that a standby does not have, as the last renewal
    /// found. The lease goes on.
    pub standby_risk: Option<Error>,
    /// How far this machine's clock is ahead of the store's, in ms, if the store has a clock.
    pub skew_ms: Option<i64>,
    /// How far the times of its IDs can be from the clock of the store, or of this machine for its slots, in ms. IDs of two
    /// generators sort in the order of their calls, if the calls lie further apart than the sum of this for both. `None` for a
    /// vouched node, a clock of the caller, and a store without a clock.
    pub disorder_ms: Option<u64>,
}
