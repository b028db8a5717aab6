//! What an audit found.

use alloc::vec::Vec;

use super::finding::Finding;
use super::terms::Order;
use snowmint_core::Layout;

/// What an audit found.
///
/// # Examples
/// ```
/// use snowmint_inspect::audit::{Audit, AuditOptions, Kind, Order};
/// use snowmint_core::layouts::TWITTER;
/// let mut audit = Audit::at(&TWITTER, &AuditOptions::default(), 1_790_000_000_000);
/// audit.extend([1_541_815_603_606_036_480, 1_541_815_603_606_036_480]);
/// let report = audit.finish();
/// assert_eq!((report.ids, report.unreadable, report.order), (2, 0, Order::Ascending));
/// assert_eq!((report.nodes[0].node, report.findings[0].kind), (378, Kind::Duplicates));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The layout.
    pub layout: Layout,
    /// The number of IDs.
    pub ids: u64,
    /// The number of lines that are no ID.
    pub unreadable: u64,
    /// The order of the IDs.
    pub order: Order,
    /// The nodes, ascending.
    pub nodes: Vec<NodeSpan>,
    /// The findings, sorted by kind and node.
    pub findings: Vec<Finding>,
    /// For a picture: some nodes, sorted by number, each with the number of its IDs in equal stretches of time. If
    /// there are too many nodes, nodes with findings come before others, then nodes with the most IDs. The first
    /// stretch begins at the earliest ID of these nodes; the length of a stretch, in whole ms, is enough to reach the
    /// latest ID.
    pub counts: Vec<(u32, Vec<u32>)>,
}

impl Report {
    /// Makes a report of a log without IDs.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::audit::{Order, Report};
    /// use snowmint_core::layouts::TWITTER;
    /// assert_eq!(Report::new(TWITTER, Order::Written).ids, 0);
    /// ```
    pub const fn new(layout: Layout, order: Order) -> Self {
        Self { layout, ids: 0, unreadable: 0, order, nodes: Vec::new(), findings: Vec::new(), counts: Vec::new() }
    }
}

/// What an audit saw of one node.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct NodeSpan {
    /// The node: all node fields, concatenated high to low.
    pub node: u32,
    /// The number of its IDs.
    pub ids: u64,
    /// The number of its different IDs that occur more than once.
    pub repeated: u64,
    /// The time of its earliest ID, Unix ms.
    pub from_ms: i64,
    /// The time of its latest ID, Unix ms.
    pub to_ms: i64,
    /// IDs a second, from the earliest ID to the latest.
    pub ids_per_second: f64,
}

impl NodeSpan {
    /// Makes the span of a node from its earliest ID to its latest, Unix ms.
    ///
    /// # Examples
    /// ```
    /// use snowmint_inspect::audit::NodeSpan;
    /// assert_eq!(NodeSpan::new(378, 2, 0, [1_656_432_460_105, 1_656_432_461_104], 2.0).to_ms, 1_656_432_461_104);
    /// ```
    pub const fn new(node: u32, ids: u64, repeated: u64, [from_ms, to_ms]: [i64; 2], ids_per_second: f64) -> Self {
        Self { node, ids, repeated, from_ms, to_ms, ids_per_second }
    }
}
