//! Python objects that several owners in Rust share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;

/// One reference to a Python object, shared by owners in Rust. A class that has it shows it to the cycle collector, which
/// counts it once. Empty after `clear`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reference(Arc<Mutex<Option<Py<PyAny>>>>);

impl Reference {
    pub(crate) fn new(object: Bound<'_, PyAny>) -> Self {
        Self(Arc::new(Mutex::new(Some(object.unbind()))))
    }

    pub(crate) fn get<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.object().as_ref().map(|object| object.bind(py).clone())
    }

    pub(crate) fn put(&self, object: Bound<'_, PyAny>) {
        let before = self.object().replace(object.unbind());
        // The lock is free again: the end of an object may run any code.
        drop(before);
    }

    /// Lets the object go.
    pub(crate) fn clear(&self, _attached: Python<'_>) {
        let before = self.object().take();
        drop(before);
    }

    /// Shows the object to the cycle collector. Threads hold the lock only while they are attached to the interpreter, so
    /// none has it while the collector runs.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.0.try_lock().map_or(Ok(()), |object| visit.call(&*object))
    }

    fn object(&self) -> MutexGuard<'_, Option<Py<PyAny>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
