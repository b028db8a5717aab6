//! A live connection, or a new attempt to make one: not too often, and nobody waits longer than the timeout.

use std::fmt;
use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::{Instant, timeout_at};

use crate::error::Error;
use crate::owner::Owner;

/// How long after the first attempt that failed there is another one.
const FIRST_DELAY: Duration = Duration::from_millis(50);
/// After so long without an answer a caller who gives up takes the connection along.
const SILENT: Duration = Duration::from_millis(300);
/// How long it is at most.
const LONGEST_DELAY: Duration = Duration::from_secs(2);

/// How one engine connects.
#[async_trait]
pub(in crate::engines) trait Connector: Send + Sync {
    /// Clones share one connection, and are harmless to drop while an answer is on its way.
    type Connection: Clone + Send + Sync;

    /// The engine and where it is.
    fn name(&self) -> &str;

    /// Connects, and looks whether what the server confirms is kept: it may be back with other settings.
    async fn connect(&self) -> Result<Self::Connection, Error>;

    /// Whether a connection is one still, after it was not used for so long.
    async fn is_alive(&self, connection: &Self::Connection, idle: Duration) -> bool;
}

/// The connection of a store.
pub(in crate::engines) struct Reconnecting<C: Connector> {
    owner: Owner,
    connector: C,
    timeout: Duration,
    live: Mutex<Option<Live<C::Connection>>>,
    /// Held by the one who tries to connect.
    pace: AsyncMutex<Pace>,
}

#[derive(Clone)]
struct Live<T> {
    /// Tells one connection from the next.
    made: Instant,
    used: Instant,
    connection: T,
}

/// When the next attempt is allowed.
#[derive(Default)]
struct Pace {
    delay: Duration,
    next: Option<Instant>,
    why: Option<Error>,
}

impl<C: Connector> Reconnecting<C> {
    pub(in crate::engines) fn new(connector: C, timeout: Duration) -> Self {
        Self { owner: Owner::this_process(), connector, timeout, live: Mutex::new(None), pace: AsyncMutex::default() }
    }

    pub(in crate::engines) fn connector(&self) -> &C {
        &self.connector
    }

    /// Connects, if it has not yet.
    pub(in crate::engines) async fn connect(&self) -> Result<(), Error> {
        self.run(|_| async { Ok(()) }).await
    }

    /// Does one operation on the connection. After an error, or without an answer in time, the connection is thrown away,
    /// so that no late answer is taken for one to another question.
    pub(in crate::engines) async fn run<T, F, Answer>(&self, operation: F) -> Result<T, Error>
    where
        F: FnOnce(C::Connection) -> Answer + Send,
        Answer: Future<Output = Result<T, Error>> + Send,
    {
        // The connection is the parent's, who would get our answers.
        self.owner.check()?;
        let deadline = Instant::now() + self.timeout;
        let mut unanswered = Unanswered { store: self, began: Instant::now(), done: false };
        let live = self.connection(deadline).await;
        unanswered.done = live.is_err();
        let live = live?;
        let answer = timeout_at(deadline, operation(live.connection)).await.unwrap_or_else(|_| Err(self.silent()));
        unanswered.done = true;
        let mut there = self.live();
        if let Some(same) = there.as_mut().filter(|there| there.made == live.made) {
            same.used = Instant::now();
            if answer.is_err() {
                *there = None;
            }
        }
        answer
    }

    async fn connection(&self, deadline: Instant) -> Result<Live<C::Connection>, Error> {
        // Not in the condition: the lock would be held while waiting.
        let there = self.live().clone();
        if let Some(live) = there {
            let alive = self.connector.is_alive(&live.connection, live.used.elapsed());
            match timeout_at(deadline, alive).await {
                Ok(true) => return Ok(live),
                Ok(false) => self.forget(live.made),
                Err(_) => {
                    self.forget(live.made);
                    return Err(self.silent());
                }
            }
        }
        let Ok(mut pace) = timeout_at(deadline, self.pace.lock()).await else { return Err(self.silent()) };
        let there = self.live().clone();
        if let Some(made_meanwhile) = there {
            return Ok(made_meanwhile);
        }
        pace.check(self.connector.name())?;
        // Beforehand: if this future is dropped, that was a failure too.
        pace.failed(None);
        match timeout_at(deadline, self.connector.connect()).await.unwrap_or_else(|_| Err(self.silent())) {
            Ok(connection) => {
                *pace = Pace::default();
                let now = Instant::now();
                let live = Live { made: now, used: now, connection };
                *self.live() = Some(live.clone());
                Ok(live)
            }
            Err(error) => {
                pace.wait(Some(error.clone()));
                Err(error)
            }
        }
    }

    fn forget(&self, made: Instant) {
        let mut there = self.live();
        if there.as_ref().is_some_and(|there| there.made == made) {
            *there = None;
        }
    }

    fn live(&self) -> MutexGuard<'_, Option<Live<C::Connection>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn silent(&self) -> Error {
        Error::unavailable(self.connector.name(), format_args!("no answer within {} ms", self.timeout.as_millis()))
    }
}

impl<C: Connector> Drop for Reconnecting<C> {
    fn drop(&mut self) {
        if self.owner.check().is_err() {
            // Closed here, it would be taken from the parent's reactor, which the child shares.
            std::mem::forget(self.live().take());
        }
    }
}

/// A request whose caller may give it up.
struct Unanswered<'a, C: Connector> {
    store: &'a Reconnecting<C>,
    began: Instant,
    done: bool,
}

impl<C: Connector> Drop for Unanswered<'_, C> {
    fn drop(&mut self) {
        // A connection that is silent for so long is not one that the next caller should wait on.
        if !self.done && self.began.elapsed() >= SILENT {
            *self.store.live() = None;
        }
    }
}

impl<C: Connector> fmt::Debug for Reconnecting<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reconnecting").field(&self.connector.name()).finish()
    }
}

impl Pace {
    /// Whether it is time for an attempt.
    fn check(&self, name: &str) -> Result<(), Error> {
        let Some(left) = self.next.and_then(|next| next.checked_duration_since(Instant::now())) else { return Ok(()) };
        let when = format!("the next attempt to connect is in {} ms", left.as_millis() + 1);
        Err(match &self.why {
            Some(why) => Error::told(why.kind(), format!("{why} ({when})")),
            None => Error::unavailable(name, when),
        })
    }

    fn failed(&mut self, why: Option<Error>) {
        self.delay = (self.delay * 2).clamp(FIRST_DELAY, LONGEST_DELAY);
        self.wait(why);
    }

    fn wait(&mut self, why: Option<Error>) {
        self.next = Some(Instant::now() + self.delay);
        self.why = why;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use snowmint_core::ErrorKind;
    use tokio::runtime::Builder;
    use tokio::time::sleep;

    use super::*;

    #[derive(Default)]
    struct Scripted {
        up: AtomicBool,
        hangs: AtomicBool,
        attempts: AtomicU32,
    }

    #[async_trait]
    impl Connector for Scripted {
        type Connection = u32;

        fn name(&self) -> &'static str {
            "test at nowhere"
        }

        async fn connect(&self) -> Result<u32, Error> {
            let attempt = self.attempts.fetch_add(1, Ordering::Relaxed);
            if self.hangs.load(Ordering::Relaxed) {
                sleep(Duration::from_secs(60)).await;
            }
            if self.up.load(Ordering::Relaxed) { Ok(attempt) } else { Err(Error::unavailable(self.name(), "down")) }
        }

        async fn is_alive(&self, _: &u32, _: Duration) -> bool {
            true
        }
    }

    fn run(test: impl Future<Output = ()>) {
        Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(test);
    }

    #[test]
    fn attempts_that_fail_are_spaced_and_the_first_that_works_ends_that() {
        run(async {
            let server = Reconnecting::new(Scripted::default(), Duration::from_secs(1));
            let mut delay = FIRST_DELAY;
            for attempt in 1..=3 {
                let error = server.connect().await.expect_err("down");
                assert_eq!(
                    (error.kind(), error.to_string().as_str()),
                    (ErrorKind::StoreUnavailable, "test at nowhere: down")
                );
                let error = server.connect().await.expect_err("too early");
                assert!(error.to_string().starts_with("test at nowhere: down (the next attempt"), "{error}");
                assert_eq!(server.connector.attempts.load(Ordering::Relaxed), attempt);
                sleep(delay).await;
                delay *= 2;
            }
            server.connector.up.store(true, Ordering::Relaxed);
            assert_eq!(server.run(|attempt| async move { Ok(attempt) }).await, Ok(3));
            assert_eq!(server.run(|attempt| async move { Ok(attempt) }).await, Ok(3), "the same connection");
            let failed = server.run(|_| async { Err::<(), _>(Error::unavailable("x", "broken")) }).await;
            assert_eq!(failed.expect_err("broken").to_string(), "x: broken");
            assert_eq!(server.run(|attempt| async move { Ok(attempt) }).await, Ok(4), "another one, at once");
        });
    }

    #[test]
    fn nobody_waits_longer_than_the_timeout_and_a_dropped_attempt_counts() {
        run(async {
            let timeout = Duration::from_millis(100);
            let server = Reconnecting::new(Scripted::default(), timeout);
            server.connector.hangs.store(true, Ordering::Relaxed);
            let began = Instant::now();
            let (first, second) = tokio::join!(server.connect(), server.connect());
            assert!(began.elapsed() < timeout * 2, "{:?}", began.elapsed());
            for error in [first.expect_err("silent"), second.expect_err("silent")] {
                assert!(error.to_string().contains("no answer within 100 ms"), "{error}");
            }
            sleep(FIRST_DELAY).await;
            assert!(timeout_at(Instant::now() + timeout / 2, server.connect()).await.is_err(), "dropped");
            let error = server.connect().await.expect_err("too early");
            assert!(error.to_string().contains("the next attempt"), "{error}");
            server.connector.hangs.store(false, Ordering::Relaxed);
            server.connector.up.store(true, Ordering::Relaxed);
            sleep(LONGEST_DELAY).await;
            let silent = server.run(|_| std::future::pending::<Result<(), Error>>()).await.expect_err("no answer");
            assert_eq!(silent.kind(), ErrorKind::StoreUnavailable);
            server.connect().await.expect("another connection");
        });
    }
}
