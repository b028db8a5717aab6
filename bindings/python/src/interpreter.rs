//! The one interpreter of this module.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicI64, Ordering};

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;

/// Refuses a second interpreter in this process. Classes and modules of Python that this module keeps are of the first one.
pub(crate) fn refuse_second(py: Python<'_>) -> PyResult<()> {
    const NONE: i64 = -1;
    static FIRST: AtomicI64 = AtomicI64::new(NONE);
    // SAFETY: `py` shows that this thread is attached to an interpreter, so it has one.
    let this = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    if this == NONE {
        return Err(PyErr::fetch(py));
    }
    match FIRST.compare_exchange(NONE, this, Ordering::AcqRel, Ordering::Acquire) {
        Err(first) if first != this => Err(PyImportError::new_err(
            "snowmint is imported by another interpreter of this process: give each application a process. In mod_wsgi \
             that is a WSGIDaemonProcess for each, or WSGIApplicationGroup %{GLOBAL} for one",
        )),
        _ => Ok(()),
    }
}
