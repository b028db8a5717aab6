//! The class `Formatted`: texts such as `INV-2026-000042`.

use std::sync::Arc;

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use snowmint_core::formatted::{Date, Definition, Pattern};

use super::sequences::Sequence;
use super::waiting::{Boxed, later, wait};
use crate::convert::{self, Instant, Int, Text, Wide};
use crate::error::Failure;
use crate::host::read;
use crate::reference::Reference;

/// Texts of a pattern, with numbers of a sequence.
#[pyclass(frozen, weakref, module = "snowmint")]
pub(crate) struct Formatted {
    core: Arc<snowmint_stores::Formatted>,
    sequence: Reference,
    clock: Option<Reference>,
}

#[pymethods]
impl Formatted {
    #[new]
    #[pyo3(signature = (
        sequence, pattern, *, period=None, zone=None, overflow=None, start=None, increment=None, clock=None
    ))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords")]
    fn new(
        sequence: &Bound<'_, Sequence>,
        pattern: Text,
        period: Option<Text>,
        zone: Option<Text>,
        overflow: Option<Text>,
        start: Option<Wide>,
        increment: Option<Wide>,
        clock: Option<Bound<'_, PyAny>>,
    ) -> Result<Self, Failure> {
        let [period, zone, overflow] = [period, zone, overflow].map(|given| given.map(Text::into_string));
        let pattern = pattern.into_string();
        let pattern = Pattern::named(&pattern, period.as_deref(), zone.as_deref(), overflow.as_deref())?;
        let clock = clock.map(|clock| convert::callable("clock", clock)).transpose()?;
        let Sequence { core, name, .. } = sequence.get();
        let mut core = snowmint_stores::Formatted::over(core.clone(), name, pattern)?;
        if start.is_some() || increment.is_some() {
            let [start, increment] = [start, increment].map(|given| given.map(|Wide(number)| number));
            core = core.with_options(&Definition::new(pattern, start, increment)?.sequence())?;
        }
        let sequence = Reference::new(sequence.clone().into_any());
        Ok(Self { core: Arc::new(core), sequence, clock: clock.map(Reference::new) })
    }

    /// The next number of the present period, as a text.
    fn next(&self, py: Python<'_>) -> Result<String, Failure> {
        wait(py, self.taken(py)?)
    }

    fn __next__(&self, py: Python<'_>) -> Result<String, Failure> {
        self.next(py)
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// The next number as a text; an event loop goes on while it waits. As `next`.
    fn next_async<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>, Failure> {
        later(py, self.taken(py)?)
    }

    /// The text of a number at a time. Takes no number.
    fn format(&self, number: Int, at: Instant) -> Result<String, Failure> {
        Ok(self.core.pattern().format(number.0, at.0.0)?.to_string())
    }

    /// Reads a text of this pattern back.
    fn parse<'py>(&self, py: Python<'py>, text: Text) -> Result<Bound<'py, PyAny>, Failure> {
        static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let reading = self.core.parse(&text.into_string())?;
        let class =
            CLASS.get_or_try_init(py, || py.import("snowmint._reading")?.getattr("Reading").map(Bound::unbind))?;
        let Date { year, month, day, hour } = reading.date();
        Ok(class.bind(py).call1((reading.number(), reading.period().to_string(), year, month, day, hour))?)
    }

    fn __repr__(&self) -> String {
        format!("Formatted({:?})", self.core.pattern().as_str())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.clock.as_ref().map_or(Ok(()), |clock| clock.traverse(&visit))?;
        self.sequence.traverse(&visit)
    }

    fn __clear__(&self, py: Python<'_>) {
        self.clock.iter().for_each(|clock| clock.clear(py));
        self.sequence.clear(py);
    }
}

impl Formatted {
    /// Reads the caller's clock, and returns the work that takes a number.
    fn taken(&self, py: Python<'_>) -> Result<Boxed<String>, Failure> {
        let now_ms = self.clock.as_ref().map(|clock| read(py, clock)).transpose()?;
        let core = Arc::clone(&self.core);
        Ok(Box::pin(async move {
            let taken = match now_ms {
                Some(now_ms) => core.next_at(now_ms).await,
                None => core.next().await,
            };
            taken.map(|number| number.text)
        }))
    }
}
