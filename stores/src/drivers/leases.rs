//! Leases on behalf of holders elsewhere, each of whom shows a token of its own: what a service offers.

use std::sync::Arc;

use snowmint_core::lease::{Pin, Record};
use snowmint_core::{ErrorKind, Layout, Options, SystemHost, Window};

use crate::error::Error;
use crate::file::Refused;
use crate::holding::{Holder, Holding, Renewed, Wanted, claim_node, list, pin};
use crate::lessor::LeaseTerms;
use crate::namespace::Namespace;
use crate::process::process;
use crate::store::floor::floor;
use crate::store::key::{key, name};
use crate::store::{Store, Wrote};

/// How far beyond this clock a holder may say it has minted, in ms, besides its window.
const MAX_AHEAD_OF_CLOCK_MS: u64 = 60 * 60 * 1000;

/// The leases of a store. Times are of this machine's clock, by which the holders go too.
///
/// Nothing is kept here: what is asked for is looked up, and written in the place of the version that was seen.
#[derive(Clone, Debug)]
pub struct Leases(Arc<dyn Store>);

/// A node that was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// The node.
    pub node: u32,
    /// Its window, which is durable.
    pub window: Window,
}

impl Leases {
    /// The leases of that store.
    pub const fn new(store: Arc<dyn Store>) -> Self {
        Self(store)
    }

    /// Pins the layout of a namespace, and refuses another than the store has; the first claim does so too.
    ///
    /// # Errors
    /// `InvalidLayout`, `StoreUnavailable`.
    pub async fn pin(&self, namespace: &Namespace, layout: &Layout) -> Result<(), Error> {
        namespace.refuse_default_of_another(layout)?;
        let key = key("layouts/", namespace.directory())?;
        loop {
            if let Some(found) = self.0.read(&key).await? {
                return pin(&*self.0, &key, &found.value, namespace, layout).map(drop);
            }
            let numbers = Pin { nodes: 0, floor_ms: floor(&*self.0).await?.map(|floor| floor.until_ms) };
            if self.0.write(&key, format!("{layout}{numbers}").as_bytes(), 0).await? != Wrote::Conflict {
                return Ok(());
            }
        }
    }

    /// Grants a node; the one that is held with this token, if there is one. In how many ms to come again, if all are
    /// used until then.
    ///
    /// # Errors
    /// `NodesExhausted`, `InvalidLayout`, `StoreUnavailable`, `BeforeEpoch`, `TimeOverflow`.
    pub async fn claim(&self, terms: &LeaseTerms) -> Result<Granted, (Error, Option<u64>)> {
        let now_ms = SystemHost::unix_ms();
        terms.layout.refuse_outside(now_ms).map_err(|error| (error.into(), None))?;
        terms.namespace.refuse_default_of_another(&terms.layout).map_err(|error| (error, None))?;
        let wanted = Wanted {
            namespace: terms.namespace.clone(),
            layout: terms.layout,
            now_ms,
            max_ahead_ms: terms.max_ahead_ms,
            window_ms: terms.window_ms,
            max_wait_ms: Options::DEFAULT.max_wait_ms,
            system_clock: true,
            excluded: terms.excluded.clone(),
            holder: Holder {
                token: terms.token,
                process: process(),
                label: Record::label(&terms.label),
                last_node: terms.last_node,
            },
        };
        if let Some(granted) = self.claimed(&wanted).await.map_err(|error| (error, None))? {
            return Ok(granted);
        }
        match claim_node(Arc::clone(&self.0), &wanted).await {
            Ok(grant) => Ok(Granted { node: grant.holding.node(), window: grant.holding.window() }),
            Err(Refused::NotYet(wait_ms, error)) => Err((error, Some(wait_ms))),
            Err(refused) => Err((refused.into_error(), None)),
        }
    }

    /// What an earlier call with the same token was granted.
    async fn claimed(&self, wanted: &Wanted) -> Result<Option<Granted>, Error> {
        let layout_key = key("layouts/", wanted.namespace.directory())?;
        let Some(found) = self.0.read(&layout_key).await? else { return Ok(None) };
        pin(&*self.0, &layout_key, &found.value, &wanted.namespace, &wanted.layout)?;
        let nodes = list(&*self.0, &prefix(&wanted.namespace)?).await?;
        let mine = nodes.into_iter().find_map(|(node, record)| {
            let (record, _) = record?;
            record.is_held_by(wanted.holder.token).then_some(Granted { node, window: record.window })
        });
        Ok(mine)
    }

    /// Moves a window's end up to `reach_ms` (window and `max_ahead_ms` together) past the clock, or past `unused_from_ms`
    /// (Unix ms), where the holder's first unused tick begins.
    ///
    /// # Errors
    /// `WindowClosed`, if the node is not, or not any more, held with this token; `InvalidId`, if `unused_from_ms` lies more
    /// than an hour beyond this clock; `StoreUnavailable`: the same call may be made again.
    pub async fn renew(
        &self,
        namespace: &Namespace,
        node: u32,
        token: u128,
        unused_from_ms: i64,
        reach_ms: u64,
    ) -> Result<Window, Error> {
        let now_ms = SystemHost::unix_ms();
        if unused_from_ms > now_ms.saturating_add_unsigned(reach_ms.saturating_add(MAX_AHEAD_OF_CLOCK_MS)) {
            return Err(Error::told(
                ErrorKind::InvalidId,
                format!("unused_from_ms is {unused_from_ms}, which is more than an hour past now ({now_ms})"),
            ));
        }
        let (key, found) = self.record(namespace, node).await?;
        let (record, version) = found.ok_or_else(|| gone(namespace, node))?;
        if !record.is_held_by(token) {
            return Err(lost(namespace, node));
        }
        let mut holding = Holding::resume(Arc::clone(&self.0), key, node, (record, version));
        match holding.renew(now_ms, unused_from_ms, reach_ms).await {
            Renewed::Window(window, ..) => Ok(window),
            Renewed::Later(error) => Err(error),
            Renewed::Lost(_) => Err(lost(namespace, node)),
        }
    }

    /// Gives a node back, whose holder has closed its generator and took no ID at or past `unused_from_ms` (Unix ms).
    /// Nothing happens if it was given back with this token before.
    ///
    /// # Errors
    /// `WindowClosed`, if the node is not, or not any more, held with this token; `StoreUnavailable`.
    pub async fn release(
        &self,
        namespace: &Namespace,
        node: u32,
        token: u128,
        unused_from_ms: i64,
    ) -> Result<(), Error> {
        let (key, found) = self.record(namespace, node).await?;
        let Some((record, version)) = found.filter(|(record, _)| record.token == token) else {
            return Err(lost(namespace, node));
        };
        if record.released {
            return Ok(());
        }
        // What a holder says it has not used, and never had, does not count.
        let end_ms = unused_from_ms.clamp(record.window.start_ms, record.window.end_ms);
        match Holding::resume(Arc::clone(&self.0), key, node, (record, version)).release(end_ms).await {
            Renewed::Window(..) => Ok(()),
            Renewed::Later(error) => Err(error),
            Renewed::Lost(_) => Err(lost(namespace, node)),
        }
    }

    /// The namespaces of the store with their layouts as text, in any order.
    ///
    /// # Errors
    /// `StoreUnavailable`.
    pub async fn namespaces(&self) -> Result<Vec<(String, String)>, Error> {
        let found = self.0.list("layouts/").await?;
        let text = |value: &[u8]| {
            let layout = Pin::read(value).map_or(value, |(layout, _)| layout);
            String::from_utf8_lossy(layout).into_owned()
        };
        Ok(found.iter().filter_map(|(part, found)| Some((name(part)?, text(&found.value)))).collect())
    }

    /// The records of a namespace by node, ascending; those that are none are left out.
    ///
    /// # Errors
    /// `StoreUnavailable`, `InvalidNode` for no name of a namespace.
    pub async fn list(&self, namespace: &str) -> Result<Vec<(u32, Record)>, Error> {
        let nodes = list(&*self.0, &(key("leases/", namespace)? + "/")).await?;
        Ok(nodes.into_iter().filter_map(|(node, record)| Some((node, record?.0))).collect())
    }

    /// For operators: sets the end of a node's window, and that it is given back. Its holder loses it, and has to be stopped
    /// by then: it may mint up to the end that it knows.
    ///
    /// # Errors
    /// `InvalidNode`, if there is no such node; `StoreUnavailable`.
    pub async fn reset(&self, namespace: &str, node: u32, end_ms: i64) -> Result<Record, Error> {
        let key = format!("{}/{node}", key("leases/", namespace)?);
        loop {
            let Some((record, version)) = self.at(&key).await? else {
                return Err(Error::told(
                    ErrorKind::InvalidNode,
                    format!("{}: nobody ever had node {node} of namespace {namespace}", self.0.name()),
                ));
            };
            let window = Window { start_ms: record.window.start_ms.min(end_ms), end_ms };
            let record = Record { released: true, serial: record.serial.saturating_add(1), window, ..record };
            if self.0.write(&key, &record.to_bytes(), version).await? != Wrote::Conflict {
                return Ok(record);
            }
        }
    }

    async fn record(&self, namespace: &Namespace, node: u32) -> Result<(String, Option<(Record, u64)>), Error> {
        let key = format!("{}{node}", prefix(namespace)?);
        let found = self.at(&key).await?;
        Ok((key, found))
    }

    async fn at(&self, key: &str) -> Result<Option<(Record, u64)>, Error> {
        let Some(found) = self.0.read(key).await? else { return Ok(None) };
        let record = Record::from_bytes(&found.value)
            .map_err(|error| Error::unavailable(self.0.name(), format_args!("{key}: {error}")))?;
        Ok(Some((record, found.version)))
    }
}

fn prefix(namespace: &Namespace) -> Result<String, Error> {
    Ok(key("leases/", namespace.directory())? + "/")
}

fn gone(namespace: &Namespace, node: u32) -> Error {
    Error::told(
        ErrorKind::WindowClosed,
        format!(
            "node {node} of namespace {namespace} has no record. If it was granted, the record has vanished from the store: \
             close the generator, stop all holders, then run snowmint fence"
        ),
    )
}

fn lost(namespace: &Namespace, node: u32) -> Error {
    Error::told(
        ErrorKind::WindowClosed,
        format!(
            "node {node} of namespace {namespace} is not held by who sent this: close the generator, and claim anew"
        ),
    )
}

#[cfg(all(test, feature = "memory"))]
mod tests {
    use snowmint_core::layouts::{SNOWMINT, SONYFLAKE};

    use super::*;
    use crate::engines::memory::Memory;

    fn terms(token: u128) -> LeaseTerms {
        LeaseTerms {
            namespace: Namespace::named("orders").expect("a name"),
            layout: SNOWMINT,
            token,
            label: format!("holder {token}"),
            max_ahead_ms: 0,
            window_ms: 5000,
            last_node: None,
            excluded: Vec::new(),
        }
    }

    #[tokio::test]
    async fn a_claim_that_is_sent_twice_is_one() {
        let leases = Leases::new(Memory::named(""));
        let first = leases.claim(&terms(1)).await.expect("a node");
        assert_eq!(leases.claim(&terms(1)).await, Ok(first));
        assert_ne!(leases.claim(&terms(2)).await.expect("a node").node, first.node);
        let other_layout = LeaseTerms { layout: SONYFLAKE, ..terms(1) };
        let (error, _) = leases.claim(&other_layout).await.expect_err("a namespace keeps its layout");
        assert_eq!(error.kind(), ErrorKind::InvalidLayout);
        let default = LeaseTerms { namespace: Namespace::of_layout(&SNOWMINT), ..terms(3) };
        let (error, _) =
            leases.claim(&LeaseTerms { layout: SONYFLAKE, ..default.clone() }).await.expect_err("not its own");
        assert_eq!(error.kind(), ErrorKind::InvalidLayout);
        leases.claim(&default).await.expect("of its own layout");
    }

    #[tokio::test]
    async fn only_the_holder_renews_and_releases() {
        let leases = Leases::new(Memory::named(""));
        let wanted = terms(1);
        let Granted { node, window } = leases.claim(&wanted).await.expect("a node");
        let renewed = leases.renew(&wanted.namespace, node, 1, window.end_ms, 5000).await.expect("renewed");
        assert!(renewed.end_ms >= window.end_ms + 5000 && renewed.start_ms == window.start_ms);
        let error = leases.renew(&wanted.namespace, node + 1, 1, 0, 5000).await.expect_err("no record");
        assert!(error.to_string().contains("has vanished"), "{error}");
        for (node, token) in [(node, 2), (node + 1, 1)] {
            let error = leases.renew(&wanted.namespace, node, token, 0, 5000).await.expect_err("not the holder");
            assert_eq!(error.kind(), ErrorKind::WindowClosed);
            let error = leases.release(&wanted.namespace, node, token, 0).await.expect_err("not the holder");
            assert_eq!(error.kind(), ErrorKind::WindowClosed);
        }
        let far = SystemHost::unix_ms() + 2 * 60 * 60 * 1000;
        let error = leases.renew(&wanted.namespace, node, 1, far, 5000).await.expect_err("no clock is there");
        assert_eq!(error.kind(), ErrorKind::InvalidId);

        let used_ms = window.start_ms;
        for _ in 0..2 {
            assert_eq!(leases.release(&wanted.namespace, node, 1, used_ms).await, Ok(()));
        }
        let error = leases.renew(&wanted.namespace, node, 1, 0, 5000).await.expect_err("given back");
        assert_eq!(error.kind(), ErrorKind::WindowClosed);
        let next = leases.claim(&LeaseTerms { last_node: Some(node), ..terms(3) }).await.expect("a node");
        assert_eq!(next.node, node);
        assert!(next.window.start_ms >= used_ms);
    }

    #[tokio::test]
    async fn an_operator_resets_an_end_that_lies_far_ahead() {
        let leases = Leases::new(Memory::named(""));
        let granted = leases.claim(&LeaseTerms { window_ms: 1_000_000_000, ..terms(1) }).await.expect("a node");
        let record = leases.reset("orders", granted.node, granted.window.start_ms + 1).await.expect("reset");
        assert!(record.released && record.window.end_ms == granted.window.start_ms + 1);
        assert_eq!(leases.list("orders").await.expect("a list"), [(granted.node, record)]);
        assert_eq!(leases.reset("orders", 7, 0).await.expect_err("nobody").kind(), ErrorKind::InvalidNode);
        assert_eq!(leases.namespaces().await.expect("a list"), [("orders".to_owned(), SNOWMINT.to_string())]);
    }
}
