//! Leases under arbitrary clocks: properties that hold for every script of holders, clocks and crashes.

mod generator;
mod model;

use std::collections::HashMap;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use snowmint_core::Layout;
use snowmint_tests::tries;

use self::model::{Action, Minted, Report, Step, Terms, play};

const DAY_MS: i64 = 86_400_000;
/// An instant inside a tick of the coarser layouts.
const START_MS: i64 = 1_772_323_200_123;

fn layouts() -> impl Strategy<Value = Layout> {
    // Few nodes and few IDs per tick, so that holders meet and ticks are used up. Two epochs are not whole seconds.
    let texts = [
        "time:41,node:1,sequence:3;epoch=1735689600000;tick=1ms",
        "unused:1,time:39,sequence:2,node:2;epoch=1735689600007;tick=10ms",
        "time:32,node:1,sequence:4;epoch=1735689600777;tick=1s",
    ];
    proptest::sample::select(texts.map(|text| Layout::parse(text).expect("valid")).to_vec())
}

fn terms() -> impl Strategy<Value = Terms> {
    (layouts(), 1usize..5, prop_oneof![Just(0u64), 0u64..2000], 1000u64..6000).prop_map(
        |(layout, holders, max_ahead_ms, window_ms)| {
            let window_ms = window_ms.max(4 * layout.tick_ms());
            Terms { layout, holders, max_ahead_ms, window_ms, start_ms: START_MS }
        },
    )
}

fn steps() -> impl Strategy<Value = Step> {
    let clock_ms = prop_oneof![
        30 => -3i64..20,
        20 => -200i64..3000,
        4 => -20_000i64..20_000,
        1 => -3 * DAY_MS..3 * DAY_MS,
    ];
    let action = prop_oneof![
        8 => (1u8..12).prop_map(Action::Mint),
        4 => (1u8..60).prop_map(Action::Run),
        4 => Just(Action::Renew),
        2 => Just(Action::Release),
        2 => Just(Action::Crash),
        1 => Just(Action::Evict),
        2 => Just(Action::Late),
    ];
    (0usize..5, clock_ms, action).prop_map(|(holder, clock_ms, action)| Step { holder, clock_ms, action })
}

fn reports() -> impl Strategy<Value = (Terms, Report)> {
    // The script is played while it is generated, so a failure shows the terms and the minted IDs.
    (terms(), proptest::collection::vec(steps(), 1..120)).prop_map(|(terms, script)| {
        let report = play(&terms, script);
        (terms, report)
    })
}

fn tick_ms(terms: &Terms, minted: &Minted) -> i64 {
    terms.layout.decode(minted.id).expect("its own").timestamp_ms
}

proptest! {
    #![proptest_config(ProptestConfig { cases: tries(2000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_id_is_minted_twice_under_any_clock((_, report) in reports()) {
        let mut ledger = HashMap::new();
        let mut last = HashMap::new();
        for minted in report.minted {
            if let Some(before) = ledger.insert(minted.id, minted) {
                prop_assert!(false, "a duplicate ID: {:?}, and then {:?}", before, minted);
            }
            let last = last.entry(minted.lease).or_insert(0);
            prop_assert!(minted.id > *last, "IDs of one lease repeat or go back: {} before {:?}", last, minted);
            *last = minted.id;
        }
    }

    #[test]
    fn every_id_lies_in_the_durable_window_near_the_clock((terms, report) in reports()) {
        for minted in &report.minted {
            let (id_ms, Minted { window, now_ms, .. }) = (tick_ms(&terms, minted), *minted);
            prop_assert!((window.start_ms..window.end_ms).contains(&id_ms), "{} ms outside its window: {:?}", id_ms, minted);
            let ahead_ms = id_ms.saturating_sub(now_ms);
            prop_assert!(ahead_ms <= i64::try_from(terms.max_ahead_ms).expect("small"), "{} ms ahead", ahead_ms);
        }
    }

    #[test]
    fn a_crash_costs_at_most_window_plus_max_ahead_ms((terms, report) in reports()) {
        let most_ms = i64::try_from(terms.window_ms + terms.max_ahead_ms).expect("small");
        for gap_ms in report.gaps_ms {
            prop_assert!(gap_ms <= most_ms, "a gap of {} ms", gap_ms);
        }
    }
}

#[test]
fn random_scripts_mint_crash_and_claim_often() {
    let mut runner = TestRunner::deterministic();
    let (mut minted, mut gaps, mut leases) = (0, 0, 0);
    for _ in 0..500 {
        let (_, report) = reports().new_tree(&mut runner).expect("a script").current();
        minted += report.minted.len();
        gaps += report.gaps_ms.len();
        leases += report.minted.last().map_or(0, |last| last.lease);
    }
    assert!(minted > 50_000 && gaps > 500 && leases > 2000, "{minted} IDs, {gaps} crashes, {leases} leases");
}
