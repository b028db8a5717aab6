//! Grants on behalf of holders elsewhere, each of which shows its nonce: the leases that a service offers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use snowmint_core::lease::Record;
use snowmint_core::store::Version;
use snowmint_core::{ErrorKind, SystemHost, Window};

use tokio::task::JoinSet;

use super::claim::{claim_node, read_nodes};
use super::namespace::is_removed;
use super::namespace_nodes::{NamespaceNodes, layout_of};
use super::turns::{Listed, Turns};
use super::{Claimer, Namespace, Outcome, Refusal, Share, StoreLease, Terms};
use crate::error::Error;
use crate::process::lock;
use crate::store::key::{key, name};
use crate::store::{RecordStore, Versioned, WriteOutcome};

/// How far beyond this clock a holder may say it has minted, in ms, besides its window.
const MAX_AHEAD_OF_CLOCK_MS: u64 = 60 * 60 * 1000;
/// How many namespaces are listed at the same time.
const MAX_CONCURRENT: usize = 64;

/// The leases of a store. All times come from this machine's clock, which the holders follow.
///
/// Each call reads the record and writes over the version that it has read. Only claims that wait for each other share a list of
/// the nodes.
#[derive(Clone, Debug)]
pub struct Leases {
    pub(super) store: Arc<dyn RecordStore>,
    turns: Arc<Turns>,
}

/// A granted node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// The node.
    pub node: u32,
    /// The window, which is durable.
    pub window: Window,
}

impl Leases {
    /// Returns the leases of a store.
    pub fn new(store: Arc<dyn RecordStore>) -> Self {
        Self { store, turns: Arc::default() }
    }

    /// Grants a node. A claimer whose nonce holds a node gets that node again.
    ///
    /// # Errors
    /// `NodesExhausted`, with the ms after which a node is free, if one will be, and if the claimer's share is used up;
    /// `InvalidLayout`, `StoreUnavailable`, `UnsafeStore`, `BeforeEpoch`, `TimeOverflow`.
    pub async fn claim(&self, terms: &Terms, claimer: &Claimer, share: Option<&Share<'_>>) -> Result<Granted, Error> {
        terms.layout.refuse_outside(SystemHost::unix_ms())?;
        terms.namespace.refuse_default_of_another(&terms.layout)?;
        let crowd = self.turns.of(&self.store, &terms.namespace)?;
        let turn = crowd.turn().await?;
        turn.end(self.claim_by(&crowd.store, terms, claimer, share).await)
    }

    async fn claim_by(
        &self,
        store: &Arc<Listed>,
        terms: &Terms,
        claimer: &Claimer,
        share: Option<&Share<'_>>,
    ) -> Result<Granted, Error> {
        let now_ms = SystemHost::unix_ms();
        let nodes = nodes(&**store, terms).await?;
        if let Some((node, record)) = nodes.iter().find(|(_, record)| record.is_held_by(claimer.nonce)) {
            return Ok(Granted { node: *node, window: record.window });
        }
        if let Some(share) = share {
            share.refuse(self.store.name(), terms, &nodes, now_ms)?;
        }
        let claimed = claim_node(Arc::<Listed>::clone(store), terms, claimer, now_ms, &|_| {}).await;
        let lease = claimed.map_err(Refusal::into_error)?;
        Ok(Granted { node: lease.node(), window: lease.window() })
    }

    /// Moves a window's end up to `reach_ms` (window and `max_ahead_ms` together) past the clock, or past `unused_from_ms`
    /// (Unix ms), where the holder's first unused tick begins.
    ///
    /// # Errors
    /// `WindowClosed`, if the node is not, or not any more, held with this nonce; `InvalidId`, if `unused_from_ms` lies more
    /// than an hour beyond this clock; `StoreUnavailable`: the same call may be made again.
    pub async fn renew(
        &self,
        namespace: &Namespace,
        node: u32,
        nonce: u128,
        unused_from_ms: i64,
        reach_ms: u64,
    ) -> Result<Window, Error> {
        let now_ms = SystemHost::unix_ms();
        if unused_from_ms > now_ms.saturating_add_unsigned(reach_ms.saturating_add(MAX_AHEAD_OF_CLOCK_MS)) {
            return Err(Error::new(
                ErrorKind::InvalidId,
                format!("unused_from_ms is {unused_from_ms}, which is more than an hour past now ({now_ms})"),
            ));
        }
        let (key, found) = self.record(namespace, node).await?;
        let (record, version) = found.ok_or_else(|| gone(namespace, node))?;
        if !record.is_held_by(nonce) {
            return Err(lost(namespace, node));
        }
        let mut lease = StoreLease::resume(Arc::clone(&self.store), key, node, (record, version));
        match lease.renew(now_ms, unused_from_ms, reach_ms).await {
            Outcome::Window { window, .. } => Ok(window),
            Outcome::Later(error) => Err(error),
            Outcome::Lost(_) => Err(lost(namespace, node)),
        }
    }

    /// Gives a node back, whose holder has closed its generator and took no ID at or past `unused_from_ms` (Unix ms).
    /// Nothing happens if it was released with this nonce before.
    ///
    /// # Errors
    /// `WindowClosed`, if the node is not, or not any more, held with this nonce; `StoreUnavailable`.
    pub async fn release(
        &self,
        namespace: &Namespace,
        node: u32,
        nonce: u128,
        unused_from_ms: i64,
    ) -> Result<(), Error> {
        let (key, found) = self.record(namespace, node).await?;
        let Some((record, version)) = found.filter(|(record, _)| record.nonce == nonce) else {
            return Err(lost(namespace, node));
        };
        if record.released {
            return Ok(());
        }
        // An end outside the granted window does not count.
        let end_ms = unused_from_ms.clamp(record.window.start_ms, record.window.end_ms);
        let mut lease = StoreLease::resume(Arc::clone(&self.store), key, node, (record, version));
        match lease.release(end_ms).await {
            Outcome::Window { .. } => Ok(()),
            Outcome::Later(error) => Err(error),
            Outcome::Lost(_) => Err(lost(namespace, node)),
        }
    }

    /// Returns the records of a namespace by node, ascending, without keys whose value is not a record.
    ///
    /// # Errors
    /// `StoreUnavailable`, `InvalidNode` for no name of a namespace.
    pub async fn list(&self, namespace: &str) -> Result<Vec<(u32, Record)>, Error> {
        records(self.store.name(), self.store.list(&(key("leases/", namespace)? + "/")).await?)
    }

    /// Returns the layout and the records of a namespace, also of a removed one.
    ///
    /// # Errors
    /// `StoreUnavailable`, `InvalidNode` for no name of a namespace.
    pub async fn namespace(&self, namespace: &str) -> Result<NamespaceNodes, Error> {
        let found = self.store.read(&key("layouts/", namespace)?).await?;
        Ok(NamespaceNodes { layout: found.as_ref().and_then(layout_of), nodes: self.list(namespace).await? })
    }

    /// Returns all namespaces but removed ones, also those without a node.
    ///
    /// Reads all records by one query. If the engine has no such query, reads several namespaces at the same time.
    ///
    /// # Errors
    /// `StoreUnavailable`.
    pub async fn all(&self) -> Result<BTreeMap<String, NamespaceNodes>, Error> {
        let store = &*self.store;
        let (removed, there): (Vec<_>, Vec<_>) =
            store.list("layouts/").await?.into_iter().partition(|(_, found)| is_removed(&found.value));
        let mut layouts = BTreeMap::new();
        let mut parts: BTreeMap<String, Vec<(String, Versioned)>> = BTreeMap::new();
        for (part, found) in there {
            layouts.insert(part.clone(), layout_of(&found));
            parts.insert(part, Vec::new());
        }
        if let Some(found) = store.list_below("leases/").await? {
            for (part, found) in found {
                if let Some((namespace, node)) = part.split_once('/') {
                    parts.entry(namespace.to_owned()).or_default().push((node.to_owned(), found));
                }
            }
        } else {
            let waiting = Arc::new(Mutex::new(parts.keys().cloned().collect::<Vec<_>>()));
            let mut asking = JoinSet::new();
            for _ in 0..MAX_CONCURRENT.min(parts.len()) {
                let (store, waiting) = (Arc::clone(&self.store), Arc::clone(&waiting));
                asking.spawn(async move {
                    let mut listed = Vec::new();
                    let next = || lock(&waiting).pop();
                    while let Some(part) = next() {
                        let found = store.list(&format!("leases/{part}/")).await?;
                        listed.push((part, found));
                    }
                    Ok::<_, Error>(listed)
                });
            }
            while let Some(listed) = asking.join_next().await {
                parts.extend(listed.map_err(|error| Error::unavailable(store.name(), error))??);
            }
        }
        for (part, _) in removed {
            parts.remove(&part);
        }
        let named = parts.into_iter().filter_map(|(part, found)| Some((name(&part)?, part, found)));
        named
            .map(|(name, part, found)| {
                let layout = layouts.remove(&part).flatten();
                Ok((name, NamespaceNodes { layout, nodes: records(store.name(), found)? }))
            })
            .collect()
    }

    /// Sets the end of a node's window, and marks the node as released. For operators. The holder loses the node. Stop the
    /// holder first: it may mint up to the end that it knows.
    ///
    /// # Errors
    /// `InvalidNode`, if the node has no record; `StoreUnavailable`.
    pub async fn reset(&self, namespace: &str, node: u32, end_ms: i64) -> Result<Record, Error> {
        let key = format!("{}/{node}", key("leases/", namespace)?);
        loop {
            let Some((record, version)) = self.at(&key).await? else {
                return Err(Error::new(
                    ErrorKind::InvalidNode,
                    format!(
                        "{}: node {node} of namespace {namespace} has no record: list the nodes by snowmint lease ls",
                        self.store.name()
                    ),
                ));
            };
            let window = Window { start_ms: record.window.start_ms.min(end_ms), end_ms };
            let record = Record { released: true, serial: record.serial.saturating_add(1), window, ..record };
            if self.store.write(&key, &record.to_bytes(), version).await? != WriteOutcome::Conflict {
                return Ok(record);
            }
        }
    }

    async fn record(&self, namespace: &Namespace, node: u32) -> Result<(String, Option<(Record, Version)>), Error> {
        let key = format!("{}{node}", namespace.nodes_prefix()?);
        let found = self.at(&key).await?;
        Ok((key, found))
    }

    async fn at(&self, key: &str) -> Result<Option<(Record, Version)>, Error> {
        let Some(found) = self.store.read(key).await? else { return Ok(None) };
        let record = Record::from_bytes(&found.value)
            .map_err(|error| Error::unavailable(self.store.name(), format_args!("{key}: {error}")))?;
        Ok(Some((record, found.version)))
    }
}

/// Returns the nodes of the terms' namespace, none for a new one.
async fn nodes(store: &dyn RecordStore, terms: &Terms) -> Result<Vec<(u32, Record)>, Error> {
    let Some(found) = store.read(&terms.namespace.key()?).await? else { return Ok(Vec::new()) };
    terms.namespace.read(store.name(), &found.value, &terms.layout)?;
    records(store.name(), store.list(&terms.namespace.nodes_prefix()?).await?)
}

/// Reads the records of a namespace, by node.
fn records(store: &str, listed: Vec<(String, Versioned)>) -> Result<Vec<(u32, Record)>, Error> {
    let nodes = read_nodes(store, listed)?;
    Ok(nodes.into_iter().filter_map(|(node, record)| Some((node, record?.0))).collect())
}

fn gone(namespace: &Namespace, node: u32) -> Error {
    Error::new(
        ErrorKind::WindowClosed,
        format!(
            "node {node} of namespace {namespace} has no record. If it was granted, the record has vanished from the store: \
             close the generator, stop all holders, then run snowmint fence"
        ),
    )
}

fn lost(namespace: &Namespace, node: u32) -> Error {
    Error::new(
        ErrorKind::WindowClosed,
        format!(
            "node {node} of namespace {namespace} has another holder now: close the generator, and claim a node again"
        ),
    )
}

#[cfg(all(test, feature = "memory"))]
mod tests {
    use snowmint_core::Nodes;
    use snowmint_core::layouts::{SNOWMINT, SONYFLAKE};

    use super::*;
    use crate::engines::memory::Memory;

    fn terms() -> Terms {
        Terms {
            namespace: Namespace::named("orders").expect("a name"),
            layout: SNOWMINT,
            nodes: Nodes::ALL,
            exclude: Vec::new(),
            max_ahead_ms: 0,
            max_wait_ms: 1000,
            window_ms: 5000,
            system_clock: true,
        }
    }

    fn claimer(nonce: u128) -> Claimer {
        Claimer { nonce, label: format!("holder {nonce}"), last_node: None }
    }

    #[tokio::test]
    async fn a_claim_that_is_sent_twice_is_one() {
        let leases = Leases::new(Memory::named(""));
        let first = leases.claim(&terms(), &claimer(1), None).await.expect("a node");
        assert_eq!(leases.claim(&terms(), &claimer(1), None).await, Ok(first));
        assert_ne!(leases.claim(&terms(), &claimer(2), None).await.expect("a node").node, first.node);
        let default = Terms { namespace: Namespace::of_layout(&SNOWMINT), ..terms() };
        for other_layout in [Terms { layout: SONYFLAKE, ..terms() }, Terms { layout: SONYFLAKE, ..default.clone() }] {
            let error = leases.claim(&other_layout, &claimer(3), None).await.expect_err("a namespace keeps its layout");
            assert_eq!(error.kind(), ErrorKind::InvalidLayout);
        }
        leases.claim(&default, &claimer(3), None).await.expect("of its own layout");
    }

    /// Claims at once, and returns the nodes.
    async fn crowd(leases: &[Leases], claimers: u128) -> Vec<u32> {
        let claims = (0..claimers).map(|nonce| {
            let leases = leases[(nonce % leases.len() as u128) as usize].clone();
            async move { leases.claim(&terms(), &claimer(nonce), None).await.expect("a node").node }
        });
        let mut nodes = claims.collect::<JoinSet<_>>().join_all().await;
        nodes.sort_unstable();
        nodes
    }

    #[tokio::test]
    async fn claims_at_once_get_the_lowest_nodes_and_beside_another_service_different_ones() {
        let leases = Leases::new(Memory::named(""));
        assert_eq!(crowd(&[leases], 100).await, (0..100).collect::<Vec<u32>>());
        let store = Memory::named("");
        let services = [Leases::new(store.clone()), Leases::new(store)];
        let mut nodes = crowd(&services, 100).await;
        nodes.dedup();
        assert_eq!(nodes.len(), 100);
    }

    #[tokio::test]
    async fn only_the_holder_renews_and_releases() {
        let leases = Leases::new(Memory::named(""));
        let terms = terms();
        let Granted { node, window } = leases.claim(&terms, &claimer(1), None).await.expect("a node");
        let renewed = leases.renew(&terms.namespace, node, 1, window.end_ms, 5000).await.expect("renewed");
        assert!(renewed.end_ms >= window.end_ms + 5000 && renewed.start_ms == window.start_ms);
        let error = leases.renew(&terms.namespace, node + 1, 1, 0, 5000).await.expect_err("no record");
        assert!(error.to_string().contains("has vanished"), "{error}");
        for (node, nonce) in [(node, 2), (node + 1, 1)] {
            let error = leases.renew(&terms.namespace, node, nonce, 0, 5000).await.expect_err("not the holder");
            assert_eq!(error.kind(), ErrorKind::WindowClosed);
            let error = leases.release(&terms.namespace, node, nonce, 0).await.expect_err("not the holder");
            assert_eq!(error.kind(), ErrorKind::WindowClosed);
        }
        let far = SystemHost::unix_ms() + 2 * 60 * 60 * 1000;
        let error = leases.renew(&terms.namespace, node, 1, far, 5000).await.expect_err("no clock is there");
        assert_eq!(error.kind(), ErrorKind::InvalidId);

        let used_ms = window.start_ms;
        for _ in 0..2 {
            assert_eq!(leases.release(&terms.namespace, node, 1, used_ms).await, Ok(()));
        }
        let error = leases.renew(&terms.namespace, node, 1, 0, 5000).await.expect_err("given back");
        assert_eq!(error.kind(), ErrorKind::WindowClosed);
        let next = leases.claim(&terms, &Claimer { last_node: Some(node), ..claimer(3) }, None).await.expect("a node");
        assert_eq!(next.node, node);
        assert!(next.window.start_ms >= used_ms);
    }

    #[tokio::test]
    async fn an_operator_resets_an_end_that_lies_far_ahead() {
        let leases = Leases::new(Memory::named(""));
        let granted =
            leases.claim(&Terms { window_ms: 1_000_000_000, ..terms() }, &claimer(1), None).await.expect("a node");
        let record = leases.reset("orders", granted.node, granted.window.start_ms + 1).await.expect("reset");
        assert!(record.released && record.window.end_ms == granted.window.start_ms + 1);
        assert_eq!(leases.list("orders").await.expect("a list"), [(granted.node, record)]);
        assert_eq!(leases.reset("orders", 7, 0).await.expect_err("nobody").kind(), ErrorKind::InvalidNode);
    }

    #[tokio::test]
    async fn a_claim_of_one_node_names_its_holder() {
        let leases = Leases::new(Memory::named(""));
        let fifth = Terms { nodes: Nodes::one(5), ..terms() };
        assert_eq!(leases.claim(&fifth, &claimer(1), None).await.expect("free").node, 5);
        let error = leases.claim(&fifth, &claimer(2), None).await.expect_err("held");
        assert_eq!((error.kind(), error.retry_after_ms().is_some()), (ErrorKind::NodesExhausted, true));
        let text = error.to_string();
        assert!(text.contains("node 5 is held until 20") && text.contains("(its holder is holder 1)"), "{text}");
        assert_eq!(leases.claim(&terms(), &claimer(2), None).await.expect("another").node, 0);
    }
}
