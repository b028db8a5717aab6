//! The class `ULID`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyType};
use snowmint::ulid as minting;
use snowmint_core::{Ulid as Core, Uuid};

use crate::convert::{self, Instant, Text};
use crate::error::Failure;
use crate::standard_uuid::standard_uuid;

/// A ULID: 48 bits of Unix ms, then 80 random bits.
#[pyclass(frozen, eq, ord, hash, weakref, name = "ULID", module = "snowmint")]
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Ulid(Core);

/// A new ULID, greater than every ULID that this process has minted.
#[pyfunction]
pub(crate) fn ulid() -> Result<Ulid, Failure> {
    Ok(Ulid(minting::next()?))
}

#[pymethods]
impl Ulid {
    #[new]
    #[pyo3(signature = (value=None))]
    fn new(value: Option<&Bound<'_, PyAny>>) -> Result<Self, Failure> {
        match value {
            None => ulid(),
            Some(text) if text.is_instance_of::<PyString>() => Ok(Self(text.extract::<Text>()?.into_string().parse()?)),
            Some(bytes) => Ok(Self(Core::from_bytes(convert::id_bytes(bytes)?))),
        }
    }

    /// The ULID of an instant and 80 bits.
    #[staticmethod]
    #[pyo3(signature = (timestamp, randomness=None))]
    fn from_parts(timestamp: Instant, randomness: Option<&Bound<'_, PyAny>>) -> Result<Self, Failure> {
        let randomness = randomness.map_or(Ok(0), convert::wide_int)?;
        Ok(Self(Core::from_parts(timestamp.0.0, randomness)?))
    }

    /// The 16 bytes.
    #[getter]
    fn bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    /// The time, in UTC; None where datetime cannot hold it.
    #[getter]
    fn timestamp<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        convert::datetime(py, self.0.timestamp_ms())
    }

    /// The time, Unix ms.
    #[getter]
    fn timestamp_ms(&self) -> i64 {
        self.0.timestamp_ms()
    }

    /// The 80 random bits.
    #[getter]
    fn randomness(&self) -> u128 {
        self.0.random()
    }

    /// The UUID of the same 128 bits.
    fn to_uuid<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>, Failure> {
        standard_uuid(py, Uuid::from_bits(self.0.to_bits()))
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

    fn __int__(&self) -> u128 {
        self.0.to_bits()
    }

    fn __str__<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::new(py, self.0.text().as_str())
    }

    fn __repr__(&self) -> String {
        format!("ULID('{}')", self.0)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (Bound<'py, PyBytes>,)) {
        (py.get_type::<Self>(), (self.bytes(py),))
    }
}
