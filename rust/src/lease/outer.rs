//! The window of a reservation, which the store grants: its renewal, while processes take windows within it.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use snowmint_core::Window;
use snowmint_core::lease::{Record, Reservation};
use snowmint_stores::host::background::{Pending, pair};
use snowmint_stores::host::{Namespace, Outcome, StoreLease, Terms, lock};
use snowmint_stores::{Error, Version};

use super::connector::Connector;

/// The lease of a directory on a node of the store.
#[derive(Debug)]
pub(crate) struct Outer {
    store: Arc<dyn Connector>,
    namespace: Namespace,
    node: u32,
    reserve_ms: u64,
    system_clock: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The last known record in the store, and its version.
    granted: (Record, Version),
    /// `None` before the first renewal, and while one is under way.
    lease: Option<StoreLease>,
    under_way: bool,
    /// When the last renewal ended, or the store granted the node; `None` before the first renewal.
    since: Option<Instant>,
    failures: u64,
    /// Why the last renewal failed.
    trouble: Option<Error>,
    lost: Option<Error>,
    skew_ms: Option<i64>,
    standby_risk: Option<Error>,
}

impl Outer {
    /// Continues with the reservation that a directory has kept. Its first renewal is due.
    pub(crate) fn resumed(
        store: Arc<dyn Connector>,
        terms: &Terms,
        reserve_ms: u64,
        node: u32,
        kept: &Reservation,
    ) -> Self {
        Self::new(store, terms, reserve_ms, node, (kept.record, kept.version), None)
    }

    /// Begins with a node that the store has just granted.
    pub(crate) fn fresh(store: Arc<dyn Connector>, terms: &Terms, reserve_ms: u64, lease: StoreLease) -> Self {
        Self::new(store, terms, reserve_ms, lease.node(), lease.saved(), Some(lease))
    }

    fn new(
        store: Arc<dyn Connector>,
        terms: &Terms,
        reserve_ms: u64,
        node: u32,
        granted: (Record, Version),
        lease: Option<StoreLease>,
    ) -> Self {
        let (skew_ms, standby_risk) =
            lease.as_ref().map_or((None, None), |lease| (lease.skew_ms, lease.standby_risk()));
        let since = lease.as_ref().map(|_| Instant::now());
        Self {
            store,
            namespace: terms.namespace.clone(),
            node,
            reserve_ms,
            system_clock: terms.system_clock,
            state: Mutex::new(State {
                granted,
                lease,
                under_way: false,
                since,
                failures: 0,
                trouble: None,
                lost: None,
                skew_ms,
                standby_risk,
            }),
        }
    }

    /// Returns the last known record in the store, and its version.
    pub(crate) fn granted(&self) -> (Record, Version) {
        lock(&self.state).granted
    }

    /// Returns the reserved window.
    pub(crate) fn window(&self) -> Window {
        self.granted().0.window
    }

    /// Returns why the reservation was lost.
    pub(crate) fn lost(&self) -> Option<Error> {
        lock(&self.state).lost.clone()
    }

    /// Returns how many renewals have failed since the last success, and why the last one did.
    pub(crate) fn trouble(&self) -> (u64, Option<Error>) {
        let state = lock(&self.state);
        (state.failures, state.trouble.clone())
    }

    pub(crate) fn skew_ms(&self) -> Option<i64> {
        lock(&self.state).skew_ms
    }

    pub(crate) fn standby_risk(&self) -> Option<Error> {
        lock(&self.state).standby_risk.clone()
    }

    /// Begins a renewal at `now_ms` (Unix ms), if one is due and none is under way.
    pub(crate) fn begin(self: &Arc<Self>, now_ms: i64) -> Option<Pending<()>> {
        let (lease, (record, version)) = {
            let mut state = lock(&self.state);
            if state.under_way || state.lost.is_some() || !state.is_due(now_ms, self.reserve_ms) {
                return None;
            }
            state.under_way = true;
            (state.lease.take(), state.granted)
        };
        let outer = Arc::clone(self);
        let (ended, pending) = pair();
        let renew = async move {
            let lease = match lease {
                Some(lease) => Ok(lease),
                None => outer.store.record_store().await.and_then(|store| {
                    let Self { namespace, node, system_clock, .. } = &*outer;
                    StoreLease::reserved(store, namespace, *node, (record, version), *system_clock)
                }),
            };
            match lease {
                Ok(mut lease) => {
                    let outcome = lease.renew(now_ms, now_ms, outer.reserve_ms).await;
                    outer.end(outcome, Some(lease));
                }
                Err(error) => outer.end(Outcome::Later(error), None),
            }
            ended.done(());
        };
        let begun = self.store.background().and_then(|background| {
            background.run(renew).map_err(|error| Error::unavailable(&self.store.name(), error))
        });
        begun.map_err(|error| self.end(Outcome::Later(error), None)).ok()?;
        Some(pending)
    }

    /// Takes the outcome of a renewal.
    fn end(&self, outcome: Outcome, lease: Option<StoreLease>) {
        let mut state = lock(&self.state);
        state.under_way = false;
        match outcome {
            Outcome::Window { skew_ms, standby_risk, .. } => {
                (state.failures, state.trouble) = (0, None);
                (state.skew_ms, state.standby_risk) = (skew_ms, standby_risk);
            }
            Outcome::Later(error) => {
                state.failures += 1;
                // An exception of a host language must not live as long as the reservation.
                state.trouble = Some(error.without_source());
            }
            Outcome::Lost(error) => state.lost = Some(error.without_source()),
        }
        if let Some(lease) = &lease {
            state.granted = lease.saved();
        }
        state.since = Some(Instant::now());
        state.lease = lease;
    }
}

impl State {
    fn is_due(&self, now_ms: i64, reserve_ms: u64) -> bool {
        let (record, _) = self.granted;
        let left_ms = u64::try_from(record.window.end_ms.saturating_sub(now_ms)).unwrap_or_default();
        let pause_ms = Reservation::pause_ms(reserve_ms, left_ms, self.failures, record.nonce);
        self.since.is_none_or(|since| since.elapsed() >= Duration::from_millis(pause_ms))
    }
}
