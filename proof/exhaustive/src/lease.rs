//! Leases and cells: holders claim two nodes, renew, mint, stall in the middle of a call, release and crash.

mod act;
mod holder;
mod store;

use std::sync::LazyLock;

use snowmint_core::Layout;
use snowmint_core::lease::{ClaimStep, Record};
use snowmint_core::store::Version;
use stateright::{Model, Property};

use self::holder::{Holder, Phase};
use crate::fate::Fate;

/// The length of a window, in ms and ticks.
const WINDOW_MS: u64 = 2;
/// IDs of five bits: eight ticks of 1 ms, two nodes, two IDs a tick.
const LAYOUT: &str = "time:3,node:1,sequence:1;epoch=0;tick=1ms";

fn layout() -> &'static Layout {
    static PARSED: LazyLock<Layout> = LazyLock::new(|| Layout::parse(LAYOUT).expect("a layout"));
    &PARSED
}

/// The limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct Leases {
    /// How many holders live at one time.
    pub holders: usize,
    /// How many claims begin in all.
    pub lives: u8,
    /// How many renewals and releases begin in all.
    pub writes: u8,
    /// How many IDs are minted in all.
    pub ids: u8,
    /// How many requests or replies are lost, repeated or late, and holders crash.
    pub faults: u8,
    /// The times that a clock may show whenever it is read, Unix ms.
    pub clocks: &'static [i64],
    /// Whether calls stall between their look at the cell and their swap.
    pub stalls: bool,
    /// Whether the store once loses all records, and an operator then runs a fence.
    pub restores: bool,
    /// Whether a record once vanishes.
    pub vanishes: bool,
}

/// A violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Broken {
    Twice,
    Outside,
    Back,
    Shrunk,
}

/// A record with its version, comparable.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Kept(Record, Version);

impl std::hash::Hash for Kept {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        let Self(Record { released, serial, window, nonce, .. }, version) = self;
        (released, serial, window.start_ms, window.end_ms, nonce, version).hash(state);
    }
}

/// A request that its sender no longer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Hash)]
struct Late(u32, Kept);

#[derive(Clone, Debug, Default, PartialEq, Hash)]
pub struct State {
    nodes: [Option<Kept>; 2],
    /// Count and floor of the namespace's record, and its version.
    namespace: (u64, Option<i64>, Version),
    late: Option<Late>,
    /// The holders that live, in the order of their claims.
    holders: Vec<Holder>,
    lives: u8,
    writes: u8,
    ids: u8,
    faults: u8,
    disaster: bool,
    /// A bit for each ID.
    minted: u32,
    broken: Option<Broken>,
    /// Whether a node has had two holders.
    taken_over: bool,
    /// Whether a holder has found its own write by reading the record.
    recovered: bool,
}

/// An event. The number of a holder is its place among the living holders, the oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A process, whose clock shows that time, begins a claim: it reads all records and asks for a node.
    Claim { now_ms: i64 },
    /// A claimer that was not first reads all records again.
    List { holder: usize, now_ms: i64 },
    /// The request of a holder meets its fate.
    Store { holder: usize, fate: Fate },
    /// The late request reaches the store.
    Arrive,
    /// A call mints an ID at that time.
    Mint { holder: usize, now_ms: i64 },
    /// A call looks at the cell and stalls.
    Stall { holder: usize },
    /// The stalled call swaps the word, with the time that it reads now.
    Resume { holder: usize, now_ms: i64 },
    /// The renewer asks for a later end.
    Renew { holder: usize, now_ms: i64 },
    /// The holder closes its cell and asks for the release.
    Release { holder: usize },
    /// The process ends.
    Crash { holder: usize },
    /// All holders stop, the store loses all records, and an operator runs a fence above all IDs.
    Restore,
    /// The record of a node vanishes.
    Vanish { node: usize },
}

impl Leases {
    fn properties_of() -> Vec<Property<Self>> {
        vec![
            Property::always("no ID is minted twice", |_, state: &State| state.broken != Some(Broken::Twice)),
            Property::always("each ID lies inside a granted window", |_, state: &State| {
                state.broken != Some(Broken::Outside)
            }),
            Property::always("IDs of a holder increase", |_, state: &State| state.broken != Some(Broken::Back)),
            Property::always("the end of a granted window only grows", |_, state: &State| {
                state.broken != Some(Broken::Shrunk)
            }),
        ]
    }
}

impl Model for Leases {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let Self { lives, writes, ids, faults, .. } = *self;
        vec![State { lives, writes, ids, faults, namespace: (0, None, 1), ..State::default() }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.broken.is_some() {
            return;
        }
        let faulty = state.faults > 0;
        if state.lives > 0 && state.holders.len() < self.holders {
            actions.extend(self.clocks.iter().map(|&now_ms| Action::Claim { now_ms }));
        }
        if state.late.is_some() {
            actions.push(Action::Arrive);
        }
        for (holder, Holder { phase, call, .. }) in state.holders.iter().enumerate() {
            let phase = &**phase;
            match phase {
                Phase::Claims(_, ClaimStep::ListNodes) => {
                    actions.extend(self.clocks.iter().map(|&now_ms| Action::List { holder, now_ms }));
                }
                Phase::Claims(..) | Phase::Holds(_, Some(_)) => {
                    actions.extend(Fate::within(state.faults).iter().map(|&fate| Action::Store { holder, fate }));
                }
                _ => {}
            }
            if faulty && !matches!(phase, Phase::Closed) {
                actions.push(Action::Crash { holder });
            }
            if let (Phase::Holds(..) | Phase::Closed, true) = (phase, state.ids > 0) {
                match call {
                    Some(_) => {
                        actions.extend(self.clocks.iter().map(|&now_ms| Action::Resume { holder, now_ms }));
                    }
                    None if self.stalls => actions.push(Action::Stall { holder }),
                    None => {}
                }
                actions.extend(self.clocks.iter().map(|&now_ms| Action::Mint { holder, now_ms }));
            }
            if state.writes > 0 && state.holders[holder].is_idle() {
                actions.extend(self.clocks.iter().map(|&now_ms| Action::Renew { holder, now_ms }));
                actions.push(Action::Release { holder });
            }
        }
        if self.restores && !state.disaster && state.minted > 0 {
            actions.push(Action::Restore);
        }
        // A claim that has listed the records before, or has yet to count its record, does not notice.
        let claims = state.holders.iter().any(|holder| matches!(*holder.phase, Phase::Claims(..)));
        let records = state.nodes.iter().flatten().count() as u64;
        if self.vanishes && !state.disaster && !claims && state.late.is_none() && records == state.namespace.0 {
            actions.extend((0..2).map(|node| Action::Vanish { node }));
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        state.act(action).map(|()| state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = Self::properties_of();
        if self.lives > 2 {
            properties.push(Property::sometimes("a node has a second holder", |_, state: &State| state.taken_over));
        }
        if self.writes > 0 && self.faults > 0 {
            properties.push(Property::sometimes("a holder finds a write whose reply was lost", |_, state: &State| {
                state.recovered
            }));
        }
        if self.restores || self.vanishes {
            properties.push(Property::sometimes("an ID is minted after the disaster", |_, state: &State| {
                state.disaster && state.ids == 0
            }));
        }
        properties
    }
}
