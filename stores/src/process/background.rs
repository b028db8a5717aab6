//! Work of unknown length, such as a write to a disk: it runs on a separate thread, and its caller waits with a deadline.

use std::io;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use super::lock;

/// How long the end of a lease, and of all leases of a process, waits for a disk or store.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// How often a waiting thread looks whether it is in a forked child, in which the work goes on nowhere.
const LOOK: Duration = Duration::from_millis(20);

/// The outcome to come, for the thread that began the work.
#[derive(Debug)]
pub struct Pending<T>(Arc<Shared<T>>);

/// The place where the work puts its outcome.
#[derive(Debug)]
pub struct Outcome<T>(Arc<Shared<T>>);

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

/// Returns both ends of work that the calling thread will wait for.
pub(crate) fn pair<T>() -> (Outcome<T>, Pending<T>) {
    let shared = Arc::new(Shared { state: Mutex::new(State::UnderWay), waiting: thread::current() });
    (Outcome(Arc::clone(&shared)), Pending(shared))
}

/// Begins the work on a new thread with this name.
///
/// # Errors
/// The system gives no thread.
pub fn begin<T: Send + 'static>(name: &str, work: impl FnOnce(Outcome<T>) + Send + 'static) -> io::Result<Pending<T>> {
    let (outcome, pending) = pair();
    thread::Builder::new().name(name.to_owned()).spawn(move || work(outcome))?;
    Ok(pending)
}

/// Does the work on a separate thread, and returns when nothing of that thread is left.
///
/// Libraries do something at the end of each thread that has used them. OpenSSL then takes a lock of the whole process, and
/// a child that is forked at this moment would wait for the lock for ever. Programs often fork right after a claim.
///
/// # Errors
/// The system gives no thread.
pub fn on_ended_thread<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, work)?;
        Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

impl<T> Outcome<T> {
    /// Hands the value to the thread that waits.
    ///
    /// # Errors
    /// Gives the value back if no thread waits any more.
    pub fn done(self, value: T) -> Result<(), T> {
        let mut state = lock(&self.0.state);
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
    /// Waits until the deadline, or until `here` returns `false`, as in a forked child. Then the result is `None`, and the
    /// work goes on unattended.
    pub fn wait(self, deadline: Instant, here: impl Fn() -> bool) -> Option<T> {
        loop {
            if !here() {
                // The lock may be held by a thread that is not in this process.
                return None;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let mut state = lock(&self.0.state);
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
    use std::cell::Cell;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc;

    #[test]
    fn a_thread_has_left_nothing_when_its_work_returns() {
        static ENDED: AtomicBool = AtomicBool::new(false);
        struct AtEnd;
        impl Drop for AtEnd {
            fn drop(&mut self) {
                thread::sleep(Duration::from_millis(50));
                ENDED.store(true, Ordering::Release);
            }
        }
        thread_local! {
            static LIBRARY: Cell<Option<AtEnd>> = const { Cell::new(None) };
        }
        let done = on_ended_thread(|| LIBRARY.set(Some(AtEnd)));
        assert!(done.is_ok() && ENDED.load(Ordering::Acquire));
    }

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
