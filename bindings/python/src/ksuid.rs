//! The class `KSUID`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyType};
use snowmint::ksuid as minting;
use snowmint_core::Ksuid as Core;

use crate::convert::{self, Instant, Text};
use crate::error::Failure;

/// A KSUID: 32 bits of seconds since 2014-05-13, then 128 random bits.
#[pyclass(frozen, eq, ord, hash, weakref, name = "KSUID", module = "snowmint")]
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Ksuid(Core);

/// A new KSUID.
#[pyfunction]
pub(crate) fn ksuid() -> Result<Ksuid, Failure> {
    Ok(Ksuid(minting::next()?))
}

#[pymethods]
impl Ksuid {
    #[new]
    #[pyo3(signature = (value=None))]
    fn new(value: Option<&Bound<'_, PyAny>>) -> Result<Self, Failure> {
        match value {
            None => ksuid(),
            Some(text) if text.is_instance_of::<PyString>() => Ok(Self(text.extract::<Text>()?.into_string().parse()?)),
            Some(bytes) => Ok(Self(Core::from_bytes(convert::id_bytes(bytes)?))),
        }
    }

    /// The KSUID of an instant, rounded down to its second, and 16 random bytes.
    #[staticmethod]
    #[pyo3(signature = (timestamp, payload=None))]
    fn from_parts(timestamp: Instant, payload: Option<&Bound<'_, PyAny>>) -> Result<Self, Failure> {
        let payload: [u8; 16] = payload.map_or(Ok([0; 16]), convert::id_bytes)?;
        Ok(Self(Core::from_parts(timestamp.0.0, u128::from_be_bytes(payload))?))
    }

    /// The 20 bytes.
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

    /// The 16 random bytes.
    #[getter]
    fn payload<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.payload().to_be_bytes())
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
        format!("KSUID('{}')", self.0)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (Bound<'py, PyBytes>,)) {
        (py.get_type::<Self>(), (self.bytes(py),))
    }
}
