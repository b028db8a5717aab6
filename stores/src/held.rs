//! What a lease holds where the calls wait for their answers, such as a slot on a disk or a node over a caller's store. Nobody
//! knows how long they take, so each is on a thread of its own.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use snowmint_core::ErrorKind;

use crate::apart::{self, Pending};
use crate::error::Error;
use crate::holding::Renewed;

/// A node that is held.
pub(crate) trait Hold: Send + 'static {
    /// The name of the threads.
    const THREAD: &'static str;

    /// Moves the window's end up.
    fn renew(&mut self, now_ms: i64, last_ms: i64, reach_ms: u64) -> Renewed;

    /// Gives the node back, with nothing used from `end_ms` on. If it cannot be written, the window runs out by itself.
    fn release(self, end_ms: i64);
}

/// A node that is held, one call at a time.
#[derive(Debug)]
pub(crate) struct Held<H>(
    /// Nothing once it is lost or given back: a renewal that comes too late writes nothing.
    Mutex<Option<H>>,
);

impl<H: Hold> Held<H> {
    pub(crate) fn new(hold: H) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Some(hold))))
    }

    /// Begins to move the window's end up.
    pub(crate) fn renew(
        self: &Arc<Self>,
        now_ms: i64,
        last_ms: i64,
        reach_ms: u64,
        then: impl FnOnce(Renewed) + Send + 'static,
    ) -> Result<(), Error> {
        let held = Arc::clone(self);
        let renewing = thread::Builder::new().name(H::THREAD.to_owned()).spawn(move || {
            let mut hold = held.lock();
            let Some(renewed) = hold.as_mut().map(|hold| hold.renew(now_ms, last_ms, reach_ms)) else { return };
            if matches!(renewed, Renewed::Lost(_)) {
                // Nobody else is to get it before its generators know.
                then(renewed);
                *hold = None;
            } else {
                drop(hold);
                then(renewed);
            }
        });
        renewing.map(drop).map_err(|error| no_thread(&error))
    }

    /// Begins to give the node back, with nothing used from `end_ms` on.
    pub(crate) fn release(self: &Arc<Self>, end_ms: i64) -> io::Result<Pending<()>> {
        let held = Arc::clone(self);
        apart::begin(H::THREAD, move |outcome| {
            let hold = held.lock().take();
            if let Some(hold) = hold {
                hold.release(end_ms);
            }
            // Nobody may be waiting any more.
            let _ = outcome.done(());
        })
    }

    fn lock(&self) -> MutexGuard<'_, Option<H>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn no_thread(error: &io::Error) -> Error {
    Error::told(ErrorKind::StoreUnavailable, format!("the system gives no thread to renew a lease on: {error}"))
}
