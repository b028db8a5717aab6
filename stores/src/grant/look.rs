//! A look at a namespace in a store, without a claim. Nothing is written.

use snowmint_core::SystemHost;
use snowmint_core::lease::{Floor, NamespaceRecord};
use snowmint_core::lease::{Outlook, StoreNodes, Tally};

use super::Terms;
use super::claim::read_nodes;
use crate::error::Error;
use crate::store::RecordStore;

/// The namespace and the nodes that a claim would find.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// The record of the namespace. `None` for a new namespace.
    pub namespace: Option<NamespaceRecord>,
    /// The outlook of a claim.
    pub outlook: Outlook,
    /// How many nodes are in which state.
    pub tally: Tally,
}

/// Looks at the namespace of the terms. `store_ms` is the store's clock in Unix ms, if the store has one.
///
/// # Errors
/// `InvalidLayout`, if the namespace is of another layout; `StoreUnavailable`, `UnsafeStore`.
pub async fn look(store: &dyn RecordStore, terms: &Terms, store_ms: Option<i64>) -> Result<Look, Error> {
    let Terms { namespace, layout, nodes: wanted, window_ms, .. } = terms;
    let record = store.read(&namespace.key()?).await?;
    let record = record.map(|found| namespace.read(store.name(), &found.value, layout)).transpose()?;
    let record = record.map(|(_, record)| record);
    let floor = store.read(Floor::KEY).await?.map(|found| Floor::read(&found.value)).transpose()?;
    let nodes = read_nodes(store.name(), store.list(&namespace.nodes_prefix()?).await?)?;
    let now_ms = SystemHost::unix_ms();
    let mut seen = StoreNodes::new(layout, *wanted, *window_ms, record, floor);
    for (node, record) in &nodes {
        seen.see(*node, record.as_ref().map(|(record, version)| (record, *version)), now_ms);
    }
    let (outlook, tally) = seen.end(now_ms, store_ms);
    Ok(Look { namespace: record, outlook, tally })
}
