//! The choice of a node among the records of a namespace.

use super::{Record, Terms, bits_of};
use crate::mutant;
use crate::store::Version;
use crate::window::Window;

/// How well a node suits: the least rank is the best. Among equal nodes the search takes the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// This claimer held it before.
    Mine,
    /// It has no record, or its holder released it.
    Free,
    /// Its window ended then, Unix ms. In a search after a conflict the time is 0.
    Ended(i64),
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    rank: Rank,
    node: u32,
    record: Option<Record>,
    version: Version,
}

/// Looks through all nodes once, ascending, and picks one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice<'a> {
    terms: Terms<'a>,
    /// The earliest start of nodes without a record, Unix ms.
    floor_ms: Option<i64>,
    /// The node where the search begins. After the last node it continues with node 0.
    from: u64,
    /// Whether another claimer was faster in this claim.
    is_crowded: bool,
    /// Nodes below this one were seen.
    next: u64,
    /// A node without a record: the node held before, or else the first such node of the search.
    fresh: Option<u32>,
    best: Option<Candidate>,
    /// When the first busy node is free, Unix ms.
    nearest_ms: Option<i64>,
    /// The record of a node that is busy, if the terms name that node.
    holder: Option<Record>,
}

/// The outcome of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "there is no allocator to box it")]
pub(super) enum Chosen {
    /// Write this record of this node over the version (0: the node has no record).
    Write(u32, Record, Version),
    /// All nodes are busy. The first is free in this many ms.
    Wait(u64),
    /// All nodes are excluded, or used up to the end of the layout.
    Nothing,
}

impl<'a> Choice<'a> {
    /// Begins a choice. `conflicts` counts the writes of the claim that lost against another claimer's.
    ///
    /// Claimers that come at the same time see the same records, and so choose the same node, which one of them gets. The others
    /// then begin to search at a place that the nonce and the number of conflicts give, so that they spread over all nodes.
    pub(super) const fn new(terms: Terms<'a>, floor_ms: Option<i64>, conflicts: u32) -> Self {
        let place = if conflicts == 0 { 0 } else { bits_of(terms.nonce, conflicts as u64) };
        let from = terms.nodes.at(place % terms.nodes.count(terms.layout)) as u64;
        let is_crowded = conflicts > 0;
        Self { terms, floor_ms, from, is_crowded, next: 0, fresh: None, best: None, nearest_ms: None, holder: None }
    }

    /// How many nodes the search passes before it comes to this one.
    const fn distance(&self, node: u64) -> u64 {
        if node >= self.from { node - self.from } else { node + (self.terms.layout.nodes() - self.from) }
    }

    /// The record of the busy node that the terms name.
    pub(super) const fn holder(&self) -> Option<&Record> {
        self.holder.as_ref()
    }

    /// Leaves a node out, whether it has a record or not.
    pub(super) fn skip(&mut self, node: u32) {
        self.pass(node.into());
        self.next = u64::from(node) + 1;
    }

    /// Takes a node's record at the time `now_ms` (Unix ms).
    pub(super) fn see(&mut self, node: u32, record: &Record, version: Version, now_ms: i64) {
        self.skip(node);
        if u64::from(node) >= self.terms.layout.nodes() || !self.terms.nodes.contains(node) {
            return;
        }
        if !self.can_begin(Some(record.window.end_ms), now_ms) {
            self.holder = self.terms.nodes.single().map(|_| *record);
            return;
        }
        let rank = if self.terms.last_node == Some(node) {
            Rank::Mine
        } else if record.released {
            Rank::Free
        } else {
            Rank::Ended(if self.is_crowded { 0 } else { record.window.end_ms })
        };
        if self.best.is_none_or(|best| self.is_before((rank, node), (best.rank, best.node))) {
            self.best = Some(Candidate { rank, node, record: Some(*record), version });
        }
    }

    fn is_before(&self, (rank, node): (Rank, u32), (best, other): (Rank, u32)) -> bool {
        (rank, self.distance(node.into())) < (best, self.distance(other.into()))
    }

    /// Returns whether a node whose last window ended at `previous_end_ms` is free at `now_ms`. Notes when, if later.
    fn can_begin(&mut self, previous_end_ms: Option<i64>, now_ms: i64) -> bool {
        let Terms { layout, max_ahead_ms, .. } = self.terms;
        let window = Window::first(layout, previous_end_ms, now_ms, self.terms.reach_ms());
        let Some(mints_from_ms) = layout.mints_from_ms(window.start_ms) else { return false };
        let is_near = mints_from_ms <= now_ms.saturating_add_unsigned(max_ahead_ms);
        if !is_near {
            self.nearest_ms = Some(self.nearest_ms.map_or(mints_from_ms, |nearest| nearest.min(mints_from_ms)));
        }
        is_near
    }

    /// Notes that the nodes from `next` to before `end` have no record.
    fn pass(&mut self, end: u64) {
        let (first, nodes) = (self.next, self.terms.layout.nodes());
        let last = if end < nodes { end } else { nodes };
        if first >= last {
            return;
        }
        let nodes = self.terms.nodes;
        let preferred = self.terms.last_node.filter(|node| nodes.contains(*node));
        if preferred.is_some_and(|node| (first..last).contains(&node.into())) {
            self.fresh = preferred;
        }
        if preferred.is_some() && self.fresh == preferred {
            return;
        }
        let next = |from| nodes.next(from).filter(|node| u64::from(*node) < last);
        let nearest =
            if (first..last).contains(&self.from) { next(self.from).or_else(|| next(first)) } else { next(first) };
        if let Some(nearest) = nearest
            && self.fresh.is_none_or(|node| self.distance(nearest.into()) < self.distance(node.into()))
        {
            self.fresh = Some(nearest);
        }
    }

    /// Returns the best node once all records were seen. The same records give the same node.
    pub(super) fn choose(&mut self, now_ms: i64) -> Chosen {
        self.pass(self.terms.layout.nodes());
        self.next = self.terms.layout.nodes();
        let floor_ms = self.floor_ms.filter(|_| !mutant::removes("floor"));
        let fresh = self.fresh.filter(|_| self.can_begin(floor_ms, now_ms)).map(|node| {
            let rank = if self.terms.last_node == Some(node) { Rank::Mine } else { Rank::Free };
            Candidate { rank, node, record: None, version: 0 }
        });
        let best = match (self.best, fresh) {
            (Some(best), Some(fresh)) => {
                // Otherwise a released node is used again before a new one.
                let is_near = self.is_crowded && self.is_before((fresh.rank, fresh.node), (best.rank, best.node));
                Some(if is_near || fresh.rank < best.rank { fresh } else { best })
            }
            (best, fresh) => best.or(fresh),
        };
        let Some(Candidate { node, record, version, .. }) = best else {
            let reached_ms = now_ms.saturating_add_unsigned(self.terms.max_ahead_ms);
            return match self.nearest_ms {
                Some(nearest_ms) => Chosen::Wait(nearest_ms.abs_diff(reached_ms).max(1)),
                None => Chosen::Nothing,
            };
        };
        let previous_end_ms = record.map_or(floor_ms, |record| Some(record.window.end_ms));
        let record = Record {
            released: false,
            serial: record.map_or(0, |record| record.serial).saturating_add(1),
            window: Window::first(self.terms.layout, previous_end_ms, now_ms, self.terms.reach_ms()),
            nonce: self.terms.nonce,
            label: self.terms.label,
            layout: self.terms.layout.layout_id().identity(),
        };
        Chosen::Write(node, record, version)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::*;
    use crate::layout::{Layout, Nodes};
    use crate::store::bytes::label;

    const NOW_MS: i64 = 1_772_323_200_123;

    fn record(end_ms: i64, released: bool) -> Record {
        let window = Window { start_ms: 0, end_ms };
        Record { released, serial: 1, window, nonce: 5, label: label("a holder"), layout: 0 }
    }

    fn terms(layout: &Layout, nonce: u128) -> Terms<'_> {
        Terms {
            layout,
            nodes: Nodes::ALL,
            max_ahead_ms: 0,
            window_ms: 1000,
            last_node: None,
            system_clock: false,
            nonce,
            label: label("a claimer"),
        }
    }

    /// The choice among eight nodes, of which the first four have records.
    fn chosen(node: Option<u32>, last_node: Option<u32>, excluded: &[u32]) -> Chosen {
        chosen_of(node.map_or(Nodes::ALL, Nodes::one), last_node, excluded)
    }

    fn chosen_of(nodes: Nodes, last_node: Option<u32>, excluded: &[u32]) -> Chosen {
        let layout = Layout::parse("time:41,node:3,sequence:3;epoch=1735689600000").expect("valid");
        let records = [
            record(NOW_MS - 10, false),
            record(NOW_MS - 30, false),
            record(NOW_MS - 20, true),
            record(NOW_MS + 9, true),
        ];
        let terms = Terms { nodes, last_node, ..terms(&layout, 9) };
        let mut choice = Choice::new(terms, None, 0);
        for node in 0..8 {
            match records.get(node as usize) {
                _ if excluded.contains(&node) => choice.skip(node),
                Some(record) => choice.see(node, record, 1, NOW_MS),
                None => {}
            }
        }
        let chosen = choice.choose(NOW_MS);
        assert_eq!(choice.holder().is_some(), matches!(chosen, Chosen::Wait(_)) && nodes.single().is_some());
        chosen
    }

    fn written(chosen: Chosen) -> u32 {
        let Chosen::Write(node, record, _) = chosen else { panic!("{chosen:?}") };
        assert!(record.window.start_ms <= NOW_MS && record.window.end_ms == NOW_MS + 1000);
        node
    }

    #[test]
    fn the_last_node_comes_first_then_a_free_one_then_the_longest_ended() {
        assert_eq!(written(chosen(None, Some(0), &[])), 0, "held before");
        assert_eq!(written(chosen(None, None, &[])), 2, "released");
        assert_eq!(written(chosen(None, None, &[2])), 4, "never used");
        assert_eq!(written(chosen(None, None, &[2, 4, 5, 6, 7])), 1, "ended longest ago");
        assert_eq!(written(chosen(None, Some(6), &[])), 6, "held before, and its record is gone");
        assert_eq!(chosen(None, None, &[0, 1, 2, 4, 5, 6, 7]), Chosen::Wait(9));
        assert_eq!(chosen(None, None, &[0, 1, 2, 3, 4, 5, 6, 7]), Chosen::Nothing);
    }

    #[test]
    fn claimers_spread_over_all_nodes_after_a_conflict() {
        let layout = Layout::parse("time:41,node:3,sequence:3;epoch=1735689600000").expect("valid");
        let records = [(1, record(NOW_MS - 10, false)), (4, record(NOW_MS, true)), (5, record(NOW_MS + 9000, false))];
        let chosen = |nonce: u128, conflicts, records: &[(u32, Record)]| {
            let mut choice = Choice::new(terms(&layout, nonce), None, conflicts);
            for (node, record) in records {
                choice.see(*node, record, 1, NOW_MS);
            }
            written(choice.choose(NOW_MS))
        };
        for node in 0..8 {
            assert_eq!(chosen(node.into(), 0, &[]), 0, "the first choice is that of all");
            let nonce = u128::from(node).rotate_left(29);
            assert_eq!(chosen(nonce, 1, &[]), node);
            // Node 5 is held. Node 1 comes after nodes that are free for longer.
            let nearest = [0, 2, 2, 3, 4, 6, 6, 7][node as usize];
            assert_eq!(chosen(nonce, 1, &records), nearest, "from {node}");
        }
        let ended: Vec<_> = (0..8).map(|node| (node, record(NOW_MS - i64::from(node), false))).collect();
        assert_eq!((chosen(3, 0, &ended), chosen(3 << 29, 1, &ended)), (7, 3), "however long ago they ended");
    }

    #[test]
    fn a_claim_of_a_part_gets_a_node_of_that_part() {
        let layout = Layout::parse("time:41,region:1,worker:2,sequence:3;epoch=1735689600000").expect("valid");
        let (low, high) =
            (layout.parse_nodes("region=0").expect("valid"), layout.parse_nodes("region=1").expect("valid"));
        let second = layout.parse_nodes("worker=1").expect("valid");
        assert_eq!(written(chosen_of(low, None, &[])), 2, "released");
        assert_eq!(written(chosen_of(low, None, &[2])), 1, "ended longest ago");
        assert_eq!(chosen_of(low, None, &[0, 1, 2]), Chosen::Wait(9), "the others are free");
        assert_eq!(written(chosen_of(high, None, &[])), 4, "never used");
        assert_eq!(written(chosen_of(high, Some(6), &[])), 6, "held before");
        assert_eq!(written(chosen_of(high, Some(0), &[4])), 5, "another part was held before");
        assert_eq!(written(chosen_of(second, None, &[])), 5, "never used, before one that ended");
        assert_eq!(chosen_of(second, None, &[1, 5]), Chosen::Nothing);
        let crowded = |nonce: u128| {
            let mut choice = Choice::new(Terms { nodes: second, ..terms(&layout, nonce << 29) }, None, 1);
            written(choice.choose(NOW_MS))
        };
        let taken: Vec<_> = (0..64).map(crowded).collect();
        assert!(taken.contains(&1) && taken.contains(&5) && taken.iter().all(|node| second.contains(*node)));
    }

    #[test]
    fn a_claim_of_one_node_gets_that_node_or_none() {
        assert_eq!(written(chosen(Some(0), None, &[])), 0, "ended");
        assert_eq!(written(chosen(Some(7), None, &[])), 7, "never used");
        assert_eq!(written(chosen(Some(5), Some(6), &[])), 5, "never used, and another was held before");
        assert_eq!(chosen(Some(3), None, &[]), Chosen::Wait(9), "busy");
        assert_eq!(chosen(Some(4), None, &[4]), Chosen::Nothing, "excluded");
    }
}
