//! How far apart the calls of two generators must lie, so that their IDs sort in the order of the calls.

use proptest::collection::vec;
use proptest::prelude::*;
use snowmint_core::layouts::{BAIDU, SNOWMINT, SONYFLAKE};
use snowmint_core::lease::disorder_ms;
use snowmint_core::{Layout, Options, Snowflake, Words};

const NOW_MS: i64 = 1_772_323_200_000;

proptest! {
    #[test]
    fn calls_that_lie_further_apart_than_both_bounds_give_ids_in_their_order(
        layout in prop_oneof![Just(SNOWMINT), Just(SONYFLAKE), Just(BAIDU)],
        fleet in vec((-2000..2000i64, 0..2000u64), 2..5),
        calls in vec((0..5usize, 0..300i64, 1..3000usize), 1..60),
    ) {
        let generator = |node: usize, max_ahead_ms| {
            let options = Options { max_ahead_ms, ..Options::DEFAULT };
            Snowflake::with(&layout, u32::try_from(node).expect("few"), options, Words::vouched())
        };
        let generators: Vec<_> = fleet.iter().enumerate().map(|(node, (_, ahead))| generator(node, *ahead)).collect();
        let bound = |node: usize| {
            let (skew_ms, max_ahead_ms) = fleet[node];
            i64::try_from(disorder_ms(&layout, max_ahead_ms, skew_ms)).expect("small")
        };
        // The first ID of each call, and the last one.
        let (mut now_ms, mut taken) = (NOW_MS, Vec::new());
        for (node, pause_ms, count) in calls {
            let node = node % fleet.len();
            now_ms += pause_ms;
            let ids = (0..count).map_while(|_| generators[node].try_next_id(now_ms + fleet[node].0).ok()).collect::<Vec<_>>();
            taken.extend(ids.first().into_iter().chain(ids.last()).map(|id| (now_ms, node, *id)));
        }
        for (early_ms, early_node, early) in &taken {
            for (late_ms, late_node, late) in &taken {
                if late_ms - early_ms > bound(*early_node) + bound(*late_node) {
                    prop_assert!(early < late, "{early} of {early_ms}, {late} of {late_ms}");
                }
            }
        }
    }
}

/// The bound is not larger than it must be: here IDs are out of order by all of it but a tick.
#[test]
fn a_clock_that_is_ahead_and_one_that_is_behind_use_the_bound_up() {
    let layout: &Layout = &SNOWMINT;
    let [ahead, behind] = [0, 1].map(|node| Snowflake::with(layout, node, Options::DEFAULT, Words::vouched()));
    let early = ahead.try_next_id(NOW_MS + 300).expect("an ID");
    let sum_ms = i64::try_from(disorder_ms(layout, 0, 300) + disorder_ms(layout, 0, -200)).expect("small");
    let late = |after_ms: i64| behind.try_next_id(NOW_MS + after_ms - 200).expect("an ID");
    assert!(late(sum_ms - 3) < early);
    assert!(late(sum_ms + 1) > early);
}
