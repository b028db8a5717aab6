//! What of a generator mints, without what it tells about itself.

use core::borrow::Borrow;

use super::options::Options;
use super::run::{Mint, Run};
use super::step::{Plan, Taken};
use super::words::Words;
use crate::error::Error;
use crate::layout::Layout;

/// Mints on a state; [`Snowflake`](crate::Snowflake) is one with its layout and options, and waits. For hosts that have
/// these elsewhere.
#[derive(Debug)]
// In this order: what minting reads comes first.
#[repr(C)]
pub struct Minter<W> {
    mint: Mint,
    words: W,
}

impl<W: Borrow<Words>> Minter<W> {
    /// For `node`, which [`Layout::node`] has checked. Of the options `max_wait_ms` does not matter here.
    pub fn new(layout: &Layout, node: u32, options: &Options, words: W) -> Self {
        let plan = Plan::new(layout, options.max_ahead_ms, options.sequence_start, options.seed);
        Self { mint: Mint::new(layout, node, plan), words }
    }

    /// The state.
    pub fn words(&self) -> &Words {
        self.words.borrow()
    }

    /// As [`Snowflake::try_next_id`](crate::Snowflake::try_next_id).
    ///
    /// # Errors
    /// Those of that.
    #[inline]
    pub fn try_next_id(&self, now_ms: i64) -> Result<u64, Error> {
        let words = self.words.borrow();
        let word = words.state();
        // Most IDs under load are neither the first nor the last of their tick, and found in half the time of a step.
        let next = self.mint.plan.next_in_tick(word, words.window_end(), now_ms);
        let position = match next.filter(|_| words.swap(word, word + 1).is_ok()) {
            Some(position) => position,
            None => self.take_now(now_ms, 1, 0)?.first,
        };
        Ok(self.mint.id(position))
    }

    /// As [`Snowflake::try_run`](crate::Snowflake::try_run).
    ///
    /// # Errors
    /// Those of that.
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
