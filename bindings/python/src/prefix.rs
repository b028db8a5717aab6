//! Prefixed IDs.

use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};
use snowmint_core::prefix::{self, PrefixedText};
use snowmint_core::{TypeId, Uuid};

use crate::convert::{self, Int, Text};
use crate::error::Failure;
use crate::standard_uuid::standard_uuid;

/// The text of a 64-bit ID or a UUID after a prefix.
#[pyfunction]
pub(crate) fn prefix_encode<'py>(prefix: Text, id: &Bound<'py, PyAny>) -> Result<Bound<'py, PyString>, Failure> {
    let text: PrefixedText = if id.is_instance_of::<PyInt>() || id.hasattr("__index__")? {
        prefix::encode(prefix, id.extract::<Int>()?.0.id()?)?
    } else {
        prefix::encode(prefix, Uuid::from_bytes(convert::id_bytes(id)?))?
    };
    Ok(PyString::new(id.py(), text.as_str()))
}

/// The 64-bit ID of a text with this prefix.
#[pyfunction]
pub(crate) fn prefix_decode_id(prefix: Text, text: Text) -> Result<u64, Failure> {
    Ok(prefix::decode(prefix, text)?)
}

/// The UUID of a text with this prefix.
#[pyfunction]
pub(crate) fn prefix_decode_uuid(py: Python<'_>, prefix: Text, text: Text) -> Result<Bound<'_, PyAny>, Failure> {
    standard_uuid(py, prefix::decode(prefix, text)?)
}

/// Whether the part after the prefix is as long as a UUID in a `TypeID`.
#[pyfunction]
pub(crate) fn prefix_is_uuid(text: Text) -> bool {
    prefix::is_uuid(text)
}

/// The prefix and the UUID of a `TypeID`.
#[pyfunction]
pub(crate) fn type_id_parts(py: Python<'_>, text: Text) -> Result<(String, Bound<'_, PyAny>), Failure> {
    let id: TypeId = text.into_string().parse()?;
    Ok((id.prefix().to_string(), standard_uuid(py, id.uuid())?))
}
