//! A store of JavaScript, which reservations ask.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use napi::Status;
use napi::bindgen_prelude::{Buffer, Function, Result, Uint8Array};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;
use snowmint::host::Backend;
use snowmint::stores::host::background::{Outcome, Progress, pair};
use snowmint::stores::{RecordStore, Version, Versioned, WriteOutcome};
use snowmint::{Error, ErrorKind, LeaseStore};

/// How long the calling thread sleeps before it looks again whether it is in a forked child.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Calls a function of JavaScript with a question. It does not keep the process alive.
type Ask = ThreadsafeFunction<Question, (), Question, Status, false, true>;

/// The records of a store of JavaScript.
#[napi]
#[derive(Debug)]
pub struct Records(LeaseStore);

#[napi]
impl Records {
    /// Makes it of the store's name and the function that answers a question.
    ///
    /// # Errors
    /// The errors of Node-API.
    #[napi(constructor, catch_unwind)]
    #[allow(clippy::needless_pass_by_value, reason = "napi gives functions away")]
    pub fn new(name: String, ask: Function<'_, Question, ()>) -> Result<Self> {
        static STORES: AtomicUsize = AtomicUsize::new(0);
        let ask = ask.build_threadsafe_function::<Question>().weak::<true>().build()?;
        let store = JsStore { name, ask, risk: Mutex::new(None) };
        let number = STORES.fetch_add(1, Ordering::Relaxed);
        Ok(Self(LeaseStore::of(Backend::blocking(store, number))))
    }
}

impl Records {
    pub(crate) fn store(&self) -> LeaseStore {
        self.0.clone()
    }
}

/// A call of the store, which JavaScript answers once.
#[napi]
#[derive(Debug)]
pub struct Question {
    verb: &'static str,
    key: String,
    value: Vec<u8>,
    expected: Version,
    outcome: Option<Outcome<Reply>>,
}

#[napi]
impl Question {
    /// `read`, `write`, `list`, `clockMs` or `refuseStandby`.
    #[napi(getter)]
    pub fn verb(&self) -> &'static str {
        self.verb
    }

    /// The key, or the prefix of a list.
    #[napi(getter)]
    pub fn key(&self) -> String {
        self.key.clone()
    }

    /// The record to write.
    #[napi(getter)]
    pub fn value(&self) -> Buffer {
        self.value.clone().into()
    }

    /// The version that the record must have.
    #[napi(getter)]
    #[allow(clippy::cast_precision_loss, reason = "versions of records are below 2^53")]
    pub fn expected(&self) -> f64 {
        self.expected as f64
    }

    /// Takes the answer.
    #[napi(catch_unwind)]
    pub fn answer(&mut self, reply: Reply) {
        if let Some(outcome) = self.outcome.take() {
            outcome.done(reply);
        }
    }
}

/// The answer of a store: the result of its verb, or an error.
#[napi(object, object_to_js = false)]
#[derive(Debug)]
pub struct Reply {
    /// The records that were read.
    pub records: Vec<Found>,
    /// The new version of a written record.
    pub version: Option<f64>,
    /// The store's clock, Unix ms.
    pub ms: Option<f64>,
    /// The writes that a failover of the store could lose.
    pub risk: Option<String>,
    /// The code of an error.
    pub code: Option<String>,
    /// The message of an error.
    pub message: Option<String>,
}

/// A record of a store.
#[napi(object, object_to_js = false)]
pub struct Found {
    /// The part of its key after the prefix.
    pub name: String,
    /// Its bytes.
    pub value: Uint8Array,
    /// Its version.
    pub version: f64,
}

impl fmt::Debug for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of version {}", self.name, self.version)
    }
}

struct JsStore {
    name: String,
    ask: Ask,
    risk: Mutex<Option<String>>,
}

impl fmt::Debug for JsStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl JsStore {
    /// Asks the store, and waits for its answer. The store ends each call by itself.
    fn ask(
        &self,
        verb: &'static str,
        key: &str,
        value: &[u8],
        expected: Version,
    ) -> core::result::Result<Reply, Error> {
        let (outcome, pending) = pair();
        let outcome = Some(outcome);
        let question = Question { verb, key: key.to_owned(), value: value.to_vec(), expected, outcome };
        self.ask.call(question, ThreadsafeFunctionCallMode::NonBlocking);
        let reply = loop {
            match pending.wait(Instant::now() + LOOK_INTERVAL) {
                Progress::Done(reply) => break reply,
                Progress::UnderWay => {}
                Progress::BrokenOff => {
                    return Err(Error::unavailable(&self.name, "the thread that opened it has ended"));
                }
            }
        };
        if let Some(message) = reply.message {
            let code = reply.code.unwrap_or_default();
            let kind = [ErrorKind::UnsafeStore, ErrorKind::InvalidStore].into_iter().find(|kind| kind.code() == code);
            return Err(Error::new(kind.unwrap_or(ErrorKind::StoreUnavailable), message));
        }
        self.risk.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&reply.risk);
        Ok(reply)
    }
}

#[async_trait]
impl RecordStore for JsStore {
    fn name(&self) -> &str {
        &self.name
    }

    async fn read(&self, key: &str) -> core::result::Result<Option<Versioned>, Error> {
        Ok(self.ask("read", key, &[], 0)?.records.pop().map(|found| versioned(&found)))
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> core::result::Result<WriteOutcome, Error> {
        let version = self.ask("write", key, value, expected)?.version;
        Ok(version.map_or(WriteOutcome::Conflict, |version| WriteOutcome::Version(whole(version))))
    }

    async fn list(&self, prefix: &str) -> core::result::Result<Vec<(String, Versioned)>, Error> {
        let records = self.ask("list", prefix, &[], 0)?.records;
        Ok(records.into_iter().map(|found| (found.name.clone(), versioned(&found))).collect())
    }

    #[allow(clippy::cast_possible_truncation, reason = "JavaScript has rounded it")]
    async fn clock_ms(&self) -> core::result::Result<Option<i64>, Error> {
        Ok(self.ask("clockMs", "", &[], 0)?.ms.map(|ms| ms as i64))
    }

    async fn refuse_standby(&self) -> core::result::Result<(), Error> {
        self.ask("refuseStandby", "", &[], 0).map(drop)
    }

    fn standby_risk(&self) -> Option<Error> {
        let risk = self.risk.lock().unwrap_or_else(PoisonError::into_inner).clone();
        risk.map(|risk| Error::new(ErrorKind::UnsafeStore, risk))
    }
}

fn versioned(found: &Found) -> Versioned {
    Versioned::new(found.value.to_vec(), whole(found.version))
}

/// Converts a version, which JavaScript has checked.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such a cast saturates")]
const fn whole(version: f64) -> Version {
    version as Version
}
