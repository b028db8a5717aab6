//! The class `NativeNumbers`, and a sequence of a database behind the trait that it needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use snowmint_core::durability::Engine;
use snowmint_core::native::{State, fewer};
use snowmint_core::segment::TagRecord;
use snowmint_stores::host::NativeTarget;
use snowmint_stores::{Error, NumberSource, SegmentsOptions};

use super::store::Apart;
use super::waiting::{Boxed, later, wait};
use crate::convert::{self, Int, Name};
use crate::error::Failure;
use crate::parking::call;
use crate::reference::Reference;
use crate::store::{KINDS, PyStore};

/// Numbers of a sequence that a database has, from memory: many in one round trip.
#[pyclass(frozen, weakref, module = "snowmint")]
pub(crate) struct NativeNumbers {
    core: snowmint_stores::NativeNumbers,
    store: Reference,
    name: String,
}

#[pymethods]
impl NativeNumbers {
    #[new]
    #[pyo3(signature = (store, sequence, *, step=None, max_wait_ms=None))]
    fn new(
        py: Python<'_>,
        store: &Bound<'_, PyAny>,
        sequence: Name,
        step: Option<Int>,
        max_wait_ms: Option<Int>,
    ) -> Result<Self, Failure> {
        let (held, name) = (Reference::default(), sequence.into_string());
        let source = Arc::new(Sequence::open(store, &held, &name)?);
        let step = step.map_or(TagRecord::DEFAULT.step, |step| step.0.or_too_large());
        let mut options = SegmentsOptions::default();
        if let Some(ms) = max_wait_ms {
            options = options.max_wait(convert::duration(ms, "max_wait_ms")?);
        }
        let opened = async move { snowmint_stores::NativeNumbers::open(source, step, options) };
        Ok(Self { core: wait(py, opened)?, store: held, name })
    }

    /// The next number; waits at most `max_wait_ms`.
    fn next(&self, py: Python<'_>) -> Result<i64, Failure> {
        match self.core.try_next() {
            Ok(number) => Ok(number),
            Err(_) => wait(py, self.taken()),
        }
    }

    fn __next__(&self, py: Python<'_>) -> Result<i64, Failure> {
        self.next(py)
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// The next number; the event loop goes on while it waits.
    fn next_async<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>, Failure> {
        later(py, self.taken())
    }

    fn __repr__(&self) -> String {
        format!("NativeNumbers({:?})", self.name)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.store.traverse(&visit)
    }

    fn __clear__(&self, py: Python<'_>) {
        self.store.clear(py);
    }
}

impl NativeNumbers {
    fn taken(&self) -> Boxed<i64> {
        let core = self.core.clone();
        Box::pin(async move { core.next().await })
    }
}

/// A sequence of an `SqlStore`.
#[derive(Debug)]
struct Sequence {
    calls: Apart,
    object: Arc<Object>,
}

#[derive(Debug)]
struct Object {
    target: NativeTarget,
    /// Whether the object of this name is known to be a sequence.
    is_found: AtomicBool,
}

impl Sequence {
    fn open(store: &Bound<'_, PyAny>, held: &Reference, name: &str) -> Result<Self, Failure> {
        let store = super::store::object(store)?;
        let shown = store.str()?.to_string_lossy().into_owned();
        let opened = if store.hasattr("sequence")? { Some(store.call_method1("sequence", (name,))?) } else { None };
        let (engine, allow_unsafe) = match &opened {
            Some(opened) => {
                (Engine::find(opened.getattr("engine")?.extract()?), opened.getattr("allow_unsafe")?.extract()?)
            }
            None => (None, false),
        };
        let target = NativeTarget::new(&shown, engine, name, allow_unsafe)?;
        let calls = Apart::new(PyStore::new(opened.as_ref().unwrap_or(&store), held, KINDS)?);
        Ok(Self { calls, object: Arc::new(Object { target, is_found: AtomicBool::new(false) }) })
    }
}

impl Object {
    /// Takes numbers, by calls that block.
    fn take(&self, sequence: &PyStore, count: u64) -> Result<Vec<i64>, Error> {
        if !self.is_found.load(Ordering::Relaxed) {
            let (version, kind): (String, Option<String>) =
                sequence.ask(|sequence| call(&sequence.getattr("object")?, ())?.extract())?;
            self.target.refuse_object(&version, kind.as_deref())?;
            self.is_found.store(true, Ordering::Relaxed);
        }
        let row: Option<[String; 7]> = sequence.ask(|sequence| call(&sequence.getattr("state")?, ())?.extract())?;
        let state = row.as_ref().and_then(|row| State::read(row.each_ref().map(String::as_str)));
        let mut count = Some(self.target.room(state, count)?);
        while let Some(asked) = count {
            let numbers = sequence.ask(|sequence| call(&sequence.getattr("take")?, (asked,))?.extract())?;
            match numbers {
                Some(numbers) => return Ok(numbers),
                None => count = fewer(asked),
            }
        }
        Err(self.target.run_out())
    }
}

#[async_trait]
impl NumberSource for Sequence {
    fn name(&self) -> &str {
        self.object.target.source()
    }

    async fn take(&self, count: u64) -> Result<Vec<i64>, Error> {
        let object = Arc::clone(&self.object);
        self.calls.run(async move |sequence| object.take(&sequence, count)).await
    }
}
