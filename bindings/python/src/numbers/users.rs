//! The class `Users`: a sequence for each user.

use std::num::NonZeroU32;

use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use snowmint_stores::{Sections, SectionsOptions};

use super::store::counters;
use super::waiting::{Boxed, later, wait};
use crate::convert::{self, Int, Name, Text};
use crate::error::Failure;
use crate::reference::Reference;

/// An allocator of numbers for users.
#[pyclass(frozen, weakref, module = "snowmint")]
pub(crate) struct Users {
    core: Sections,
    store: Reference,
    set: String,
}

/// Opens an allocator of numbers for a set of users.
#[pyfunction]
#[pyo3(signature = (
    store, set=None, *, size=None, step=None, window_ms=None, max_wait_ms=None, label=None
))]
#[allow(clippy::too_many_arguments, reason = "they are keywords")]
pub(crate) fn users(
    py: Python<'_>,
    store: &Bound<'_, PyAny>,
    set: Option<Name>,
    size: Option<Int>,
    step: Option<Int>,
    window_ms: Option<Int>,
    max_wait_ms: Option<Int>,
    label: Option<Text>,
) -> Result<Users, Failure> {
    let held = Reference::default();
    let store = counters(store, &held)?;
    if store.service().is_some() && (size.is_some() || step.is_some() || window_ms.is_some() || label.is_some()) {
        let why = "a service has its own size, step, window_ms and label: give none of them with an HttpStore";
        return Err(PyTypeError::new_err(why).into());
    }
    let set = set.map_or_else(|| Sections::USERS.to_owned(), Name::into_string);
    let mut options = SectionsOptions::default();
    if let Some(size) = size {
        // 0 is out of range, too.
        options = options.size(NonZeroU32::new(size.0.count()).unwrap_or(NonZeroU32::MAX));
    }
    if let Some(step) = step {
        options = options.step(step.0.or_too_large());
    }
    if let Some(ms) = window_ms {
        options = options.window(convert::duration(ms, "window_ms")?);
    }
    if let Some(ms) = max_wait_ms {
        options = options.max_wait(convert::duration(ms, "max_wait_ms")?);
    }
    if let Some(label) = label {
        options = options.label(label.into_string());
    }
    let opened = {
        let set = set.clone();
        async move { Sections::new(store, &set, options) }
    };
    Ok(Users { core: wait(py, opened)?, store: held, set })
}

impl Users {
    fn taken(&self, user: Int) -> Boxed<u64> {
        let core = self.core.clone();
        Box::pin(async move { core.next(user.0).await })
    }

    fn closed(&self) -> Boxed<()> {
        let core = self.core.clone();
        Box::pin(async move { core.close().await })
    }
}

#[pymethods]
impl Users {
    /// The next number of a user; waits at most `max_wait_ms`.
    fn next(&self, py: Python<'_>, user: Int) -> Result<u64, Failure> {
        wait(py, self.taken(user))
    }

    /// The next number of a user; the event loop goes on while it waits.
    fn next_async<'py>(&self, py: Python<'py>, user: Int) -> Result<Bound<'py, PyAny>, Failure> {
        later(py, self.taken(user))
    }

    /// Closes the allocator, and gives every section back.
    fn close(&self, py: Python<'_>) -> Result<(), Failure> {
        wait(py, self.closed())
    }

    /// Closes the allocator; the event loop goes on while it waits.
    fn close_async<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>, Failure> {
        later(py, self.closed())
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> Result<(), Failure> {
        self.close(py)
    }

    fn __repr__(&self) -> String {
        format!("Users({:?})", self.set)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.store.traverse(&visit)
    }

    fn __clear__(&self, py: Python<'_>) {
        self.store.clear(py);
    }
}
