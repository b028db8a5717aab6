//! The way to a node.

use super::choice::{Choice, Chosen};
use super::{Floor, NamespaceRecord, Record, Renewal, Reservation, Terms, far_end};
use crate::error::{Error, What};
use crate::store::{Ask, Reply, Version};
use crate::window::Window;

/// A node that is free only after a longer wait than this, in ms, was granted under a clock that was ahead.
const FAR_MS: u64 = Reservation::MAX_MS;
/// The most ms by which waits for a node differ.
const MAX_SPREAD_MS: u64 = 1000;
/// How often a claim begins again where other claimers were first.
const MAX_ATTEMPTS: u32 = 200;
/// How many writes in a row may fail without an answer before the store counts as one that does not write.
const MAX_FAILED_WRITES: u32 = 3;

/// The next step of a claim.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is no allocator to box it")]
pub enum ClaimStep {
    /// Read the namespace's record, then call [`Claim::namespace`].
    ReadNamespace,
    /// Read the store's [`Floor`], then call [`Claim::floor`].
    ReadFloor,
    /// Write the text of the namespace's layout and this record behind it over the version, then call
    /// [`Claim::namespace_reply`].
    WriteNamespace(NamespaceRecord, Version),
    /// List the nodes: call [`Claim::see`] or [`Claim::skip`] for each, ascending, then [`Claim::listed`].
    ListNodes,
    /// Read the store's clock, then call [`Claim::clock`].
    ReadClock,
    /// Send this request for the node's record, then call [`Claim::reply`].
    Ask(u32, Ask<Record>),
    /// Done: the node is granted, and its window is durable. The number is how far this machine's clock is ahead of the
    /// store's, in ms.
    Granted(Renewal, Option<i64>),
    /// Begin a new claim in this many ms, when a node is free, or fail with the error.
    Wait(u64, Error),
    /// Other claimers were first each time: begin a new claim, or fail with the error.
    Taken(Error),
    /// The store gave no answer twice, or it answers reads but not writes. If it has granted the node without an
    /// answer, the window ends by itself.
    Unanswered,
    /// No node can be granted.
    Refused(Error),
}

/// Claims a node: reads the namespace and its nodes, chooses one, and writes its record.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    terms: Terms<'a>,
    tries: u32,
    /// How many of them another claimer won.
    conflicts: u32,
    /// The namespace's record and its version.
    namespace: NamespaceRecord,
    namespace_version: Version,
    /// Whether the namespace has no record yet. It is written after a look at the nodes, because an earlier record may have
    /// vanished from beside them.
    unpinned: bool,
    /// How many nodes have a record.
    records: u64,
    choice: Choice<'a>,
    /// The refusal of a node's record of another layout.
    other_layout: Option<Error>,
    chosen: Option<(u32, Record, Version)>,
    granted: Option<Renewal>,
    /// Whether the store's clock was read, which a claim does once.
    has_clock: bool,
    /// The store's clock, Unix ms.
    store_ms: Option<i64>,
    skew_ms: Option<i64>,
    unanswered: bool,
    /// How many writes in a row failed without an answer.
    refusals: u32,
}

/// Returns how long the caller of a claim waits for a blocking store, in ms. `slowest_ms` is the longest time that the
/// store took for an answer to this claim so far. A claim takes nine answers if it has no competitor.
///
/// # Examples
/// ```
/// use snowmint_core::lease::claim_patience_ms;
/// assert_eq!(claim_patience_ms(1000, 0), 10_000);
/// assert_eq!(claim_patience_ms(60_000, 20), 60_000);
/// // Far away the claim takes longer.
/// assert_eq!(claim_patience_ms(1000, 1500), 24_000);
/// ```
pub const fn claim_patience_ms(max_wait_ms: u64, slowest_ms: u64) -> u64 {
    const MIN_MS: u64 = 10_000;
    const ANSWERS: u64 = 16;
    let (given, far) = (if max_wait_ms > MIN_MS { max_wait_ms } else { MIN_MS }, slowest_ms.saturating_mul(ANSWERS));
    if far > given { far } else { given }
}

impl<'a> Claim<'a> {
    /// The first step.
    pub const FIRST: ClaimStep = ClaimStep::ReadNamespace;

    /// Begins a claim.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Nodes;
    /// use snowmint_core::layouts::SNOWMINT;
    /// use snowmint_core::bytes::label;
    /// use snowmint_core::lease::{Claim, ClaimStep, NamespaceRecord, Terms};
    /// use snowmint_core::store::{Ask, Reply};
    ///
    /// let terms = Terms {
    ///     layout: &SNOWMINT,
    ///     nodes: Nodes::ALL,
    ///     max_ahead_ms: 0,
    ///     window_ms: 3000,
    ///     last_node: None,
    ///     system_clock: false,
    ///     nonce: 0x5eed, // a random number
    ///     label: label("host 7"),
    /// };
    /// let mut claim = Claim::new(terms);
    /// // The namespace has no records of nodes yet.
    /// assert!(matches!(claim.namespace(Some((NamespaceRecord::default(), 1))), ClaimStep::ListNodes));
    /// let ClaimStep::Ask(node, Ask::Write(record, 0)) = claim.listed(1_772_323_200_000, 0) else { panic!("a write") };
    /// assert_eq!((node, record.window.end_ms), (0, 1_772_323_203_000));
    /// // Node 0 has its first record: the namespace counts one.
    /// let ClaimStep::WriteNamespace(namespace, 1) = claim.reply(Reply::Written(1)) else { panic!("a count") };
    /// assert_eq!(namespace.nodes, 1);
    /// let ClaimStep::Granted(renewal, None) = claim.namespace_reply(Reply::Written(2)) else { panic!("a grant") };
    /// assert_eq!(renewal.node(), 0);
    /// ```
    pub const fn new(terms: Terms<'a>) -> Self {
        Self {
            terms,
            tries: 0,
            conflicts: 0,
            namespace: NamespaceRecord { nodes: 0, floor_ms: None, removed: false, reserve_ms: 0 },
            namespace_version: 0,
            unpinned: false,
            records: 0,
            choice: Choice::new(terms, None, 0),
            other_layout: None,
            chosen: None,
            granted: None,
            has_clock: false,
            store_ms: None,
            skew_ms: None,
            unanswered: false,
            refusals: 0,
        }
    }

    /// Returns the terms.
    pub const fn terms(&self) -> &Terms<'a> {
        &self.terms
    }

    /// Returns the record of the node that the terms name, after [`ClaimStep::Wait`]: an error names its holder.
    pub const fn holder(&self) -> Option<&Record> {
        self.choice.holder()
    }

    /// Takes the namespace's record and its version, if the store has one. The driver has compared its layout.
    pub const fn namespace(&mut self, found: Option<(NamespaceRecord, Version)>) -> ClaimStep {
        match (found, self.granted) {
            // The claim makes it again, with the layout, the count and the floor that it had.
            (Some((namespace, version)), None) if namespace.removed => {
                (self.namespace, self.namespace_version) = (namespace, version);
                self.namespace.removed = false;
                ClaimStep::WriteNamespace(self.namespace, version)
            }
            (Some((namespace, version)), granted) => {
                (self.namespace, self.namespace_version) = (namespace, version);
                self.unpinned = false;
                match granted {
                    Some(renewal) => self.count(&renewal),
                    None => self.list(),
                }
            }
            (None, Some(renewal)) => ClaimStep::Granted(renewal, self.skew_ms),
            (None, None) => ClaimStep::ReadFloor,
        }
    }

    /// Takes the store's floor, if it has one, for a namespace without a record.
    pub fn floor(&mut self, floor: Option<Floor>) -> ClaimStep {
        let floor_ms = floor.map(|floor| floor.until_ms);
        (self.namespace, self.namespace_version) =
            (NamespaceRecord { nodes: 0, floor_ms, removed: false, reserve_ms: 0 }, 0);
        self.unpinned = true;
        self.list()
    }

    /// Takes the reply to the write of the namespace's record.
    pub const fn namespace_reply(&mut self, reply: Reply<Record>) -> ClaimStep {
        match (reply, self.granted) {
            (Reply::Written(version), None) => {
                self.namespace_version = version;
                self.unpinned = false;
                self.list()
            }
            (Reply::Unknown, None) => ClaimStep::Unanswered,
            // The next claim makes up for a node that was not counted.
            (Reply::Written(_) | Reply::Unknown, Some(renewal)) => ClaimStep::Granted(renewal, self.skew_ms),
            (_, granted) => {
                self.tries += 1;
                self.conflicts += 1;
                match granted {
                    _ if self.tries <= MAX_ATTEMPTS => ClaimStep::ReadNamespace,
                    Some(renewal) => ClaimStep::Granted(renewal, self.skew_ms),
                    None => ClaimStep::Refused(Error::plain(What::LayoutHidden)),
                }
            }
        }
    }

    const fn list(&mut self) -> ClaimStep {
        self.choice = Choice::new(self.terms, self.namespace.floor_ms, self.conflicts);
        self.other_layout = None;
        ClaimStep::ListNodes
    }

    /// Grants the node, once the namespace's record counts it, and has the length of its reservation.
    const fn count(&mut self, renewal: &Renewal) -> ClaimStep {
        self.granted = Some(*renewal);
        let reserve_ms = if self.terms.window_ms > Window::MAX_MS { self.terms.window_ms } else { 0 };
        let (is_counted, is_noted) = (self.records <= self.namespace.nodes, reserve_ms <= self.namespace.reserve_ms);
        if is_counted && is_noted {
            return ClaimStep::Granted(*renewal, self.skew_ms);
        }
        if !is_counted {
            self.namespace.nodes = self.records;
        }
        if !is_noted {
            self.namespace.reserve_ms = reserve_ms;
        }
        ClaimStep::WriteNamespace(self.namespace, self.namespace_version)
    }

    /// Leaves a node out, whether it has a record or not.
    pub fn skip(&mut self, node: u32) {
        self.choice.skip(node);
    }

    /// Takes a node's record at the time `now_ms` (Unix ms).
    pub fn see(&mut self, node: u32, record: &Record, version: Version, now_ms: i64) {
        if let Err(error) = record.refuse_other_layout(self.terms.layout) {
            self.other_layout = Some(error);
        }
        self.choice.see(node, record, version, now_ms);
    }

    /// Ends the list of nodes. `records` counts the nodes that have a record, valid or not.
    pub fn listed(&mut self, now_ms: i64, records: u64) -> ClaimStep {
        if let Some(error) = self.other_layout.or(self.namespace.refuse_fewer(records).err()) {
            return ClaimStep::Refused(error);
        }
        if self.unpinned {
            return ClaimStep::WriteNamespace(self.namespace, 0);
        }
        self.records = records;
        match self.choice.choose(now_ms) {
            Chosen::Write(node, record, version) => {
                self.chosen = Some((node, record, version));
                if self.terms.system_clock && !self.has_clock { ClaimStep::ReadClock } else { self.write() }
            }
            Chosen::Wait(free_ms) => {
                let wait_ms = self.spread(free_ms);
                ClaimStep::Wait(wait_ms, self.busy(now_ms, free_ms, wait_ms))
            }
            Chosen::Nothing => ClaimStep::Refused(self.taken()),
        }
    }

    /// Writes the chosen record, unless its window ends too far beyond the store's clock.
    fn write(&self) -> ClaimStep {
        let Some((node, record, version)) = self.chosen else { return ClaimStep::ListNodes };
        match far_end(record.window.end_ms, self.terms.reach_ms(), self.store_ms) {
            Some(error) => ClaimStep::Refused(error),
            None => ClaimStep::Ask(node, Ask::Write(record, version)),
        }
    }

    /// Lengthens the wait for any node by up to an eighth, and a second, so that not all who wait come back at one moment.
    fn spread(&self, wait_ms: u64) -> u64 {
        let most_ms = if self.terms.nodes.single().is_some() { 0 } else { (wait_ms / 8).min(MAX_SPREAD_MS) };
        wait_ms + self.terms.nonce as u64 % (most_ms + 1)
    }

    fn busy(&self, now_ms: i64, free_in_ms: u64, wait_ms: u64) -> Error {
        let free_ms =
            now_ms.saturating_add_unsigned(free_in_ms.saturating_add(self.terms.max_ahead_ms)).cast_unsigned();
        let nodes = self.terms.nodes.count(self.terms.layout);
        if let Some(fenced) = self.namespace.fenced(now_ms) {
            return fenced;
        }
        match self.terms.nodes.single() {
            Some(node) => Error::new(What::NodeHeld, 0, u64::from(node), free_ms),
            None if free_in_ms > FAR_MS => Error::new(What::NodesFar, 0, nodes, free_ms),
            None => Error::new(What::NodesBusy, 0, nodes, wait_ms),
        }
    }

    const fn taken(&self) -> Error {
        match self.terms.nodes.single() {
            Some(node) => Error::new(What::NodeTaken, 0, node as u64, 0),
            None => Error::new(What::NodesTaken, 0, self.terms.nodes.count(self.terms.layout), 0),
        }
    }

    /// Takes the store's clock, if it has one, and this machine's clock at that time, both Unix ms.
    pub fn clock(&mut self, store_ms: Option<i64>, own_ms: i64) -> ClaimStep {
        (self.has_clock, self.store_ms) = (true, store_ms);
        self.skew_ms = store_ms.map(|store_ms| own_ms.saturating_sub(store_ms));
        self.write()
    }

    /// Takes the reply to a request for the node's record.
    pub fn reply(&mut self, reply: Reply<Record>) -> ClaimStep {
        let unanswered = matches!(reply, Reply::Unknown);
        if unanswered && self.unanswered {
            return ClaimStep::Unanswered;
        }
        self.unanswered = unanswered;
        let Some((node, record, seen)) = self.chosen else { return self.again() };
        match reply {
            Reply::Written(version) => self.grant(version),
            // A write whose answer was lost counts when a read finds it.
            Reply::Record(Some(found), version) if found == record => self.grant(version),
            Reply::Unknown => ClaimStep::Ask(node, Ask::Read),
            // The record has not changed, so the store did not do the write.
            Reply::Record(_, version) if version == seen => {
                self.refusals += 1;
                if self.refusals == MAX_FAILED_WRITES { ClaimStep::Unanswered } else { self.retry() }
            }
            Reply::Conflict => {
                self.refusals = 0;
                self.again()
            }
            // Another claimer was first.
            Reply::Record(..) | Reply::Sum(_) | Reply::Full => self.again(),
        }
    }

    fn grant(&mut self, version: Version) -> ClaimStep {
        let Some((node, record, seen)) = self.chosen else { return self.again() };
        self.records += u64::from(seen == 0);
        let renewal = Renewal::resume(node, record, version, self.terms.system_clock);
        if self.conflicts == 0 || self.records <= self.namespace.nodes {
            return self.count(&renewal);
        }
        // Other claimers are there, and one of them may have counted the nodes.
        self.granted = Some(renewal);
        ClaimStep::ReadNamespace
    }

    /// Gives the chosen node up for a reason that the store does not know, and looks at the nodes again.
    pub const fn again(&mut self) -> ClaimStep {
        self.conflicts += 1;
        self.retry()
    }

    const fn retry(&mut self) -> ClaimStep {
        self.tries += 1;
        if self.tries < MAX_ATTEMPTS { self.list() } else { ClaimStep::Taken(self.taken()) }
    }
}
