//! Connections of a store: their server is checked behind each step, and they are closed after a step whose outcome is
//! unknown.

use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use snowmint_core::mutant;
use sqlx::Connection as _;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::dialect::{Dialect, Failure, Settings as Values, denial, of_client};
use super::schema;
use crate::engines::client::backoff::Backoff;
use crate::engines::settings::{self, Settings};
use crate::error::Error;
use crate::process::Owner;
use crate::process::lock;
use crate::store::url::Url;

/// A connection that was idle for this long is tested by a `PING`, as the server may have been restarted.
const PING_AFTER: Duration = Duration::from_millis(100);
/// How often to try a step that the server undoes, as after a deadlock.
const MAX_TRIES: u32 = 10;

/// A step on a connection.
pub(in crate::engines) type Step<'c, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'c>>;

/// The connections of a store.
///
/// sqlx's own pool does not fit: it waits where this one answers at once, forgets why a new connection was refused, and
/// keeps the place of a connection whose server is silent.
pub(in crate::engines) struct Pool<D: Dialect>(Arc<Shared<D>>);

struct Shared<D: Dialect> {
    owner: &'static Owner,
    dialect: D,
    name: String,
    timeout: Duration,
    allow_unsafe: bool,
    settings: Settings,
    /// Whether all tables existed once.
    settled: AtomicBool,
    places: Semaphore,
    /// Open connections, and when each was used last.
    idle: Mutex<Vec<(D::Connection, Instant)>>,
    backoff: Mutex<Backoff>,
}

impl<D: Dialect> Clone for Pool<D> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<D: Dialect> fmt::Debug for Pool<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pool({})", self.name())
    }
}

impl<D: Dialect> Pool<D> {
    /// A pool without connections yet.
    pub(super) fn new(name: String, url: &Url, dialect: D) -> Self {
        let places = usize::try_from(url.connections.unwrap_or(D::CONNECTIONS)).unwrap_or(1).max(1);
        Self(Arc::new(Shared {
            owner: Owner::this(),
            dialect,
            name,
            timeout: url.timeout,
            allow_unsafe: url.allow_unsafe,
            settings: Settings::new(url.allow_standby),
            settled: AtomicBool::new(false),
            places: Semaphore::new(places),
            idle: Mutex::default(),
            backoff: Mutex::default(),
        }))
    }

    pub(in crate::engines) fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns whether a step would begin at once.
    pub(super) fn has_room(&self) -> bool {
        self.0.places.available_permits() > 0
    }

    /// Refuses calls that could have no answer: in a forked child, and without a runtime.
    pub(super) fn refuse_stranger(&self) -> Result<Handle, Error> {
        // The parent's connections would deliver our answers to the parent.
        self.0.owner.refuse_sharing()?;
        Handle::try_current().map_err(|_| Error::unavailable(self.name(), "it can be used only in a runtime of tokio"))
    }

    /// Waits for a call that waits for a connection, no longer than a connection may be waited for.
    pub(super) async fn in_time<T>(&self, call: impl Future<Output = T>) -> Result<T, Error> {
        timeout(self.0.timeout, call).await.map_err(|_| self.0.late("no connection was free"))
    }

    /// Returns whether the URL accepts unsafe settings.
    #[cfg(any(feature = "mysql", feature = "postgres"))]
    pub(super) fn allow_unsafe(&self) -> bool {
        self.0.allow_unsafe
    }

    #[cfg(feature = "mysql")]
    pub(in crate::engines) fn dialect(&self) -> &D {
        &self.0.dialect
    }

    /// Takes note that the tables exist: a new connection that misses one is refused from now on.
    pub(super) fn settle(&self) {
        self.0.dialect.settle();
        self.0.settled.store(true, Ordering::Release);
    }

    /// As [`Store::refuse_standby`](crate::RecordStore::refuse_standby).
    pub(super) async fn refuse_standby(&self) -> Result<(), Error> {
        self.run((), |_, ()| Box::pin(async { Ok(()) })).await?;
        self.0.settings.refuse_standby()
    }

    /// Closes the idle connections, and waits until they are closed.
    pub(super) async fn close(&self) {
        if self.0.owner.refuse_sharing().is_err() {
            return;
        }
        let idle = std::mem::take(&mut *self.0.idle());
        for (connection, _) in idle {
            // An error leaves the rest to the end of the process.
            drop(connection.close().await);
        }
    }

    /// Reads the settings of the server.
    pub(super) async fn settings(&self) -> Result<Values, Error> {
        let shared = self.0.clone();
        self.run(shared, |connection, shared| Box::pin(async { shared.dialect.settings(connection).await })).await
    }

    /// As [`Store::standby_risk`](crate::RecordStore::standby_risk).
    pub(super) fn standby_risk(&self) -> Option<Error> {
        self.0.settings.risk()
    }

    /// Runs a step on a connection. The timeout is for the wait, the connection and the step together.
    ///
    /// The step runs in a separate task, so that it goes on when the caller drops the future: otherwise the connection could
    /// keep the answer to an abandoned request. A step must read every answer to its end, where it is committed.
    pub(in crate::engines) async fn run<A, T, F>(&self, arguments: A, step: F) -> Result<T, Error>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
        F: for<'c> Fn(&'c mut D::Connection, &'c A) -> Step<'c, T> + Send + Sync + 'static,
    {
        let runtime = self.refuse_stranger()?;
        let shared = self.0.clone();
        let task = runtime.spawn(async move { shared.attempt(&arguments, &step).await });
        task.await.unwrap_or_else(|_| Err(Error::unavailable(self.name(), "the request was broken off")))
    }
}

impl<D: Dialect> Drop for Shared<D> {
    fn drop(&mut self) {
        if !self.owner.is_this_process() {
            // Closing them here would remove them from the parent's reactor, which the child shares.
            std::mem::forget(std::mem::take(&mut *self.idle()));
        }
    }
}

impl<D: Dialect> Shared<D> {
    async fn attempt<A, T, F>(&self, arguments: &A, step: &F) -> Result<T, Error>
    where
        F: for<'c> Fn(&'c mut D::Connection, &'c A) -> Step<'c, T>,
    {
        let deadline = Instant::now() + self.timeout;
        let Ok(Ok(_place)) = timeout_at(deadline, self.places.acquire()).await else {
            return Err(self.late("no connection was free"));
        };
        let mut connection = self.connection(deadline).await?;
        let mut tries = 0;
        loop {
            // A connection that does not go back to `idle` is closed, with any answer that still comes on it.
            match timeout_at(deadline, step(&mut connection, arguments)).await {
                Ok(Ok(done)) => {
                    let checked = timeout_at(deadline, self.check_behind(&mut connection)).await;
                    return match checked.unwrap_or_else(|_| Err(self.late("there was no answer").into())) {
                        Ok(()) => {
                            self.give_back(connection);
                            Ok(done)
                        }
                        Err(failure) => Err(failure.into_error::<D>(&self.name)),
                    };
                }
                Ok(Err(Failure::Refused(error))) => {
                    self.give_back(connection);
                    return Err(error);
                }
                Ok(Err(Failure::Client(error))) if error.as_database_error().is_some() => {
                    tries += 1;
                    if tries == MAX_TRIES || !denial::<D>(&error).is_undone() {
                        return Err(of_client::<D>(&self.name, error));
                    }
                    sleep(Duration::from_millis(u64::from(tries))).await;
                }
                Ok(Err(Failure::Client(error))) => {
                    self.idle().clear();
                    return Err(of_client::<D>(&self.name, error));
                }
                Err(_) => {
                    self.idle().clear();
                    return Err(self.late("there was no answer"));
                }
            }
        }
    }

    /// Returns a connection that has just answered, or opens one.
    async fn connection(&self, deadline: Instant) -> Result<D::Connection, Error> {
        if !self.dialect.still_there() {
            self.idle().clear();
        }
        // Not in the condition, as the lock would be held across the wait.
        let idle = self.idle().pop();
        if let Some((mut connection, used)) = idle {
            if used.elapsed() < PING_AFTER {
                return Ok(connection);
            }
            match timeout_at(deadline, connection.ping()).await {
                Ok(Ok(())) => return Ok(connection),
                // The server was restarted, most likely.
                Ok(Err(_)) => self.idle().clear(),
                Err(_) => {
                    self.idle().clear();
                    return Err(self.late("there was no answer"));
                }
            }
        }
        let round = self.backoff().begin(&self.name)?;
        let error = match timeout_at(deadline, self.open()).await {
            Ok(Ok(connection)) => {
                self.backoff().succeeded();
                return Ok(connection);
            }
            Ok(Err(failure)) => failure.into_error::<D>(&self.name),
            Err(_) => self.late("no connection could be made"),
        };
        self.backoff().failed(round, Some(&error));
        Err(error)
    }

    async fn open(&self) -> Result<D::Connection, Failure> {
        let mut connection = self.dialect.open().await?;
        if self.settled.load(Ordering::Acquire)
            && let Some(table) = schema::missing::<D>(&mut connection, &D::TABLES).await?
        {
            return Err(schema::gone(&self.name, table).into());
        }
        self.check(&mut connection).await?;
        Ok(connection)
    }

    /// Checks that the server keeps confirmed writes, behind a step: its result counts only then.
    async fn check_behind(&self, connection: &mut D::Connection) -> Result<(), Failure> {
        if mutant::removes("behind") { Ok(()) } else { self.check(connection).await }
    }

    /// Checks that the server keeps confirmed writes.
    async fn check(&self, connection: &mut D::Connection) -> Result<(), Failure> {
        if self.allow_unsafe || mutant::removes("settings") {
            return Ok(());
        }
        let found = self.dialect.settings(connection).await?;
        let checked =
            settings::check(&self.name, D::ENGINE, |name| found.get(&name.to_ascii_lowercase()).map(String::as_str));
        self.settings.note(&checked);
        Ok(checked.map(drop)?)
    }

    /// Keeps a connection that has just answered.
    fn give_back(&self, connection: D::Connection) {
        self.idle().push((connection, Instant::now()));
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(D::Connection, Instant)>> {
        lock(&self.idle)
    }

    fn backoff(&self) -> MutexGuard<'_, Backoff> {
        lock(&self.backoff)
    }

    fn late(&self, why: &str) -> Error {
        Error::unavailable(&self.name, format_args!("{why} within {} ms", self.timeout.as_millis()))
    }
}
