//! The world of a fleet: virtual time, processes, a network, a store, and their faults.

mod chaos;
mod event;
mod process;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use snowmint_core::lease::Record;
use snowmint_core::store::{Ask, Reply};

use self::event::{Event, What};
use self::process::{Process, Role};
use crate::allocator::Allocator;
use crate::context::Context;
use crate::faults::{Fault, Rates};
use crate::holder::Holder;
use crate::keeper::Keeper;
use crate::machine::Machine;
use crate::plan::{Plan, START_MS};
use crate::random::Random;
use crate::store::{Answer, Request, Store};
use crate::tally::Checker;
use crate::tenant::Tenant;

/// The world of a fleet.
#[derive(Debug)]
pub struct World {
    plan: Plan,
    random: Random,
    now_ms: u64,
    events: BinaryHeap<Reverse<Event>>,
    number: u64,
    processes: Vec<Process>,
    machines: Vec<Machine>,
    store: Store,
    /// Until when the store does not answer.
    down_until_ms: u64,
    /// How often a fence ended all that was on its way.
    epoch: u32,
    skip: u64,
    fence_is_planned: bool,
    checker: Checker,
    /// The last events in words, once `keep_trace` was called.
    trace: Option<VecDeque<String>>,
}

/// How many events a trace has.
const TRACED_EVENTS: usize = 60;

impl World {
    /// Makes the world of a seed.
    pub fn of_seed(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let plan = Plan::of_seed(&mut random);
        Self::new(plan, random)
    }

    /// Makes a world by a plan.
    pub fn new(plan: Plan, mut random: Random) -> Self {
        let holders = (0..plan.holders).map(|_| Role::Holder(Holder::new()));
        let allocators = (0..plan.allocators).map(|_| Role::Allocator(Allocator::new()));
        let keepers = (0..plan.keepers).map(|_| Role::Keeper(Keeper::new()));
        let tenants = (0..plan.machines * plan.tenants).map(|tenant| Role::Tenant(Tenant::new(tenant % plan.machines)));
        let machines = (0..plan.machines).map(|_| Machine::new(&mut random)).collect();
        let process =
            |role| Process { role, life: 0, stalled_until_ms: 0, cut_until_ms: 0, ahead_ms: 0, waits_for: None };
        let mut world = Self {
            plan,
            random,
            now_ms: 0,
            events: BinaryHeap::new(),
            number: 0,
            processes: holders.chain(allocators).chain(keepers).chain(tenants).map(process).collect(),
            machines,
            store: Store::default(),
            down_until_ms: 0,
            epoch: 0,
            skip: 0,
            fence_is_planned: false,
            checker: Checker::new(*plan.layout, Plan::NODES, Plan::USERS),
            trace: None,
        };
        for process in 0..world.processes.len() {
            let delay_ms = world.random.below(plan.window_ms / 2);
            world.plan_event(delay_ms, What::Wake(process, 0));
        }
        world.plan_event(plan.window_ms, What::Chaos);
        world
    }

    /// Returns the plan.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the time since the start, in ms.
    pub const fn now_ms(&self) -> u64 {
        self.now_ms
    }

    /// Returns the judge, with its counts.
    pub const fn checker(&self) -> &Checker {
        &self.checker
    }

    /// Keeps the last events in words from now on.
    pub fn keep_trace(&mut self) {
        self.trace = Some(VecDeque::new());
    }

    /// Returns the last events in words, if they are kept.
    pub fn trace(&self) -> impl Iterator<Item = &str> {
        self.trace.iter().flatten().map(String::as_str)
    }

    fn note(&mut self, event: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            if trace.len() == TRACED_EVENTS {
                trace.pop_front();
            }
            trace.push_back(format!("{:>12} ms  {}", self.now_ms, event()));
        }
    }

    /// Changes how often faults happen from now on.
    pub const fn set_rates(&mut self, rates: Rates) {
        self.plan.rates = rates;
    }

    fn plan_event(&mut self, delay_ms: u64, what: What) {
        self.number += 1;
        self.events.push(Reverse(Event { at_ms: self.now_ms + delay_ms, number: self.number, what }));
    }

    /// Runs this number of events, or until a check fails.
    pub fn run(&mut self, events: u64) {
        let end = self.checker.tally.events + events;
        while self.checker.tally.violation.is_none() && self.checker.tally.events < end {
            self.step();
        }
    }

    /// Runs the events of the next ms, or until an ID is minted twice. Returns whether one was. Goes on over other
    /// violations.
    pub fn run_until_duplicate(&mut self, ms: u64) -> bool {
        let end_ms = self.now_ms + ms;
        while self.checker.duplicate.is_none() && self.events.peek().is_some_and(|Reverse(event)| event.at_ms <= end_ms)
        {
            self.step();
        }
        if self.checker.duplicate.is_none() {
            self.now_ms = end_ms;
        }
        self.checker.duplicate.is_some()
    }

    fn step(&mut self) {
        let Some(Reverse(Event { at_ms, what, .. })) = self.events.pop() else { return };
        self.now_ms = self.now_ms.max(at_ms);
        self.checker.now_ms = self.now_ms;
        self.checker.tally.events += 1;
        self.note(|| what.to_string());
        match what {
            What::Wake(process, life) => {
                if let Some(what) = self.stalls(process, life, What::Wake(process, life)) {
                    self.wake(process, what);
                }
            }
            What::Arrive { process, life, number, epoch, request } => {
                self.arrive(process, life, number, epoch, &request);
            }
            What::Answer { process, life, number, answer } => {
                let what = What::Answer { process, life, number, answer };
                if let Some(What::Answer { answer, .. }) = self.stalls(process, life, what)
                    && self.processes[process].waits_for == Some(number)
                {
                    self.processes[process].waits_for = None;
                    self.act(process, |role, context| match role {
                        Role::Holder(holder) => holder.answer(answer.as_deref(), context),
                        Role::Keeper(keeper) => keeper.answer(answer.as_deref(), context),
                        Role::Tenant(tenant) => tenant.answer(answer.as_deref(), context),
                        Role::Allocator(allocator) => {
                            allocator.answer(answer.as_deref(), context);
                            None
                        }
                    });
                }
            }
            What::Chaos => self.chaos(),
            What::Fence => self.fence(),
        }
    }

    /// Postpones the event of a stalled process. Returns the event, if it happens now.
    fn stalls(&mut self, process: usize, life: u32, what: What) -> Option<What> {
        let Process { life: now, stalled_until_ms, .. } = self.processes[process];
        if life != now {
            return None;
        }
        if stalled_until_ms > self.now_ms {
            self.plan_event(stalled_until_ms - self.now_ms, what);
            return None;
        }
        Some(what)
    }

    fn wake(&mut self, process: usize, what: What) {
        let waits = self.processes[process].waits_for.is_some();
        self.act(process, |role, context| match role {
            Role::Holder(holder) => holder.wake(context, waits),
            Role::Allocator(allocator) => allocator.wake(context),
            Role::Keeper(keeper) => keeper.wake(context, waits),
            Role::Tenant(tenant) => tenant.wake(context, waits),
        });
        // Work and waits are as long as the load says; a process looks at its renewal at least ten times in a window.
        let pause_ms = self.plan.window_ms / self.plan.works.max(8);
        let delay_ms = 1 + self.random.below(2 * pause_ms);
        self.plan_event(delay_ms, what);
    }

    fn act(&mut self, process: usize, action: impl FnOnce(&mut Role, &mut Context<'_>) -> Option<Request>) {
        let Process { role, ahead_ms, .. } = &mut self.processes[process];
        let store_ms = START_MS.saturating_add_unsigned(self.now_ms);
        let mut context = Context {
            plan: &self.plan,
            random: &mut self.random,
            checker: &mut self.checker,
            process,
            machine: role.machine().map(|machine| &mut self.machines[machine]),
            clock_ms: store_ms + *ahead_ms,
            steady_ms: 1_000_000 * process as u64 + self.now_ms * (8 + process as u64 % 2) / 8,
            store_ms,
            skip: self.skip,
        };
        if let Some(request) = action(role, &mut context) {
            self.send(process, request);
        }
    }

    fn delay_ms(&mut self) -> u64 {
        let usual = self.plan.window_ms / 100;
        if self.happens(Fault::Late) {
            self.random.below(3 * self.plan.window_ms)
        } else {
            1 + self.random.below(usual)
        }
    }

    fn happens(&mut self, fault: Fault) -> bool {
        let happens = self.random.happens(self.plan.rates.of(fault));
        if happens {
            self.checker.fault(fault);
        }
        happens
    }

    fn send(&mut self, process: usize, request: Request) {
        self.number += 1;
        let (number, epoch) = (self.number, self.epoch);
        let Process { life, waits_for, cut_until_ms, .. } = &mut self.processes[process];
        let (life, is_cut) = (*life, *cut_until_ms > self.now_ms);
        *waits_for = Some(number);
        let patience_ms = self.plan.window_ms / 8;
        self.plan_event(patience_ms, What::Answer { process, life, number, answer: None });
        if is_cut || self.happens(Fault::LostRequest) {
            return;
        }
        let copies = if self.happens(Fault::Repeated) { 2 } else { 1 };
        for _ in 0..copies {
            let delay_ms = self.delay_ms();
            let request = Box::new(request);
            self.plan_event(delay_ms, What::Arrive { process, life, number, epoch, request });
        }
    }

    fn arrive(&mut self, process: usize, life: u32, number: u64, epoch: u32, request: &Request) {
        if epoch != self.epoch || self.down_until_ms > self.now_ms {
            return;
        }
        let answer = self.store.answer(request);
        if let (Request::Node(node, Ask::Write(record, _)), Answer::Node(Reply::Written(_))) = (request, &answer) {
            self.granted(*node, record);
        }
        let is_cut = self.processes[process].cut_until_ms > self.now_ms;
        if is_cut || self.happens(Fault::LostReply) {
            return;
        }
        let delay_ms = self.delay_ms();
        self.plan_event(delay_ms, What::Answer { process, life, number, answer: Some(Box::new(answer)) });
    }

    fn granted(&mut self, node: u32, record: &Record) {
        #[allow(clippy::cast_possible_truncation, reason = "a nonce is the place of a claim")]
        self.checker.granted(record.nonce as usize, node, record.window);
    }
}
