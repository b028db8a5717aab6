//! Makes a `uuid.UUID` of the standard library from 128 bits.
//!
//! The constructor of that class spends half a microsecond on checking its arguments, and then fills two slots past a
//! `__setattr__` that refuses. This file fills the two slots directly.
#![allow(unsafe_code)]

use std::ffi::c_int;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyType};
use snowmint_core::Uuid;

use crate::error::Failure;

/// The class `uuid.UUID`.
struct Class {
    object: Py<PyType>,
    /// `None` if the class has no such slots; its constructor is called then.
    slots: Option<Slots>,
    sixty_four: Py<PyInt>,
}

struct Slots {
    int: Slot,
    is_safe: Slot,
    /// The value of `is_safe`.
    unknown: Py<PyAny>,
}

struct Slot {
    descriptor: Py<PyAny>,
    set: ffi::descrsetfunc,
}

/// Makes the `uuid.UUID` of these bits.
pub(crate) fn standard_uuid(py: Python<'_>, uuid: Uuid) -> Result<Bound<'_, PyAny>, Failure> {
    static CLASS: PyOnceLock<Class> = PyOnceLock::new();
    let class = CLASS.get_or_try_init(py, || Class::find(py))?;
    let int = class.int(py, uuid.to_bits())?;
    let Some(slots) = &class.slots else {
        return Ok(class.object.bind(py).call((py.None(), py.None(), py.None(), py.None(), int), None)?);
    };
    // SAFETY: `uuid.UUID` is a class written in Python, which this function allocates with empty slots. The call
    // returns a new reference, or null with an exception set.
    let object = unsafe {
        let object = ffi::PyType_GenericAlloc(class.object.bind(py).as_type_ptr(), 0);
        Bound::from_owned_ptr_or_err(py, object)?
    };
    slots.int.set(&object, &int)?;
    slots.is_safe.set(&object, slots.unknown.bind(py))?;
    Ok(object)
}

impl Class {
    fn find(py: Python<'_>) -> PyResult<Self> {
        let module = py.import("uuid")?;
        let class = module.getattr("UUID")?.cast_into::<PyType>()?;
        let slots = match (Slot::find(&class, "int")?, Slot::find(&class, "is_safe")?) {
            (Some(int), Some(is_safe)) => {
                let unknown = module.getattr("SafeUUID")?.getattr("unknown")?.unbind();
                Some(Slots { int, is_safe, unknown })
            }
            _ => None,
        };
        Ok(Self { object: class.unbind(), slots, sixty_four: PyInt::new(py, 64).unbind() })
    }

    /// Makes an `int` of 128 bits; Python's stable interface has no function for that.
    #[allow(clippy::cast_possible_truncation, reason = "each half")]
    fn int<'py>(&self, py: Python<'py>, bits: u128) -> PyResult<Bound<'py, PyAny>> {
        let (high, low) = ((bits >> 64) as u64, bits as u64);
        // SAFETY: each call gets objects, and returns a new reference, or null with an exception set.
        unsafe {
            let high = Bound::from_owned_ptr_or_err(py, ffi::PyLong_FromUnsignedLongLong(high))?;
            let low = Bound::from_owned_ptr_or_err(py, ffi::PyLong_FromUnsignedLongLong(low))?;
            let high = ffi::PyNumber_Lshift(high.as_ptr(), self.sixty_four.as_ptr());
            let high = Bound::from_owned_ptr_or_err(py, high)?;
            Bound::from_owned_ptr_or_err(py, ffi::PyNumber_Or(high.as_ptr(), low.as_ptr()))
        }
    }
}

impl Slot {
    /// Finds the slot of that name; `None` if the attribute is not a slot.
    fn find(class: &Bound<'_, PyType>, name: &str) -> PyResult<Option<Self>> {
        let descriptor = class.getattr(name)?;
        let kind = class.py().import("types")?.getattr("MemberDescriptorType")?;
        if !descriptor.get_type().is(&kind) {
            return Ok(None);
        }
        // SAFETY: `tp_descr_set` of a type holds a function of this signature, or null.
        let set = unsafe {
            let set = ffi::PyType_GetSlot(descriptor.get_type().as_type_ptr(), ffi::Py_tp_descr_set);
            std::mem::transmute::<*mut std::ffi::c_void, Option<ffi::descrsetfunc>>(set)
        };
        Ok(set.map(|set| Self { descriptor: descriptor.unbind(), set }))
    }

    #[inline]
    fn set(&self, object: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        // SAFETY: the descriptor belongs to the object's class, and all three are alive. The call takes its own
        // reference.
        let failed: c_int = unsafe { (self.set)(self.descriptor.as_ptr(), object.as_ptr(), value.as_ptr()) };
        if failed == 0 { Ok(()) } else { Err(PyErr::fetch(object.py())) }
    }
}
