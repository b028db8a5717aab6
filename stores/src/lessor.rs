//! Leases of a lessor: one that grants nodes by itself and by a clock of its own, as a service does.

use std::fmt;
use std::sync::Arc;

use snowmint_core::{ErrorKind, Layout, SystemHost, Window};

use crate::error::Error;
use crate::file::Refused;
use crate::holding::{Renewed, Wanted};
use crate::namespace::Namespace;
use crate::service_clock::{ServiceClock, Since};

/// Who grants nodes. Each call ends, by a timeout if need be, and may be made again: the token tells that it is the same.
///
/// In a forked child the same object is used: what it shares with the parent, such as a connection, is not for the child
/// to use.
pub trait Lessor: fmt::Debug + Send + Sync + 'static {
    /// Who and where it is, for sentences. No password.
    fn name(&self) -> &str;

    /// Grants a node, whose window is durable by then.
    ///
    /// # Errors
    /// Why there is none; with `NodesExhausted` also in how many ms the same call has a chance, if it has.
    fn claim(&self, terms: &LeaseTerms) -> Result<Lent, (Error, Option<u64>)>;

    /// Moves a window's end up, for a generator whose first unused tick begins at `unused_from_ms` (Unix ms). The window,
    /// and the lessor's clock, Unix ms.
    ///
    /// # Errors
    /// `WindowClosed`, if the node is not, or not any more, held with this token. All others leave the window as it is.
    fn renew(&self, terms: &LeaseTerms, node: u32, unused_from_ms: i64) -> Result<(Window, i64), Error>;

    /// Takes a node back, whose generators are closed and took no ID at or past `unused_from_ms` (Unix ms).
    ///
    /// # Errors
    /// If it cannot, its window runs out by itself.
    fn release(&self, terms: &LeaseTerms, node: u32, unused_from_ms: i64) -> Result<(), Error>;
}

/// What a holder wants of a lessor.
#[derive(Clone, Debug)]
pub struct LeaseTerms {
    /// The namespace.
    pub namespace: Namespace,
    /// The layout of the IDs.
    pub layout: Layout,
    /// The holder's token, random and new for each claim: the same one claims the same node again.
    pub token: u128,
    /// Who the holder is, for people.
    pub label: String,
    /// How far IDs may run ahead of the clock, in ms.
    pub max_ahead_ms: u64,
    /// The length of a window, in ms: see [`Window::length_ms`].
    pub window_ms: u64,
    /// The node held last, if any: it is preferred.
    pub last_node: Option<u32>,
    /// Nodes not to be had.
    pub excluded: Vec<u32>,
}

/// A node that a lessor granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lent {
    /// The node.
    pub node: u32,
    /// Its window, which is durable.
    pub window: Window,
    /// The length of its windows in ms, which the lessor may have cut.
    pub window_ms: u64,
    /// The lessor's clock, Unix ms.
    pub now_ms: i64,
}

/// A node on loan.
#[derive(Debug)]
pub(crate) struct Loan {
    lessor: Arc<dyn Lessor>,
    terms: LeaseTerms,
    node: u32,
    window: Window,
    clock: Arc<ServiceClock>,
}

impl Loan {
    /// Claims a node.
    pub(crate) fn claim(lessor: Arc<dyn Lessor>, wanted: &Wanted) -> Result<Self, Refused> {
        let mut terms = LeaseTerms {
            namespace: wanted.namespace.clone(),
            layout: wanted.layout,
            token: wanted.holder.token,
            label: wanted.holder.label_text(),
            max_ahead_ms: wanted.max_ahead_ms,
            window_ms: wanted.window_ms,
            last_node: wanted.holder.last_node,
            excluded: wanted.excluded.clone(),
        };
        let asked = Since::now();
        let Lent { node, window, window_ms, now_ms } = lessor.claim(&terms).map_err(|refused| match refused {
            (error, Some(wait_ms)) if error.kind() == ErrorKind::NodesExhausted => Refused::NotYet(wait_ms, error),
            (error, _) => Refused::Error(error),
        })?;
        let clock = Arc::new(ServiceClock::new(now_ms, asked));
        let fits = u64::from(node) < terms.layout.nodes()
            && terms.layout.mints_from_ms(window.start_ms).is_some()
            && window.start_ms < window.end_ms
            && (Window::LEAST_MS..=terms.window_ms).contains(&window_ms);
        if !fits {
            return Err(Error::unavailable(lessor.name(), "what it granted is no lease of this layout").into());
        }
        terms.window_ms = window_ms;
        Ok(Self { lessor, terms, node, window, clock })
    }

    pub(crate) const fn node(&self) -> u32 {
        self.node
    }

    pub(crate) const fn window(&self) -> Window {
        self.window
    }

    pub(crate) const fn window_ms(&self) -> u64 {
        self.terms.window_ms
    }

    pub(crate) fn clock(&self) -> Arc<ServiceClock> {
        Arc::clone(&self.clock)
    }

    /// By how many ms this machine's clock is ahead of the lessor's.
    pub(crate) fn skew_ms(&self) -> i64 {
        SystemHost::unix_ms().saturating_sub(self.clock.now_ms())
    }

    /// Has the window's end moved up.
    pub(crate) fn renew(&mut self, last_ms: i64, reach_ms: u64) -> Renewed {
        self.terms.max_ahead_ms = reach_ms.saturating_sub(self.terms.window_ms);
        let asked = Since::now();
        match self.lessor.renew(&self.terms, self.node, last_ms) {
            Ok((window, now_ms)) => {
                self.clock.heed(now_ms, asked);
                self.window.end_ms = self.window.end_ms.max(window.end_ms);
                Renewed::Window(self.window, Some(self.skew_ms()), None)
            }
            Err(error) if error.kind() == ErrorKind::WindowClosed => Renewed::Lost(error),
            Err(error) => Renewed::Later(error),
        }
    }

    /// Gives the node back.
    pub(crate) fn release(self, end_ms: i64) {
        // If it cannot be told, the window runs out by itself.
        drop(self.lessor.release(&self.terms, self.node, end_ms));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    use snowmint_core::layouts::SNOWMINT;

    use super::*;
    use crate::{Config, Environment, Generator, Given, LeaseStore, SystemHost as Host};

    /// Grants what it was made with, by a clock that stands where it is set.
    #[derive(Clone, Debug)]
    struct Fixed(Arc<(Lent, AtomicI64, AtomicU64)>);

    impl Fixed {
        fn new(lent: Lent) -> Self {
            Self(Arc::new((lent, AtomicI64::new(lent.now_ms), AtomicU64::new(0))))
        }

        fn now_ms(&self) -> i64 {
            self.0.1.load(Ordering::Relaxed)
        }
    }

    impl Lessor for Fixed {
        fn name(&self) -> &'static str {
            "a lessor of tests"
        }

        fn claim(&self, _: &LeaseTerms) -> Result<Lent, (Error, Option<u64>)> {
            Ok(self.0.0)
        }

        fn renew(&self, terms: &LeaseTerms, _: u32, unused_from_ms: i64) -> Result<(Window, i64), Error> {
            self.0.2.fetch_add(1, Ordering::Relaxed);
            let end_ms = unused_from_ms.max(self.now_ms()).saturating_add_unsigned(terms.window_ms);
            Ok((Window { start_ms: self.0.0.window.start_ms, end_ms }, self.now_ms()))
        }

        fn release(&self, _: &LeaseTerms, _: u32, _: i64) -> Result<(), Error> {
            Ok(())
        }
    }

    const FAR_MS: i64 = 2_000_000_000_000;
    const LENT: Lent =
        Lent { node: 7, window: Window { start_ms: FAR_MS, end_ms: FAR_MS + 1000 }, window_ms: 1000, now_ms: FAR_MS };

    fn generator(lessor: &Fixed, number: usize) -> Result<Generator, Error> {
        let store = Some(LeaseStore::Given(Given::lessor(lessor.clone(), number)));
        Generator::open(&SNOWMINT, Config { store, ..Config::default() }, &Environment::default(), &mut Host::new())
    }

    #[test]
    fn ids_are_of_the_lessors_time_and_its_window_of_its_length() {
        let lessor = Fixed::new(LENT);
        let generator = generator(&lessor, 1).expect("a node");
        let parts = SNOWMINT.decode(generator.next_id(&mut Host::new()).expect("an ID")).expect("of the layout");
        assert_eq!(parts.node, 7);
        assert!((FAR_MS..FAR_MS + 10_000).contains(&parts.timestamp_ms), "{}", parts.timestamp_ms);
        // Renewed at half of what was granted, not of what was asked for.
        let deadline = Instant::now() + Duration::from_secs(10);
        while lessor.0.2.load(Ordering::Relaxed) < 2 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(generator.window().is_some_and(|window| window.end_ms > FAR_MS + 1000));
        assert!(generator.status().skew_ms.is_some_and(|skew_ms| skew_ms != 0));
    }

    #[test]
    fn a_grant_that_cannot_be_is_refused() {
        let wrong = [
            Lent { node: 1024, ..LENT },
            Lent { window: Window { end_ms: FAR_MS, ..LENT.window }, ..LENT },
            Lent { window: Window { start_ms: i64::MAX - 1, end_ms: i64::MAX }, ..LENT },
            Lent { window_ms: 999, ..LENT },
            Lent { window_ms: u64::MAX, ..LENT },
        ];
        for (number, lent) in wrong.into_iter().enumerate() {
            let error = generator(&Fixed::new(lent), 100 + number).expect_err("nothing to go by");
            assert_eq!(error.kind(), ErrorKind::StoreUnavailable);
        }
    }

    #[test]
    fn a_clock_of_the_callers_own_is_refused() {
        let store = Some(LeaseStore::Given(Given::lessor(Fixed::new(LENT), 2)));
        let config = Config { store, clock: 1, ..Config::default() };
        let error =
            Generator::open(&SNOWMINT, config, &Environment::default(), &mut Host::new()).expect_err("two clocks");
        assert_eq!(error.kind(), ErrorKind::InvalidNode);
    }
}
