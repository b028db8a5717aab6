//! The class `Parts`.

use std::fmt::Write;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use snowmint_core::Error;
use snowmint_core::time::Rfc3339;

use crate::convert;
use crate::error::Failure;
use crate::layout::Layout;

/// The parts of an ID under a layout.
#[pyclass(frozen, weakref, module = "snowmint")]
pub(crate) struct Parts {
    layout: Py<Layout>,
    id: u64,
    pub(crate) core: snowmint_core::Parts,
}

impl Parts {
    pub(crate) fn new(layout: Bound<'_, Layout>, id: u64) -> Result<Self, Failure> {
        let core = layout.get().0.decode(id)?;
        Ok(Self { layout: layout.unbind(), id, core })
    }
}

#[pymethods]
impl Parts {
    /// The first instant of the ID's tick, in UTC.
    #[getter]
    fn timestamp<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>, Failure> {
        convert::datetime_us(py, self.core.timestamp_us())?.ok_or_else(|| Error::far_time().into())
    }

    /// The first instant of the ID's tick, Unix ms.
    #[getter]
    fn timestamp_ms(&self) -> i64 {
        self.core.timestamp_ms
    }

    /// The first instant of the ID's tick in Unix microseconds.
    #[getter]
    fn timestamp_us(&self) -> i128 {
        self.core.timestamp_us()
    }

    /// Ticks since the epoch.
    #[getter]
    fn tick(&self) -> u64 {
        self.core.tick
    }

    /// All node fields as one number, concatenated high to low.
    #[getter]
    fn node(&self) -> u32 {
        self.core.node
    }

    /// The counter within the tick; 0 if the layout has none.
    #[getter]
    fn sequence(&self) -> u64 {
        self.core.sequence
    }

    /// Every field but `unused`, high to low, with its value.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        for (name, value) in self.layout.get().0.field_values(self.id) {
            fields.set_item(name.as_str(), value)?;
        }
        Ok(fields)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.id == other.id && self.layout.get() == other.layout.get()
    }

    fn __hash__(&self) -> u64 {
        self.id
    }

    fn __repr__(&self) -> String {
        let snowmint_core::Parts { timestamp_ms, tick, node, .. } = self.core;
        let mut text = format!("Parts(timestamp={}, tick={tick}, node={node}", Rfc3339(timestamp_ms));
        for (name, value) in self.layout.get().0.field_values(self.id).filter(|(name, _)| name.as_str() != "time") {
            // Writing to a string cannot fail.
            let _ = write!(text, ", {name}={value}");
        }
        text + ")"
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (u64,))> {
        Ok((self.layout.bind(py).getattr("decode")?, (self.id,)))
    }
}
