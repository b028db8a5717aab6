//! A picture of an audit: nodes over time, with the findings marked.

use core::fmt::{self, Write};

use super::finding::{Finding, Kind};
use crate::render::grouped;
use snowmint_core::time::Rfc3339;

/// The width of the picture, and of the room for names at its left and right.
const WIDTH: u64 = 960;
const LEFT: u64 = 90;
const RIGHT: u64 = 100;
const ROW: u64 = 26;
const TOP: u64 = 44;
/// The findings that are listed below the rows.
const LISTED: usize = 16;
const STYLE: &str = "text{font:12px system-ui,-apple-system,\"Segoe UI\",sans-serif;fill:#57606a}.n{font-weight:600;\
    fill:#24292f}.l{stroke:#8c959f;stroke-opacity:.5}.b{fill:#0a7ea4}.m{fill:#cf222e}.z{fill:#cf222e;fill-opacity:.16}\
    @media(prefers-color-scheme:dark){text{fill:#9ba4ae}.n{fill:#e6edf3}.b{fill:#4cc3e8}.m{fill:#ff7b72}\
    .z{fill:#ff7b72;fill-opacity:.22}}";

/// A node of the picture: how many IDs it has in each of equal stretches of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    /// The node.
    pub(super) node: u32,
    /// The number of its IDs.
    pub(super) ids: u64,
    /// The IDs of each stretch of time.
    pub(super) counts: &'a [u32],
}

/// A picture of an audit as SVG, which reads on a light and on a dark page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plot<'a> {
    /// The rows.
    pub(super) rows: &'a [Row<'a>],
    /// The number of nodes without a row.
    pub(super) hidden: u64,
    /// The findings.
    pub(super) findings: &'a [Finding],
    /// The time at the left end, Unix ms.
    pub(super) from_ms: i64,
    /// The time at the right end, Unix ms.
    pub(super) to_ms: i64,
}

impl Plot<'_> {
    /// Writes the picture.
    ///
    /// # Errors
    /// The errors of `out`.
    pub(super) fn write(&self, out: &mut impl Write) -> fmt::Result {
        let listed = self.findings.len().min(LISTED) as u64;
        let bottom = TOP + self.rows.len() as u64 * ROW;
        let height = bottom + 52 + listed.max(1) * 20 + 12;
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" role=\"img\">\n<title>Nodes over time, with the findings of an audit</title>\n\
             <style>{STYLE}</style>"
        )?;
        writeln!(
            out,
            "<text x=\"8\" y=\"20\">A bar shows the IDs of a node over time, the more the stronger its colour. Red marks a finding.</text>"
        )?;
        for (place, row) in (0..).zip(self.rows) {
            self.write_row(out, row, TOP + place * ROW)?;
        }
        self.write_axis(out, bottom)?;
        if self.findings.is_empty() {
            writeln!(out, "<text class=\"n\" x=\"8\" y=\"{}\">no finding</text>", bottom + 58)?;
        }
        for (place, finding) in (0..).zip(self.findings.iter().take(LISTED)) {
            Self::write_listed(out, finding, bottom + 58 + place * 20)?;
        }
        out.write_str("</svg>\n")
    }

    fn write_row(&self, out: &mut impl Write, row: &Row<'_>, y: u64) -> fmt::Result {
        writeln!(out, "<text class=\"n\" x=\"8\" y=\"{}\">node {}</text>", y + 13, row.node)?;
        writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{} IDs</text>",
            WIDTH - 8,
            y + 13,
            grouped(row.ids)
        )?;
        let most = row.counts.iter().copied().max().unwrap_or(0).max(1);
        // Four shades, so that neighbours are often one rectangle.
        let shade = |count: u32| if count == 0 { 0 } else { u64::from(count - 1) * 4 / u64::from(most) + 1 };
        let (mut at, total) = (0, row.counts.len() as u64);
        let x = |place: u64| LEFT * 10 + place * (WIDTH - LEFT - RIGHT) * 10 / total.max(1);
        for run in row.counts.chunk_by(|a, b| shade(*a) == shade(*b)) {
            let (from, to) = (x(at), x(at + run.len() as u64));
            at += run.len() as u64;
            let shade = shade(run[0]);
            if shade > 0 {
                writeln!(
                    out,
                    "<rect class=\"b\" x=\"{}\" y=\"{y}\" width=\"{}\" height=\"18\" fill-opacity=\".{}\"/>",
                    Tenths(from),
                    Tenths(to - from),
                    shade * 20 + 15
                )?;
            }
        }
        for finding in self.findings.iter().filter(|finding| finding.node == Some(row.node)) {
            self.write_mark(out, finding, y)?;
        }
        Ok(())
    }

    /// Marks a finding: its time in pale red, and a triangle at its begin that tells the sentence.
    fn write_mark(&self, out: &mut impl Write, finding: &Finding, y: u64) -> fmt::Result {
        let from = self.x(finding.from_ms.unwrap_or(self.from_ms));
        let to = self.x(finding.to_ms.unwrap_or(self.to_ms)).max(from + 10);
        if finding.kind != Kind::ClockBack {
            writeln!(
                out,
                "<rect class=\"z\" x=\"{}\" y=\"{y}\" width=\"{}\" height=\"18\"/>",
                Tenths(from),
                Tenths(to - from)
            )?;
        }
        write!(out, "<path class=\"m\" d=\"M{} {}l5 -8h-10z\"><title>", Tenths(from), y + 4)?;
        write!(Text(out), "{}: {finding}", finding.kind.name())?;
        out.write_str("</title></path>\n")
    }

    fn write_axis(&self, out: &mut impl Write, bottom: u64) -> fmt::Result {
        let right = WIDTH - RIGHT;
        writeln!(out, "<path class=\"l\" fill=\"none\" d=\"M{LEFT} {}H{right}\"/>", bottom + 4)?;
        let (from, to) = (Rfc3339(self.from_ms), Rfc3339(self.to_ms));
        writeln!(out, "<text x=\"{LEFT}\" y=\"{}\">{from}</text>", bottom + 22)?;
        writeln!(out, "<text x=\"{right}\" y=\"{}\" text-anchor=\"end\">{to}</text>", bottom + 22)?;
        if self.hidden > 0 {
            let more = grouped(self.hidden);
            let middle = LEFT.midpoint(right);
            writeln!(
                out,
                "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{more} more nodes are not shown</text>",
                bottom + 22
            )?;
        }
        Ok(())
    }

    fn write_listed(out: &mut impl Write, finding: &Finding, y: u64) -> fmt::Result {
        writeln!(out, "<path class=\"m\" d=\"M13 {}l5 -8h-10z\"/>", y - 1)?;
        write!(out, "<text x=\"24\" y=\"{y}\"><title>")?;
        write!(Text(out), "{finding}")?;
        write!(out, "</title><tspan class=\"n\">{}</tspan>", finding.kind.name())?;
        if let Some(node) = finding.node {
            write!(out, ", node {node}")?;
        }
        write!(out, ": {} ID{}", grouped(finding.ids), if finding.ids == 1 { "" } else { "s" })?;
        if finding.repeated > 0 {
            write!(out, ", {} repeated", grouped(finding.repeated))?;
        }
        if let Some(from_ms) = finding.from_ms {
            write!(out, ", from {}", Rfc3339(from_ms))?;
        }
        writeln!(out, ", line {}</text>", finding.line)
    }

    /// Returns the place of an instant, in tenths of a unit.
    fn x(&self, unix_ms: i64) -> u64 {
        let span = self.to_ms.abs_diff(self.from_ms).max(1);
        let passed = if unix_ms > self.from_ms { unix_ms.abs_diff(self.from_ms).min(span) } else { 0 };
        // At most the room, so it fits.
        LEFT * 10 + (u128::from(passed) * u128::from((WIDTH - LEFT - RIGHT) * 10) / u128::from(span)) as u64
    }
}

/// A number of tenths as a decimal.
struct Tenths(u64);

impl fmt::Display for Tenths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0 / 10, self.0 % 10)
    }
}

/// Passes text on as the content of an element.
struct Text<'a, W>(&'a mut W);

impl<W: Write> Write for Text<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|letter| match letter {
            '<' => self.0.write_str("&lt;"),
            '&' => self.0.write_str("&amp;"),
            _ => self.0.write_char(letter),
        })
    }
}
