//! The class `SqlParts`, a layout as SQL, and functions of `PostgreSQL` that mint 128-bit IDs.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use snowmint_inspect::sql::{Column, Dialect, Wide};

use crate::convert::{Instant, Text};
use crate::error::Failure;

/// Expressions of SQL that take the IDs of a column apart, as `Layout.decode` does; see `Layout.decode_sql`.
#[pyclass(frozen, weakref, module = "snowmint")]
pub(crate) struct SqlParts {
    layout: snowmint_core::Layout,
    dialect: Dialect,
    column: String,
}

impl SqlParts {
    pub(crate) fn new(layout: &snowmint_core::Layout, dialect: Text, column: String) -> Result<Self, Failure> {
        let dialect = Dialect::find(dialect.into_string())?;
        Column::new(layout, dialect, &column)?;
        Ok(Self { layout: *layout, dialect, column })
    }

    fn parts(&self) -> Result<Column<'_>, Failure> {
        Ok(Column::new(&self.layout, self.dialect, &self.column)?)
    }
}

#[pymethods]
impl SqlParts {
    /// The first instant of the ID's tick, as the database's type of instants.
    #[getter]
    fn timestamp(&self) -> Result<String, Failure> {
        Ok(self.parts()?.timestamp().to_string())
    }

    /// The first instant of the ID's tick, Unix ms.
    #[getter]
    fn timestamp_ms(&self) -> Result<String, Failure> {
        Ok(self.parts()?.timestamp_ms().to_string())
    }

    /// The value of the time field: ticks since the epoch.
    #[getter]
    fn tick(&self) -> Result<String, Failure> {
        Ok(self.parts()?.tick().to_string())
    }

    /// All node fields, concatenated high to low.
    #[getter]
    fn node(&self) -> Result<String, Failure> {
        Ok(self.parts()?.node().to_string())
    }

    /// The counter within the tick; 0 if the layout has none.
    #[getter]
    fn sequence(&self) -> Result<String, Failure> {
        Ok(self.parts()?.sequence().to_string())
    }

    /// Every field but `unused`, high to low.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>, Failure> {
        let fields = PyDict::new(py);
        for (name, expression) in self.parts()?.fields() {
            fields.set_item(name.as_str(), expression.to_string())?;
        }
        Ok(fields)
    }

    /// Whether an ID lies between two instants, both included; an index on the column serves.
    fn between(&self, dt_from: Instant, dt_to: Instant) -> Result<String, Failure> {
        Ok(self.parts()?.between(dt_from.0.0, dt_to.0.0)?.to_string())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (&'static str, &str))> {
        let layout = py.import("snowmint._snowmint")?.getattr("Layout")?.call1((self.layout.to_string(),))?;
        Ok((layout.getattr("decode_sql")?, (self.dialect.name(), &self.column)))
    }

    fn __repr__(&self) -> String {
        format!("SqlParts('{}', {}, {:?})", self.layout, self.dialect.name(), self.column)
    }
}

/// A script that creates the function `schema.name()`, which mints 128-bit IDs in SQL.
#[pyfunction]
pub(crate) fn postgres_wide_function(kind: Text, schema: &str, name: &str) -> Result<String, Failure> {
    Ok(Wide::find(kind)?.postgres_function(schema, name)?.to_string())
}
