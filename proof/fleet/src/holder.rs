//! A process that leases a node and mints.

use std::rc::Rc;

use snowmint_core::lease::{Renewal, RenewalStep, renewal_pause_ms};
use snowmint_core::store::Reply;
use snowmint_core::{LocalRun, Options, Snowflake, Words};

use crate::claiming::{Claimed, Claiming};
use crate::context::Context;
use crate::store::{Answer, Request};

/// A call that has read the word of its cell, and has not swapped it.
#[derive(Debug)]
struct Call {
    nonce: usize,
    node: u32,
    cell: Rc<Words>,
    word: u64,
    clock_ms: i64,
}

/// The generator of a lease that is closed. Threads that have not heard of it go on to call.
#[derive(Debug)]
pub(crate) struct Past {
    pub(crate) nonce: usize,
    pub(crate) generator: Snowflake<Rc<Words>>,
    pub(crate) run: LocalRun,
}

impl Past {
    pub(crate) fn mint(&mut self, context: &mut Context<'_>) {
        mint(&self.generator, self.nonce, &mut self.run, context);
    }
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a process has one")]
enum Way {
    Rests,
    Claims(Claiming),
    Holds { renewal: Renewal, generator: Snowflake<Rc<Words>>, cell: Rc<Words>, asks: bool },
    Releases(Renewal),
}

/// A process that leases a node and mints.
#[derive(Debug)]
pub struct Holder {
    way: Way,
    nonce: usize,
    run: LocalRun,
    call: Option<Call>,
    past: Option<Past>,
    /// When the next renewal is due by the steady clock, or the next claim.
    due_ms: u64,
    last_node: Option<u32>,
}

impl Holder {
    /// Makes a process that has just started.
    pub fn new() -> Self {
        let run = LocalRun::new();
        Self { way: Way::Rests, nonce: 0, run, call: None, past: None, due_ms: 0, last_node: None }
    }

    /// Ends the process, and starts another in its place, which may know the last node.
    pub fn crash(&mut self) {
        let last_node = self.last_node;
        *self = Self { last_node, ..Self::new() };
    }

    /// Returns whether the process holds a node.
    pub const fn holds(&self) -> bool {
        matches!(self.way, Way::Holds { .. })
    }

    /// Returns whether a claim is under way.
    pub const fn claims(&self) -> bool {
        matches!(self.way, Way::Claims(_))
    }

    /// Lets a child of a fork mint: its cell is wiped, and it has the memory of its parent's thread.
    pub fn fork(&mut self, context: &mut Context<'_>) {
        let Way::Holds { renewal, .. } = &self.way else { return };
        let mut run = std::mem::take(&mut self.run);
        let child = Snowflake::with(context.plan.layout, renewal.node(), options(context), Words::wiped());
        let minted = [child.try_next_id(context.clock_ms), child.next_local(&mut run, context.clock_ms)];
        if minted.iter().any(Result::is_ok) {
            context.checker.child_minted();
        }
    }

    /// Acts: claims, mints, renews or releases. Returns a request to the store.
    pub fn wake(&mut self, context: &mut Context<'_>, waits: bool) -> Option<Request> {
        self.resume(context);
        if let Some(past) = &mut self.past {
            past.mint(context);
        }
        match &mut self.way {
            Way::Rests if context.steady_ms >= self.due_ms => Some(self.claim(context)),
            Way::Holds { generator, renewal, cell, asks } => {
                mint(generator, self.nonce, &mut self.run, context);
                if !context.plan.local && self.call.is_none() && context.random.happens(100) {
                    let (nonce, node, word, clock_ms) =
                        (self.nonce, generator.node(), cell.to_words()[0], context.clock_ms);
                    self.call = Some(Call { nonce, node, cell: Rc::clone(cell), word, clock_ms });
                }
                if waits || *asks {
                    return None;
                }
                if context.random.happens(8) {
                    return self.release(context);
                }
                if context.steady_ms < self.due_ms {
                    return None;
                }
                self.due_ms = context.steady_ms + until_renewal(context.plan.window_ms, self.nonce);
                let last_ms = generator.words().unused_from_ms(context.plan.layout)?;
                let reach_ms = context.plan.max_ahead_ms + context.plan.window_ms;
                let step = renewal.renew(context.clock_ms, last_ms, reach_ms);
                self.go_on(step, context)
            }
            _ => None,
        }
    }

    fn claim(&mut self, context: &mut Context<'_>) -> Request {
        self.nonce = context.checker.claim(context.process);
        self.run = LocalRun::new();
        let last_node = self.last_node.filter(|_| context.random.happens(500));
        self.way = Way::Claims(Claiming::new(self.nonce, context.plan.window_ms, last_node, context));
        Claiming::FIRST
    }

    /// Takes the answer to the last request; `None` if the process has waited long enough.
    pub fn answer(&mut self, answer: Option<&Answer>, context: &mut Context<'_>) -> Option<Request> {
        match &mut self.way {
            Way::Claims(claiming) => match claiming.answer(answer, context) {
                Claimed::Ask(request) => Some(request),
                Claimed::Granted(renewal) => {
                    self.open(renewal, context);
                    None
                }
                Claimed::Rest(pause_ms) => self.rest(pause_ms, context),
            },
            Way::Holds { renewal, .. } | Way::Releases(renewal) => {
                let step = match answer {
                    Some(Answer::Node(reply)) => renewal.reply(*reply),
                    _ => renewal.reply(Reply::Unknown),
                };
                self.go_on(step, context)
            }
            Way::Rests => None,
        }
    }

    fn rest(&mut self, pause_ms: u64, context: &Context<'_>) -> Option<Request> {
        self.way = Way::Rests;
        self.due_ms = context.steady_ms + pause_ms;
        None
    }

    #[allow(clippy::large_types_passed_by_value, reason = "a grant is used up")]
    fn open(&mut self, renewal: Renewal, context: &mut Context<'_>) {
        let cell = Rc::new(Words::wiped());
        if !cell.open(context.plan.layout, renewal.window()) {
            return;
        }
        context.checker.tally.leases += 1;
        self.last_node = Some(renewal.node());
        self.due_ms = context.steady_ms + until_renewal(context.plan.window_ms, self.nonce);
        let generator = Snowflake::with(context.plan.layout, renewal.node(), options(context), Rc::clone(&cell));
        self.way = Way::Holds { renewal, generator, cell, asks: false };
    }

    /// Goes on with a renewal or release.
    #[allow(clippy::large_types_passed_by_value, reason = "a step is used up")]
    fn go_on(&mut self, step: RenewalStep, context: &mut Context<'_>) -> Option<Request> {
        match (step, &mut self.way) {
            (RenewalStep::ReadClock, Way::Holds { renewal, .. } | Way::Releases(renewal)) => {
                let step = renewal.clock(Some(context.store_ms), context.clock_ms);
                self.go_on(step, context)
            }
            (RenewalStep::Ask(ask), Way::Holds { renewal, asks, .. }) => {
                *asks = true;
                Some(Request::Node(renewal.node(), ask))
            }
            (RenewalStep::Ask(ask), Way::Releases(renewal)) => Some(Request::Node(renewal.node(), ask)),
            (RenewalStep::Window(window, _), Way::Holds { generator, asks, .. }) => {
                *asks = false;
                generator.words().extend(context.plan.layout, window.end_ms);
                None
            }
            (RenewalStep::Later(_), Way::Holds { asks, .. }) => {
                *asks = false;
                self.due_ms = context.steady_ms + context.plan.window_ms / 16;
                None
            }
            (_, Way::Holds { .. }) => {
                self.close(context);
                self.rest(context.plan.window_ms / 8, context)
            }
            _ => self.rest(context.plan.window_ms / 8, context),
        }
    }

    /// Closes the cell. Returns the renewal, and the end of the last tick with an ID.
    fn close(&mut self, context: &mut Context<'_>) -> Option<(Renewal, Option<i64>)> {
        let Way::Holds { renewal, generator, .. } = std::mem::replace(&mut self.way, Way::Rests) else { return None };
        let end_ms = generator.words().close(context.plan.layout);
        context.checker.closed(self.nonce);
        self.past = Some(Past { nonce: self.nonce, generator, run: std::mem::take(&mut self.run) });
        Some((renewal, end_ms))
    }

    fn release(&mut self, context: &mut Context<'_>) -> Option<Request> {
        let (mut renewal, end_ms) = self.close(context)?;
        let step = renewal.release(end_ms?);
        self.way = Way::Releases(renewal);
        self.go_on(step, context)
    }

    /// Lets the stalled call swap the word.
    fn resume(&mut self, context: &mut Context<'_>) {
        if !context.random.happens(300) {
            return;
        }
        let Some(Call { nonce, node, cell, word, clock_ms }) = self.call.take() else { return };
        // It has read the clock before it stalled, or begins its step now.
        let clock_ms = if context.random.happens(500) { clock_ms } else { context.clock_ms };
        // The step as the stalled call computes it, from the word that it has read.
        let read = Words::of([word, cell.to_words()[1]]);
        let step = Snowflake::with(context.plan.layout, node, options(context), read);
        if let Ok(id) = step.try_next_id(clock_ms)
            && cell.swap(word, step.words().to_words()[0]).is_ok()
        {
            context.checker.minted(nonce, node, id);
        }
    }
}

impl Default for Holder {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the ms to the next renewal. The store grants whole windows.
const fn until_renewal(window_ms: u64, nonce: usize) -> u64 {
    renewal_pause_ms(window_ms, window_ms, 0, nonce as u128)
}

pub(crate) fn options(context: &Context<'_>) -> Options {
    Options { max_ahead_ms: context.plan.max_ahead_ms, ..Options::DEFAULT }
}

/// Mints a few IDs, one by one or as a run.
pub(crate) fn mint(generator: &Snowflake<Rc<Words>>, nonce: usize, run: &mut LocalRun, context: &mut Context<'_>) {
    let node = generator.node();
    let count = 1 + context.random.below(4);
    if !context.plan.local && context.random.happens(300) {
        if let Ok(ids) = generator.try_run(context.clock_ms, count, 0) {
            for id in ids {
                context.checker.minted(nonce, node, id);
            }
        }
        return;
    }
    for _ in 0..count {
        let minted = if context.plan.local {
            generator.next_local(run, context.clock_ms)
        } else {
            generator.try_next_id(context.clock_ms)
        };
        if let Ok(id) = minted {
            context.checker.minted(nonce, node, id);
        }
    }
}
