//! The world of a fleet: virtual time, processes, a network, a store, and what befalls them.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fmt;

use snowmint_core::lease::Record;
use snowmint_core::segment::LAST;
use snowmint_core::store::{Ask, Reply};

use crate::allocator::Allocator;
use crate::context::Context;
use crate::faults::{Fault, Rates};
use crate::holder::Holder;
use crate::keeper::Keeper;
use crate::plan::{Plan, START_MS};
use crate::random::Random;
use crate::store::{Answer, Request, Store};
use crate::tally::Checker;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "most processes are the large one")]
enum Role {
    Holder(Holder),
    Allocator(Allocator),
    Keeper(Keeper),
}

#[derive(Debug)]
struct Process {
    role: Role,
    /// How often the process began anew. Events of an earlier life are void.
    life: u32,
    /// Until when the process stands still, in ms from the start.
    stalled_until_ms: u64,
    /// Until when messages do not come through.
    cut_until_ms: u64,
    /// How far the wall clock is ahead.
    ahead_ms: i64,
    /// The request that the process waits for.
    waits_for: Option<u64>,
}

#[derive(Debug)]
enum What {
    Wake(usize, u32),
    Arrive { process: usize, life: u32, number: u64, epoch: u32, request: Box<Request> },
    Answer { process: usize, life: u32, number: u64, answer: Option<Box<Answer>> },
    Chaos,
    Fence,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wake(process, _) => write!(f, "process {process} acts"),
            Self::Arrive { process, number, request, .. } => {
                write!(f, "request {number} of process {process} reaches the store: {request}")
            }
            Self::Answer { process, number, answer: Some(answer), .. } => {
                write!(f, "answer to request {number} reaches process {process}: {answer}")
            }
            Self::Answer { process, number, answer: None, .. } => {
                write!(f, "process {process} has waited long enough for the answer to request {number}")
            }
            Self::Chaos => write!(f, "a fault is due"),
            Self::Fence => write!(f, "all processes stop, and an operator runs a fence"),
        }
    }
}

#[derive(Debug)]
struct Event {
    at_ms: u64,
    /// Events of one time have the order in which they were planned.
    number: u64,
    what: What,
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        (self.at_ms, self.number) == (other.at_ms, other.number)
    }
}

impl Eq for Event {}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at_ms, self.number).cmp(&(other.at_ms, other.number))
    }
}

/// The world of a fleet.
#[derive(Debug)]
pub struct World {
    plan: Plan,
    random: Random,
    now_ms: u64,
    events: BinaryHeap<Reverse<Event>>,
    number: u64,
    processes: Vec<Process>,
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
const TRACED: usize = 60;

impl World {
    /// Makes the world of a seed.
    pub fn of_seed(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let plan = Plan::of_seed(&mut random);
        Self::new(plan, random)
    }

    /// Makes a world by a plan.
    pub fn new(plan: Plan, random: Random) -> Self {
        let holders = (0..plan.holders).map(|_| Role::Holder(Holder::new()));
        let allocators = (0..plan.allocators).map(|_| Role::Allocator(Allocator::new()));
        let keepers = (0..plan.keepers).map(|_| Role::Keeper(Keeper::new()));
        let process =
            |role| Process { role, life: 0, stalled_until_ms: 0, cut_until_ms: 0, ahead_ms: 0, waits_for: None };
        let mut world = Self {
            plan,
            random,
            now_ms: 0,
            events: BinaryHeap::new(),
            number: 0,
            processes: holders.chain(allocators).chain(keepers).map(process).collect(),
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

    fn tell(&mut self, event: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            if trace.len() == TRACED {
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
        self.tell(|| what.to_string());
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

    /// Puts the event of a process that stands still off. Returns the event, if it happens now.
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

    fn crash(&mut self, process: usize) {
        let Process { role, life, stalled_until_ms, waits_for, .. } = &mut self.processes[process];
        *life += 1;
        (*stalled_until_ms, *waits_for) = (0, None);
        match role {
            Role::Holder(holder) => holder.crash(),
            Role::Allocator(allocator) => *allocator = Allocator::new(),
            Role::Keeper(keeper) => *keeper = Keeper::new(),
        }
        let life = *life;
        let delay_ms = 1 + self.random.below(self.plan.window_ms / 2);
        self.plan_event(delay_ms, What::Wake(process, life));
    }

    fn chaos(&mut self) {
        let mean_ms = self.plan.window_ms * self.plan.calm / 100;
        let delay_ms = 1 + self.random.below(2 * mean_ms);
        self.plan_event(delay_ms, What::Chaos);
        let mut place = self.random.below(u64::from(self.plan.rates.chaos()));
        #[allow(clippy::cast_possible_truncation, reason = "a handful")]
        let process = self.random.below(self.processes.len() as u64) as usize;
        for fault in Fault::ALL.into_iter().filter(|fault| !fault.is_of_message()) {
            let weight = u64::from(self.plan.rates.of(fault));
            if place < weight {
                self.befall(fault, process);
                return;
            }
            place -= weight;
        }
    }

    fn befall(&mut self, fault: Fault, process: usize) {
        self.tell(|| format!("fault: {}, process {process}", fault.name()));
        let some_ms = self.random.below(3 * self.plan.window_ms);
        match fault {
            Fault::Crash => self.crash(process),
            Fault::Stall => self.processes[process].stalled_until_ms = self.now_ms + some_ms,
            Fault::Partition => self.processes[process].cut_until_ms = self.now_ms + some_ms,
            Fault::Fork => self.act(process, |role, context| {
                if let Role::Holder(holder) = role {
                    holder.fork(context);
                }
                None
            }),
            Fault::Clock => {
                let most_ms = *self.random.pick(&[self.plan.window_ms / 50, 2 * self.plan.window_ms, DAY_MS]);
                let step_ms = self.random.below(most_ms).cast_signed();
                self.processes[process].ahead_ms = match self.random.below(5) {
                    0 | 1 => 0,
                    // A day behind is as bad as a day ahead, but a node is busy for a day only after the latter.
                    2 if most_ms < DAY_MS => step_ms,
                    _ => -step_ms,
                };
            }
            Fault::Restart => {
                self.store.restart(0);
                self.down_until_ms = self.now_ms + some_ms / 3;
            }
            // Each needs a fence, which may double the numbers: a fleet of very many fences would run out of them.
            Fault::LostTail | Fault::Vanished | Fault::Rollback if self.checker.highest_number > LAST / 64 => return,
            Fault::LostTail => {
                let lost = 1 + self.random.below(30);
                #[allow(clippy::cast_possible_truncation, reason = "at most 30")]
                self.store.restart(lost as usize);
                self.fence();
            }
            Fault::Vanished => {
                let claims = |process: &Process| matches!(&process.role, Role::Holder(holder) if holder.claims());
                // A claim that has listed the records before does not notice; nor does a write on its way.
                if self.fence_is_planned || self.processes.iter().any(claims) {
                    return;
                }
                #[allow(clippy::cast_possible_truncation, reason = "below 4")]
                let node = self.random.below(Plan::NODES as u64) as u32;
                if !self.store.vanish(node) {
                    return;
                }
                self.epoch += 1;
                self.fence_is_planned = true;
                self.plan_event(5 * self.plan.window_ms, What::Fence);
            }
            Fault::Rollback => {
                if self.fence_is_planned {
                    return;
                }
                self.store.roll_back();
                self.checker.is_rolled_back = true;
                self.fence_is_planned = true;
                self.plan_event(5 * self.plan.window_ms, What::Fence);
            }
            Fault::LostRequest | Fault::LostReply | Fault::Late | Fault::Repeated => return,
        }
        self.checker.fault(fault);
    }

    /// Stops all processes, raises all ends and counters above all that was given out, and starts the processes again.
    fn fence(&mut self) {
        self.fence_is_planned = false;
        self.epoch += 1;
        for process in 0..self.processes.len() {
            self.crash(process);
        }
        let skip = self.checker.highest_number + 1;
        self.skip += skip;
        self.store.fence(self.checker.minted_until_ms, skip);
        self.checker.fenced();
    }
}
