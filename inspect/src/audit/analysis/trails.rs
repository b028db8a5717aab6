//! The trails of all nodes.

use alloc::vec;
use alloc::vec::Vec;

use hashbrown::HashMap;

use crate::audit::trail::Trail;

/// Nodes of larger layouts are looked up by a hash.
const MAX_DENSE_NODES: u64 = 1 << 16;

/// The trails of all nodes.
pub(super) struct Trails {
    dense: Vec<u32>,
    sparse: HashMap<u32, u32>,
    /// Node and trail, in the order of the first ID.
    pub(super) list: Vec<(u32, Trail)>,
}

impl Trails {
    pub(super) fn new(nodes: u64) -> Self {
        let dense = usize::try_from(nodes).ok().filter(|_| nodes <= MAX_DENSE_NODES).unwrap_or(0);
        Self { dense: vec![u32::MAX; dense], sparse: HashMap::new(), list: Vec::new() }
    }

    pub(super) fn of(&mut self, node: u32) -> &mut Trail {
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
