//! A few short threads on one cell, which Miri can run in many schedules (`scripts/miri.sh`).

use std::thread;

use snowmint_core::layouts::SNOWMINT;
use snowmint_core::{ErrorKind, Options, Snowflake, Window, Words};

const NOW_MS: i64 = 1_772_323_200_000;
const EACH: usize = 6;
const OPTIONS: Options = Options { max_ahead_ms: 1000, ..Options::DEFAULT };

fn assert_unique(mut ids: Vec<u64>) {
    let minted = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), minted, "duplicates among {minted} IDs");
}

fn leased(window: Window) -> Snowflake {
    let words = Words::wiped();
    assert!(words.open(&SNOWMINT, window), "the layout has ticks there");
    Snowflake::with(&SNOWMINT, 7, OPTIONS, words)
}

/// Mints until `WindowClosed`, at most `EACH` IDs.
fn mint(generator: &Snowflake) -> Vec<u64> {
    let mut ids = Vec::new();
    for i in (0..).take(EACH) {
        match generator.try_next_id(NOW_MS + i) {
            Ok(id) => ids.push(id),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WindowClosed);
                break;
            }
        }
    }
    assert!(ids.is_sorted_by(|a, b| a < b), "IDs of one thread increase");
    ids
}

#[test]
fn single_ids_and_runs_of_several_threads_never_repeat() {
    let generator = Snowflake::with(&SNOWMINT, 7, OPTIONS, Words::vouched());
    let ids = thread::scope(|scope| {
        let single = [0, 1].map(|_| scope.spawn(|| mint(&generator)));
        let run = generator.try_run(NOW_MS, 300, 0).expect("within a tick").collect::<Vec<_>>();
        single.into_iter().flat_map(|thread| thread.join().expect("no panic")).chain(run).collect::<Vec<_>>()
    });
    assert_eq!(ids.len(), 2 * EACH + 300);
    assert_unique(ids);
}

#[test]
fn a_release_beside_minting_threads_repeats_nothing() {
    let first = leased(Window { start_ms: NOW_MS, end_ms: NOW_MS + 3 });
    let ids = thread::scope(|scope| {
        let minting = [0, 1].map(|_| scope.spawn(|| mint(&first)));
        let renewing = scope.spawn(|| first.words().extend(&SNOWMINT, NOW_MS + 3000));
        let mut ids = mint(&first);
        let end_ms = first.words().close(&SNOWMINT).expect("closed once");
        let second = leased(Window::first(&SNOWMINT, Some(end_ms), NOW_MS, 3000));
        ids.extend(mint(&second));
        renewing.join().expect("no panic");
        ids.extend(minting.into_iter().flat_map(|thread| thread.join().expect("no panic")));
        ids
    });
    assert!(ids.len() >= EACH, "the second holder mints all of its own");
    assert_unique(ids);
}
