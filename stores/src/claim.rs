//! The claim of a lease from where leases are kept.

use std::sync::Arc;
use std::time::Duration;

use snowmint_core::{Layout, Options};

use crate::error::Error;
use crate::file::{self, claim_in_time};
use crate::holding;
use crate::lease::Lease;
use crate::plan::{Keeper, Terms};
use crate::process::{Claim, process};
#[cfg(feature = "engines")]
use crate::remote;

pub(crate) use crate::file::Refused;

/// What came of a claim. Nothing in a forked child, which makes a claim of its own.
pub(crate) type Claimed = Option<Result<Arc<Lease>, Refused>>;

/// Takes a node for `claim`; its window is durable by then.
pub(crate) fn claim_node(claim: &Claim, layout: &Layout, options: Options, terms: &Terms, now_ms: i64) -> Claimed {
    if claim.is_of_parent() {
        return None;
    }
    settled(claim, lease(layout, options, terms, now_ms))
}

/// Leaves the lease to the parent in a forked child.
///
/// A signal handler may fork at any time. Parent and child then go on with the same claim, and both come to its end. So
/// the question is asked again once the lease has its cell: a fork after that leaves the child a wiped cell.
pub(crate) fn settled(claim: &Claim, claimed: Result<Lease, Refused>) -> Claimed {
    if claim.is_of_parent() {
        if let Ok(lease) = claimed {
            lease.leave_to_parent();
        }
        return None;
    }
    Some(claimed.map(Arc::new))
}

/// Claims a node, for whichever process this is by then.
pub(crate) fn lease(layout: &Layout, options: Options, terms: &Terms, now_ms: i64) -> Result<Lease, Refused> {
    let key = &terms.key;
    let own_clock = key.clock != 0;
    let (max_ahead_ms, window_ms) = (options.max_ahead_ms, terms.window_ms);
    if !key.keeper.has_clock() {
        layout.refuse_outside(now_ms).map_err(Error::from)?;
    }
    Ok(match &key.keeper {
        Keeper::Slots(place) => {
            let patience = Duration::from_millis(options.max_wait_ms);
            let (own_place, key, own_layout) = (place.clone(), Arc::clone(key), *layout);
            let claim = move || {
                let layout = &own_layout;
                let excluded = |node| key.exclude.contains(&node) || (!own_clock && process().is_vouched(layout, node));
                let wanted = file::Wanted { layout, now_ms, max_ahead_ms, window_ms, excluded: &excluded };
                own_place.claim(&key.namespace, &wanted)
            };
            Lease::of_slot(layout, claim_in_time(place, patience, claim)?, window_ms, own_clock)
        }
        #[cfg(feature = "engines")]
        Keeper::Engine(url) => {
            let grant = remote::claim(url, wanted(layout, options, terms, now_ms)?)?;
            Lease::of_engine(layout, grant, window_ms, own_clock)
        }
        Keeper::Given(given) => {
            let grant = given.claim(&wanted(layout, options, terms, now_ms)?)?;
            Lease::of_given(layout, grant, window_ms, own_clock)
        }
    })
}

/// What is wanted of a store.
fn wanted(layout: &Layout, options: Options, terms: &Terms, now_ms: i64) -> Result<holding::Wanted, Error> {
    let key = &terms.key;
    let system_clock = key.clock == 0;
    let mut excluded = key.exclude.clone();
    if system_clock {
        excluded.extend(process().vouched_nodes(layout));
    }
    Ok(holding::Wanted {
        namespace: key.namespace.clone(),
        layout: *layout,
        now_ms,
        max_ahead_ms: options.max_ahead_ms,
        window_ms: terms.window_ms,
        max_wait_ms: options.max_wait_ms,
        system_clock,
        excluded,
        holder: holding::Holder::this_process()?,
    })
}
