//! Finds the systems that could have minted an ID.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use snowmint_core::{Integer, SystemHost};
use snowmint_inspect::inspect::{self as core, Form, Kind};

use crate::convert::{self, Instant, Int, Text};
use crate::error::Failure;
use crate::layout::Layout;
use crate::layout::parts::Parts;

/// A system that could have minted the inspected value.
#[pyclass(frozen, weakref, module = "snowmint")]
pub(crate) struct Candidate(pub(crate) core::Candidate, Arc<Inspected>);

/// A value, and when it was inspected.
#[derive(IntoPyObjectRef)]
struct Inspected {
    value: Value,
    now_ms: i64,
}

#[derive(IntoPyObjectRef)]
enum Value {
    Text(String),
    Int(i128),
}

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

    /// Inspects the value again.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let Inspected { value, now_ms } = &*self.1;
        let arguments = (value, now_ms, self.kind(), self.layout(), self.form()).into_pyobject(py)?;
        Ok((py.import("snowmint._snowmint")?.getattr("candidate")?, arguments))
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
    let (candidates, value) = if value.is_instance_of::<PyString>() {
        let text = value.extract::<Text>()?.into_string();
        (core::inspect(&text, now_ms), Value::Text(text))
    } else if convert::is_int(value)? {
        let int = value.extract::<Int>()?.0;
        let value = match int {
            Integer::Fits(value) => value.into(),
            Integer::Negative(below) => -i128::from(below),
            // Nothing is found for it.
            Integer::Above | Integer::Below => 0,
        };
        (core::inspect_integer(int, now_ms), Value::Int(value))
    } else {
        return Err(PyTypeError::new_err("inspect takes an int or a str"));
    };
    let inspected = Arc::new(Inspected { value, now_ms });
    Ok(candidates.iter().map(|candidate| Candidate(*candidate, Arc::clone(&inspected))).collect())
}

/// Finds a candidate again, for pickles and copies.
#[pyfunction]
pub(crate) fn candidate(
    value: &Bound<'_, PyAny>,
    now: Instant,
    kind: &str,
    layout: Option<&str>,
    form: &str,
) -> PyResult<Candidate> {
    let mut found = inspect(value, Some(now))?.into_iter();
    let found = found.find(|each| (each.kind(), each.layout(), each.form()) == (kind, layout, form));
    found.ok_or_else(|| PyValueError::new_err(format!("this version of snowmint does not read the value as {form}")))
}
