//! The report of an audit, as text and as JSON.

use core::fmt::{self, Write};

use super::finding::Finding;
use super::terms::Order;
use crate::render::{Format, grouped};
use snowmint_core::Layout;
use snowmint_core::time::Rfc3339;

/// So many nodes, and findings of one kind, stand in the text. JSON has all of them.
const SHOWN: usize = 20;

/// What an audit saw of one node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeSpan {
    /// The node: all node fields, concatenated high to low.
    pub node: u32,
    /// The number of its IDs.
    pub ids: u64,
    /// The time of its earliest ID, Unix ms.
    pub from_ms: i64,
    /// The time of its latest ID, Unix ms.
    pub to_ms: i64,
    /// IDs a second, from the earliest ID to the latest.
    pub ids_per_second: f64,
}

/// The report of an audit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Summary<'a> {
    /// The layout of the IDs.
    pub(super) layout: &'a Layout,
    /// The number of IDs.
    pub(super) ids: u64,
    /// The number of lines that are no ID.
    pub(super) unreadable: u64,
    /// The order of the IDs.
    pub(super) order: Order,
    /// The nodes, ascending.
    pub(super) nodes: &'a [NodeSpan],
    /// The findings, in the order of their kinds and nodes.
    pub(super) findings: &'a [Finding],
}

impl Summary<'_> {
    /// Writes the report as text, or as an object of JSON on one line.
    ///
    /// # Errors
    /// The errors of `out`.
    pub(super) fn write(&self, out: &mut impl Write, format: Format) -> fmt::Result {
        if format == Format::Json { self.write_json(out) } else { self.write_text(out, format) }
    }

    fn write_text(&self, out: &mut impl Write, format: Format) -> fmt::Result {
        write!(out, "{} ID{} of ", grouped(self.ids), s(self.ids))?;
        write_layout(out, self.layout)?;
        let nodes = self.nodes.len() as u64;
        write!(out, ", {} node{}, ", grouped(nodes), s(nodes))?;
        out.write_str(match self.order {
            Order::Written => "in the order in which they were written\n",
            Order::Ascending => "ascending: sorted IDs show no clock that stepped back\n",
            Order::Descending => "descending, read backwards: sorted IDs show no clock that stepped back\n",
            Order::Unordered => "in no order: clocks, forks and shared nodes show only by IDs that repeat\n",
        })?;
        if self.unreadable > 0 {
            writeln!(out, "{} line{} not an ID", grouped(self.unreadable), are(self.unreadable))?;
        }
        if !self.nodes.is_empty() {
            let head = format_args!("{:<8}  {:>13}  {:>11}  {:<24}  to", "node", "IDs", "IDs/s", "from");
            out.write_char('\n')?;
            format.headline(out, head)?;
        }
        for span in self.nodes.iter().take(SHOWN) {
            let NodeSpan { node, ids, from_ms, to_ms, .. } = *span;
            let tenths = rounded(span.ids_per_second * 10.0);
            writeln!(
                out,
                "{node:<8}  {:>13}  {:>9}.{}  {}  {}",
                grouped(ids),
                tenths / 10,
                tenths % 10,
                Rfc3339(from_ms),
                Rfc3339(to_ms)
            )?;
        }
        if self.nodes.len() > SHOWN {
            writeln!(out, "and {} more nodes, which --json lists", grouped((self.nodes.len() - SHOWN) as u64))?;
        }
        out.write_char('\n')?;
        if self.findings.is_empty() {
            return out.write_str("no finding\n");
        }
        for same in self.findings.chunk_by(|a, b| a.kind == b.kind) {
            same.iter().take(SHOWN).try_for_each(|finding| finding.write(out, format))?;
            if let Some(more) = same.len().checked_sub(SHOWN).filter(|more| *more > 0) {
                writeln!(out, "{:12}  and {} more nodes, which --json lists", "", grouped(more as u64))?;
            }
        }
        Ok(())
    }

    fn write_json(&self, out: &mut impl Write) -> fmt::Result {
        write!(out, "{{\"layout\": \"")?;
        write_layout(out, self.layout)?;
        write!(out, "\", \"ids\": {}, \"unreadable\": {}, ", self.ids, self.unreadable)?;
        write!(out, "\"order\": \"{}\", \"nodes\": [", self.order.name())?;
        for (place, span) in self.nodes.iter().enumerate() {
            let NodeSpan { node, ids, from_ms, to_ms, .. } = *span;
            let thousandths = rounded(span.ids_per_second * 1000.0);
            out.write_str(if place > 0 { ", " } else { "" })?;
            write!(out, "{{\"node\": {node}, \"ids\": {ids}, \"from_ms\": {from_ms}, \"to_ms\": {to_ms}, ")?;
            write!(out, "\"ids_per_second\": {}.{:03}}}", thousandths / 1000, thousandths % 1000)?;
        }
        out.write_str("], \"findings\": [")?;
        for (place, finding) in self.findings.iter().enumerate() {
            out.write_str(if place > 0 { ", " } else { "" })?;
            finding.write(out, Format::Json)?;
        }
        out.write_str("]}\n")
    }
}

/// Rounds a rate. The formatting of floats would be a tenth of the wasm module.
#[allow(clippy::cast_sign_loss, reason = "a rate is not negative")]
const fn rounded(rate: f64) -> u64 {
    (rate + 0.5) as u64
}

fn write_layout(out: &mut impl Write, layout: &Layout) -> fmt::Result {
    match layout.name() {
        Some(name) => out.write_str(name),
        None => write!(out, "{layout}"),
    }
}

const fn s(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

const fn are(count: u64) -> &'static str {
    if count == 1 { " is" } else { "s are" }
}
