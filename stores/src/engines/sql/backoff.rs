//! How long after a failure the next attempt to connect is made.

use std::time::Duration;

use snowmint_core::ErrorKind;
use tokio::time::Instant;

use crate::error::Error;

const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);

/// The attempts to connect so far.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    /// Raised at each failure that counts: of several attempts at once, one does.
    round: u64,
    wait: Duration,
    failure: Option<(Instant, Error)>,
}

impl Backoff {
    /// Begins an attempt, if it is time for one.
    pub(super) fn begin(&self, store: &str) -> Result<u64, Error> {
        let now = Instant::now();
        let Some((next, error)) = self.failure.as_ref().filter(|(next, _)| now < *next) else { return Ok(self.round) };
        if error.kind() == ErrorKind::UnsafeStore {
            return Err(error.clone());
        }
        let (wait, said) = ((*next - now).as_millis(), error.to_string());
        let said = said.strip_prefix(store).unwrap_or(&said).trim_start_matches(": ");
        Err(Error::unavailable(store, format_args!("the next attempt to connect is in {wait} ms; {said}")))
    }

    pub(super) fn succeeded(&mut self) {
        *self = Self { round: self.round, ..Self::default() };
    }

    pub(super) fn failed(&mut self, round: u64, error: &Error) {
        if round == self.round {
            self.round += 1;
            self.wait = (self.wait * 2).clamp(SHORTEST, LONGEST);
            self.failure = Some((Instant::now() + self.wait, error.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_that_fail_are_ever_further_apart() {
        let mut backoff = Backoff::default();
        let error = Error::unavailable("db", "connection refused");
        let mut waits = Vec::new();
        for round in 0..8 {
            backoff.failed(round, &error);
            backoff.failed(round, &error);
            waits.push(backoff.wait.as_millis());
        }
        assert_eq!(waits, [50, 100, 200, 400, 800, 1600, 2000, 2000]);
        let refused = backoff.begin("db").expect_err("too early");
        assert_eq!(refused.kind(), ErrorKind::StoreUnavailable);
        assert!(refused.to_string().contains("next attempt"), "{refused}");
        backoff.succeeded();
        assert!(backoff.begin("db").is_ok());
        backoff.failed(backoff.round, &error);
        assert_eq!(backoff.wait, SHORTEST);
    }
}
