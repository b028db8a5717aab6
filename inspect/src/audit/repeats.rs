//! IDs that occur more than once, and where.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::terms::{Sight, Terms};

/// An ID that occurs more than once.
pub(super) struct Repeat {
    pub(super) id: u64,
    pub(super) times: u64,
}

/// Returns the IDs that occur more than once, ascending.
pub(super) fn repeats(sorted: &[u64]) -> Vec<Repeat> {
    let runs = sorted.chunk_by(|a, b| a == b).filter(|run| run.len() > 1);
    runs.map(|run| Repeat { id: run[0], times: run.len() as u64 }).collect()
}

/// The IDs of a node from the first to the last one that repeats.
#[derive(Default)]
pub(super) struct Stretch {
    /// The place of the first ID that was there before.
    pub(super) place: u64,
    /// Its sequence.
    pub(super) sequence: u64,
    /// The IDs of the node before the stretch.
    pub(super) history: u64,
    /// The IDs in the stretch.
    pub(super) ids: u64,
    /// How many of them occur more than once.
    pub(super) repeated: u64,
}

/// A node while its IDs pass.
#[derive(Default)]
struct Passing {
    count: u64,
    begun: bool,
    came_again: bool,
    stretch: Stretch,
}

/// Returns the stretch with repeated IDs of each node that `is_wanted`.
pub(super) fn stretches(
    terms: &Terms,
    ids: &[u64],
    repeats: &[Repeat],
    is_wanted: impl Fn(u32) -> bool,
) -> BTreeMap<u32, Stretch> {
    let mut came: HashMap<u64, bool> = repeats.iter().map(|repeat| (repeat.id, false)).collect();
    let mut nodes: HashMap<u32, Passing> = HashMap::new();
    for (place, id) in (0..).zip(ids) {
        let Sight::Inside(spot) = terms.sight(*id) else { continue };
        if !is_wanted(spot.node) {
            continue;
        }
        let passing = nodes.entry(spot.node).or_default();
        passing.count += 1;
        let Some(came) = came.get_mut(id) else { continue };
        let stretch = &mut passing.stretch;
        if !passing.begun {
            passing.begun = true;
            stretch.history = passing.count - 1;
        }
        if *came && !passing.came_again {
            passing.came_again = true;
            (stretch.place, stretch.sequence) = (place, spot.sequence);
        }
        *came = true;
        stretch.repeated += 1;
        stretch.ids = passing.count - stretch.history;
    }
    nodes.into_iter().filter(|(_, passing)| passing.came_again).map(|(node, passing)| (node, passing.stretch)).collect()
}
