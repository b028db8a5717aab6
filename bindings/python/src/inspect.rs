//! Finds the systems that could have minted an ID.

use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use snowmint_core::SystemHost;
use snowmint_core::inspect::{self as core, Form, Kind};

use crate::convert::{self, Instant, Int, Text};
use crate::error::Failure;
use crate::layout::Layout;
use crate::layout::parts::Parts;

/// A system that could have minted the inspected value.
#[pyclass(frozen, module = "snowmint")]
pub(crate) struct Candidate(pub(crate) core::Candidate);

#[pymethods]
impl Candidate {
    /// The kind of the ID, such as `snowflake`, `uuid7`, `ulid` or `ksuid`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind().name()
    }

    /// The name of the system of a snowflake, or None.
    #[getter]
    fn layout(&self) -> Option<&'static str> {
        self.0.system()
    }

    /// The text form of that layout, or None.
    #[getter]
    fn layout_text(&self) -> Option<String> {
        self.0.layout().map(|layout| layout.to_string())
    }

    /// The parts of a snowflake under that layout, or None.
    #[getter]
    fn parts(&self, py: Python<'_>) -> Result<Option<Parts>, Failure> {
        match (self.0.kind(), self.0.layout()) {
            (Kind::Snowflake { id, .. }, Some(layout)) => Parts::new(Bound::new(py, Layout(layout))?, id).map(Some),
            _ => Ok(None),
        }
    }

    /// How the value was read, such as `integer`, `decimal`, `base62`, `uuid_braces`.
    #[getter]
    fn form(&self) -> &'static str {
        self.0.form().name()
    }

    /// The time in the ID, in UTC; None if the ID has no time or datetime cannot hold it.
    #[getter]
    fn timestamp<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.0.timestamp_us().map_or(Ok(None), |us| convert::datetime_us(py, us))
    }

    /// The time in the ID, Unix ms; None if the ID has no time.
    #[getter]
    fn timestamp_ms(&self) -> Option<i64> {
        self.0.timestamp_ms()
    }

    /// The time in the ID in Unix microseconds; None if the ID has no time.
    #[getter]
    fn timestamp_us(&self) -> Option<i128> {
        self.0.timestamp_us()
    }

    /// How sure the place of the candidate is: `high`, `medium`, `tied`, `low` or `unlikely`.
    #[getter]
    fn confidence(&self) -> &'static str {
        self.0.confidence().name()
    }

    /// False if the time in the ID makes the candidate unlikely.
    #[getter]
    fn plausible(&self) -> bool {
        self.0.is_plausible()
    }

    /// Why it is plausible or not: a short sentence.
    #[getter]
    fn reason(&self) -> String {
        self.0.reason().to_string()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.key() == other.key()
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.key().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let name = self.layout().unwrap_or(self.kind());
        format!("Candidate({name}, read as {}: {})", self.form(), self.reason())
    }
}

impl Candidate {
    /// Returns the value and the form in which it was read, without the time of the inspection.
    fn key(&self) -> (Kind, Form) {
        (self.0.kind(), self.0.form())
    }
}

/// Lists everything that could have minted a value, the most plausible first; of garbage, an empty list.
#[pyfunction]
#[pyo3(signature = (value, *, now=None))]
pub(crate) fn inspect(value: &Bound<'_, PyAny>, now: Option<Instant>) -> PyResult<Vec<Candidate>> {
    let now_ms = now.map_or_else(SystemHost::unix_ms, |now| now.0.0);
    let candidates = if value.is_instance_of::<PyString>() {
        core::inspect(value.extract::<Text>()?, now_ms)
    } else {
        let value = value.extract::<Int>().map_err(|_| PyTypeError::new_err("inspect takes an int or a str"))?;
        core::inspect_integer(value.0, now_ms)
    };
    Ok(candidates.iter().copied().map(Candidate).collect())
}
