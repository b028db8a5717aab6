//! The classes `Mask` and `UuidMask`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyType};
use snowmint::{Mask as Core, MaskKey, Uuid, UuidMask as CoreUuidMask};

use crate::convert::{self, Int, Text};
use crate::error::Failure;
use crate::standard_uuid::standard_uuid;

/// A reversible public form of 64-bit IDs, which shows neither time nor order.
#[pyclass(frozen, weakref, module = "snowmint")]
pub(crate) struct Mask {
    core: Core,
    key: MaskKey,
    tweak: Vec<u8>,
    digits: Option<u64>,
}

#[pymethods]
impl Mask {
    #[new]
    #[pyo3(signature = (key, *, tweak=None, digits=None))]
    fn new(key: &Bound<'_, PyAny>, tweak: Option<&Bound<'_, PyAny>>, digits: Option<Int>) -> Result<Self, Failure> {
        let key = read_key(key)?;
        let tweak = match tweak {
            None => Vec::new(),
            Some(tweak) => match tweak.cast::<PyBytes>() {
                Ok(bytes) => bytes.as_bytes().to_vec(),
                Err(_) => tweak.extract::<Text>()?.into_string().into_bytes(),
            },
        };
        let mut mask = Core::new(key).with_tweak(&tweak)?;
        if let Some(digits) = digits {
            mask = mask.with_digits(digits.0)?;
        }
        Ok(Self { core: mask, key, tweak, digits: digits.map(|int| int.0.or_too_large()) })
    }

    /// The masked form of an ID.
    fn encode(&self, id: Int) -> Result<u64, Failure> {
        Ok(self.core.encode(id.0.id()?)?)
    }

    /// The ID of a masked form.
    fn decode(&self, masked: Int) -> Result<u64, Failure> {
        Ok(self.core.decode(masked.0.id()?)?)
    }

    /// With its key: as secret as that.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let (py, mask) = (slf.py(), slf.get());
        let options = PyDict::new(py);
        options.set_item("tweak", PyBytes::new(py, &mask.tweak))?;
        options.set_item("digits", mask.digits)?;
        // Copies and pickles call the class without names of arguments.
        let make = py.import("functools")?.getattr("partial")?.call((slf.get_type(),), Some(&options))?;
        Ok((make, (PyBytes::new(py, &mask.key.to_bytes()),)))
    }

    #[allow(clippy::unused_self, reason = "a method of Python's")]
    fn __repr__(&self) -> &'static str {
        "Mask(...)"
    }
}

/// A reversible public form of UUIDs of version 7, which looks like a version 4: `UUIDv47`.
#[pyclass(frozen, weakref, module = "snowmint")]
pub(crate) struct UuidMask {
    core: CoreUuidMask,
    key: MaskKey,
}

#[pymethods]
impl UuidMask {
    #[new]
    fn new(key: &Bound<'_, PyAny>) -> Result<Self, Failure> {
        let key = read_key(key)?;
        Ok(Self { core: CoreUuidMask::new(key), key })
    }

    /// The masked form of a version 7.
    fn encode<'py>(&self, uuid: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Failure> {
        let uuid_read = Uuid::from_bytes(convert::id_bytes(uuid)?);
        standard_uuid(uuid.py(), self.core.encode(uuid_read)?)
    }

    /// The version 7 of a masked form.
    fn decode<'py>(&self, masked: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Failure> {
        let read = Uuid::from_bytes(convert::id_bytes(masked)?);
        standard_uuid(masked.py(), self.core.decode(read)?)
    }

    /// With its key: as secret as that.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (Bound<'py, PyBytes>,)) {
        (slf.get_type(), (PyBytes::new(slf.py(), &slf.get().key.to_bytes()),))
    }

    #[allow(clippy::unused_self, reason = "a method of Python's")]
    fn __repr__(&self) -> &'static str {
        "UuidMask(...)"
    }
}

/// Reads a key from 16 bytes, or a text of 32 hexadecimal digits.
fn read_key(key: &Bound<'_, PyAny>) -> Result<MaskKey, Failure> {
    if key.is_instance_of::<PyString>() {
        return Ok(MaskKey::parse(key.extract::<Text>()?)?);
    }
    let bytes = key.cast::<PyBytes>();
    let bytes = bytes.map_err(|_| {
        let kind = key.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
        PyErr::new::<pyo3::exceptions::PyTypeError, _>(format!("a mask key is bytes or a str, not {kind}"))
    })?;
    Ok(MaskKey::new(bytes.as_bytes())?)
}
