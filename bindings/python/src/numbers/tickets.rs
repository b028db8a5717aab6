//! The class `Tickets`.

use std::sync::Arc;

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyString;
use snowmint_stores::CounterStore;

use super::store::counters;
use super::waiting::{later, wait};
use crate::convert::{self, Int, Name};
use crate::error::Failure;
use crate::reference::Reference;

/// Numbers that are one round trip each, to one of several stores.
#[pyclass(frozen, weakref, module = "snowmint")]
pub(crate) struct Tickets {
    core: Arc<snowmint_stores::Tickets>,
    stores: Vec<Reference>,
    name: String,
}

#[pymethods]
impl Tickets {
    #[new]
    #[pyo3(signature = (stores, name, *, max_wait_ms=None))]
    fn new(stores: &Bound<'_, PyAny>, name: Name, max_wait_ms: Option<Int>) -> Result<Self, Failure> {
        let (stores, held) = all(stores)?;
        let name = name.into_string();
        let mut core = snowmint_stores::Tickets::over(stores, &name)?;
        if let Some(ms) = max_wait_ms {
            core = core.with_max_wait(convert::duration(ms, "max_wait_ms")?);
        }
        Ok(Self { core: Arc::new(core), stores: held, name })
    }

    /// The next ticket; waits at most `max_wait_ms`.
    fn next(&self, py: Python<'_>) -> Result<u64, Failure> {
        let core = Arc::clone(&self.core);
        wait(py, async move { core.next().await })
    }

    fn __next__(&self, py: Python<'_>) -> Result<u64, Failure> {
        self.next(py)
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// The next ticket; the event loop goes on while it waits.
    fn next_async<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>, Failure> {
        let core = Arc::clone(&self.core);
        later(py, async move { core.next().await })
    }

    fn __repr__(&self) -> String {
        format!("Tickets({:?})", self.name)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.stores.iter().try_for_each(|store| store.traverse(&visit))
    }

    fn __clear__(&self, py: Python<'_>) {
        self.stores.iter().for_each(|store| store.clear(py));
    }
}

/// Stores in the order of their offsets, and the references to their objects.
type Stores = (Vec<Arc<dyn CounterStore>>, Vec<Reference>);

/// Reads a store, or stores in the order of their offsets.
fn all(obj: &Bound<'_, PyAny>) -> Result<Stores, Failure> {
    let several = if obj.is_instance_of::<PyString>() || obj.hasattr("read")? { None } else { obj.try_iter().ok() };
    let given = match several {
        Some(several) => several.collect::<PyResult<Vec<_>>>()?,
        None => vec![obj.clone()],
    };
    let (mut stores, mut held) = (Vec::new(), Vec::new());
    for store in given {
        let reference = Reference::default();
        stores.push(counters(&store, &reference)?);
        held.push(reference);
    }
    Ok((stores, held))
}
