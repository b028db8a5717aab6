//! Audits a list of IDs.

pub(crate) mod pickle;

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use snowmint_cli::tables::{self, ReportJson};
use snowmint_inspect::audit::{Audit, AuditOptions, Finding, NodeSpan, Report};

use self::pickle::Reduced;
use crate::convert::{Instant, Int};
use crate::error::Failure;
use crate::layout::{Layout, array};
use crate::work;

/// The result of an audit.
#[pyclass(frozen, weakref, module = "snowmint")]
pub(crate) struct AuditReport(Report);

#[pymethods]
impl AuditReport {
    /// The number of IDs.
    #[getter]
    fn ids(&self) -> u64 {
        self.0.ids
    }

    /// The order of the IDs: `written`, `ascending`, `descending` or `unordered`.
    #[getter]
    fn order(&self) -> &'static str {
        self.0.order.name()
    }

    /// The nodes, ascending.
    #[getter]
    fn nodes(&self) -> Vec<AuditNode> {
        self.0.nodes.iter().copied().map(AuditNode).collect()
    }

    /// The findings, in the order of their kinds and nodes.
    #[getter]
    fn findings(&self) -> Vec<AuditFinding> {
        self.0.findings.iter().copied().map(AuditFinding).collect()
    }

    /// The report as an object of JSON on one line.
    fn json(&self) -> PyResult<String> {
        Ok(snowmint_cli::json::line(&ReportJson::from(&self.0))?)
    }

    /// A picture of the nodes over time, with the findings marked, for light and dark pages.
    fn svg(&self) -> String {
        tables::svg(&self.0)
    }

    fn __str__(&self) -> String {
        tables::report(&self.0, false)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py> {
        pickle::reduce_report(py, &self.0)
    }

    fn __repr__(&self) -> String {
        format!("AuditReport({} IDs, {} findings)", self.0.ids, self.0.findings.len())
    }
}

/// The IDs of one node in an audit.
#[pyclass(frozen, weakref, module = "snowmint")]
pub(crate) struct AuditNode(NodeSpan);

#[pymethods]
impl AuditNode {
    /// The node.
    #[getter]
    fn node(&self) -> u32 {
        self.0.node
    }

    /// The number of its IDs.
    #[getter]
    fn ids(&self) -> u64 {
        self.0.ids
    }

    /// The number of its different IDs that occur more than once.
    #[getter]
    fn repeated(&self) -> u64 {
        self.0.repeated
    }

    /// The time of its earliest ID, Unix ms.
    #[getter(from_ms)]
    fn begin_ms(&self) -> i64 {
        self.0.from_ms
    }

    /// The time of its latest ID, Unix ms.
    #[getter(to_ms)]
    fn end_ms(&self) -> i64 {
        self.0.to_ms
    }

    /// IDs a second, from the earliest ID to the latest.
    #[getter]
    fn ids_per_second(&self) -> f64 {
        self.0.ids_per_second
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py> {
        pickle::reduce_node(py, &self.0)
    }

    fn __repr__(&self) -> String {
        format!("AuditNode({}, {} IDs)", self.0.node, self.0.ids)
    }
}

/// One finding of an audit.
#[pyclass(frozen, weakref, module = "snowmint")]
pub(crate) struct AuditFinding(Finding);

#[pymethods]
impl AuditFinding {
    /// The kind, such as `shared_node`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind.name()
    }

    /// The node, or None if the finding is about the whole input.
    #[getter]
    fn node(&self) -> Option<u32> {
        self.0.node
    }

    /// The number of IDs that show the fault.
    #[getter]
    fn ids(&self) -> u64 {
        self.0.ids
    }

    /// The number of IDs that occur more than once because of the fault.
    #[getter]
    fn repeated(&self) -> u64 {
        self.0.repeated
    }

    /// How often it happened: steps of a clock, ticks with a wrapped sequence, or surplus lines of duplicates.
    #[getter]
    fn times(&self) -> u64 {
        self.0.times
    }

    /// The length of the longest step back, ms.
    #[getter]
    fn by_ms(&self) -> u64 {
        self.0.by_ms
    }

    /// The first ID that shows the fault.
    #[getter]
    fn id(&self) -> u64 {
        self.0.id
    }

    /// The line of that ID, or its place among the IDs, from 1.
    #[getter]
    fn line(&self) -> u64 {
        self.0.line
    }

    /// The time of the first ID that shows the fault, Unix ms; None without a time.
    #[getter(from_ms)]
    fn begin_ms(&self) -> Option<i64> {
        self.0.from_ms
    }

    /// The time of the last ID that shows the fault, Unix ms; None without a time.
    #[getter(to_ms)]
    fn end_ms(&self) -> Option<i64> {
        self.0.to_ms
    }

    /// The IDs of the node before the second process came, if the log shows them.
    #[getter]
    fn before(&self) -> u64 {
        self.0.before
    }

    /// The measure that would have prevented it, in a sentence.
    #[getter]
    fn cure(&self) -> &'static str {
        self.0.kind.cure()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py> {
        pickle::reduce_finding(py, &self.0)
    }

    fn __repr__(&self) -> String {
        format!("AuditFinding({}: {})", self.0.kind.name(), self.0)
    }
}

/// Finds out why IDs repeat, and other faults of the IDs.
#[pyfunction]
#[pyo3(signature = (ids, layout=None, *, since=None, until=None, jitter_ms=None, unordered=None))]
pub(crate) fn audit(
    py: Python<'_>,
    ids: &Bound<'_, PyAny>,
    layout: Option<&Bound<'_, PyAny>>,
    since: Option<Instant>,
    until: Option<Instant>,
    jitter_ms: Option<Int>,
    unordered: Option<bool>,
) -> Result<AuditReport, Failure> {
    let layout = Layout::find(layout)?;
    let mut options = AuditOptions::default();
    (options.since_ms, options.until_ms) = (since.map(|since| since.0.0), until.map(|until| until.0.0));
    if let Some(jitter_ms) = jitter_ms {
        options.jitter_ms = jitter_ms.0.ms("jitter_ms")?;
    }
    options.unordered = unordered.unwrap_or(options.unordered);
    let mut audit = Audit::new(&layout, &options);
    if ids.hasattr("__array__")? {
        let (bytes, _) = array::items(ids)?;
        for items in bytes.as_bytes().as_chunks().0.chunks(work::ITEMS_PER_CHECK) {
            py.detach(|| audit.extend(items.iter().copied().map(u64::from_ne_bytes)));
            py.check_signals()?;
        }
    } else {
        refuse_bytes(ids)?;
        for (count, each) in ids.try_iter()?.enumerate() {
            audit.add(each?.extract::<Int>()?.0.id()?);
            if count % work::ITEMS_PER_CHECK == 0 {
                py.check_signals()?;
            }
        }
    }
    work::apart(py, || AuditReport(audit.finish()))
}

/// Refuses bytes, whose items are integers too.
fn refuse_bytes(ids: &Bound<'_, PyAny>) -> PyResult<()> {
    if PyUntypedBuffer::get(ids).is_ok_and(|buffer| buffer.item_size() == 1) {
        let kind = ids.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "audit takes IDs, not the bytes of {kind}: read a file of IDs by snowmint audit FILE"
        )));
    }
    Ok(())
}
