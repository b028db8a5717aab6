//! A held node: calls of its slot, store or lessor, each on a separate thread, because a call may block for any time.

use std::io;
use std::sync::{Arc, Mutex};
use std::thread;

use snowmint_core::ErrorKind;
use snowmint_stores::process::background::{self, Pending};
use snowmint_stores::process::lock;
use snowmint_stores::{Error, Outcome, StoreLease};

use super::lessor::Loan;
use crate::slots::Slot;

/// A node that this process holds.
#[derive(Debug)]
pub(crate) enum Hold {
    /// By a locked file.
    Slot(Slot),
    /// By a record in a store.
    Store(Box<StoreLease>),
    /// By the grant of a service.
    Loan(Box<Loan>),
}

/// A node that this process holds, one call at a time.
#[derive(Debug)]
pub(crate) struct Held {
    /// `None` once the node is lost or released: a late renewal writes nothing.
    hold: Mutex<Option<Hold>>,
    thread_name: &'static str,
}

impl Hold {
    fn renew(&mut self, now_ms: i64, last_ms: i64, reach_ms: u64) -> Outcome {
        match self {
            Self::Slot(slot) => slot.renew(now_ms, last_ms, reach_ms),
            Self::Store(lease) => lease.renew(now_ms, last_ms, reach_ms),
            Self::Loan(loan) => loan.renew(last_ms, reach_ms),
        }
    }

    /// Releases the node. If the write fails, the window runs out by itself.
    fn release(self, end_ms: i64) {
        match self {
            Self::Slot(slot) => drop(slot.give_back(end_ms)),
            Self::Store(mut lease) => drop(lease.release(end_ms)),
            Self::Loan(loan) => loan.release(end_ms),
        }
    }
}

impl Held {
    pub(crate) fn new(hold: Hold) -> Arc<Self> {
        let thread_name = if matches!(hold, Hold::Slot(_)) { "snowmint-slot" } else { "snowmint-lease" };
        Arc::new(Self { hold: Mutex::new(Some(hold)), thread_name })
    }

    /// Begins to extend the window, and calls `then` with the outcome.
    pub(crate) fn renew(
        self: &Arc<Self>,
        now_ms: i64,
        last_ms: i64,
        reach_ms: u64,
        then: impl FnOnce(Outcome) + Send + 'static,
    ) -> Result<(), Error> {
        let held = Arc::clone(self);
        let renewing = thread::Builder::new().name(self.thread_name.to_owned()).spawn(move || {
            let mut hold = lock(&held.hold);
            let Some(outcome) = hold.as_mut().map(|hold| hold.renew(now_ms, last_ms, reach_ms)) else { return };
            if matches!(outcome, Outcome::Lost(_)) {
                // The generators close before another holder can get the slot.
                then(outcome);
                *hold = None;
            } else {
                drop(hold);
                then(outcome);
            }
        });
        renewing.map(drop).map_err(|error| no_thread(&error))
    }

    /// Begins to release the node; no ID at or past `end_ms` (Unix ms) was taken.
    pub(crate) fn release(self: &Arc<Self>, end_ms: i64) -> io::Result<Pending<()>> {
        let held = Arc::clone(self);
        background::begin(self.thread_name, move |outcome| {
            let hold = lock(&held.hold).take();
            if let Some(hold) = hold {
                // Without a thread, the window runs out by itself.
                let _ = background::on_ended_thread(|| hold.release(end_ms));
            }
            // The caller may have stopped waiting.
            let _ = outcome.done(());
        })
    }
}

fn no_thread(error: &io::Error) -> Error {
    Error::told(ErrorKind::StoreUnavailable, format!("the system gives no thread to renew a lease on: {error}"))
}
