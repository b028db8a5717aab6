//! Sections: allocators take a section over from each other, hand out numbers of two users, renew, release and crash.

mod allocator;
mod machine;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use snowmint_core::section::Record;
use snowmint_core::store::{Ask, Reply, Version};
use stateright::{Model, Property};

use self::allocator::Allocator;
use self::machine::{Answer, Call};
use crate::fate::Fate;

/// The length of a window, in ms.
const WINDOW_MS: u64 = 1000;
const USERS: usize = 2;

/// The limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct Sections {
    /// How many allocators live at one time.
    pub allocators: usize,
    /// How many allocators live in all.
    pub lives: u8,
    /// How many numbers are handed out in all.
    pub numbers: u8,
    /// How often the time goes on by half a window.
    pub halves: u8,
    /// How many requests reach the store in all.
    pub requests: u8,
    /// How many requests or replies are lost, repeated or late, and allocators crash.
    pub faults: u8,
    /// How often holders forget the numbers of their users.
    pub forgets: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Broken {
    Twice,
    Back,
    NotDurable,
}

/// A record with its version, comparable.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Kept(Record, Version);

impl Hash for Kept {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self(Record { released, token, max_seq, renewals, .. }, version) = self;
        (released, token, max_seq, renewals, version).hash(state);
    }
}

#[derive(Clone, Debug, Default, PartialEq, Hash)]
pub struct State {
    record: Option<Kept>,
    late: Option<Kept>,
    /// The allocators that live, in the order in which they began.
    allocators: Vec<Allocator>,
    halves: u8,
    lives: u8,
    numbers: u8,
    requests: u8,
    faults: u8,
    forgets: u8,
    /// The last number of each user.
    last: [u64; USERS],
    /// A bit for each number of each user.
    taken: [u64; USERS],
    /// The token of the allocator that handed out the last number, and whether two have done so.
    giver: Option<u128>,
    takeovers: bool,
    broken: Option<Broken>,
}

/// An event. The number of an allocator is its place among the living allocators, the oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// An allocator begins to claim the section, and reads its record.
    Start,
    /// Half a window passes.
    Pass,
    /// A claimer that waits reads the record again.
    Look(usize),
    /// A user asks for a number.
    Next { allocator: usize, user: usize },
    /// The holder renews, if it is time.
    Renew(usize),
    /// The holder forgets the numbers of its users.
    Forget(usize),
    /// The holder gives the section back.
    Release(usize),
    /// The request of an allocator meets its fate.
    Store(usize, Fate),
    /// The late request reaches the store.
    Arrive,
    /// The process ends.
    Crash(usize),
}

impl State {
    fn reply(&mut self, ask: Ask<Record>) -> Reply<Record> {
        let version = self.record.map_or(0, |Kept(_, version)| version);
        match ask {
            Ask::Read => Reply::Record(self.record.map(|Kept(record, _)| record), version),
            Ask::Write(record, expected) if expected == version => {
                self.record = Some(Kept(record, version + 1));
                Reply::Written(version + 1)
            }
            _ => Reply::Conflict,
        }
    }

    fn hand_out(&mut self, user: usize, number: u64, token: u128) {
        self.numbers -= 1;
        if self.taken[user] & (1 << number) != 0 {
            self.broken = Some(Broken::Twice);
        } else if number <= self.last[user] {
            self.broken = Some(Broken::Back);
        } else if self.record.is_none_or(|Kept(record, _)| number > record.max_seq) {
            self.broken = Some(Broken::NotDurable);
        }
        self.taken[user] |= 1 << number;
        self.last[user] = number;
        self.takeovers |= self.giver.replace(token).is_some_and(|giver| giver != token);
    }

    /// Lets a claimer read the record: it then waits, or asks for a write.
    fn look(&mut self, allocator: &mut Allocator) {
        let now_ms = allocator.now_ms(self.halves);
        if let Answer::Ask(ask) = allocator.call(Call::Claim(None, now_ms)) {
            let reply = self.reply(ask);
            allocator.asked = None;
            allocator.call(Call::Claim(Some(reply), now_ms));
        }
    }

    fn store(&mut self, at: usize, fate: Fate) -> Option<()> {
        let ask = self.allocators[at].asked.take()?;
        self.requests -= 1;
        self.faults -= fate.cost();
        match (ask, fate) {
            (Ask::Write(record, version), Fate::Late) if self.late.replace(Kept(record, version)).is_some() => {
                return None;
            }
            (Ask::Read, Fate::Unheard | Fate::Repeated | Fate::Late) => return None,
            _ => {}
        }
        let reply = match fate {
            Fate::Fine => self.reply(ask),
            Fate::Unheard => {
                self.reply(ask);
                Reply::Unknown
            }
            Fate::Repeated => {
                self.reply(ask);
                self.reply(ask)
            }
            Fate::Dropped | Fate::Late => Reply::Unknown,
        };
        let halves = self.halves;
        let allocator = &mut self.allocators[at];
        let now_ms = allocator.now_ms(halves);
        if allocator.released {
            self.allocators.remove(at);
            return Some(());
        }
        let answer = if allocator.holds {
            let answer = allocator.call(Call::Reply(reply, now_ms));
            if fate == Fate::Repeated {
                allocator.call(Call::Reply(reply, now_ms));
            }
            answer
        } else {
            let answer = allocator.call(Call::Claim(Some(reply), now_ms));
            // It reads the record when it looks next.
            allocator.asked = None;
            answer
        };
        if answer == Answer::Over {
            self.allocators.remove(at);
        }
        Some(())
    }

    fn act(&mut self, action: Action) -> Option<()> {
        let halves = self.halves;
        match action {
            Action::Start => {
                self.lives -= 1;
                let token = u128::from(self.lives);
                let calls = Arc::default();
                let mut new = Allocator { token, calls, digest: 0, asked: None, holds: false, released: false };
                self.look(&mut new);
                self.allocators.push(new);
            }
            Action::Pass => self.halves += 1,
            Action::Look(at) => {
                let mut allocator = self.allocators[at].clone();
                self.look(&mut allocator);
                self.allocators[at] = allocator;
            }
            Action::Next { allocator: at, user } => {
                let now_ms = self.allocators[at].now_ms(halves);
                match self.allocators[at].call(Call::Next(user, now_ms)) {
                    Answer::Number(number) => self.hand_out(user, number, self.allocators[at].token),
                    Answer::Ask(_) => {}
                    Answer::Over => drop(self.allocators.remove(at)),
                    _ => return None,
                }
            }
            Action::Renew(at) => {
                let now_ms = self.allocators[at].now_ms(halves);
                match self.allocators[at].call(Call::Renew(now_ms)) {
                    Answer::Ask(_) => {}
                    Answer::Over => drop(self.allocators.remove(at)),
                    _ => return None,
                }
            }
            Action::Forget(at) => {
                self.forgets -= 1;
                self.allocators[at].call(Call::Forget);
            }
            Action::Release(at) => {
                self.allocators[at].released = true;
                if self.allocators[at].call(Call::Release) == Answer::Over {
                    self.allocators.remove(at);
                }
            }
            Action::Store(at, fate) => self.store(at, fate)?,
            Action::Arrive => {
                let Kept(record, version) = self.late.take()?;
                self.reply(Ask::Write(record, version));
            }
            Action::Crash(at) => {
                self.faults -= 1;
                self.allocators.remove(at);
            }
        }
        Some(())
    }
}

impl Model for Sections {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let Self { lives, numbers, requests, faults, forgets, .. } = *self;
        vec![State { lives, numbers, requests, faults, forgets, ..State::default() }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.broken.is_some() || state.numbers == 0 {
            return;
        }
        if state.halves < self.halves {
            actions.push(Action::Pass);
        }
        if state.lives > 0 && state.allocators.len() < self.allocators {
            actions.push(Action::Start);
        }
        if state.late.is_some() {
            actions.push(Action::Arrive);
        }
        for (at, allocator) in state.allocators.iter().enumerate() {
            if allocator.asked.is_some() {
                if state.requests > 0 {
                    actions.extend(Fate::within(state.faults).iter().map(|&fate| Action::Store(at, fate)));
                }
            } else if !allocator.holds {
                actions.push(Action::Look(at));
            }
            if allocator.holds && !allocator.released {
                actions.extend((0..USERS).map(|user| Action::Next { allocator: at, user }));
                actions.push(Action::Renew(at));
                if state.forgets > 0 {
                    actions.push(Action::Forget(at));
                }
                if allocator.asked.is_none() {
                    actions.push(Action::Release(at));
                }
            }
            if state.faults > 0 {
                actions.push(Action::Crash(at));
            }
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        state.act(action).map(|()| state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no number of a user is handed out twice", |_, state: &State| {
                state.broken != Some(Broken::Twice)
            }),
            Property::always("numbers of a user increase", |_, state: &State| state.broken != Some(Broken::Back)),
            Property::always("each number is below the durable maximum", |_, state: &State| {
                state.broken != Some(Broken::NotDurable)
            }),
            Property::sometimes("two allocators hand out numbers", |_, state: &State| state.takeovers),
            Property::sometimes("all numbers are handed out", |_, state: &State| state.numbers == 0),
        ]
    }
}
