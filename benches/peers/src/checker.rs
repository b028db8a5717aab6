//! Checks the IDs of a contender.

use std::collections::HashSet;
use std::time::{SystemTime, UNIX_EPOCH};

/// The number of checked IDs, minted without a pause.
const CHECKED: usize = 300_000;

/// The place of the time in an ID, and the Unix ms of time 0.
#[derive(Clone, Copy)]
pub(crate) struct Time {
    pub(crate) shift: u32,
    pub(crate) epoch_ms: u64,
}

/// Mints IDs, and returns whether some repeat, are out of order, or have a time in the future.
pub(crate) fn verdict(mint: &mut dyn FnMut() -> u128, time: Option<Time>) -> String {
    let mut ids = Vec::with_capacity(CHECKED);
    let mut ahead_ms = 0;
    for _ in 0..CHECKED {
        let id = mint();
        ids.push(id);
        if let Some(time) = time {
            let ms = u64::try_from(id >> time.shift).unwrap_or(u64::MAX).saturating_add(time.epoch_ms);
            ahead_ms = ahead_ms.max(ms.saturating_sub(unix_ms()));
        }
    }
    let unique = ids.iter().collect::<HashSet<_>>().len();
    let below = ids.windows(2).filter(|pair| pair[0] >= pair[1]).count();
    let mut found = Vec::new();
    if unique < CHECKED {
        found.push(format!("{} of {CHECKED} repeat", CHECKED - unique));
    }
    if below > 0 {
        found.push(format!("{below} of {CHECKED} out of order"));
    }
    if ahead_ms > 0 {
        found.push(format!("up to {ahead_ms} ms ahead of the clock"));
    }
    if found.is_empty() { "unique and increasing".to_owned() } else { found.join(", ") }
}

fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
    u64::try_from(since.as_millis()).expect("a clock before the year 584 million")
}
