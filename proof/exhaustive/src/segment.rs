//! Segments: allocators fetch ranges from one counter, hand numbers out, stall in the middle of a call, close and crash.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use snowmint_core::Integer;
use snowmint_core::segment::{Bounds, RETRY_MS, Range, Segment};
use snowmint_core::store::{Ask, Next, Reply};
use stateright::{Model, Property};

use crate::digest::digest;
use crate::fate::Fate;

/// How many numbers a fetch brings.
const STEP: u64 = 2;

/// The limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct Segments {
    /// How many allocators live at one time.
    pub allocators: usize,
    /// How many allocators live in all.
    pub lives: u8,
    /// How many numbers are handed out in all.
    pub numbers: u8,
    /// How many fetches begin in all.
    pub fetches: u8,
    /// How many requests or replies are lost, repeated or late, and allocators crash.
    pub faults: u8,
    /// Whether calls stall between their look at the range and their swap.
    pub stalls: bool,
    /// Whether the counter once goes back to its beginning, without a fence.
    pub restores: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Broken {
    Twice,
    Back,
    NotFetched,
}

/// A call of the machines of an allocator.
#[derive(Clone, Copy, Debug)]
enum Call {
    Take,
    TakeFrom(u64),
    Refill(u64),
    Prefetch(u64),
    Reply(Option<u64>, u64),
    Close,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
enum Answer {
    Number(Option<u64>),
    Fetch(Option<u64>),
    Refused,
    Rest(Option<std::ops::Range<u64>>),
}

fn run(range: &Range, segment: &mut Segment, call: Call) -> Answer {
    match call {
        Call::Take => Answer::Number(range.take()),
        Call::TakeFrom(word) => Answer::Number(range.take_from(word)),
        Call::Refill(now_ms) => match segment.refill(range, now_ms) {
            Ok(Next::Ask(Ask::Add(amount))) => Answer::Fetch(Some(amount)),
            Ok(_) => Answer::Fetch(None),
            Err(_) => Answer::Refused,
        },
        Call::Prefetch(now_ms) => match segment.prefetch(range, now_ms) {
            Some(Ask::Add(amount)) => Answer::Fetch(Some(amount)),
            _ => Answer::Refused,
        },
        Call::Reply(sum, now_ms) => {
            let reply = sum.map_or(Reply::Unknown, Reply::Sum);
            segment.reply(range, reply, now_ms).map_or(Answer::Refused, |()| Answer::Fetch(None))
        }
        Call::Close => segment.close(range).map_or(Answer::Refused, Answer::Rest),
    }
}

#[derive(Clone, Debug)]
pub struct Allocator {
    calls: Arc<Vec<Call>>,
    /// Stands for the machines in comparisons.
    digest: u64,
    /// The fetch under way.
    asked: Option<u64>,
    /// The word that a stalled call has read.
    stalled: Option<u64>,
    /// The time of its clock, which goes on after each lost reply.
    now_ms: u64,
    last: u64,
}

impl Allocator {
    fn new() -> Self {
        let mut new = Self { calls: Arc::default(), digest: 0, asked: None, stalled: None, now_ms: 0, last: 0 };
        new.digest = digest(&new.machines());
        new
    }

    /// Makes the machines again: they cannot be copied, or two allocators would have the same numbers.
    fn machines(&self) -> (Range, Segment) {
        let range = Range::wiped();
        let mut segment = Segment::new(Integer::from(STEP), Bounds::UpTo).expect("a step");
        for call in self.calls.iter() {
            run(&range, &mut segment, *call);
        }
        (range, segment)
    }

    fn call(&mut self, call: Call) -> Answer {
        let (range, mut segment) = self.machines();
        let answer = run(&range, &mut segment, call);
        Arc::make_mut(&mut self.calls).push(call);
        self.digest = digest(&(range, segment));
        answer
    }

    fn key(&self) -> impl PartialEq + Hash {
        (self.digest, self.asked, self.stalled, self.now_ms, self.last)
    }
}

impl PartialEq for Allocator {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Hash for Allocator {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

#[derive(Clone, Debug, Default, PartialEq, Hash)]
pub struct State {
    counter: u64,
    late: Option<u64>,
    /// The allocators that live, in the order in which they began.
    allocators: Vec<Allocator>,
    lives: u8,
    numbers: u8,
    fetches: u8,
    faults: u8,
    restored: bool,
    given_back: bool,
    /// A bit for each number that was handed out.
    taken: u64,
    broken: Option<Broken>,
}

/// An event. The number of an allocator is its place among the living allocators, the oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// An allocator begins.
    Start,
    /// A call takes a number, or begins a fetch.
    Take(usize),
    /// A call looks at the range and stalls.
    Stall(usize),
    /// The stalled call goes on.
    Resume(usize),
    /// The driver fetches ahead of need.
    Prefetch(usize),
    /// The fetch meets its fate.
    Store(usize, Fate),
    /// The late request reaches the store.
    Arrive,
    /// The allocator closes and gives its numbers back, if the request reaches the store.
    Close(usize, bool),
    /// The process ends.
    Crash(usize),
    /// The store is restored from a backup of its beginning, without a fence.
    Restore,
}

impl State {
    fn hand_out(&mut self, at: usize, number: u64) {
        self.numbers -= 1;
        let allocator = &mut self.allocators[at];
        if allocator.last >= number {
            self.broken = Some(Broken::Back);
        } else if self.taken & (1 << number) != 0 && !self.restored {
            self.broken = Some(Broken::Twice);
        } else if number > self.counter && !self.restored {
            self.broken = Some(Broken::NotFetched);
        }
        allocator.last = number;
        self.taken |= 1 << number;
    }

    fn fetch(&mut self, at: usize, amount: u64) -> Option<()> {
        self.fetches = self.fetches.checked_sub(1)?;
        self.allocators[at].asked = Some(amount);
        Some(())
    }

    fn act(&mut self, action: Action) -> Option<()> {
        match action {
            Action::Start => {
                self.lives -= 1;
                self.allocators.push(Allocator::new());
            }
            Action::Take(at) => {
                let now_ms = self.allocators[at].now_ms;
                let mut number = self.allocators[at].call(Call::Take);
                while number == Answer::Number(None) {
                    match self.allocators[at].call(Call::Refill(now_ms)) {
                        Answer::Fetch(None) => number = self.allocators[at].call(Call::Take),
                        Answer::Fetch(Some(amount)) => return self.fetch(at, amount),
                        _ => return None,
                    }
                }
                let Answer::Number(Some(number)) = number else { return None };
                self.hand_out(at, number);
            }
            Action::Stall(at) => self.allocators[at].stalled = Some(self.allocators[at].machines().0.cursor()),
            Action::Resume(at) => {
                let word = self.allocators[at].stalled.take()?;
                if let Answer::Number(Some(number)) = self.allocators[at].call(Call::TakeFrom(word)) {
                    self.hand_out(at, number);
                }
            }
            Action::Prefetch(at) => {
                let now_ms = self.allocators[at].now_ms;
                let Answer::Fetch(Some(amount)) = self.allocators[at].call(Call::Prefetch(now_ms)) else { return None };
                self.fetch(at, amount)?;
            }
            Action::Store(at, fate) => {
                let amount = self.allocators[at].asked.take()?;
                self.faults -= fate.cost();
                if fate == Fate::Late && self.late.replace(amount).is_some() {
                    return None;
                }
                self.counter += match fate {
                    Fate::Fine | Fate::Unheard => amount,
                    Fate::Repeated => 2 * amount,
                    Fate::Dropped | Fate::Late => 0,
                };
                let sum = matches!(fate, Fate::Fine | Fate::Repeated).then_some(self.counter);
                let now_ms = self.allocators[at].now_ms;
                self.allocators[at].call(Call::Reply(sum, now_ms));
                if fate == Fate::Repeated {
                    self.allocators[at].call(Call::Reply(sum, now_ms));
                }
                if sum.is_none() {
                    self.allocators[at].now_ms += RETRY_MS;
                }
            }
            Action::Arrive => self.counter += self.late.take()?,
            Action::Close(at, arrives) => {
                // With a fetch under way the close goes on after its reply.
                let Answer::Rest(rest) = self.allocators[at].call(Call::Close) else { return Some(()) };
                self.allocators.remove(at);
                let Some(rest) = rest else { return Some(()) };
                // In one transaction, as stores do.
                if arrives && self.counter == rest.end {
                    self.counter = rest.start;
                    self.given_back = true;
                }
            }
            Action::Crash(at) => {
                self.faults -= 1;
                self.allocators.remove(at);
            }
            Action::Restore => {
                self.restored = true;
                self.counter = 0;
            }
        }
        Some(())
    }
}

impl Model for Segments {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let Self { lives, numbers, fetches, faults, .. } = *self;
        vec![State { lives, numbers, fetches, faults, ..State::default() }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.broken.is_some() {
            return;
        }
        if state.lives > 0 && state.allocators.len() < self.allocators {
            actions.push(Action::Start);
        }
        if state.late.is_some() {
            actions.push(Action::Arrive);
        }
        for (at, allocator) in state.allocators.iter().enumerate() {
            if state.numbers > 0 {
                actions.push(Action::Take(at));
                match allocator.stalled {
                    Some(_) => actions.push(Action::Resume(at)),
                    None if self.stalls => actions.push(Action::Stall(at)),
                    None => {}
                }
            }
            if allocator.asked.is_some() {
                actions.extend(Fate::within(state.faults).iter().map(|&fate| Action::Store(at, fate)));
            } else if state.fetches > 0 {
                actions.push(Action::Prefetch(at));
            }
            actions.push(Action::Close(at, true));
            if state.faults > 0 {
                actions.push(Action::Crash(at));
            }
        }
        if self.restores && !state.restored && state.taken > 0 {
            actions.push(Action::Restore);
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        state.act(action).map(|()| state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            Property::always("no number of a segment is handed out twice", |_, state: &State| {
                state.broken != Some(Broken::Twice)
            }),
            Property::always("numbers of an allocator increase", |_, state: &State| state.broken != Some(Broken::Back)),
            Property::always("each number was fetched", |_, state: &State| state.broken != Some(Broken::NotFetched)),
            Property::sometimes("all numbers are handed out", |_, state: &State| state.numbers == 0),
            Property::sometimes("numbers are given back", |_, state: &State| state.given_back),
        ];
        if self.restores {
            properties.push(Property::sometimes("a number is handed out after the restore", |_, state: &State| {
                state.restored && state.numbers == 0
            }));
        }
        properties
    }
}
