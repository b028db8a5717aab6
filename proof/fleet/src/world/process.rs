//! A process of the fleet.

use crate::allocator::Allocator;
use crate::holder::Holder;
use crate::keeper::Keeper;
use crate::tenant::Tenant;

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "most processes are the large one")]
pub(super) enum Role {
    Holder(Holder),
    Allocator(Allocator),
    Keeper(Keeper),
    Tenant(Tenant),
}

impl Role {
    /// Returns the number of its machine, if that has reservations.
    pub(super) const fn machine(&self) -> Option<usize> {
        match self {
            Self::Tenant(tenant) => Some(tenant.machine),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub(super) struct Process {
    pub(super) role: Role,
    /// How often the process began anew. Events of an earlier life are void.
    pub(super) life: u32,
    /// Until when the process is stalled, in ms from the start.
    pub(super) stalled_until_ms: u64,
    /// Until when messages do not come through.
    pub(super) cut_until_ms: u64,
    /// How far the wall clock is ahead.
    pub(super) ahead_ms: i64,
    /// The request that the process waits for.
    pub(super) waits_for: Option<u64>,
}
