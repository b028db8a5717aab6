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

/// The age up to which the record of another allocator's section counts as current, in ms.
const MAX_RECORD_AGE_MS: u64 = 100;

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

/// A section that another allocator holds. Times are of the monotonic clock.
#[derive(Debug)]
pub(super) struct Elsewhere {
    pub(super) holder: String,
    /// The time when its record was read.
    pub(super) read_ms: u64,
    /// The time when it is free, unless its holder renews it.
    pub(super) free_at_ms: u64,
    /// Whether a renewal was seen, and the next one is not overdue.
    pub(super) lives: bool,
    /// The time from which a renewal is overdue.
    pub(super) overdue_at_ms: u64,
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
        if monotonic_ms().saturating_sub(elsewhere.read_ms) > MAX_RECORD_AGE_MS {
            self.look.notify_one();
            return false;
        }
        elsewhere.lives || elsewhere.free_at_ms > deadline_ms
    }
}

/// The holder of a section, as a claim saw it from read to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) free_at_ms: u64,
    /// The holder's window, which begins again at each renewal.
    window_ms: u64,
    renewed: bool,
}

impl Seen {
    /// Adds a read at `now_ms`, after which the claim has to wait for `wait_ms`.
    pub(super) const fn after(before: Option<Self>, now_ms: u64, wait_ms: u64) -> Self {
        let free_at_ms = now_ms.saturating_add(wait_ms);
        match before {
            None => Self { free_at_ms, window_ms: wait_ms, renewed: false },
            Some(before) if free_at_ms > before.free_at_ms => Self { free_at_ms, window_ms: wait_ms, renewed: true },
            Some(before) => before,
        }
    }

    /// Returns the time from which a renewal is overdue.
    pub(super) const fn overdue_at_ms(self) -> u64 {
        self.free_at_ms.saturating_sub(self.window_ms / 4)
    }

    /// Returns whether the holder is alive: it renews after half a window, and has another quarter for delays.
    pub(super) const fn lives(self, wait_ms: u64) -> bool {
        self.renewed && wait_ms > self.window_ms / 4
    }
}
