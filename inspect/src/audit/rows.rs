//! How many IDs each node has over time, for the picture.

use alloc::vec;
use alloc::vec::Vec;

use super::finding::Finding;
use super::report::NodeSpan;
use super::terms::{Sight, Terms};

/// The number of stretches of time of the picture.
const STRETCHES: usize = 192;
/// The number of nodes of the picture.
const MAX_ROWS: usize = 24;

/// Counts the IDs of nodes in each stretch of time: of the nodes with findings, then of the nodes with the most IDs, up
/// to `MAX_ROWS`. Returns them sorted by node.
pub(super) fn counts(terms: &Terms, ids: &[u64], nodes: &[NodeSpan], findings: &[Finding]) -> Vec<(u32, Vec<u32>)> {
    let mut chosen = nodes.to_vec();
    let is_fine = |span: &NodeSpan| findings.iter().all(|finding| finding.node != Some(span.node));
    chosen.sort_by_cached_key(|span| (is_fine(span), u64::MAX - span.ids));
    chosen.truncate(MAX_ROWS);
    chosen.sort_unstable_by_key(|span| span.node);
    let from_ms = chosen.iter().map(|span| span.from_ms).min().unwrap_or_default();
    let to_ms = chosen.iter().map(|span| span.to_ms).max().unwrap_or_default();
    let mut rows: Vec<_> = chosen.into_iter().map(|span| (span.node, vec![0u32; STRETCHES])).collect();
    let width = (to_ms.abs_diff(from_ms) + 1).div_ceil(STRETCHES as u64);
    for id in ids {
        let Sight::Inside(spot) = terms.sight(*id) else { continue };
        let Ok(at) = rows.binary_search_by_key(&spot.node, |(node, _)| *node) else { continue };
        let stretch = terms.tick_start_ms(spot.tick).abs_diff(from_ms) / width;
        if let Some(count) = usize::try_from(stretch).ok().and_then(|stretch| rows[at].1.get_mut(stretch)) {
            *count = count.saturating_add(1);
        }
    }
    rows
}
