//! How many IDs each node has over time, for the picture.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use super::finding::Finding;
use super::plot::{Plot, Row};
use super::summary::NodeSpan;
use super::terms::{Sight, Terms};

/// The stretches of time of the picture.
const STRETCHES: usize = 192;
/// The nodes of the picture.
const MOST: usize = 24;

/// The rows of the picture.
#[derive(Debug)]
pub(super) struct Rows {
    from_ms: i64,
    to_ms: i64,
    nodes: Vec<(NodeSpan, Vec<u32>)>,
    hidden: u64,
}

impl Rows {
    /// Counts the IDs of the nodes with findings, then of those with the most IDs.
    pub(super) fn new(terms: &Terms, ids: &[u64], nodes: &[NodeSpan], findings: &[Finding]) -> Self {
        let mut chosen = nodes.to_vec();
        let is_fine = |span: &NodeSpan| findings.iter().all(|finding| finding.node != Some(span.node));
        chosen.sort_by_cached_key(|span| (is_fine(span), u64::MAX - span.ids));
        chosen.truncate(MOST);
        chosen.sort_unstable_by_key(|span| span.node);
        let from_ms = chosen.iter().map(|span| span.from_ms).min().unwrap_or_default();
        let to_ms = chosen.iter().map(|span| span.to_ms).max().unwrap_or_default();
        let mut rows: Vec<_> = chosen.into_iter().map(|span| (span, vec![0u32; STRETCHES])).collect();
        let width = (to_ms.abs_diff(from_ms) + 1).div_ceil(STRETCHES as u64);
        for id in ids {
            let Sight::Inside(spot) = terms.sight(*id) else { continue };
            let Ok(at) = rows.binary_search_by_key(&spot.node, |(span, _)| span.node) else { continue };
            let stretch = terms.tick_start_ms(spot.tick).abs_diff(from_ms) / width;
            if let Some(count) = usize::try_from(stretch).ok().and_then(|stretch| rows[at].1.get_mut(stretch)) {
                *count = count.saturating_add(1);
            }
        }
        Self { from_ms, to_ms, hidden: (nodes.len() - rows.len()) as u64, nodes: rows }
    }

    /// Makes the rows of the nodes with these counts.
    pub(super) fn restored(nodes: &[NodeSpan], counts: impl IntoIterator<Item = (u32, Vec<u32>)>) -> Self {
        let span = |node| nodes.iter().find(|span| span.node == node).copied();
        let rows = counts.into_iter().filter_map(|(node, counts)| Some((span(node)?, counts)));
        let rows: Vec<_> = rows.collect();
        let from_ms = rows.iter().map(|(span, _)| span.from_ms).min().unwrap_or_default();
        let to_ms = rows.iter().map(|(span, _)| span.to_ms).max().unwrap_or_default();
        Self { from_ms, to_ms, hidden: (nodes.len() - rows.len()) as u64, nodes: rows }
    }

    /// Returns each node with its counts.
    pub(super) fn counts(&self) -> impl Iterator<Item = (u32, &[u32])> {
        self.nodes.iter().map(|(span, counts)| (span.node, &counts[..]))
    }

    /// Writes the picture.
    pub(super) fn write(&self, findings: &[Finding], out: &mut impl fmt::Write) -> fmt::Result {
        let rows = self.nodes.iter().map(|(span, counts)| Row { node: span.node, ids: span.ids, counts });
        let rows: Vec<_> = rows.collect();
        let &Self { from_ms, to_ms, hidden, .. } = self;
        // Stretches are whole ms, so the last one ends after the last ID.
        let width = (to_ms.abs_diff(from_ms) + 1).div_ceil(STRETCHES as u64);
        let to_ms = from_ms.saturating_add_unsigned(width * STRETCHES as u64);
        Plot { rows: &rows, hidden, findings, from_ms, to_ms }.write(out)
    }
}
