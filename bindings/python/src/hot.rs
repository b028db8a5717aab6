//! The hot path: `next_id` as a C function of its own, the clock, and UUIDs of the standard library. What pyo3 puts around
//! a method and the standard library around the clock costs 3 ns and 2 ns, of 51 in all.
#![allow(unsafe_code)]

mod standard_uuid;

use std::ptr;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;
use snowmint_core::SystemHost;

pub(crate) use self::standard_uuid::standard_uuid;

use crate::snowflake::Snowflake;

/// Gives the class its method `next_id`.
pub(crate) fn add_next_id(class: &Bound<'_, PyType>) -> PyResult<()> {
    // The method points to it for as long as there are modules.
    let definition = Box::leak(Box::new(ffi::PyMethodDef {
        ml_name: c"next_id".as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunction: next_id },
        ml_flags: ffi::METH_NOARGS,
        ml_doc: c"next_id($self, /)\n--\n\nThe next ID; waits at most `max_wait_ms`.".as_ptr(),
    }));
    // SAFETY: the class is a type, and the definition is complete and stays where it is. What comes back is a new
    // reference, or nothing and an exception.
    let method = unsafe {
        let method = ffi::PyDescr_NewMethod(class.as_type_ptr(), ptr::from_mut(definition));
        Bound::from_owned_ptr_or_err(class.py(), method)?
    };
    class.setattr("next_id", method)
}

/// # Safety
/// Only as the body of the method, called by an interpreter.
unsafe extern "C" fn next_id(slf: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: who calls a method is attached to the interpreter, and keeps `slf` alive meanwhile. The method object lets
    // no other than instances of its class through, which has no subclasses and is frozen.
    let free = unsafe {
        let slf = Borrowed::from_ptr(Python::assume_attached(), slf);
        slf.cast_unchecked::<Snowflake>().get().free_id()
    };
    // SAFETY: attached, as above, and an object to call. What comes back is a new reference, or nothing and an exception.
    unsafe {
        match free {
            Some(id) => ffi::PyLong_FromUnsignedLongLong(id),
            // `__call__` does the same, and also what takes longer: it waits, leases, raises, reads a caller's clock.
            None => ffi::PyObject_CallNoArgs(slf),
        }
    }
}

/// The system's time, Unix ms.
#[cfg(unix)]
#[inline]
#[allow(clippy::useless_conversion, reason = "of 32 bits on some platforms")]
pub(crate) fn unix_ms() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place is one for a time.
    let done = unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut now) };
    let whole_ms = i64::from(now.tv_sec).checked_mul(1000).filter(|_| done == 0);
    let ms = whole_ms.and_then(|ms| ms.checked_add(i64::from(now.tv_nsec) / 1_000_000));
    ms.unwrap_or_else(SystemHost::unix_ms)
}

/// The system's time, Unix ms.
#[cfg(not(unix))]
#[inline]
pub(crate) fn unix_ms() -> i64 {
    SystemHost::unix_ms()
}
