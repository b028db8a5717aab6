//! A section of an allocator, and the other allocator that holds it.

use std::sync::{Arc, Mutex};

use snowmint_core::section::{Section, Users};
use snowmint_core::store::Ask;
use snowmint_core::{ErrorKind, section};
use tokio::sync::Notify;

use super::memory::{Known, Taken};
use super::set::Set;
use crate::error::Error;
use crate::process::lock;
use crate::process::monotonic::monotonic_ms;

/// A section, from the first request to its end.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) set: Arc<Set>,
    pub(super) users: Users,
    pub(super) key: String,
    pub(super) state: Mutex<State>,
    pub(super) news: Notify,
    /// Wakes the task of the section.
    pub(super) look: Notify,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) phase: Phase,
    /// The error that stops progress.
    pub(super) trouble: Option<Error>,
    /// The time of the last request.
    pub(super) wanted_ms: u64,
    /// The other holder, during a claim.
    pub(super) elsewhere: Option<Elsewhere>,
    /// The bytes of the section itself. `None` once it is over.
    pub(super) taken: Option<Taken>,
}

/// A section that another allocator holds.
#[derive(Debug)]
pub(super) struct Elsewhere {
    pub(super) holder: String,
    pub(super) seen: section::Elsewhere,
}

#[derive(Debug)]
pub(super) enum Phase {
    Claiming,
    Held(Box<Section<Known>>),
    Over,
}

impl State {
    /// Ends the section, and returns its memory to the budget. Returns the request that frees the section in the store.
    pub(super) fn end(&mut self) -> Option<Ask<section::Record>> {
        self.taken = None;
        match std::mem::replace(&mut self.phase, Phase::Over) {
            Phase::Held(mut section) => section.release(),
            Phase::Claiming | Phase::Over => None,
        }
    }

    /// Returns the bytes of the users' numbers.
    pub(super) fn bytes(&self) -> u64 {
        if let Phase::Held(section) = &self.phase { section.memory().bytes() } else { 0 }
    }
}

impl Place {
    /// Returns the error of a claim that would fail again.
    pub(super) fn refusal(&self) -> Option<Error> {
        use ErrorKind::{Exhausted, StoreUnavailable, WindowClosed};
        let state = lock(&self.state);
        let over = matches!(state.phase, Phase::Over);
        let passes = |error: &Error| matches!(error.kind(), StoreUnavailable | WindowClosed | Exhausted);
        state.trouble.clone().filter(|error| over && !passes(error))
    }

    /// Notes that the store does not answer.
    pub(super) fn note_trouble(&self, error: Error) {
        let mut state = lock(&self.state);
        state.trouble = Some(error);
        state.elsewhere = None;
    }

    /// Returns whether another allocator keeps the section until the deadline: it is alive, or its window ends later.
    ///
    /// If its record is not current, wakes the claim to read it again, and returns `false`.
    pub(super) fn stays_elsewhere(&self, deadline_ms: u64) -> bool {
        let state = lock(&self.state);
        let Some(elsewhere) = &state.elsewhere else { return false };
        if !elsewhere.seen.is_current(monotonic_ms()) {
            self.look.notify_one();
            return false;
        }
        elsewhere.seen.stays(deadline_ms)
    }
}
