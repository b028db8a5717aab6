//! A process of the fleet.

use crate::allocator::Allocator;
use crate::holder::Holder;
use crate::keeper::Keeper;

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "most processes are the large one")]
pub(super) enum Role {
    Holder(Holder),
    Allocator(Allocator),
    Keeper(Keeper),
}

#[derive(Debug)]
pub(super) struct Process {
    pub(super) role: Role,
    /// How often the process began anew. Events of an earlier life are void.
    pub(super) life: u32,
    /// Until when the process stands still, in ms from the start.
    pub(super) stalled_until_ms: u64,
    /// Until when messages do not come through.
    pub(super) cut_until_ms: u64,
    /// How far the wall clock is ahead.
    pub(super) ahead_ms: i64,
    /// The request that the process waits for.
    pub(super) waits_for: Option<u64>,
}
