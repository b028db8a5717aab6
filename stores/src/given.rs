//! Leases over a store or of a lessor that the caller gives, whose calls wait for their answers, such as one of a host
//! language's.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;

use async_trait::async_trait;
use snowmint_core::Window;

use crate::error::Error;
use crate::file::Refused;
use crate::held;
use crate::holding::{Holding, Renewed, Wanted, claim_node};
use crate::lessor::{Lessor, Loan};
use crate::service_clock::ServiceClock;
use crate::store::{Found, Store, Version, Wrote};

/// Where leases can be kept: the verbs of [`Store`] that they need. Each call ends, by a timeout if need be.
///
/// The same rules hold: what is answered is durable and linearizable, and an error of the kind `StoreUnavailable` leaves
/// open whether a write was done. In a forked child the same object is used: what it shares with the parent, such as a
/// connection, is not for the child to use.
pub trait BlockingStore: fmt::Debug + Send + Sync + 'static {
    /// What and where it is, for sentences. No password.
    fn name(&self) -> &str;

    /// As [`Store::read`].
    ///
    /// # Errors
    /// `StoreUnavailable`, `UnsafeStore`, `Forked`; as in the other calls.
    fn read(&self, key: &str) -> Result<Option<Found>, Error>;

    /// As [`Store::write`].
    ///
    /// # Errors
    /// As `read`.
    fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<Wrote, Error>;

    /// As [`Store::list`].
    ///
    /// # Errors
    /// As `read`.
    fn list(&self, prefix: &str) -> Result<Vec<(String, Found)>, Error>;

    /// As [`Store::clock_ms`].
    ///
    /// # Errors
    /// As `read`.
    fn clock_ms(&self) -> Result<Option<i64>, Error>;

    /// As [`Store::refuse_standby`].
    ///
    /// # Errors
    /// As `read`.
    fn refuse_standby(&self) -> Result<(), Error> {
        Ok(())
    }

    /// As [`Store::standby_risk`].
    fn standby_risk(&self) -> Option<Error> {
        None
    }
}

/// A store or a lessor that the caller gives. Two are equal if they are of the same number.
#[derive(Clone)]
pub struct Given {
    source: Source,
    number: usize,
}

#[derive(Clone)]
enum Source {
    Store(Arc<dyn BlockingStore>),
    Lessor(Arc<dyn Lessor>),
}

impl Given {
    /// A store, and what tells it from all others as long as it lives, such as the address of an object.
    pub fn new(store: impl BlockingStore, number: usize) -> Self {
        Self { source: Source::Store(Arc::new(store)), number }
    }

    /// A lessor, and what tells it from all others.
    pub fn lessor(lessor: impl Lessor, number: usize) -> Self {
        Self { source: Source::Lessor(Arc::new(lessor)), number }
    }

    /// Whether its own clock counts.
    pub(crate) const fn has_clock(&self) -> bool {
        matches!(self.source, Source::Lessor(_))
    }

    pub(crate) fn name(&self) -> &str {
        match &self.source {
            Source::Store(store) => store.name(),
            Source::Lessor(lessor) => lessor.name(),
        }
    }

    /// Claims a node; the window is durable by then.
    pub(crate) fn claim(&self, wanted: &Wanted) -> Result<Grant, Refused> {
        match &self.source {
            Source::Store(store) => {
                let grant = at_once(claim_node(Arc::new(Blocking(Arc::clone(store))), wanted))?;
                Ok(Grant {
                    hold: Hold::Record(Box::new(grant.holding)),
                    skew_ms: grant.skew_ms,
                    skipped: grant.skipped,
                })
            }
            Source::Lessor(lessor) => {
                let loan = Loan::claim(Arc::clone(lessor), wanted)?;
                Ok(Grant { skew_ms: Some(loan.skew_ms()), hold: Hold::Loan(Box::new(loan)), skipped: Vec::new() })
            }
        }
    }
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Given({})", self.name())
    }
}

impl PartialEq for Given {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Given {}

impl Hash for Given {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

/// What a holder gets.
#[derive(Debug)]
pub(crate) struct Grant {
    pub(crate) hold: Hold,
    pub(crate) skew_ms: Option<i64>,
    /// Records that are none.
    pub(crate) skipped: Vec<String>,
}

/// A node that is held.
#[derive(Debug)]
pub(crate) enum Hold {
    /// By a record that is written here.
    Record(Box<Holding>),
    Loan(Box<Loan>),
}

impl Hold {
    pub(crate) const fn node(&self) -> u32 {
        match self {
            Self::Record(holding) => holding.node(),
            Self::Loan(loan) => loan.node(),
        }
    }

    /// The window that is durable.
    pub(crate) const fn window(&self) -> Window {
        match self {
            Self::Record(holding) => holding.window(),
            Self::Loan(loan) => loan.window(),
        }
    }

    /// What a failover of the store could lose.
    pub(crate) fn standby_risk(&self) -> Option<Error> {
        match self {
            Self::Record(holding) => holding.standby_risk(),
            Self::Loan(_) => None,
        }
    }

    /// For a loan the length of its windows in ms, and the clock that counts.
    pub(crate) fn lent(&self) -> Option<(u64, Arc<ServiceClock>)> {
        match self {
            Self::Record(_) => None,
            Self::Loan(loan) => Some((loan.window_ms(), loan.clock())),
        }
    }
}

impl held::Hold for Hold {
    const THREAD: &'static str = "snowmint-store";

    fn renew(&mut self, now_ms: i64, last_ms: i64, reach_ms: u64) -> Renewed {
        match self {
            Self::Record(holding) => at_once(holding.renew(now_ms, last_ms, reach_ms)),
            Self::Loan(loan) => loan.renew(last_ms, reach_ms),
        }
    }

    fn release(self, end_ms: i64) {
        match self {
            Self::Record(holding) => drop(at_once(holding.release(end_ms))),
            Self::Loan(loan) => loan.release(end_ms),
        }
    }
}

/// A given store as one whose futures are ready at once.
#[derive(Debug)]
struct Blocking(Arc<dyn BlockingStore>);

#[async_trait]
impl Store for Blocking {
    fn name(&self) -> &str {
        self.0.name()
    }

    async fn read(&self, key: &str) -> Result<Option<Found>, Error> {
        self.0.read(key)
    }

    async fn write(&self, key: &str, value: &[u8], expected: Version) -> Result<Wrote, Error> {
        self.0.write(key, value, expected)
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Found)>, Error> {
        self.0.list(prefix)
    }

    async fn add(&self, _: &str, _: u64, _: u64) -> Result<u64, Error> {
        Err(Error::unavailable(self.name(), "it keeps leases only"))
    }

    async fn lower(&self, _: &str, _: u64, _: u64) -> Result<bool, Error> {
        Err(Error::unavailable(self.name(), "it keeps leases only"))
    }

    async fn clock_ms(&self) -> Result<Option<i64>, Error> {
        self.0.clock_ms()
    }

    async fn refuse_standby(&self) -> Result<(), Error> {
        self.0.refuse_standby()
    }

    fn standby_risk(&self) -> Option<Error> {
        self.0.standby_risk()
    }
}

/// What comes of a future that never waits.
fn at_once<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return done;
        }
        thread::yield_now();
    }
}
