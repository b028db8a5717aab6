//! Work on the runtime of this process, and the calls that wait for it: of threads, and of event loops.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use snowmint_stores::Error;
use snowmint_stores::host::wake::Wake;
use snowmint_stores::host::{Owner, lock, runtime};
use tokio::task::AbortHandle;

use crate::error::Failure;
use crate::forks::attach;
use crate::parking;
use crate::stop::Waits;

const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Work that runs. A drop stops it.
struct Work<T> {
    end: Arc<End<T>>,
    task: AbortHandle,
    owner: &'static Owner,
}

/// The end of work, and the callers that wait for it.
struct End<T> {
    state: Mutex<State<T>>,
    wake: Wake,
}

struct State<T> {
    answer: Option<Result<T, Error>>,
    is_over: bool,
    /// Called at the end.
    callback: Option<Py<PyAny>>,
}

/// Ends the work, also if it panics.
struct Ending<T>(Arc<End<T>>);

impl<T> Drop for Ending<T> {
    fn drop(&mut self) {
        let callback = {
            let mut state = lock(&self.0.state);
            state.is_over = true;
            state.callback.take()
        };
        self.0.wake.notify();
        if let Some(callback) = callback {
            // Does nothing if the interpreter has ended.
            attach(|py| notify(callback.bind(py)));
        }
    }
}

fn notify(callback: &Bound<'_, PyAny>) {
    if let Err(failed) = parking::call(callback, ()) {
        failed.write_unraisable(callback.py(), Some(callback));
    }
}

/// Work of any type. With code for each type the extension would be a third larger. Calls that wait and calls for event loops share
/// it, too: the work of each would be compiled twice.
pub(crate) type Boxed<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

/// Work that has begun: on the thread of its caller, if it need not wait.
enum Begun<T> {
    Done(Result<T, Error>),
    Running(Work<T>),
}

impl<T: Send + 'static> Begun<T> {
    fn new(mut work: Boxed<T>) -> Result<Self, Error> {
        let runtime = runtime()?;
        {
            let _entered = runtime.enter();
            if let Poll::Ready(answer) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                return Ok(Self::Done(answer));
            }
        }
        let end = Arc::new(End {
            state: Mutex::new(State { answer: None, is_over: false, callback: None }),
            wake: Wake::default(),
        });
        let ending = Ending(Arc::clone(&end));
        let task: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async move {
            let answer = work.await;
            lock(&ending.0.state).answer = Some(answer);
        });
        let task = runtime.spawn(task);
        Ok(Self::Running(Work { end, task: task.abort_handle(), owner: Owner::this() }))
    }
}

impl<T> End<T> {
    /// Takes the answer, once. `None` while the work runs.
    fn take(&self) -> Option<Result<T, Failure>> {
        let (is_over, answer) = {
            let mut state = lock(&self.state);
            (state.is_over, state.answer.take())
        };
        match answer {
            Some(answer) => Some(answer.map_err(Failure::from)),
            None => is_over.then(|| Err(PyRuntimeError::new_err("the call was broken off").into())),
        }
    }
}

impl<T> Drop for Work<T> {
    fn drop(&mut self) {
        // A forked child has no runtime that could stop it, and its locks may be locked for ever.
        if self.owner.is_this_process() {
            self.task.abort();
        }
    }
}

/// Waits for work, while other threads run and Python handles signals.
pub(crate) fn wait<T: Send + 'static>(
    py: Python<'_>,
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Failure> {
    wait_boxed(py, Box::pin(work))
}

fn wait_boxed<T: Send + 'static>(py: Python<'_>, work: Boxed<T>) -> Result<T, Failure> {
    let work = match Begun::new(work)? {
        Begun::Done(answer) => return Ok(answer?),
        Begun::Running(work) => work,
    };
    let waits = Waits::new(py)?;
    loop {
        if let Some(answer) = work.end.take() {
            return answer;
        }
        waits.wait(&work.end.wake, CHECK_INTERVAL)?;
        // A signal's handler may have forked, and the work is the parent's.
        work.owner.refuse_child()?;
    }
}

/// An answer, which becomes an object of Python where it is taken.
type Answer = Box<dyn for<'py> FnOnce(Python<'py>) -> PyResult<Py<PyAny>> + Send>;

/// Work that a coroutine waits for.
#[pyclass(frozen, module = "snowmint._snowmint")]
pub(crate) struct Call(Mutex<Option<Work<Answer>>>);

impl Call {
    // The lock is free while Python code runs.
    fn end(&self) -> Option<Arc<End<Answer>>> {
        lock(&self.0).as_ref().map(|work| Arc::clone(&work.end))
    }
}

#[pymethods]
impl Call {
    /// Calls a function without arguments at the end, on any thread.
    fn on_end(&self, callback: &Bound<'_, PyAny>) {
        let Some(end) = self.end() else { return };
        let is_over = {
            let mut state = lock(&end.state);
            if !state.is_over {
                state.callback = Some(callback.clone().unbind());
            }
            state.is_over
        };
        if is_over {
            notify(callback);
        }
    }

    /// Takes the answer, or raises the error.
    fn answer(&self, py: Python<'_>) -> Result<Option<Py<PyAny>>, Failure> {
        let taken = self.end().and_then(|end| end.take()).transpose()?;
        Ok(taken.map(|answer| answer(py)).transpose()?)
    }

    /// Stops the work.
    fn stop(&self) {
        let work = lock(&self.0).take();
        drop(work);
    }
}

/// Begins work, and returns the coroutine that waits for it.
pub(crate) fn later<T>(
    py: Python<'_>,
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<Bound<'_, PyAny>, Failure>
where
    T: for<'a> IntoPyObject<'a> + Send + 'static,
{
    later_boxed(
        py,
        Box::pin(async move {
            let answer = work.await?;
            let answer: Answer = Box::new(move |py| answer.into_py_any(py));
            Ok(answer)
        }),
    )
}

fn later_boxed(py: Python<'_>, work: Boxed<Answer>) -> Result<Bound<'_, PyAny>, Failure> {
    let begun = Begun::new(work)?;
    let coroutines = py.import("snowmint._async")?;
    Ok(match begun {
        Begun::Done(answer) => coroutines.call_method1("ready", (answer?(py)?,))?,
        Begun::Running(work) => coroutines.call_method1("answer", (Call(Mutex::new(Some(work))),))?,
    })
}
