//! Claims of slots with a time limit, because a disk may stand still for any time.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use snowmint_stores::process::background;
use snowmint_stores::process::fork::PerProcess;
use snowmint_stores::process::{Owner, lock};
use snowmint_stores::{Refusal, Terms};

use super::directory::cannot;
use super::{Grant, SlotDirectory};

/// How long a claim waits for the disk at least, also if `max_wait_ms` is shorter. A disk that other programs keep busy can
/// take seconds for a write.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether a claim is under way, by directory. Claims take turns, so a disk that stands still holds up one thread.
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

/// Claims a slot on a separate thread, and waits `max_wait_ms`, or [`PATIENCE`] if that is longer. A slot that is granted
/// later is released.
pub(crate) fn claim_in_time(place: &SlotDirectory, terms: &Terms, now_ms: i64) -> Result<Grant, Refusal> {
    let patience = Duration::from_millis(terms.max_wait_ms).max(PATIENCE);
    let deadline = Instant::now() + patience;
    let owner = Owner::this();
    let refused = |kind: io::ErrorKind, why: String| cannot("use", &place.path, &io::Error::new(kind, why));
    let no_answer = || {
        let why = format!("its disk gave no answer within {} ms", patience.as_millis());
        Refusal::Error(refused(io::ErrorKind::TimedOut, why))
    };
    let turns = TURNS.get();
    let here = || owner.is_this_process();
    let turn = {
        let mut turns = lock(&turns.0);
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
    let (own_place, own_terms) = (place.clone(), terms.clone());
    let pending = background::begin("snowmint-claim", move |outcome| {
        let claimed = own_place.claim(&own_terms, now_ms);
        drop(turn);
        if let Err(Ok(Grant { slot, window, .. })) = outcome.done(claimed) {
            // If the write fails, the window runs out by itself.
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

/// Returns the refusal in a forked child: the claim was the parent's, so the child claims again.
fn forked(refused: &dyn Fn(io::ErrorKind, String) -> snowmint_stores::Error) -> Refusal {
    Refusal::NotYet(1, refused(io::ErrorKind::Interrupted, "the process forked meanwhile: try again".to_owned()))
}
