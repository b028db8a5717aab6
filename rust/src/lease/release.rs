//! The users of a lease, and its release by the last one.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use snowmint_stores::process::Owner;
use snowmint_stores::process::background::{PATIENCE, Pending};

use super::Lease;

/// The count of users of a lease that takes no more.
const OVER: usize = usize::MAX;

impl Lease {
    /// Counts a user in. Returns false if the lease is over.
    pub(crate) fn join(&self) -> bool {
        let more = |users| (users != OVER).then_some(users + 1);
        self.is_open() && self.users.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    /// Counts a user out. The last user releases the lease.
    pub(crate) fn leave(&self) {
        let less = |users| Some(if users <= 1 || users == OVER { OVER } else { users - 1 });
        if self.users.fetch_update(Ordering::AcqRel, Ordering::Acquire, less) == Ok(1) {
            self.release();
        }
    }

    /// Releases the node, and waits [`PATIENCE`] at most. A forked child and a second call do nothing.
    pub(crate) fn release(&self) {
        if let Some(releasing) = self.begin_release() {
            wait_for(releasing, Instant::now() + PATIENCE);
        }
    }

    /// Begins to release the node.
    fn begin_release(&self) -> Option<Pending<()>> {
        // In this order: close the cell, write the end down, unlock. In a child the cell is wiped, so it does nothing.
        let end_ms = self.words().close(&self.layout)?;
        // Without a thread the window runs out by itself.
        self.held.release(end_ms).ok()
    }

    /// Releases many leases, some at a time, and waits [`PATIENCE`] in all.
    pub(crate) fn release_all(leases: Vec<Arc<Self>>) {
        const AT_ONCE: usize = 64;
        let deadline = Instant::now() + PATIENCE;
        let mut under_way = VecDeque::new();
        for lease in leases {
            if under_way.len() == AT_ONCE
                && let Some(first) = under_way.pop_front()
            {
                wait_for(first, deadline);
            }
            under_way.extend(lease.begin_release());
        }
        for releasing in under_way {
            wait_for(releasing, deadline);
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

/// Waits for a release. A forked child does not wait: the thread that releases is not in it.
fn wait_for(releasing: Pending<()>, deadline: Instant) {
    let owner = Owner::this();
    releasing.wait(deadline, || owner.is_this_process());
}
