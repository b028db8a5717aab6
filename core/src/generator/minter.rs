//! The part of a generator that mints, without its layout and options.

use core::borrow::Borrow;

use super::options::Options;
use super::run::{Mint, Run};
use super::step::{Plan, Taken};
use super::words::Words;
use crate::error::Error;
use crate::layout::Layout;

/// Mints IDs without waiting. A [`Snowflake`](crate::Snowflake) adds layout, options and waiting; this is for hosts
/// that keep those elsewhere.
#[derive(Debug)]
// In this order: minting reads the first field first.
#[repr(C)]
pub struct Minter<W> {
    mint: Mint,
    words: W,
}

impl<W: Borrow<Words>> Minter<W> {
    /// Makes a minter for `node`, which [`Layout::node`] has checked. It ignores the option `max_wait_ms`.
    pub fn new(layout: &Layout, node: u32, options: &Options, words: W) -> Self {
        let plan = Plan::new(layout, options.max_ahead_ms, options.sequence_start, options.seed);
        Self { mint: Mint::new(layout, node, plan), words }
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
        // step.
        let next = self.mint.plan.next_in_tick(word, words.window_end(), now_ms);
        let position = match next.filter(|_| words.swap(word, word + 1).is_ok()) {
            Some(position) => position,
            None => self.take_now(now_ms, 1, 0)?.first,
        };
        Ok(self.mint.id(position))
    }

    /// Works as [`Snowflake::try_run`](crate::Snowflake::try_run).
    ///
    /// # Errors
    /// The same.
    #[inline]
    pub fn try_run(&self, now_ms: i64, want: u64, patience_ms: u64) -> Result<Run<'_>, Error> {
        self.take_now(now_ms, want, patience_ms).map(|taken| Run::new(&self.mint, taken))
    }

    #[inline]
    fn take_now(&self, now_ms: i64, want: u64, patience_ms: u64) -> Result<Taken, Error> {
        let words = self.words.borrow();
        let mut word = words.state();
        loop {
            let taken = self.mint.plan.step(word, words.window_end(), now_ms, want, patience_ms)?;
            match words.swap(word, taken.next_word()) {
                Ok(()) => return Ok(taken),
                Err(current) => word = current,
            }
        }
    }
}
