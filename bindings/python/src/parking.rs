//! Calls Python from this package's threads, which an ending interpreter may stop in the middle of a call.
#![allow(unsafe_code)]

use std::hint::black_box;
use std::time::Duration;

use pyo3::BoundObject;
use pyo3::ffi::{self, PyGILState_STATE, PyObject, PyThreadState};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use snowmint_stores::host::wake::Wake;

/// Parks the thread forever when an ending interpreter unwinds it. Up to 3.13 the interpreter unwinds every thread that
/// returns to it, and a frame of Rust must not be unwound so. The process is about to exit.
struct Parking;

impl Drop for Parking {
    fn drop(&mut self) {
        park();
    }
}

fn park() -> ! {
    loop {
        std::thread::park();
    }
}

type Restore = unsafe extern "C" fn(*mut PyThreadState);
type UnwindingRestore = unsafe extern "C-unwind" fn(*mut PyThreadState);

/// Waits for a notice without the interpreter, `most` at most.
pub(crate) fn wait(py: Python<'_>, wake: &Wake, most: Duration) {
    detach(py, || wake.wait(most));
}

/// Runs work that neither uses Python nor panics, without the interpreter. A thread that does so again and again, such as a
/// daemon's, often returns to an interpreter that is ending.
pub(crate) fn detach<T>(_attached: Python<'_>, work: impl FnOnce() -> T) -> T {
    // As in `call`.
    let restore: Restore = black_box(ffi::PyEval_RestoreThread);
    // SAFETY: the same calling convention, except that a call may unwind.
    let restore = unsafe { std::mem::transmute::<Restore, UnwindingRestore>(restore) };
    let parking = Parking;
    // SAFETY: attached.
    let state = unsafe { ffi::PyEval_SaveThread() };
    let answer = work();
    // SAFETY: this thread's state, which nothing has attached meanwhile.
    unsafe { restore(state) };
    std::mem::forget(parking);
    answer
}

type Ensure = unsafe extern "C" fn() -> PyGILState_STATE;
type UnwindingEnsure = unsafe extern "C-unwind" fn() -> PyGILState_STATE;

/// The interpreter, to which this thread is attached.
struct Attached(PyGILState_STATE);

impl Drop for Attached {
    fn drop(&mut self) {
        // SAFETY: the state of the call that attached this thread.
        unsafe { ffi::PyGILState_Release(self.0) };
    }
}

/// Attaches a thread of this package to the interpreter, for one call. `None` if the interpreter has ended.
pub(crate) fn attach<T>(call: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    // SAFETY: asks at any time.
    if unsafe { ffi::Py_IsInitialized() } == 0 {
        return None;
    }
    // As in `call`.
    let ensure: Ensure = black_box(ffi::PyGILState_Ensure);
    // SAFETY: the same calling convention, except that a call may unwind.
    let ensure = unsafe { std::mem::transmute::<Ensure, UnwindingEnsure>(ensure) };
    let parking = Parking;
    // SAFETY: the interpreter is initialized.
    let _attached = Attached(unsafe { ensure() });
    std::mem::forget(parking);
    Python::try_attach(call)
}

/// Attaches a detached thread of the caller again, for one call.
pub(crate) fn reattach<T>(call: impl FnOnce(Python<'_>) -> T) -> T {
    attach(call).unwrap_or_else(|| park())
}

type Call = unsafe extern "C" fn(*mut PyObject, *mut PyObject) -> *mut PyObject;
type UnwindingCall = unsafe extern "C-unwind" fn(*mut PyObject, *mut PyObject) -> *mut PyObject;

/// Calls Python. All code that may run on a thread of this package calls Python through this function.
pub(crate) fn call<'py, A>(function: &Bound<'py, PyAny>, arguments: A) -> PyResult<Bound<'py, PyAny>>
where
    A: IntoPyObject<'py, Target = PyTuple>,
    PyErr: From<A::Error>,
{
    let py = function.py();
    let arguments = arguments.into_pyobject(py)?.into_bound();
    // Its declaration promises not to unwind. `black_box` hides which function it is, so that the compiler cannot rely
    // on that promise.
    let call: Call = black_box(ffi::PyObject_CallObject);
    // SAFETY: the same calling convention, except that a call may unwind.
    let call = unsafe { std::mem::transmute::<Call, UnwindingCall>(call) };
    let parking = Parking;
    // SAFETY: attached, an object to call, and a tuple. The call returns a new reference, or null with an exception
    // set.
    let answer = unsafe { call(function.as_ptr(), arguments.as_ptr()) };
    std::mem::forget(parking);
    // SAFETY: as above.
    unsafe { Bound::from_owned_ptr_or_err(py, answer) }
}
