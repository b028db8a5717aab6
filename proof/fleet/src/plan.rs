//! The plan of a fleet, by its seed.

use std::sync::LazyLock;

use snowmint_core::Layout;
use snowmint_core::lease::Reservation;

use crate::faults::Rates;
use crate::random::Random;

/// When a run begins, Unix ms.
pub const START_MS: i64 = 1_772_323_200_000;

/// The layouts: four nodes, and 16 IDs a tick, of which a window has 60 to 120.
const LAYOUTS: [(u64, &str); 4] = [
    (1000, "time:41,node:2,sequence:4;epoch=1735689600007;tick=10ms"),
    (3000, "time:41,node:2,sequence:4;epoch=1735689600000;tick=50ms"),
    (30_000, "time:35,node:2,sequence:4;epoch=1735689600000;tick=500ms"),
    (3_600_000, "time:31,node:2,sequence:4;epoch=1735689600000;tick=30s"),
];

fn layouts() -> &'static [(u64, Layout)] {
    static PARSED: LazyLock<Vec<(u64, Layout)>> = LazyLock::new(|| {
        LAYOUTS.iter().map(|(window_ms, text)| (*window_ms, Layout::parse(text).expect("a layout"))).collect()
    });
    &PARSED
}

/// The size of a fleet, its windows and its load.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The layout of the IDs.
    pub layout: &'static Layout,
    /// The length of a window, in ms.
    pub window_ms: u64,
    /// How many processes lease nodes.
    pub holders: usize,
    /// How many processes fetch numbers of a segment.
    pub allocators: usize,
    /// How many processes share a section of users.
    pub keepers: usize,
    /// How many machines have reservations.
    pub machines: usize,
    /// How many processes each of these machines has.
    pub tenants: usize,
    /// The length of a reservation, in ms.
    pub reserve_ms: u64,
    /// How often a process mints in a window.
    pub works: u64,
    /// Whether threads take runs of IDs.
    pub local: bool,
    /// Whether claimers compare their clock with the store's.
    pub system_clock: bool,
    /// How far IDs may run ahead of the clock, in ms.
    pub max_ahead_ms: u64,
    /// The faults.
    pub rates: Rates,
    /// How many windows pass between two faults that are not of messages, as a mean of their hundredths.
    pub calm: u64,
}

impl Plan {
    /// The number of nodes of each layout.
    pub const NODES: usize = 4;
    /// The number of users of the section.
    pub const USERS: usize = 8;

    /// Returns the plan of the page: windows of 30 s, with little besides leases.
    pub fn for_page() -> Self {
        let (window_ms, layout) = &layouts()[2];
        Self {
            layout,
            window_ms: *window_ms,
            holders: 4,
            allocators: 0,
            keepers: 0,
            machines: 0,
            tenants: 0,
            reserve_ms: 0,
            works: 60,
            local: false,
            system_clock: false,
            max_ahead_ms: 0,
            rates: Rates::DEFAULT.without_machines(),
            calm: 60,
        }
    }

    /// Returns the plan of a seed.
    #[allow(clippy::cast_possible_truncation, reason = "small numbers")]
    pub fn of_seed(random: &mut Random) -> Self {
        // Half of the fleets have the longest windows, so that their runs last years.
        let at = (random.below(6) as usize).min(3);
        let (window_ms, layout) = &layouts()[at];
        // A window and what runs ahead of it are an hour at most.
        let may_run_ahead = *window_ms < 60 * 60 * 1000;
        let mut plan = Self {
            layout,
            window_ms: *window_ms,
            holders: 2 + random.below(4) as usize,
            allocators: 2 * random.below(2) as usize,
            keepers: 2 * random.below(2) as usize,
            machines: 0,
            tenants: 0,
            reserve_ms: 0,
            works: *random.pick(&[2, 8, 40]),
            local: random.happens(250),
            system_clock: random.happens(300),
            max_ahead_ms: if may_run_ahead && random.happens(300) { window_ms / 3 } else { 0 },
            rates: Rates::DEFAULT.without_machines(),
            calm: *random.pick(&[30, 100, 300]),
        };
        if random.happens(400) {
            (plan.machines, plan.tenants) = *random.pick(&[(1, 1), (1, 2), (2, 1)]);
            plan.reserve_ms = Reservation::MIN_MS.max(window_ms * random.pick(&[4, 8, 24]));
            plan.rates = Rates::DEFAULT;
        }
        plan
    }
}
