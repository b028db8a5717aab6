//! The class `Snowflake`.

use std::ffi::CString;
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeWarning, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple};
use snowmint::host::{Environment, ProcessGenerator};
use snowmint::{Error, LeaseOptions};
use snowmint_core::lease::Reservation;
use snowmint_core::{Integer, Run, TextForm, Window};

use crate::buffer::Ids;
use crate::clock::clock_id;
use crate::convert::{self, Int, Text};
use crate::error::{self, Failure};
use crate::host::{DetachedHost, PyHost};
use crate::layout::Layout;
use crate::parking;
use crate::reference::Reference;
use crate::store;

/// A generator of IDs for one node.
///
/// >>> with Snowflake() as generator:
/// ...     generator.next_id() < generator.next_id()
/// True
///
/// Args:
///     `layout`: The name of a preset, a text form or a `Layout`; "snowmint" by default.
///     `node`: A number, a mapping of node fields or a text; by default the generator leases a node.
///     `store`: Where to lease: a store of `snowmint.stores` or a URL; by default the slots of this machine.
///     `namespace`: Leases of one namespace never have the same node; by default one for each layout.
///     `max_ahead_ms`: How far IDs may run ahead of the clock.
///     `max_wait_ms`: How long one call may wait for the clock.
///     `sequence_start`: How the sequence begins in a new tick: "zero", "random" or "carry".
///     `clock`: Returns Unix ms as an int; by default the clock of the system, or of the service.
///     `on_lost`: Called with a `WindowClosedError` if the lease is lost.
///     `exclude`: Nodes that a lease is not to get.
///     `window_ms`: The length of the windows of a lease.
///     `reserve`: How long the store reserves the node for this machine, such as "24h".
#[pyclass(frozen, weakref, module = "snowmint")]
pub(crate) struct Snowflake {
    generator: ProcessGenerator,
    clock: Option<Reference>,
    on_lost: Reference,
    /// The store, if Python code is the store.
    store: Reference,
    /// The layout of the IDs.
    #[pyo3(get)]
    layout: Py<Layout>,
}

impl Snowflake {
    #[inline]
    fn host<'a, 'py>(&'a self, py: Python<'py>) -> PyHost<'a, 'py> {
        PyHost::new(py, self.clock.as_ref())
    }

    #[inline]
    fn next_id(&self, py: Python<'_>) -> Result<u64, Failure> {
        self.generator.next_id(&mut self.host(py))
    }

    /// Returns the next ID if it is free now, by the clock of the system or of the lessor. `None` if the call has to
    /// wait, lease, raise or read a caller's clock.
    #[inline]
    pub(crate) fn free_id(&self) -> Option<u64> {
        if self.clock.is_some() { None } else { self.generator.free_id() }
    }
}

/// Returns a window as an object of Python.
fn window(py: Python<'_>, window: Option<Window>) -> PyResult<Option<Bound<'_, PyAny>>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let Some(window) = window else { return Ok(None) };
    let class = CLASS.get_or_try_init(py, || py.import("snowmint._window")?.getattr("Window").map(Bound::unbind))?;
    class.bind(py).call1((window.start_ms, window.end_ms)).map(Some)
}

#[derive(IntoPyObject)]
struct Status<'py> {
    node: u32,
    layout: String,
    window: Option<Bound<'py, PyAny>>,
    reserved: Option<Bound<'py, PyAny>>,
    max_ahead_ms: u64,
    max_wait_ms: u64,
    sequence_start: &'static str,
    closed: bool,
    namespace: Option<String>,
    lost: Option<String>,
    skipped: Vec<String>,
    renewal_failures: u64,
    renewal_error: Option<String>,
    standby_risk: Option<String>,
    skew_ms: Option<i64>,
    disorder_ms: Option<u64>,
}

#[pymethods]
impl Snowflake {
    #[new]
    #[pyo3(signature = (
        layout=None, node=None, *, store=None, namespace=None, max_ahead_ms=None, max_wait_ms=None, sequence_start=None,
        clock=None, on_lost=None, exclude=None, window_ms=None, reserve=None
    ))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords")]
    fn new(
        py: Python<'_>,
        layout: Option<&Bound<'_, PyAny>>,
        node: Option<&Bound<'_, PyAny>>,
        store: Option<&Bound<'_, PyAny>>,
        namespace: Option<Text>,
        max_ahead_ms: Option<Int>,
        max_wait_ms: Option<Int>,
        sequence_start: Option<Text>,
        clock: Option<Bound<'_, PyAny>>,
        on_lost: Option<Bound<'_, PyAny>>,
        exclude: Option<&Bound<'_, PyAny>>,
        window_ms: Option<Int>,
        reserve: Option<Text>,
    ) -> Result<Self, Failure> {
        let layout = Layout::of_generator(layout)?;
        let clock = clock.map(|clock| convert::callable("clock", clock)).transpose()?;
        let on_lost = on_lost.map(|on_lost| convert::callable("on_lost", on_lost)).transpose()?;
        let (store_object, callback) = (Reference::default(), Reference::default());
        let window_ms = window_ms.map(|ms| ms.0.ms("window_ms")).transpose()?;
        let reserve_ms = reserve.map(|text| Reservation::parse_ms(&text.into_string())).transpose()?;
        let on_lost = on_lost.map(|on_lost| {
            callback.put(on_lost);
            reporter(callback.clone())
        });
        let options = LeaseOptions::new()
            .layout(layout)
            .exclude(convert::nodes(&layout, exclude)?)
            .given(node.map(|node| convert::some_nodes(&layout, node)).transpose()?, LeaseOptions::nodes)
            .given(store.map(|store| store::store(store, &store_object)).transpose()?, LeaseOptions::store)
            .connect(store::connect(&store_object))
            .given(namespace.map(Text::into_string), LeaseOptions::namespace)
            .options(convert::options(max_ahead_ms, max_wait_ms, sequence_start)?)
            .given(window_ms.map(Duration::from_millis), LeaseOptions::window)
            .given(reserve_ms.map(Duration::from_millis), LeaseOptions::reserve)
            .given(on_lost, LeaseOptions::on_lost)
            .given(clock.as_ref().map(clock_id).transpose()?, LeaseOptions::clock_id);
        let clock = clock.map(Reference::new);
        let open =
            || ProcessGenerator::open(options, &Environment::of_process(), &mut DetachedHost::new(clock.as_ref()));
        let generator = py.detach(open)?;
        if let Some(warning) = generator.warning() {
            PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &CString::new(warning).unwrap_or_default(), 1)?;
        }
        Ok(Self { generator, clock, on_lost: callback, store: store_object, layout: Py::new(py, Layout(layout))? })
    }

    /// The node in the IDs.
    #[getter]
    fn node(&self) -> u32 {
        self.generator.node()
    }

    /// The interval of time granted to this generator, Unix ms; None for a node that the caller vouches for.
    #[getter]
    fn window<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        window(py, self.generator.window())
    }

    /// Makes a generator in a thread, so that an event loop goes on meanwhile.
    #[staticmethod]
    #[pyo3(signature = (**options))]
    fn lease_async<'py>(py: Python<'py>, options: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>> {
        py.import("snowmint._async")?.call_method("lease", (py.get_type::<Self>(),), options)
    }

    /// The next ID; waits at most `max_wait_ms`, in a thread, so that an event loop goes on meanwhile.
    fn next_id_async<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("snowmint._async")?.call_method1("next_id", (slf,))
    }

    /// The next ID as text of that form; waits at most `max_wait_ms`.
    fn next_str(&self, py: Python<'_>, form: Text) -> Result<String, Failure> {
        let form = TextForm::find(form)?;
        Ok(form.encode(self.next_id(py)?).as_str().to_owned())
    }

    // `next_id` does the same; it is in hot.rs.
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
        Ok(self.generator.try_next_id(self.generator.now_ms(&mut self.host(py))?)?)
    }

    /// The next n IDs; waits at most `max_wait_ms` in all.
    fn next_ids<'py>(&self, py: Python<'py>, n: Int) -> Result<Bound<'py, PyList>, Failure> {
        let count = n.0.batch()?;
        let mut ids = Ok(PyList::empty(py));
        self.generator.take(&mut self.host(py), count, |run| {
            if let Ok(before) = &ids {
                ids = joined(before, run);
            }
        })?;
        Ok(ids?)
    }

    /// Fills a buffer of 64-bit integers; waits at most `max_wait_ms` in all.
    fn fill(&self, py: Python<'_>, mut buffer: Ids) -> Result<(), Failure> {
        let count = Integer::from(buffer.len() as u64).batch()?;
        if buffer.is_signed {
            self.generator.refuse_negative(&mut self.host(py))?;
        }
        self.generator.take(&mut self.host(py), count, |run| buffer.append(py, run))
    }

    /// Returns the state and the options of the generator.
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let class =
            CLASS.get_or_try_init(py, || py.import("snowmint._status")?.getattr("Status").map(Bound::unbind))?;
        let options = self.generator.options();
        let status = self.generator.status();
        let status = Status {
            node: status.node,
            layout: self.generator.layout().to_string(),
            window: self.window(py)?,
            reserved: window(py, status.reserved)?,
            max_ahead_ms: options.max_ahead_ms,
            max_wait_ms: options.max_wait_ms,
            sequence_start: options.sequence_start.name(),
            closed: status.closed,
            namespace: status.namespace,
            lost: status.lost.map(|error| error.to_string()),
            skipped: status.skipped,
            renewal_failures: status.renewal_failures,
            renewal_error: status.renewal_error.map(|error| error.to_string()),
            standby_risk: status.standby_risk.map(|risk| risk.to_string()),
            skew_ms: status.skew_ms,
            disorder_ms: status.disorder_ms,
        };
        class.bind(py).call((), Some(&status.into_pyobject(py)?))
    }

    /// Ends this generator; others of the same node continue. The last one of a lease gives the rest of it back.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.generator.close());
        self.clock.iter().for_each(|clock| clock.clear(py));
        // A thread may be about to report a loss.
        if self.generator.status().lost.is_none() {
            self.on_lost.clear(py);
        }
    }

    /// Closes a generator that the cycle collector has found, while its store still works.
    fn __del__(&self, py: Python<'_>) {
        self.close(py);
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.clock.as_ref().map_or(Ok(()), |clock| clock.traverse(&visit))?;
        self.on_lost.traverse(&visit)?;
        self.store.traverse(&visit)?;
        visit.call(&self.layout)
    }

    fn __clear__(&self, py: Python<'_>) {
        self.clock.iter().for_each(|clock| clock.clear(py));
        self.on_lost.clear(py);
        self.store.clear(py);
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    fn __repr__(&self) -> String {
        let layout = self.layout.get();
        let layout = layout.name().map_or_else(|| layout.0.to_string(), str::to_owned);
        format!("Snowflake('{layout}', node={})", self.node())
    }

    /// Refuses to be copied or pickled.
    fn __reduce_ex__(_slf: &Bound<'_, Self>, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a Snowflake cannot be copied or pickled, as another process would repeat its IDs: make one there",
        ))
    }
}

impl Drop for Snowflake {
    // Detached: to release a lease may wait for another thread, which may wait for the interpreter.
    fn drop(&mut self) {
        Python::try_attach(|py| py.detach(|| self.generator.close()));
    }
}

/// Makes the callback that calls `on_lost` with the exception, from any thread.
fn reporter(on_lost: Reference) -> impl Fn(&Error) + Send + Sync + 'static {
    move |error| {
        // Does nothing if the interpreter has ended.
        parking::attach(|py| {
            let Some(on_lost) = on_lost.get(py) else { return };
            let reported = error::exception(py, error).and_then(|exception| parking::call(&on_lost, (exception,)));
            if let Err(broken) = reported {
                broken.write_unraisable(py, Some(&on_lost));
            }
        });
    }
}

/// Appends a run to a list. Most batches are one run, so its list is returned without a copy.
fn joined<'py>(before: &Bound<'py, PyList>, run: Run<'_>) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::new(before.py(), run)?;
    if before.is_empty() {
        return Ok(list);
    }
    before.set_slice(before.len(), before.len(), &list)?;
    Ok(before.clone())
}
