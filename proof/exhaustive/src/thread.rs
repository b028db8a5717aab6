//! Threads on one cell, each with its own run of IDs: the window is extended, the cell is closed, the process forks.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

use snowmint_core::{Layout, LocalRun, Options, Snowflake, Window, Words};
use stateright::{Model, Property};

use crate::digest::digest;

/// IDs of six bits: eight ticks of 1 ms, two nodes, four IDs a tick.
const LAYOUT: &str = "time:3,node:1,sequence:2;epoch=0;tick=1ms";
/// How many threads take runs. One more takes single IDs.
const THREADS: usize = 2;

fn layout() -> &'static Layout {
    static PARSED: LazyLock<Layout> = LazyLock::new(|| Layout::parse(LAYOUT).expect("a layout"));
    &PARSED
}

/// The limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct Threads {
    /// How many IDs are minted in all.
    pub ids: u8,
    /// How often the window is extended, by one tick each time.
    pub extensions: u8,
    /// The times that the clock may show whenever it is read, Unix ms.
    pub clocks: &'static [i64],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Broken {
    Twice,
    Outside,
    Back,
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A thread takes the next ID of its run, or a new run; the last thread takes a single ID.
    Mint { thread: usize, now_ms: i64 },
    /// The window gets a later end, which is durable.
    Extend { end_ms: i64 },
    /// The lease is released: the cell is closed for good.
    Close,
}

/// The machines, which cannot be copied, or two threads would have the same IDs.
struct Machines {
    generator: Snowflake,
    runs: [LocalRun; THREADS],
}

impl Machines {
    fn new(actions: &[Action]) -> Self {
        let words = Words::wiped();
        words.open(layout(), Window { start_ms: 0, end_ms: 1 });
        let mut new =
            Self { generator: Snowflake::with(layout(), 0, Options::DEFAULT, words), runs: Default::default() };
        for action in actions {
            new.act(*action);
        }
        new
    }

    /// Acts. Returns the ID that was minted.
    fn act(&mut self, action: Action) -> Option<u64> {
        match action {
            Action::Mint { thread, now_ms } => match self.runs.get_mut(thread) {
                Some(run) => self.generator.next_local(run, now_ms).ok(),
                None => self.generator.try_next_id(now_ms).ok(),
            },
            Action::Extend { end_ms } => {
                self.generator.words().extend(layout(), end_ms);
                None
            }
            Action::Close => {
                self.generator.words().close(layout());
                None
            }
        }
    }

    fn digest(&self) -> u64 {
        digest(&(self.generator.words(), &self.runs))
    }
}

#[derive(Clone, Debug)]
pub struct State {
    actions: Arc<Vec<Action>>,
    /// Stands for the machines in comparisons.
    digest: u64,
    ids: u8,
    extensions: u8,
    end_ms: i64,
    closed: bool,
    /// The last ID of each thread, plus one.
    last: [u64; THREADS + 1],
    /// A bit for each ID.
    minted: u64,
    broken: Option<Broken>,
}

impl State {
    fn key(&self) -> impl PartialEq + Hash {
        (self.digest, self.ids, self.extensions, self.end_ms, self.closed, self.last, self.minted, self.broken)
    }

    /// Returns whether a call fails for each thread and time, by a cell that these words make of the present one.
    fn mints_nothing(&self, clocks: &[i64], wiped: bool) -> bool {
        (0..=THREADS).all(|thread| {
            clocks.iter().all(|&now_ms| {
                let mut machines = Machines::new(&self.actions);
                if wiped {
                    machines.generator = Snowflake::with(layout(), 0, Options::DEFAULT, Words::wiped());
                }
                machines.act(Action::Mint { thread, now_ms }).is_none()
            })
        })
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl Model for Threads {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let Self { ids, extensions, .. } = *self;
        vec![State {
            actions: Arc::default(),
            digest: Machines::new(&[]).digest(),
            ids,
            extensions,
            end_ms: 1,
            closed: false,
            last: [0; THREADS + 1],
            minted: 0,
            broken: None,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.broken.is_some() || state.closed {
            return;
        }
        if state.ids > 0 {
            for thread in 0..=THREADS {
                actions.extend(self.clocks.iter().map(|&now_ms| Action::Mint { thread, now_ms }));
            }
        }
        if state.extensions > 0 {
            actions.push(Action::Extend { end_ms: state.end_ms + 1 });
        }
        actions.push(Action::Close);
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        let mut machines = Machines::new(&state.actions);
        let minted = machines.act(action);
        match (action, minted) {
            (Action::Mint { thread, .. }, Some(id)) => {
                let tick = layout().decode(id).expect("an ID of the layout").timestamp_ms;
                if state.minted & (1 << id) != 0 {
                    state.broken = Some(Broken::Twice);
                } else if !(0..state.end_ms).contains(&tick) {
                    state.broken = Some(Broken::Outside);
                } else if id < state.last[thread] {
                    state.broken = Some(Broken::Back);
                }
                state.ids -= 1;
                state.minted |= 1 << id;
                state.last[thread] = id + 1;
            }
            (Action::Mint { .. }, None) => return None,
            (Action::Extend { end_ms }, _) => {
                state.extensions -= 1;
                state.end_ms = end_ms;
            }
            (Action::Close, _) => state.closed = true,
        }
        Arc::make_mut(&mut state.actions).push(action);
        state.digest = machines.digest();
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no ID is minted twice", |_, state: &State| state.broken != Some(Broken::Twice)),
            Property::always("each ID lies inside the window", |_, state: &State| {
                state.broken != Some(Broken::Outside)
            }),
            Property::always("IDs of a thread increase", |_, state: &State| state.broken != Some(Broken::Back)),
            Property::always("a closed cell mints nothing", |model: &Self, state: &State| {
                !state.closed || state.mints_nothing(model.clocks, false)
            }),
            Property::always("a forked child mints nothing", |model: &Self, state: &State| {
                state.mints_nothing(model.clocks, true)
            }),
            Property::sometimes("all IDs are minted", |_, state: &State| state.ids == 0),
            Property::sometimes("a thread mints in a later window", |_, state: &State| state.minted > 0xff),
        ]
    }
}
