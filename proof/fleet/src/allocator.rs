//! A process that fetches numbers of a segment and hands them out.

use snowmint_core::Integer;
use snowmint_core::segment::{Bounds, Range, Segment};
use snowmint_core::store::{Ask, Next, Reply};

use crate::context::Context;
use crate::store::{Answer, Request};

/// How many numbers a fetch brings at first.
const STEP: Integer = Integer::Fits(12);

/// A process that fetches numbers of a segment and hands them out.
#[derive(Debug)]
pub struct Allocator {
    range: Range,
    segment: Segment,
    last: u64,
    /// The word that a stalled call has read.
    call: Option<u64>,
}

impl Allocator {
    /// Makes a process that has just started.
    pub fn new() -> Self {
        const NEW: Segment = match Segment::new(STEP, Bounds::UpTo) {
            Ok(segment) => segment,
            Err(_) => panic!("a step is 1 or more"),
        };
        Self { range: Range::wiped(), segment: NEW, last: 0, call: None }
    }

    /// Hands out a few numbers. Returns a fetch.
    pub fn wake(&mut self, context: &mut Context<'_>) -> Option<Request> {
        if let Some(word) = self.call.take()
            && let Some(number) = self.range.take_from(word)
        {
            self.hand_out(number, context);
        }
        if context.random.happens(200) {
            self.call = Some(self.range.cursor());
        }
        for _ in 0..=context.random.below(4) {
            let number = self.range.take();
            if let Some(number) = number {
                self.hand_out(number, context);
                continue;
            }
            match self.segment.refill(&self.range, context.steady_ms) {
                Ok(Next::Ask(Ask::Add(amount))) => return Some(Request::Add(amount)),
                Ok(_) => {}
                Err(error) => {
                    // Not for now: the process makes a new segment.
                    if error.retry_after_ms().is_none() {
                        *self = Self::new();
                    }
                    return None;
                }
            }
        }
        if self.range.is_due()
            && let Some(Ask::Add(amount)) = self.segment.prefetch(&self.range, context.steady_ms)
        {
            return Some(Request::Add(amount));
        }
        None
    }

    fn hand_out(&mut self, number: u64, context: &mut Context<'_>) {
        context.checker.numbered(self.last, number);
        self.last = number;
    }

    /// Takes the answer to the last fetch; `None` if the process has waited long enough.
    pub fn answer(&mut self, answer: Option<&Answer>, context: &Context<'_>) {
        let reply = match answer {
            Some(Answer::Sum(sum)) => Reply::Sum(*sum),
            _ => Reply::Unknown,
        };
        // An error stays, and the next call returns it.
        let _ = self.segment.reply(&self.range, reply, context.steady_ms);
    }
}

impl Default for Allocator {
    fn default() -> Self {
        Self::new()
    }
}
