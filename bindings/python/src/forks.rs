//! Forks, which wait for the calls of this package's threads.
//!
//! A forked child gets a copy of each lock in its present state. If another thread had locked it, in the interpreter or in a
//! library such as OpenSSL, no thread of the child unlocks it. So a fork waits until no thread of this package is in the code of
//! a store, and none enters while the process forks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use snowmint_stores::host::fork::PerProcess;

use crate::parking;

/// How long a fork waits for a call, and a call for a fork.
const FORK_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_micros(200);

/// How many calls and forks are under way.
#[derive(Debug, Default)]
struct UnderWay {
    calls: AtomicUsize,
    forks: AtomicUsize,
}

static UNDER_WAY: PerProcess<UnderWay> = PerProcess::new();

/// Attaches a thread of this package to the interpreter, for one call. `None` if the interpreter has ended.
pub(crate) fn attach<T>(call: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    let UnderWay { calls, forks } = UNDER_WAY.get();
    let since = Instant::now();
    calls.fetch_add(1, Ordering::SeqCst);
    while forks.load(Ordering::SeqCst) > 0 && since.elapsed() < FORK_TIMEOUT {
        calls.fetch_sub(1, Ordering::SeqCst);
        thread::sleep(POLL_INTERVAL);
        calls.fetch_add(1, Ordering::SeqCst);
    }
    let answer = parking::attach(call);
    calls.fetch_sub(1, Ordering::SeqCst);
    answer
}

/// Waits until no thread of this package calls a store, for 2 s at most. Returns the seconds left of them.
#[pyfunction]
pub(crate) fn before_fork(py: Python<'_>) -> f64 {
    let UnderWay { calls, forks } = UNDER_WAY.get();
    let since = Instant::now();
    forks.fetch_add(1, Ordering::SeqCst);
    // A call needs the interpreter to end.
    py.detach(|| {
        while calls.load(Ordering::SeqCst) > 0 && since.elapsed() < FORK_TIMEOUT {
            thread::sleep(POLL_INTERVAL);
        }
    });
    FORK_TIMEOUT.saturating_sub(since.elapsed()).as_secs_f64()
}

/// Lets calls go on in the parent. A child counts from 0.
#[pyfunction]
pub(crate) fn after_fork_in_parent() {
    UNDER_WAY.get().forks.fetch_sub(1, Ordering::SeqCst);
}
