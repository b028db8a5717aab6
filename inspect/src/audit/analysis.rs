//! Turns IDs into findings: a pass in the order of the log, a sorted copy that shows duplicates, and a pass over the
//! duplicates.

mod events;
mod nodes;
mod order;
mod trails;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use self::events::Events;
use self::order::order;
use self::trails::Trails;
use super::finding::{Finding, Kind};
use super::lines::Lines;
use super::repeats::{Repeat, repeats};
use super::report::{NodeSpan, Report};
use super::rounding::Rounding;
use super::rows::counts;
use super::terms::{Order, Sight, Spot, Terms};
use super::trail::{Event, Trail};

/// The IDs, with a trail and the events of each node.
pub(super) struct Analysis {
    terms: Terms,
    lines: Lines,
    ids: Vec<u64>,
    order: Order,
    trails: Trails,
    /// What happened to a node; most have nothing.
    events: BTreeMap<u32, Events>,
    rounding: Rounding,
    eighths: [u64; 8],
    ran_over: Finding,
    outside: Finding,
    before_begin: Finding,
    future: Finding,
}

impl Analysis {
    pub(super) fn new(terms: &Terms, lines: Lines, ids: Vec<u64>, unordered: bool) -> Self {
        let order = if unordered { Order::Unordered } else { order(terms, &ids) };
        Self {
            trails: Trails::new(terms.layout().nodes()),
            terms: *terms,
            lines,
            ids,
            order,
            events: BTreeMap::new(),
            rounding: Rounding::new(),
            eighths: [0; 8],
            ran_over: Finding::new(Kind::LayoutEnded),
            outside: Finding::new(Kind::Outside),
            before_begin: Finding::new(Kind::BeforeBegin),
            future: Finding::new(Kind::Future),
        }
    }

    /// Makes the report.
    pub(super) fn report(mut self, unreadable: u64) -> Report {
        // Read backwards, descending IDs are in order.
        if self.order == Order::Descending {
            self.ids.reverse();
        }
        self.ids.iter().for_each(|id| self.rounding.see(&self.terms, *id));
        self.walk();
        let mut nodes: Vec<_> = self.trails.list.iter().map(|(node, trail)| self.span(*node, trail)).collect();
        nodes.sort_unstable_by_key(|span| span.node);
        let mut findings = self.findings(&mut nodes);
        findings.sort_unstable_by_key(|finding| (finding.kind, finding.node));
        let counts = counts(&self.terms, &self.ids, &nodes, &findings);
        let ids = self.ids.len() as u64;
        Report { layout: *self.terms.layout(), ids, unreadable, order: self.order, nodes, findings, counts }
    }

    /// Sees all IDs in order.
    fn walk(&mut self) {
        let count = self.ids.len() as u64;
        for (place, id) in (0..).zip(&self.ids) {
            let id = *id;
            let line = || match self.order {
                Order::Descending => self.lines.of(count - 1 - place),
                _ => self.lines.of(place),
            };
            match self.terms.sight(id) {
                Sight::Inside(spot) => {
                    self.eighths[self.terms.eighth(spot.tick)] += 1;
                    if self.is_rounded(id) {
                        continue;
                    }
                    if let Some(event) = self.trails.of(spot.node).see(&self.terms, spot, place) {
                        self.events.entry(spot.node).or_default().add(event, place);
                    }
                }
                Sight::Outside(true) => self.ran_over.add(id, line()),
                Sight::Outside(false) => self.outside.add(id, line()),
                Sight::BeforeBegin(spot) => {
                    self.eighths[self.terms.eighth(spot.tick)] += 1;
                    self.before_begin.add(id, line());
                    self.before_begin.reach(self.terms.tick_start_ms(spot.tick));
                }
                Sight::Future(spot) => {
                    self.eighths[self.terms.eighth(spot.tick)] += 1;
                    self.future.add(id, line());
                    self.future.reach(self.terms.tick_start_ms(spot.tick));
                }
            }
        }
        for (node, trail) in &mut self.trails.list {
            if let Some(back) = trail.end() {
                self.events.entry(*node).or_default().add(Event::Back(back), back.place);
            }
            // The log ends in the tick in which the last stretch ended.
            if let Some(back) = self.events.get_mut(node).and_then(|events| events.far.last_mut())
                && back.high == trail.ticks().1
            {
                back.end.get_or_insert(back.high);
            }
        }
    }

    fn span(&self, node: u32, trail: &Trail) -> NodeSpan {
        let (first, last) = trail.ticks();
        let [from_ms, to_ms] = [first, last].map(|tick| self.terms.tick_start_ms(tick));
        let span_ms = (last - first + 1).saturating_mul(self.terms.layout().tick_ms());
        #[allow(clippy::cast_precision_loss, reason = "a rate for people")]
        let ids_per_second = trail.count() as f64 * 1000.0 / span_ms as f64;
        NodeSpan { node, ids: trail.count(), repeated: 0, from_ms, to_ms, ids_per_second }
    }

    fn line(&self, place: u64) -> u64 {
        match self.order {
            Order::Descending => self.lines.of(self.ids.len() as u64 - 1 - place),
            _ => self.lines.of(place),
        }
    }

    /// Makes a finding about a node from a place on.
    fn of_node(&self, kind: Kind, node: u32, place: u64) -> Finding {
        let mut finding = Finding::new(kind);
        finding.node = Some(node);
        finding.id = usize::try_from(place).ok().and_then(|place| self.ids.get(place)).copied().unwrap_or_default();
        finding.line = self.line(place);
        finding
    }

    fn reach(&self, finding: &mut Finding, tick: u64) {
        finding.reach(self.terms.tick_start_ms(tick));
    }

    /// Whether an ID is one of a few rounded ones, which would look like the sequence of a second process.
    fn is_rounded(&self, id: u64) -> bool {
        self.rounding.is_found() && !self.rounding.is_general() && self.rounding.has(id)
    }

    fn spot(&self, id: u64) -> Option<Spot> {
        match self.terms.sight(id) {
            Sight::Inside(spot) => Some(spot),
            _ => None,
        }
    }

    /// Makes the findings, and counts the repeated IDs of each node.
    fn findings(&mut self, nodes: &mut [NodeSpan]) -> Vec<Finding> {
        let mut sorted = self.ids.clone();
        sorted.sort_unstable();
        if self.order == Order::Unordered {
            self.events.clear();
        }
        // Without steps of a sequence, a tick with too many IDs shows that it wrapped.
        if self.order != Order::Written {
            self.overfull(&sorted);
        }
        for events in self.events.values_mut() {
            events.finish();
        }
        let repeats = repeats(&sorted);
        drop(sorted);
        for spot in
            repeats.iter().filter(|repeat| !self.is_rounded(repeat.id)).filter_map(|repeat| self.spot(repeat.id))
        {
            if let Ok(at) = nodes.binary_search_by_key(&spot.node, |span| span.node) {
                nodes[at].repeated += 1;
            }
        }
        self.collapsed(&repeats);

        let mut found = Vec::new();
        let ended = self.ended(&mut found);
        let mut truncated = self.truncated();
        self.future.either = self.future.ids.saturating_mul(10) >= (self.ids.len() as u64).saturating_mul(9);
        let causes = self.causes(&repeats, truncated.as_mut());
        found.extend(truncated);
        found.extend([self.outside, self.future].into_iter().filter(|finding| finding.ids > 0));
        found.extend(Some(self.before_begin).filter(|finding| finding.ids > 0 && !ended));
        let explained = self.of_nodes(&causes, &mut found);
        found.extend(self.duplicates(&repeats, explained + causes.explained));
        found
    }

    /// Adds the ticks that have more IDs than the sequence has numbers.
    fn overfull(&mut self, sorted: &[u64]) {
        let Some((bits, most)) = self.terms.ticks_side_by_side() else { return };
        for run in sorted.chunk_by(|a, b| a >> bits == b >> bits) {
            // Calls that never count have equal IDs.
            if run.len() as u64 > most
                && run.chunk_by(|a, b| a == b).count() as u64 * 2 > most
                && let Some(spot) = self.spot(run[0])
            {
                let place = self.ids.iter().position(|id| *id == run[0]).unwrap_or_default();
                self.events.entry(spot.node).or_default().add(Event::Wrapped(spot.tick), place as u64);
            }
        }
    }

    /// Notes in the rounding how the IDs repeat.
    fn collapsed(&mut self, repeats: &[Repeat]) {
        let mut nodes: Vec<_> =
            repeats.iter().filter_map(|repeat| self.spot(repeat.id)).map(|spot| spot.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let (mut all, mut with_repeats) = (0, 0);
        for (node, trail) in &self.trails.list {
            all += trail.count();
            with_repeats += if nodes.binary_search(node).is_ok() { trail.count() } else { 0 };
        }
        self.rounding.see_repeats(repeats, nodes.len() > 1 && with_repeats * 10 >= all * 9);
    }

    /// Adds the finding of a layout that has ended, and returns whether there is one.
    fn ended(&mut self, found: &mut Vec<Finding>) -> bool {
        let laps = self.trails.list.iter().any(|(_, trail)| trail.laps() > 0) && self.order != Order::Unordered;
        let between = Terms::has_ended(&self.eighths);
        let late = self.eighths[7] > 0 || self.terms.is_over();
        let above = self.ran_over.ids > 0 && late;
        if !laps && !between && !above {
            // Bits above the layout for no known reason.
            let (above, outside) = (self.ran_over, &mut self.outside);
            if above.ids > 0 && (outside.ids == 0 || above.line < outside.line) {
                (outside.id, outside.line) = (above.id, above.line);
            }
            outside.ids += above.ids;
            return false;
        }
        let mut finding = self.ran_over;
        if laps || between {
            for (place, id) in (0..).zip(&self.ids) {
                if let Sight::Inside(spot) | Sight::BeforeBegin(spot) = self.terms.sight(*id)
                    && self.terms.eighth(spot.tick) == 0
                {
                    finding.add(*id, self.line(place));
                    self.reach(&mut finding, spot.tick);
                }
            }
        }
        found.push(finding);
        true
    }

    fn truncated(&self) -> Option<Finding> {
        let mut finding = Finding::new(Kind::Truncated);
        finding.either = self.rounding.is_either();
        if self.rounding.is_found() {
            for (place, id) in (0..).zip(&self.ids) {
                if self.rounding.has(*id) {
                    finding.add(*id, self.line(place));
                    if let Some(spot) = self.spot(*id) {
                        self.reach(&mut finding, spot.tick);
                    }
                }
            }
        }
        (finding.ids > 0).then_some(finding)
    }

    fn duplicates(&self, repeats: &[Repeat], explained: u64) -> Option<Finding> {
        let mut finding = Finding::new(Kind::Duplicates);
        for repeat in repeats {
            finding.times += repeat.times - 1;
            finding.ids += 1;
        }
        if repeats.is_empty() {
            return None;
        }
        let place = self.ids.iter().position(|id| repeats.binary_search_by_key(id, |repeat| repeat.id).is_ok())?;
        finding.id = self.ids[place];
        finding.line = self.line(place as u64);
        if let Some(spot) = self.spot(finding.id) {
            self.reach(&mut finding, spot.tick);
        }
        finding.repeated = finding.ids;
        finding.explained = explained;
        finding.order = self.order;
        Some(finding)
    }
}
