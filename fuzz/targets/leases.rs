//! Plays scripts of holders, clocks and crashes: no ID repeats, and every ID lies in the window on disk.
#![no_main]

#[path = "../../tests/conformance/leases/model.rs"]
mod model;

use std::collections::HashMap;

use libfuzzer_sys::fuzz_target;
use model::{Action, Step, Terms, play};
use snowmint_core::Layout;

const TEXTS: [&str; 3] = [
    "time:41,node:1,sequence:3;epoch=1735689600000;tick=1ms",
    "unused:1,time:39,sequence:2,node:2;epoch=1735689600007;tick=10ms",
    "time:32,node:1,sequence:4;epoch=1735689600777;tick=1s",
];

/// Reads a step from four bytes: the holder, the action, its amount, and the movement of the clock.
fn step(bytes: [u8; 4]) -> Step {
    let [who, much, low, high] = bytes;
    let fine_ms = i64::from(i16::from_le_bytes([low, high]));
    Step {
        holder: usize::from(who & 3),
        // Up to 6 s, or up to 16 days.
        clock_ms: if who & 0x80 == 0 { fine_ms % 6000 } else { fine_ms * 43_211 },
        action: match (who >> 2) & 15 {
            0..=4 => Action::Mint(much % 16),
            5..=7 => Action::Run(much),
            8..=10 => Action::Renew,
            11 => Action::Release,
            12 => Action::Crash,
            13 => Action::Evict,
            _ => Action::Late,
        },
    }
}

fuzz_target!(|script: &[u8]| {
    let [kind, ahead, length, rest @ ..] = script else { return };
    let layout = Layout::parse(TEXTS[usize::from(*kind) % TEXTS.len()]).expect("valid");
    let max_ahead_ms = if ahead & 1 == 0 { 0 } else { u64::from(*ahead) * 8 };
    let window_ms = (1000 + u64::from(*length) * 20).max(4 * layout.tick_ms());
    let terms = Terms { layout, holders: 4, max_ahead_ms, window_ms, start_ms: 1_772_323_200_123 };
    // Longer scripts find no more than shorter ones.
    let report = play(&terms, rest.as_chunks().0.iter().take(200).copied().map(step));
    let most_ahead_ms = max_ahead_ms.cast_signed();
    let (mut ledger, mut last) = (HashMap::new(), HashMap::new());
    for minted in report.minted {
        let id_ms = layout.decode(minted.id).expect("its own").timestamp_ms;
        if let Some(before) = ledger.insert(minted.id, minted) {
            panic!("a duplicate ID: {before:?}, and then {minted:?}");
        }
        let last = last.insert(minted.lease, minted.id);
        assert!(last.is_none_or(|last| last < minted.id), "IDs of one lease repeat or go back: {last:?}, {minted:?}");
        assert!((minted.window.start_ms..minted.window.end_ms).contains(&id_ms), "outside its window: {minted:?}");
        assert!(id_ms.saturating_sub(minted.now_ms) <= most_ahead_ms, "too far ahead: {minted:?}");
    }
    let longest_ms = window_ms.cast_signed() + most_ahead_ms;
    assert!(report.gaps_ms.iter().all(|gap_ms| *gap_ms <= longest_ms), "a long gap: {:?}", report.gaps_ms);
});
