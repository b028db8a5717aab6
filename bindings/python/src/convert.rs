//! Converts arguments and results between Python's types and core's. It knows no class of this package.

use std::borrow::Cow;
use std::time::Duration;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDelta, PyInt, PyMapping, PyString, PyType, PyTzInfo};
use snowmint_core::{Error, Integer, Layout, Nodes, Options, SequenceStart};

use crate::error::Failure;

/// Returns whether the argument is an `int`, or an object with `__index__`, such as a numpy integer. A `bool` is neither.
pub(crate) fn is_int(obj: &Bound<'_, PyAny>) -> PyResult<bool> {
    if obj.is_instance_of::<PyInt>() {
        return Ok(!obj.is_instance_of::<PyBool>());
    }
    obj.hasattr("__index__")
}

/// Returns the argument as an `int`. An exception of its `__index__` comes through.
fn int<'py>(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Bound<'py, PyInt>> {
    if !is_int(&obj)? {
        return Err(PyTypeError::new_err(format!("an int is needed, not {}", obj.get_type().name()?)));
    }
    match obj.cast::<PyInt>() {
        Ok(int) => Ok(int.to_owned()),
        Err(_) => Ok(obj.call_method0("__index__")?.cast_into()?),
    }
}

/// An `int` of any size.
#[derive(Clone, Copy)]
pub(crate) struct Int(pub(crate) Integer);

impl<'py> FromPyObject<'_, 'py> for Int {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let int = int(obj)?;
        Ok(Self(match int.extract::<u64>() {
            Ok(value) => Integer::Fits(value),
            Err(_) if int.lt(0)? => int.neg()?.extract::<u64>().map_or(Integer::Below, Integer::Negative),
            Err(_) => Integer::Above,
        }))
    }
}

/// An `int` of at most 128 bits. An integer outside of that range becomes the nearest one, too large for every sequence.
#[derive(Clone, Copy)]
pub(crate) struct Wide(pub(crate) i128);

impl<'py> FromPyObject<'_, 'py> for Wide {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let int = int(obj)?;
        Ok(Self(match int.extract::<i128>() {
            Ok(value) => value,
            Err(_) if int.lt(0)? => i128::MIN,
            Err(_) => i128::MAX,
        }))
    }
}

/// Returns an `int` as a `u128`. An integer outside of that range becomes `u128::MAX`, too large for every field of
/// less than 128 bits.
pub(crate) fn wide_int(obj: &Bound<'_, PyAny>) -> PyResult<u128> {
    Ok(int(obj.as_borrowed())?.extract::<u128>().unwrap_or(u128::MAX))
}

/// Reads the bytes of an ID from `bytes`, or from the attribute `bytes` of an object such as a UUID.
pub(crate) fn id_bytes<const N: usize>(obj: &Bound<'_, PyAny>) -> Result<[u8; N], Failure> {
    let bytes = if let Ok(bytes) = obj.cast::<PyBytes>() {
        bytes.clone()
    } else {
        let bytes = obj.getattr("bytes").and_then(|bytes| Ok(bytes.cast_into::<PyBytes>()?));
        let kind = obj.get_type().name()?;
        bytes.map_err(|_| {
            PyTypeError::new_err(format!("{N} bytes, or an object with an attribute bytes, are needed, not {kind}"))
        })?
    };
    let bytes = bytes.as_bytes();
    Ok(bytes.try_into().map_err(|_| Error::id_bytes(N, bytes.len()))?)
}

/// Unix ms from an `int` of any size, as [`Integer::instant`] has it.
#[derive(Clone, Copy)]
pub(crate) struct UnixMs(pub(crate) i64);

impl<'py> FromPyObject<'_, 'py> for UnixMs {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(obj.extract::<Int>()?.0.instant()))
    }
}

/// Reads an aware `datetime`, or a `datetime64` of numpy as UTC, in units of `us` microseconds. Returns `None` for
/// another object.
///
/// # Errors
/// `ValueError` for a naive datetime, and for `NaT`.
fn instant(obj: &Bound<'_, PyAny>, us: i32) -> PyResult<Option<i64>> {
    let py = obj.py();
    if obj.is_instance(datetime_class(py)?)? {
        if obj.call_method0("utcoffset")?.is_none() {
            return Err(PyValueError::new_err("a naive datetime names no instant: give it a tzinfo"));
        }
        let since_epoch = obj.sub(unix_epoch(py)?)?;
        return since_epoch.floor_div(PyDelta::new(py, 0, 0, us, false)?)?.extract().map(Some);
    }
    let class = obj.get_type();
    if class.name()? != "datetime64" || class.module()? != "numpy" {
        return Ok(None);
    }
    let units = obj.call_method1("astype", (format!("datetime64[{us}us]"),))?.call_method1("astype", ("int64",))?;
    match units.extract()? {
        i64::MIN => Err(PyValueError::new_err("NaT names no instant")),
        units => Ok(Some(units)),
    }
}

/// Unix microseconds, from an object that `instant` reads.
#[derive(Clone, Copy)]
pub(crate) struct DatetimeUs(pub(crate) i64);

impl<'py> FromPyObject<'_, 'py> for DatetimeUs {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match instant(&obj, 1)? {
            Some(us) => Ok(Self(us)),
            None => Err(PyTypeError::new_err(format!("a datetime is needed, not {}", obj.get_type().name()?))),
        }
    }
}

/// Unix ms, from an `int` of any size or an object that `instant` reads.
#[derive(Clone, Copy)]
pub(crate) struct Instant(pub(crate) UnixMs);

impl<'py> FromPyObject<'_, 'py> for Instant {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if is_int(&obj)? {
            return obj.extract().map(Self);
        }
        let Some(ms) = instant(&obj, 1000)? else {
            let kind = obj.get_type().name()?;
            return Err(PyTypeError::new_err(format!("an aware datetime or Unix ms as an int is needed, not {kind}")));
        };
        Ok(Self(UnixMs(ms)))
    }
}

/// Reads the result of a caller's clock, Unix ms. A time outside of 64 bits becomes the nearest 64-bit time.
pub(crate) fn reading(obj: &Bound<'_, PyAny>) -> PyResult<i64> {
    if !is_int(obj)? {
        return Err(PyTypeError::new_err("clock returns Unix ms as an int: time.time_ns() // 1_000_000"));
    }
    Ok(obj.extract::<UnixMs>()?.0)
}

/// Returns Python's own class `datetime`, also while a tool such as freezegun has replaced it by a derived class.
pub(crate) fn datetime_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.get_or_try_init(py, || {
        let named = py.import("datetime")?.getattr("datetime")?.cast_into::<PyType>()?;
        for class in named.mro() {
            let class = class.cast_into::<PyType>()?;
            if class.module()? == "datetime" {
                return Ok(class.unbind());
            }
        }
        Ok::<_, PyErr>(named.unbind())
    })?;
    Ok(class.bind(py))
}

fn unix_epoch(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static EPOCH: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let epoch = EPOCH.get_or_try_init(py, || {
        datetime_class(py)?.call1((1970, 1, 1, 0, 0, 0, 0, &*PyTzInfo::utc(py)?)).map(Bound::unbind)
    })?;
    Ok(epoch.bind(py))
}

/// Returns the instant in UTC, or `None` outside of the years 1 to 9999, which are all that `datetime` can hold.
pub(crate) fn datetime(py: Python<'_>, unix_ms: i64) -> PyResult<Option<Bound<'_, PyAny>>> {
    datetime_us(py, i128::from(unix_ms) * 1000)
}

/// Works as `datetime`, for Unix microseconds.
pub(crate) fn datetime_us(py: Python<'_>, unix_us: i128) -> PyResult<Option<Bound<'_, PyAny>>> {
    const DAY_S: i128 = 86_400;
    let (seconds, us) = (unix_us.div_euclid(1_000_000), i32::try_from(unix_us.rem_euclid(1_000_000))?);
    let Ok(days) = i32::try_from(seconds.div_euclid(DAY_S)) else { return Ok(None) };
    // Less than a day, so it fits.
    let seconds = i32::try_from(seconds.rem_euclid(DAY_S))?;
    let sum = PyDelta::new(py, days, seconds, us, false).and_then(|delta| unix_epoch(py)?.add(delta));
    match sum {
        Err(error) if error.is_instance_of::<PyOverflowError>(py) => Ok(None),
        sum => sum.map(Some),
    }
}

/// A `str`. A lone surrogate becomes U+FFFD. No valid text has that character, so core refuses it with its own
/// message.
pub(crate) struct Text(String);

impl FromPyObject<'_, '_> for Text {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        Ok(Self(obj.cast::<PyString>()?.to_string_lossy().into_owned()))
    }
}

impl Text {
    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// A `str` that is a name. A lone surrogate becomes NUL, which no new name may have, so that core refuses it.
pub(crate) struct Name(String);

impl FromPyObject<'_, '_> for Name {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let text = obj.cast::<PyString>()?;
        Ok(Self(text.to_cow().map_or_else(|_| "\0".to_owned(), Cow::into_owned)))
    }
}

impl Name {
    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

/// Returns a number of ms.
pub(crate) fn duration(ms: Int, option: &str) -> Result<Duration, Failure> {
    Ok(Duration::from_millis(ms.0.ms(option)?))
}

/// Reads a node from a number, a mapping of node fields, or a text such as `datacenter=0,worker=5`.
pub(crate) fn node(layout: &Layout, obj: &Bound<'_, PyAny>) -> Result<u32, Failure> {
    Ok(given_node(layout, obj)??)
}

/// Reads the nodes that a lease may take: a node, or the values of some node fields.
pub(crate) fn some_nodes(layout: &Layout, obj: &Bound<'_, PyAny>) -> Result<Nodes, Failure> {
    if let Ok(text) = obj.cast::<PyString>() {
        return Ok(layout.parse_nodes(text.extract::<Text>()?)?);
    }
    match obj.cast::<PyMapping>() {
        Ok(fields) => Ok(layout.nodes_of(given_fields(fields)?)?),
        Err(_) => Ok(Nodes::one(node(layout, obj)?)),
    }
}

fn given_fields(fields: &Bound<'_, PyMapping>) -> PyResult<impl Iterator<Item = (Text, Integer)>> {
    Ok(fields.items()?.extract::<Vec<(Text, Int)>>()?.into_iter().map(|(name, value)| (name, value.0)))
}

/// Reads a node as `node`. Returns the refusal of the layout beside the errors of Python.
pub(crate) fn given_node(layout: &Layout, obj: &Bound<'_, PyAny>) -> PyResult<Result<u32, Error>> {
    if let Ok(text) = obj.cast::<PyString>() {
        return Ok(layout.parse_node(text.extract::<Text>()?));
    }
    if let Ok(fields) = obj.cast::<PyMapping>() {
        return Ok(layout.node_of(given_fields(fields)?));
    }
    if !is_int(obj)? {
        return Err(PyTypeError::new_err("node is an int, a mapping of node fields or a str"));
    }
    Ok(layout.node(obj.extract::<Int>()?.0))
}

/// Reads the nodes to exclude from a lease, each in a form that `node` accepts.
pub(crate) fn nodes(layout: &Layout, obj: Option<&Bound<'_, PyAny>>) -> Result<Vec<u32>, Failure> {
    let Some(obj) = obj else { return Ok(Vec::new()) };
    obj.try_iter()?.map(|each| node(layout, &each?)).collect()
}

pub(crate) fn callable<'py>(name: &str, obj: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if obj.is_callable() { Ok(obj) } else { Err(PyTypeError::new_err(format!("{name} is not callable"))) }
}

/// Returns core's default options, overridden by the given ones.
pub(crate) fn options(
    max_ahead_ms: Option<Int>,
    max_wait_ms: Option<Int>,
    sequence_start: Option<Text>,
) -> Result<Options, Error> {
    let mut options = Options::DEFAULT;
    if let Some(ms) = max_ahead_ms {
        options.max_ahead_ms = ms.0.ms("max_ahead_ms")?;
    }
    if let Some(ms) = max_wait_ms {
        options.max_wait_ms = ms.0.ms("max_wait_ms")?;
    }
    if let Some(name) = sequence_start {
        options.sequence_start = SequenceStart::find(name)?;
    }
    Ok(options)
}

/// Returns the schema with which pydantic takes the texts and the objects of a class.
pub(crate) fn pydantic_schema<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
    class.py().import("snowmint.pydantic")?.call_method1("text_schema", (class,))
}
