//! Findings about single nodes, and which repeated IDs they explain.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::Analysis;
use super::events::{Events, MAX_CLOCK_STEPS};
use crate::audit::finding::{Finding, Kind};
use crate::audit::repeats::{Repeat, Stretch, stretches};
use crate::audit::terms::Order;
use crate::audit::trail::{Excursion, Trail};

/// The causes of repeated IDs.
#[derive(Default)]
pub(super) struct Causes {
    nodes: BTreeMap<u32, Cause>,
    /// The stretch with repeated IDs of each node.
    stretches: BTreeMap<u32, Stretch>,
    /// How many IDs repeat for a reason that concerns no node.
    pub(super) explained: u64,
}

/// How many IDs of a node repeat for which reason.
#[derive(Clone, Copy, Default)]
pub(super) struct Cause {
    /// The finding about ticks inside which the sequence wrapped, and the last of them.
    wrapped: Option<Finding>,
    last_wrapped: Option<u64>,
    far: u64,
    near: u64,
    unknown: u64,
}

impl Analysis {
    /// Returns why IDs repeat, where that is known already.
    pub(super) fn causes(&self, repeats: &[Repeat], mut truncated: Option<&mut Finding>) -> Causes {
        let (mut causes, no_events) = (Causes::default(), Events::default());
        for repeat in repeats {
            if let Some(finding) = truncated.as_deref_mut()
                && self.rounding.has(repeat.id)
            {
                finding.repeated += 1;
                causes.explained += 1;
                if !finding.either {
                    continue;
                }
            }
            let Some(spot) = self.spot(repeat.id) else { continue };
            let cause = causes.nodes.entry(spot.node).or_default();
            let events = self.events.get(&spot.node).unwrap_or(&no_events);
            let near = || events.near.len() <= MAX_CLOCK_STEPS && events.near.iter().any(|back| back.has(spot.tick));
            if let Some(place) = events.wrap(spot.tick) {
                let finding = cause.wrapped.get_or_insert_with(|| self.of_node(Kind::Wrapped, spot.node, place));
                // The repeated IDs are ascending, so the IDs of one tick follow each other.
                if cause.last_wrapped != Some(spot.tick) {
                    finding.times += 1;
                    self.reach(finding, spot.tick);
                }
                cause.last_wrapped = Some(spot.tick);
                finding.ids += 1;
                finding.repeated += 1;
            } else if events.passed_twice(spot.tick) {
                cause.far += 1;
            } else if near() {
                cause.near += 1;
            } else {
                cause.unknown += 1;
            }
        }
        let nodes = |node: u32| causes.nodes.contains_key(&node);
        if !causes.nodes.is_empty() && self.order != Order::Unordered {
            causes.stretches = stretches(&self.terms, &self.ids, repeats, nodes);
        }
        causes
    }

    /// Adds the findings about single nodes, and returns how many repeated IDs they explain.
    pub(super) fn of_nodes(&self, causes: &Causes, found: &mut Vec<Finding>) -> u64 {
        let mut explained = 0;
        let no_events = Events::default();
        for (node, trail) in &self.trails.list {
            let events = self.events.get(node).unwrap_or(&no_events);
            let cause = causes.nodes.get(node).copied().unwrap_or_default();
            if let Some(finding) = cause.wrapped {
                explained += finding.repeated;
                found.push(finding);
            }
            let mut cause_of = |finding: &mut Finding, repeated| {
                finding.repeated = repeated;
                // The other finding explains the same IDs.
                explained += if self.rounding.is_either() { 0 } else { repeated };
            };
            if let Some(mut finding) = self.second_process(*node, trail, events, causes.stretches.get(node), cause) {
                cause_of(&mut finding, cause.far + cause.near + cause.unknown);
                found.push(finding);
                continue;
            }
            let near = if cause.near > 0 { events.near.as_slice() } else { &[] };
            if let Some(mut finding) = self.clock_back(*node, &events.far, near) {
                cause_of(&mut finding, cause.far + cause.near);
                found.push(finding);
            }
        }
        explained
    }

    /// Returns the finding of a node that two processes seem to share.
    fn second_process(
        &self,
        node: u32,
        trail: &Trail,
        events: &Events,
        stretch: Option<&Stretch>,
        cause: Cause,
    ) -> Option<Finding> {
        if self.order == Order::Unordered || self.rounding.is_general() {
            return None;
        }
        let second_log = events.far.iter().find(|back| back.is_second_log()).map(|back| back.place);
        let (alternates, repeats) = (trail.alternates_from().or(second_log), trail.repeats_from());
        // A single ID that repeats can be a line that was written twice.
        let by_ids = stretch.filter(|_| cause.unknown > 1 || alternates.is_some() || repeats.is_some());
        let from = [by_ids.map(|stretch| stretch.place), alternates, repeats].into_iter().flatten().min()?;
        let fresh = by_ids.is_some() && trail.never_counts();
        let is_forked = repeats.is_some()
            || by_ids.filter(|_| !fresh).is_some_and(|stretch| {
                trail.is_forked(stretch.place, stretch.history, stretch.sequence, stretch.ids, stretch.repeated)
            });
        let kind = if is_forked { Kind::Forked } else { Kind::SharedNode };
        let mut finding = self.of_node(kind, node, from);
        if let Some(spot) = self.spot(finding.id) {
            self.reach(&mut finding, spot.tick);
        }
        self.reach(&mut finding, trail.ticks().1);
        finding.ids = trail.count();
        finding.times = 1;
        finding.order = self.order;
        (finding.fresh, finding.either) = (fresh, fresh && self.rounding.is_either());
        finding.before = by_ids.filter(|stretch| stretch.place == from).map_or(0, |stretch| stretch.history);
        Some(finding)
    }

    fn clock_back(&self, node: u32, far: &[Excursion], near: &[Excursion]) -> Option<Finding> {
        let all = || far.iter().chain(near);
        let first = all().map(|back| back.place).min()?;
        let mut finding = self.of_node(Kind::ClockBack, node, first);
        for back in all() {
            finding.times += 1;
            finding.ids += back.ids;
            let by_ms = (back.high - back.low).saturating_mul(self.terms.layout().tick_ms());
            finding.by_ms = finding.by_ms.max(by_ms);
            self.reach(&mut finding, back.high);
        }
        Some(finding)
    }
}
