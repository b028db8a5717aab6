//! Holding a node over a store: core's machines for claim, renewal and release, for whoever drives the futures.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use snowmint_core::lease::{Choice, Claim, Claimed, Kept, Lease, Record, Terms};
use snowmint_core::store::Ask;
use snowmint_core::{ErrorKind, Layout, SystemHost, Window};

use crate::ask::ask;
use crate::error::Error;
use crate::file::Refused;
use crate::key::key;
use crate::label::label_with_host;
use crate::namespace::Namespace;
use crate::store::{Store, Wrote};
use crate::token::token;

/// How far ahead of the store's clock a window may end beyond its length, in ms.
const MAX_SKEW_MS: i64 = 60 * 60 * 1000;
/// How often to begin again where other claimants were first.
const TRIES: usize = 200;

/// What a holder wants.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) namespace: Namespace,
    pub(crate) layout: Layout,
    pub(crate) now_ms: i64,
    pub(crate) max_ahead_ms: u64,
    pub(crate) window_ms: u64,
    /// Whether `now_ms` is of the system's clock.
    pub(crate) system_clock: bool,
    /// Nodes not to be taken.
    pub(crate) excluded: Vec<u32>,
}

/// A node that is held: its record, and where that is.
#[derive(Debug)]
pub(crate) struct Holding {
    store: Arc<dyn Store>,
    key: String,
    system_clock: bool,
    lease: Lease,
}

/// What a holder gets.
#[derive(Debug)]
pub(crate) struct Grant {
    pub(crate) holding: Holding,
    pub(crate) skew_ms: Option<i64>,
    /// Records that are none.
    pub(crate) skipped: Vec<String>,
}

/// What came of a renewal.
#[derive(Debug)]
pub(crate) enum Renewed {
    /// The window, and by how many ms this clock is ahead of the store's.
    Window(Window, Option<i64>),
    /// There was no answer, or the clock is off: the window stays as it is, try again.
    Later(Error),
    /// Somebody else has the node.
    Lost(Error),
}

/// Claims a node; the window is durable by then.
pub(crate) async fn claim_node(store: Arc<dyn Store>, wanted: &Wanted) -> Result<Grant, Refused> {
    pin_layout(&*store, &wanted.namespace, &wanted.layout).await?;
    let prefix = key("leases/", wanted.namespace.directory())? + "/";
    let terms = Terms {
        layout: &wanted.layout,
        max_ahead_ms: wanted.max_ahead_ms,
        window_ms: wanted.window_ms,
        last_node: None,
        token: token()?,
        label: Record::label(&label_with_host()),
    };
    for _ in 0..TRIES {
        let (nodes, skipped) = list(&*store, &prefix).await?;
        let faulty: BTreeSet<u32> = skipped.iter().copied().collect();
        let excluded = |node: u32| faulty.contains(&node) || wanted.excluded.contains(&node);
        let mut claim = Claim::new(terms);
        for (node, (record, version)) in &nodes {
            claim.see(*node, record, *version, wanted.now_ms, excluded);
        }
        let (node, record, version) = match claim.choose(wanted.now_ms, excluded) {
            Choice::Write(node, record, version) => (node, record, version),
            Choice::Wait(wait_ms) => {
                return Err(Refused::NotYet(wait_ms, exhausted(&*store, wanted, Some(wait_ms))));
            }
            Choice::Nothing => return Err(exhausted(&*store, wanted, None).into()),
        };
        let reach_ms = wanted.max_ahead_ms.saturating_add(wanted.window_ms);
        let skew_ms =
            if wanted.system_clock { refuse_far_end(&*store, record.window.end_ms, reach_ms).await? } else { None };
        let place = format!("{prefix}{node}");
        let (mut reply, mut failed) = ask(&*store, &place, Ask::Write(record, version)).await?;
        loop {
            match claim.reply(reply) {
                Claimed::Lease(lease) => {
                    let name = |node: &u32| format!("{}: {prefix}{node}", store.name());
                    let skipped = skipped.iter().map(name).collect();
                    let holding = Holding { store, key: place, system_clock: wanted.system_clock, lease };
                    return Ok(Grant { holding, skew_ms, skipped });
                }
                Claimed::Read(_) => {
                    let first = failed.take();
                    (reply, failed) = ask(&*store, &place, Ask::Read).await?;
                    // If it was written after all, it runs out by itself.
                    if let (Some(first), Some(_)) = (first, &failed) {
                        return Err(first.into());
                    }
                }
                Claimed::Again => break,
            }
        }
    }
    Err(Refused::Taken(exhausted(&*store, wanted, None)))
}

/// The records of a namespace, by node, and the nodes whose record is none.
async fn list(store: &dyn Store, prefix: &str) -> Result<(BTreeMap<u32, (Record, u64)>, Vec<u32>), Error> {
    let (mut nodes, mut skipped) = (BTreeMap::new(), Vec::new());
    for (part, found) in store.list(prefix).await? {
        let Ok(node) = part.parse() else { continue };
        match Record::from_bytes(&found.value) {
            Ok(record) => {
                nodes.insert(node, (record, found.version));
            }
            // What a later version wrote may mean that nothing here is as it seems.
            Err(error) if error.is_later_version() => return Err(Error::unavailable(store.name(), error)),
            Err(_) => skipped.push(node),
        }
    }
    Ok((nodes, skipped))
}

/// Writes the layout of a namespace down where nothing was, and refuses another one.
async fn pin_layout(store: &dyn Store, namespace: &Namespace, layout: &Layout) -> Result<(), Error> {
    let key = key("layouts/", namespace.directory())?;
    let mut found = store.read(&key).await?;
    for _ in 0..TRIES {
        if found.is_some() {
            break;
        }
        if let Wrote::Version(_) = store.write(&key, layout.to_string().as_bytes(), 0).await? {
            return Ok(());
        }
        found = store.read(&key).await?;
    }
    let Some(found) = found.map(|found| found.value) else {
        return Err(Error::unavailable(store.name(), format_args!("it has {key}, and does not show it")));
    };
    let pinned = Layout::parse(&found)
        .map_err(|_| Error::unavailable(store.name(), format_args!("what is at {key} is no layout")))?;
    if pinned.same_numbers(layout) {
        return Ok(());
    }
    Err(namespace.has_another_layout(&pinned))
}

/// Refuses a window that ends too far beyond the store's clock, because this clock is wrong; by how many ms it is ahead.
async fn refuse_far_end(store: &dyn Store, end_ms: i64, reach_ms: u64) -> Result<Option<i64>, Error> {
    let Some(clock_ms) = store.clock_ms().await? else { return Ok(None) };
    let skew_ms = SystemHost::unix_ms().saturating_sub(clock_ms);
    let latest_ms = clock_ms.saturating_add_unsigned(reach_ms).saturating_add(MAX_SKEW_MS);
    if end_ms > latest_ms {
        return Err(Error::unavailable(
            store.name(),
            format_args!(
                "a window up to {end_ms} would end more than an hour after the store's clock, {clock_ms}, allows: set \
                 this machine's clock right, or the node's last window was granted under a clock that was ahead"
            ),
        ));
    }
    Ok(Some(skew_ms))
}

fn exhausted(store: &dyn Store, wanted: &Wanted, wait_ms: Option<u64>) -> Error {
    let (nodes, namespace, store) = (wanted.layout.nodes(), &wanted.namespace, store.name());
    let nearest = wait_ms.map_or_else(String::new, |wait_ms| format!(" (the nearest for {wait_ms} ms more)"));
    Error::told(
        ErrorKind::NodesExhausted,
        format!(
            "all {nodes} nodes of namespace {namespace} in {store} are taken or excluded{nearest}: wait longer, close \
             generators, or use a layout with more node bits"
        ),
    )
}

impl Holding {
    pub(crate) const fn node(&self) -> u32 {
        self.lease.node()
    }

    /// The window that is durable.
    pub(crate) const fn window(&self) -> Window {
        self.lease.window()
    }

    /// Moves the window's end up.
    pub(crate) async fn renew(&mut self, now_ms: i64, last_ms: i64, reach_ms: u64) -> Renewed {
        self.lease.set_reach_ms(reach_ms);
        let Kept::Ask(mut asked) = self.lease.renew(now_ms, last_ms) else { return self.lost() };
        let mut skew_ms = None;
        if self.system_clock
            && let Ask::Write(record, _) = &asked
        {
            match refuse_far_end(&*self.store, record.window.end_ms, reach_ms).await {
                Ok(skew) => skew_ms = skew,
                Err(error) => return Renewed::Later(error),
            }
        }
        loop {
            let (reply, error) = match ask(&*self.store, &self.key, asked).await {
                Ok(answered) => answered,
                Err(error) => return Renewed::Later(error),
            };
            match self.lease.reply(reply) {
                Kept::Window(window) => return Renewed::Window(window, skew_ms),
                // What was written without an answer is found by the next renewal.
                Kept::Ask(_) if error.is_some() => {
                    return Renewed::Later(error.unwrap_or_else(|| self.no_answer()));
                }
                Kept::Ask(next) => asked = next,
                Kept::Lost | Kept::Released => return self.lost(),
            }
        }
    }

    fn no_answer(&self) -> Error {
        Error::unavailable(self.store.name(), "no answer")
    }

    fn lost(&self) -> Renewed {
        Renewed::Lost(Error::unavailable(self.store.name(), "another holder has it"))
    }

    /// Gives the node back, with nothing used from `end_ms` on. If it cannot be written, the window runs out by itself.
    pub(crate) async fn release(mut self, end_ms: i64) {
        let mut kept = self.lease.release(end_ms);
        while let Kept::Ask(asked) = kept {
            match ask(&*self.store, &self.key, asked).await {
                Ok((reply, None)) => kept = self.lease.reply(reply),
                _ => break,
            }
        }
    }
}
