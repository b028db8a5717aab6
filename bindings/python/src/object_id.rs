//! The class `ObjectId`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyType};
use snowmint::object_id as minting;
use snowmint_core::ObjectId as Core;

use crate::convert::{self, Instant, Int, Text};
use crate::error::Failure;

/// An `ObjectId` of `MongoDB`: 32 bits of Unix seconds, 40 random bits of the process, a counter of 24 bits.
#[pyclass(frozen, eq, ord, hash, weakref, module = "snowmint")]
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjectId(Core);

/// A new `ObjectId`.
#[pyfunction]
pub(crate) fn object_id() -> Result<ObjectId, Failure> {
    Ok(ObjectId(minting::next()?))
}

#[pymethods]
impl ObjectId {
    #[new]
    #[pyo3(signature = (value=None))]
    fn new(value: Option<&Bound<'_, PyAny>>) -> Result<Self, Failure> {
        match value {
            None => object_id(),
            Some(text) if text.is_instance_of::<PyString>() => Ok(Self(text.extract::<Text>()?.into_string().parse()?)),
            Some(bytes) => Ok(Self(Core::from_bytes(convert::id_bytes(bytes)?))),
        }
    }

    /// The `ObjectId` of an instant, rounded down to its second, of 40 bits and of 24.
    #[staticmethod]
    #[pyo3(signature = (timestamp, random=None, counter=None))]
    fn from_parts(timestamp: Instant, random: Option<Int>, counter: Option<Int>) -> Result<Self, Failure> {
        let random = random.map_or(0, |int| int.0.or_too_large());
        let counter = counter.map_or(0, |int| int.0.count());
        Ok(Self(Core::from_parts(timestamp.0.0, random, counter)?))
    }

    /// The 12 bytes.
    #[getter]
    fn bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    /// The time, a whole second, in UTC.
    #[getter]
    fn timestamp<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        convert::datetime(py, self.0.timestamp_ms())
    }

    /// The time, a whole second, in Unix ms.
    #[getter]
    fn timestamp_ms(&self) -> i64 {
        self.0.timestamp_ms()
    }

    #[classmethod]
    fn __get_pydantic_core_schema__<'py>(
        cls: &Bound<'py, PyType>,
        _source: &Bound<'py, PyAny>,
        _handler: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        convert::pydantic_schema(cls)
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.bytes(py)
    }

    fn __str__<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::new(py, self.0.text().as_str())
    }

    fn __repr__(&self) -> String {
        format!("ObjectId('{}')", self.0)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (Bound<'py, PyBytes>,)) {
        (py.get_type::<Self>(), (self.bytes(py),))
    }
}
