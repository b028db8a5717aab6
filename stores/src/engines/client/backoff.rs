//! The pause between attempts to connect: 50 ms after the first failure, then doubled up to 2 s.

use std::time::Duration;

use snowmint_core::ErrorKind;
use tokio::time::Instant;

use crate::error::Error;

/// The pause after the first failure.
pub(in crate::engines) const MIN_PAUSE: Duration = Duration::from_millis(50);
/// The longest pause.
pub(in crate::engines) const MAX_PAUSE: Duration = Duration::from_secs(2);

/// The failed attempts to connect to one store.
#[derive(Debug, Default)]
pub(in crate::engines) struct Backoff {
    /// Counts failures. Of several attempts that began in one round, only the first failure counts.
    round: u64,
    pause: Duration,
    failure: Option<Failure>,
}

#[derive(Debug)]
struct Failure {
    /// When the next attempt may begin.
    next: Instant,
    /// `None` until the attempt has reported its error, and if its caller gave up before.
    error: Option<Error>,
}

impl Backoff {
    /// Begins an attempt and returns its round.
    ///
    /// # Errors
    /// The last attempt's error with the time until the next one, if the pause is not over. `UnsafeStore` and
    /// `InvalidStore` come without a time, as a setting has to change first.
    pub(in crate::engines) fn begin(&self, store: &str) -> Result<u64, Error> {
        let now = Instant::now();
        let Some(Failure { next, error }) = self.failure.as_ref().filter(|failure| now < failure.next) else {
            return Ok(self.round);
        };
        let when = format!("the next attempt to connect is in {} ms", (*next - now).as_millis() + 1);
        Err(match error {
            Some(error) if matches!(error.kind(), ErrorKind::UnsafeStore | ErrorKind::InvalidStore) => error.clone(),
            Some(error) => Error::new(error.kind(), format!("{error} ({when})")),
            None => Error::unavailable(store, when),
        })
    }

    /// Ends the pauses: the store answered.
    pub(in crate::engines) fn succeeded(&mut self) {
        *self = Self { round: self.round, ..Self::default() };
    }

    /// Notes a failure. Pass `None` at the start of an attempt whose caller may give up, and the error when it is known.
    pub(in crate::engines) fn failed(&mut self, round: u64, error: Option<&Error>) {
        if round == self.round {
            self.round += 1;
            self.pause = (self.pause * 2).clamp(MIN_PAUSE, MAX_PAUSE);
        } else if self.failure.as_ref().is_none_or(|failure| failure.error.is_some()) {
            return;
        }
        self.failure = Some(Failure { next: Instant::now() + self.pause, error: error.cloned() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_two_seconds() {
        let mut backoff = Backoff::default();
        let error = Error::unavailable("db", "connection refused");
        let mut pauses = Vec::new();
        for round in 0..8 {
            backoff.failed(round, Some(&error));
            backoff.failed(round, Some(&error));
            pauses.push(backoff.pause.as_millis());
        }
        assert_eq!(pauses, [50, 100, 200, 400, 800, 1600, 2000, 2000]);
        let refused = backoff.begin("db").expect_err("too early");
        assert_eq!(refused.kind(), ErrorKind::StoreUnavailable);
        assert!(
            refused.to_string().starts_with("db: connection refused (the next attempt to connect is in "),
            "{refused}"
        );
        backoff.succeeded();
        assert!(backoff.begin("db").is_ok());
        backoff.failed(backoff.round, Some(&error));
        assert_eq!(backoff.pause, MIN_PAUSE);
    }

    #[test]
    fn an_abandoned_attempt_counts_as_a_failure() {
        let mut backoff = Backoff::default();
        backoff.failed(0, None);
        let refused = backoff.begin("db").expect_err("too early");
        assert!(refused.to_string().starts_with("db: the next attempt to connect is in "), "{refused}");
        backoff.failed(0, Some(&Error::unavailable("db", "down")));
        assert_eq!(backoff.pause, MIN_PAUSE, "it is the same attempt");
        assert!(backoff.begin("db").expect_err("too early").to_string().starts_with("db: down"));
    }

    #[test]
    fn an_unsafe_store_is_refused_without_a_time() {
        let mut backoff = Backoff::default();
        let error = Error::unsafe_store("db", "fsync=off", "fsync=on");
        backoff.failed(0, Some(&error));
        assert_eq!(backoff.begin("db"), Err(error));
    }
}
