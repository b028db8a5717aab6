//! Stores written in Python, behind the traits that numbers need.

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use snowmint_core::sequence::{Options, Set};
use snowmint_core::{ErrorKind, Integer};
use snowmint_stores::host::{NumberService, Served, lock};
use snowmint_stores::{
    CounterStore, Error, RecordStore, SegmentTable, ServerSettings, Tag, TicketServer, Version, Versioned, WriteOutcome,
};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::convert::{Int, Text};
use crate::error::Failure;
use crate::parking::call;
use crate::reference::Reference;
use crate::store::{KINDS, PyStore, has};

/// The most calls of one store at the same time. A store that hangs keeps as many threads.
const MAX_CALLS: usize = 8;

/// Reads the store of numbers: a URL, or an object with the methods of a store or of a service.
pub(crate) fn counters(obj: &Bound<'_, PyAny>, held: &Reference) -> Result<Arc<dyn CounterStore>, Failure> {
    let obj = object(obj)?;
    let is_service = obj.hasattr("number_service")?;
    let store = PyStore::new(&obj, held, if is_service { &ErrorKind::ALL } else { KINDS })?;
    Ok(Arc::new(Apart { has_table: obj.hasattr("segments")?, is_service, ..Apart::new(store) }))
}

/// Opens a table of tickets of a store.
pub(crate) fn tickets(
    obj: &Bound<'_, PyAny>,
    held: &Reference,
    (table, stub): (&str, Option<&str>),
    (increment, offset): (u64, u64),
) -> Result<Arc<dyn TicketServer>, Failure> {
    let obj = object(obj)?;
    if !obj.hasattr("tickets")? {
        let name = obj.repr()?.to_string_lossy().into_owned();
        return Err(Error::invalid_store(&name, "only an SqlStore over MySQL or MariaDB has tables of tickets").into());
    }
    let opened = match stub {
        Some(stub) => obj.call_method1("tickets", (table, increment, offset, stub)),
        None => obj.call_method1("tickets", (table, increment, offset)),
    };
    Ok(Arc::new(Apart::new(PyStore::new(&opened?, held, KINDS)?)))
}

/// Reads the object of a store of numbers.
pub(super) fn object<'py>(obj: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Failure> {
    let obj = if let Ok(url) = obj.extract::<Text>() {
        obj.py().import("snowmint.stores")?.getattr("connect")?.call1((url.into_string(),))?
    } else {
        obj.clone()
    };
    if !(obj.hasattr("number_service")? || has(&obj, ["read", "write", "list"])? && obj.hasattr("add")?) {
        let name = obj.repr()?.to_string_lossy().into_owned();
        let why = "a store of numbers has the methods read, write, list and add: take SqlStore, RedisStore, EtcdStore, \
                   DynamoDbStore, MemoryStore or HttpStore of snowmint.stores, or a URL of one";
        // One of this package's stores, for leases alone.
        return Err(if obj.hasattr("url")? || obj.hasattr("claim")? {
            Error::invalid_store(&name, why).into()
        } else {
            PyTypeError::new_err(format!("{why}, not {name}")).into()
        });
    }
    Ok(obj)
}

impl PyStore {
    /// Raises a counter. An `OverflowError` means that it is at its end.
    fn add_by<T>(&self, add: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T, Error> {
        let added = self.ask(|store| match add(store) {
            Err(full) if full.is_instance_of::<PyOverflowError>(store.py()) => {
                Ok(Err(full.value(store.py()).str()?.to_string_lossy().into_owned()))
            }
            added => added.map(Ok),
        })?;
        added.map_err(|full| Error::new(ErrorKind::Exhausted, full))
    }
}

#[async_trait]
impl CounterStore for PyStore {
    async fn add(&self, counter: &str, delta: u64, start: u64) -> Result<u64, Error> {
        self.add_by(|store| whole(&call(&store.getattr("add")?, (counter, delta, start))?))
    }

    async fn lower(&self, counter: &str, end: u64, start: u64) -> Result<bool, Error> {
        self.ask(|store| {
            // A caller's own store need not have this method.
            if !store.hasattr("lower")? {
                return Ok(false);
            }
            call(&store.getattr("lower")?, (counter, end, start))?.extract()
        })
    }
}

/// Calls a method of Leaf's table.
fn of_table<'py, A>(store: &Bound<'py, PyAny>, verb: &str, arguments: A) -> PyResult<Bound<'py, PyAny>>
where
    A: IntoPyObject<'py, Target = PyTuple>,
    PyErr: From<A::Error>,
{
    call(&store.getattr("segments")?.getattr(verb)?, arguments)
}

#[async_trait]
impl SegmentTable for PyStore {
    async fn tag(&self, tag: &str) -> Result<Option<Tag>, Error> {
        let row = self.ask(|store| of_table(store, "tag", (tag,))?.extract::<Option<(u64, u64, String)>>())?;
        Ok(row.map(|(next, step, description)| Tag::new(next, step).description(description)))
    }

    async fn create(&self, tag: &str, row: &Tag) -> Result<bool, Error> {
        let Tag { next, step, description, .. } = row;
        self.ask(|store| of_table(store, "create", (tag, next, step, description))?.extract())
    }

    async fn tags(&self) -> Result<Vec<String>, Error> {
        self.ask(|store| of_table(store, "tags", ())?.extract())
    }

    async fn fetch(&self, tag: &str, amount: u64) -> Result<Option<u64>, Error> {
        self.add_by(|store| {
            let end = of_table(store, "fetch", (tag, amount))?;
            if end.is_none() { Ok(None) } else { whole(&end).map(Some) }
        })
    }

    async fn lower(&self, tag: &str, end: u64, start: u64) -> Result<bool, Error> {
        self.ask(|store| of_table(store, "lower", (tag, end, start))?.extract())
    }
}

fn whole(sum: &Bound<'_, PyAny>) -> PyResult<u64> {
    match sum.extract::<Int>() {
        Ok(Int(Integer::Fits(sum))) => Ok(sum),
        _ => {
            Err(PyTypeError::new_err(format!("add returns the counter, an int from 0 to 2^63-1, not {}", sum.repr()?)))
        }
    }
}

/// A store that runs each blocking call on a thread of the runtime, so that a hanging call delays no other call.
#[derive(Clone, Debug)]
pub(super) struct Apart {
    store: Arc<PyStore>,
    /// Whether the store has Leaf's table.
    has_table: bool,
    /// Whether the store is a service.
    is_service: bool,
    room: Arc<Semaphore>,
}

impl Apart {
    pub(super) fn new(store: PyStore) -> Self {
        let room = Arc::new(Semaphore::new(MAX_CALLS));
        Self { store: Arc::new(store), has_table: false, is_service: false, room }
    }

    /// Calls a verb of the store, whose futures never wait.
    pub(super) async fn run<T, F>(&self, verb: impl FnOnce(Arc<PyStore>) -> F + Send + 'static) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>>,
    {
        // Nobody closes the semaphore.
        let room = Arc::clone(&self.room).acquire_owned().await.ok();
        let (store, answer) = (Arc::clone(&self.store), Arc::<Mutex<Option<Result<T, Error>>>>::default());
        let answered = Arc::clone(&answer);
        // Boxed, as the runtime's code for each type of work would make the extension larger.
        let work: Box<dyn FnOnce() + Send> = Box::new(move || {
            let verb = pin!(verb(store));
            if let Poll::Ready(answer) = verb.poll(&mut Context::from_waker(Waker::noop())) {
                *lock(&answered) = Some(answer);
            }
            drop(room);
        });
        // The answer shows whether the work was broken off.
        drop(spawn_blocking(work).await);
        let answer = lock(&answer).take();
        answer.unwrap_or_else(|| Err(Error::unavailable(RecordStore::name(self), "the call was broken off")))
    }
}

#[async_trait]
impl TicketServer for Apart {
    fn name(&self) -> &str {
        RecordStore::name(&*self.store)
    }

    async fn take(&self) -> Result<u64, Error> {
        self.run(async |table| table.add_by(|table| whole(&call(&table.getattr("take")?, ())?))).await
    }
}

#[async_trait]
impl RecordStore for Apart {
    fn name(&self) -> &str {
        RecordStore::name(&*self.store)
    }

    async fn read(&self, key: &str) -> Result<Option<Versioned>, Error> {
        let key = key.to_owned();
        self.run(async move |store| store.read(&key).await).await
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<WriteOutcome, Error> {
        let (key, value) = (key.to_owned(), value.to_owned());
        self.run(async move |store| store.write(&key, &value, expected).await).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Versioned)>, Error> {
        let prefix = prefix.to_owned();
        self.run(async move |store| store.list(&prefix).await).await
    }

    async fn clock_ms(&self) -> Result<Option<i64>, Error> {
        self.run(async |store| store.clock_ms().await).await
    }

    async fn settings(&self) -> Result<Option<ServerSettings>, Error> {
        self.run(async |store| store.settings().await).await
    }
}

#[async_trait]
impl CounterStore for Apart {
    async fn add(&self, counter: &str, delta: u64, start: u64) -> Result<u64, Error> {
        let counter = counter.to_owned();
        self.run(async move |store| store.add(&counter, delta, start).await).await
    }

    async fn lower(&self, counter: &str, end: u64, start: u64) -> Result<bool, Error> {
        let counter = counter.to_owned();
        self.run(async move |store| CounterStore::lower(&*store, &counter, end, start).await).await
    }

    fn segments(&self) -> Option<&dyn SegmentTable> {
        self.has_table.then_some(self)
    }

    fn service(&self) -> Option<Arc<dyn NumberService>> {
        self.is_service.then(|| Arc::new(self.clone()) as _)
    }
}

/// Calls a method of a service.
fn of_service<'py, A>(store: &Bound<'py, PyAny>, verb: &str, arguments: A) -> PyResult<Bound<'py, PyAny>>
where
    A: IntoPyObject<'py, Target = PyTuple>,
    PyErr: From<A::Error>,
{
    call(&store.getattr("number_service")?.getattr(verb)?, arguments)
}

/// Returns the options of a sequence by the names of the service.
fn definition(py: Python<'_>, options: Options) -> PyResult<Bound<'_, PyDict>> {
    let Options { dialect, kind, increment, min, max, start, cache, cycle } = options;
    let definition = PyDict::new(py);
    for (option, number) in
        [("increment", Some(increment)), ("min", min), ("max", max), ("start", start), ("cache", cache)]
    {
        definition.set_item(option, number.map(|number| number.to_string()))?;
    }
    definition.set_item("cycle", cycle)?;
    definition.set_item("dialect", dialect.name())?;
    definition.set_item("type", kind.name())?;
    Ok(definition)
}

#[async_trait]
impl NumberService for Apart {
    fn name(&self) -> &str {
        RecordStore::name(&*self.store)
    }

    async fn create(&self, name: &str, options: &Options) -> Result<bool, Error> {
        let (name, options) = (name.to_owned(), *options);
        self.run(async move |store| {
            store.ask(|store| of_service(store, "create_sequence", (name, definition(store.py(), options)?))?.extract())
        })
        .await
    }

    async fn cycles(&self, name: &str) -> Result<Option<bool>, Error> {
        let name = name.to_owned();
        self.run(async move |store| store.ask(|store| of_service(store, "cycles", (name,))?.extract())).await
    }

    async fn set(&self, name: &str, set: &Set) -> Result<Option<i128>, Error> {
        let (name, Set { value, is_called, round }) = (name.to_owned(), *set);
        // 20 digits, the most that a service reads, are too many for each sequence.
        let value = value.map(|value| value.clamp(1 - 10_i128.pow(20), 10_i128.pow(20) - 1));
        self.run(async move |store| {
            store.ask(|store| of_service(store, "set_sequence", (name, value, is_called, round))?.extract())
        })
        .await
    }

    async fn take(&self, of: Served, name: &str, count: u64) -> Result<Vec<i128>, Error> {
        let verb = match of {
            Served::Sequence => "next_of_sequence",
            Served::Ticket => "take_tickets",
        };
        let name = name.to_owned();
        self.run(async move |store| store.ask(|store| of_service(store, verb, (name, count))?.extract())).await
    }

    async fn segment(&self, tag: &str, count: u64) -> Result<u64, Error> {
        let tag = tag.to_owned();
        self.run(async move |store| store.ask(|store| of_service(store, "take_segment", (tag, count))?.extract())).await
    }

    async fn next_of_user(&self, set: &str, user: u64) -> Result<u64, Error> {
        let set = set.to_owned();
        self.run(async move |store| store.ask(|store| of_service(store, "next_of_user", (set, user))?.extract())).await
    }
}

#[async_trait]
impl SegmentTable for Apart {
    async fn tag(&self, tag: &str) -> Result<Option<Tag>, Error> {
        let tag = tag.to_owned();
        self.run(async move |store| store.tag(&tag).await).await
    }

    async fn create(&self, tag: &str, row: &Tag) -> Result<bool, Error> {
        let (tag, row) = (tag.to_owned(), row.clone());
        self.run(async move |store| store.create(&tag, &row).await).await
    }

    async fn tags(&self) -> Result<Vec<String>, Error> {
        self.run(async |store| store.tags().await).await
    }

    async fn fetch(&self, tag: &str, amount: u64) -> Result<Option<u64>, Error> {
        let tag = tag.to_owned();
        self.run(async move |store| store.fetch(&tag, amount).await).await
    }

    async fn lower(&self, tag: &str, end: u64, start: u64) -> Result<bool, Error> {
        let tag = tag.to_owned();
        self.run(async move |store| SegmentTable::lower(&*store, &tag, end, start).await).await
    }
}
