//! UUIDs, as objects of the standard library's `uuid.UUID`.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use snowmint::uuid;
use snowmint_core::{Uuid, UuidForm};

use crate::convert::{self, Instant, Int, Text};
use crate::error::Failure;
use crate::standard_uuid::standard_uuid;

/// A version 1: the time, a node and a clock sequence.
#[pyfunction]
#[pyo3(signature = (node=None, clock_seq=None))]
pub(crate) fn uuid1(py: Python<'_>, node: Option<Int>, clock_seq: Option<Int>) -> Result<Bound<'_, PyAny>, Failure> {
    standard_uuid(py, stamp(node, clock_seq)?.v1()?)
}

/// The MD5 of a name in a namespace.
#[pyfunction]
pub(crate) fn uuid3<'py>(
    namespace: &Bound<'py, PyAny>,
    name: &Bound<'py, PyAny>,
) -> Result<Bound<'py, PyAny>, Failure> {
    named(|namespace, name| Uuid::v3(namespace, name), namespace, name)
}

/// 122 random bits.
#[pyfunction]
pub(crate) fn uuid4(py: Python<'_>) -> Result<Bound<'_, PyAny>, Failure> {
    standard_uuid(py, uuid::v4()?)
}

/// The SHA-1 of a name in a namespace.
#[pyfunction]
pub(crate) fn uuid5<'py>(
    namespace: &Bound<'py, PyAny>,
    name: &Bound<'py, PyAny>,
) -> Result<Bound<'py, PyAny>, Failure> {
    named(|namespace, name| Uuid::v5(namespace, name), namespace, name)
}

/// A version 6: as 1, in order of time.
#[pyfunction]
#[pyo3(signature = (node=None, clock_seq=None))]
pub(crate) fn uuid6(py: Python<'_>, node: Option<Int>, clock_seq: Option<Int>) -> Result<Bound<'_, PyAny>, Failure> {
    standard_uuid(py, stamp(node, clock_seq)?.v6()?)
}

/// A version 7: Unix ms, a counter and random bits, greater than every one minted before; or of an instant.
#[pyfunction]
#[pyo3(signature = (timestamp=None))]
pub(crate) fn uuid7(py: Python<'_>, timestamp: Option<Instant>) -> Result<Bound<'_, PyAny>, Failure> {
    standard_uuid(py, timestamp.map_or_else(uuid::v7, |instant| uuid::v7_of(instant.0.0))?)
}

/// The lowest and the highest version 7 between two instants, both included.
#[pyfunction]
pub(crate) fn uuid7_range(
    py: Python<'_>,
    dt_from: Instant,
    dt_to: Instant,
) -> Result<(Bound<'_, PyAny>, Bound<'_, PyAny>), Failure> {
    let (lowest, highest) = Uuid::v7_range(dt_from.0.0, dt_to.0.0)?.into_inner();
    Ok((standard_uuid(py, lowest)?, standard_uuid(py, highest)?))
}

/// The short text of a UUID.
#[pyfunction]
pub(crate) fn uuid_to_text<'py>(uuid: &Bound<'py, PyAny>, form: Text) -> Result<Bound<'py, PyString>, Failure> {
    let text = UuidForm::find(form)?.encode(read(uuid)?);
    Ok(PyString::new(uuid.py(), text.as_str()))
}

/// The UUID of a short text.
#[pyfunction]
pub(crate) fn uuid_from_text(py: Python<'_>, text: Text, form: Text) -> Result<Bound<'_, PyAny>, Failure> {
    standard_uuid(py, UuidForm::find(form)?.decode(text)?)
}

/// A version 8 of 48, 12 and 62 bits from the caller; a missing part is random.
#[pyfunction]
#[pyo3(signature = (a=None, b=None, c=None))]
pub(crate) fn uuid8(
    py: Python<'_>,
    a: Option<Int>,
    b: Option<Int>,
    c: Option<Int>,
) -> Result<Bound<'_, PyAny>, Failure> {
    let given = [a, b, c].map(|part| part.map(|int| int.0.or_too_large()));
    standard_uuid(py, Uuid::v8_over(uuid::v4()?.to_bits(), given)?)
}

/// The 16 bytes of a UUID, as `MySQL`'s `UUID_TO_BIN(uuid, swap)` returns them.
#[pyfunction]
#[pyo3(signature = (uuid, swap=false))]
pub(crate) fn uuid_to_bin<'py>(uuid: &Bound<'py, PyAny>, swap: bool) -> Result<Bound<'py, PyBytes>, Failure> {
    let bits = read(uuid)?;
    let bytes = if swap { bits.swapped() } else { bits }.to_bytes();
    Ok(PyBytes::new(uuid.py(), &bytes))
}

/// The UUID of 16 bytes, as `MySQL`'s `BIN_TO_UUID(bytes, swap)` returns it.
#[pyfunction]
#[pyo3(signature = (bytes, swap=false))]
pub(crate) fn uuid_from_bin<'py>(bytes: &Bound<'py, PyAny>, swap: bool) -> Result<Bound<'py, PyAny>, Failure> {
    let stored = Uuid::from_bytes(convert::id_bytes(bytes)?);
    standard_uuid(bytes.py(), if swap { stored.unswapped() } else { stored })
}

/// Reads a UUID from its text, its bytes, or an object with an attribute `bytes` such as a `uuid.UUID`.
fn read(obj: &Bound<'_, PyAny>) -> Result<Uuid, Failure> {
    if obj.is_instance_of::<PyString>() {
        return Ok(obj.extract::<Text>()?.into_string().parse::<Uuid>()?);
    }
    Ok(Uuid::from_bytes(convert::id_bytes(obj)?))
}

fn stamp(node: Option<Int>, clock_seq: Option<Int>) -> Result<uuid::GregorianStamp, Failure> {
    let mut stamp = uuid::gregorian()?;
    if let Some(node) = node {
        stamp.node = node.0.or_too_large();
    }
    if let Some(clock_seq) = clock_seq {
        stamp.clock_sequence = u16::try_from(clock_seq.0.or_too_large()).unwrap_or(u16::MAX);
    }
    Ok(stamp)
}

fn named<'py>(
    version: fn(Uuid, &[u8]) -> Uuid,
    namespace: &Bound<'py, PyAny>,
    name: &Bound<'py, PyAny>,
) -> Result<Bound<'py, PyAny>, Failure> {
    let namespace = read(namespace)?;
    let uuid = if let Ok(text) = name.cast::<PyString>() {
        // A lone surrogate is an error, as two names must not become one.
        version(namespace, text.to_str()?.as_bytes())
    } else if let Ok(bytes) = name.cast::<PyBytes>() {
        version(namespace, bytes.as_bytes())
    } else {
        return Err(PyTypeError::new_err("name is a str or bytes").into());
    };
    standard_uuid(name.py(), uuid)
}
