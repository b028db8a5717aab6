//! A picture of an audit: nodes over time, with the findings marked.

use snowmint_core::time::Rfc3339;
use snowmint_inspect::audit::{Finding, Kind, NodeSpan, Report};

use super::grouped;

/// The width of the picture, and of the room for names at its left and right.
const WIDTH: u64 = 960;
const LEFT: u64 = 90;
const RIGHT: u64 = 100;
const ROW: u64 = 26;
const TOP: u64 = 44;
/// The findings that are listed below the rows.
const MAX_FINDINGS: usize = 16;
const STYLE: &str = "text{font:12px system-ui,-apple-system,\"Segoe UI\",sans-serif;fill:#57606a}.n{font-weight:600;\
    fill:#24292f}.l{stroke:#8c959f;stroke-opacity:.5}.b{fill:#0a7ea4}.m{fill:#cf222e}.z{fill:#cf222e;fill-opacity:.16}\
    @media(prefers-color-scheme:dark){text{fill:#9ba4ae}.n{fill:#e6edf3}.b{fill:#4cc3e8}.m{fill:#ff7b72}\
    .z{fill:#ff7b72;fill-opacity:.22}}";

/// Returns a picture of an audit as SVG, which reads on a light and on a dark page: nodes over time, with the findings marked.
///
/// # Examples
/// ```
/// use snowmint_inspect::audit::{Audit, AuditOptions};
/// let mut audit = Audit::at(&snowmint_core::layouts::TWITTER, &AuditOptions::default(), 1_790_000_000_000);
/// audit.add(1_541_815_603_606_036_480);
/// assert!(snowmint_cli::tables::svg(&audit.finish()).starts_with("<svg "));
/// ```
pub fn svg(report: &Report) -> String {
    let rows: Vec<_> = report
        .counts
        .iter()
        .filter_map(|(node, counts)| Some((report.nodes.iter().find(|span| span.node == *node)?, &counts[..])))
        .collect();
    let scale = Scale::of(&rows);
    let listed = &report.findings[..report.findings.len().min(MAX_FINDINGS)];
    let bottom = TOP + rows.len() as u64 * ROW;
    let height = bottom + 52 + listed.len().max(1) as u64 * 20 + 12;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" role=\"img\">\n<title>Nodes over time, with the findings of an audit</title>\n\
         <style>{STYLE}</style>\n<text x=\"8\" y=\"20\">A bar shows the IDs of a node over time, the more the stronger \
         its colour. Red marks a finding.</text>\n"
    );
    for (place, (span, counts)) in (0..).zip(&rows) {
        let y = TOP + place * ROW;
        svg += &row(span, counts, y);
        let of_node = report.findings.iter().filter(|finding| finding.node == Some(span.node));
        svg.extend(of_node.map(|finding| mark(finding, scale, y)));
    }
    svg += &axis(scale, report.nodes.len() - rows.len(), bottom);
    if listed.is_empty() {
        svg += &format!("<text class=\"n\" x=\"8\" y=\"{}\">no finding</text>\n", bottom + 58);
    }
    svg.extend((0..).zip(listed).map(|(place, finding)| line(finding, bottom + 58 + place * 20)));
    svg + "</svg>\n"
}

/// The times at the left and the right end, Unix ms.
#[derive(Clone, Copy)]
struct Scale {
    from_ms: i64,
    to_ms: i64,
}

impl Scale {
    fn of(rows: &[(&NodeSpan, &[u32])]) -> Self {
        let from_ms = rows.iter().map(|(span, _)| span.from_ms).min().unwrap_or_default();
        let to_ms = rows.iter().map(|(span, _)| span.to_ms).max().unwrap_or_default();
        // Stretches are whole ms, so the last one ends after the last ID.
        let stretches = rows.first().map_or(1, |(_, counts)| counts.len().max(1) as u64);
        let width = (to_ms.abs_diff(from_ms) + 1).div_ceil(stretches);
        Self { from_ms, to_ms: from_ms.saturating_add_unsigned(width * stretches) }
    }

    /// Returns the place of an instant, in tenths of a unit.
    fn x(self, unix_ms: i64) -> u64 {
        let span = self.to_ms.abs_diff(self.from_ms).max(1);
        let passed = if unix_ms > self.from_ms { unix_ms.abs_diff(self.from_ms).min(span) } else { 0 };
        let room = u128::from(passed) * u128::from((WIDTH - LEFT - RIGHT) * 10) / u128::from(span);
        LEFT * 10 + u64::try_from(room).unwrap_or_default()
    }
}

fn row(span: &NodeSpan, counts: &[u32], y: u64) -> String {
    let (node, ids, text_y, right) = (span.node, grouped(span.ids), y + 13, WIDTH - 8);
    let mut svg = format!(
        "<text class=\"n\" x=\"8\" y=\"{text_y}\">node {node}</text>\n\
         <text x=\"{right}\" y=\"{text_y}\" text-anchor=\"end\">{ids} IDs</text>\n"
    );
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    // Four shades, so that neighbours are often one rectangle.
    let shade = |count: u32| if count == 0 { 0 } else { u64::from(count - 1) * 4 / u64::from(most) + 1 };
    let (mut at, total) = (0, counts.len() as u64);
    let x = |place: u64| LEFT * 10 + place * (WIDTH - LEFT - RIGHT) * 10 / total.max(1);
    for run in counts.chunk_by(|a, b| shade(*a) == shade(*b)) {
        let (from, to) = (x(at), x(at + run.len() as u64));
        at += run.len() as u64;
        if let shade @ 1.. = shade(run[0]) {
            let opacity = shade * 20 + 15;
            svg += &bar("b", from, to, y, &format!(" fill-opacity=\".{opacity}\""));
        }
    }
    svg
}

fn bar(class: &str, from: u64, to: u64, y: u64, more: &str) -> String {
    let (x, width) = (tenths(from), tenths(to - from));
    format!("<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"18\"{more}/>\n")
}

/// Marks a finding: its time in pale red, and a triangle at its begin that says the message.
fn mark(finding: &Finding, scale: Scale, y: u64) -> String {
    let from = scale.x(finding.from_ms.unwrap_or(scale.from_ms));
    let to = scale.x(finding.to_ms.unwrap_or(scale.to_ms)).max(from + 10);
    let time = if finding.kind == Kind::ClockBack { String::new() } else { bar("z", from, to, y, "") };
    let (x, name, message) = (tenths(from), finding.kind.name(), escaped(finding));
    format!("{time}<path class=\"m\" d=\"M{x} {}l5 -8h-10z\"><title>{name}: {message}</title></path>\n", y + 4)
}

fn axis(scale: Scale, hidden: usize, bottom: u64) -> String {
    let (right, middle, y) = (WIDTH - RIGHT, LEFT.midpoint(WIDTH - RIGHT), bottom + 22);
    let (from, to) = (Rfc3339(scale.from_ms), Rfc3339(scale.to_ms));
    let mut svg = format!(
        "<path class=\"l\" fill=\"none\" d=\"M{LEFT} {}H{right}\"/>\n<text x=\"{LEFT}\" y=\"{y}\">{from}</text>\n\
         <text x=\"{right}\" y=\"{y}\" text-anchor=\"end\">{to}</text>\n",
        bottom + 4
    );
    if hidden > 0 {
        let more = grouped(hidden as u64);
        svg +=
            &format!("<text x=\"{middle}\" y=\"{y}\" text-anchor=\"middle\">{more} more nodes are not shown</text>\n");
    }
    svg
}

/// Returns a finding below the rows.
fn line(finding: &Finding, y: u64) -> String {
    let name = finding.kind.name();
    let node = finding.node.map(|node| format!(", node {node}")).unwrap_or_default();
    let ids = format!("{} ID{}", grouped(finding.ids), if finding.ids == 1 { "" } else { "s" });
    let repeated =
        if finding.repeated > 0 { format!(", {} repeated", grouped(finding.repeated)) } else { String::new() };
    let from = finding.from_ms.map(|from_ms| format!(", from {}", Rfc3339(from_ms))).unwrap_or_default();
    format!(
        "<path class=\"m\" d=\"M13 {}l5 -8h-10z\"/>\n<text x=\"24\" y=\"{y}\"><title>{}</title>\
         <tspan class=\"n\">{name}</tspan>{node}: {ids}{repeated}{from}, line {}</text>\n",
        y - 1,
        escaped(finding),
        finding.line
    )
}

/// Returns a number of tenths as a decimal.
fn tenths(number: u64) -> String {
    format!("{}.{}", number / 10, number % 10)
}

/// Returns a message as the content of an element.
fn escaped(finding: &Finding) -> String {
    finding.to_string().replace('&', "&amp;").replace('<', "&lt;")
}
