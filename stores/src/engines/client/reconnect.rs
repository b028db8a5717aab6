//! One connection that all callers share. After a failure the next caller connects again, with a back-off.

use std::fmt;
use std::future::Future;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::{Instant, timeout_at};

use super::backoff::Backoff;
use crate::error::Error;
use crate::process::Owner;
use crate::process::lock;

/// A caller that gives up after this time without an answer closes the connection, which is probably dead.
const SILENCE_LIMIT: Duration = Duration::from_millis(300);

/// Connects to one engine.
#[async_trait]
pub(in crate::engines) trait Connector: Send + Sync {
    /// A connection. Clones share it, and may be dropped while an answer is on its way.
    type Connection: Clone + Send + Sync;

    /// Returns the engine and its address.
    fn name(&self) -> &str;

    /// Connects and checks the server's settings, which may have changed during an outage.
    async fn connect(&self) -> Result<Self::Connection, Error>;

    /// Checks a connection that was not used for `idle`.
    async fn is_alive(&self, connection: &Self::Connection, idle: Duration) -> bool;
}

/// The connection of a store.
pub(in crate::engines) struct Reconnecting<C: Connector> {
    owner: &'static Owner,
    connector: C,
    timeout: Duration,
    live: Mutex<Option<Live<C::Connection>>>,
    /// Locked by the caller that connects.
    backoff: AsyncMutex<Backoff>,
}

#[derive(Clone)]
struct Live<T> {
    /// Identifies the connection.
    made: Instant,
    used: Instant,
    connection: T,
}

impl<C: Connector> Reconnecting<C> {
    pub(in crate::engines) fn new(connector: C, timeout: Duration) -> Self {
        Self { owner: Owner::this(), connector, timeout, live: Mutex::new(None), backoff: AsyncMutex::default() }
    }

    pub(in crate::engines) fn connector(&self) -> &C {
        &self.connector
    }

    /// Connects, unless there is a connection.
    pub(in crate::engines) async fn connect(&self) -> Result<(), Error> {
        self.run(|_| async { Ok(()) }).await
    }

    /// Runs one operation on the connection, within the timeout.
    ///
    /// Drops the connection after an error or a missing answer, so that a late answer never reaches another request.
    pub(in crate::engines) async fn run<T, F, Answer>(&self, operation: F) -> Result<T, Error>
    where
        F: FnOnce(C::Connection) -> Answer + Send,
        Answer: Future<Output = Result<T, Error>> + Send,
    {
        // The parent's connection would deliver our answers to the parent.
        self.owner.refuse_sharing()?;
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
        // Not in the condition, as the lock would be held across the wait.
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
        let Ok(mut backoff) = timeout_at(deadline, self.backoff.lock()).await else { return Err(self.silent()) };
        let there = self.live().clone();
        if let Some(made_meanwhile) = there {
            return Ok(made_meanwhile);
        }
        let round = backoff.begin(self.connector.name())?;
        // Noted first, as a dropped future counts as a failure.
        backoff.failed(round, None);
        match timeout_at(deadline, self.connector.connect()).await.unwrap_or_else(|_| Err(self.silent())) {
            Ok(connection) => {
                backoff.succeeded();
                let now = Instant::now();
                let live = Live { made: now, used: now, connection };
                *self.live() = Some(live.clone());
                Ok(live)
            }
            Err(error) => {
                backoff.failed(round, Some(&error));
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
        lock(&self.live)
    }

    fn silent(&self) -> Error {
        Error::unavailable(self.connector.name(), format_args!("no answer within {} ms", self.timeout.as_millis()))
    }
}

impl<C: Connector> Drop for Reconnecting<C> {
    fn drop(&mut self) {
        if !self.owner.is_this_process() {
            // Closing it here would remove it from the parent's reactor, which the child shares.
            std::mem::forget(self.live().take());
        }
    }
}

/// A request that its caller may abandon.
struct Unanswered<'a, C: Connector> {
    store: &'a Reconnecting<C>,
    began: Instant,
    done: bool,
}

impl<C: Connector> Drop for Unanswered<'_, C> {
    fn drop(&mut self) {
        // The next caller should not wait for a silent connection.
        if !self.done && self.began.elapsed() >= SILENCE_LIMIT {
            *self.store.live() = None;
        }
    }
}

impl<C: Connector> fmt::Debug for Reconnecting<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reconnecting").field(&self.connector.name()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use snowmint_core::ErrorKind;
    use tokio::runtime::Builder;
    use tokio::time::sleep;

    use super::super::backoff::{MAX_PAUSE, MIN_PAUSE};
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

    /// Runs a test whose time passes only while every task sleeps.
    fn run(test: impl Future<Output = ()>) {
        Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime").block_on(test);
    }

    #[test]
    fn a_success_ends_the_pauses_between_attempts() {
        run(async {
            let server = Reconnecting::new(Scripted::default(), Duration::from_secs(1));
            let mut delay = MIN_PAUSE;
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
    fn callers_wait_for_the_timeout_and_dropped_attempts_count() {
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
            sleep(MIN_PAUSE).await;
            assert!(timeout_at(Instant::now() + timeout / 2, server.connect()).await.is_err(), "dropped");
            let error = server.connect().await.expect_err("too early");
            assert!(error.to_string().contains("the next attempt"), "{error}");
            server.connector.hangs.store(false, Ordering::Relaxed);
            server.connector.up.store(true, Ordering::Relaxed);
            sleep(MAX_PAUSE).await;
            let silent = server.run(|_| std::future::pending::<Result<(), Error>>()).await.expect_err("no answer");
            assert_eq!(silent.kind(), ErrorKind::StoreUnavailable);
            server.connect().await.expect("another connection");
        });
    }
}
