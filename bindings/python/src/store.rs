//! Stores written in Python, behind the traits that leases need.

use std::collections::HashMap;
use std::path::Path;

use async_trait::async_trait;
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use snowmint::host::{Backend, Connect, Lessor, LessorGrant};
use snowmint::stores::host::{Claimer, Namespace, Terms};
use snowmint::stores::{RecordStore, ServerSettings, Version, Versioned, WriteOutcome};
use snowmint::{Error, LeaseStore};
use snowmint_core::durability::{Denial, Engine};
use snowmint_core::store::{self, NOT_A_VERSION};
use snowmint_core::{ErrorKind, Nodes, Window};

use crate::convert::{Int, Text, UnixMs};
use crate::error::{self, Failure};
use crate::forks::attach;
use crate::parking::call;
use crate::reference::Reference;

/// Reads the argument `store`: a URL, an object with the methods of a store or lessor, or an object with a `url`.
pub(crate) fn store(obj: &Bound<'_, PyAny>, held: &Reference) -> PyResult<LeaseStore> {
    if let Ok(url) = obj.extract::<Text>() {
        return Ok(url.into_string().into());
    }
    if has(obj, ["read", "write", "list"])? || lends(obj)? {
        return backend(obj, held).map(LeaseStore::of);
    }
    let url = obj.getattr("url").and_then(|url| url.extract::<Text>());
    let url = url.map_err(|_| {
        PyTypeError::new_err(
            "store is one of snowmint.stores, or a str such as \"file:/srv/slots\" or \"redis://host\"",
        )
    })?;
    Ok(url.into_string().into())
}

pub(crate) fn has(obj: &Bound<'_, PyAny>, verbs: [&str; 3]) -> PyResult<bool> {
    Ok(obj.hasattr(verbs[0])? && obj.hasattr(verbs[1])? && obj.hasattr(verbs[2])?)
}

/// Whether the object has the methods of a lessor.
fn lends(obj: &Bound<'_, PyAny>) -> PyResult<bool> {
    has(obj, ["claim", "renew", "release"])
}

/// Returns the function that connects to the store of a URL: `snowmint.stores.connect`.
pub(crate) fn connect(held: &Reference) -> Connect {
    let held = held.clone();
    Connect::new(move |url| {
        let connected = attach(|py| {
            let connect = py.import("snowmint.stores").and_then(|stores| stores.getattr("connect"));
            let store = connect.and_then(|connect| backend(&call(&connect, (url,))?, &held));
            store.map_err(|failed| store_error(py, "snowmint.stores.connect", &failed, KINDS).with_source(failed))
        });
        connected.unwrap_or_else(|| Err(over("snowmint.stores.connect")))
    })
}

fn backend(obj: &Bound<'_, PyAny>, held: &Reference) -> PyResult<Backend> {
    static AT_EXIT: PyOnceLock<()> = PyOnceLock::new();
    let py = obj.py();
    AT_EXIT.get_or_try_init(py, || {
        // At exit, while the interpreter and the objects of the stores still live.
        let release = pyo3::wrap_pyfunction!(release_callers_stores, py)?;
        py.import("atexit")?.call_method1("register", (release,)).map(drop)
    })?;
    let number = obj.as_ptr().addr();
    let store = |kinds| PyStore::new(obj, held, kinds);
    Ok(if lends(obj)? {
        Backend::lessor(store(&ErrorKind::ALL)?, number)
    } else {
        Backend::blocking(store(KINDS)?, number)
    })
}

/// Releases the rest of every window over a store written in Python.
#[pyfunction]
fn release_callers_stores(py: Python<'_>) {
    py.detach(snowmint::host::release_callers_stores);
}

/// Gives the nodes of all leases of this process back, before it ends by `os._exit`.
#[pyfunction]
pub(crate) fn release_leases(py: Python<'_>) {
    py.detach(snowmint::host::release_leases);
}

/// A Python object with the methods of a store or lessor.
#[derive(Debug)]
pub(crate) struct PyStore {
    object: Reference,
    name: String,
    /// The kinds of this package's errors that the object may raise.
    kinds: &'static [ErrorKind],
}

impl PyStore {
    pub(crate) fn new(obj: &Bound<'_, PyAny>, held: &Reference, kinds: &'static [ErrorKind]) -> PyResult<Self> {
        let name = obj.str()?.to_string_lossy().into_owned();
        held.put(obj.clone());
        Ok(Self { object: held.clone(), name, kinds })
    }

    pub(crate) fn ask<T>(&self, ask: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T, Error> {
        let asked = attach(|py| {
            let store = self.object.get(py)?;
            Some(ask(&store).map_err(|failed| store_error(py, &self.name, &failed, self.kinds).with_source(failed)))
        });
        asked.flatten().unwrap_or_else(|| Err(over(&self.name)))
    }

    /// Calls a method of a lessor with the namespace, the nonce, further texts and numbers. Returns its numbers.
    fn ask_lessor(
        &self,
        verb: &str,
        (terms, claimer): (&Terms, &Claimer),
        texts: &[&str],
        numbers: &[i64],
        nodes: Option<Nodes>,
    ) -> Result<Vec<i64>, Error> {
        let (namespace, nonce) = (terms.namespace.to_string(), format!("{:032x}", claimer.nonce));
        self.ask(|lessor| {
            let arguments = PyList::new(lessor.py(), [&namespace, &nonce])?;
            texts.iter().try_for_each(|text| arguments.append(text))?;
            numbers.iter().try_for_each(|number| arguments.append(number))?;
            let mut verb = lessor.getattr(verb)?;
            if let Some(nodes) = nodes.filter(|nodes| *nodes != Nodes::ALL) {
                let keywords = PyDict::new(lessor.py());
                match nodes.single() {
                    Some(node) => keywords.set_item("node", node)?,
                    None => keywords.set_item("nodes", terms.layout.show_nodes(nodes).to_string())?,
                }
                verb = lessor.py().import("functools")?.getattr("partial")?.call((verb,), Some(&keywords))?;
            }
            let answer = call(&verb, arguments.to_tuple())?;
            if answer.is_none() { Ok(Vec::new()) } else { answer.extract() }
        })
    }

    fn odd(&self) -> Error {
        Error::unavailable(&self.name, "its answer has the wrong count of numbers")
    }
}

#[async_trait]
impl RecordStore for PyStore {
    fn name(&self) -> &str {
        &self.name
    }

    async fn read(&self, key: &str) -> Result<Option<Versioned>, Error> {
        self.ask(|store| {
            let found = call(&store.getattr("read")?, (key,))?.extract::<Option<(Vec<u8>, Bound<'_, PyAny>)>>()?;
            found.map(|(value, answer)| Ok(Versioned::new(value, version(&answer, 0)?))).transpose()
        })
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, Error> {
        let version = self.ask(|store| {
            let value = PyBytes::new(store.py(), value);
            let answer = call(&store.getattr("write")?, (key, value, expected))?;
            // `True` and `False` are integers too.
            if answer.is_none() { Ok(None) } else { version(&answer, expected).map(Some) }
        })?;
        Ok(version.map_or(WriteOutcome::Conflict, WriteOutcome::Version))
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Versioned)>, Error> {
        self.ask(|store| {
            let all = call(&store.getattr("list")?, (prefix,))?;
            // The answer may be a generator.
            let all = call(&store.py().get_type::<PyList>(), (all,))?;
            let record = |each: PyResult<Bound<'_, PyAny>>| {
                let (part, value, answer) = each?.extract::<(String, Vec<u8>, Bound<'_, PyAny>)>()?;
                Ok((part, Versioned::new(value, version(&answer, 0)?)))
            };
            all.try_iter()?.map(record).collect()
        })
    }

    async fn clock_ms(&self) -> Result<Option<i64>, Error> {
        self.ask(|store| {
            // A store need not have a clock.
            if !store.hasattr("clock_ms")? {
                return Ok(None);
            }
            let ms = call(&store.getattr("clock_ms")?, ())?.extract::<Option<UnixMs>>()?;
            Ok(ms.map(|ms| ms.0))
        })
    }

    async fn refuse_standby(&self) -> Result<(), Error> {
        // A caller's own store need not have this method.
        self.ask(|store| {
            if store.hasattr("refuse_standby")? {
                call(&store.getattr("refuse_standby")?, ()).map(drop)
            } else {
                Ok(())
            }
        })
    }

    async fn settings(&self) -> Result<Option<ServerSettings>, Error> {
        let found = self.ask(|store| {
            // A caller's own store need not have this method.
            if !store.hasattr("settings")? {
                return Ok(None);
            }
            call(&store.getattr("settings")?, ())?.extract::<Option<(String, HashMap<String, String>)>>()
        })?;
        let settings = found.and_then(|(engine, values)| Some((Engine::find(&engine)?, values)));
        Ok(settings.map(|(engine, values)| ServerSettings::new(engine, values)))
    }

    fn standby_risk(&self) -> Option<Error> {
        let risk = self.ask(|store| {
            if !store.hasattr("standby_risk")? {
                return Ok(None);
            }
            call(&store.getattr("standby_risk")?, ())?.extract::<Option<String>>()
        });
        // A risk that cannot be read does not count.
        risk.ok().flatten().map(|risk| Error::new(ErrorKind::UnsafeStore, risk))
    }
}

#[async_trait]
impl Lessor for PyStore {
    fn name(&self) -> &str {
        &self.name
    }

    async fn claim(&self, terms: &Terms, claimer: &Claimer) -> Result<LessorGrant, Error> {
        let layout = terms.layout.to_string();
        let nodes = terms.exclude.iter().map(|node| i64::from(*node));
        let numbers: Vec<_> = [whole(terms.window_ms), whole(terms.max_ahead_ms)].into_iter().chain(nodes).collect();
        match self.ask_lessor("claim", (terms, claimer), &[&layout, &claimer.label], &numbers, Some(terms.nodes))?[..] {
            [node, start_ms, end_ms, window_ms, now_ms] => Ok(LessorGrant {
                // Out of range becomes a node that no layout has, or the length 0.
                node: u32::try_from(node).unwrap_or(u32::MAX),
                window: Window { start_ms, end_ms },
                window_ms: u64::try_from(window_ms).unwrap_or_default(),
                now_ms,
            }),
            _ => Err(self.odd()),
        }
    }

    async fn check(&self, namespace: &Namespace) -> Result<(), Error> {
        // A caller's own lessor need not have this method.
        self.ask(|lessor| {
            if lessor.hasattr("check")? {
                call(&lessor.getattr("check")?, (namespace.to_string(),)).map(drop)
            } else {
                Ok(())
            }
        })
    }

    async fn renew(
        &self,
        terms: &Terms,
        claimer: &Claimer,
        node: u32,
        unused_from_ms: i64,
    ) -> Result<(Window, i64), Error> {
        let numbers = [i64::from(node), unused_from_ms, whole(terms.window_ms), whole(terms.max_ahead_ms)];
        match self.ask_lessor("renew", (terms, claimer), &[], &numbers, None)?[..] {
            [start_ms, end_ms, now_ms] => Ok((Window { start_ms, end_ms }, now_ms)),
            _ => Err(self.odd()),
        }
    }

    async fn release(&self, terms: &Terms, claimer: &Claimer, node: u32, unused_from_ms: i64) -> Result<(), Error> {
        let numbers = [i64::from(node), unused_from_ms];
        self.ask_lessor("release", (terms, claimer), &[], &numbers, None).map(drop)
    }
}

/// Reads the version in an answer of a store, after a write that expected another version.
fn version(answer: &Bound<'_, PyAny>, expected: Version) -> PyResult<Version> {
    match answer.extract::<Int>().ok().and_then(|int| store::version(int.0, expected)) {
        Some(version) => Ok(version),
        None => Err(PyTypeError::new_err(NOT_A_VERSION.replace("{answer}", &answer.repr()?.to_string_lossy()))),
    }
}

fn whole(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}

/// The kinds of this package's errors that a store may raise.
pub(crate) const KINDS: &[ErrorKind] =
    &[ErrorKind::StoreUnavailable, ErrorKind::InvalidStore, ErrorKind::UnsafeStore, ErrorKind::Forked];

/// Converts the exception of a store into an error. An exception of this package keeps its kind, if the kind is
/// allowed; any other becomes `StoreUnavailable`, since the store may or may not have done the request.
fn store_error(py: Python<'_>, name: &str, failed: &PyErr, kinds: &[ErrorKind]) -> Error {
    let value = failed.value(py);
    let message = call(&py.get_type::<PyString>(), (value,));
    let message = message.and_then(|message| Ok(message.extract::<Text>()?.into_string())).unwrap_or_default();
    if !failed.is_instance_of::<PyException>(py) {
        // Such as `KeyboardInterrupt`: another request would not help.
        Error::new(ErrorKind::WindowClosed, format!("{name}: interrupted"))
    } else if let Some(kind) = error::kind_of(py, failed).filter(|kind| kinds.contains(kind)) {
        let error = Error::new(kind, message);
        // The ms after which to ask again.
        let after = value.getattr("retry_after_ms").and_then(|ms| ms.extract());
        if let Ok(ms) = after { error.with_retry_after_ms(ms) } else { error }
    } else {
        let class = failed.get_type(py).name().map_or_else(|_| String::new(), |name| name.to_string());
        Error::unavailable(name, format_args!("{class}: {message}"))
    }
}

fn over(name: &str) -> Error {
    Error::unavailable(name, "the interpreter is about to end")
}

/// Lists the settings of an engine that decide whether it keeps confirmed writes.
#[pyfunction]
pub(crate) fn engine_settings(engine: &str) -> PyResult<Vec<&'static str>> {
    Ok(known(engine)?.settings().collect())
}

/// Returns what to add to an error that means a wrong configuration of the store; None for another error.
#[pyfunction]
pub(crate) fn misconfigured(engine: &str, code: &str, message: &str) -> PyResult<Option<&'static str>> {
    Ok(known(engine)?.misconfigured(code, message))
}

/// Returns whether an error of an engine, by its code, says that a sequence has no more numbers.
#[pyfunction]
pub(crate) fn is_run_out(engine: &str, code: &str) -> PyResult<bool> {
    Ok(known(engine)?.denial(code) == Denial::RunOut)
}

/// Returns whether an error of an engine, by its code, says that another session was faster when tables are made.
#[pyfunction]
pub(crate) fn is_overtaken(engine: &str, code: &str) -> PyResult<bool> {
    Ok(known(engine)?.denial(code).is_overtaken())
}

/// Returns whether an error of an engine, by its code, says that the server undid the whole transaction.
#[pyfunction]
pub(crate) fn is_undone(engine: &str, code: &str) -> PyResult<bool> {
    Ok(known(engine)?.denial(code).is_undone())
}

/// Says how a failover could lose confirmed writes under settings of an engine, by name; None if it cannot.
#[pyfunction]
pub(crate) fn standby_risk(store: &str, engine: &str, found: &Bound<'_, PyDict>) -> PyResult<Option<String>> {
    let engine = known(engine)?;
    let found: HashMap<String, String> = found.extract()?;
    let risk = Error::standby_risk(store, engine, |setting| found.get(setting).map(String::as_str));
    Ok(risk.map(|risk| risk.to_string()))
}

/// Refuses unsafe settings of an engine, given by name.
#[pyfunction]
pub(crate) fn refuse_unsafe(store: &str, engine: &str, found: &Bound<'_, PyDict>) -> Result<(), Failure> {
    let engine = known(engine)?;
    let found: HashMap<String, String> = found.extract()?;
    Ok(Error::refuse_unsafe(store, engine, |setting| found.get(setting).map(String::as_str))?)
}

/// Refuses the path of a database file that can be lost, or that other processes cannot reach by the same path.
#[pyfunction]
pub(crate) fn refuse_lossy_place(store: &str, path: &str) -> Result<(), Failure> {
    Ok(snowmint::stores::host::refuse_lossy_place(store, Path::new(path), "allow_unsafe=True")?)
}

fn known(engine: &str) -> PyResult<Engine> {
    Engine::find(engine).ok_or_else(|| PyTypeError::new_err(format!("the engine {engine} is not known")))
}
