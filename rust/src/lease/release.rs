//! The users of a lease, and its release by the last one.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
#[cfg(feature = "tokio")]
use std::time::Duration;
use std::time::Instant;

#[cfg(feature = "tokio")]
use snowmint_stores::host::background::Progress;
use snowmint_stores::host::background::{Pending, RELEASE_TIMEOUT};

use super::Lease;
use super::key::LeaseKey;

/// The count of users of a lease that takes no more users.
const NO_MORE_USERS: usize = usize::MAX;

impl Lease {
    /// Counts a user in. Returns false if the lease is over.
    pub(crate) fn join(&self) -> bool {
        let more = |users| (users != NO_MORE_USERS).then_some(users + 1);
        self.is_open() && self.users.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    /// Counts a user out. The last user begins to release the node: then the result is the release under way. A forked child
    /// releases nothing.
    pub(crate) fn leave(&self) -> Option<Pending<()>> {
        let less = |users| Some(if users <= 1 || users == NO_MORE_USERS { NO_MORE_USERS } else { users - 1 });
        let before = self.users.fetch_update(Ordering::AcqRel, Ordering::Acquire, less);
        if before == Ok(1) { self.begin_release() } else { None }
    }

    /// Begins to release the node.
    fn begin_release(&self) -> Option<Pending<()>> {
        // In this order: close the cell, write the end down, unlock. In a child the cell is wiped, so it does nothing.
        let end_ms = self.words().close(&self.layout)?;
        // Without a thread the window runs out by itself.
        self.held.release(end_ms).ok()
    }

    /// Releases many leases, some at a time, and waits for them and for the releases under way, [`RELEASE_TIMEOUT`] in all.
    pub(crate) fn release_all(leases: Vec<Arc<Self>>, releases: &[(Arc<LeaseKey>, Pending<()>)]) {
        /// How many releases are under way at the same time.
        const MAX_CONCURRENT: usize = 64;
        let deadline = Instant::now() + RELEASE_TIMEOUT;
        let mut under_way: VecDeque<Pending<()>> = VecDeque::new();
        for lease in leases {
            if under_way.len() == MAX_CONCURRENT
                && let Some(first) = under_way.pop_front()
            {
                first.wait(deadline);
            }
            under_way.extend(lease.begin_release());
        }
        for releasing in under_way.iter().chain(releases.iter().map(|(_, releasing)| releasing)) {
            releasing.wait(deadline);
        }
    }

    /// Leaves the lease to the parent process: a forked child neither mints from it nor renews or releases it.
    pub(crate) fn leave_to_parent(self) {
        // A lease whose cell is closed is not released when it is dropped.
        self.words().close(&self.layout);
    }
}

impl Drop for Lease {
    // The renewing thread may drop a lease, and must not wait.
    fn drop(&mut self) {
        drop(self.begin_release());
    }
}

/// Waits for a release under way, [`RELEASE_TIMEOUT`] at most.
pub(crate) fn wait_for(releasing: Option<Pending<()>>) {
    if let Some(releasing) = releasing {
        releasing.wait(Instant::now() + RELEASE_TIMEOUT);
    }
}

/// Waits for a release under way as [`wait_for`] does, on a runtime of tokio.
#[cfg(feature = "tokio")]
pub(crate) async fn wait_for_async(releasing: Option<Pending<()>>) {
    let Some(releasing) = releasing else { return };
    let end = async {
        while releasing.look() == Progress::UnderWay {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    // After the timeout the release goes on by itself.
    drop(tokio::time::timeout(RELEASE_TIMEOUT, end).await);
}
