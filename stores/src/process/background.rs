//! Calls of unknown length, such as a write to a disk or a store. They run on another thread or a runtime; the caller
//! may wait for the outcome with a deadline.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

#[cfg(feature = "engines")]
use tokio::runtime::Handle;

use super::{Owner, lock};

/// How long the end of a lease, and of all leases of a process, waits for a disk or store.
pub const RELEASE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a thread without calls stays for the next one.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// How often a waiting thread looks whether it is in a forked child, in which the call goes on nowhere.
const FORK_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Where the calls of one disk or store run.
#[derive(Clone, Debug)]
pub enum Background {
    /// One after the other on one thread, because they block.
    Thread(Arc<Lane>),
    /// At the same time on a runtime of tokio.
    #[cfg(feature = "engines")]
    Runtime(Handle),
}

impl Background {
    /// Begins a call.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn run(&self, call: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        match self {
            Self::Thread(lane) => lane.run(Box::pin(call)),
            #[cfg(feature = "engines")]
            Self::Runtime(runtime) => {
                // The handle is dropped: the call goes on.
                drop(runtime.spawn(call));
                Ok(())
            }
        }
    }

    /// Begins a call whose outcome this thread waits for. If it stops waiting before the call begins, the call is not made.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn begin<T: Send + 'static>(&self, call: impl Future<Output = T> + Send + 'static) -> io::Result<Pending<T>> {
        let (outcome, pending) = pair();
        self.run(async move {
            if !outcome.is_abandoned() {
                outcome.done(call.await);
            }
        })?;
        Ok(pending)
    }
}

/// Calls that block, one after the other. Their thread starts with the first call, and ends a minute after the last one.
#[derive(Debug, Default)]
pub struct Lane {
    calls: Mutex<Calls>,
    changed: Condvar,
}

type Call = Pin<Box<dyn Future<Output = ()> + Send>>;

#[derive(Default)]
struct Calls {
    waiting: VecDeque<Call>,
    has_thread: bool,
}

impl std::fmt::Debug for Calls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} calls", self.waiting.len())
    }
}

impl Lane {
    fn run(self: &Arc<Self>, call: Call) -> io::Result<()> {
        let mut calls = lock(&self.calls);
        if !calls.has_thread {
            let lane = Arc::clone(self);
            thread::Builder::new().name("snowmint-calls".to_owned()).spawn(move || lane.serve())?;
            calls.has_thread = true;
        }
        calls.waiting.push_back(call);
        drop(calls);
        self.changed.notify_one();
        Ok(())
    }

    fn serve(&self) {
        let mut calls = lock(&self.calls);
        loop {
            if let Some(call) = calls.waiting.pop_front() {
                drop(calls);
                // After a panic the outcome is dropped, which its waiter hears; the thread serves the other calls.
                drop(catch_unwind(AssertUnwindSafe(|| block_on(call))));
                calls = lock(&self.calls);
                continue;
            }
            let waited = self.changed.wait_timeout_while(calls, IDLE_TIMEOUT, |calls| calls.waiting.is_empty());
            calls = waited.unwrap_or_else(PoisonError::into_inner).0;
            if calls.waiting.is_empty() {
                calls.has_thread = false;
                return;
            }
        }
    }
}

/// Runs a future on this thread. Its calls block, or another thread wakes it.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

/// The outcome to come, for the thread that began the call. Dropping it abandons the call.
///
/// A forked child has no use of it: a thread of the parent may hold its lock.
#[derive(Debug)]
pub struct Pending<T> {
    shared: Arc<Shared<T>>,
    owner: &'static Owner,
}

/// The place where the call puts its outcome.
#[derive(Debug)]
pub struct Outcome<T>(Arc<Shared<T>>);

/// How far a call is.
#[derive(Debug, PartialEq, Eq)]
pub enum Progress<T> {
    /// It goes on.
    UnderWay,
    /// It has ended.
    Done(T),
    /// It will never end: it panicked, or this is a forked child.
    BrokenOff,
}

#[derive(Debug)]
struct Shared<T> {
    state: Mutex<State<T>>,
    waiting: Thread,
}

#[derive(Debug)]
enum State<T> {
    Progress(Progress<T>),
    /// Nobody waits any more.
    Abandoned,
}

/// Returns both ends of a call that the calling thread will wait for.
pub fn pair<T>() -> (Outcome<T>, Pending<T>) {
    let state = Mutex::new(State::Progress(Progress::UnderWay));
    let shared = Arc::new(Shared { state, waiting: thread::current() });
    (Outcome(Arc::clone(&shared)), Pending { shared, owner: Owner::this() })
}

impl<T> Outcome<T> {
    /// Hands the value to the thread that waits. If none waits any more, the value is dropped.
    pub fn done(self, value: T) {
        self.end(Progress::Done(value));
    }

    fn is_abandoned(&self) -> bool {
        matches!(*lock(&self.0.state), State::Abandoned)
    }

    fn end(&self, end: Progress<T>) {
        let mut state = lock(&self.0.state);
        if matches!(*state, State::Progress(Progress::UnderWay)) {
            *state = State::Progress(end);
            drop(state);
            self.0.waiting.unpark();
        }
    }
}

impl<T> Drop for Outcome<T> {
    fn drop(&mut self) {
        self.end(Progress::BrokenOff);
    }
}

impl<T> Pending<T> {
    /// Looks how far the call is. The outcome comes once.
    pub fn look(&self) -> Progress<T> {
        if !self.owner.is_this_process() {
            return Progress::BrokenOff;
        }
        match &mut *lock(&self.shared.state) {
            State::Progress(Progress::UnderWay) => Progress::UnderWay,
            State::Progress(ended) => mem::replace(ended, Progress::BrokenOff),
            State::Abandoned => Progress::BrokenOff,
        }
    }

    /// Waits for the outcome until the deadline.
    pub fn wait(&self, deadline: Instant) -> Progress<T> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.look() {
                Progress::UnderWay if !left.is_zero() => thread::park_timeout(left.min(FORK_CHECK_INTERVAL)),
                progress => return progress,
            }
        }
    }
}

impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        if self.owner.is_this_process() {
            let ended = mem::replace(&mut *lock(&self.shared.state), State::Abandoned);
            // Dropping an unused outcome may take time, so it happens without the lock.
            drop(ended);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    struct Value(mpsc::Sender<()>);

    impl Drop for Value {
        fn drop(&mut self) {
            self.0.send(()).expect("heard");
        }
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn calls_of_one_lane_come_one_after_the_other_on_one_thread() {
        let background = Background::Thread(Arc::default());
        let calls: Vec<_> = (0..8)
            .map(|number| background.begin(async move { (number, thread::current().id()) }).expect("a thread"))
            .collect();
        let ended: Vec<_> = calls.iter().map(|call| call.wait(soon())).collect();
        let Progress::Done((_, thread)) = ended[0] else { panic!("{ended:?}") };
        assert_eq!(ended, (0..8).map(|number| Progress::Done((number, thread))).collect::<Vec<_>>());
    }

    #[test]
    fn an_outcome_that_nobody_waits_for_is_dropped_and_a_call_that_has_not_begun_is_not_made() {
        let background = Background::Thread(Arc::default());
        let (go_on, resumed) = mpsc::channel::<()>();
        let (dropped, gone) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel::<()>();
        let first = background.begin(async move {
            begin.send(()).expect("heard");
            resumed.recv().expect("resumed");
            Value(dropped)
        });
        let second = background.begin(async { panic!("it is not made") });
        begun.recv().expect("it begins");
        assert!(matches!(first.as_ref().expect("a thread").wait(Instant::now()), Progress::UnderWay));
        drop::<(Pending<Value>, Pending<()>)>((first.expect("a thread"), second.expect("a thread")));
        go_on.send(()).expect("it waits");
        assert_eq!(gone.recv(), Ok(()));
        let third = background.begin(async { 3 }).expect("a thread");
        assert_eq!((third.wait(soon()), third.look()), (Progress::Done(3), Progress::BrokenOff));
    }

    #[test]
    fn a_call_that_panics_breaks_off_and_the_next_one_is_made() {
        let background = Background::Thread(Arc::default());
        let broken = background.begin::<()>(async { panic!("on purpose") }).expect("a thread");
        assert_eq!(broken.wait(soon()), Progress::BrokenOff);
        assert_eq!(background.begin(async { 5 }).expect("a thread").wait(soon()), Progress::Done(5));
    }
}
