//! Reports of audits as values, for pickles and copies.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use snowmint_core::Layout;
use snowmint_inspect::audit::{Finding, Kind, NodeSpan, Order, Report};

use super::{AuditFinding, AuditNode, AuditReport};
use crate::error::Failure;

type Node = (u32, u64, u64, i64, i64, f64);
/// The fields of a finding: kind, counts and places first, then times and other details.
type Found =
    ((String, Option<u32>, u64, u64, u64, u64, u64, u64), (Option<i64>, Option<i64>, u64, u64, String, bool, bool));
type Values = (String, u64, u64, String, Vec<Node>, Vec<Found>, Vec<(u32, Vec<u32>)>);

fn node(span: &NodeSpan) -> Node {
    (span.node, span.ids, span.repeated, span.from_ms, span.to_ms, span.ids_per_second)
}

fn span((node, ids, repeated, from_ms, to_ms, ids_per_second): Node) -> NodeSpan {
    NodeSpan::new(node, ids, repeated, [from_ms, to_ms], ids_per_second)
}

fn found(finding: &Finding) -> Found {
    let Finding { node, ids, repeated, times, by_ms, id, line, from_ms, to_ms, .. } = *finding;
    let Finding { before, explained, order, fresh, either, .. } = *finding;
    let kind = finding.kind.name().to_owned();
    (
        (kind, node, ids, repeated, times, by_ms, id, line),
        (from_ms, to_ms, before, explained, order.name().to_owned(), fresh, either),
    )
}

fn finding(found: Found) -> PyResult<Finding> {
    let (counts, (from_ms, to_ms, before, explained, order, fresh, either)) = found;
    let (kind, node, ids, repeated, times, by_ms, id, line) = counts;
    let kind = Kind::ALL.into_iter().find(|each| each.name() == kind).ok_or_else(unknown)?;
    let mut finding = Finding::new(kind);
    (finding.node, finding.ids, finding.repeated, finding.times) = (node, ids, repeated, times);
    (finding.by_ms, finding.id, finding.line) = (by_ms, id, line);
    (finding.from_ms, finding.to_ms) = (from_ms, to_ms);
    (finding.before, finding.explained) = (before, explained);
    finding.order = order_of(&order)?;
    (finding.fresh, finding.either) = (fresh, either);
    Ok(finding)
}

fn order_of(name: &str) -> PyResult<Order> {
    Order::ALL.into_iter().find(|order| order.name() == name).ok_or_else(unknown)
}

fn unknown() -> PyErr {
    PyValueError::new_err("this version of snowmint does not know a word of this report")
}

pub(super) type Reduced<'py> = PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)>;

/// Returns the function of that name in this module, with its arguments.
fn call<'py>(py: Python<'py>, name: &str, values: Bound<'py, PyTuple>) -> Reduced<'py> {
    Ok((py.import("snowmint._snowmint")?.getattr(name)?, values))
}

pub(super) fn reduce_report<'py>(py: Python<'py>, report: &Report) -> Reduced<'py> {
    let Report { layout, ids, unreadable, order, nodes, findings, counts, .. } = report.clone();
    let values: Values = (
        layout.to_string(),
        ids,
        unreadable,
        order.name().to_owned(),
        nodes.iter().map(node).collect(),
        findings.iter().map(found).collect(),
        counts,
    );
    call(py, "audit_report", values.into_pyobject(py)?)
}

pub(super) fn reduce_node<'py>(py: Python<'py>, span: &NodeSpan) -> Reduced<'py> {
    call(py, "audit_node", node(span).into_pyobject(py)?)
}

pub(super) fn reduce_finding<'py>(py: Python<'py>, finding: &Finding) -> Reduced<'py> {
    call(py, "audit_finding", found(finding).into_pyobject(py)?)
}

/// Makes a report of its values.
#[pyfunction]
#[pyo3(signature = (*values))]
pub(crate) fn audit_report(values: Values) -> Result<AuditReport, Failure> {
    let (layout, ids, unreadable, order, nodes, findings, counts) = values;
    let mut report = Report::new(Layout::parse(layout)?, order_of(&order)?);
    (report.ids, report.unreadable, report.counts) = (ids, unreadable, counts);
    report.nodes = nodes.into_iter().map(span).collect();
    report.findings = findings.into_iter().map(finding).collect::<PyResult<_>>()?;
    Ok(AuditReport(report))
}

/// Makes the node of a report of its values.
#[pyfunction]
#[pyo3(signature = (*values))]
pub(crate) fn audit_node(values: Node) -> AuditNode {
    AuditNode(span(values))
}

/// Makes the finding of a report of its values.
#[pyfunction]
#[pyo3(signature = (*values))]
pub(crate) fn audit_finding(values: Found) -> PyResult<AuditFinding> {
    Ok(AuditFinding(finding(values)?))
}
