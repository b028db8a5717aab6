//! One state for each (layout, node) of a process.

extern crate std;

use std::boxed::Box;
use std::collections::HashMap;

use super::Words;
use crate::layout::{Layout, Numbers};

/// The states of a process by layout and node, so that two generators of the same node share one.
///
/// "The same layout" means the same numbers, whatever the names of its fields. States live as long as the process:
/// a node used again goes on above its last ID. The caller brings the lock.
#[derive(Debug, Default)]
pub struct Registry {
    cells: HashMap<(Numbers, u32), &'static Words>,
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// The state of `node` (which must be in range) under `layout`.
    pub fn words(&mut self, layout: &Layout, node: u32) -> &'static Words {
        self.cells.entry((layout.numbers(), node)).or_insert_with(|| Box::leak(Box::new(Words::vouched())))
    }
}
