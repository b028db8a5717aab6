//! The class `Sequences`, and virtual ranges.

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyRange;
use snowmint_core::sequence::{Options, Set, by_name};

use super::store::counters;
use super::waiting::{Boxed, later, wait};
use crate::convert::{self, Int, Name, Text, Wide};
use crate::error::Failure;
use crate::reference::Reference;

/// A session on the sequences of a store.
#[pyclass(frozen, weakref, module = "snowmint")]
pub(crate) struct Sequences {
    core: snowmint_stores::Sequences,
    store: Reference,
}

/// One sequence of a session.
#[pyclass(frozen, weakref, module = "snowmint")]
pub(crate) struct Sequence {
    pub(super) core: snowmint_stores::Sequences,
    pub(super) name: String,
    /// The object of the session, which alone shows the store to the collector.
    session: Reference,
}

/// The calls of a session.
mod calls {
    use snowmint_core::sequence::{Options, Set};
    use snowmint_stores::Sequences;

    use super::Boxed;

    pub(super) fn create(session: Sequences, name: String, options: Options) -> Boxed<bool> {
        Box::pin(async move { session.create(&name, &options).await })
    }

    pub(super) fn next(session: Sequences, name: String) -> Boxed<i128> {
        Box::pin(async move { session.next(&name).await })
    }

    pub(super) fn current(session: Sequences, name: String) -> Boxed<Option<i128>> {
        Box::pin(async move { session.current(&name).await })
    }

    pub(super) fn last(session: Sequences) -> Boxed<i128> {
        Box::pin(async move { session.last().await })
    }

    pub(super) fn set(session: Sequences, name: String, set: Set) -> Boxed<Option<i128>> {
        Box::pin(async move { session.set(&name, &set).await })
    }
}

#[pymethods]
impl Sequences {
    #[new]
    #[pyo3(signature = (store, *, max_wait_ms=None))]
    fn new(store: &Bound<'_, PyAny>, max_wait_ms: Option<Int>) -> Result<Self, Failure> {
        let held = Reference::default();
        let mut core = snowmint_stores::Sequences::new(counters(store, &held)?);
        if let Some(ms) = max_wait_ms {
            core = core.with_max_wait(convert::duration(ms, "max_wait_ms")?);
        }
        Ok(Self { core, store: held })
    }

    /// `CREATE SEQUENCE`. Returns False if the sequence exists.
    #[pyo3(signature = (
        name, *, start=None, increment=None, min=None, max=None, cache=None, cycle=None, dialect=None, kind=None
    ))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords")]
    fn create(
        &self,
        py: Python<'_>,
        name: Name,
        start: Option<Wide>,
        increment: Option<Wide>,
        min: Option<Wide>,
        max: Option<Wide>,
        cache: Option<Wide>,
        cycle: Option<bool>,
        dialect: Option<Text>,
        kind: Option<Text>,
    ) -> Result<bool, Failure> {
        let options = options(start, increment, (min, max), cache, cycle, dialect, kind)?;
        wait(py, calls::create(self.core.clone(), name.into_string(), options))
    }

    /// `CREATE SEQUENCE`; the event loop goes on while it waits.
    #[pyo3(signature = (
        name, *, start=None, increment=None, min=None, max=None, cache=None, cycle=None, dialect=None, kind=None
    ))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords")]
    fn create_async<'py>(
        &self,
        py: Python<'py>,
        name: Name,
        start: Option<Wide>,
        increment: Option<Wide>,
        min: Option<Wide>,
        max: Option<Wide>,
        cache: Option<Wide>,
        cycle: Option<bool>,
        dialect: Option<Text>,
        kind: Option<Text>,
    ) -> Result<Bound<'py, PyAny>, Failure> {
        let options = options(start, increment, (min, max), cache, cycle, dialect, kind)?;
        later(py, calls::create(self.core.clone(), name.into_string(), options))
    }

    /// `nextval`: the next value.
    fn next(&self, py: Python<'_>, name: Name) -> Result<i128, Failure> {
        wait(py, calls::next(self.core.clone(), name.into_string()))
    }

    /// `nextval`; the event loop goes on while it waits.
    fn next_async<'py>(&self, py: Python<'py>, name: Name) -> Result<Bound<'py, PyAny>, Failure> {
        later(py, calls::next(self.core.clone(), name.into_string()))
    }

    /// `currval`: the last value of the sequence in this session.
    fn current(&self, py: Python<'_>, name: Name) -> Result<Option<i128>, Failure> {
        wait(py, calls::current(self.core.clone(), name.into_string()))
    }

    /// `currval`; the event loop goes on while it waits.
    fn current_async<'py>(&self, py: Python<'py>, name: Name) -> Result<Bound<'py, PyAny>, Failure> {
        later(py, calls::current(self.core.clone(), name.into_string()))
    }

    /// `lastval`: the last value of the sequence that this session used last.
    fn last(&self, py: Python<'_>) -> Result<i128, Failure> {
        wait(py, calls::last(self.core.clone()))
    }

    /// `lastval`; the event loop goes on while it waits.
    fn last_async<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>, Failure> {
        later(py, calls::last(self.core.clone()))
    }

    /// `setval`: sets the value, and returns it; None if the dialect leaves the sequence unchanged.
    #[pyo3(signature = (name, value, called=None, *, round=None))]
    fn set(
        &self,
        py: Python<'_>,
        name: Name,
        value: Wide,
        called: Option<bool>,
        round: Option<Int>,
    ) -> Result<Option<i128>, Failure> {
        wait(py, calls::set(self.core.clone(), name.into_string(), setting(value, called, round)))
    }

    /// `setval`; the event loop goes on while it waits.
    #[pyo3(signature = (name, value, called=None, *, round=None))]
    fn set_async<'py>(
        &self,
        py: Python<'py>,
        name: Name,
        value: Wide,
        called: Option<bool>,
        round: Option<Int>,
    ) -> Result<Bound<'py, PyAny>, Failure> {
        later(py, calls::set(self.core.clone(), name.into_string(), setting(value, called, round)))
    }

    /// One sequence, to pass on.
    fn sequence(slf: &Bound<'_, Self>, name: Name) -> Sequence {
        let session = Reference::new(slf.clone().into_any());
        Sequence { core: slf.get().core.clone(), name: name.into_string(), session }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.store.traverse(&visit)
    }

    fn __clear__(&self, py: Python<'_>) {
        self.store.clear(py);
    }
}

#[pymethods]
impl Sequence {
    /// `nextval`: the next value. As `Sequences.next`.
    fn next(&self, py: Python<'_>) -> Result<i128, Failure> {
        wait(py, calls::next(self.core.clone(), self.name.clone()))
    }

    /// `nextval`; an event loop goes on while it waits. As `Sequences.next`.
    fn next_async<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>, Failure> {
        later(py, calls::next(self.core.clone(), self.name.clone()))
    }

    /// `currval`: the last value in this session. As `Sequences.current`.
    fn current(&self, py: Python<'_>) -> Result<Option<i128>, Failure> {
        wait(py, calls::current(self.core.clone(), self.name.clone()))
    }

    /// `currval`; an event loop goes on while it waits. As `Sequences.current`.
    fn current_async<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>, Failure> {
        later(py, calls::current(self.core.clone(), self.name.clone()))
    }

    /// `setval`: sets the value, and returns it; None if the dialect leaves the sequence unchanged.
    #[pyo3(signature = (value, called=None, *, round=None))]
    fn set(
        &self,
        py: Python<'_>,
        value: Wide,
        called: Option<bool>,
        round: Option<Int>,
    ) -> Result<Option<i128>, Failure> {
        wait(py, calls::set(self.core.clone(), self.name.clone(), setting(value, called, round)))
    }

    /// `setval`; an event loop goes on while it waits. As `Sequences.set`.
    #[pyo3(signature = (value, called=None, *, round=None))]
    fn set_async<'py>(
        &self,
        py: Python<'py>,
        value: Wide,
        called: Option<bool>,
        round: Option<Int>,
    ) -> Result<Bound<'py, PyAny>, Failure> {
        later(py, calls::set(self.core.clone(), self.name.clone(), setting(value, called, round)))
    }

    fn __repr__(&self) -> String {
        format!("Sequence({:?})", self.name)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.session.traverse(&visit)
    }

    fn __clear__(&self, py: Python<'_>) {
        self.session.clear(py);
    }
}

fn options(
    start: Option<Wide>,
    increment: Option<Wide>,
    (min, max): (Option<Wide>, Option<Wide>),
    cache: Option<Wide>,
    cycle: Option<bool>,
    dialect: Option<Text>,
    kind: Option<Text>,
) -> Result<Options, Failure> {
    let number = |given: Option<Wide>| given.map(|Wide(number)| number);
    let default = Options::named(dialect, kind)?;
    Ok(Options {
        start: number(start),
        increment: number(increment).unwrap_or(default.increment),
        min: number(min),
        max: number(max),
        cache: number(cache),
        cycle: cycle.unwrap_or(default.cycle),
        ..default
    })
}

fn setting(Wide(value): Wide, called: Option<bool>, round: Option<Int>) -> Set {
    Set { value: Some(value), is_called: called, round: round.map(|round| round.0.or_too_large()) }
}

/// Returns the range of a name such as `seq_1_to_15_step_3`.
#[pyfunction]
pub(crate) fn virtual_range(py: Python<'_>, name: Text) -> Result<Bound<'_, PyAny>, Failure> {
    let mut numbers = by_name(name)?;
    // At most 2^64.
    let count = i128::try_from(numbers.len()).unwrap_or(i128::MAX);
    let first = i128::from(numbers.next().unwrap_or_default());
    let step = numbers.next().map_or(1, |second| i128::from(second) - first);
    Ok(py.get_type::<PyRange>().call1((first, first + step * count, step))?)
}
