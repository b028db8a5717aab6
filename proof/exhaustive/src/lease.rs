//! Leases and cells: holders claim two nodes, renew, mint, stall in the middle of a call, release and crash.

use std::sync::{Arc, LazyLock};

use snowmint_core::bytes::label;
use snowmint_core::lease::{Claim, ClaimStep, NamespaceRecord, Record, Renewal, RenewalStep, Terms};
use snowmint_core::store::{Ask, Reply, Version};
use snowmint_core::{Layout, Options, Snowflake, Window, Words};
use stateright::{Model, Property};

use crate::digest::digest;
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

/// The way of a holder.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "each holder has it behind a pointer")]
enum Phase {
    Claims(Claim<'static>, ClaimStep),
    Holds(Renewal, Option<Ask<Record>>),
    /// Its cell is closed. A call may still be stalled.
    Closed,
}

#[derive(Clone, Debug)]
pub struct Holder {
    nonce: u128,
    phase: Arc<Phase>,
    /// Stands for the phase in comparisons.
    digest: u64,
    node: u32,
    cell: [u64; 2],
    /// The word that a stalled call has read.
    call: Option<u64>,
    /// The last ID.
    last: Option<u64>,
    /// The window that the store has granted this holder on each node.
    granted: [Option<Window>; 2],
}

impl Holder {
    fn new(nonce: u128) -> Self {
        let phase = Arc::new(Phase::Closed);
        Self { nonce, phase, digest: 0, node: 0, cell: [0; 2], call: None, last: None, granted: [None; 2] }
    }

    #[allow(clippy::large_types_passed_by_value, reason = "it moves behind a pointer")]
    fn turn(&mut self, phase: Phase) {
        self.digest = digest(&phase);
        self.phase = Arc::new(phase);
    }

    fn words(&self) -> Words {
        Words::of(self.cell)
    }

    fn is_idle(&self) -> bool {
        matches!(*self.phase, Phase::Holds(_, None))
    }

    fn key(&self) -> impl PartialEq + std::hash::Hash {
        let granted = self.granted.map(|window| window.map(|window| (window.start_ms, window.end_ms)));
        (self.nonce, self.digest, self.node, self.cell, self.call, self.last, granted)
    }
}

impl PartialEq for Holder {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl std::hash::Hash for Holder {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
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

impl State {
    fn reply(&mut self, node: u32, ask: Ask<Record>) -> Reply<Record> {
        let kept = self.nodes[node as usize];
        match ask {
            Ask::Read => {
                kept.map_or(Reply::Record(None, 0), |Kept(record, version)| Reply::Record(Some(record), version))
            }
            Ask::Write(record, expected) => {
                if kept.map_or(0, |Kept(_, version)| version) != expected {
                    return Reply::Conflict;
                }
                if kept.is_some_and(|Kept(old, _)| old.nonce != record.nonce) {
                    self.taken_over = true;
                }
                self.nodes[node as usize] = Some(Kept(record, expected + 1));
                if let Some(holder) = self.holders.iter_mut().find(|holder| holder.nonce == record.nonce) {
                    let before = holder.granted[node as usize].replace(record.window);
                    if !record.released && before.is_some_and(|window| window.end_ms > record.window.end_ms) {
                        self.broken = Some(Broken::Shrunk);
                    }
                }
                Reply::Written(expected + 1)
            }
            Ask::Add(_) => unreachable!("leases have no counter"),
        }
    }

    fn namespace_reply(&mut self, record: NamespaceRecord, expected: Version) -> Reply<Record> {
        if self.namespace.2 != expected {
            return Reply::Conflict;
        }
        self.namespace = (record.nodes, record.floor_ms, expected + 1);
        Reply::Written(expected + 1)
    }

    fn namespace_record(&self) -> Option<(NamespaceRecord, Version)> {
        let (nodes, floor_ms, version) = self.namespace;
        (version > 0).then_some((NamespaceRecord { nodes, floor_ms, removed: false }, version))
    }

    /// Lets a request meet its fate, by `carry_out`.
    fn meet<R>(&mut self, fate: Fate, mut carry_out: impl FnMut(&mut Self) -> Reply<R>) -> Reply<R> {
        self.faults -= fate.cost();
        match fate {
            Fate::Fine => carry_out(self),
            Fate::Unheard => {
                carry_out(self);
                Reply::Unknown
            }
            Fate::Repeated => {
                carry_out(self);
                carry_out(self)
            }
            Fate::Dropped | Fate::Late => Reply::Unknown,
        }
    }

    fn emit(&mut self, holder: usize, id: u64) {
        self.ids -= 1;
        let tick = layout().decode(id).expect("an ID of the layout").timestamp_ms;
        let Holder { node, granted, last, .. } = &mut self.holders[holder];
        let window = granted[*node as usize];
        let before = last.replace(id);
        if self.minted & (1 << id) != 0 {
            self.broken = Some(Broken::Twice);
        } else if !window.is_some_and(|window| (window.start_ms..window.end_ms).contains(&tick)) {
            self.broken = Some(Broken::Outside);
        } else if before.is_some_and(|before| before >= id) {
            self.broken = Some(Broken::Back);
        }
        self.minted |= 1 << id;
    }

    /// Puts a claim at its next step; a claim that has failed ends.
    fn advance(&mut self, at: usize, mut claim: Claim<'static>, mut step: ClaimStep) {
        if let ClaimStep::ReadNamespace = step {
            step = claim.namespace(self.namespace_record());
        }
        match step {
            ClaimStep::ListNodes | ClaimStep::Ask(..) | ClaimStep::WriteNamespace(..) => {
                self.holders[at].turn(Phase::Claims(claim, step));
            }
            ClaimStep::Granted(renewal, _) => {
                let words = Words::wiped();
                if words.open(layout(), renewal.window()) {
                    let holder = &mut self.holders[at];
                    (holder.cell, holder.node) = (words.to_words(), renewal.node());
                    holder.turn(Phase::Holds(renewal, None));
                } else {
                    self.holders.remove(at);
                }
            }
            _ => drop(self.holders.remove(at)),
        }
    }

    /// Lists the records for a claim. A claimer that has to wait looks again later, so nothing happens.
    fn list(&mut self, at: usize, mut claim: Claim<'static>, now_ms: i64) -> Option<()> {
        let mut records = 0;
        for (node, kept) in (0..).zip(&self.nodes) {
            if let Some(Kept(record, version)) = kept {
                claim.see(node, record, *version, now_ms);
                records += 1;
            }
        }
        match claim.listed(now_ms, records) {
            ClaimStep::Wait(..) => return None,
            step => self.advance(at, claim, step),
        }
        Some(())
    }

    /// Closes the cell of a holder; the holder lives until its stalled call is over.
    fn end(&mut self, at: usize) {
        let holder = &mut self.holders[at];
        if holder.call.is_some() {
            let words = holder.words();
            words.close(layout());
            holder.cell = words.to_words();
            holder.turn(Phase::Closed);
        } else {
            self.holders.remove(at);
        }
    }

    fn store(&mut self, at: usize, fate: Fate) -> Option<()> {
        match *self.holders[at].phase {
            Phase::Claims(mut claim, ClaimStep::WriteNamespace(record, version)) => {
                if fate == Fate::Late {
                    return None;
                }
                let reply = self.meet(fate, |state| state.namespace_reply(record, version));
                let step = claim.namespace_reply(reply);
                self.advance(at, claim, step);
            }
            Phase::Claims(mut claim, ClaimStep::Ask(node, ask)) => {
                let reply = self.ask(node, ask, fate)?;
                let step = claim.reply(reply);
                self.advance(at, claim, step);
            }
            Phase::Holds(mut lease, Some(ask)) => {
                let reply = self.ask(lease.node(), ask, fate)?;
                let step = lease.reply(reply);
                self.recovered |= matches!((reply, step), (Reply::Record(..), RenewalStep::Window(..)));
                match step {
                    RenewalStep::Ask(ask) => self.holders[at].turn(Phase::Holds(lease, Some(ask))),
                    RenewalStep::Window(window, _) => {
                        let words = self.holders[at].words();
                        words.extend(layout(), window.end_ms);
                        self.holders[at].cell = words.to_words();
                        self.holders[at].turn(Phase::Holds(lease, None));
                    }
                    RenewalStep::Later(_) if self.holders[at].cell[0] != 0 => {
                        self.holders[at].turn(Phase::Holds(lease, None));
                    }
                    // Lost or released; or the release had no answer.
                    _ => self.end(at),
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn ask(&mut self, node: u32, ask: Ask<Record>, fate: Fate) -> Option<Reply<Record>> {
        match (ask, fate) {
            // One request at a time is late.
            (Ask::Write(record, version), Fate::Late)
                if self.late.replace(Late(node, Kept(record, version))).is_some() =>
            {
                return None;
            }
            // A read changes nothing, so only the loss of its reply counts.
            (Ask::Read, Fate::Unheard | Fate::Late | Fate::Repeated) => return None,
            _ => {}
        }
        Some(self.meet(fate, |state| state.reply(node, ask)))
    }

    fn act(&mut self, action: Action) -> Option<()> {
        match action {
            Action::Claim { now_ms } => {
                self.lives -= 1;
                let nonce = u128::from(self.lives);
                let mut claim = Claim::new(Terms {
                    layout: layout(),
                    node: None,
                    max_ahead_ms: 0,
                    window_ms: WINDOW_MS,
                    last_node: None,
                    system_clock: false,
                    nonce,
                    label: label(""),
                });
                self.holders.push(Holder::new(nonce));
                claim.namespace(self.namespace_record());
                self.list(self.holders.len() - 1, claim, now_ms)?;
            }
            Action::List { holder, now_ms } => {
                let Phase::Claims(claim, ClaimStep::ListNodes) = *self.holders[holder].phase else { return None };
                self.list(holder, claim, now_ms)?;
            }
            Action::Store { holder, fate } => self.store(holder, fate)?,
            Action::Arrive => {
                let Late(node, Kept(record, version)) = self.late.take()?;
                self.reply(node, Ask::Write(record, version));
            }
            Action::Mint { holder, now_ms } => {
                let Holder { node, .. } = self.holders[holder];
                let words = self.holders[holder].words();
                let generator = Snowflake::with(layout(), node, Options::DEFAULT, words);
                let id = generator.try_next_id(now_ms).ok()?;
                self.holders[holder].cell = generator.words().to_words();
                self.emit(holder, id);
            }
            Action::Stall { holder } => self.holders[holder].call = Some(self.holders[holder].cell[0]),
            Action::Resume { holder, now_ms } => {
                let Holder { node, cell, .. } = self.holders[holder];
                let word = self.holders[holder].call.take()?;
                // The step as the stalled call computes it, from the word that it has read.
                let stalled = Snowflake::with(layout(), node, Options::DEFAULT, Words::of([word, cell[1]]));
                let words = self.holders[holder].words();
                let id = match stalled.try_next_id(now_ms) {
                    Ok(id) if words.swap(word, stalled.words().to_words()[0]).is_ok() => {
                        self.holders[holder].cell = words.to_words();
                        Some(id)
                    }
                    // It fails, or begins again: a call that begins now is another event.
                    _ => None,
                };
                if let Some(id) = id {
                    self.emit(holder, id);
                }
                if let Phase::Closed = *self.holders[holder].phase {
                    self.holders.remove(holder);
                }
            }
            Action::Renew { holder, now_ms } => {
                self.writes -= 1;
                let Phase::Holds(mut lease, None) = *self.holders[holder].phase else { return None };
                let last_ms = self.holders[holder].words().unused_from_ms(layout())?;
                let RenewalStep::Ask(ask) = lease.renew(now_ms, last_ms, WINDOW_MS) else { return None };
                self.holders[holder].turn(Phase::Holds(lease, Some(ask)));
            }
            Action::Release { holder } => {
                self.writes -= 1;
                let Phase::Holds(mut lease, None) = *self.holders[holder].phase else { return None };
                let words = self.holders[holder].words();
                let end_ms = words.close(layout())?;
                self.holders[holder].cell = words.to_words();
                let RenewalStep::Ask(ask) = lease.release(end_ms) else { return None };
                self.holders[holder].turn(Phase::Holds(lease, Some(ask)));
            }
            Action::Crash { holder } => {
                self.faults -= 1;
                self.holders.remove(holder);
            }
            Action::Restore => {
                self.disaster = true;
                self.holders.clear();
                self.late = None;
                self.nodes = [None; 2];
                // Each tick is 1 ms, and each holds four IDs.
                let until_ms = i64::from((32 - self.minted.leading_zeros()).div_ceil(4));
                let fenced = NamespaceRecord::default().raised(until_ms);
                self.namespace = (fenced.nodes, fenced.floor_ms, self.namespace.2 + 1);
            }
            Action::Vanish { node } => {
                self.disaster = true;
                self.nodes[node].take()?;
            }
        }
        Some(())
    }
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
