//! A look at the nodes of a namespace: which one a claim would get. Nothing is written.

use crate::error::{Error, What};
use crate::layout::{Layout, Nodes};
use crate::lease::{Claim, ClaimStep, Floor, NamespaceRecord, NodeState, Record, Terms};
use crate::store::bytes::label;
use crate::store::{Ask, Reply, Version};

/// How many nodes are in which state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// All nodes of the part that the claim may take, or else of the layout.
    pub nodes: u64,
    /// Nodes that a holder has.
    pub held: u64,
    /// Slots of dead holders whose window is not over.
    pub expiring: u64,
    /// Nodes that were granted under a clock that was ahead.
    pub far: u64,
    /// Nodes whose value is not a valid record, which no claim takes.
    pub faulty: u64,
}

impl Tally {
    fn new(layout: &Layout, nodes: Nodes) -> Self {
        Self { nodes: tallied(nodes).count(layout), held: 0, expiring: 0, far: 0, faulty: 0 }
    }

    const fn count(&mut self, state: NodeState) {
        match state {
            NodeState::FarAhead => self.far += 1,
            NodeState::Held => self.held += 1,
            NodeState::Expiring => self.expiring += 1,
            NodeState::NoRecord => self.faulty += 1,
            NodeState::GivenBack | NodeState::Ended | NodeState::Free => {}
        }
    }

    /// Returns how many nodes a claim can get now.
    pub const fn free(&self) -> u64 {
        self.nodes.saturating_sub(self.held + self.expiring + self.far + self.faulty)
    }
}

/// Returns the nodes that a tally counts for a claim of these.
fn tallied(nodes: Nodes) -> Nodes {
    if nodes.single().is_some() { Nodes::ALL } else { nodes }
}

/// The outlook of a claim.
#[derive(Clone, Copy, Debug)]
pub enum Outlook {
    /// It gets this node at once.
    Gets(u32),
    /// It gets a random node at once.
    GetsRandom,
    /// The one node that it may take is held, by the holder of this record if the record is valid.
    Held(Error, Option<Record>),
    /// No node can be granted now.
    Refused(Error),
}

/// The nodes of a namespace in a store.
#[derive(Clone, Copy, Debug)]
pub struct StoreNodes<'a> {
    claim: Claim<'a>,
    tally: Tally,
    records: u64,
}

impl<'a> StoreNodes<'a> {
    /// Begins a look for a claim of one of `nodes`. Pass the record of the namespace, or the store's floor if
    /// the namespace is new. `window_ms` is the length of a window.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Nodes;
    /// use snowmint_core::lease::{Outlook, StoreNodes};
    /// use snowmint_core::layouts::SNOWMINT;
    /// let nodes = StoreNodes::new(&SNOWMINT, Nodes::ALL, 30_000, None, None);
    /// let (outlook, tally) = nodes.end(1_772_323_200_000, None);
    /// assert!(matches!(outlook, Outlook::Gets(0)));
    /// assert_eq!(tally.free(), 1024);
    /// ```
    pub fn new(
        layout: &'a Layout,
        nodes: Nodes,
        window_ms: u64,
        namespace: Option<NamespaceRecord>,
        floor: Option<Floor>,
    ) -> Self {
        let mut claim = Claim::new(Terms {
            layout,
            nodes,
            max_ahead_ms: 0,
            window_ms,
            last_node: None,
            system_clock: true,
            nonce: 0,
            label: label(""),
        });
        // These are the steps of a process's claim, as if the store had done each write.
        if claim.namespace(namespace.map(|record| (record, 1))).is_floor() {
            claim.floor(floor);
            claim.namespace_reply(Reply::Written(1));
        }
        Self { claim, tally: Tally::new(layout, nodes), records: 0 }
    }

    /// Takes a node's record at the time `now_ms` (Unix ms), in ascending order of nodes. `None` is a value that
    /// is not a valid record.
    pub fn see(&mut self, node: u32, record: Option<(&Record, Version)>, now_ms: i64) {
        self.records += 1;
        let Some((record, version)) = record else {
            self.claim.skip(node);
            return self.tally.count(NodeState::NoRecord);
        };
        self.claim.see(node, record, version, now_ms);
        let Terms { layout, nodes, .. } = *self.claim.terms();
        if u64::from(node) < layout.nodes() && tallied(nodes).contains(node) {
            self.tally.count(NodeState::of_record(record, now_ms));
        }
    }

    /// Returns the outlook of a claim at `now_ms`. `store_ms` is the store's clock, if it has one. Both are Unix ms.
    pub fn end(mut self, now_ms: i64, store_ms: Option<i64>) -> (Outlook, Tally) {
        let step = match self.claim.listed(now_ms, self.records) {
            ClaimStep::ReadClock => self.claim.clock(store_ms, now_ms),
            step => step,
        };
        let outlook = match step {
            ClaimStep::Ask(node, Ask::Write(..)) => Outlook::Gets(node),
            ClaimStep::Wait(_, error) if self.claim.terms().nodes.single().is_some() => {
                Outlook::Held(error, self.claim.holder().copied())
            }
            ClaimStep::Wait(_, error) | ClaimStep::Refused(error) | ClaimStep::Taken(error) => Outlook::Refused(error),
            _ => Outlook::Refused(Error::plain(What::NoRecord)),
        };
        (outlook, self.tally)
    }
}

impl ClaimStep {
    const fn is_floor(&self) -> bool {
        matches!(self, Self::ReadFloor)
    }
}

/// The slots of a namespace on this machine.
#[derive(Clone, Copy, Debug)]
pub struct SlotNodes {
    nodes: Nodes,
    /// All nodes of the layout.
    all: u64,
    tally: Tally,
    /// The lowest node whose slot a claim may take; `None` if all are taken.
    next: Option<u32>,
    /// The outlook for the one node that the claim may take, if it is busy.
    held: Option<Outlook>,
}

impl SlotNodes {
    /// Begins a look for a claim of one of `nodes`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Nodes;
    /// use snowmint_core::lease::{Outlook, SlotNodes};
    /// use snowmint_core::layouts::SNOWMINT;
    /// let mut nodes = SlotNodes::new(&SNOWMINT, Nodes::ALL);
    /// nodes.see(0, None, true, 1_772_323_200_000);
    /// let (outlook, tally) = nodes.end();
    /// assert!(matches!(outlook, Outlook::Gets(1)));
    /// assert_eq!((tally.held, tally.free()), (1, 1023));
    /// ```
    pub fn new(layout: &Layout, nodes: Nodes) -> Self {
        Self { nodes, all: layout.nodes(), tally: Tally::new(layout, nodes), next: nodes.next(0), held: None }
    }

    /// Takes a slot at the time `now_ms` (Unix ms), in ascending order of nodes. `is_locked` says whether a live holder
    /// has it.
    pub fn see(&mut self, node: u32, record: Option<&Record>, is_locked: bool, now_ms: i64) {
        if u64::from(node) >= self.all || !tallied(self.nodes).contains(node) {
            return;
        }
        let state = NodeState::of_slot(record, is_locked, now_ms);
        self.tally.count(state);
        if state == NodeState::Free || !self.nodes.contains(node) {
            return;
        }
        if self.nodes.single().is_some() {
            let end_ms = record.map_or(now_ms, |record| record.window.end_ms);
            let error = Error::new(What::NodeHeld, 0, u64::from(node), end_ms.cast_unsigned());
            self.held = Some(Outlook::Held(error, record.copied()));
        }
        // The first gap between busy slots is the lowest free node.
        if self.next == Some(node) {
            self.next = self.nodes.next(u64::from(node) + 1);
        }
    }

    /// Returns the outlook of a claim.
    pub fn end(self) -> (Outlook, Tally) {
        let free = self.next.filter(|node| u64::from(*node) < self.all);
        let outlook = match (self.held, free) {
            (Some(held), _) => held,
            (None, Some(node)) => Outlook::Gets(node),
            (None, None) => Outlook::Refused(Error::new(What::NodesTaken, 0, self.tally.nodes, 0)),
        };
        (outlook, self.tally)
    }
}
