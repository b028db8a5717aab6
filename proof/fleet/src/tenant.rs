//! A process that mints in windows of its machine, within a reservation.

use std::rc::Rc;

use snowmint_core::lease::{Record, Renewal, RenewalStep, Reservation, renewal_pause_ms};
use snowmint_core::store::{Reply, Version};
use snowmint_core::{LocalRun, Snowflake, Window, Words};

use crate::claiming::{Claimed, Claiming};
use crate::context::Context;
use crate::holder::{Past, mint, options};
use crate::machine::{Machine, Start};
use crate::store::{Answer, Request};

/// The reservation, as a process knows it from the store.
#[derive(Debug)]
struct Outer {
    renewal: Renewal,
    /// The last known record in the store, and its version.
    granted: (Record, Version),
    asks: bool,
    /// When the last renewal ended, by the steady clock.
    since_ms: Option<u64>,
    failures: u64,
    is_lost: bool,
}

impl Outer {
    #[allow(clippy::large_types_passed_by_value, reason = "a renewal is kept")]
    const fn new(renewal: Renewal, since_ms: Option<u64>) -> Self {
        Self { granted: renewal.saved(), renewal, asks: false, since_ms, failures: 0, is_lost: false }
    }

    const fn node(&self) -> u32 {
        self.renewal.node()
    }

    #[allow(clippy::cast_possible_truncation, reason = "a nonce is the place of a claim")]
    const fn nonce(&self) -> usize {
        self.granted.0.nonce as usize
    }

    /// Begins a renewal, if one is due.
    fn begin(&mut self, context: &Context<'_>) -> Option<Request> {
        let (record, reserve_ms) = (self.granted.0, context.plan.reserve_ms);
        let left_ms = u64::try_from(record.window.end_ms - context.clock_ms).unwrap_or_default();
        let pause_ms = Reservation::pause_ms(reserve_ms, left_ms, self.failures, record.nonce);
        let is_due = self.since_ms.is_none_or(|since_ms| context.steady_ms >= since_ms + pause_ms);
        if self.asks || self.is_lost || !is_due {
            return None;
        }
        let step = self.renewal.renew(context.clock_ms, context.clock_ms, reserve_ms);
        self.go_on(step, context)
    }

    fn answer(&mut self, answer: Option<&Answer>, context: &Context<'_>) -> Option<Request> {
        let step = match answer {
            Some(Answer::Node(reply)) => self.renewal.reply(*reply),
            _ => self.renewal.reply(Reply::Unknown),
        };
        self.go_on(step, context)
    }

    #[allow(clippy::large_types_passed_by_value, reason = "a step is used up")]
    fn go_on(&mut self, step: RenewalStep, context: &Context<'_>) -> Option<Request> {
        match step {
            RenewalStep::ReadClock => {
                let step = self.renewal.clock(Some(context.store_ms), context.clock_ms);
                return self.go_on(step, context);
            }
            RenewalStep::Ask(ask) => {
                self.asks = true;
                return Some(Request::Node(self.node(), ask));
            }
            RenewalStep::Window(..) => self.failures = 0,
            RenewalStep::Later(_) => self.failures += 1,
            RenewalStep::Lost(_) | RenewalStep::Released => self.is_lost = true,
        }
        (self.asks, self.since_ms, self.granted) = (false, Some(context.steady_ms), self.renewal.saved());
        None
    }
}

/// A slot that the process has locked, and mints in.
#[derive(Debug)]
struct Held {
    outer: Outer,
    /// The reservation as the file has it.
    written: Reservation,
    window: Window,
    nonce: usize,
    generator: Snowflake<Rc<Words>>,
    run: LocalRun,
    failures: u64,
    due_ms: u64,
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a process has one")]
enum Way {
    Rests,
    /// Asks the store whether the reservation of the file still counts. The slot is locked.
    Confirms(Outer, Reservation, Window),
    Claims(Claiming),
    Holds(Held),
}

/// A process that mints in windows of its machine, within a reservation.
#[derive(Debug)]
pub struct Tenant {
    /// The number of its machine.
    pub machine: usize,
    way: Way,
    past: Option<Past>,
    /// When it looks for a slot again, by the steady clock.
    due_ms: u64,
}

impl Tenant {
    /// Makes a process that has just started.
    pub const fn new(machine: usize) -> Self {
        Self { machine, way: Way::Rests, past: None, due_ms: 0 }
    }

    /// Returns whether a claim is under way.
    pub const fn claims(&self) -> bool {
        matches!(self.way, Way::Claims(_))
    }

    /// Acts: looks for a slot, mints, renews or closes. Returns a request to the store.
    pub fn wake(&mut self, context: &mut Context<'_>, waits: bool) -> Option<Request> {
        let machine = context.machine.take()?;
        if let Some(past) = &mut self.past {
            past.mint(context);
        }
        match &mut self.way {
            Way::Rests if !waits && context.steady_ms >= self.due_ms => self.start(machine, context),
            Way::Holds(held) => {
                mint(&held.generator, held.nonce, &mut held.run, context);
                if context.random.happens(8) {
                    return self.close(machine, context);
                }
                if context.steady_ms < held.due_ms { None } else { self.renew(machine, context) }
            }
            _ => None,
        }
    }

    /// Takes the answer to the last request; `None` if the process has waited long enough.
    pub fn answer(&mut self, answer: Option<&Answer>, context: &mut Context<'_>) -> Option<Request> {
        let machine = context.machine.take()?;
        match &mut self.way {
            Way::Confirms(outer, ..) => {
                let request = outer.answer(answer, context);
                if request.is_some() { request } else { self.confirmed(machine, context) }
            }
            Way::Holds(Held { outer, .. }) if outer.asks => outer.answer(answer, context),
            Way::Claims(claiming) => match claiming.answer(answer, context) {
                Claimed::Ask(request) => Some(request),
                Claimed::Granted(renewal) => self.reserved(renewal, machine, context),
                Claimed::Rest(pause_ms) => self.rest(pause_ms, machine, context),
            },
            Way::Holds(_) | Way::Rests => None,
        }
    }

    /// Looks for a slot of the directory whose reservation is not over, or else claims a node of the store.
    fn start(&mut self, machine: &mut Machine, context: &mut Context<'_>) -> Option<Request> {
        let mut soonest_ms = u64::MAX;
        for node in machine.nodes() {
            if !machine.lock(node, context.process, context.random) {
                continue;
            }
            let reservation = machine.reservation(node);
            match reservation.map(|found| (found, machine.start(node, &found, context.plan, context.clock_ms))) {
                Some((reservation, Start::At(window))) => {
                    let Reservation { record, version, .. } = reservation;
                    let renewal = Renewal::resume(node, record, version, context.plan.system_clock);
                    let mut outer = Outer::new(renewal, None);
                    let request = outer.begin(context);
                    self.way = Way::Confirms(outer, reservation, window);
                    return if request.is_some() { request } else { self.confirmed(machine, context) };
                }
                Some((_, Start::In(wait_ms))) => soonest_ms = soonest_ms.min(wait_ms),
                Some((_, Start::Never)) | None => {}
            }
            machine.unlock(context.process);
        }
        if soonest_ms <= context.plan.window_ms {
            return self.rest(soonest_ms, machine, context);
        }
        let nonce = context.checker.claim(context.process);
        self.way = Way::Claims(Claiming::new(nonce, context.plan.reserve_ms, None, context));
        Some(Claiming::FIRST)
    }

    /// Goes on with a reservation of the directory, unless the store has given the node to others.
    fn confirmed(&mut self, machine: &mut Machine, context: &mut Context<'_>) -> Option<Request> {
        let way = std::mem::replace(&mut self.way, Way::Rests);
        let Way::Confirms(outer, reservation, window) = way else { return None };
        if outer.is_lost {
            machine.write_reservation(outer.node(), &reservation.given_up());
            return self.rest(0, machine, context);
        }
        self.open(outer, reservation, window, machine, context)
    }

    /// Takes the slot of a node that the store has granted.
    #[allow(clippy::large_types_passed_by_value, reason = "a grant is used up")]
    fn reserved(&mut self, renewal: Renewal, machine: &mut Machine, context: &mut Context<'_>) -> Option<Request> {
        let ((record, version), node) = (renewal.saved(), renewal.node());
        if !machine.lock(node, context.process, context.random) {
            return self.rest(context.plan.window_ms, machine, context);
        }
        let reservation = Reservation { identity: machine.identity(node), version, record };
        match machine.start(node, &reservation, context.plan, context.clock_ms) {
            Start::At(window) => {
                self.open(Outer::new(renewal, Some(context.steady_ms)), reservation, window, machine, context)
            }
            Start::In(_) | Start::Never => self.rest(context.plan.window_ms, machine, context),
        }
    }

    /// Writes the window of the locked slot, then the reservation, and begins to mint.
    #[allow(clippy::large_types_passed_by_value, reason = "a reservation is used up")]
    fn open(
        &mut self,
        outer: Outer,
        written: Reservation,
        window: Window,
        machine: &mut Machine,
        context: &mut Context<'_>,
    ) -> Option<Request> {
        let (node, cell) = (outer.node(), Rc::new(Words::wiped()));
        if !cell.open(context.plan.layout, window) {
            return self.rest(context.plan.window_ms, machine, context);
        }
        let nonce = context.checker.claim(context.process);
        machine.write_window(node, window);
        context.checker.slotted(nonce, outer.nonce(), node, window);
        if is_killed(context) {
            return self.rest(0, machine, context);
        }
        machine.write_reservation(node, &written);
        context.checker.tally.slots += 1;
        context.checker.tally.unconfirmed += u64::from(outer.failures > 0);
        let generator = Snowflake::with(context.plan.layout, node, options(context), cell);
        let due_ms = context.steady_ms + until_renewal(window, nonce, 0, context);
        let run = LocalRun::new();
        self.way = Way::Holds(Held { outer, written, window, nonce, generator, run, failures: 0, due_ms });
        None
    }

    /// Writes the reservation as the store has granted it since, then a later end of the slot's window, within it.
    fn renew(&mut self, machine: &mut Machine, context: &mut Context<'_>) -> Option<Request> {
        let Way::Holds(held) = &mut self.way else { return None };
        let node = held.outer.node();
        let request = held.outer.begin(context);
        if held.outer.is_lost {
            machine.write_reservation(node, &held.written.given_up());
            return self.close(machine, context);
        }
        let (record, version) = held.outer.granted;
        if (record, version) != (held.written.record, held.written.version) {
            held.written = Reservation { version, record, ..held.written };
            machine.write_reservation(node, &held.written);
            if is_killed(context) {
                return self.rest(0, machine, context);
            }
        }
        let last_ms = held.generator.words().unused_from_ms(context.plan.layout)?;
        let reach_ms = context.plan.max_ahead_ms + context.plan.window_ms;
        let end_ms = held.window.renewed_end_ms(context.clock_ms, last_ms, reach_ms);
        let within = held.written.within(Window { end_ms, ..held.window });
        let end_ms = within.map_or(held.written.record.window.end_ms, |window| window.end_ms);
        if end_ms <= context.clock_ms {
            held.failures += 1;
        } else {
            held.failures = 0;
            held.window.end_ms = end_ms;
            machine.write_window(node, held.window);
            context.checker.slotted(held.nonce, held.outer.nonce(), node, held.window);
            if is_killed(context) {
                return self.rest(0, machine, context);
            }
            held.generator.words().extend(context.plan.layout, end_ms);
        }
        held.due_ms = context.steady_ms + until_renewal(held.window, held.nonce, held.failures, context);
        request
    }

    /// Closes the cell, and writes the end of the last tick with an ID. The directory keeps the reservation.
    fn close(&mut self, machine: &mut Machine, context: &mut Context<'_>) -> Option<Request> {
        let way = std::mem::replace(&mut self.way, Way::Rests);
        let Way::Holds(Held { outer, window, nonce, generator, run, .. }) = way else { return None };
        if let Some(end_ms) = generator.words().close(context.plan.layout) {
            machine.write_window(outer.node(), Window { end_ms, ..window });
            // A tick belongs to the window in which it begins, also if it ends later.
            let window = Window { end_ms: end_ms.min(window.end_ms), ..window };
            context.checker.slotted(nonce, outer.nonce(), outer.node(), window);
        }
        context.checker.closed(nonce);
        self.past = Some(Past { nonce, generator, run });
        self.rest(context.plan.window_ms / 8, machine, context)
    }

    fn rest(&mut self, pause_ms: u64, machine: &mut Machine, context: &Context<'_>) -> Option<Request> {
        machine.unlock(context.process);
        self.way = Way::Rests;
        self.due_ms = context.steady_ms + pause_ms;
        None
    }
}

/// Returns whether the process is killed between two writes.
const fn is_killed(context: &mut Context<'_>) -> bool {
    context.random.happens(5)
}

/// Returns the ms to the next renewal of a window, which the reservation may have cut.
fn until_renewal(window: Window, nonce: usize, failures: u64, context: &Context<'_>) -> u64 {
    let left_ms = window.end_ms.saturating_sub(context.clock_ms).saturating_sub_unsigned(context.plan.max_ahead_ms);
    renewal_pause_ms(context.plan.window_ms, u64::try_from(left_ms).unwrap_or_default(), failures, nonce as u128)
}
