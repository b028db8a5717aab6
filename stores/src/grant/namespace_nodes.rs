//! A namespace as operators see it.

use snowmint_core::Layout;
use snowmint_core::lease::{NamespaceRecord, Record};

use crate::store::Versioned;

/// The layout of a namespace and its nodes that were ever leased.
#[derive(Clone, Debug, PartialEq)]
pub struct NamespaceNodes {
    /// `None` without a record of the namespace, or with a record that no version of snowmint wrote.
    pub layout: Option<Layout>,
    /// By node, ascending.
    pub nodes: Vec<(u32, Record)>,
}

impl NamespaceNodes {
    /// Returns how many nodes are held at `now_ms` (Unix ms).
    pub fn held(&self, now_ms: i64) -> u64 {
        self.nodes.iter().filter(|(_, record)| record.is_live(now_ms)).count() as u64
    }

    /// Returns how many nodes a claim can get at `now_ms` (Unix ms). `None` without a layout.
    pub fn free(&self, now_ms: i64) -> Option<u64> {
        Some(self.layout?.nodes().saturating_sub(self.held(now_ms)))
    }
}

/// Returns the layout in the record of a namespace.
pub(super) fn layout_of(namespace: &Versioned) -> Option<Layout> {
    let (layout, _) = NamespaceRecord::read(&namespace.value).ok()?;
    Layout::parse(layout).ok()
}
