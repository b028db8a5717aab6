//! The report of an audit, as text and for JSON.

use serde::Serialize;
use snowmint_core::time::Rfc3339;
use snowmint_inspect::audit::{Finding, NodeSpan, Order, Report};

use super::{grouped, headline, name};

/// The most nodes, and the most findings of one kind, in the text. JSON has all of them.
const MAX_ROWS: usize = 20;

/// Returns the report as text.
pub fn text(report: &Report, bold: bool) -> String {
    let Report { nodes, findings, unreadable, .. } = report;
    let order = match report.order {
        Order::Written => "in the order in which they were written",
        Order::Ascending => "ascending: sorted IDs show no clock that stepped back",
        Order::Descending => "descending, read backwards: sorted IDs show no clock that stepped back",
        Order::Unordered => "in no order: clocks, forks and shared nodes show only by IDs that repeat",
    };
    let (ids, number) = (counted(report.ids, "ID"), counted(nodes.len() as u64, "node"));
    let mut text = format!("{ids} of {}, {number}, {order}\n", name(&report.layout));
    if *unreadable > 0 {
        let are = if *unreadable == 1 { "is" } else { "are" };
        text += &format!("{} {are} not an ID\n", counted(*unreadable, "line"));
    }
    if !nodes.is_empty() {
        let head = format!("{:<8}  {:>13}  {:>9}  {:>11}  {:<24}  to", "node", "IDs", "repeated", "IDs/s", "from");
        text += &format!("\n{}", headline(&head, bold));
    }
    let mut rows: Vec<_> = nodes.iter().collect();
    // Those with repeated IDs come first.
    rows.sort_by_key(|span| span.repeated == 0);
    for NodeSpan { node, ids, repeated, from_ms, to_ms, ids_per_second, .. } in rows.into_iter().take(MAX_ROWS) {
        let (ids, repeated, from, to) = (grouped(*ids), grouped(*repeated), Rfc3339(*from_ms), Rfc3339(*to_ms));
        text += &format!("{node:<8}  {ids:>13}  {repeated:>9}  {ids_per_second:>11.1}  {from}  {to}\n");
    }
    text += &more(nodes.len(), "");
    text += "\n";
    if findings.is_empty() {
        text += "no finding\n";
    }
    for same in findings.chunk_by(|a, b| a.kind == b.kind) {
        for finding in same.iter().take(MAX_ROWS) {
            let kind = format!("{:<12}", finding.kind.name());
            let kind = if bold { format!("\x1b[1m{kind}\x1b[0m") } else { kind };
            text += &format!("{kind}  {finding}\n{:12}  prevented by {}\n", "", finding.kind.cure());
        }
        text += &more(same.len(), "              ");
    }
    text
}

fn more(count: usize, indent: &str) -> String {
    match count.checked_sub(MAX_ROWS) {
        Some(more @ 1..) => format!("{indent}and {} more nodes, which --json lists\n", grouped(more as u64)),
        _ => String::new(),
    }
}

/// Returns a count with its noun: `1 node`, `1,024 nodes`.
fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// The report for JSON.
#[derive(Debug, Serialize)]
pub struct ReportJson {
    layout: String,
    ids: u64,
    unreadable: u64,
    order: &'static str,
    nodes: Vec<Span>,
    findings: Vec<Found>,
}

#[derive(Debug, Serialize)]
struct Span {
    node: u32,
    ids: u64,
    repeated: u64,
    from_ms: i64,
    to_ms: i64,
    ids_per_second: f64,
}

#[derive(Debug, Serialize)]
struct Found {
    kind: &'static str,
    node: Option<u32>,
    ids: u64,
    repeated: u64,
    times: u64,
    by_ms: u64,
    id: String,
    line: u64,
    from_ms: Option<i64>,
    to_ms: Option<i64>,
    before: u64,
    explained: u64,
    message: String,
    cure: &'static str,
}

impl From<&Report> for ReportJson {
    fn from(report: &Report) -> Self {
        Self {
            layout: name(&report.layout),
            ids: report.ids,
            unreadable: report.unreadable,
            order: report.order.name(),
            nodes: report.nodes.iter().map(Span::of).collect(),
            findings: report.findings.iter().map(Found::of).collect(),
        }
    }
}

impl Span {
    fn of(span: &NodeSpan) -> Self {
        let NodeSpan { node, ids, repeated, from_ms, to_ms, ids_per_second, .. } = *span;
        Self { node, ids, repeated, from_ms, to_ms, ids_per_second: (ids_per_second * 1000.0).round() / 1000.0 }
    }
}

impl Found {
    fn of(finding: &Finding) -> Self {
        let Finding { kind, node, ids, repeated, times, by_ms, line, from_ms, to_ms, before, explained, .. } = *finding;
        let (id, message) = (finding.id.to_string(), finding.to_string());
        let (kind, cure) = (kind.name(), kind.cure());
        Self { kind, node, ids, repeated, times, by_ms, id, line, from_ms, to_ms, before, explained, message, cure }
    }
}

#[cfg(test)]
mod tests {
    use snowmint_core::layouts::TWITTER;
    use snowmint_inspect::audit::{Audit, AuditOptions};

    use super::super::svg;
    use super::*;

    const ID: u64 = 1_541_815_603_606_036_480;

    fn audited(ids: impl IntoIterator<Item = u64>) -> Report {
        let mut audit = Audit::at(&TWITTER, &AuditOptions::default(), 1_790_000_000_000);
        audit.extend(ids);
        audit.finish()
    }

    #[test]
    fn a_report_has_text_json_and_a_picture() {
        let report = audited([ID, ID]);
        let text = text(&report, false);
        assert!(text.starts_with("2 IDs of twitter, 1 node, ascending: sorted IDs show"), "{text}");
        let rows = "\nnode                IDs   repeated        IDs/s  from                      to\n\
                    378                   2          1       2000.0  2022-06-28T16:07:40.105Z  2022-06-28T16:07:40.105Z\n\n\
                    duplicates    1 ID occurs more than once, ";
        assert!(text.contains(rows) && text.contains("\n              prevented by leased nodes"), "{text}");
        let json = serde_json::to_value(ReportJson::from(&report)).expect("JSON");
        assert_eq!((&json["ids"], &json["nodes"][0]["node"]), (&2.into(), &378.into()));
        assert_eq!(
            (&json["findings"][0]["kind"], &json["findings"][0]["id"]),
            (&"duplicates".into(), &ID.to_string().into())
        );
        assert_eq!(json["findings"][0]["message"], report.findings[0].to_string());
        let svg = svg(&report);
        assert!(svg.contains("prefers-color-scheme:dark") && svg.contains(">duplicates</tspan>"), "{svg}");
        assert!(svg.contains(">node 378</text>") && svg.contains(">2 IDs</text>"), "{svg}");
    }

    #[test]
    fn many_nodes_are_cut_short_in_text_after_those_with_repeated_ids() {
        let report = audited((0..25).map(|node| ID + (node << 12)).chain([ID + (24 << 12)]));
        assert!(text(&report, false).contains("to\n402                   2          1 "), "{}", text(&report, false));
        assert!(text(&report, false).contains("\nand 5 more nodes, which --json lists\n"));
        assert_eq!(report.counts.len(), 24, "the picture");
        assert!(svg(&report).contains("1 more nodes are not shown"));
    }

    #[test]
    fn no_id_is_no_finding() {
        let report = audited([]);
        assert!(text(&report, true).ends_with("\n\nno finding\n"));
        assert!(svg(&report).contains("no finding"));
    }
}
