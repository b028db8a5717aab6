//! The classes `Mask` and `UuidMask`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use snowmint::{Mask as Core, MaskKey, Uuid, UuidMask as CoreUuidMask};

use crate::convert::{self, Int, Text};
use crate::error::Failure;
use crate::standard_uuid::standard_uuid;

/// A reversible public form of 64-bit IDs, which shows neither time nor order.
#[pyclass(frozen, module = "snowmint")]
pub(crate) struct Mask(Core);

#[pymethods]
impl Mask {
    #[new]
    #[pyo3(signature = (key, *, tweak=None, digits=None))]
    fn new(key: &Bound<'_, PyAny>, tweak: Option<&Bound<'_, PyAny>>, digits: Option<Int>) -> Result<Self, Failure> {
        let mut mask = Core::new(read_key(key)?);
        if let Some(tweak) = tweak {
            mask = match tweak.cast::<PyBytes>() {
                Ok(bytes) => mask.with_tweak(bytes.as_bytes())?,
                Err(_) => mask.with_tweak(tweak.extract::<Text>()?)?,
            };
        }
        if let Some(digits) = digits {
            mask = mask.with_digits(digits.0)?;
        }
        Ok(Self(mask))
    }

    /// The masked form of an ID.
    fn encode(&self, id: Int) -> Result<u64, Failure> {
        Ok(self.0.encode(id.0.id()?)?)
    }

    /// The ID of a masked form.
    fn decode(&self, masked: Int) -> Result<u64, Failure> {
        Ok(self.0.decode(masked.0.id()?)?)
    }

    #[allow(clippy::unused_self, reason = "a method of Python's")]
    fn __repr__(&self) -> &'static str {
        "Mask(...)"
    }
}

/// A reversible public form of UUIDs of version 7, which looks like a version 4: `UUIDv47`.
#[pyclass(frozen, module = "snowmint")]
pub(crate) struct UuidMask(CoreUuidMask);

#[pymethods]
impl UuidMask {
    #[new]
    fn new(key: &Bound<'_, PyAny>) -> Result<Self, Failure> {
        Ok(Self(CoreUuidMask::new(read_key(key)?)))
    }

    /// The masked form of a version 7.
    fn encode<'py>(&self, uuid: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Failure> {
        let uuid_read = Uuid::from_bytes(convert::id_bytes(uuid)?);
        standard_uuid(uuid.py(), self.0.encode(uuid_read)?)
    }

    /// The version 7 of a masked form.
    fn decode<'py>(&self, masked: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Failure> {
        let read = Uuid::from_bytes(convert::id_bytes(masked)?);
        standard_uuid(masked.py(), self.0.decode(read)?)
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
