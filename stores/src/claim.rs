//! The claim of a lease from where leases are kept.

use std::sync::Arc;

use snowmint_core::{Layout, Options};

use crate::error::Error;
use crate::file;
use crate::holding;
use crate::lease::Lease;
use crate::plan::{Keeper, Terms};
use crate::process::process;
#[cfg(feature = "engines")]
use crate::remote;

pub(crate) use crate::file::Refused;

/// Takes a node; its window is durable by then.
pub(crate) fn claim_node(layout: &Layout, options: Options, terms: &Terms, now_ms: i64) -> Result<Arc<Lease>, Refused> {
    let key = &terms.key;
    let own_clock = key.clock != 0;
    let (max_ahead_ms, window_ms) = (options.max_ahead_ms, terms.window_ms);
    if !key.keeper.has_clock() {
        layout.refuse_outside(now_ms).map_err(Error::from)?;
    }
    let lease = match &key.keeper {
        Keeper::Slots(place) => {
            let excluded = |node| key.exclude.contains(&node) || (!own_clock && process().is_vouched(layout, node));
            let wanted = file::Wanted { layout, now_ms, max_ahead_ms, window_ms, excluded: &excluded };
            Lease::of_slot(layout, place.claim(&key.namespace, &wanted)?, window_ms, own_clock)
        }
        #[cfg(feature = "engines")]
        Keeper::Engine(url) => {
            let grant = remote::claim(url, wanted(layout, options, terms, now_ms)?)?;
            Lease::of_engine(layout, url, grant, window_ms, own_clock)?
        }
        Keeper::Given(given) => {
            let grant = given.claim(&wanted(layout, options, terms, now_ms)?)?;
            Lease::of_given(layout, grant, window_ms, own_clock)
        }
    };
    Ok(Arc::new(lease))
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
