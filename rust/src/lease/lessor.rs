//! Services that grant nodes by their own clock.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use snowmint_core::{ErrorKind, SystemHost, Window};
use snowmint_stores::Error;
use snowmint_stores::host::{Claimer, Namespace, Outcome, Refusal, Terms};

use super::grant::{Grant, Holding};
use super::lessor_clock::{LessorClock, Sent};

/// A service that grants nodes. Each call ends, by a timeout if need be, and may be repeated: the nonce identifies the claim.
///
/// A forked child uses the same object: it must not use what the parent opened, such as a connection.
#[async_trait]
pub trait Lessor: fmt::Debug + Send + Sync + 'static {
    /// Returns kind and address for error messages, without a password.
    fn name(&self) -> &str;

    /// Grants a node. Its window is durable.
    ///
    /// # Errors
    /// The reason why no node is granted. `NodesExhausted` may have the ms after which a node is free.
    async fn claim(&self, terms: &Terms, claimer: &Claimer) -> Result<LessorGrant, Error>;

    /// Extends the window past `unused_from_ms` (Unix ms), the start of the generator's first unused tick. Returns the window
    /// and the lessor's clock, Unix ms.
    ///
    /// # Errors
    /// `WindowClosed`, if another holder has the node. After other errors the old window stays.
    async fn renew(
        &self,
        terms: &Terms,
        claimer: &Claimer,
        node: u32,
        unused_from_ms: i64,
    ) -> Result<(Window, i64), Error>;

    /// Checks that the service answers for a namespace, and accepts the token. Claims nothing.
    ///
    /// # Errors
    /// `StoreUnavailable`.
    async fn check(&self, _namespace: &Namespace) -> Result<(), Error> {
        Ok(())
    }

    /// Takes a node back. Its generators are closed and took no ID at or past `unused_from_ms` (Unix ms).
    ///
    /// # Errors
    /// After any error the window runs out by itself.
    async fn release(&self, terms: &Terms, claimer: &Claimer, node: u32, unused_from_ms: i64) -> Result<(), Error>;
}

/// The grant of a lessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LessorGrant {
    /// The node.
    pub node: u32,
    /// The window, which is durable.
    pub window: Window,
    /// The length of the windows in ms. The lessor may have shortened it.
    pub window_ms: u64,
    /// The lessor's clock, Unix ms.
    pub now_ms: i64,
}

/// A node that a lessor granted.
#[derive(Debug)]
pub(crate) struct LessorLease {
    lessor: Arc<dyn Lessor>,
    terms: Terms,
    claimer: Claimer,
    node: u32,
    window: Window,
    clock: Arc<LessorClock>,
}

impl LessorLease {
    /// Claims a node.
    pub(crate) async fn claim(lessor: Arc<dyn Lessor>, terms: &Terms) -> Result<Grant, Refusal> {
        let claimer = Claimer::this_process()?;
        let sent = Sent::now();
        let LessorGrant { node, window, window_ms, now_ms } =
            lessor.claim(terms, &claimer).await.map_err(|error| match error.retry_after_ms() {
                Some(wait_ms) if error.kind() == ErrorKind::NodesExhausted => Refusal::NotYet(wait_ms, error),
                _ => Refusal::Error(error),
            })?;
        let clock = Arc::new(LessorClock::new(now_ms, sent));
        let fits = u64::from(node) < terms.layout.nodes()
            && terms.nodes.contains(node)
            && terms.layout.mints_from_ms(window.start_ms).is_some()
            && window.start_ms < window.end_ms
            && (Window::MIN_MS..=terms.window_ms).contains(&window_ms);
        if !fits {
            let why = format!("node {node} and its window are not a lease of layout {}", terms.layout);
            return Err(Error::unavailable(lessor.name(), why).into());
        }
        let (terms, nonce) = (Terms { window_ms, ..terms.clone() }, claimer.nonce);
        let lease = Self { lessor, terms, claimer, node, window, clock: Arc::clone(&clock) };
        Ok(Grant {
            node,
            window,
            window_ms,
            nonce,
            skew_ms: Some(lease.skew_ms()),
            holding: Box::new(lease),
            clock: Some(clock),
            outer: None,
            standby_risk: None,
            skipped: Vec::new(),
        })
    }

    /// Returns how far this machine's clock is ahead of the lessor's, in ms.
    fn skew_ms(&self) -> i64 {
        SystemHost::unix_ms().saturating_sub(self.clock.now_ms())
    }
}

#[async_trait]
impl Holding for LessorLease {
    async fn renew(&mut self, _: i64, last_ms: i64, reach_ms: u64) -> Outcome {
        self.terms.max_ahead_ms = reach_ms.saturating_sub(self.terms.window_ms);
        let sent = Sent::now();
        match self.lessor.renew(&self.terms, &self.claimer, self.node, last_ms).await {
            Ok((window, now_ms)) => {
                self.clock.heed(now_ms, sent);
                self.window.end_ms = self.window.end_ms.max(window.end_ms);
                Outcome::Window { window: self.window, skew_ms: Some(self.skew_ms()), standby_risk: None }
            }
            Err(error) if error.kind() == ErrorKind::WindowClosed => Outcome::Lost(error),
            Err(error) => Outcome::Later(error),
        }
    }

    async fn release(self: Box<Self>, end_ms: i64) {
        drop(self.lessor.release(&self.terms, &self.claimer, self.node, end_ms).await);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    use snowmint_core::layouts::SNOWMINT;

    use super::*;
    use crate::host::{Backend, ClockId, Environment, ProcessGenerator, SystemHost as Host};
    use crate::{LeaseOptions, LeaseStore};

    /// Always grants the same lease. Its clock moves only when a test sets it.
    #[derive(Clone, Debug)]
    struct Fixed(Arc<(LessorGrant, AtomicI64, AtomicU64)>);

    impl Fixed {
        fn new(lent: LessorGrant) -> Self {
            Self(Arc::new((lent, AtomicI64::new(lent.now_ms), AtomicU64::new(0))))
        }

        fn now_ms(&self) -> i64 {
            self.0.1.load(Ordering::Relaxed)
        }
    }

    #[async_trait]
    impl Lessor for Fixed {
        fn name(&self) -> &'static str {
            "a lessor of tests"
        }

        async fn claim(&self, _: &Terms, _: &Claimer) -> Result<LessorGrant, Error> {
            Ok(self.0.0)
        }

        async fn renew(&self, _: &Terms, _: &Claimer, _: u32, unused_from_ms: i64) -> Result<(Window, i64), Error> {
            self.0.2.fetch_add(1, Ordering::Relaxed);
            let Window { start_ms, end_ms } = self.0.0.window;
            let end_ms = unused_from_ms.max(self.now_ms()).saturating_add(end_ms - start_ms);
            Ok((Window { start_ms, end_ms }, self.now_ms()))
        }

        async fn release(&self, _: &Terms, _: &Claimer, _: u32, _: i64) -> Result<(), Error> {
            Ok(())
        }
    }

    const FAR_MS: i64 = 2_000_000_000_000;
    const GRANT: LessorGrant = LessorGrant {
        node: 7,
        window: Window { start_ms: FAR_MS, end_ms: FAR_MS + 1000 },
        window_ms: 1000,
        now_ms: FAR_MS,
    };

    fn generator(lessor: &Fixed, number: usize) -> Result<ProcessGenerator, Error> {
        let lease = LeaseOptions::new().store(LeaseStore::of(Backend::lessor(lessor.clone(), number)));
        ProcessGenerator::open(lease, &Environment::default(), &mut Host::new())
    }

    #[test]
    fn ids_are_of_the_lessors_time_and_its_window_of_its_length() {
        let lessor = Fixed::new(GRANT);
        let generator = generator(&lessor, 1).expect("a node");
        let parts = SNOWMINT.decode(generator.next_id(&mut Host::new()).expect("an ID")).expect("of the layout");
        assert_eq!(parts.node, 7);
        assert!((FAR_MS..FAR_MS + 10_000).contains(&parts.timestamp_ms), "{}", parts.timestamp_ms);
        // The renewal comes halfway through the granted window, not the requested one.
        let deadline = Instant::now() + Duration::from_secs(10);
        while lessor.0.2.load(Ordering::Relaxed) < 2 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(generator.window().is_some_and(|window| window.end_ms > FAR_MS + 1000));
        let status = generator.status();
        assert!(status.skew_ms.is_some_and(|skew_ms| skew_ms != 0));
        assert_eq!(status.disorder_ms, Some(1), "this machine's clock is not read");
    }

    #[test]
    fn renewals_follow_the_windows_that_are_granted_and_not_the_length_that_was_claimed() {
        // As of a service that was started anew with a lower limit.
        let lessor = Fixed::new(LessorGrant { window_ms: 30_000, ..GRANT });
        let generator = generator(&lessor, 3).expect("a node");
        let since = Instant::now();
        while lessor.0.2.load(Ordering::Relaxed) < 3 {
            assert!(since.elapsed() < Duration::from_secs(10), "the third comes within three windows of a second");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(generator.status().renewal_failures, 0);
    }

    #[test]
    fn a_grant_that_cannot_be_is_refused() {
        let wrong = [
            LessorGrant { node: 1024, ..GRANT },
            LessorGrant { window: Window { end_ms: FAR_MS, ..GRANT.window }, ..GRANT },
            LessorGrant { window: Window { start_ms: i64::MAX - 1, end_ms: i64::MAX }, ..GRANT },
            LessorGrant { window_ms: 999, ..GRANT },
            LessorGrant { window_ms: u64::MAX, ..GRANT },
        ];
        for (number, lent) in wrong.into_iter().enumerate() {
            let error = generator(&Fixed::new(lent), 100 + number).expect_err("nothing to go by");
            assert_eq!(error.kind(), ErrorKind::StoreUnavailable);
        }
    }

    #[test]
    fn a_clock_of_the_callers_own_is_refused() {
        let lease =
            LeaseOptions::new().store(LeaseStore::of(Backend::lessor(Fixed::new(GRANT), 2))).clock_id(ClockId(1));
        let error = ProcessGenerator::open(lease, &Environment::default(), &mut Host::new()).expect_err("two clocks");
        assert_eq!(error.kind(), ErrorKind::InvalidNode);
    }
}
