//! Claims of slots with an end: a disk may stand still for as long as it likes.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::place::cannot;
use super::{Grant, Place, Refused};
use crate::apart::{self, PATIENCE};
use crate::fork::PerProcess;

/// Whether a claim is under way, by directory: they take turns, so a disk that stands still holds up one thread.
#[derive(Debug, Default)]
struct Turns(Mutex<HashMap<PathBuf, Arc<AtomicBool>>>);

static TURNS: PerProcess<Turns> = PerProcess::new();

/// Ends when dropped.
struct Turn(Arc<AtomicBool>);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Has `claim` take a slot of that place on a thread of its own, and waits so long, or [`PATIENCE`] if that is more. What
/// comes later is given back.
pub(crate) fn claim_in_time(
    place: &Place,
    patience: Duration,
    claim: impl FnOnce() -> Result<Grant, Refused> + Send + 'static,
) -> Result<Grant, Refused> {
    let patience = patience.max(PATIENCE);
    let deadline = Instant::now() + patience;
    let refused = |kind: io::ErrorKind, why: String| cannot("use", &place.path, &io::Error::new(kind, why));
    let no_answer = || {
        let why = format!("its disk gave no answer within {} ms", patience.as_millis());
        Refused::Error(refused(io::ErrorKind::TimedOut, why))
    };
    let turns = TURNS.get();
    let here = || std::ptr::eq(turns, TURNS.get());
    let turn = {
        let mut turns = turns.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(turns.entry(place.path.clone()).or_default())
    };
    while turn.swap(true, Ordering::AcqRel) {
        if Instant::now() >= deadline {
            return Err(no_answer());
        }
        if !here() {
            return Err(forked(&refused));
        }
        thread::sleep(Duration::from_millis(1));
    }
    let turn = Turn(turn);
    let pending = apart::begin("snowmint-claim", move |outcome| {
        let claimed = claim();
        drop(turn);
        if let Err(Ok(Grant { slot, window, .. })) = outcome.done(claimed) {
            // If it cannot be written, the window runs out by itself.
            drop(slot.give_back(window.start_ms));
        }
    });
    let pending =
        pending.map_err(|error| refused(error.kind(), format!("the system gives no thread for that: {error}")))?;
    match pending.wait(deadline, here) {
        Some(claimed) => claimed,
        None if here() => Err(no_answer()),
        None => Err(forked(&refused)),
    }
}

/// The claim was the parent's: the child is to begin anew.
fn forked(refused: &dyn Fn(io::ErrorKind, String) -> crate::error::Error) -> Refused {
    Refused::NotYet(1, refused(io::ErrorKind::Interrupted, "the process forked meanwhile: try again".to_owned()))
}
