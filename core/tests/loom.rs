//! Every interleaving of a few threads on a cell. The model checker loom runs the production code on its own atomics.
//!
//! `scripts/loom.sh` runs the models, and shows that each model fails without the check that it tests.
#![cfg(loom)]

use loom::model;
use loom::model::Builder;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicI64, Ordering};
use loom::thread;
use snowmint_core::{ErrorKind, Layout, LocalRun, Options, Snowflake, Window, Words};

/// Two IDs per tick, so that a few calls use up a tick.
const SMALL: &str = "time:8,node:2,sequence:1;epoch=0;tick=1ms";
const NODE: u32 = 1;

fn small() -> Layout {
    Layout::parse(SMALL).expect("valid")
}

fn generator(max_ahead_ms: u64, words: Words) -> Arc<Snowflake> {
    Arc::new(Snowflake::with(&small(), NODE, Options { max_ahead_ms, ..Options::DEFAULT }, words))
}

fn leased(max_ahead_ms: u64, window: Window) -> Arc<Snowflake> {
    let words = Words::wiped();
    assert!(words.open(&small(), window), "the layout has ticks there");
    generator(max_ahead_ms, words)
}

/// Mints at each of these times, and ignores refused calls.
fn mint(generator: &Snowflake, times_ms: &[i64]) -> Vec<u64> {
    let ids: Vec<_> = times_ms.iter().filter_map(|now_ms| generator.try_next_id(*now_ms).ok()).collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "IDs of one thread repeat or go back: {ids:?}");
    ids
}

fn assert_unique(ids: impl IntoIterator<Item = Vec<u64>>) {
    let mut ids: Vec<_> = ids.into_iter().flatten().collect();
    let minted = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), minted, "a duplicate among {minted} IDs: only {ids:?} differ");
}

fn minted_ms(id: u64) -> i64 {
    small().decode(id).expect("its own").timestamp_ms
}

#[test]
fn two_threads_on_one_cell_never_repeat_an_id() {
    model(|| {
        let generator = generator(5, Words::vouched());
        let other = Arc::clone(&generator);
        // The two clocks differ, and one of them goes back.
        let there = thread::spawn(move || mint(&other, &[3, 2]));
        let here = mint(&generator, &[2, 3]);
        let there = there.join().expect("no panic");
        assert_eq!((here.len(), there.len()), (2, 2));
        assert_unique([here, there]);
    });
}

#[test]
fn three_threads_on_one_cell_never_repeat_an_id() {
    let mut builder = Builder::new();
    // All interleavings take 13 s. Interleavings with up to three preemptions show such bugs at once.
    builder.preemption_bound = Some(3);
    builder.check(|| {
        let generator = generator(5, Words::vouched());
        let threads = [2, 1].map(|now_ms| {
            let generator = Arc::clone(&generator);
            thread::spawn(move || mint(&generator, &[now_ms]))
        });
        let here = mint(&generator, &[1, 1]);
        let there = threads.map(|thread| thread.join().expect("no panic"));
        assert_unique(there.into_iter().chain([here]));
    });
}

#[test]
fn a_run_and_single_ids_never_overlap() {
    model(|| {
        let generator = generator(5, Words::vouched());
        let other = Arc::clone(&generator);
        let there = thread::spawn(move || mint(&other, &[1, 1]));
        let run: Vec<_> = generator.try_run(1, 3, 0).expect("within max_ahead_ms").collect();
        assert!(run.is_sorted_by(|a, b| a < b), "{run:?}");
        assert_unique([run, there.join().expect("no panic")]);
    });
}

#[test]
fn runs_of_two_threads_never_overlap() {
    model(|| {
        let generator = generator(0, Words::vouched());
        let mint = |generator: &Snowflake, times_ms: &[i64]| {
            let mut run = LocalRun::new();
            times_ms.iter().filter_map(|now_ms| generator.next_local(&mut run, *now_ms).ok()).collect::<Vec<_>>()
        };
        let other = Arc::clone(&generator);
        let there = thread::spawn(move || mint(&other, &[1, 1]));
        let here = mint(&generator, &[1, 2]);
        assert_unique([here, there.join().expect("no panic")]);
    });
}

#[test]
fn a_tick_that_two_threads_use_up_is_used_up_once() {
    model(|| {
        let generator = generator(0, Words::vouched());
        let other = Arc::clone(&generator);
        let there = thread::spawn(move || [other.try_next_id(1), other.try_next_id(1)]);
        let here = generator.try_next_id(1);
        let calls: Vec<_> = there.join().expect("no panic").into_iter().chain([here]).collect();
        assert_unique([calls.iter().filter_map(|call| call.as_ref().ok()).copied().collect()]);
        let refused: Vec<_> = calls.iter().filter_map(|call| call.as_ref().err()).collect();
        assert_eq!(refused.len(), 1, "two of three calls fit: {calls:?}");
        assert_eq!((refused[0].kind(), refused[0].retry_after_ms()), (ErrorKind::Exhausted, Some(1)));
        // The refused call changed nothing.
        let next = small().decode(generator.try_next_id(2).expect("a new tick")).expect("its own");
        assert_eq!((next.tick, next.sequence), (2, 0));
    });
}

#[test]
fn a_call_stalled_across_a_release_repeats_no_id() {
    model(|| {
        let layout = small();
        let first = leased(2, Window { start_ms: 1, end_ms: 9 });
        let stalled = Arc::clone(&first);
        let there = thread::spawn(move || mint(&stalled, &[1, 1]));
        // A release, and then a claim of the same node by a holder with the same clock.
        let end_ms = first.words().close(&layout).expect("closed once");
        let second = leased(2, Window::first(&layout, Some(end_ms), 1, 8));
        let here = mint(&second, &[1, 2]);
        assert!(!here.is_empty(), "the second holder mints within max_ahead_ms");
        assert_unique([here, there.join().expect("no panic")]);
        assert_eq!(first.words().close(&layout), None, "closing is final");
        assert_eq!(first.try_next_id(3).expect_err("closed").kind(), ErrorKind::WindowClosed);
    });
}

#[test]
fn two_releases_at_once_give_the_window_back_once() {
    model(|| {
        let first = leased(2, Window { start_ms: 1, end_ms: 9 });
        let other = Arc::clone(&first);
        let there = thread::spawn(move || other.words().close(&small()));
        let minted = mint(&first, &[1]);
        let ends: Vec<_> =
            [first.words().close(&small()), there.join().expect("no panic")].into_iter().flatten().collect();
        assert_eq!(ends.len(), 1, "one of them closes the cell");
        assert!(minted.iter().all(|id| minted_ms(*id) < ends[0]), "the end lies past every ID");
    });
}

#[test]
fn no_id_lies_past_an_end_that_is_not_yet_durable() {
    model(|| {
        let generator = leased(0, Window { start_ms: 1, end_ms: 3 });
        let durable_ms = Arc::new(AtomicI64::new(3));
        let (renewed, disk) = (Arc::clone(&generator), Arc::clone(&durable_ms));
        let renewer = thread::spawn(move || {
            for end_ms in [5, 7] {
                disk.store(end_ms, Ordering::Release);
                renewed.words().extend(&small(), end_ms);
            }
        });
        let minted: Vec<_> = [2, 4, 6]
            .into_iter()
            .filter_map(|now_ms| generator.try_next_id(now_ms).ok())
            .map(|id| (minted_ms(id), durable_ms.load(Ordering::Acquire)))
            .collect();
        renewer.join().expect("no panic");
        for (id_ms, end_ms) in minted {
            assert!(id_ms < end_ms, "an ID of {id_ms} ms is outside its window, which ends at {end_ms} ms");
        }
        assert!(generator.try_next_id(6).is_ok(), "the window was extended");
        assert_eq!(generator.try_next_id(7).expect_err("its end").kind(), ErrorKind::WindowClosed);
    });
}

#[test]
fn ends_only_grow_in_any_order_of_renewals() {
    model(|| {
        let generator = leased(0, Window { start_ms: 1, end_ms: 3 });
        let other = Arc::clone(&generator);
        let there = thread::spawn(move || other.words().extend(&small(), 5));
        generator.words().extend(&small(), 7);
        there.join().expect("no panic");
        assert!(generator.try_next_id(6).is_ok(), "the later end counts");
    });
}

#[test]
fn a_renewal_beside_a_release_opens_nothing_again() {
    model(|| {
        let first = leased(2, Window { start_ms: 1, end_ms: 3 });
        let other = Arc::clone(&first);
        let renewer = thread::spawn(move || other.words().extend(&small(), 9));
        let before = mint(&first, &[1]);
        let end_ms = first.words().close(&small()).expect("closed once");
        let second = leased(2, Window::first(&small(), Some(end_ms), 1, 8));
        let after = mint(&second, &[1]);
        renewer.join().expect("no panic");
        assert_unique([before, after, mint(&first, &[1, 4])]);
    });
}
