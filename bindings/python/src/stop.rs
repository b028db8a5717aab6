//! Waits of a call: they end when the caller stops the call, leave green threads running, and handle signals.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pyo3::prelude::*;
use snowmint_core::{Host, SystemHost};
use snowmint_stores::host::wake::Wake;

use crate::error::Failure;
use crate::parking;

/// The pause between two looks for a notice, where a wait would stop all green threads.
const GREEN_PAUSE: Duration = Duration::from_millis(1);

thread_local! {
    /// The stop of the call that runs on this thread.
    static CURRENT: RefCell<Option<Arc<Signal>>> = const { RefCell::new(None) };
}

#[derive(Debug, Default)]
struct Signal {
    is_set: AtomicBool,
    wake: Wake,
}

impl Signal {
    fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Acquire)
    }
}

/// Stops the call of a thread that waits, from another thread.
#[pyclass(frozen, weakref, module = "snowmint._snowmint")]
pub(crate) struct Stop(Arc<Signal>);

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    /// Ends the wait of the call that runs.
    fn set(&self) {
        self.0.is_set.store(true, Ordering::Release);
        self.0.wake.notify();
    }

    /// Calls a function without arguments.
    ///
    /// Raises `concurrent.futures.CancelledError` if it is stopped, and drops the result.
    fn run<'py>(&self, function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let _current = Current::new(&self.0);
        let result = function.call0()?;
        if self.0.is_set() { Err(cancelled(function.py())) } else { Ok(result) }
    }
}

/// The stop of this thread, while it lives.
struct Current(Option<Arc<Signal>>);

impl Current {
    fn new(signal: &Arc<Signal>) -> Self {
        Self(CURRENT.replace(Some(Arc::clone(signal))))
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// Pauses a call for `ms` ms at most.
pub(crate) fn pause(py: Python<'_>, system: &mut SystemHost, ms: u64) -> Result<(), Failure> {
    let current = CURRENT.with_borrow(Clone::clone);
    if let Some(signal) = current {
        // Begins to measure the wait.
        system.pause(0)?;
        if !signal.is_set() {
            parking::wait(py, &signal.wake, Duration::from_millis(ms));
        }
        if signal.is_set() {
            return Err(cancelled(py).into());
        }
    } else if let Some(sleep) = green_sleep(py)? {
        system.pause(0)?;
        sleep.call1((Duration::from_millis(ms).as_secs_f64(),))?;
    } else {
        parking::detach(py, || system.pause(ms))?;
    }
    Ok(py.check_signals()?)
}

/// The waits of a call for a notice. Green threads and signals have their turn meanwhile.
pub(crate) struct Waits<'py> {
    py: Python<'py>,
    green_sleep: Option<Bound<'py, PyAny>>,
}

impl<'py> Waits<'py> {
    // The sleep is looked up once for all waits.
    pub(crate) fn new(py: Python<'py>) -> PyResult<Self> {
        Ok(Self { py, green_sleep: green_sleep(py)? })
    }

    /// Waits, `most` at most.
    pub(crate) fn wait(&self, wake: &Wake, most: Duration) -> Result<(), Failure> {
        match &self.green_sleep {
            Some(sleep) => drop(sleep.call1((GREEN_PAUSE.as_secs_f64(),))?),
            None => parking::wait(self.py, wake, most),
        }
        Ok(self.py.check_signals()?)
    }
}

/// Returns the sleep of green threads, if this process has green threads.
fn green_sleep(py: Python<'_>) -> PyResult<Option<Bound<'_, PyAny>>> {
    let sleep = parking::call(&py.import("snowmint._green")?.getattr("sleep")?, ())?;
    Ok(if sleep.is_none() { None } else { Some(sleep) })
}

fn cancelled(py: Python<'_>) -> PyErr {
    let class = py.import("concurrent.futures").and_then(|futures| futures.getattr("CancelledError"));
    class.and_then(|class| class.call1(("the wait was stopped",))).map_or_else(|broken| broken, PyErr::from_value)
}
