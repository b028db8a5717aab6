//! Renewal and release of a node over a store.

use std::sync::Arc;

use snowmint_core::Window;
use snowmint_core::lease::{Renewal, RenewalStep};
#[cfg(feature = "engines")]
use snowmint_core::{lease::Record, store::Version};

use super::Grant;
use crate::error::Error;
use crate::process::Owner;
use crate::store::ask::{reply_of, request_of};
use crate::store::blocking::BlockingStore;
use crate::store::execute::{Answer, Request, execute_blocking};
#[cfg(feature = "engines")]
use crate::store::{Store, execute::execute};

/// The outcome of a renewal.
#[derive(Debug)]
pub enum Outcome {
    /// The window is durable.
    Window {
        /// The window.
        window: Window,
        /// How far this machine's clock is ahead of the store's, in ms, if the store has a clock.
        skew_ms: Option<i64>,
        /// The writes that a failover of the store could lose.
        standby_risk: Option<Error>,
    },
    /// The store did not answer, or a clock is wrong. The window stays; a later renewal may succeed.
    Later(Error),
    /// Another holder has the node.
    Lost(Error),
}

/// A node held over a store whose calls block.
#[derive(Debug)]
pub struct StoreLease {
    store: Arc<dyn BlockingStore>,
    session: Session,
}

impl StoreLease {
    /// Returns the lease of a grant of this store.
    pub fn new(store: Arc<dyn BlockingStore>, grant: &Grant) -> Self {
        Self { store, session: Session::of_grant(grant) }
    }

    /// Extends the window to `reach_ms` past `now_ms` or past `last_ms`, the start of the first unused tick (Unix ms).
    pub fn renew(&mut self, now_ms: i64, last_ms: i64, reach_ms: u64) -> Outcome {
        let first = self.session.renewal.renew(now_ms, last_ms, reach_ms);
        self.drive(first)
    }

    /// Releases the node; no ID at or past `end_ms` (Unix ms) was taken. If the write fails, the window runs out by itself.
    pub fn release(&mut self, end_ms: i64) -> Outcome {
        let first = self.session.renewal.release(end_ms);
        self.drive(first)
    }

    fn drive(&mut self, first: RenewalStep) -> Outcome {
        let name = self.store.name();
        let mut next = self.session.next(name, first, None);
        loop {
            match next {
                Next::Ask(request) => next = self.session.advance(name, execute_blocking(&*self.store, request)),
                Next::Done(outcome) => return outcome.at_risk(|| self.store.standby_risk()),
            }
        }
    }
}

/// Extends the window of a node on behalf of its holder, as [`StoreLease::renew`] does.
#[cfg(feature = "engines")]
pub(super) async fn renew_async(
    store: &dyn Store,
    session: &mut Session,
    now_ms: i64,
    last_ms: i64,
    reach_ms: u64,
) -> Outcome {
    let first = session.renewal.renew(now_ms, last_ms, reach_ms);
    drive_async(store, session, first).await
}

/// Releases a node on behalf of its holder, as [`StoreLease::release`] does.
#[cfg(feature = "engines")]
pub(super) async fn release_async(store: &dyn Store, session: &mut Session, end_ms: i64) -> Outcome {
    let first = session.renewal.release(end_ms);
    drive_async(store, session, first).await
}

#[cfg(feature = "engines")]
async fn drive_async(store: &dyn Store, session: &mut Session, first: RenewalStep) -> Outcome {
    let mut next = session.next(store.name(), first, None);
    loop {
        match next {
            Next::Ask(request) => next = session.advance(store.name(), execute(store, request).await),
            Next::Done(outcome) => return outcome.at_risk(|| store.standby_risk()),
        }
    }
}

impl Outcome {
    fn at_risk(self, risk: impl FnOnce() -> Option<Error>) -> Self {
        match self {
            Self::Window { window, skew_ms, .. } => Self::Window { window, skew_ms, standby_risk: risk() },
            other => other,
        }
    }
}

/// The next step of a renewal.
enum Next {
    Ask(Request),
    Done(Outcome),
}

/// A granted node: core's [`Renewal`], with its steps as requests to a store.
#[derive(Debug)]
pub(super) struct Session {
    renewal: Renewal,
    /// The key of the node's record.
    key: String,
    owner: &'static Owner,
}

impl Session {
    fn of_grant(grant: &Grant) -> Self {
        Self { renewal: grant.renewal, key: grant.key.clone(), owner: grant.owner }
    }

    /// Continues a lease whose record was read, for a holder that has shown its nonce.
    #[cfg(feature = "engines")]
    pub(super) fn resume(key: String, node: u32, (record, version): (Record, Version)) -> Self {
        Self { renewal: Renewal::resume(node, record, version, true), key, owner: Owner::this() }
    }

    /// Takes the answer to the last request.
    fn advance(&mut self, store: &str, answer: Result<Answer, Error>) -> Next {
        if let Ok(Answer::Clock(store_ms, own_ms)) = answer {
            let next = self.renewal.clock(store_ms, own_ms);
            return self.next(store, next, None);
        }
        match reply_of(store, &self.key, answer) {
            Ok((reply, no_answer)) => {
                let next = self.renewal.reply(reply);
                self.next(store, next, no_answer)
            }
            Err(error) => Next::Done(Outcome::Later(error)),
        }
    }

    /// Turns a step into a request to the store, or ends the renewal.
    fn next(&self, store: &str, step: RenewalStep, no_answer: Option<Error>) -> Next {
        if let Err(forked) = self.owner.refuse_child() {
            return Next::Done(Outcome::Later(forked));
        }
        let unavailable = |why| Error::unavailable(store, why);
        Next::Done(match step {
            RenewalStep::ReadClock => return Next::Ask(Request::ReadClock),
            RenewalStep::Ask(ask) => match request_of(&self.key, &ask) {
                Some(request) => return Next::Ask(request),
                None => Outcome::Later(Error::unavailable(store, "a lease has no counter")),
            },
            RenewalStep::Window(window, skew_ms) => Outcome::Window { window, skew_ms, standby_risk: None },
            RenewalStep::Released => {
                Outcome::Window { window: self.renewal.window(), skew_ms: None, standby_risk: None }
            }
            RenewalStep::Later(Some(error)) => Outcome::Later(unavailable(error)),
            RenewalStep::Later(None) => {
                Outcome::Later(no_answer.unwrap_or_else(|| Error::unavailable(store, "no answer")))
            }
            RenewalStep::Lost(error) => Outcome::Lost(unavailable(error)),
        })
    }
}
