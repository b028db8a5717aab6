//! What the SQL engines share: connections that are checked before they are used, and never used again once in doubt.

mod backoff;
mod identifier;

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use snowmint_core::ErrorKind;
use snowmint_core::segment::LAST;
use sqlx::Connection;
use sqlx::error::DatabaseError;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout_at};

use self::backoff::Backoff;
pub(super) use self::identifier::Identifier;
use crate::error::Error;
use crate::store::Tag;
use crate::url::Url;

/// How often a step is tried that the engine undid, as after a deadlock.
const TRIES: u32 = 10;

/// How to open a connection of an engine.
#[async_trait]
pub(super) trait Engine: Send + Sync + 'static {
    /// A connection.
    type Connection: Connection;

    /// Opens one, sets what it needs for itself, and looks whether the engine keeps what it confirms.
    async fn open(&self) -> Result<Self::Connection, Failure>;

    /// Whether connections opened earlier still lead to where new ones would.
    fn still_there(&self) -> bool {
        true
    }

    /// Whether this error says that the engine undid the whole step, so that it can be done again.
    fn undone(&self, error: &dyn DatabaseError) -> bool;
}

/// Why a step was not done, or may not have been.
#[derive(Debug)]
pub(super) enum Failure {
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
pub(super) fn unavailable(store: &str, error: &sqlx::Error) -> Error {
    match error {
        sqlx::Error::Io(error) => Error::unavailable(store, error),
        sqlx::Error::Database(error) => Error::unavailable(store, error),
        error => Error::unavailable(store, error),
    }
}

/// What a step does with a connection.
pub(super) type Step<'c, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'c>>;

/// The connections of a store.
///
/// The client's own pool does not do: it waits where we answer at once, forgets why a new connection was refused, and a
/// connection whose server is silent keeps its place in it for good.
pub(super) struct Pool<E: Engine>(Arc<Shared<E>>);

struct Shared<E: Engine> {
    engine: E,
    name: String,
    timeout: Duration,
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
    pub(super) fn new(name: String, url: &Url, engine: E) -> Self {
        let places = usize::try_from(url.connections).unwrap_or(1).max(1);
        Self(Arc::new(Shared {
            engine,
            name,
            timeout: url.timeout,
            places: Semaphore::new(places),
            idle: Mutex::default(),
            backoff: Mutex::default(),
        }))
    }

    pub(super) fn name(&self) -> &str {
        &self.0.name
    }

    pub(super) fn engine(&self) -> &E {
        &self.0.engine
    }

    /// Does a step on a connection, within the timeout, all of it.
    ///
    /// In a task of its own, so that it goes on when the caller's future is dropped: else the answer to an abandoned
    /// request could be left on a connection. A step must read every answer to its end: only then is it committed.
    pub(super) async fn run<A, T, F>(&self, arguments: A, step: F) -> Result<T, Error>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
        F: for<'c> Fn(&'c mut E::Connection, &'c A) -> Step<'c, T> + Send + Sync + 'static,
    {
        let runtime = Handle::try_current()
            .map_err(|_| Error::unavailable(self.name(), "it can be used only in a runtime of tokio"))?;
        let shared = self.0.clone();
        let task = runtime.spawn(async move { shared.attempt(&arguments, &step).await });
        task.await.unwrap_or_else(|_| Err(Error::unavailable(self.name(), "the request was broken off")))
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
        let opened = timeout_at(deadline, self.engine.open()).await;
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

/// A number of ours as SQL's `BIGINT`; `None` beyond 2^63-1.
pub(super) fn signed(number: u64) -> Option<i64> {
    i64::try_from(number).ok()
}

/// A number of SQL's, which must not be negative.
pub(super) fn unsigned(store: &str, what: &str, number: i64) -> Result<u64, Error> {
    u64::try_from(number).map_err(|_| Error::unavailable(store, format_args!("{what} is {number}, not 0 or more")))
}

/// What a counter that is not there yet becomes: `start + delta`, if it can be that.
pub(super) fn first_sum(start: u64, delta: u64) -> Option<i64> {
    start.checked_add(delta).filter(|sum| *sum <= LAST).and_then(signed)
}

/// The text right after all those that begin with `prefix`, which is ASCII.
pub(super) fn end_of(prefix: &str) -> String {
    let mut end = prefix.to_owned();
    let last = end.pop().unwrap_or('\u{7e}');
    end.push(char::from_u32(u32::from(last) + 1).unwrap_or('\u{7f}'));
    end
}

/// `StoreUnavailable`: a table is not there, and is not to be made.
pub(super) fn no_table(store: &str, table: &str, module: &str) -> Error {
    Error::unavailable(
        store,
        format_args!("there is no table {table}, and create=false: make it with snowmint::stores::{module}::SCHEMA"),
    )
}

/// `StoreUnavailable`: a table cannot be made.
pub(super) fn not_made(store: &str, table: &str, module: &str, why: &sqlx::Error) -> Error {
    Error::unavailable(
        store,
        format_args!(
            "there is no table {table}, and it cannot be made ({why}): have it made with \
             snowmint::stores::{module}::SCHEMA"
        ),
    )
}

/// `StoreUnavailable`: a table was there when the store was connected. It is not made again, as numbers would begin again.
pub(super) fn gone(store: &str, table: &str) -> Error {
    Error::unavailable(store, format_args!("the table {table} is gone since the store was connected"))
}

/// `UnsafeStore`: a sequence begins again.
pub(super) fn cycles(source: &str, sequence: &str) -> Error {
    Error::told(
        ErrorKind::UnsafeStore,
        format!(
            "{source}: it has CYCLE, so its numbers repeat: ALTER SEQUENCE {sequence} NO CYCLE, or pass allow_unsafe=true"
        ),
    )
}

/// `Exhausted`: a source has no more numbers.
pub(super) fn run_out(source: &str) -> Error {
    Error::told(ErrorKind::Exhausted, format!("{source} has no more numbers"))
}

/// A row of Leaf's table as it was read.
pub(super) fn tag(store: &str, tag: &str, next: i64, step: i64, description: String) -> Result<Tag, Error> {
    let column = |column: &str, number| unsigned(store, &format!("{column} of {tag:?} in leaf_alloc"), number);
    Ok(Tag { next: column("max_id", next)?, step: column("step", step)?, description })
}

/// A row of Leaf's table to be written: `max_id` and `step`.
pub(super) fn tag_row(store: &str, tag: &str, row: &Tag) -> Result<(i64, i32), Error> {
    let beyond = |column: &str, number: u64, end: &str| {
        Error::unavailable(store, format_args!("{column} of {tag:?} is at most {end} in leaf_alloc, not {number}"))
    };
    let next = signed(row.next).ok_or_else(|| beyond("max_id", row.next, "2^63-1"))?;
    let step = i32::try_from(row.step).map_err(|_| beyond("step", row.step, "2^31-1"))?;
    Ok((next, step))
}

/// The most numbers that a source is asked for at once.
const MOST: u64 = 100_000;

/// How many numbers to ask a sequence for: up to `count`, but not more than there is room for, as those that are taken
/// before the sequence says that it has run out would be lost. At least one: caches may hold more than the room shows.
pub(super) fn within_room(count: u64, next: i64, increment: i64, min: i64, max: i64) -> i64 {
    let (next, increment) = (i128::from(next), i128::from(increment));
    let room = match increment {
        1.. => (i128::from(max) - next).div_euclid(increment) + 1,
        ..0 => (next - i128::from(min)).div_euclid(-increment) + 1,
        0 => 1,
    };
    let count = i128::from(count.min(MOST));
    i64::try_from(room.min(count).max(1)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_of_a_sequence_counts_both_ends() {
        assert_eq!(within_room(10, 1, 1, 1, 3), 3);
        assert_eq!(within_room(2, 1, 1, 1, 3), 2);
        assert_eq!(within_room(10, 4, 1, 1, 3), 1, "a cache may hold more");
        assert_eq!(within_room(10, 1, 5, 1, 11), 3);
        assert_eq!(within_room(10, -1, -2, -5, -1), 3);
        assert_eq!(within_room(10, i64::MAX, 1, 1, i64::MAX), 1);
        assert_eq!(within_room(0, i64::MIN, 1, i64::MIN, i64::MAX), 1);
        assert_eq!(within_room(u64::MAX, 1, 1, 1, i64::MAX), 100_000);
        assert_eq!(within_room(10, 1, 0, 1, 100), 1);
    }

    #[test]
    fn a_prefix_ends_before_the_letter_after_its_last() {
        assert_eq!(end_of("leases/a_%/"), "leases/a_%0");
        assert_eq!(first_sum(LAST, 0), Some(i64::MAX));
        assert_eq!(first_sum(LAST, 1), None);
        assert_eq!(first_sum(u64::MAX, 1), None);
    }
}
