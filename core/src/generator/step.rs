//! The pure step of a generator: which IDs come next, given the state, the window's end and the time?

use super::options::SequenceStart;
use crate::error::Error;
use crate::layout::Layout;
use crate::mutant;
use crate::random;

/// The word of a closed generator. A forked child reads it too.
pub(crate) const CLOSED: u64 = 0;

/// The last position that is handed out. The word after a position is two more than the position, and must fit 64 bits.
/// So a layout whose time and sequence fill all 64 bits never mints its last two IDs.
const LAST_POSITION: u64 = u64::MAX - 2;

/// The numbers of the layout and the options that the step needs. They never change.
///
/// The state is a *position*: `tick << sequence_bits | sequence` of the next free ID; everything below is used up.
/// A *word* is a position plus one, so that zero can mean closed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    epoch_ms: i64,
    tick_ms: u64,
    max_tick: u64,
    sequence_bits: u32,
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
    pub(crate) const fn new(layout: &Layout, max_ahead_ms: u64, sequence_start: SequenceStart, seed: u64) -> Self {
        Self {
            epoch_ms: layout.epoch_ms(),
            tick_ms: layout.tick_ms(),
            max_tick: layout.time().max(),
            sequence_bits: layout.sequence().width(),
            max_ahead_ms,
            sequence_start,
            seed,
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
        let free_tick = free >> self.sequence_bits;
        let tick = if mutant::removes("increase") { now_tick } else { now_tick.max(free_tick) };
        if tick > self.max_tick {
            return Err(self.over(begun, now_ms));
        }
        let reach =
            if self.max_ahead_ms == 0 { begun } else { self.begun(now_ms.saturating_add_unsigned(self.max_ahead_ms)) };
        let started = self.sequence_of(free);
        let sequence = if tick == free_tick && started > 0 { started } else { self.start(started, tick) };
        let first = (tick << self.sequence_bits) | sequence;
        if tick >= reach {
            return Err(self.ahead_of_the_clock(free, [begun, reach], now_ms, first, want, patience_ms));
        }
        let window_end = if mutant::removes("window") { u64::MAX } else { window_end };
        if tick >= window_end {
            return Err(Error::window_over());
        }
        let last_tick = (reach.min(window_end) - 1).min(self.max_tick);
        let last = ((last_tick << self.sequence_bits) | self.sequence_mask()).min(LAST_POSITION);
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
    /// Such a tick is not ahead of the clock, so few checks are left. Most depend on the time alone: a processor makes them
    /// while it still waits for `word`.
    #[inline]
    pub(crate) fn next_in_tick(&self, word: u64, window_end: u64, now_ms: i64) -> Option<u64> {
        let tick = self.begun(now_ms).checked_sub(1)?;
        if tick > self.max_tick || tick >= window_end {
            return None;
        }
        let free = word.wrapping_sub(CLOSED + 1);
        // Wraps far above the sequence where the state is closed or in an earlier tick.
        let sequence = free.wrapping_sub(tick << self.sequence_bits);
        (sequence.wrapping_sub(1) < self.sequence_mask() && free <= LAST_POSITION).then_some(free)
    }

    /// Returns whether a position that was taken lies in the clock's tick, and within the window.
    #[inline]
    pub(crate) fn is_in_tick(&self, position: u64, window_end: u64, now_ms: i64) -> bool {
        let tick = position >> self.sequence_bits;
        self.begun(now_ms) == tick + 1 && (tick < window_end || mutant::removes("run"))
    }

    /// Returns up to `want` positions of the tick of `first`, which [`Plan::step`] has allowed.
    pub(crate) fn rest_of_tick(&self, first: u64, want: u64) -> Taken {
        let last = (first | self.sequence_mask()).min(LAST_POSITION);
        Taken { first, count: want.min(last - first + 1) }
    }

    /// Returns the ms until the whole batch is free; `None` if the layout ends before.
    #[cold]
    fn ms_until_all(&self, first: u64, want: u64, now_ms: i64) -> Option<u64> {
        let last = first.saturating_add(want - 1);
        let last_tick = last >> self.sequence_bits;
        if last > LAST_POSITION || last_tick > self.max_tick { None } else { Some(self.ms_until(last_tick, now_ms)) }
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
        let free_tick = free >> self.sequence_bits;
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
        let ends_at_ms = self.start_ms(self.max_tick);
        if begun.saturating_sub(1) > self.max_tick {
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
            SequenceStart::Random => random::mix(self.seed, tick) & (self.sequence_mask() >> 1),
        }
    }

    /// Returns the random field of the ID at a position. It depends on the position alone, so the word is the whole
    /// state.
    pub(crate) fn random_bits(&self, position: u64) -> u64 {
        // The inverted seed keeps these bits apart from the random starts of sequences.
        random::mix(!self.seed, position)
    }

    const fn sequence_mask(&self) -> u64 {
        (1 << self.sequence_bits) - 1
    }

    const fn sequence_of(&self, position: u64) -> u64 {
        position & self.sequence_mask()
    }

    /// Returns how many ticks have begun by an instant: one more than its tick, or 0 before the epoch.
    #[inline]
    fn begun(&self, unix_ms: i64) -> u64 {
        if unix_ms < self.epoch_ms {
            return 0;
        }
        let since_epoch_ms = unix_ms.abs_diff(self.epoch_ms);
        // Nearly every layout counts ms, and a division costs as much as the rest of the step.
        1 + if self.tick_ms == 1 { since_epoch_ms } else { since_epoch_ms / self.tick_ms }
    }

    /// Returns the first instant of a tick of the layout, Unix ms. `Layout::finish` has checked that it fits.
    const fn start_ms(&self, tick: u64) -> i64 {
        self.epoch_ms.wrapping_add_unsigned(tick.wrapping_mul(self.tick_ms))
    }
}
