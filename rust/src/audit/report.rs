//! What an audit found.

use std::fmt;

use snowmint_core::Layout;
use snowmint_core::audit::{Finding, NodeSpan, Order, Summary};
use snowmint_core::render::Format;

use super::rows::Rows;

/// What an audit found. Its text is the [`Display`](fmt::Display).
#[derive(Debug)]
pub struct Report {
    pub(super) layout: Layout,
    pub(super) ids: u64,
    pub(super) unreadable: u64,
    pub(super) order: Order,
    pub(super) nodes: Vec<NodeSpan>,
    pub(super) findings: Vec<Finding>,
    pub(super) rows: Rows,
}

impl Report {
    /// Returns the number of IDs.
    pub fn ids(&self) -> u64 {
        self.ids
    }

    /// Returns the number of lines that are no ID.
    pub fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// Returns the order of the IDs.
    pub fn order(&self) -> Order {
        self.order
    }

    /// Returns the nodes, ascending, with the number, the times and the rate of their IDs.
    pub fn nodes(&self) -> &[NodeSpan] {
        &self.nodes
    }

    /// Returns the findings, in the order of their kinds and nodes.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Writes the report as text, or as an object of JSON on one line.
    ///
    /// # Errors
    /// The errors of `out`.
    pub fn write(&self, out: &mut impl fmt::Write, format: Format) -> fmt::Result {
        let Self { layout, ids, unreadable, order, nodes, findings, .. } = self;
        Summary { layout, ids: *ids, unreadable: *unreadable, order: *order, nodes, findings }.write(out, format)
    }

    /// Writes a picture as SVG: nodes over time, with the findings marked. It reads on a light and on a dark page.
    ///
    /// # Errors
    /// The errors of `out`.
    pub fn plot(&self, out: &mut impl fmt::Write) -> fmt::Result {
        self.rows.write(&self.findings, out)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, Format::Plain)
    }
}
