//! The class `Snowflake`.

use std::env;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use snowmint_core::{Error, Integer, Run, SystemHost, Words};

use crate::buffer::Ids;
use crate::convert::{self, Int, Text};
use crate::error::Failure;
use crate::host::{self, PyHost};
use crate::layout::Layout;

type Core = snowmint_core::Snowflake<&'static Words>;

/// A generator of IDs for one node.
#[pyclass(frozen, module = "snowmint")]
pub(crate) struct Snowflake {
    core: Core,
    clock: Option<Py<PyAny>>,
    closed: AtomicBool,
    /// The layout of the IDs.
    #[pyo3(get)]
    layout: Py<Layout>,
    /// The interval of time granted to this generator, Unix ms; None for a node that the caller vouches for.
    #[pyo3(get)]
    window: Option<(i64, i64)>,
}

impl Snowflake {
    #[inline]
    fn open(&self) -> Result<&Core, Error> {
        if self.closed.load(Ordering::Relaxed) { Err(Error::closed()) } else { Ok(&self.core) }
    }

    #[inline]
    fn host<'a, 'py>(&'a self, py: Python<'py>) -> PyHost<'a, 'py> {
        PyHost::new(py, self.clock.as_ref())
    }
}

#[derive(IntoPyObject)]
struct Status {
    node: u32,
    layout: String,
    window: Option<(i64, i64)>,
    max_ahead_ms: u64,
    max_wait_ms: u64,
    sequence_start: &'static str,
    closed: bool,
}

#[pymethods]
impl Snowflake {
    #[new]
    #[pyo3(signature = (
        layout=None, node=None, *, max_ahead_ms=None, max_wait_ms=None, sequence_start=None, clock=None
    ))]
    fn new(
        py: Python<'_>,
        layout: Option<&Bound<'_, PyAny>>,
        node: Option<&Bound<'_, PyAny>>,
        max_ahead_ms: Option<Int>,
        max_wait_ms: Option<Int>,
        sequence_start: Option<Text>,
        clock: Option<Bound<'_, PyAny>>,
    ) -> Result<Self, Failure> {
        let layout = convert::layout(layout)?;
        let node = match (node, env::var_os("SNOWMINT_NODE")) {
            (Some(node), _) => convert::node(&layout, node)?,
            (None, Some(text)) => layout.parse_node(text.as_encoded_bytes())?,
            (None, None) => return Err(Error::node_needed().into()),
        };
        let options = convert::options(max_ahead_ms, max_wait_ms, sequence_start)?;
        match &clock {
            Some(clock) if !clock.is_callable() => return Err(PyTypeError::new_err("clock is not callable").into()),
            // A caller's clock may be a script, which a reading here would advance.
            Some(_) => {}
            None => layout.refuse_if_over(SystemHost::unix_ms())?,
        }
        Ok(Self {
            core: Core::with(&layout, node, options, host::words(clock.as_ref(), &layout, node)),
            clock: clock.map(Bound::unbind),
            closed: AtomicBool::new(false),
            layout: Py::new(py, Layout(layout))?,
            window: None,
        })
    }

    /// The node in the IDs.
    #[getter]
    fn node(&self) -> u32 {
        self.core.node()
    }

    /// The next ID; waits at most `max_wait_ms`.
    fn next_id(&self, py: Python<'_>) -> Result<u64, Failure> {
        self.open()?.next_id(&mut self.host(py))
    }

    fn __call__(&self, py: Python<'_>) -> Result<u64, Failure> {
        self.next_id(py)
    }

    fn __next__(&self, py: Python<'_>) -> Result<u64, Failure> {
        self.next_id(py)
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// The next ID; never waits.
    fn try_next_id(&self, py: Python<'_>) -> Result<u64, Failure> {
        use snowmint_core::Host;
        Ok(self.open()?.try_next_id(self.host(py).now_ms()?)?)
    }

    /// The next n IDs; waits at most `max_wait_ms` in all.
    fn next_ids<'py>(&self, py: Python<'py>, n: Int) -> Result<Bound<'py, PyList>, Failure> {
        let count = n.0.batch()?;
        let mut ids = Ok(PyList::empty(py));
        self.open()?.take(&mut self.host(py), count, |run| {
            if let Ok(before) = &ids {
                ids = joined(before, run);
            }
        })?;
        Ok(ids?)
    }

    /// Fills a buffer of 64-bit unsigned integers; waits at most `max_wait_ms` in all.
    fn fill(&self, py: Python<'_>, mut buffer: Ids) -> Result<(), Failure> {
        let count = Integer::from(buffer.len() as u64).batch()?;
        self.open()?.take(&mut self.host(py), count, |run| buffer.append(py, run))
    }

    /// What the generator is and how it was made, as a dict.
    fn status(&self) -> Status {
        let options = self.core.options();
        Status {
            node: self.core.node(),
            layout: self.core.layout().to_string(),
            window: self.window,
            max_ahead_ms: options.max_ahead_ms,
            max_wait_ms: options.max_wait_ms,
            sequence_start: options.sequence_start.name(),
            closed: self.closed.load(Ordering::Relaxed),
        }
    }

    /// Ends this generator; others of the same node go on.
    fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) {
        self.close();
    }

    fn __repr__(&self) -> String {
        let layout = self.layout.get();
        let layout = layout.name().map_or_else(|| layout.0.to_string(), str::to_owned);
        format!("Snowflake('{layout}', node={})", self.core.node())
    }

    /// Refuses to be copied or pickled.
    fn __reduce_ex__(_slf: &Bound<'_, Self>, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a Snowflake cannot be copied or pickled, as another process would repeat its IDs: make one there",
        ))
    }
}

/// Most batches are one run, whose list is the answer.
fn joined<'py>(before: &Bound<'py, PyList>, run: Run<'_>) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::new(before.py(), run)?;
    if before.is_empty() {
        return Ok(list);
    }
    before.set_slice(before.len(), before.len(), &list)?;
    Ok(before.clone())
}
