//! The class `Layout`.

pub(crate) mod array;
pub(crate) mod parts;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use snowmint::host::Environment;
use snowmint_core::{Part, layouts};
use snowmint_inspect::sql::{MariadbFunction, PostgresFunction};

use crate::convert::{self, DatetimeUs, Instant, Int, Text, UnixMs};
use crate::error::Failure;
use crate::sql::SqlParts;

use self::parts::Parts;

type Moment<'py> = PyResult<Option<Bound<'py, PyAny>>>;

/// The bit fields of an ID from high to low, with the epoch and the length of a tick.
#[pyclass(frozen, eq, hash, weakref, module = "snowmint")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Layout(pub(crate) snowmint_core::Layout);

impl Layout {
    /// Finds the layout of an argument: a `Layout`, the name of a preset or a text form. Without an argument it is the
    /// default.
    pub(crate) fn find(argument: Option<&Bound<'_, PyAny>>) -> Result<snowmint_core::Layout, Failure> {
        argument.map_or(Ok(layouts::SNOWMINT), Self::given)
    }

    /// Returns the layout of a generator, which the environment may name.
    pub(crate) fn of_generator(argument: Option<&Bound<'_, PyAny>>) -> Result<snowmint_core::Layout, Failure> {
        Ok(Environment::of_process().layout(argument.map(Self::given).transpose()?)?)
    }

    fn given(argument: &Bound<'_, PyAny>) -> Result<snowmint_core::Layout, Failure> {
        if let Ok(layout) = argument.cast::<Self>() {
            return Ok(layout.get().0);
        }
        let name_or_text = argument.extract::<Text>();
        let name_or_text = name_or_text.map_err(|_| PyTypeError::new_err("layout is a str or a Layout"))?;
        Ok(snowmint_core::Layout::find(name_or_text)?)
    }
}

#[pymethods]
impl Layout {
    #[new]
    fn new(text: Text) -> Result<Self, Failure> {
        Ok(Self(snowmint_core::Layout::parse(text)?))
    }

    /// The layout with that text form.
    #[staticmethod]
    fn parse(text: Text) -> Result<Self, Failure> {
        Self::new(text)
    }

    /// The preset of that name.
    #[staticmethod]
    fn preset(name: Text) -> Result<Self, Failure> {
        Ok(Self(snowmint_core::Layout::preset(name)?))
    }

    /// The name of the preset that this layout is, or None.
    #[getter]
    pub(crate) fn name(&self) -> Option<&'static str> {
        self.0.name()
    }

    /// The fields but `unused`, high to low, with their bits.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        for (name, field) in self.0.fields().filter(|(name, _)| name.as_str() != "unused") {
            fields.set_item(name.as_str(), field.width())?;
        }
        Ok(fields)
    }

    /// The bits of all fields together, 1 to 64.
    #[getter]
    fn bits(&self) -> u32 {
        self.0.bits()
    }

    /// The instant of tick 0, Unix ms.
    #[getter]
    fn epoch_ms(&self) -> i64 {
        self.0.epoch_ms()
    }

    /// The instant of tick 0, or None where datetime cannot hold it.
    #[getter]
    fn epoch<'py>(&self, py: Python<'py>) -> Moment<'py> {
        convert::datetime(py, self.0.epoch_ms())
    }

    /// The length of a tick in ms, rounded down.
    #[getter]
    fn tick_ms(&self) -> u64 {
        self.0.tick_ms()
    }

    /// The length of a tick in microseconds.
    #[getter]
    fn tick_us(&self) -> u64 {
        self.0.tick_us()
    }

    /// Whether a generator can mint in this layout: it has no opaque bits, and its ticks are whole ms.
    #[getter]
    fn mintable(&self) -> bool {
        self.0.is_mintable()
    }

    /// The start of the last tick, Unix ms.
    #[getter]
    fn ends_at_ms(&self) -> i64 {
        self.0.ends_at_ms()
    }

    /// The start of the last tick, or None where datetime cannot hold it.
    #[getter]
    fn ends_at<'py>(&self, py: Python<'py>) -> Moment<'py> {
        convert::datetime(py, self.0.ends_at_ms())
    }

    /// When bit 63 of an ID first becomes 1, Unix ms; None if it never does.
    #[getter]
    fn signed_until_ms(&self) -> Option<i64> {
        self.0.signed_until_ms()
    }

    /// When bit 63 of an ID first becomes 1; None if it never does or datetime cannot hold it.
    #[getter]
    fn signed_until<'py>(&self, py: Python<'py>) -> Moment<'py> {
        self.0.signed_until_ms().map_or(Ok(None), |ms| convert::datetime(py, ms))
    }

    /// Whether every ID fits the 53 bits that a JavaScript number holds exactly.
    #[getter]
    fn js_safe(&self) -> bool {
        self.0.js_safe()
    }

    /// How many nodes there are.
    #[getter]
    fn nodes(&self) -> u64 {
        self.0.nodes()
    }

    /// The most IDs that a node can mint in one tick.
    #[getter]
    fn ids_per_tick(&self) -> u64 {
        self.0.ids_per_tick()
    }

    /// The most IDs that a node can mint in a second on average.
    #[getter]
    fn ids_per_second(&self) -> u64 {
        self.0.ids_per_second()
    }

    /// Takes an ID apart.
    fn decode(slf: Bound<'_, Self>, id: &Bound<'_, PyAny>) -> Result<Parts, Failure> {
        match id.extract::<Int>() {
            Err(_) if array::is_array(id)? => {
                let kind = id.get_type().name()?;
                Err(PyTypeError::new_err(format!("an int is needed, not {kind}: decode_array takes arrays")).into())
            }
            id => Parts::new(slf, id?.0.id()?),
        }
    }

    /// Takes an array of IDs apart, with numpy.
    fn decode_array<'py>(&self, ids: &Bound<'py, PyAny>) -> Result<Bound<'py, PyDict>, Failure> {
        array::decode(&self.0, ids)
    }

    /// Puts an ID together: the inverse of decode.
    #[pyo3(signature = (parts=None, *, timestamp_ms=None, timestamp=None, timestamp_us=None, node=None, sequence=None, random=None, opaque=None))]
    #[allow(clippy::too_many_arguments, reason = "each is a keyword of Python")]
    fn encode(
        &self,
        parts: Option<&Bound<'_, Parts>>,
        timestamp_ms: Option<UnixMs>,
        timestamp: Option<DatetimeUs>,
        timestamp_us: Option<Int>,
        node: Option<&Bound<'_, PyAny>>,
        sequence: Option<Int>,
        random: Option<Int>,
        opaque: Option<Int>,
    ) -> Result<u64, Failure> {
        let layout = &self.0;
        let mut given = Vec::new();
        if let Some(parts) = parts {
            given.extend(<[Part; 4]>::from(&parts.get().core));
        }
        given.extend(timestamp_ms.map(|ms| Part::Ms(ms.0)));
        given.extend(timestamp.map(|datetime| Part::unix_us(datetime.0)));
        given.extend(timestamp_us.map(|us| Part::unix_us(us.0.instant())));
        if let Some(node) = node {
            given.push(Part::Node(convert::given_node(layout, node)?));
        }
        given.extend(sequence.map(|int| Part::Sequence(int.0)));
        given.extend([random, opaque].into_iter().flatten().map(|int| Part::Random(int.0)));
        Ok(layout.encode_parts(given)?)
    }

    /// The lowest and highest ID between two instants, both included.
    fn id_range(&self, dt_from: Instant, dt_to: Instant) -> Result<(u64, u64), Failure> {
        let range = self.0.id_range(dt_from.0.0, dt_to.0.0)?;
        Ok(range.into_inner())
    }

    /// A script that creates the function `schema.name()`, which mints IDs in SQL.
    #[pyo3(signature = (schema, name, node, *, max_ahead_ms=None, max_wait_ms=None, sequence_start=None))]
    fn postgres_function(
        &self,
        schema: &str,
        name: &str,
        node: &Bound<'_, PyAny>,
        max_ahead_ms: Option<Int>,
        max_wait_ms: Option<Int>,
        sequence_start: Option<Text>,
    ) -> Result<String, Failure> {
        let options = convert::options(max_ahead_ms, max_wait_ms, sequence_start)?;
        let node = convert::node(&self.0, node)?;
        Ok(PostgresFunction::new(&self.0, schema, name, node.into())?.with_options(options).to_string())
    }

    /// Statements that create the stored function `schema.name()`, which mints IDs in SQL.
    #[pyo3(signature = (schema, name, node, *, max_ahead_ms=None, max_wait_ms=None, sequence_start=None))]
    fn mariadb_function(
        &self,
        schema: &str,
        name: &str,
        node: &Bound<'_, PyAny>,
        max_ahead_ms: Option<Int>,
        max_wait_ms: Option<Int>,
        sequence_start: Option<Text>,
    ) -> Result<Vec<String>, Failure> {
        let options = convert::options(max_ahead_ms, max_wait_ms, sequence_start)?;
        let node = convert::node(&self.0, node)?;
        let function = MariadbFunction::new(&self.0, schema, name, node.into())?.with_options(options);
        Ok(function.statements().map(|statement| statement.to_string()).into())
    }

    /// Expressions that take the IDs of a column apart.
    fn decode_sql(&self, dialect: Text, column: String) -> Result<SqlParts, Failure> {
        SqlParts::new(&self.0, dialect, column)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Layout('{}')", self.0)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (String,)) {
        (slf.get_type(), (slf.get().0.to_string(),))
    }
}

/// Finds the layout of an argument of `Snowflake`.
#[pyfunction]
#[pyo3(signature = (layout=None))]
pub(crate) fn find_layout(layout: Option<&Bound<'_, PyAny>>) -> Result<Layout, Failure> {
    Layout::find(layout).map(Layout)
}

/// Every preset by name.
#[pyfunction]
pub(crate) fn presets(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let presets = PyDict::new(py);
    for (name, layout) in layouts::all() {
        presets.set_item(name, Bound::new(py, Layout(layout))?)?;
    }
    Ok(presets)
}
