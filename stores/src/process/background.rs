//! Work that takes as long as a disk or a store likes: on a thread of its own, and waited for with an end.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// How long a disk or store is waited for in any case, where a caller gives less time or none.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// How often a waiting thread looks whether it is in a forked child, in which the work goes on nowhere.
const LOOK: Duration = Duration::from_millis(20);

/// What will come of the work, for the thread that began it.
#[derive(Debug)]
pub(crate) struct Pending<T>(Arc<Shared<T>>);

/// Where the work puts what came of it.
#[derive(Debug)]
pub(crate) struct Outcome<T>(Arc<Shared<T>>);

#[derive(Debug)]
struct Shared<T> {
    state: Mutex<State<T>>,
    waiting: Thread,
}

#[derive(Debug)]
enum State<T> {
    UnderWay,
    Done(T),
    /// Nobody waits any more.
    Abandoned,
}

impl<T> Shared<T> {
    // Held for no longer than it takes to move a value.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Both ends of work that the calling thread is to wait for.
pub(crate) fn pair<T>() -> (Outcome<T>, Pending<T>) {
    let shared = Arc::new(Shared { state: Mutex::new(State::UnderWay), waiting: thread::current() });
    (Outcome(Arc::clone(&shared)), Pending(shared))
}

/// Begins the work on a thread of its own.
///
/// # Errors
/// The system gives no thread.
pub(crate) fn begin<T: Send + 'static>(
    name: &str,
    work: impl FnOnce(Outcome<T>) + Send + 'static,
) -> io::Result<Pending<T>> {
    let (outcome, pending) = pair();
    thread::Builder::new().name(name.to_owned()).spawn(move || work(outcome))?;
    Ok(pending)
}

impl<T> Outcome<T> {
    /// Hands the value to the thread that waits; it comes back if nobody does any more.
    pub(crate) fn done(self, value: T) -> Result<(), T> {
        let mut state = self.0.lock();
        if matches!(*state, State::Abandoned) {
            return Err(value);
        }
        *state = State::Done(value);
        drop(state);
        self.0.waiting.unpark();
        Ok(())
    }
}

impl<T> Pending<T> {
    /// Waits until the deadline, and no longer than `here` says that this is the process that began the work. After that it
    /// goes on unattended.
    pub(crate) fn wait(self, deadline: Instant, here: impl Fn() -> bool) -> Option<T> {
        loop {
            if !here() {
                // The lock may be held by a thread that is not in this process.
                return None;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let mut state = self.0.lock();
            if let State::Done(_) = *state {
                let State::Done(value) = std::mem::replace(&mut *state, State::Abandoned) else { return None };
                return Some(value);
            }
            if left.is_zero() {
                *state = State::Abandoned;
                return None;
            }
            drop(state);
            thread::park_timeout(left.min(LOOK));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn an_outcome_comes_to_the_thread_that_waits_or_back_to_the_work() {
        let soon = Instant::now() + Duration::from_secs(60);
        let pending = begin("test", |outcome| assert_eq!(outcome.done(5), Ok(()))).expect("a thread");
        assert_eq!(pending.wait(soon, || true), Some(5));

        let (go_on, told) = mpsc::channel();
        let (came_back, back) = mpsc::channel();
        let work = move |outcome: Outcome<i32>| {
            told.recv().expect("told");
            came_back.send(outcome.done(7)).expect("heard");
        };
        let pending = begin("test", work).expect("a thread");
        assert_eq!(pending.wait(Instant::now(), || true), None, "the time is over");
        go_on.send(()).expect("it waits");
        assert_eq!(back.recv(), Ok(Err(7)));

        let (_outcome, pending) = pair::<i32>();
        assert_eq!(pending.wait(soon, || false), None, "a forked child does not wait");
    }
}
