//! Core's errors as Python's exceptions.

use std::error::Error as _;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use snowmint::Error;
use snowmint_core::ErrorKind;
use snowmint_core::shown::Shown;

/// The error of every method: a Python exception, often converted from an error of core or of stores.
pub(crate) struct Failure(PyErr);

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

impl From<Error> for Failure {
    #[cold]
    fn from(error: Error) -> Self {
        Self(Python::attach(|py| exception(py, &error).unwrap_or_else(|broken| broken)))
    }
}

impl From<snowmint_core::Error> for Failure {
    #[cold]
    fn from(error: snowmint_core::Error) -> Self {
        Error::from(error).into()
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        failure.0
    }
}

/// Makes the Python exception of an error. Its cause is the exception that a store of the caller raised: the source of the
/// error. Fails if `snowmint._errors` cannot be imported.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let class = class_of(py, error.kind())?;
    let raised = error.source().and_then(|source| source.downcast_ref::<PyErr>());
    // An exception of this kind already has its cause, and a `KeyboardInterrupt` does not mean that the call failed.
    let comes_through = |raised: &&PyErr| raised.is_instance(py, &class) || !raised.is_instance_of::<PyException>(py);
    if let Some(raised) = raised.filter(comes_through) {
        return Ok(raised.clone_ref(py));
    }
    let message = error.to_string();
    let exception = match error.wait_ms() {
        Some(ms) => class.call1((message, ms)),
        None => class.call1((message,)),
    };
    let exception = PyErr::from_value(exception?);
    if let Some(raised) = raised {
        exception.set_cause(py, Some(raised.clone_ref(py)));
    }
    Ok(exception)
}

/// Returns the error kind of an exception of this package, `None` for any other exception.
pub(crate) fn kind_of(py: Python<'_>, exception: &PyErr) -> Option<ErrorKind> {
    let code = exception.value(py).getattr("code").ok()?.extract::<String>().ok()?;
    let kind = ErrorKind::ALL.iter().copied().find(|kind| kind.code() == code)?;
    exception.is_instance(py, &class_of(py, kind).ok()?).then_some(kind)
}

fn class_of(py: Python<'_>, kind: ErrorKind) -> PyResult<Bound<'_, PyAny>> {
    static ERRORS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let errors = ERRORS.get_or_try_init(py, || py.import("snowmint._errors").map(Bound::unbind))?;
    errors.bind(py).getattr(class_name(kind))
}

fn class_name(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Exhausted => "ExhaustedError",
        ErrorKind::ClockBackwards => "ClockBackwardsError",
        ErrorKind::WindowClosed => "WindowClosedError",
        ErrorKind::TimeOverflow => "TimeOverflowError",
        ErrorKind::BeforeEpoch => "BeforeEpochError",
        ErrorKind::InvalidLayout => "InvalidLayoutError",
        ErrorKind::InvalidNode => "InvalidNodeError",
        ErrorKind::InvalidId => "InvalidIdError",
        ErrorKind::InvalidText => "InvalidTextError",
        ErrorKind::NodesExhausted => "NodesExhaustedError",
        ErrorKind::StoreUnavailable => "StoreUnavailableError",
        ErrorKind::InvalidStore => "InvalidStoreError",
        ErrorKind::UnsafeStore => "UnsafeStoreError",
        ErrorKind::Forked => "ForkedError",
        // The enum may grow; a test over all kinds shows that each has an arm above.
        _ => "SnowmintError",
    }
}

/// Escapes the control and format characters of a text that another party wrote, as errors show it.
#[pyfunction]
pub(crate) fn shown(text: &str) -> String {
    Shown(text).to_string()
}

/// Lists the code of every error kind with the name of its exception.
#[pyfunction]
pub(crate) fn error_classes() -> Vec<(&'static str, &'static str)> {
    ErrorKind::ALL.iter().map(|kind| (kind.code(), class_name(*kind))).collect()
}
