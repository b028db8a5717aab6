//! How many nodes are leased, in how many namespaces. All requests share one look at the store, which is kept for 5 s.

use std::sync::Arc;
use std::time::Duration;

use snowmint_core::{ErrorKind, SystemHost};
use snowmint_stores::Error;
use snowmint_stores::host::Leases;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// How long a look is kept.
const MAX_AGE: Duration = Duration::from_secs(5);

/// The numbers of leased nodes and of namespaces.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    pub leases: usize,
    pub namespaces: usize,
}

/// Looks at the leases of a store.
#[derive(Debug)]
pub struct Tally {
    leases: Leases,
    /// The last look. Locked during a look.
    last: Arc<Mutex<Option<Look>>>,
}

#[derive(Debug)]
struct Look {
    ended: Instant,
    found: Result<Counts, Error>,
}

impl Tally {
    pub fn of(leases: Leases) -> Self {
        Self { leases, last: Arc::default() }
    }

    /// Returns the numbers of the last look, or looks again.
    ///
    /// # Errors
    /// `StoreUnavailable`. It is not kept, but all requests that waited for the look get it.
    pub async fn counts(&self) -> Result<Counts, Error> {
        let asked = Instant::now();
        let mut last = Arc::clone(&self.last).lock_owned().await;
        if let Some(Look { ended, found }) = &*last
            && (*ended >= asked || found.is_ok() && ended.elapsed() < MAX_AGE)
        {
            return found.clone();
        }
        let leases = self.leases.clone();
        // In a task, so that a look goes on for the other requests if its client gives up.
        let looking = tokio::spawn(async move {
            let found = look(&leases).await;
            *last = Some(Look { ended: Instant::now(), found: found.clone() });
            found
        });
        looking.await.map_err(|error| Error::new(ErrorKind::StoreUnavailable, error.to_string()))?
    }
}

async fn look(leases: &Leases) -> Result<Counts, Error> {
    let all = leases.all().await?;
    let now_ms = SystemHost::unix_ms();
    let held = all.values().flatten().filter(|(_, record)| record.is_live(now_ms));
    Ok(Counts { leases: held.count(), namespaces: all.len() })
}
