//! The pure step of a generator: which IDs come next, given the state, the window's end and the time?

use core::num::NonZeroU64;

use super::options::{Options, SequenceStart};
use crate::error::Error;
use crate::layout::{Field, Layout};
use crate::{mutant, random};

/// The word of a closed generator. A forked child reads it too.
pub(crate) const CLOSED: u64 = 0;

/// The last position that is handed out. The word after a position is two more than the position, and must fit 64 bits.
/// So a layout whose time and sequence fill all 64 bits never mints its last two IDs.
const LAST_POSITION: u64 = u64::MAX - 2;

/// The numbers of layout, node and options that minting needs. They never change.
///
/// The state is a *position*: `tick << sequence.width() | sequence` of the next free ID; everything below is used up.
/// A *word* is a position plus one, so that zero can mean closed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    epoch_ms: i64,
    tick_ms: NonZeroU64,
    /// The bits that all IDs share: the node and fixed values.
    node: u64,
    time: Field,
    pub(crate) sequence: Field,
    pub(crate) random: Field,
    max_ahead_ms: u64,
    sequence_start: SequenceStart,
    seed: u64,
}

/// Consecutive positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) first: u64,
    pub(crate) count: u64,
}

impl Taken {
    /// Returns the word of the state after these positions.
    pub(crate) const fn next_word(self) -> u64 {
        self.first + self.count + 1
    }
}

impl Plan {
    pub(crate) fn new(layout: &Layout, node: u32, options: &Options) -> Self {
        Self {
            epoch_ms: layout.epoch_ms(),
            tick_ms: NonZeroU64::new(layout.tick_ms()).unwrap_or(NonZeroU64::MIN),
            node: layout.put_node(node) | layout.fixed(),
            time: layout.time(),
            sequence: layout.sequence(),
            random: layout.random(),
            max_ahead_ms: options.max_ahead_ms,
            sequence_start: options.sequence_start,
            seed: options.seed,
        }
    }

    /// Takes `want` positions (1 or more) at the time `now_ms` (Unix ms), all in ticks below `window_end`.
    ///
    /// Takes fewer positions, if the missing ones will be free within `patience_ms`. `word` is the state that the
    /// caller has read. The caller swaps it for [`Taken::next_word`], or calls again. A refused call changes nothing.
    #[inline]
    pub(crate) fn step(
        &self,
        word: u64,
        window_end: u64,
        now_ms: i64,
        want: u64,
        patience_ms: u64,
    ) -> Result<Taken, Error> {
        if word == CLOSED {
            return Err(if window_end == 0 { Error::forked() } else { Error::closed() });
        }
        let free = word - 1;
        let begun = self.begun(now_ms);
        if begun == 0 && free == 0 {
            return Err(Error::before_epoch(now_ms, self.epoch_ms));
        }
        let now_tick = begun.saturating_sub(1);
        let free_tick = free >> self.sequence.width();
        let tick = if mutant::removes("increase") { now_tick } else { now_tick.max(free_tick) };
        if tick > self.time.max() {
            return Err(self.over(begun, now_ms));
        }
        let reach =
            if self.max_ahead_ms == 0 { begun } else { self.begun(now_ms.saturating_add_unsigned(self.max_ahead_ms)) };
        let started = self.sequence_of(free);
        let sequence = if tick == free_tick && started > 0 { started } else { self.start(started, tick) };
        let first = (tick << self.sequence.width()) | sequence;
        if tick >= reach {
            return Err(self.ahead_of_the_clock(free, [begun, reach], now_ms, first, want, patience_ms));
        }
        let window_end = if mutant::removes("window") { u64::MAX } else { window_end };
        if tick >= window_end {
            return Err(Error::window_over());
        }
        let last_tick = (reach.min(window_end) - 1).min(self.time.max());
        let last = ((last_tick << self.sequence.width()) | self.sequence.max()).min(LAST_POSITION);
        if first > last {
            return Err(self.over(begun, now_ms));
        }
        let free_now = last - first + 1;
        if want > free_now {
            match self.ms_until_all(first, want, now_ms) {
                None => return Err(self.over(begun, now_ms)),
                Some(retry_after_ms) if retry_after_ms > patience_ms => {
                    return Err(Error::batch_exhausted(retry_after_ms));
                }
                // Takes the positions that are free now.
                Some(_) => {}
            }
        }
        Ok(Taken { first, count: want.min(free_now) })
    }

    /// Returns the position that [`Plan::step`] would take for one ID, if the clock's tick has IDs already and has
    /// more.
    ///
    /// Such a tick is not ahead of the clock, so few checks are left.
    #[inline]
    pub(crate) fn next_in_tick(&self, word: u64, window_end: u64, now_ms: i64) -> Option<u64> {
        let tick = self.tick(now_ms)?;
        // Wraps above the last position, if the state is closed.
        let free = word.wrapping_sub(CLOSED + 1);
        let in_tick = free >> self.sequence.width() == tick && self.sequence_of(free) > 0;
        (in_tick && tick < window_end && tick <= self.time.max() && free <= LAST_POSITION).then_some(free)
    }

    /// Returns whether a position that was taken lies in the clock's tick, and within the window.
    #[inline]
    pub(crate) fn is_in_tick(&self, position: u64, window_end: u64, now_ms: i64) -> bool {
        let tick = position >> self.sequence.width();
        self.tick(now_ms) == Some(tick) && (tick < window_end || mutant::removes("run"))
    }

    /// Returns up to `want` positions of the tick of `first`, which [`Plan::step`] has allowed.
    pub(crate) fn rest_of_tick(&self, first: u64, want: u64) -> Taken {
        let last = (first | self.sequence.max()).min(LAST_POSITION);
        Taken { first, count: want.min(last - first + 1) }
    }

    /// Returns the ms until the whole batch is free; `None` if the layout ends before.
    #[cold]
    fn ms_until_all(&self, first: u64, want: u64, now_ms: i64) -> Option<u64> {
        let last = first.saturating_add(want - 1);
        let last_tick = last >> self.sequence.width();
        if last > LAST_POSITION || last_tick > self.time.max() { None } else { Some(self.ms_until(last_tick, now_ms)) }
    }

    /// Returns why no ID is free although the layout goes on: the IDs up to now are used up, or the clock went back.
    ///
    /// `begun` and `reach` are the numbers of ticks up to the clock, and up to `max_ahead_ms` after the clock. `first`
    /// is the first position that the call needs.
    #[cold]
    fn ahead_of_the_clock(
        &self,
        free: u64,
        [begun, reach]: [u64; 2],
        now_ms: i64,
        first: u64,
        want: u64,
        patience_ms: u64,
    ) -> Error {
        let free_tick = free >> self.sequence.width();
        let last_tick = if self.sequence_of(free) > 0 { free_tick } else { free_tick.saturating_sub(1) };
        if free > 0 && last_tick >= reach {
            return Error::clock_backwards(self.start_ms(last_tick).abs_diff(now_ms));
        }
        let next_ms = self.ms_until(free_tick, now_ms);
        match self.ms_until_all(first, want, now_ms) {
            None => self.over(begun, now_ms),
            Some(all_ms) if all_ms > patience_ms && all_ms > next_ms => Error::batch_exhausted(all_ms),
            Some(_) => Error::exhausted(next_ms),
        }
    }

    #[cold]
    fn over(&self, begun: u64, now_ms: i64) -> Error {
        let ends_at_ms = self.start_ms(self.time.max());
        if begun.saturating_sub(1) > self.time.max() {
            Error::time_overflow(now_ms, ends_at_ms)
        } else {
            Error::used_up(ends_at_ms)
        }
    }

    /// Returns the ms until `tick` is at most `max_ahead_ms` ahead of the clock, at least 1.
    fn ms_until(&self, tick: u64, now_ms: i64) -> u64 {
        let wait_ms = self.start_ms(tick).saturating_sub(now_ms).saturating_sub_unsigned(self.max_ahead_ms);
        wait_ms.max(1).unsigned_abs()
    }

    /// Returns where the sequence of a new tick begins. `next` is the sequence that the old tick would have used next.
    #[inline]
    fn start(&self, next: u64, tick: u64) -> u64 {
        match self.sequence_start {
            SequenceStart::Zero => 0,
            SequenceStart::Carry => next,
            SequenceStart::Random => random::mix(self.seed, tick) & (self.sequence.max() >> 1),
        }
    }

    /// Returns the ID at a position.
    pub(crate) fn id(&self, position: u64) -> u64 {
        let id = self.node
            | self.time.put(position >> self.sequence.width())
            | self.sequence.put(self.sequence_of(position));
        if self.random.width() == 0 { id } else { id | self.random.put(self.random_bits(position)) }
    }

    /// Returns the random field of the ID at a position. It depends on the position alone, so the word is the whole
    /// state.
    // Cold, since few layouts have such a field: callers take up the rest of minting.
    #[cold]
    fn random_bits(&self, position: u64) -> u64 {
        // The inverted seed keeps these bits apart from the random starts of sequences.
        random::mix(!self.seed, position) & self.random.max()
    }

    const fn sequence_of(&self, position: u64) -> u64 {
        position & self.sequence.max()
    }

    /// Returns how many ticks have begun by an instant: one more than its tick, or 0 before the epoch.
    #[inline]
    fn begun(&self, unix_ms: i64) -> u64 {
        self.tick(unix_ms).map_or(0, |tick| tick + 1)
    }

    /// Returns the tick of an instant; `None` before the epoch.
    #[inline]
    fn tick(&self, unix_ms: i64) -> Option<u64> {
        if unix_ms < self.epoch_ms {
            return None;
        }
        let since_epoch_ms = unix_ms.abs_diff(self.epoch_ms);
        // Nearly every layout counts ms, and a division costs as much as the rest of the step.
        Some(if self.tick_ms.get() == 1 { since_epoch_ms } else { since_epoch_ms / self.tick_ms })
    }

    /// Returns the first instant of a tick of the layout, Unix ms. `Layout::finish` has checked that it fits.
    const fn start_ms(&self, tick: u64) -> i64 {
        self.epoch_ms.wrapping_add_unsigned(tick.wrapping_mul(self.tick_ms.get()))
    }
}
