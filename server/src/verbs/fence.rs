//! `snowmint fence`: after a lossy failover or a restored backup, everything of a store goes on above what may be given.

use std::io::{Write as _, stdout};
use std::process::ExitCode;

use snowmint_stores::fence::{Fence, raise};

use super::operate::with_store;
use crate::arguments::operate;
use crate::exit::Exit;
use crate::service::USERS;

/// Raises every window's end and every counter.
pub fn fence(options: &operate::Fence) -> Result<ExitCode, Exit> {
    with_store(&options.place, async |store| {
        let fence = Fence {
            until_ms: options.until,
            skip: options.skip,
            tickets: options.tickets.clone(),
            sets: vec![USERS.to_owned()],
        };
        let raised = raise(&*store, &fence).await?;
        let mut out = stdout().lock();
        for (what, count) in raised {
            writeln!(out, "{what:<9}  {count}")?;
        }
        Ok(ExitCode::SUCCESS)
    })
}
