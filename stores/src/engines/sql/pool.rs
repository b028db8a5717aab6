//! Connections that are checked before they are used, and never used again once in doubt.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use snowmint_core::mutant;
use sqlx::Connection;
use sqlx::error::DatabaseError;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout_at};

use super::backoff::Backoff;
use crate::engines::settings::Settings;
use crate::error::Error;
use crate::owner::Owner;
use crate::store::url::Url;

/// How often a step is tried that the engine undid, as after a deadlock.
const TRIES: u32 = 10;

/// How to open a connection of an engine.
#[async_trait]
pub(in crate::engines) trait Engine: Send + Sync + 'static {
    /// A connection.
    type Connection: Connection;

    /// Opens one, and sets what it needs for itself.
    async fn open(&self) -> Result<Self::Connection, Failure>;

    /// Looks whether the engine keeps what it confirms; what a failover could lose. One question: it is asked before each
    /// step, in the place of a ping.
    async fn look(&self, connection: &mut Self::Connection) -> Result<Option<Error>, Failure>;

    /// Whether connections opened earlier still lead to where new ones would.
    fn still_there(&self) -> bool {
        true
    }

    /// Whether this error says that the engine undid the whole step, so that it can be done again.
    fn undone(&self, error: &dyn DatabaseError) -> bool;
}

/// Why a step was not done, or may not have been.
#[derive(Debug)]
pub(in crate::engines) enum Failure {
    /// The client's error: the connection is not used again.
    Client(sqlx::Error),
    /// An answer of the engine that is a refusal; the connection is as good as before.
    Told(Error),
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        Self::Client(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Told(error)
    }
}

impl Failure {
    fn told(self, store: &str) -> Error {
        match self {
            Self::Client(error) => unavailable(store, &error),
            Self::Told(error) => error,
        }
    }
}

/// `StoreUnavailable`: what the client says.
pub(in crate::engines) fn unavailable(store: &str, error: &sqlx::Error) -> Error {
    match error {
        sqlx::Error::Io(error) => Error::unavailable(store, error),
        sqlx::Error::Database(error) => Error::unavailable(store, error),
        error => Error::unavailable(store, error),
    }
}

/// What a step does with a connection.
pub(in crate::engines) type Step<'c, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'c>>;

/// The connections of a store.
///
/// The client's own pool does not do: it waits where we answer at once, forgets why a new connection was refused, and a
/// connection whose server is silent keeps its place in it for good.
pub(in crate::engines) struct Pool<E: Engine>(Arc<Shared<E>>);

struct Shared<E: Engine> {
    owner: Owner,
    engine: E,
    name: String,
    timeout: Duration,
    allow_unsafe: bool,
    settings: Settings,
    places: Semaphore,
    idle: Mutex<Vec<E::Connection>>,
    backoff: Mutex<Backoff>,
}

impl<E: Engine> Clone for Pool<E> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<E: Engine> fmt::Debug for Pool<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pool({})", self.name())
    }
}

impl<E: Engine> Pool<E> {
    /// One without connections yet.
    pub(in crate::engines) fn new(name: String, url: &Url, engine: E) -> Self {
        let places = usize::try_from(url.connections).unwrap_or(1).max(1);
        Self(Arc::new(Shared {
            owner: Owner::this_process(),
            engine,
            name,
            timeout: url.timeout,
            allow_unsafe: url.allow_unsafe,
            settings: Settings::new(url.allow_standby),
            places: Semaphore::new(places),
            idle: Mutex::default(),
            backoff: Mutex::default(),
        }))
    }

    pub(in crate::engines) fn name(&self) -> &str {
        &self.0.name
    }

    pub(in crate::engines) fn engine(&self) -> &E {
        &self.0.engine
    }

    /// As [`Store::refuse_standby`](crate::Store::refuse_standby).
    pub(in crate::engines) async fn refuse_standby(&self) -> Result<(), Error> {
        self.run((), |_, ()| Box::pin(async { Ok(()) })).await?;
        self.0.settings.refuse_standby()
    }

    /// As [`Store::standby_risk`](crate::Store::standby_risk).
    pub(in crate::engines) fn standby_risk(&self) -> Option<Error> {
        self.0.settings.risk()
    }

    /// Does a step on a connection, within the timeout, all of it.
    ///
    /// In a task of its own, so that it goes on when the caller's future is dropped: else the answer to an abandoned
    /// request could be left on a connection. A step must read every answer to its end: only then is it committed.
    pub(in crate::engines) async fn run<A, T, F>(&self, arguments: A, step: F) -> Result<T, Error>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
        F: for<'c> Fn(&'c mut E::Connection, &'c A) -> Step<'c, T> + Send + Sync + 'static,
    {
        // The connections are the parent's, who would get our answers.
        self.0.owner.check()?;
        let runtime = Handle::try_current()
            .map_err(|_| Error::unavailable(self.name(), "it can be used only in a runtime of tokio"))?;
        let shared = self.0.clone();
        let task = runtime.spawn(async move { shared.attempt(&arguments, &step).await });
        task.await.unwrap_or_else(|_| Err(Error::unavailable(self.name(), "the request was broken off")))
    }
}

impl<E: Engine> Drop for Shared<E> {
    fn drop(&mut self) {
        if self.owner.check().is_err() {
            // Closed here, they would be taken from the parent's reactor, which the child shares.
            std::mem::forget(std::mem::take(&mut *self.idle()));
        }
    }
}

impl<E: Engine> Shared<E> {
    async fn attempt<A, T, F>(&self, arguments: &A, step: &F) -> Result<T, Error>
    where
        F: for<'c> Fn(&'c mut E::Connection, &'c A) -> Step<'c, T>,
    {
        let deadline = Instant::now() + self.timeout;
        let Ok(Ok(_place)) = timeout_at(deadline, self.places.acquire()).await else {
            return Err(self.late("no connection was free"));
        };
        let mut connection = self.connection(deadline).await?;
        let mut tries = 0;
        loop {
            // Where this returns without `keep`, the connection is dropped and so closed, with whatever still comes on it.
            match timeout_at(deadline, step(&mut connection, arguments)).await {
                Ok(Ok(done)) => {
                    self.idle().push(connection);
                    return Ok(done);
                }
                Ok(Err(Failure::Told(error))) => {
                    self.idle().push(connection);
                    return Err(error);
                }
                Ok(Err(Failure::Client(sqlx::Error::Database(error)))) => {
                    tries += 1;
                    if tries == TRIES || !self.engine.undone(&*error) {
                        return Err(Error::unavailable(&self.name, error));
                    }
                    sleep(Duration::from_millis(u64::from(tries))).await;
                }
                Ok(Err(Failure::Client(error))) => {
                    self.idle().clear();
                    return Err(unavailable(&self.name, &error));
                }
                Err(_) => {
                    self.idle().clear();
                    return Err(self.late("there was no answer"));
                }
            }
        }
    }

    /// A connection that has just answered, or a new one.
    async fn connection(&self, deadline: Instant) -> Result<E::Connection, Error> {
        if !self.engine.still_there() {
            self.idle().clear();
        }
        // Not in the condition, where the lock would be held over the wait.
        let idle = self.idle().pop();
        if let Some(mut connection) = idle {
            match timeout_at(deadline, self.look(&mut connection)).await {
                Ok(Ok(())) => return Ok(connection),
                Ok(Err(Failure::Told(error))) => {
                    self.idle().push(connection);
                    return Err(error);
                }
                // The server was restarted, most likely.
                Ok(Err(Failure::Client(_))) => self.idle().clear(),
                Err(_) => {
                    self.idle().clear();
                    return Err(self.late("there was no answer"));
                }
            }
        }
        let round = self.backoff().begin(&self.name)?;
        let opened = timeout_at(deadline, self.open()).await;
        let error = match opened {
            Ok(Ok(connection)) => {
                self.backoff().succeeded();
                return Ok(connection);
            }
            Ok(Err(failure)) => failure.told(&self.name),
            Err(_) => self.late("no connection came about"),
        };
        self.backoff().failed(round, &error);
        Err(error)
    }

    async fn open(&self) -> Result<E::Connection, Failure> {
        let mut connection = self.engine.open().await?;
        self.look(&mut connection).await?;
        Ok(connection)
    }

    /// Whether the connection is one still, and its server keeps what it confirms.
    async fn look(&self, connection: &mut E::Connection) -> Result<(), Failure> {
        if self.allow_unsafe || mutant::removes("settings") {
            return Ok(connection.ping().await?);
        }
        let looked = match self.engine.look(connection).await {
            Ok(risk) => Ok(risk),
            Err(Failure::Told(error)) => Err(error),
            Err(failure) => return Err(failure),
        };
        self.settings.note(&looked);
        Ok(looked.map(drop)?)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<E::Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn backoff(&self) -> MutexGuard<'_, Backoff> {
        self.backoff.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn late(&self, what: &str) -> Error {
        Error::unavailable(&self.name, format_args!("{what} within {} ms", self.timeout.as_millis()))
    }
}
