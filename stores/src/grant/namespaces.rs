//! The namespaces of a store.

use snowmint_core::lease::NamespaceRecord;
use snowmint_core::{ErrorKind, Layout, SystemHost};

use super::claim::read_nodes;
use super::namespace::is_removed;
use super::{Leases, Namespace};
use crate::error::Error;
use crate::store::floor::floor;
use crate::store::key::name;
use crate::store::{Versioned, WriteOutcome};

impl Leases {
    /// Makes a namespace if the store does not have it, otherwise compares the layouts. A claim does the same.
    /// Returns `false` if the store has it already.
    ///
    /// # Errors
    /// `InvalidLayout`, `StoreUnavailable`.
    pub async fn make(&self, namespace: &Namespace, layout: &Layout) -> Result<bool, Error> {
        namespace.refuse_default_of_another(layout)?;
        let key = namespace.key()?;
        loop {
            let (value, version) = if let Some(Versioned { value, version }) = self.store.read(&key).await? {
                let (first, record) = namespace.read(self.store.name(), &value, layout)?;
                if !record.removed {
                    return Ok(false);
                }
                (text(&first, NamespaceRecord { removed: false, ..record }), version)
            } else {
                self.refuse_nodes_of_another(namespace, layout).await?;
                let floor_ms = floor(&*self.store).await?.map(|floor| floor.until_ms);
                (text(layout, NamespaceRecord { floor_ms, ..NamespaceRecord::default() }), 0)
            };
            if self.store.write(&key, value.as_bytes(), version).await? != WriteOutcome::Conflict {
                return Ok(true);
            }
        }
    }

    /// Refuses a layout that differs from the layout of the namespace's nodes: the record of the namespace may have
    /// vanished.
    async fn refuse_nodes_of_another(&self, namespace: &Namespace, layout: &Layout) -> Result<(), Error> {
        let nodes = read_nodes(self.store.name(), self.store.list(&namespace.nodes_prefix()?).await?)?;
        nodes.values().flatten().try_for_each(|(record, _)| {
            record.refuse_other_layout(layout).map_err(|error| {
                Error::new(error.kind(), format!("{}, namespace {namespace}: {error}", self.store.name()))
            })
        })
    }

    /// Returns whether the store has a namespace.
    ///
    /// # Errors
    /// `StoreUnavailable`.
    pub async fn has(&self, namespace: &Namespace) -> Result<bool, Error> {
        Ok(self.store.read(&namespace.key()?).await?.is_some_and(|found| !is_removed(&found.value)))
    }

    /// Returns the namespaces of the store with their layouts as text, in any order.
    ///
    /// # Errors
    /// `StoreUnavailable`.
    pub async fn namespaces(&self) -> Result<Vec<(String, String)>, Error> {
        let found = self.store.list("layouts/").await?;
        let text = |value: &[u8]| {
            let layout = NamespaceRecord::read(value).map_or(value, |(layout, _)| layout);
            String::from_utf8_lossy(layout).into_owned()
        };
        let there = found.iter().filter(|(_, found)| !is_removed(&found.value));
        Ok(there.filter_map(|(part, found)| Some((name(part)?, text(&found.value)))).collect())
    }

    /// Removes a namespace whose nodes are all free. For operators. Its records stay in the store: a claim that makes it again
    /// takes the same layout, and no node goes back in time.
    ///
    /// # Errors
    /// `InvalidNode`, if the namespace does not exist or a node is held; `StoreUnavailable`.
    pub async fn remove(&self, namespace: &Namespace) -> Result<(), Error> {
        let store = self.store.name();
        let refused = |why: String| Err(Error::new(ErrorKind::InvalidNode, format!("{store}: {why}")));
        let key = namespace.key()?;
        loop {
            let found = self.store.read(&key).await?.filter(|found| !is_removed(&found.value));
            let Some(Versioned { value, version }) = found else {
                return refused(format!("there is no namespace {namespace}: snowmint namespace ls lists them"));
            };
            let (layout, record) = NamespaceRecord::read(&value).map_err(|error| Error::unavailable(store, error))?;
            let now_ms = SystemHost::unix_ms();
            let nodes = self.list(&namespace.to_string()).await?;
            if let Some((node, record)) = nodes.iter().find(|(_, record)| record.is_live(now_ms)) {
                return refused(format!(
                    "namespace {namespace} is in use: node {node} is held by {}. Close its generators first",
                    record.label_text()
                ));
            }
            let removed = NamespaceRecord { removed: true, ..record };
            let value = format!("{}{removed}", String::from_utf8_lossy(layout));
            if self.store.write(&key, value.as_bytes(), version).await? != WriteOutcome::Conflict {
                return Ok(());
            }
        }
    }
}

fn text(layout: &Layout, record: NamespaceRecord) -> String {
    format!("{layout}{record}")
}

#[cfg(all(test, feature = "memory"))]
mod tests {
    use snowmint_core::Nodes;
    use snowmint_core::layouts::{SNOWMINT, SONYFLAKE};

    use super::*;
    use crate::engines::memory::Memory;
    use crate::host::{Claimer, Terms};

    #[tokio::test]
    async fn a_removed_namespace_is_made_again_with_its_layout() {
        let leases = Leases::new(Memory::named(""));
        let orders = Namespace::named("orders").expect("a name");
        assert_eq!(leases.remove(&orders).await.expect_err("none").kind(), ErrorKind::InvalidNode);
        assert_eq!(
            (leases.make(&orders, &SNOWMINT).await, leases.make(&orders, &SNOWMINT).await),
            (Ok(true), Ok(false))
        );
        assert_eq!(leases.namespaces().await.expect("a list"), [("orders".to_owned(), SNOWMINT.to_string())]);
        let terms = Terms {
            namespace: orders.clone(),
            layout: SNOWMINT,
            nodes: Nodes::ALL,
            exclude: Vec::new(),
            max_ahead_ms: 0,
            max_wait_ms: 1000,
            window_ms: 5000,
            system_clock: true,
        };
        let claimer = Claimer { nonce: 1, label: "a holder".to_owned(), last_node: None };
        let granted = leases.claim(&terms, &claimer, None).await.expect("a node");
        let error = leases.remove(&orders).await.expect_err("held").to_string();
        assert!(error.contains("node 0 is held by a holder"), "{error}");
        leases.release(&orders, granted.node, 1, granted.window.start_ms).await.expect("released");
        assert_eq!(leases.remove(&orders).await, Ok(()));
        assert_eq!(leases.has(&orders).await, Ok(false));
        assert!(
            leases.namespaces().await.expect("a list").is_empty() && leases.all().await.expect("a list").is_empty()
        );

        let other = leases.make(&orders, &SONYFLAKE).await.expect_err("it keeps its layout");
        assert_eq!(other.kind(), ErrorKind::InvalidLayout);
        assert_eq!(leases.make(&orders, &SNOWMINT).await, Ok(true));
        leases.remove(&orders).await.expect("no node is held");
        let second =
            leases.claim(&terms, &Claimer { nonce: 2, ..claimer }, None).await.expect("a claim makes it again");
        assert!(second.window.start_ms >= granted.window.start_ms);
        assert_eq!(leases.has(&orders).await, Ok(true));
    }
}
