//! The runs of sequence numbers of one node.

use core::ops::RangeInclusive;

use super::MIN_HISTORY_IDS;

/// How many runs are followed at once.
const MAX_HEADS: usize = 4;
/// The lengths of sequences, in bits, that suffice to distinguish two runs.
const SEQUENCE_BITS: RangeInclusive<u32> = 8..=31;
/// The age, in IDs, up to which a run can repeat the numbers of another run.
const MAX_AGE_IDS: u32 = 64;

/// A run of sequence numbers: the next one, and how many came one after the other.
#[derive(Clone, Copy, Debug)]
struct Head {
    next: u32,
    run: u32,
}

/// The runs of sequence numbers of one node.
///
/// Places count the IDs of the log from 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Runs {
    /// The length of the sequence, in bits.
    pub(super) bits: u32,
    heads: [Head; MAX_HEADS],
    advances: u32,
    fresh: u32,
    carried: u32,
    misses: u32,
    returns: u32,
    returns_in_tick: u32,
    again: u32,
    /// The place of the first number that continues an older run.
    pub(super) first_return: u64,
    first_again: u64,
    /// The IDs before the first number that came again, if their sequence went on from tick to tick.
    history: u64,
}

impl Runs {
    /// The runs of a node without IDs.
    pub(super) const NONE: Self = Self {
        bits: 0,
        heads: [Head { next: u32::MAX, run: 0 }; MAX_HEADS],
        advances: 0,
        fresh: 0,
        carried: 0,
        misses: 0,
        returns: 0,
        returns_in_tick: 0,
        again: 0,
        first_return: u64::MAX,
        first_again: u64::MAX,
        history: 0,
    };

    /// Begins with the first sequence number, which has this many bits.
    pub(super) fn begin(bits: u32, sequence: u32) -> Self {
        let mut runs = Self { bits, ..Self::NONE };
        runs.heads[0] = Head { next: sequence, run: 0 };
        runs.advance(0, sequence);
        runs
    }

    /// Sees the next sequence number, before which the node had `before` IDs. `advanced`: the tick is later than the last one.
    pub(super) fn see(&mut self, advanced: bool, sequence: u32, place: u64, before: u64) {
        if !SEQUENCE_BITS.contains(&self.bits) {
            return;
        }
        self.advances += u32::from(advanced);
        if advanced && sequence == 0 {
            self.fresh += 1;
            self.carried += u32::from(self.heads[0].next == 0);
            self.heads[0] = Head { next: 1, run: 1 };
            return;
        }
        if self.heads[0].next == sequence {
            self.carried += u32::from(advanced);
            return self.advance(0, sequence);
        }
        let mask = u32::MAX >> (32 - self.bits);
        let front = self.heads[0];
        let age = front.next.wrapping_sub(1).wrapping_sub(sequence) & mask;
        if age < front.run.min(MAX_AGE_IDS).min(mask / 8) {
            if self.again == 0 {
                self.first_again = place;
                self.history = if self.advances >= 8 && self.is_carrying() { before } else { 0 };
            }
            self.again += 1;
        }
        let Some(at) = (1..MAX_HEADS).find(|at| self.heads[*at].next == sequence) else {
            self.misses += 1;
            self.heads.rotate_right(1);
            self.heads[0] = Head { next: sequence, run: 0 };
            return self.advance(0, sequence);
        };
        self.carried += u32::from(advanced);
        let apart = front.next.wrapping_sub(sequence) & mask;
        if apart.min(mask - apart) > mask / 16 {
            self.first_return = self.first_return.min(place);
            if advanced { self.returns += 1 } else { self.returns_in_tick += 1 }
        }
        self.heads[..=at].rotate_right(1);
        self.advance(0, sequence);
    }

    fn advance(&mut self, at: usize, sequence: u32) {
        let mask = u32::MAX >> (32 - self.bits.clamp(1, 32));
        self.heads[at] = Head { next: sequence.wrapping_add(1) & mask, run: self.heads[at].run.saturating_add(1) };
    }

    /// Returns whether sequences go on from one tick to the next instead of starting anew.
    const fn is_carrying(&self) -> bool {
        self.carried as u64 * 3 >= self.advances as u64 && self.fresh as u64 * 10 <= self.advances as u64
    }

    /// Returns whether the first sequence of a tick is 0.
    pub(super) const fn start_at_zero(&self) -> bool {
        self.fresh as u64 * 2 > self.advances as u64
    }

    /// Returns how many hits are more than chance: `least`, and 20 times the hits that chance would give.
    fn beyond_chance(&self, least: u64) -> u64 {
        least + ((u64::from(self.misses) * 20) >> self.bits)
    }

    /// Returns the place from which two runs alternate.
    pub(super) fn alternate_from(&self) -> Option<u64> {
        let returns = u64::from(self.returns_in_tick) + if self.is_carrying() { self.returns.into() } else { 0 };
        (returns >= self.beyond_chance(8)).then_some(self.first_return)
    }

    /// Returns the place from which a second run repeats the numbers of the first one, after a time with a single run.
    pub(super) fn repeat_from(&self) -> Option<u64> {
        let is_repeated = u64::from(self.again) >= self.beyond_chance(4);
        let is_first = self.first_again <= self.first_return;
        (is_repeated && is_first && self.history >= MIN_HISTORY_IDS).then_some(self.first_again)
    }
}
