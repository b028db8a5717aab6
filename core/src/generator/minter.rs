//! The part of a generator that mints, without its layout and options.

use core::borrow::Borrow;

use super::local::{LocalRun, MAX_RUN_IDS};
use super::options::Options;
use super::run::Run;
use super::step::{Plan, Taken};
use super::words::Words;
use crate::error::Error;
use crate::layout::Layout;

/// Mints IDs without waiting. A [`Snowflake`](crate::Snowflake) adds layout, options and waiting; use this type in
/// a host that keeps these parts elsewhere.
#[derive(Debug)]
// In this order: minting reads the first field first.
#[repr(C)]
pub struct Minter<W> {
    plan: Plan,
    words: W,
}

impl<W: Borrow<Words>> Minter<W> {
    /// Makes a minter for `node`, which [`Layout::node`] has checked. It ignores the option `max_wait_ms`.
    pub fn new(layout: &Layout, node: u32, options: &Options, words: W) -> Self {
        Self { plan: Plan::new(layout, node, options), words }
    }

    /// Returns the state.
    pub fn words(&self) -> &Words {
        self.words.borrow()
    }

    /// Works as [`Snowflake::try_next_id`](crate::Snowflake::try_next_id).
    ///
    /// # Errors
    /// The same errors.
    #[inline]
    pub fn try_next_id(&self, now_ms: i64) -> Result<u64, Error> {
        let words = self.words.borrow();
        let word = words.state();
        // Under load most IDs are neither the first nor the last of their tick. This finds them in half the time of a
        // step. The ID is made before the swap: work after a swap delays the next swap.
        if let Some(position) = self.plan.next_in_tick(word, words.window_end(), now_ms) {
            let id = self.plan.id(position);
            if words.swap(word, word + 1).is_ok() {
                return Ok(id);
            }
        }
        self.next_by_step(now_ms)
    }

    // Apart, so that the compiler puts the rest of `try_next_id` into its callers.
    #[inline(never)]
    fn next_by_step(&self, now_ms: i64) -> Result<u64, Error> {
        Ok(self.plan.id(self.take_now(now_ms, 1, 0)?.first))
    }

    /// Works as [`Snowflake::try_run`](crate::Snowflake::try_run).
    ///
    /// # Errors
    /// The same.
    #[inline]
    pub fn try_run(&self, now_ms: i64, want: u64, patience_ms: u64) -> Result<Run<'_>, Error> {
        self.take_now(now_ms, want, patience_ms).map(|taken| Run::new(&self.plan, taken))
    }

    /// Returns the next ID of a thread at the time `now_ms` (Unix ms). Never waits.
    ///
    /// The ID comes from the thread's run while the tick of the run goes on, its window holds and the state is open; else
    /// from a new run. IDs of one run and minter strictly increase. IDs of two threads have the order of their ticks.
    ///
    /// # Errors
    /// As [`try_next_id`](Self::try_next_id).
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{LocalRun, Minter, Options, Words, layouts::SNOWMINT};
    /// let minter = Minter::new(&SNOWMINT, 5, &Options::DEFAULT, Words::vouched());
    /// let mut run = LocalRun::new();
    /// let first = minter.next_local(&mut run, 1_772_323_200_123)?;
    /// assert_eq!(minter.next_local(&mut run, 1_772_323_200_123)?, first + 1);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    #[inline]
    pub fn next_local(&self, run: &mut LocalRun, now_ms: i64) -> Result<u64, Error> {
        let words = self.words.borrow();
        let position = run.next;
        let in_tick = self.plan.is_in_tick(position, words.window_end(), now_ms);
        if in_tick && position < run.end && words.is_open() {
            run.next += 1;
            return Ok(self.plan.id(position));
        }
        self.next_of_new_run(run, in_tick, now_ms)
    }

    #[inline(never)]
    fn next_of_new_run(&self, run: &mut LocalRun, in_tick: bool, now_ms: i64) -> Result<u64, Error> {
        // The rest of the old run is lost: its tick is over, or the clock went back.
        let size = if in_tick { (2 * run.size).min(MAX_RUN_IDS) } else { 1 };
        *run = LocalRun::new();
        let Taken { first, count } = self.take_in_tick(now_ms, size)?;
        *run = LocalRun { next: first + 1, end: first + count, size };
        Ok(self.plan.id(first))
    }

    fn take_in_tick(&self, now_ms: i64, want: u64) -> Result<Taken, Error> {
        let words = self.words.borrow();
        let mut word = words.state();
        loop {
            let one = self.plan.step(word, words.window_end(), now_ms, 1, 0)?;
            let taken = self.plan.rest_of_tick(one.first, want);
            match words.swap(word, taken.next_word()) {
                Ok(()) => return Ok(taken),
                Err(current) => word = current,
            }
        }
    }

    #[inline]
    fn take_now(&self, now_ms: i64, want: u64, patience_ms: u64) -> Result<Taken, Error> {
        let words = self.words.borrow();
        let mut word = words.state();
        loop {
            let taken = self.plan.step(word, words.window_end(), now_ms, want, patience_ms)?;
            match words.swap(word, taken.next_word()) {
                Ok(()) => return Ok(taken),
                Err(current) => word = current,
            }
        }
    }
}
