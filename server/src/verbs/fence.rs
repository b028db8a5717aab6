//! `snowmint fence`: after a lossy failover or a restored backup, moves everything in a store above all numbers that may have
//! been given out.

use std::time::Duration;

use serde_json::json;
use snowmint_core::SystemHost;
use snowmint_core::time::Rfc3339;
use snowmint_stores::fence::{Fence, Raised, raise};

use super::operate::with_store_and_slots;
use crate::arguments::operate;
use crate::service::USERS;
use snowmint_cli::{Exit, working};

/// How far ahead a fence may be without `--far`, in ms: a fence at a mistyped time cannot be lowered.
const MAX_DISTANCE_MS: i64 = 24 * 60 * 60 * 1000;

/// Raises every window end and every counter, and prints how many of each kind.
pub fn fence(options: &operate::Fence) -> Result<u8, Exit> {
    let wanted_ms = options.until.0;
    if let Some(until) =
        wanted_ms.filter(|ms| !options.far && *ms > SystemHost::unix_ms().saturating_add(MAX_DISTANCE_MS))
    {
        let until = Rfc3339(until);
        return Err(Exit::Wrong(format!(
            "--until {until} is more than a day ahead, and no node would mint before that time: add --far if IDs are that late"
        )));
    }
    with_store_and_slots(&options.place, async |store, slots| {
        let slots_end_ms = match &slots {
            Some(slots) => slots.list(None)?.iter().filter_map(|slot| Some(slot.record?.window.end_ms)).max(),
            None => None,
        };
        let mut fence = Fence::skipping(options.skip)
            .until_ms(wanted_ms)
            .slots_end_ms(slots_end_ms)
            .accepts_empty(options.empty)
            .tickets(options.tickets.iter().cloned())
            .sets([USERS]);
        if let Some(ms) = options.max_window_ms {
            fence = fence.reach(Duration::from_millis(ms));
        }
        let line = working("raising windows and counters");
        let Raised { until_ms, mut counts, .. } = raise(&*store, &fence).await?;
        if let Some(slots) = slots {
            counts.push(("slots", slots.fence(until_ms)?));
        }
        drop(line);
        options.place.print(format!("store      {}", store.name()), &json!({ "store": store.name() }))?;
        for (kind, count) in counts {
            options.place.print(format!("{kind:<9}  {count}"), &json!({ "kind": kind, "count": count }))?;
        }
        options.place.print(format!("new IDs    from {}", Rfc3339(until_ms)), &json!({ "until": until_ms }))?;
        Ok(0)
    })
}
