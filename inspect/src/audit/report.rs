//! What an audit found.

use alloc::vec::Vec;
use core::fmt;

use super::finding::Finding;
use super::rows::Rows;
use super::summary::{NodeSpan, Summary};
use super::terms::Order;
use crate::render::Format;
use snowmint_core::Layout;

/// What an audit found. Its text is the [`Display`](fmt::Display).
///
/// # Examples
/// ```
/// use snowmint_inspect::audit::{Audit, AuditOptions, Kind, Order};
/// use snowmint_core::layouts::TWITTER;
/// use snowmint_inspect::render::Format;
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

/// A report as values, for programs that keep reports.
///
/// # Examples
/// ```
/// use snowmint_inspect::audit::{Audit, AuditOptions, Report};
/// use snowmint_core::layouts::TWITTER;
/// let mut audit = Audit::at(&TWITTER, &AuditOptions::default(), 1_790_000_000_000);
/// audit.extend([1_541_815_603_606_036_480, 1_541_815_603_606_036_480]);
/// let report = audit.finish();
/// assert_eq!(Report::from(report.kept()).to_string(), report.to_string());
/// ```
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "whoever keeps it writes each value")]
pub struct Kept {
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
    /// The findings.
    pub findings: Vec<Finding>,
    /// The nodes of the picture, each with the number of its IDs in each stretch of time.
    pub counts: Vec<(u32, Vec<u32>)>,
}

impl From<Kept> for Report {
    fn from(kept: Kept) -> Self {
        let Kept { layout, ids, unreadable, order, nodes, findings, counts } = kept;
        let rows = Rows::restored(&nodes, counts);
        Self { layout, ids, unreadable, order, nodes, findings, rows }
    }
}

impl Report {
    /// Returns the report as values.
    ///
    /// # Examples
    /// As for [`Kept`].
    pub fn kept(&self) -> Kept {
        let &Self { layout, ids, unreadable, order, .. } = self;
        let counts = self.rows.counts().map(|(node, counts)| (node, counts.to_vec())).collect();
        Kept { layout, ids, unreadable, order, nodes: self.nodes.clone(), findings: self.findings.clone(), counts }
    }

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
