//! What an audit found.

use alloc::vec::Vec;
use core::fmt;

use super::finding::Finding;
use super::rows::Rows;
use super::summary::{NodeSpan, Summary};
use super::terms::Order;
use crate::layout::Layout;
use crate::render::Format;

/// What an audit found. Its text is the [`Display`](fmt::Display).
///
/// # Examples
/// ```
/// use snowmint_core::audit::{Audit, AuditOptions, Kind, Order};
/// use snowmint_core::layouts::TWITTER;
/// use snowmint_core::render::Format;
/// let mut audit = Audit::at(&TWITTER, &AuditOptions::default(), 1_790_000_000_000);
/// audit.extend([1_541_815_603_606_036_480, 1_541_815_603_606_036_480]);
/// let report = audit.finish();
/// assert_eq!((report.ids(), report.unreadable(), report.order()), (2, 0, Order::Ascending));
/// assert_eq!((report.nodes()[0].node, report.findings()[0].kind), (378, Kind::Duplicates));
/// let (mut json, mut svg) = (String::new(), String::new());
/// report.write(&mut json, Format::Json)?;
/// report.plot(&mut svg)?;
/// assert!(json.starts_with("{\"layout\": \"twitter\", \"ids\": 2, ") && svg.starts_with("<svg "));
/// # Ok::<(), std::fmt::Error>(())
/// ```
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
    ///
    /// # Examples
    /// As for the type.
    pub fn ids(&self) -> u64 {
        self.ids
    }

    /// Returns the number of lines that are no ID.
    ///
    /// # Examples
    /// As for the type.
    pub fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// Returns the order of the IDs.
    ///
    /// # Examples
    /// As for the type.
    pub fn order(&self) -> Order {
        self.order
    }

    /// Returns the nodes, ascending, with the number, the times and the rate of their IDs.
    ///
    /// # Examples
    /// As for the type.
    pub fn nodes(&self) -> &[NodeSpan] {
        &self.nodes
    }

    /// Returns the findings, in the order of their kinds and nodes.
    ///
    /// # Examples
    /// As for the type.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Writes the report as text, or as an object of JSON on one line.
    ///
    /// # Errors
    /// The errors of `out`.
    ///
    /// # Examples
    /// As for the type.
    pub fn write(&self, out: &mut impl fmt::Write, format: Format) -> fmt::Result {
        let Self { layout, ids, unreadable, order, nodes, findings, .. } = self;
        Summary { layout, ids: *ids, unreadable: *unreadable, order: *order, nodes, findings }.write(out, format)
    }

    /// Writes a picture as SVG: nodes over time, with the findings marked. It reads on a light and on a dark page.
    ///
    /// # Errors
    /// The errors of `out`.
    ///
    /// # Examples
    /// As for the type.
    pub fn plot(&self, out: &mut impl fmt::Write) -> fmt::Result {
        self.rows.write(&self.findings, out)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, Format::Plain)
    }
}
