//! The class `Segments`.

use std::ops::Range;

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyRange, PyTuple};
use snowmint_core::Integer;
use snowmint_stores::{SegmentsOptions, Tag};

use super::store::counters;
use super::waiting::{Boxed, later, wait};
use crate::buffer::Ids;
use crate::convert::{self, Int, Name};
use crate::error::Failure;
use crate::reference::Reference;

/// Numbers of one tag, from memory.
#[pyclass(frozen, weakref, module = "snowmint")]
pub(crate) struct Segments {
    core: snowmint_stores::Segments,
    store: Reference,
    tag: String,
}

/// Consecutive numbers, as a `range`.
struct Block(Range<u64>);

impl<'py> IntoPyObject<'py> for Block {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.get_type::<PyRange>().call1((self.0.start, self.0.end))
    }
}

#[pymethods]
impl Segments {
    #[new]
    #[pyo3(signature = (store, tag, *, start=None, step=None, max_wait_ms=None))]
    fn new(
        py: Python<'_>,
        store: &Bound<'_, PyAny>,
        tag: Name,
        start: Option<Int>,
        step: Option<Int>,
        max_wait_ms: Option<Int>,
    ) -> Result<Self, Failure> {
        let held = Reference::default();
        let (store, tag) = (counters(store, &held)?, tag.into_string());
        let mut row = Tag::default();
        if let Some(start) = start {
            row.next = start.0.or_too_large();
        }
        if let Some(step) = step {
            row.step = step.0.or_too_large();
        }
        let mut options = SegmentsOptions::default();
        if let Some(ms) = max_wait_ms {
            options = options.max_wait(convert::duration(ms, "max_wait_ms")?);
        }
        let opened = {
            let tag = tag.clone();
            async move { snowmint_stores::Segments::open_or_create(store, &tag, &row, options).await }
        };
        Ok(Self { core: wait(py, opened)?, store: held, tag })
    }

    /// The next number; waits at most `max_wait_ms`.
    fn next(&self, py: Python<'_>) -> Result<u64, Failure> {
        match self.core.try_next() {
            Ok(number) => Ok(number),
            Err(_) => self.fetched(py),
        }
    }

    fn __next__(&self, py: Python<'_>) -> Result<u64, Failure> {
        self.next(py)
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// The next number; the event loop goes on while it waits.
    fn next_async<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>, Failure> {
        later(py, self.taken())
    }

    /// The next n consecutive numbers.
    fn next_block(&self, py: Python<'_>, n: Int) -> Result<Block, Failure> {
        self.block(py, n.0).map(Block)
    }

    /// The next n consecutive numbers; the event loop goes on while it waits.
    fn next_block_async<'py>(&self, py: Python<'py>, n: Int) -> Result<Bound<'py, PyAny>, Failure> {
        let block = self.taken_block(n.0);
        later(py, async move { block.await.map(Block) })
    }

    /// Fills a buffer of 64-bit integers with consecutive numbers.
    fn fill(&self, py: Python<'_>, mut buffer: Ids) -> Result<(), Failure> {
        if buffer.len() > 0 {
            let block = self.block(py, Integer::from(buffer.len()))?;
            buffer.append_range(py, block);
        }
        Ok(())
    }

    /// Closes the segment, gives unused numbers back, and returns how many.
    fn close(&self, py: Python<'_>) -> Result<u64, Failure> {
        wait(py, self.closed())
    }

    /// Closes the segment; the event loop goes on while it waits.
    fn close_async<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>, Failure> {
        later(py, self.closed())
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> Result<(), Failure> {
        self.close(py).map(drop)
    }

    fn __repr__(&self) -> String {
        format!("Segments({:?})", self.tag)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.store.traverse(&visit)
    }

    fn __clear__(&self, py: Python<'_>) {
        self.store.clear(py);
    }
}

impl Segments {
    fn taken(&self) -> Boxed<u64> {
        let segments = self.core.clone();
        Box::pin(async move { segments.next().await })
    }

    fn taken_block(&self, count: Integer) -> Boxed<Range<u64>> {
        let segments = self.core.clone();
        Box::pin(async move { segments.next_block(count).await })
    }

    fn closed(&self) -> Boxed<u64> {
        let segments = self.core.clone();
        Box::pin(async move { segments.close().await })
    }

    #[cold]
    fn fetched(&self, py: Python<'_>) -> Result<u64, Failure> {
        wait(py, self.taken())
    }

    fn block(&self, py: Python<'_>, count: Integer) -> Result<Range<u64>, Failure> {
        wait(py, self.taken_block(count))
    }
}
