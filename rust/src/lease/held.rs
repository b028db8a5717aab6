//! The node of a lease in its backend: one call at a time, in the background.

use std::io;
use std::mem;
use std::sync::{Arc, Mutex};

use snowmint_stores::host::Outcome;
use snowmint_stores::host::background::{self, Background, Pending, pair};
use snowmint_stores::host::lock;

use super::grant::Holding;

/// A node that this process holds.
#[derive(Debug)]
pub(super) struct Held {
    state: Mutex<State>,
    background: Background,
}

#[derive(Debug)]
enum State {
    Idle(Box<dyn Holding>),
    Renewing,
    /// Is released as soon as its renewal has ended: no ID at or past the time (Unix ms) was taken.
    Ending(i64, background::Outcome<()>),
    /// Lost or released: a late renewal writes nothing.
    Over,
}

impl Held {
    pub(super) fn new(holding: Box<dyn Holding>, background: Background) -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(State::Idle(holding)), background })
    }

    /// Begins to extend the window, and calls `then` with the outcome.
    pub(super) fn renew(
        self: &Arc<Self>,
        now_ms: i64,
        last_ms: i64,
        reach_ms: u64,
        then: impl FnOnce(Outcome) + Send + 'static,
    ) -> io::Result<()> {
        let held = Arc::clone(self);
        self.background.run(async move {
            let Some(mut holding) = held.take(State::Renewing) else { return };
            let outcome = holding.renew(now_ms, last_ms, reach_ms).await;
            if let Outcome::Lost(_) = outcome {
                // The generators close before another holder can get the slot.
                then(outcome);
                *lock(&held.state) = State::Over;
            } else {
                held.put_back(holding).await;
                then(outcome);
            }
        })
    }

    /// Begins to release the node; no ID at or past `end_ms` (Unix ms) was taken.
    pub(super) fn release(self: &Arc<Self>, end_ms: i64) -> io::Result<Pending<()>> {
        let (released, pending) = pair();
        let held = Arc::clone(self);
        self.background.run(async move {
            if let Some(holding) = held.take(State::Over) {
                holding.release(end_ms).await;
            } else {
                let mut state = lock(&held.state);
                if let State::Renewing = *state {
                    *state = State::Ending(end_ms, released);
                    return;
                }
            }
            released.done(());
        })?;
        Ok(pending)
    }

    /// Takes the node for a call, if no other call has it.
    fn take(&self, next: State) -> Option<Box<dyn Holding>> {
        let mut state = lock(&self.state);
        match mem::replace(&mut *state, next) {
            State::Idle(holding) => Some(holding),
            other => {
                *state = other;
                None
            }
        }
    }

    async fn put_back(&self, holding: Box<dyn Holding>) {
        let (end_ms, released) = {
            let mut state = lock(&self.state);
            let State::Ending(end_ms, released) = mem::replace(&mut *state, State::Over) else {
                *state = State::Idle(holding);
                return;
            };
            (end_ms, released)
        };
        holding.release(end_ms).await;
        released.done(());
    }
}
