//! Segments over a counter that loses replies and delays requests, with allocators that crash, and many threads.

use std::collections::{HashSet, VecDeque};
use std::ops;
use std::sync::Mutex;
use std::thread;

use proptest::prelude::*;
use snowmint_core::segment::{Bounds, LAST, LONG_MS, MAX_DEPTH, RETRY_MS, Range, SHORT_MS, Segment};
use snowmint_core::store::{Ask, Next, Reply};
use snowmint_core::{Error, ErrorKind, Integer};

/// The fate of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Fine,
    /// Done, but the reply is lost.
    Unheard,
    /// Not done, and no reply.
    Dropped,
    /// Done after some more requests; the reply is lost.
    Late(u8),
}

/// A column that counts.
#[derive(Default)]
struct Counter {
    value: u64,
    late: VecDeque<(u8, u64)>,
}

impl Counter {
    fn add(&mut self, amount: u64, fate: Fate) -> Reply<std::convert::Infallible> {
        for _ in 0..self.late.len() {
            match self.late.pop_front().expect("counted") {
                (0, amount) => self.value += amount,
                (left, amount) => self.late.push_back((left - 1, amount)),
            }
        }
        match fate {
            Fate::Dropped => {}
            Fate::Late(requests) => self.late.push_back((requests, amount)),
            Fate::Fine | Fate::Unheard => self.value += amount,
        }
        if fate == Fate::Fine { Reply::Sum(self.value) } else { Reply::Unknown }
    }

    /// Takes unused numbers back, as a store does.
    fn give_back(&mut self, rest: &ops::Range<u64>) {
        if self.value == rest.end {
            self.value = rest.start;
        }
    }
}

struct Allocator {
    range: Range,
    segment: Segment,
    /// The request without a reply yet.
    asked: Option<u64>,
}

impl Allocator {
    fn new(step: u64, bounds: Bounds) -> Self {
        let segment = Segment::new(Integer::from(step), bounds).expect("a step");
        Self { range: Range::wiped(), segment, asked: None }
    }

    fn take(&mut self, now_ms: u64) -> Result<Option<u64>, Error> {
        loop {
            if let Some(number) = self.range.take() {
                return Ok(Some(number));
            }
            if let Next::Ask(ask) = self.segment.refill(&self.range, now_ms)? {
                self.ask(ask);
                return Ok(None);
            }
        }
    }

    fn take_block(&mut self, count: u64, now_ms: u64) -> Result<Option<ops::Range<u64>>, Error> {
        loop {
            if let Some(block) = self.range.take_block(count) {
                return Ok(Some(block));
            }
            if let Next::Ask(ask) = self.segment.refill_block(&self.range, count, now_ms)? {
                self.ask(ask);
                return Ok(None);
            }
        }
    }

    fn ask(&mut self, ask: Ask<std::convert::Infallible>) {
        let Ask::Add(amount) = ask else { panic!("a counter is only raised") };
        assert!(self.asked.replace(amount).is_none(), "two fetches under way");
    }

    fn prefetch(&mut self, now_ms: u64) {
        if let Some(ask) = self.segment.prefetch(&self.range, now_ms) {
            assert!(self.range.left() == 0 || !self.range.is_due(), "asked once");
            self.ask(ask);
        }
    }

    fn answer(&mut self, counter: &mut Counter, fate: Fate, now_ms: u64) -> Result<(), Error> {
        let Some(amount) = self.asked.take() else { return Ok(()) };
        self.segment.reply(&self.range, counter.add(amount, fate), now_ms)
    }

    /// Takes a number, with replies at once.
    fn number(&mut self, counter: &mut Counter, now_ms: u64) -> Result<u64, Error> {
        loop {
            if let Some(number) = self.take(now_ms)? {
                return Ok(number);
            }
            self.answer(counter, Fate::Fine, now_ms)?;
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Take(u8),
    Block(u64),
    Prefetch,
    Answer(Fate),
    Crash,
    Close,
    /// Wipes the page of the range, as in a forked child.
    Wipe,
}

fn action() -> impl Strategy<Value = Action> {
    let fate = prop_oneof![
        8 => Just(Fate::Fine),
        1 => Just(Fate::Unheard),
        1 => Just(Fate::Dropped),
        2 => (0u8..6).prop_map(Fate::Late),
    ];
    prop_oneof![
        6 => (1u8..20).prop_map(Action::Take),
        3 => (2u64..40).prop_map(Action::Block),
        3 => Just(Action::Prefetch),
        6 => fate.prop_map(Action::Answer),
        1 => Just(Action::Crash),
        1 => Just(Action::Close),
        1 => Just(Action::Wipe),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_number_is_handed_out_twice_whatever_becomes_of_requests_and_allocators(
        step in 1u64..12,
        up_to: bool,
        script in proptest::collection::vec((0usize..3, 0u64..300, action()), 1..120),
    ) {
        let bounds = if up_to { Bounds::UpTo } else { Bounds::Below };
        let mut counter = Counter::default();
        let mut allocators = [(); 3].map(|()| (Allocator::new(step, bounds), None));
        let mut ledger = HashSet::new();
        let mut now_ms = 0;
        for (who, passed_ms, action) in script {
            now_ms += passed_ms;
            let (allocator, last) = &mut allocators[who];
            match action {
                Action::Take(count) => {
                    for _ in 0..count {
                        match allocator.take(now_ms) {
                            Ok(Some(number)) => {
                                prop_assert!(ledger.insert(number), "a duplicate: {}", number);
                                prop_assert!(last.replace(number).is_none_or(|last| last < number));
                                prop_assert!(number <= counter.value);
                            }
                            Ok(None) => {}
                            Err(error) => {
                                prop_assert!(error.retry_after_ms().is_some_and(|ms| (1..=RETRY_MS).contains(&ms)));
                            }
                        }
                    }
                }
                Action::Block(count) => match allocator.take_block(count, now_ms) {
                    Ok(Some(block)) => {
                        prop_assert_eq!(block.end - block.start, count);
                        prop_assert!(last.replace(block.end - 1).is_none_or(|last| last < block.start));
                        prop_assert!(block.end - 1 <= counter.value);
                        for number in block {
                            prop_assert!(ledger.insert(number), "a duplicate: {}", number);
                        }
                    }
                    Ok(None) => {}
                    Err(error) => prop_assert!(error.retry_after_ms().is_some_and(|ms| (1..=RETRY_MS).contains(&ms))),
                },
                Action::Prefetch => allocator.prefetch(now_ms),
                Action::Answer(fate) => prop_assert_eq!(allocator.answer(&mut counter, fate, now_ms), Ok(())),
                Action::Close => {
                    let rest = allocator.segment.close(&allocator.range).or_else(|_| {
                        allocator.answer(&mut counter, Fate::Fine, now_ms)?;
                        allocator.segment.close(&allocator.range)
                    });
                    if let Some(rest) = rest.expect("the reply has come") {
                        counter.give_back(&rest);
                    }
                    prop_assert_eq!(allocator.range.take(), None);
                    prop_assert_eq!(allocator.take(now_ms).map_err(|error| error.kind()), Err(ErrorKind::WindowClosed));
                    allocators[who] = (Allocator::new(step, bounds), None);
                }
                Action::Crash => allocators[who] = (Allocator::new(step, bounds), None),
                Action::Wipe => {
                    allocator.range = Range::wiped();
                    allocator.asked = None;
                }
            }
        }
    }

    #[test]
    fn a_run_never_reaches_past_the_end(start in 0u64..50, length in 0u64..50, runs in proptest::collection::vec(0u64..20, 0..20)) {
        let range = Range::new(start..start + length);
        let mut next = start;
        for n in runs {
            let run = range.take_run(n);
            prop_assert_eq!(run.end - run.start, n.min(start + length - next));
            prop_assert!(run.is_empty() || run.start == next);
            next += run.end - run.start;
            prop_assert_eq!(range.left(), start + length - next);
        }
    }
}

#[test]
fn eight_threads_take_each_number_of_a_range_once() {
    const EACH: usize = 100_000;
    let range = Range::new(5..5 + 8 * EACH as u64);
    let mut numbers = thread::scope(|scope| {
        let single = || (0..EACH).map(|_| range.take().expect("enough")).collect::<Vec<_>>();
        let runs = || (0..EACH / 50).flat_map(|_| range.take_run(50)).collect::<Vec<_>>();
        let threads: Vec<_> = (0..8).map(|i| if i < 4 { scope.spawn(single) } else { scope.spawn(runs) }).collect();
        let numbers = threads.into_iter().map(|thread| thread.join().expect("no panic"));
        numbers.inspect(|numbers| assert!(numbers.is_sorted_by(|a, b| a < b))).flatten().collect::<Vec<_>>()
    });
    assert_eq!(range.take(), None);
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(5..5 + 8 * EACH as u64));
}

#[test]
fn threads_that_refill_a_range_repeat_and_skip_nothing() {
    const EACH: usize = 20_000;
    let range = Range::wiped();
    let segment = Mutex::new((Segment::new(Integer::from(7u64), Bounds::UpTo).expect("a step"), 0u64));
    let next = || loop {
        if let Some(number) = range.take() {
            return number;
        }
        let (segment, counter) = &mut *segment.lock().expect("no panic");
        if let Next::Ask(Ask::Add(amount)) = segment.refill(&range, LONG_MS).expect("open") {
            *counter += amount;
            segment.reply(&range, Reply::Sum(*counter), LONG_MS).expect("higher");
        }
    };
    let mut numbers = thread::scope(|scope| {
        let threads = [(); 8].map(|()| scope.spawn(|| (0..EACH).map(|_| next()).collect::<Vec<_>>()));
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
    });
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(1..=8 * EACH as u64));
}

#[test]
fn threads_that_take_blocks_and_numbers_repeat_and_skip_nothing() {
    const EACH: usize = 5000;
    let range = Range::wiped();
    let segment = Mutex::new((Segment::new(Integer::from(7u64), Bounds::UpTo).expect("a step"), 0u64));
    let next = &|count: u64| loop {
        if let Some(block) = range.take_block(count) {
            return block;
        }
        let (segment, counter) = &mut *segment.lock().expect("no panic");
        if let Next::Ask(Ask::Add(amount)) = segment.refill_block(&range, count, LONG_MS).expect("open") {
            *counter += amount;
            segment.reply(&range, Reply::Sum(*counter), LONG_MS).expect("higher");
        }
    };
    let mut numbers = thread::scope(|scope| {
        let threads =
            [1, 1, 3, 20].map(|count| scope.spawn(move || (0..EACH).map(|_| next(count)).collect::<Vec<_>>()));
        let blocks = threads.into_iter().map(|thread| thread.join().expect("no panic"));
        let increasing = |blocks: &Vec<ops::Range<u64>>| blocks.is_sorted_by(|a, b| a.end <= b.start);
        blocks.inspect(|blocks| assert!(increasing(blocks))).flatten().flatten().collect::<Vec<_>>()
    });
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(1..=(1 + 1 + 3 + 20) * EACH as u64));
}

#[test]
fn a_block_beyond_the_counter_is_refused_alone() {
    let mut counter = Counter { value: LAST - 5, ..Counter::default() };
    let mut allocator = Allocator::new(2, Bounds::UpTo);
    assert_eq!(allocator.number(&mut counter, 0), Ok(LAST - 4));
    let refused = allocator.take_block(10, 0).expect_err("too many");
    assert_eq!((refused.kind(), refused.retry_after_ms()), (ErrorKind::Exhausted, None));
    assert_eq!(allocator.number(&mut counter, 0), Ok(LAST - 3));
    assert_eq!(allocator.number(&mut counter, 0), Ok(LAST - 2));
}

#[test]
fn an_empty_range_never_wraps() {
    for end in [3, LAST, LAST + 1] {
        let range = Range::new(end - 2..end);
        assert_eq!(range.take_run(u64::MAX), end - 2..end);
        for _ in 0..100_000 {
            assert_eq!(range.take(), None);
            assert!(range.take_run(u64::MAX).is_empty());
        }
        assert_eq!(range.left(), 0);
    }
    assert_eq!(Range::wiped().take(), None);
}

#[test]
fn leafs_range_ends_below_the_counter_and_tinyids_at_it() {
    let first = |bounds, value, step| {
        let mut counter = Counter { value, ..Counter::default() };
        let mut allocator = Allocator::new(step, bounds);
        allocator.number(&mut counter, 0).expect("a number")..counter.value
    };
    assert_eq!(first(Bounds::Below, 1, 2000), 1..2001);
    assert_eq!(first(Bounds::UpTo, 1000, 1000), 1001..2000);
    let mut counter = Counter { value: 1000, ..Counter::default() };
    let mut allocator = Allocator::new(1000, Bounds::UpTo);
    let numbers = (0..1000).map(|_| allocator.number(&mut counter, 0).expect("a number"));
    assert!(numbers.eq(1001..=2000));
    assert_eq!((counter.value, allocator.range.left()), (2000, 0));
}

#[test]
fn the_next_range_is_fetched_once_after_a_tenth() {
    let mut counter = Counter::default();
    let mut allocator = Allocator::new(100, Bounds::UpTo);
    assert_eq!(allocator.number(&mut counter, 0), Ok(1));
    for number in 2..=10 {
        assert!(!allocator.range.is_due());
        allocator.prefetch(0);
        assert_eq!((allocator.asked, allocator.take(0)), (None, Ok(Some(number))));
    }
    assert!(allocator.range.is_due());
    allocator.prefetch(0);
    assert_eq!(allocator.asked, Some(100));
    assert!(!allocator.range.is_due());
    assert_eq!(allocator.segment.prefetch(&allocator.range, 0), None, "one is under way");
    allocator.answer(&mut counter, Fate::Fine, 0).expect("higher");
    for number in 11..=200 {
        assert_eq!(allocator.take(0), Ok(Some(number)), "without a wait");
        assert_eq!(allocator.range.is_due(), number >= 110);
    }
}

#[test]
fn the_step_follows_the_time_that_a_range_lasts() {
    let mut counter = Counter::default();
    let mut allocator = Allocator::new(600_000, Bounds::UpTo);
    let mut fetched = |passed_ms: &[u64], step| {
        let mut allocator = std::mem::replace(&mut allocator, Allocator::new(step, Bounds::UpTo));
        let mut now_ms = 0;
        let fetches = passed_ms.iter().map(|passed_ms| {
            now_ms += passed_ms;
            // Takes a tenth of the range, fetches, and takes the rest: the range is never empty.
            allocator.range.take_run(allocator.range.left().div_ceil(10));
            allocator.prefetch(now_ms);
            let amount = allocator.asked.expect("due");
            allocator.answer(&mut counter, Fate::Fine, now_ms).expect("higher");
            allocator.range.take_run(u64::MAX);
            assert_eq!(allocator.segment.refill(&allocator.range, now_ms), Ok(Next::Done(())));
            amount
        });
        fetches.collect::<Vec<_>>()
    };
    assert_eq!(fetched(&[0, 0, 0, SHORT_MS - 1], 1), [600_000; 4], "the double would be above 1,000,000");
    let passed_ms = [0, 0, SHORT_MS - 1, SHORT_MS, LONG_MS - 1, LONG_MS, LONG_MS];
    assert_eq!(fetched(&passed_ms, 1), [1, 1, 2, 2, 2, 1, 1]);
}

#[test]
fn an_empty_range_makes_the_next_range_larger() {
    let mut counter = Counter::default();
    let mut allocator = Allocator::new(1_000_000, Bounds::UpTo);
    let mut fetch = || {
        let before = counter.value;
        allocator.range.take_run(u64::MAX);
        allocator.number(&mut counter, 0).expect("a number");
        (counter.value - before) / 1_000_000
    };
    assert_eq!([(); 8].map(|()| fetch()), [1, 1, 2, 4, 8, MAX_DEPTH, MAX_DEPTH, MAX_DEPTH]);
}

#[test]
fn a_fetch_without_a_reply_leaves_a_gap_and_a_pause() {
    let mut counter = Counter::default();
    let mut allocator = Allocator::new(5, Bounds::UpTo);
    assert_eq!(allocator.take(0), Ok(None));
    let waiting = allocator.take(0).expect_err("under way");
    assert_eq!((waiting.kind(), waiting.retry_after_ms(), waiting.wait_ms()), (ErrorKind::Exhausted, Some(1), Some(1)));
    assert_eq!(waiting.to_string(), "no number is fetched yet: retry in 1 ms");
    allocator.answer(&mut counter, Fate::Unheard, 10).expect("nothing known");
    assert_eq!(allocator.take(11).expect_err("just failed").retry_after_ms(), Some(RETRY_MS - 1));
    assert_eq!(allocator.number(&mut counter, 10 + RETRY_MS), Ok(6), "1 to 5 are lost");
    // A late reply is ignored.
    assert_eq!(allocator.segment.reply(&allocator.range, Reply::Sum(5), 200), Ok(()));
    assert_eq!(allocator.take(200), Ok(Some(7)));
}

#[test]
fn a_counter_that_went_back_ends_the_segment() {
    for bounds in [Bounds::Below, Bounds::UpTo] {
        let mut counter = Counter { value: 1000, ..Counter::default() };
        let mut allocator = Allocator::new(10, bounds);
        allocator.number(&mut counter, 0).expect("a number");
        counter.value = 1009;
        allocator.range.take();
        allocator.prefetch(0);
        let error = allocator.answer(&mut counter, Fate::Fine, 0).expect_err("lower by one");
        assert_eq!(error.kind(), ErrorKind::StoreUnavailable);
        assert_eq!(
            error.to_string(),
            "the counter went back from 1010 to 1009, as after a restore: stop all programs that use it, then run snowmint fence"
        );
        // Another allocator may have the rest of the range.
        assert_eq!(allocator.range.take(), None);
        assert_eq!(allocator.take(RETRY_MS), Err(error));
        assert_eq!(allocator.segment.prefetch(&allocator.range, RETRY_MS), None);
        assert_eq!(allocator.segment.close(&allocator.range), Ok(None));
    }
}

#[test]
fn numbers_end_at_the_largest_signed_number() {
    for (bounds, last) in [(Bounds::Below, LAST - 1), (Bounds::UpTo, LAST)] {
        let mut counter = Counter { value: LAST - 15, ..Counter::default() };
        let mut allocator = Allocator::new(10, bounds);
        let numbers: Vec<_> = std::iter::from_fn(|| Some(allocator.number(&mut counter, 0)))
            .take_while(Result::is_ok)
            .flatten()
            .collect();
        assert!(numbers.into_iter().eq(last - 14..=last));
        let error = allocator.take(0).expect_err("the end");
        assert_eq!((error.kind(), error.retry_after_ms()), (ErrorKind::Exhausted, None));
        assert_eq!(error.to_string(), format!("the counter has no room for more numbers: the last one is {last}"));
        assert_eq!(counter.value, LAST);

        // Another allocator was first, and the column is unsigned.
        let mut allocator = Allocator::new(10, bounds);
        assert_eq!(allocator.take(0), Ok(None));
        assert_eq!(allocator.answer(&mut counter, Fate::Fine, 0), Err(error));
        assert_eq!(allocator.take(0), Err(error));
    }
}

#[test]
fn a_step_past_the_last_number_brings_the_rest() {
    let range = Range::wiped();
    let mut segment = Segment::new(Integer::from(1000u64), Bounds::Below).expect("a step");
    // The store has room for 10 more numbers, which the segment does not know.
    let mut counter = LAST - 10;
    let mut asked = Vec::new();
    let mut numbers = Vec::new();
    let over = loop {
        if let Some(number) = range.take() {
            numbers.push(number);
            continue;
        }
        match segment.refill(&range, 0) {
            Ok(Next::Done(())) => {}
            Ok(Next::Ask(Ask::Add(amount))) => {
                asked.push(amount);
                let fits = amount <= LAST - counter;
                counter += if fits { amount } else { 0 };
                let reply = if fits { Reply::Sum(counter) } else { Reply::Full };
                segment.reply(&range, reply, 0).expect("it goes on");
            }
            other => break other,
        }
    };
    assert!(numbers.into_iter().eq(LAST - 10..LAST));
    assert_eq!(asked, [1000, 0, 10]);
    let error = over.expect_err("the end");
    assert_eq!((error.kind(), error.retry_after_ms()), (ErrorKind::Exhausted, None));
}

#[test]
fn unused_numbers_can_be_given_back() {
    for bounds in [Bounds::Below, Bounds::UpTo] {
        let mut counter = Counter { value: 1, ..Counter::default() };
        let mut allocator = Allocator::new(10, bounds);
        let first = allocator.number(&mut counter, 0).expect("a number");
        assert_eq!(allocator.segment.close(&allocator.range), Ok(Some(2..11)), "the rest of one range");
        assert_eq!(allocator.segment.close(&allocator.range), Ok(None), "once");

        let mut allocator = Allocator::new(10, bounds);
        counter.give_back(&(2..11));
        assert_eq!(allocator.number(&mut counter, 0), Ok(first + 1));
        allocator.prefetch(0);
        allocator.answer(&mut counter, Fate::Fine, 0).expect("higher");
        assert_eq!(counter.value, 22);
        assert_eq!(allocator.segment.close(&allocator.range), Ok(Some(3..22)), "the rest of both, which meet");

        let mut allocator = Allocator::new(10, bounds);
        allocator.number(&mut counter, 0).expect("a number");
        counter.add(1, Fate::Fine);
        allocator.prefetch(0);
        allocator.answer(&mut counter, Fate::Fine, 0).expect("higher");
        assert_eq!(allocator.segment.close(&allocator.range), Ok(Some(33..43)), "only the last one");

        let mut allocator = Allocator::new(10, bounds);
        counter.give_back(&(33..43));
        allocator.number(&mut counter, 0).expect("a number");
        allocator.prefetch(0);
        let waits = allocator.segment.close(&allocator.range).expect_err("a fetch is under way");
        assert_eq!((waits.kind(), allocator.range.take()), (ErrorKind::Exhausted, None));
        allocator.answer(&mut counter, Fate::Fine, 0).expect("higher");
        assert_eq!(allocator.segment.close(&allocator.range), Ok(Some(34..53)), "the rest and the fetch under way");

        let mut allocator = Allocator::new(10, bounds);
        assert_eq!(allocator.segment.close(&allocator.range), Ok(None), "nothing was fetched");
    }
}

#[test]
fn a_wiped_range_hands_out_no_number_of_its_parent() {
    let mut counter = Counter::default();
    let mut allocator = Allocator::new(10, Bounds::UpTo);
    allocator.number(&mut counter, 0).expect("a number");
    allocator.prefetch(0);
    allocator.answer(&mut counter, Fate::Fine, 0).expect("higher");
    // The range as a forked child sees it.
    allocator.range = Range::wiped();
    assert_eq!(allocator.number(&mut counter, 0), Ok(21));
    allocator.range = Range::wiped();
    assert_eq!(allocator.segment.close(&allocator.range), Ok(None));
}
