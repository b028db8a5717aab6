//! The IDs of one node in the order of the log.

mod runs;

use self::runs::Runs;
use super::terms::{Spot, Terms};

/// How many IDs a node must have in order before a disorder counts as an event.
const MIN_HISTORY_IDS: u64 = 32;
/// How many steps back within a minute are too many for one clock.
const TOO_MANY_STEPS: u32 = 4;

/// An event that a trail reports while it reads IDs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Sequence 0 followed the largest sequence within this tick.
    Wrapped(u64),
    /// A stretch of IDs behind the highest tick has ended.
    Back(Excursion),
}

/// A stretch of IDs that lie behind the highest tick of their node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Excursion {
    /// The highest tick before.
    pub(super) high: u64,
    /// The lowest tick in the stretch.
    pub(super) low: u64,
    /// The number of IDs in the stretch.
    pub(super) ids: u64,
    /// The place of the first one.
    pub(super) place: u64,
    /// The place of the last one.
    pub(super) last: u64,
    /// Whether it goes further back than lines of the log are late.
    pub(super) is_far: bool,
    /// The lowest tick before the stretch.
    pub(super) begin: u64,
    /// The number of IDs before the stretch.
    pub(super) before: u64,
    /// The last tick of the stretch, if it lasts to the end of the log.
    pub(super) end: Option<u64>,
}

impl Excursion {
    /// Returns whether a tick lies in the time that passed twice.
    pub(super) const fn has(&self, tick: u64) -> bool {
        self.low <= tick && tick <= self.high
    }

    /// Returns whether the stretch begins where the IDs of the node begin, or reaches the highest tick just at the end of the
    /// log, without IDs of other nodes in between. Then the logs of two processes are one after the other: a clock would
    /// hardly step back to just that time.
    pub(super) const fn is_second_log(&self) -> bool {
        let many = self.before >= MIN_HISTORY_IDS && self.ids >= MIN_HISTORY_IDS && self.ids > self.last - self.place;
        let begins = self.low.abs_diff(self.begin) <= (self.high - self.begin) / 50;
        let ends = match self.end {
            Some(end) => self.high - end <= (self.high - self.low) / 50,
            None => false,
        };
        self.is_far && many && (begins || ends)
    }

    const NONE: Self =
        Self { high: 0, low: 0, ids: 0, place: 0, last: 0, is_far: false, begin: 0, before: 0, end: None };
}

/// The IDs of one node in the order of the log.
///
/// Places count the IDs of the log from 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trail {
    count: u64,
    lowest: u64,
    highest: u64,
    tick: u64,
    sequence: u64,
    high: u64,
    /// The present stretch behind `high`; without IDs while the trail is not behind.
    back: Excursion,
    /// The highest tick at the last step that was far.
    far_back: u64,
    /// The last tick of the last stretch that was far, and whether the tick jumped from there to the highest one.
    left: u64,
    jumped: bool,
    steps: u32,
    laps: u32,
    first_step: u64,
    /// Whether a sequence is not 0.
    counts: bool,
    /// The place of the first of many steps that lie close together.
    alternates: u64,
    runs: Runs,
}

impl Default for Trail {
    fn default() -> Self {
        Self::new()
    }
}

impl Trail {
    /// Makes the trail of a node without IDs.
    pub(super) const fn new() -> Self {
        Self {
            count: 0,
            lowest: u64::MAX,
            highest: 0,
            tick: 0,
            sequence: 0,
            high: 0,
            back: Excursion::NONE,
            far_back: 0,
            left: 0,
            jumped: false,
            steps: 0,
            laps: 0,
            first_step: 0,
            counts: false,
            alternates: u64::MAX,
            runs: Runs::NONE,
        }
    }

    /// Returns the number of IDs.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the lowest and the highest tick.
    pub(super) const fn ticks(&self) -> (u64, u64) {
        (self.lowest, self.highest)
    }

    /// Returns how often the time ran over from the last eighth of the layout's time to the first one; 0 if that is more
    /// often than a clock can explain.
    pub(super) const fn laps(&self) -> u32 {
        if self.laps as u64 * 100 <= self.count { self.laps } else { 0 }
    }

    /// Sees the next ID of the node.
    pub(super) fn see(&mut self, terms: &Terms, spot: Spot, place: u64) -> Option<Event> {
        let first = self.count == 0;
        self.count += 1;
        self.counts |= spot.sequence > 0;
        let begin = self.lowest;
        self.lowest = self.lowest.min(spot.tick);
        self.highest = self.highest.max(spot.tick);
        let (tick, sequence) = (self.tick, self.sequence);
        (self.tick, self.sequence) = (spot.tick, spot.sequence);
        if first {
            self.high = spot.tick;
            self.runs = Runs::begin(terms.layout.sequence().width(), spot.sequence as u32);
            return None;
        }
        if self.back.ids > 0 && spot.tick == tick {
            self.stay(place);
        }
        if (spot.tick, spot.sequence) == (tick, sequence) {
            return None;
        }
        self.runs.see(spot.tick > tick, spot.sequence as u32, place, self.count - 1);
        if spot.tick == tick {
            let wraps = spot.sequence == 0 && sequence == terms.layout.sequence().max();
            return wraps.then_some(Event::Wrapped(tick));
        }
        self.follow_time(terms, [begin, tick], spot.tick, place)
    }

    /// Ends the trail, and returns the stretch behind the highest tick that lasts to the end.
    pub(super) fn end(&mut self) -> Option<Excursion> {
        let back = Excursion { end: Some(self.tick), ..self.back };
        self.back.ids = 0;
        (back.ids > 0).then_some(back)
    }

    /// Follows the time to the next tick. `begin` is the lowest tick so far, `last` the last one.
    fn follow_time(&mut self, terms: &Terms, [begin, last]: [u64; 2], tick: u64, place: u64) -> Option<Event> {
        if tick >= self.high || terms.ran_over(self.high, tick) {
            if self.back.ids > 0 && self.back.is_far {
                (self.left, self.jumped) = (last, self.high - last > terms.jitter);
            }
            self.laps += u32::from(tick < self.high);
            self.high = tick;
            return self.end().map(|back| Event::Back(Excursion { end: None, ..back }));
        }
        if self.back.ids == 0 {
            let before = self.count - 1;
            self.back = Excursion {
                high: self.high,
                low: tick,
                ids: 0,
                place,
                last: place,
                is_far: false,
                begin,
                before,
                end: None,
            };
        }
        self.stay(place);
        self.back.low = self.back.low.min(tick);
        if !self.back.is_far && self.high - tick > terms.jitter {
            self.back.is_far = true;
            self.step(terms, tick, place);
        }
        None
    }

    /// Counts an ID of the stretch behind the highest tick.
    const fn stay(&mut self, place: u64) {
        self.back.ids += 1;
        self.back.last = place;
    }

    /// Counts a step back that is further than lines are late, if it is like the last one: the second run left off by a jump,
    /// or goes on where it left off. A clock does neither.
    fn step(&mut self, terms: &Terms, tick: u64, place: u64) {
        let goes_on = self.jumped || tick.abs_diff(self.left) <= terms.jitter;
        if self.steps == 0 || self.high.abs_diff(self.far_back) > terms.together || !goes_on {
            (self.steps, self.first_step) = (0, place);
        }
        self.steps += 1;
        self.far_back = self.high;
        if self.steps == TOO_MANY_STEPS {
            self.alternates = self.alternates.min(self.first_step);
        }
    }

    /// Returns whether the layout has a sequence, and every sequence is 0.
    pub(super) const fn never_counts(&self) -> bool {
        self.runs.bits > 0 && !self.counts
    }

    /// Returns whether the first sequence of a tick is 0.
    pub(super) const fn starts_at_zero(&self) -> bool {
        self.runs.start_at_zero()
    }

    /// Returns the place from which two runs of times or of sequences alternate.
    pub(super) fn alternates_from(&self) -> Option<u64> {
        self.runs.alternate_from().into_iter().chain(Some(self.alternates)).min().filter(|place| *place < u64::MAX)
    }

    /// Returns the place from which a second run repeats the sequences of the first one, after a time with a single run.
    pub(super) fn repeats_from(&self) -> Option<u64> {
        self.runs.repeat_from().filter(|place| *place <= self.alternates)
    }

    /// Returns whether a forked child minted the IDs that repeat from the place `from` on, not an unrelated process.
    ///
    /// `history` IDs of the node came before the first repeated ID, whose sequence is `sequence`. Of the `ids` IDs
    /// since then `repeated` repeat.
    pub(super) fn is_forked(&self, from: u64, history: u64, sequence: u64, ids: u64, repeated: u64) -> bool {
        let earlier = self.alternates.min(self.runs.first_return);
        let is_copy = repeated >= 16 && repeated * 10 >= ids * 9;
        // A process that starts by itself takes sequence 0 first.
        let goes_on = self.starts_at_zero() && sequence > 0;
        history >= MIN_HISTORY_IDS && earlier >= from && (is_copy || goes_on)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;
    use snowmint_core::Layout;
    use snowmint_core::layouts::{INSTAGRAM, LEAF, SNOWMINT};

    fn walk(layout: &Layout, spots: impl IntoIterator<Item = (u64, u64)>) -> (Trail, Vec<Event>) {
        let terms = Terms::new(layout, None, None, 10, 1_790_000_000_000);
        let (mut trail, mut events) = (Trail::new(), Vec::new());
        for (place, (tick, sequence)) in (0..).zip(spots) {
            events.extend(trail.see(&terms, Spot { tick, node: 1, sequence }, place));
        }
        events.extend(trail.end().map(Event::Back));
        (trail, events)
    }

    fn suspicion(layout: &Layout, spots: impl IntoIterator<Item = (u64, u64)>) -> (Option<u64>, Option<u64>) {
        let trail = walk(layout, spots).0;
        (trail.alternates_from(), trail.repeats_from())
    }

    /// A number that looks random.
    fn scattered(seed: u64) -> u64 {
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33
    }

    #[test]
    fn a_clean_log_raises_no_suspicion_under_any_sequence_start() {
        let from_zero = (0..10_000).map(|i| (i / 3, i % 3));
        assert_eq!(suspicion(&SNOWMINT, from_zero), (None, None));
        let carried = (0..10_000).map(|i| (i / 3, i % 4096));
        assert_eq!(suspicion(&SNOWMINT, carried), (None, None));
        let random = (0..100_000).map(|i| (i / 3, scattered(i / 3) % 2048 + i % 3));
        assert_eq!(suspicion(&SNOWMINT, random), (None, None));
        let from_a_hundred = (0..100_000).map(|i| (i / 40, scattered(i / 40) % 100 + i % 40));
        assert_eq!(suspicion(&LEAF, from_a_hundred), (None, None));
        let sampled = (0..100_000).map(|i| (i * 2, scattered(i) % 4096));
        assert_eq!(suspicion(&SNOWMINT, sampled), (None, None));
    }

    #[test]
    fn lines_that_overtake_each_other_raise_no_suspicion() {
        for is_carried in [false, true] {
            // A sequence that is carried on never wraps within a tick: 4095 is a multiple of 3.
            let spot = |i: u64| (i / 3, if is_carried { i % 4095 } else { i % 3 });
            // Each ID is written down up to 12 places late.
            let mut order: Vec<u64> = (0..30_000).collect();
            order.sort_by_key(|i| i + scattered(*i) % 12);
            let (trail, events) = walk(&SNOWMINT, order.iter().map(|i| spot(*i)));
            assert_eq!((trail.alternates_from(), trail.repeats_from()), (None, None));
            assert!(events.iter().all(|event| matches!(event, Event::Back(back) if !back.is_far)));
        }
    }

    #[test]
    fn two_clocks_on_one_node_alternate() {
        let skewed = (0..1000).map(|i| if i % 2 == 0 { (1000 + i, 0) } else { (970 + i, 0) });
        assert_eq!(suspicion(&SNOWMINT, skewed).0, Some(1));
    }

    #[test]
    fn two_sequences_on_one_node_alternate() {
        let carried = (0..1000).map(|i| (i, (i / 2 + i % 2 * 2000) % 4096));
        assert!(suspicion(&SNOWMINT, carried).0.is_some());
        let within_ticks = (0..1000).map(|i| (i / 10, scattered(i / 10) % 500 + i % 10 / 2 + i % 2 * 2000));
        assert!(suspicion(&SNOWMINT, within_ticks).0.is_some());
    }

    #[test]
    fn a_forked_child_repeats_the_sequence_of_its_parent() {
        let forked = (0..400).map(|i| (i, if i < 100 { i } else { 100 + (i - 100) / 2 }));
        assert_eq!(suspicion(&SNOWMINT, forked).1, Some(101));
        let bursts = (0..1000).map(|i| (i, if i < 100 { i } else { 100 + (i - 100) / 20 * 10 + (i - 100) % 10 }));
        assert_eq!(suspicion(&SNOWMINT, bursts).1, Some(110));
    }

    #[test]
    fn a_sequence_that_wraps_inside_a_tick_is_an_event() {
        let counted = (0..3000).map(|i| (5 + i / 2500, i % 1024));
        let (trail, events) = walk(&INSTAGRAM, counted);
        assert_eq!(events, [Event::Wrapped(5), Event::Wrapped(5)]);
        assert_eq!((trail.alternates_from(), trail.repeats_from()), (None, None));
        let over_ticks = (0..3000).map(|i| (i / 8, i % 1024));
        assert_eq!(walk(&INSTAGRAM, over_ticks).1, []);
    }

    #[test]
    fn a_clock_that_steps_back_once_is_one_stretch() {
        let ticks = (0..1000).chain(700..1500).map(|tick| (tick, 0));
        let (trail, events) = walk(&SNOWMINT, ticks);
        let back = Excursion {
            high: 999,
            low: 700,
            ids: 299,
            place: 1000,
            last: 1298,
            is_far: true,
            begin: 0,
            before: 1000,
            end: None,
        };
        assert_eq!(events, [Event::Back(back)]);
        assert_eq!(trail.alternates_from(), None);
    }

    #[test]
    fn a_clock_that_steps_back_often_is_no_second_process() {
        let ticks = (0..20).flat_map(|step| (0..1000).map(move |i| (step * 600 + i, 0)));
        let (trail, events) = walk(&SNOWMINT, ticks);
        assert_eq!((events.len(), trail.alternates_from()), (19, None));
    }

    #[test]
    fn logs_that_are_written_in_turns_alternate() {
        // Two processes write down 50 ms at a time.
        let ticks = (0..20).flat_map(|turn| (0..50).map(move |i| (turn / 2 * 50 + i, 0)));
        assert_eq!(suspicion(&SNOWMINT, ticks).0, Some(50));
    }
}
