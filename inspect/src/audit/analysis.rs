//! From IDs to findings: one pass in the order of the log, a sorted copy for duplicates, and a pass over those that repeat.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::finding::{Finding, Kind};
use super::lines::Lines;
use super::repeats::{Repeat, Stretch, repeats, stretches};
use super::report::Report;
use super::rounding::Rounding;
use super::rows::Rows;
use super::summary::NodeSpan;
use super::terms::{Order, Sight, Spot, Terms};
use super::trail::{Event, Excursion, Trail};

/// Nodes of larger layouts are looked up by a hash.
const MOST_NODES: u64 = 1 << 16;
/// So many small steps back of a node can be steps of its clock; more are late lines.
const FEW_STEPS: usize = 8;
/// So many far steps back of a node are kept.
const MOST_STEPS: usize = 10_000;
/// Fewer IDs show no order.
const ENOUGH: u64 = 64;

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

/// What happened to a node.
#[derive(Default)]
struct Events {
    /// Steps back that are further than lines are late.
    far: Vec<Excursion>,
    /// Smaller steps back, the first ones.
    near: Vec<Excursion>,
    /// The stretches of ticks that passed twice by a far step, ascending and apart from each other when finished.
    twice: Vec<(u64, u64)>,
    /// The ticks inside which the sequence wrapped, with the place; ascending when finished.
    wrapped: Vec<(u64, u64)>,
}

impl Events {
    fn add(&mut self, event: Event, place: u64) {
        match event {
            Event::Wrapped(tick) => self.wrapped.push((tick, place)),
            Event::Back(back) if back.is_far => {
                // A clock does not step back more often.
                if self.far.len() < MOST_STEPS {
                    self.far.push(back);
                }
            }
            Event::Back(back) => {
                if self.near.len() <= FEW_STEPS {
                    self.near.push(back);
                }
            }
        }
    }

    /// Sorts the events by their ticks.
    fn finish(&mut self) {
        self.wrapped.sort_unstable();
        self.twice = self.far.iter().map(|back| (back.low, back.high)).collect();
        self.twice.sort_unstable();
        self.twice.dedup_by(|later, earlier| {
            let meets = later.0 <= earlier.1;
            if meets {
                earlier.1 = earlier.1.max(later.1);
            }
            meets
        });
    }

    /// Returns the place at which the sequence wrapped inside a tick.
    fn wrap(&self, tick: u64) -> Option<u64> {
        let at = self.wrapped.partition_point(|(wrapped, _)| *wrapped < tick);
        self.wrapped.get(at).filter(|(wrapped, _)| *wrapped == tick).map(|(_, place)| *place)
    }

    /// Returns whether a tick passed twice by a far step back.
    fn passed_twice(&self, tick: u64) -> bool {
        let at = self.twice.partition_point(|(low, _)| *low <= tick);
        at.checked_sub(1).is_some_and(|at| tick <= self.twice[at].1)
    }
}

/// The trails of all nodes.
struct Trails {
    dense: Vec<u32>,
    sparse: HashMap<u32, u32>,
    /// Node and trail, in the order of the first ID.
    list: Vec<(u32, Trail)>,
}

impl Trails {
    fn new(nodes: u64) -> Self {
        let dense = usize::try_from(nodes).ok().filter(|_| nodes <= MOST_NODES).unwrap_or(0);
        Self { dense: vec![u32::MAX; dense], sparse: HashMap::new(), list: Vec::new() }
    }

    fn of(&mut self, node: u32) -> &mut Trail {
        // A trail takes more than a hundred bytes, so their number fits.
        let new = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        let at = match self.dense.get_mut(node as usize) {
            Some(at) => {
                if *at == u32::MAX {
                    *at = new;
                }
                *at
            }
            None => *self.sparse.entry(node).or_insert(new),
        };
        if at == new {
            self.list.push((node, Trail::new()));
        }
        &mut self.list[at as usize].1
    }
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
        let mut findings = self.findings();
        findings.sort_unstable_by_key(|finding| (finding.kind, finding.node));
        let rows = Rows::new(&self.terms, &self.ids, &nodes, &findings);
        let ids = self.ids.len() as u64;
        Report { layout: *self.terms.layout(), ids, unreadable, order: self.order, nodes, findings, rows }
    }

    /// Sees all IDs in order.
    fn walk(&mut self) {
        let count = self.ids.len() as u64;
        // A few rounded IDs would look like the sequence of a second process.
        let is_partly_rounded = self.rounding.is_found() && !self.rounding.is_general();
        for (place, id) in (0..).zip(&self.ids) {
            let id = *id;
            let line = || match self.order {
                Order::Descending => self.lines.of(count - 1 - place),
                _ => self.lines.of(place),
            };
            match self.terms.sight(id) {
                Sight::Inside(spot) => {
                    self.eighths[self.terms.eighth(spot.tick)] += 1;
                    if is_partly_rounded && self.rounding.has(id) {
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
        NodeSpan { node, ids: trail.count(), from_ms, to_ms, ids_per_second }
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

    fn spot(&self, id: u64) -> Option<Spot> {
        match self.terms.sight(id) {
            Sight::Inside(spot) => Some(spot),
            _ => None,
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
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
        self.collapsed(&repeats);

        let mut found = Vec::new();
        let ended = self.ended(&mut found);
        let mut truncated = self.truncated();
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

    /// Tells the rounding how the IDs repeat.
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

    /// Tells why IDs repeat, where that is known already.
    fn causes(&self, repeats: &[Repeat], mut truncated: Option<&mut Finding>) -> Causes {
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
            let near = || events.near.len() <= FEW_STEPS && events.near.iter().any(|back| back.has(spot.tick));
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
    fn of_nodes(&self, causes: &Causes, found: &mut Vec<Finding>) -> u64 {
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
        finding.unordered = self.order == Order::Unordered;
        Some(finding)
    }
}

/// The causes of repeated IDs.
#[derive(Default)]
struct Causes {
    nodes: BTreeMap<u32, Cause>,
    /// The stretch with repeated IDs of each node.
    stretches: BTreeMap<u32, Stretch>,
    /// How many IDs repeat for a reason that concerns no node.
    explained: u64,
}

/// How many IDs of a node repeat for which reason.
#[derive(Clone, Copy, Default)]
struct Cause {
    /// The finding about ticks inside which the sequence wrapped, and the last of them.
    wrapped: Option<Finding>,
    last_wrapped: Option<u64>,
    far: u64,
    near: u64,
    unknown: u64,
}

/// Returns the order of IDs.
fn order(terms: &Terms, ids: &[u64]) -> Order {
    if ids.is_sorted() {
        return Order::Ascending;
    }
    if ids.is_sorted_by(|a, b| a >= b) {
        return Order::Descending;
    }
    if is_shuffled(terms, ids) { Order::Unordered } else { Order::Written }
}

/// Returns whether the IDs jump about in their time: from one to the next by a quarter of all time on average, with nearly
/// all of them behind the highest one so far. Random order gives a third.
fn is_shuffled(terms: &Terms, ids: &[u64]) -> bool {
    let (mut lowest, mut highest, mut last) = (u64::MAX, 0, None);
    let (mut count, mut behind, mut descents, mut way) = (0u64, 0u64, 0u64, 0u128);
    for id in ids {
        let Sight::Inside(Spot { tick, .. }) = terms.sight(*id) else { continue };
        count += 1;
        behind += u64::from(tick < highest);
        if let Some(last) = last {
            descents += u64::from(tick < last);
            way += u128::from(tick.abs_diff(last));
        }
        (lowest, highest, last) = (lowest.min(tick), highest.max(tick), Some(tick));
    }
    let span = u128::from(highest.saturating_sub(lowest));
    count >= ENOUGH && behind * 10 >= count * 8 && descents * 3 >= count && way * 4 >= span * u128::from(count)
}
