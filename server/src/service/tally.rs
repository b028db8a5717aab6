//! How many nodes of each namespace are leased. All requests share one look at the store, which is kept for 5 s.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::Duration;

use snowmint_core::{ErrorKind, SystemHost};
use snowmint_stores::Error;
use snowmint_stores::host::{Leases, NamespaceNodes};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::MAX_COUNTED_NAMESPACES;

/// How long a look is kept.
const MAX_AGE: Duration = Duration::from_secs(5);

/// The numbers of leased nodes and of namespaces.
#[derive(Debug)]
pub struct Counts {
    pub leases: u64,
    pub namespaces: usize,
    /// By namespace: all namespaces, or only the ones with the fewest free nodes if metrics cannot show all.
    pub nodes: BTreeMap<String, Nodes>,
}

/// The nodes of a namespace.
#[derive(Debug)]
pub struct Nodes {
    pub held: u64,
    pub free: u64,
}

/// Looks at the leases of a store.
#[derive(Debug)]
pub struct Tally {
    leases: Leases,
    /// The last look. Locked during a look.
    last: Arc<Mutex<Option<Look>>>,
    /// The counts of the last look, also during a look. `None` before the first look, and if the last one failed.
    seen: Arc<StdMutex<Option<Arc<Counts>>>>,
}

#[derive(Debug)]
struct Look {
    ended: Instant,
    found: Result<Arc<Counts>, Error>,
}

impl Tally {
    pub fn of(leases: Leases) -> Self {
        Self { leases, last: Arc::default(), seen: Arc::default() }
    }

    /// Returns the numbers of the last look, or looks again.
    ///
    /// # Errors
    /// `StoreUnavailable`. It is not kept, but all requests that waited for the look get it.
    pub async fn counts(&self) -> Result<Arc<Counts>, Error> {
        let asked = Instant::now();
        let mut last = Arc::clone(&self.last).lock_owned().await;
        if let Some(Look { ended, found }) = &*last
            && (*ended >= asked || found.is_ok() && ended.elapsed() < MAX_AGE)
        {
            return found.clone();
        }
        let (leases, seen) = (self.leases.clone(), Arc::clone(&self.seen));
        // In a task, so that a look goes on for the other requests if its client gives up.
        let looking = tokio::spawn(async move {
            let found = look(&leases).await.map(Arc::new);
            *seen.lock().unwrap_or_else(PoisonError::into_inner) = found.as_ref().ok().cloned();
            *last = Some(Look { ended: Instant::now(), found: found.clone() });
            found
        });
        looking.await.map_err(|error| Error::new(ErrorKind::StoreUnavailable, error.to_string()))?
    }

    /// Returns the numbers of the last look without waiting. `None` if it failed, and before the first one.
    pub fn seen(&self) -> Option<Arc<Counts>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn look(leases: &Leases) -> Result<Counts, Error> {
    let all = leases.all().await?;
    let now_ms = SystemHost::unix_ms();
    let (leases, namespaces) = (all.values().map(|each| each.held(now_ms)).sum(), all.len());
    let nodes = |(name, each): (String, NamespaceNodes)| {
        Some((name, Nodes { held: each.held(now_ms), free: each.free(now_ms)? }))
    };
    let mut nodes: Vec<_> = all.into_iter().filter_map(nodes).collect();
    nodes.sort_by_key(|(_, nodes)| nodes.free);
    nodes.truncate(MAX_COUNTED_NAMESPACES);
    Ok(Counts { leases, namespaces, nodes: nodes.into_iter().collect() })
}
