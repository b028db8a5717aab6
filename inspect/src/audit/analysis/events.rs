//! What happened to a node.

use alloc::vec::Vec;

use crate::audit::trail::{Event, Excursion};

/// The number of small steps back of a node up to which they can be steps of its clock; more steps are late lines.
pub(super) const MAX_CLOCK_STEPS: usize = 8;
/// The number of far steps back of a node that are kept.
const MAX_KEPT_STEPS: usize = 10_000;

/// What happened to a node.
#[derive(Default)]
pub(super) struct Events {
    /// Steps back that are further than lines are late.
    pub(super) far: Vec<Excursion>,
    /// Smaller steps back, the first ones.
    pub(super) near: Vec<Excursion>,
    /// The stretches of ticks that passed twice by a far step, ascending and apart from each other when finished.
    twice: Vec<(u64, u64)>,
    /// The ticks inside which the sequence wrapped, with the place; ascending when finished.
    wrapped: Vec<(u64, u64)>,
}

impl Events {
    pub(super) fn add(&mut self, event: Event, place: u64) {
        match event {
            Event::Wrapped(tick) => self.wrapped.push((tick, place)),
            Event::Back(back) if back.is_far => {
                // A clock does not step back more often.
                if self.far.len() < MAX_KEPT_STEPS {
                    self.far.push(back);
                }
            }
            Event::Back(back) => {
                if self.near.len() <= MAX_CLOCK_STEPS {
                    self.near.push(back);
                }
            }
        }
    }

    /// Sorts the events by their ticks.
    pub(super) fn finish(&mut self) {
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
    pub(super) fn wrap(&self, tick: u64) -> Option<u64> {
        let at = self.wrapped.partition_point(|(wrapped, _)| *wrapped < tick);
        self.wrapped.get(at).filter(|(wrapped, _)| *wrapped == tick).map(|(_, place)| *place)
    }

    /// Returns whether a tick passed twice by a far step back.
    pub(super) fn passed_twice(&self, tick: u64) -> bool {
        let at = self.twice.partition_point(|(low, _)| *low <= tick);
        at.checked_sub(1).is_some_and(|at| tick <= self.twice[at].1)
    }
}
