//! Every interleaving of a few threads that take numbers from a range and refill it. The model checker loom runs the
//! production code on its own atomics.
#![cfg(loom)]

use loom::model::Builder;
use loom::sync::{Arc, Mutex};
use loom::thread;
use snowmint_core::Integer;
use snowmint_core::segment::{Bounds, Range, Segment};
use snowmint_core::store::{Ask, Next, Reply};

/// A range with its segment and the counter in the store.
struct Shared {
    range: Range,
    segment: Mutex<(Segment, u64)>,
}

impl Shared {
    fn new() -> Arc<Self> {
        let segment = Segment::new(Integer::from(2u64), Bounds::UpTo).expect("a step");
        Arc::new(Self { range: Range::new(10..11), segment: Mutex::new((segment, 20)) })
    }

    fn refill(&self) {
        let (segment, counter) = &mut *self.segment.lock().expect("no panic");
        while let Next::Ask(Ask::Add(amount)) = segment.refill(&self.range, 0).expect("open") {
            *counter += amount;
            segment.reply(&self.range, Reply::Sum(*counter), 0).expect("higher");
        }
    }

    /// Tries twice, with a refill in between.
    fn numbers(&self) -> Vec<u64> {
        let first = self.range.take();
        if first.is_none() {
            self.refill();
        }
        first.into_iter().chain(self.range.take()).collect()
    }

    /// Takes two consecutive numbers, if no other thread takes them first.
    fn block(&self) -> Option<std::ops::Range<u64>> {
        let (segment, counter) = &mut *self.segment.lock().expect("no panic");
        while let Next::Ask(Ask::Add(amount)) = segment.refill_block(&self.range, 2, 0).expect("open") {
            *counter += amount;
            segment.reply(&self.range, Reply::Sum(*counter), 0).expect("higher");
        }
        self.range.take_block(2)
    }
}

fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

fn assert_unique(numbers: impl IntoIterator<Item = u64>) {
    let mut numbers: Vec<_> = numbers.into_iter().collect();
    let taken = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), taken, "a duplicate among {taken} numbers: only {numbers:?} differ");
    // Numbers of other holders lie between the two ranges.
    assert!(numbers.iter().all(|number| *number == 10 || *number > 20), "a number of somebody else: {numbers:?}");
}

#[test]
fn threads_that_take_while_another_one_refills_never_repeat_a_number() {
    check(|| {
        let shared = Shared::new();
        let threads = [(); 2].map(|()| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.numbers())
        });
        let here: Vec<_> = shared.range.take().into_iter().chain(shared.range.take()).collect();
        let there = threads.map(|thread| thread.join().expect("no panic"));
        assert_unique(there.into_iter().flatten().chain(here));
    });
}

#[test]
fn runs_and_single_numbers_never_overlap() {
    check(|| {
        let range = Arc::new(Range::new(10..13));
        let threads = [(); 2].map(|()| {
            let range = Arc::clone(&range);
            thread::spawn(move || range.take_run(2))
        });
        let here = range.take();
        let numbers: Vec<_> =
            threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).chain(here).collect();
        let taken = numbers.len();
        assert!(
            numbers.iter().collect::<std::collections::HashSet<_>>().len() == taken,
            "a duplicate among {numbers:?}"
        );
        assert_eq!((taken, range.take()), (3, None), "all of them");
    });
}

#[test]
fn blocks_beside_single_numbers_are_whole_and_unshared() {
    check(|| {
        let shared = Shared::new();
        let other = Arc::clone(&shared);
        let singles = thread::spawn(move || [other.range.take(), other.range.take()]);
        // The first block skips the numbers in front of the gap, and the second block follows the first.
        let blocks = [shared.block(), shared.block()];
        let whole = blocks.iter().flatten().all(|block| block.end - block.start == 2 && block.start > 20);
        assert!(whole, "{blocks:?}");
        let singles = singles.join().expect("no panic");
        assert_unique(singles.into_iter().flatten().chain(blocks.into_iter().flatten().flatten()));
    });
}

#[test]
fn numbers_that_are_given_back_are_not_handed_out() {
    check(|| {
        let range = Arc::new(Range::wiped());
        let mut segment = Segment::new(Integer::from(3u64), Bounds::UpTo).expect("a step");
        segment.refill(&range, 0).expect("asks");
        segment.reply(&range, Reply::Sum(3), 0).expect("higher");
        segment.refill(&range, 0).expect("fills");
        let other = Arc::clone(&range);
        let there = thread::spawn(move || [other.take(), other.take()]);
        let rest = segment.close(&range).expect("no fetch is under way").expect("one at least");
        let taken: Vec<_> = there.join().expect("no panic").into_iter().flatten().collect();
        // The counter is at the last used number.
        assert_eq!((taken.last().copied().unwrap_or(0), rest.end), (rest.start, 3), "{taken:?}");
        assert_eq!(range.take(), None);
    });
}
