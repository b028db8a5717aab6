//! Calls of Python from threads of ours, which an interpreter that ends may stop in their midst.
#![allow(unsafe_code)]

use std::hint::black_box;

use pyo3::BoundObject;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Stays for good where an interpreter that ends unwinds its thread: up to 3.13 it does so to every thread that comes back
/// to it, and no frame of Rust lets that through. The process is about to exit.
struct Parking;

impl Drop for Parking {
    fn drop(&mut self) {
        loop {
            std::thread::park();
        }
    }
}

type Call = unsafe extern "C" fn(*mut PyObject, *mut PyObject) -> *mut PyObject;
type UnwindingCall = unsafe extern "C-unwind" fn(*mut PyObject, *mut PyObject) -> *mut PyObject;

/// Calls Python, as all code here does that may run on a thread of ours.
pub(crate) fn call<'py, A>(function: &Bound<'py, PyAny>, arguments: A) -> PyResult<Bound<'py, PyAny>>
where
    A: IntoPyObject<'py, Target = PyTuple>,
    PyErr: From<A::Error>,
{
    let py = function.py();
    let arguments = arguments.into_pyobject(py)?.into_bound();
    // Its declaration says that it never unwinds, on which the compiler would rely if it saw which function this is.
    let call: Call = black_box(ffi::PyObject_CallObject);
    // SAFETY: the same convention, but that a call may unwind.
    let call = unsafe { std::mem::transmute::<Call, UnwindingCall>(call) };
    let parking = Parking;
    // SAFETY: attached, an object to call, and a tuple. What comes back is a new reference, or nothing and an exception.
    let answer = unsafe { call(function.as_ptr(), arguments.as_ptr()) };
    std::mem::forget(parking);
    // SAFETY: as above.
    unsafe { Bound::from_owned_ptr_or_err(py, answer) }
}
