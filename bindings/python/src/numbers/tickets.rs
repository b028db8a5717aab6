//! The class `Tickets`.

use std::sync::Arc;

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyString;
use snowmint_core::ticket::Form;
use snowmint_stores::CounterStore;

use super::store::{counters, tickets};
use super::waiting::{Boxed, later, wait};
use crate::convert::{self, Int, Name, Text};
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
        Self::of(snowmint_stores::Tickets::over(stores, &name)?, held, name, max_wait_ms)
    }

    /// Opens tables of tickets, such as Flickr's `Tickets64`.
    #[staticmethod]
    #[pyo3(signature = (stores, table, *, stub=None, increment=None, offsets=None, max_wait_ms=None))]
    fn of_tables(
        stores: &Bound<'_, PyAny>,
        table: Text,
        stub: Option<Text>,
        increment: Option<Int>,
        offsets: Option<Vec<Int>>,
        max_wait_ms: Option<Int>,
    ) -> Result<Self, Failure> {
        let stores = several(stores)?;
        let (table, stub) = (table.into_string(), stub.map(Text::into_string));
        let offsets: Vec<u64> = match offsets {
            Some(offsets) => offsets.into_iter().map(|offset| offset.0.or_too_large()).collect(),
            None => (1..).take(stores.len()).collect(),
        };
        let increment = increment.map_or(offsets.len() as u64, |increment| increment.0.or_too_large());
        // Before a store sees them.
        snowmint_core::ticket::Tickets::new(Form::Ticket, increment, &offsets)?;
        let (mut servers, mut held) = (Vec::new(), Vec::new());
        for (store, offset) in stores.iter().zip(&offsets) {
            let reference = Reference::default();
            servers.push(tickets(store, &reference, (&table, stub.as_deref()), (increment, *offset))?);
            held.push(reference);
        }
        let core = snowmint_stores::Tickets::new(servers, Form::Ticket, &offsets, increment)?;
        Self::of(core, held, table, max_wait_ms)
    }

    /// The next ticket; waits at most `max_wait_ms`.
    fn next(&self, py: Python<'_>) -> Result<u64, Failure> {
        wait(py, self.taken())
    }

    fn __next__(&self, py: Python<'_>) -> Result<u64, Failure> {
        self.next(py)
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// The next ticket; the event loop goes on while it waits.
    fn next_async<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>, Failure> {
        later(py, self.taken())
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

impl Tickets {
    fn taken(&self) -> Boxed<u64> {
        let core = Arc::clone(&self.core);
        Box::pin(async move { core.next().await })
    }

    fn of(
        mut core: snowmint_stores::Tickets,
        stores: Vec<Reference>,
        name: String,
        max_wait_ms: Option<Int>,
    ) -> Result<Self, Failure> {
        if let Some(ms) = max_wait_ms {
            core = core.with_max_wait(convert::duration(ms, "max_wait_ms")?);
        }
        Ok(Self { core: Arc::new(core), stores, name })
    }
}

/// Stores in the order of their offsets, and the references to their objects.
type Stores = (Vec<Arc<dyn CounterStore>>, Vec<Reference>);

/// Reads a store, or stores in the order of their offsets.
fn all(obj: &Bound<'_, PyAny>) -> Result<Stores, Failure> {
    let (mut stores, mut held) = (Vec::new(), Vec::new());
    for store in several(obj)? {
        let reference = Reference::default();
        stores.push(counters(&store, &reference)?);
        held.push(reference);
    }
    Ok((stores, held))
}

/// Returns the stores of an argument that is one store, or several.
fn several<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let several = if obj.is_instance_of::<PyString>() || obj.hasattr("read")? { None } else { obj.try_iter().ok() };
    several.map_or_else(|| Ok(vec![obj.clone()]), Iterator::collect)
}
