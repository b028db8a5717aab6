//! The store: records with versions, and a log of all writes.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use snowmint_core::lease::{NamespaceRecord, RECORD_BYTES, Record};
use snowmint_core::store::{Ask, Reply, Version};
use snowmint_core::{Window, section};

/// How many writes the end of the log can lose.
const TAIL_EVENTS: usize = 40;

/// A request to the store.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "most requests are the large one")]
pub enum Request {
    /// Read the namespace's record.
    ReadNamespace,
    /// Write the namespace's record over a version.
    WriteNamespace(NamespaceRecord, Version),
    /// Read all nodes.
    List,
    /// Read or write the record of a node.
    Node(u32, Ask<Record>),
    /// Raise the counter of the segment.
    Add(u64),
    /// Read or write the record of the section.
    Section(Ask<section::Record>),
}

/// The answer of the store.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The namespace's record and its version.
    Namespace(Option<(NamespaceRecord, Version)>),
    /// All nodes that have a record.
    Nodes(Vec<(u32, Record, Version)>),
    /// The reply for a node, or to the write of a namespace's record.
    Node(Reply<Record>),
    /// The counter after the addition.
    Sum(u64),
    /// The reply for the section.
    Section(Reply<section::Record>),
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReadNamespace => write!(f, "read the namespace"),
            Self::WriteNamespace(record, version) => {
                write!(f, "write {} nodes into the namespace over version {version}", record.nodes)
            }
            Self::List => write!(f, "list the nodes"),
            Self::Node(node, Ask::Write(record, version)) => {
                let Window { start_ms, end_ms } = record.window;
                write!(
                    f,
                    "write window {start_ms} to {end_ms} of node {node} over version {version}, claim {}",
                    record.nonce
                )
            }
            Self::Node(node, _) => write!(f, "read node {node}"),
            Self::Add(amount) => write!(f, "raise the counter by {amount}"),
            Self::Section(Ask::Write(record, version)) => {
                write!(f, "write max_seq {} of the section over version {version}", record.max_seq)
            }
            Self::Section(_) => write!(f, "read the section"),
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let written = |f: &mut fmt::Formatter<'_>, version| write!(f, "written as version {version}");
        match self {
            Self::Namespace(_) => write!(f, "the namespace"),
            Self::Nodes(nodes) => write!(f, "{} nodes", nodes.len()),
            Self::Node(Reply::Written(version)) | Self::Section(Reply::Written(version)) => written(f, *version),
            Self::Node(Reply::Conflict) | Self::Section(Reply::Conflict) => write!(f, "another version is there"),
            Self::Node(_) => write!(f, "the record of a node"),
            Self::Section(_) => write!(f, "the record of the section"),
            Self::Sum(sum) => write!(f, "the counter is {sum}"),
        }
    }
}

/// A write, as the log has it. Records are bytes, as in every store.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "most writes are the large one")]
enum Write {
    Namespace(NamespaceRecord, Version),
    Node(u32, [u8; RECORD_BYTES], Version),
    Vanish(u32),
    Counter(u64),
    Section([u8; section::RECORD_BYTES], Version),
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Contents {
    namespace: Option<(NamespaceRecord, Version)>,
    nodes: BTreeMap<u32, ([u8; RECORD_BYTES], Version)>,
    counter: u64,
    section: Option<([u8; section::RECORD_BYTES], Version)>,
}

impl Contents {
    fn carry_out(&mut self, write: &Write) {
        match *write {
            Write::Namespace(record, version) => self.namespace = Some((record, version)),
            Write::Node(node, bytes, version) => drop(self.nodes.insert(node, (bytes, version))),
            Write::Vanish(node) => drop(self.nodes.remove(&node)),
            Write::Counter(sum) => self.counter = sum,
            Write::Section(bytes, version) => self.section = Some((bytes, version)),
        }
    }
}

/// A store that makes each write durable before it answers.
#[derive(Debug, Default)]
pub struct Store {
    now: Contents,
    /// The contents before the writes of the tail.
    base: Contents,
    tail: VecDeque<Write>,
    /// The last version of a record. None comes back when writes are lost: in a store they are random.
    last_version: Version,
}

fn record(bytes: &[u8]) -> Record {
    Record::from_bytes(bytes).expect("the store keeps what was written")
}

fn section_record(bytes: &[u8]) -> section::Record {
    section::Record::from_bytes(bytes).expect("the store keeps what was written")
}

impl Store {
    const fn version(&mut self) -> Version {
        self.last_version += 1;
        self.last_version
    }

    fn write(&mut self, write: Write) {
        self.now.carry_out(&write);
        self.tail.push_back(write);
        if self.tail.len() > TAIL_EVENTS
            && let Some(oldest) = self.tail.pop_front()
        {
            self.base.carry_out(&oldest);
        }
    }

    /// Carries a request out.
    pub fn answer(&mut self, request: &Request) -> Answer {
        match *request {
            Request::ReadNamespace => Answer::Namespace(self.now.namespace),
            Request::WriteNamespace(record, expected) => {
                let version = self.now.namespace.map_or(0, |(_, version)| version);
                Answer::Node(if version == expected {
                    let version = self.version();
                    self.write(Write::Namespace(record, version));
                    Reply::Written(version)
                } else {
                    Reply::Conflict
                })
            }
            Request::List => Answer::Nodes(
                self.now.nodes.iter().map(|(node, (bytes, version))| (*node, record(bytes), *version)).collect(),
            ),
            Request::Node(node, ask) => Answer::Node(self.node(node, ask)),
            Request::Add(amount) => {
                self.write(Write::Counter(self.now.counter + amount));
                Answer::Sum(self.now.counter)
            }
            Request::Section(ask) => Answer::Section(self.section(ask)),
        }
    }

    fn node(&mut self, node: u32, ask: Ask<Record>) -> Reply<Record> {
        let found = self.now.nodes.get(&node);
        let version = found.map_or(0, |(_, version)| *version);
        match ask {
            Ask::Read => Reply::Record(found.map(|(bytes, _)| record(bytes)), version),
            Ask::Write(record, expected) if expected == version => {
                let version = self.version();
                self.write(Write::Node(node, record.to_bytes(), version));
                Reply::Written(version)
            }
            _ => Reply::Conflict,
        }
    }

    fn section(&mut self, ask: Ask<section::Record>) -> Reply<section::Record> {
        let version = self.now.section.map_or(0, |(_, version)| version);
        match ask {
            Ask::Read => Reply::Record(self.now.section.map(|(bytes, _)| section_record(&bytes)), version),
            Ask::Write(record, expected) if expected == version => {
                let version = self.version();
                self.write(Write::Section(record.to_bytes(), version));
                Reply::Written(version)
            }
            _ => Reply::Conflict,
        }
    }

    /// Starts again from the log, without its last `lost` writes.
    pub fn restart(&mut self, lost: usize) {
        self.tail.truncate(self.tail.len().saturating_sub(lost));
        self.now = self.base.clone();
        for write in &self.tail {
            self.now.carry_out(write);
        }
    }

    /// Loses the record of a node. Returns whether it had one, and each record was counted.
    pub fn vanish(&mut self, node: u32) -> bool {
        let counted = self.now.namespace.map_or(0, |(record, _)| record.nodes) == self.now.nodes.len() as u64;
        let vanishes = counted && self.now.nodes.contains_key(&node);
        if vanishes {
            self.write(Write::Vanish(node));
        }
        vanishes
    }

    /// Releases a node that this claim has, as `snowmint lease release --stopped --until` does. Returns the new record.
    pub fn release(&mut self, node: u32, nonce: u128, end_ms: i64) -> Option<Record> {
        let (bytes, _) = self.now.nodes.get(&node)?;
        let found = record(bytes);
        if !found.is_held_by(nonce) {
            return None;
        }
        let window = Window { start_ms: found.window.start_ms.min(end_ms), end_ms };
        let released = Record { released: true, serial: found.serial + 1, window, ..found };
        let version = self.version();
        self.write(Write::Node(node, released.to_bytes(), version));
        Some(released)
    }

    /// Sets the counter of the segment back by half.
    pub fn roll_back(&mut self) {
        self.write(Write::Counter(self.now.counter / 2));
    }

    /// Raises all ends, counters and maxima, and the floor, as `snowmint fence --until --skip` does. A node that is not
    /// released gets the end `until_ms`, as if the operator had released it before.
    pub fn fence(&mut self, until_ms: i64, skip: u64) {
        let nodes: Vec<_> = self.now.nodes.iter().map(|(node, (bytes, _))| (*node, record(bytes))).collect();
        let count = nodes.len() as u64;
        for (node, mut record) in nodes {
            // The window of a holder may end far ahead, as a reservation does.
            record.window.end_ms = if record.released { record.window.end_ms.max(until_ms) } else { until_ms };
            (record.released, record.serial) = (true, record.serial + 1);
            let version = self.version();
            self.write(Write::Node(node, record.to_bytes(), version));
        }
        let (record, _) = self.now.namespace.unwrap_or_default();
        let version = self.version();
        self.write(Write::Namespace(NamespaceRecord { nodes: count, ..record.raised(until_ms) }, version));
        self.write(Write::Counter(self.now.counter + skip));
        if let Some((bytes, _)) = self.now.section {
            let found = section_record(&bytes);
            let raised = section::Record { max_seq: found.max_seq + skip, ..found };
            let version = self.version();
            self.write(Write::Section(raised.to_bytes(), version));
        }
        // After a fence no earlier write can be lost.
        self.base = self.now.clone();
        self.tail.clear();
    }
}
