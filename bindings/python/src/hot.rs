//! The hot paths as plain C functions: pyo3's wrapper costs 3 ns a call, where an ID costs 40 and a text 65.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::ptr;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;
use snowmint::{ulid, uuid};
use snowmint_core::{IdText, Ulid, Uuid};

use crate::error::Failure;
use crate::snowflake::Snowflake;

type Body = unsafe extern "C" fn(*mut ffi::PyObject, *mut ffi::PyObject) -> *mut ffi::PyObject;

/// The definition of a function or method without arguments.
const fn definition(name: &'static CStr, body: Body, documentation: &'static CStr) -> ffi::PyMethodDef {
    ffi::PyMethodDef {
        ml_name: name.as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunction: body },
        ml_flags: ffi::METH_NOARGS,
        ml_doc: documentation.as_ptr(),
    }
}

/// Lets UUIDs and their like be minted under the interpreter's lock alone.
#[cfg(not(Py_GIL_DISABLED))]
pub(crate) fn mint_by_interpreter_lock() {
    // SAFETY: a thread is in a function of this module only while it holds the interpreter's lock. The functions that let go
    // of the lock meanwhile mint no such ID there. A second interpreter, which could have another lock, is refused.
    unsafe { snowmint::host::host_locks() }
}

/// Adds the method `next_id` to the class.
pub(crate) fn add_next_id(class: &Bound<'_, PyType>) -> PyResult<()> {
    // Leaked: the method points to its definition for as long as the module lives.
    let definition = Box::leak(Box::new(definition(
        c"next_id",
        next_id,
        c"next_id($self, /)\n--\n\nThe next ID; waits at most `max_wait_ms`.",
    )));
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

/// Adds the functions that mint texts to the module.
pub(crate) fn add_texts(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // Leaked, as above. The last definition is empty: it ends the list.
    let definitions = Box::leak(Box::new([
        definition(c"ulid_str", ulid_str, c"ulid_str()\n--\n\nThe text of a new ULID."),
        definition(c"uuid4_str", uuid4_str, c"uuid4_str()\n--\n\nThe text of a new version 4."),
        definition(c"uuid7_str", uuid7_str, c"uuid7_str()\n--\n\nThe text of a new version 7."),
        ffi::PyMethodDef::zeroed(),
    ]));
    // SAFETY: `module` is a module, and the definitions are complete, never moved and ended by an empty one.
    let added = unsafe { ffi::PyModule_AddFunctions(module.as_ptr(), definitions.as_mut_ptr()) };
    if added != 0 {
        return Err(PyErr::fetch(module.py()));
    }
    ["ulid_str", "uuid4_str", "uuid7_str"].iter().try_for_each(|name| module.index()?.append(name))
}

/// # Safety
/// Only as the body of a function, called by an interpreter.
unsafe extern "C" fn ulid_str(_: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: the caller's promise.
    unsafe { text(ulid::next(), Ulid::text) }
}

/// # Safety
/// Only as the body of a function, called by an interpreter.
unsafe extern "C" fn uuid4_str(_: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: the caller's promise.
    unsafe { text(uuid::v4(), Uuid::text) }
}

/// # Safety
/// Only as the body of a function, called by an interpreter.
unsafe extern "C" fn uuid7_str(_: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: the caller's promise.
    unsafe { text(uuid::v7(), Uuid::text) }
}

/// # Safety
/// Only while attached to the interpreter.
#[inline]
unsafe fn text<T>(minted: Result<T, snowmint::Error>, text: impl FnOnce(T) -> IdText) -> *mut ffi::PyObject {
    match minted {
        Ok(id) => {
            // Read where it was written: to move a text costs as much as to write it.
            let text = text(id);
            let text = text.as_bytes();
            // SAFETY: attached, by the caller's promise. The call reads as many bytes as the text has, and returns a new
            // reference, or null with an exception set.
            unsafe { ffi::PyUnicode_FromStringAndSize(text.as_ptr().cast(), text.len().cast_signed()) }
        }
        Err(error) => {
            // SAFETY: attached, by the caller's promise.
            PyErr::from(Failure::from(error)).restore(unsafe { Python::assume_attached() });
            ptr::null_mut()
        }
    }
}
