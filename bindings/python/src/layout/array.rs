//! Takes arrays of IDs apart, with numpy.

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList};
use snowmint_core::{Error, Layout};

use crate::error::Failure;
use crate::work;

const ITEM_BYTES: usize = size_of::<u64>();

/// Returns whether an object is a list, or an array of one dimension or more.
pub(super) fn is_array(obj: &Bound<'_, PyAny>) -> PyResult<bool> {
    let ndim = intern!(obj.py(), "ndim");
    Ok(obj.is_instance_of::<PyList>() || obj.hasattr(ndim)? && obj.getattr(ndim)?.ne(0)?)
}

/// Returns the IDs in a numpy array, or in an object that becomes one, as 8 bytes each in native order, and the array.
pub(crate) fn items<'py>(ids: &Bound<'py, PyAny>) -> Result<(Bound<'py, PyBytes>, Bound<'py, PyAny>), Failure> {
    let py = ids.py();
    let ids = py.import(intern!(py, "numpy"))?.call_method1(intern!(py, "asarray"), (ids,))?;
    let dtype = ids.getattr(intern!(py, "dtype"))?;
    let kind: String = dtype.getattr(intern!(py, "kind"))?.extract()?;
    if !["u", "i"].contains(&&*kind) || dtype.getattr(intern!(py, "itemsize"))?.extract::<usize>()? != ITEM_BYTES {
        return Err(PyTypeError::new_err(format!("ids is a numpy array of uint64 or int64, not of {dtype}")).into());
    }
    // A copy in native byte order, whatever the order and the strides of the array are.
    let native = ids.call_method1(intern!(py, "astype"), (if kind == "u" { "=u8" } else { "=i8" },))?;
    let bytes = native.call_method0(intern!(py, "tobytes"))?.cast_into::<PyBytes>().map_err(PyErr::from)?;
    Ok((bytes, ids))
}

/// Returns the parts of the IDs in a numpy array, as arrays by name, and the fields as a dict of arrays.
pub(super) fn decode<'py>(layout: &Layout, ids: &Bound<'py, PyAny>) -> Result<Bound<'py, PyDict>, Failure> {
    let py = ids.py();
    let numpy = py.import(intern!(py, "numpy"))?;
    let (bytes, ids) = items(ids)?;
    let fields: Vec<_> = layout.field_values(0).map(|(name, _)| name.as_str().to_owned()).collect();
    let (items, _) = bytes.as_bytes().as_chunks::<ITEM_BYTES>();
    let column = || Vec::with_capacity(items.len() * ITEM_BYTES);
    let [mut timestamps, mut microseconds, mut ticks, mut nodes, mut sequences] = [(); 5].map(|()| column());
    let mut values: Vec<Vec<u8>> = fields.iter().map(|_| column()).collect();
    let fine = !layout.tick_us().is_multiple_of(1000);
    for items in items.chunks(work::ITEMS_PER_CHECK) {
        let decoded = py.detach(|| {
            for item in items {
                let id = u64::from_ne_bytes(*item);
                let parts = layout.decode(id)?;
                timestamps.extend(parts.timestamp_ms.to_ne_bytes());
                if fine {
                    // Ticks below 1 ms end before 64-bit microseconds do.
                    let us = i64::try_from(parts.timestamp_us()).map_err(|_| Error::far_time())?;
                    microseconds.extend(us.to_ne_bytes());
                }
                ticks.extend(parts.tick.to_ne_bytes());
                nodes.extend(u64::from(parts.node).to_ne_bytes());
                sequences.extend(parts.sequence.to_ne_bytes());
                for (column, (_, value)) in values.iter_mut().zip(layout.field_values(id)) {
                    column.extend(value.to_ne_bytes());
                }
            }
            Ok::<_, Error>(())
        });
        decoded?;
        py.check_signals()?;
    }
    let shape = ids.getattr(intern!(py, "shape"))?;
    // An array over a bytearray can be written to.
    let array = |column: &[u8], dtype: &str| {
        let flat = numpy.call_method1(intern!(py, "frombuffer"), (PyByteArray::new(py, column), dtype))?;
        flat.call_method1(intern!(py, "reshape"), (&shape,))
    };
    let (parts, by_name) = (PyDict::new(py), PyDict::new(py));
    for (name, column) in fields.iter().zip(&values) {
        by_name.set_item(name, array(column, "u8")?)?;
    }
    parts.set_item("fields", by_name)?;
    for (name, column, dtype) in [
        ("timestamp", &timestamps, "M8[ms]"),
        ("timestamp_ms", &timestamps, "i8"),
        ("tick", &ticks, "u8"),
        ("node", &nodes, "u8"),
        ("sequence", &sequences, "u8"),
    ] {
        parts.set_item(name, array(column, dtype)?)?;
    }
    if fine {
        parts.set_item("timestamp", array(&microseconds, "M8[us]")?)?;
        parts.set_item("timestamp_us", array(&microseconds, "i8")?)?;
    }
    Ok(parts)
}
