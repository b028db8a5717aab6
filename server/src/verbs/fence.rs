//! `snowmint fence`: after a lossy failover or a restored backup, moves everything in a store above all numbers that may have
//! been given out.

use std::io::{Write as _, stdout};
use std::process::ExitCode;

use snowmint_core::SystemHost;
use snowmint_core::time::Rfc3339;
use snowmint_stores::fence::{Fence, raise};

use super::operate::with_store_and_slots;
use crate::arguments::operate;
use crate::exit::Exit;
use crate::service::USERS;

/// How far ahead a fence may be without `--far`, in ms: a fence at a mistyped time cannot be lowered.
const NEAR_MS: i64 = 24 * 60 * 60 * 1000;

/// Raises every window end and every counter, and prints how many of each kind.
pub fn fence(options: &operate::Fence) -> Result<ExitCode, Exit> {
    if !options.far && options.until > SystemHost::unix_ms().saturating_add(NEAR_MS) {
        let until = Rfc3339(options.until);
        return Err(Exit::Wrong(format!(
            "--until {until} is more than a day ahead, and no node would mint before that time: add --far if IDs are that late"
        )));
    }
    with_store_and_slots(&options.place, async |store, slots| {
        let fence = Fence {
            until_ms: options.until,
            skip: options.skip,
            tickets: options.tickets.clone(),
            sets: vec![USERS.to_owned()],
        };
        let mut raised = raise(&*store, &fence).await?;
        if let Some(slots) = slots {
            raised.push(("slots", slots.fence(options.until)?));
        }
        let mut out = stdout().lock();
        for (what, count) in raised {
            writeln!(out, "{what:<9}  {count}")?;
        }
        Ok(ExitCode::SUCCESS)
    })
}
