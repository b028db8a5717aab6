//! Claims of a service, one after the other for each namespace, by one list of its nodes.
//!
//! Claims at the same time would all list the nodes, choose the same one, and write in vain.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use snowmint_core::ErrorKind;
use tokio::sync::{self, MutexGuard};

use super::Namespace;
use crate::error::Error;
use crate::process::lock;
use crate::store::{RecordStore, Version, Versioned, WriteOutcome};

/// How long a list serves the claims that wait.
const MAX_AGE: Duration = Duration::from_secs(1);

/// The namespaces with claims under way.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<HashMap<String, Weak<Crowd>>>);

/// The claims of a namespace that are under way.
#[derive(Debug)]
pub(super) struct Crowd {
    /// The store, as claims use it that have their turn.
    pub store: Arc<Listed>,
    /// When the store last gave no answer to one of the claims, and why.
    failed: sync::Mutex<Option<(Instant, Error)>>,
}

/// The turn of a claim.
pub(super) struct Turn<'a>(MutexGuard<'a, Option<(Instant, Error)>>);

impl Turns {
    /// Returns the claims of a namespace.
    pub fn of(&self, store: &Arc<dyn RecordStore>, namespace: &Namespace) -> Result<Arc<Crowd>, Error> {
        let (key, prefix) = (namespace.key()?, namespace.nodes_prefix()?);
        let mut crowds = lock(&self.0);
        if let Some(crowd) = crowds.get(&key).and_then(Weak::upgrade) {
            return Ok(crowd);
        }
        crowds.retain(|_, crowd| crowd.strong_count() > 0);
        let listed = Listed { store: Arc::clone(store), key: key.clone(), prefix, nodes: Mutex::default() };
        let crowd = Arc::new(Crowd { store: Arc::new(listed), failed: sync::Mutex::default() });
        crowds.insert(key, Arc::downgrade(&crowd));
        Ok(crowd)
    }
}

impl Crowd {
    /// Waits for the turn of a claim.
    ///
    /// # Errors
    /// That of a store which gave no answer to another claim meanwhile: claims that wait do not each wait for it in turn.
    pub async fn turn(&self) -> Result<Turn<'_>, Error> {
        let since = Instant::now();
        let failed = self.failed.lock().await;
        match &*failed {
            Some((at, error)) if *at >= since => Err(error.clone()),
            _ => Ok(Turn(failed)),
        }
    }
}

impl Turn<'_> {
    /// Ends the turn with the outcome of the claim.
    pub fn end<T>(mut self, claimed: Result<T, Error>) -> Result<T, Error> {
        if let Err(error) = &claimed
            && error.kind() == ErrorKind::StoreUnavailable
        {
            *self.0 = Some((Instant::now(), error.clone()));
        }
        claimed
    }
}

/// The store of a namespace, which lists its nodes once for the claims that wait, and adds to the list what they write.
#[derive(Debug)]
pub(super) struct Listed {
    store: Arc<dyn RecordStore>,
    /// The key of the namespace's record.
    key: String,
    prefix: String,
    nodes: Mutex<Nodes>,
}

#[derive(Debug, Default)]
struct Nodes {
    /// The version of the namespace's record. Another one shows that others have counted new nodes.
    version: Version,
    /// The records of the nodes, and when they were read.
    listed: Option<(Instant, BTreeMap<String, Versioned>)>,
}

impl Listed {
    /// Notes the version of the namespace's record.
    fn note(&self, version: Version, is_own: bool) {
        let mut nodes = lock(&self.nodes);
        if nodes.version != version {
            nodes.version = version;
            nodes.listed = nodes.listed.take().filter(|_| is_own);
        }
    }
}

#[async_trait]
impl RecordStore for Listed {
    fn name(&self) -> &str {
        self.store.name()
    }

    async fn read(&self, key: &str) -> Result<Option<Versioned>, Error> {
        let found = self.store.read(key).await?;
        if key == self.key {
            self.note(found.as_ref().map_or(0, |found| found.version), false);
        }
        Ok(found)
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, Error> {
        let written = self.store.write(key, value, expected).await;
        match (&written, key.strip_prefix(&self.prefix)) {
            (Ok(WriteOutcome::Version(version)), None) if key == self.key => self.note(*version, true),
            (Ok(WriteOutcome::Version(version)), Some(node)) => {
                if let Some((_, listed)) = &mut lock(&self.nodes).listed {
                    listed.insert(node.to_owned(), Versioned { value: value.to_vec(), version: *version });
                }
            }
            // Others have written, or nobody knows.
            _ => lock(&self.nodes).listed = None,
        }
        written
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Versioned)>, Error> {
        if let Some((since, listed)) = &lock(&self.nodes).listed
            && since.elapsed() < MAX_AGE
        {
            return Ok(listed.clone().into_iter().collect());
        }
        let since = Instant::now();
        let listed = self.store.list(prefix).await?;
        lock(&self.nodes).listed = Some((since, listed.iter().cloned().collect()));
        Ok(listed)
    }

    async fn clock_ms(&self) -> Result<Option<i64>, Error> {
        self.store.clock_ms().await
    }

    async fn refuse_standby(&self) -> Result<(), Error> {
        self.store.refuse_standby().await
    }

    fn standby_risk(&self) -> Option<Error> {
        self.store.standby_risk()
    }
}
