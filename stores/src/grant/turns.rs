//! Runs the claims of a service one after the other for each namespace, with one list of its nodes.
//!
//! Concurrent claims would all list the nodes and choose the same node, and all writes but one would fail.

use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use snowmint_core::ErrorKind;
use snowmint_core::host::whole_ms;
use tokio::sync::{self, MutexGuard};

use super::Namespace;
use crate::error::Error;
use crate::process::lock;
use crate::store::{RecordStore, Version, Versioned, WriteOutcome};

/// How long waiting claims use the records that were read.
const MAX_AGE: Duration = Duration::from_secs(1);

/// The namespaces with claims under way.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<HashMap<String, Weak<Crowd>>>);

/// The claims of a namespace that are under way.
#[derive(Debug)]
pub(super) struct Crowd {
    /// The store, for the claim that has its turn.
    pub store: Arc<Listed>,
    /// When the store last gave no answer to one of the claims, and why. The claim that holds the lock has its turn.
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
        let listed = Listed { store: Arc::clone(store), key: key.clone(), prefix, seen: Mutex::default() };
        let crowd = Arc::new(Crowd { store: Arc::new(listed), failed: sync::Mutex::default() });
        crowds.insert(key, Arc::downgrade(&crowd));
        Ok(crowd)
    }
}

impl Crowd {
    /// Waits for the turn of a claim.
    ///
    /// # Errors
    /// The error of another claim, if the store gave it no answer meanwhile. So waiting claims do not all wait for a
    /// silent store, one after the other.
    pub async fn turn(&self) -> Result<Turn<'_>, Error> {
        let since = Instant::now();
        let failed = self.failed.lock().await;
        match &*failed {
            Some((at, error)) if *at >= since => Err(error.clone()),
            _ => {
                lock(&self.store.seen).is_read = false;
                Ok(Turn(failed))
            }
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

/// The store of a namespace, which reads once for the claims that wait, and adds to its list of nodes what they write.
#[derive(Debug)]
pub(super) struct Listed {
    store: Arc<dyn RecordStore>,
    /// The key of the namespace's record.
    key: String,
    prefix: String,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// Whether this turn has read the namespace's record, and its claim has not.
    is_read: bool,
    /// That record, if there is one.
    namespace: Option<Versioned>,
    /// The version of the namespace's record. A different version shows that other claimers have counted new nodes.
    version: Version,
    /// The records of the nodes, and when they were read.
    listed: Option<(Instant, BTreeMap<String, Versioned>)>,
    /// The store's clock, and when it was read.
    clock: Option<(Instant, Option<i64>)>,
    /// When the store was checked for standbys.
    checked: Option<Instant>,
}

impl Seen {
    /// Notes the version of the namespace's record.
    fn note(&mut self, version: Version, is_own: bool) {
        if self.version != version {
            self.version = version;
            self.listed = self.listed.take().filter(|_| is_own);
        }
    }
}

#[async_trait]
impl RecordStore for Listed {
    fn name(&self) -> &str {
        self.store.name()
    }

    async fn read(&self, key: &str) -> Result<Option<Versioned>, Error> {
        if key != self.key {
            return self.store.read(key).await;
        }
        let kept = {
            let mut seen = lock(&self.seen);
            mem::take(&mut seen.is_read).then(|| seen.namespace.take())
        };
        if let Some(found) = kept {
            return Ok(found);
        }
        let found = self.store.read(key).await?;
        let mut seen = lock(&self.seen);
        seen.note(found.as_ref().map_or(0, |found| found.version), false);
        (seen.is_read, seen.namespace) = (true, found.clone());
        drop(seen);
        Ok(found)
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, Error> {
        let written = self.store.write(key, value, expected).await;
        let mut seen = lock(&self.seen);
        seen.is_read = false;
        match (&written, key.strip_prefix(&self.prefix)) {
            (Ok(WriteOutcome::Version(version)), None) if key == self.key => seen.note(*version, true),
            (Ok(WriteOutcome::Version(version)), Some(node)) => {
                if let Some((_, listed)) = &mut seen.listed {
                    listed.insert(node.to_owned(), Versioned { value: value.to_vec(), version: *version });
                }
            }
            // Another claimer has written, or the outcome is unknown.
            _ => seen.listed = None,
        }
        drop(seen);
        written
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Versioned)>, Error> {
        if let Some((since, listed)) = &lock(&self.seen).listed
            && since.elapsed() < MAX_AGE
        {
            return Ok(listed.clone().into_iter().collect());
        }
        let since = Instant::now();
        let listed = self.store.list(prefix).await?;
        lock(&self.seen).listed = Some((since, listed.iter().cloned().collect()));
        Ok(listed)
    }

    async fn clock_ms(&self) -> Result<Option<i64>, Error> {
        if let Some((since, ms)) = lock(&self.seen).clock
            && since.elapsed() < MAX_AGE
        {
            return Ok(ms.map(|ms| ms.saturating_add_unsigned(whole_ms(since.elapsed()))));
        }
        let since = Instant::now();
        let ms = self.store.clock_ms().await?;
        lock(&self.seen).clock = Some((since, ms));
        Ok(ms)
    }

    async fn refuse_standby(&self) -> Result<(), Error> {
        if lock(&self.seen).checked.is_some_and(|since| since.elapsed() < MAX_AGE) {
            return Ok(());
        }
        let since = Instant::now();
        self.store.refuse_standby().await?;
        lock(&self.seen).checked = Some(since);
        Ok(())
    }

    fn standby_risk(&self) -> Option<Error> {
        self.store.standby_risk()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::time::sleep;

    use super::*;

    /// A store that gives no answer.
    #[derive(Debug, Default)]
    struct Down(AtomicUsize);

    #[async_trait]
    impl RecordStore for Down {
        fn name(&self) -> &'static str {
            "a store that is down"
        }

        async fn read(&self, _: &str) -> Result<Option<Versioned>, Error> {
            self.0.fetch_add(1, Ordering::Relaxed);
            sleep(Duration::from_millis(20)).await;
            Err(Error::unavailable(self.name(), "no answer"))
        }

        async fn write(&self, _: &str, _: &[u8], _: Version) -> Result<WriteOutcome, Error> {
            Err(Error::unavailable(self.name(), "no answer"))
        }

        async fn list(&self, _: &str) -> Result<Vec<(String, Versioned)>, Error> {
            Err(Error::unavailable(self.name(), "no answer"))
        }
    }

    #[tokio::test]
    async fn claims_that_wait_while_the_store_is_down_fail_with_the_first_one() {
        let down = Arc::new(Down::default());
        let store: Arc<dyn RecordStore> = down.clone();
        let turns = Turns::default();
        let crowd = turns.of(&store, &Namespace::named("orders").expect("a name")).expect("a crowd");
        let claims = (0..10).map(|_| {
            let crowd = Arc::clone(&crowd);
            async move {
                let turn = crowd.turn().await?;
                turn.end(crowd.store.read(&crowd.store.key).await.map(drop))
            }
        });
        let outcomes = claims.collect::<tokio::task::JoinSet<_>>().join_all().await;
        assert!(
            outcomes.iter().all(|outcome| matches!(outcome, Err(error) if error.kind() == ErrorKind::StoreUnavailable))
        );
        assert_eq!(down.0.load(Ordering::Relaxed), 1);
        let again = crowd.turn().await.expect("a later claim asks again");
        again.end(Ok(())).expect("it ends");
    }
}
