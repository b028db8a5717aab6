//! The hot path: `next_id` as a plain C function, since pyo3's wrapper of a method costs 3 of the 51 ns of a call.
#![allow(unsafe_code)]

use std::ptr;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::snowflake::Snowflake;

/// Adds the method `next_id` to the class.
pub(crate) fn add_next_id(class: &Bound<'_, PyType>) -> PyResult<()> {
    // Leaked: the method points to its definition for as long as the module lives.
    let definition = Box::leak(Box::new(ffi::PyMethodDef {
        ml_name: c"next_id".as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunction: next_id },
        ml_flags: ffi::METH_NOARGS,
        ml_doc: c"next_id($self, /)\n--\n\nThe next ID; waits at most `max_wait_ms`.".as_ptr(),
    }));
    // SAFETY: `class` is a type, and the definition is complete and never moves. The call returns a new reference, or
    // null with an exception set.
    let method = unsafe {
        let method = ffi::PyDescr_NewMethod(class.as_type_ptr(), ptr::from_mut(definition));
        Bound::from_owned_ptr_or_err(class.py(), method)?
    };
    class.setattr("next_id", method)
}

/// # Safety
/// Only as the body of the method, called by an interpreter.
unsafe extern "C" fn next_id(slf: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: the caller of a method is attached to the interpreter and keeps `slf` alive during the call. The method
    // object accepts only instances of its class, which has no subclasses and is frozen.
    let free = unsafe {
        let slf = Borrowed::from_ptr(Python::assume_attached(), slf);
        slf.cast_unchecked::<Snowflake>().get().free_id()
    };
    // SAFETY: attached, as above, and `slf` can be called. The call returns a new reference, or null with an exception
    // set.
    unsafe {
        match free {
            Some(id) => ffi::PyLong_FromUnsignedLongLong(id),
            // `__call__` also handles the slow cases: it waits, leases, raises and reads a caller's clock.
            None => ffi::PyObject_CallNoArgs(slf),
        }
    }
}
