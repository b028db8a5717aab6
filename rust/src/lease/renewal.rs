//! The renewal of a lease's window.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use snowmint_core::lease::renewal_pause_ms;
use snowmint_core::{ErrorKind, SystemHost, Window};
use snowmint_stores::Error;
use snowmint_stores::host::Outcome;
use snowmint_stores::host::lock;

use super::Lease;

/// A renewal without an answer for this long counts as trouble.
const LATE: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(super) struct Renewal {
    due: Instant,
    /// Whether a call waits for the renewal, which begins at `not_before` at the earliest.
    asked: bool,
    not_before: Instant,
    /// When the renewal under way began.
    under_way: Option<Instant>,
    failures: u64,
    /// Why the last renewal failed.
    trouble: Option<Error>,
    skew_ms: Option<i64>,
    /// The writes that a failover of the store could lose.
    standby_risk: Option<Error>,
}

impl Renewal {
    /// Begins with a grant, whose first renewal is due at that time.
    pub(super) fn new(due: Instant, skew_ms: Option<i64>, standby_risk: Option<Error>) -> Self {
        Self {
            due,
            asked: false,
            not_before: Instant::now(),
            under_way: None,
            failures: 0,
            trouble: None,
            skew_ms,
            standby_risk,
        }
    }
}

impl Lease {
    /// Returns how many renewals have failed since the last success. A forked child never takes this lock.
    pub(crate) fn failures(&self) -> u64 {
        if !self.is_open() {
            return 0;
        }
        lock(&self.renewal).failures + self.outer.as_ref().map_or(0, |outer| outer.trouble().0)
    }

    /// Returns why the window is not renewed.
    pub(crate) fn trouble(&self) -> Option<Error> {
        if !self.is_open() {
            return None;
        }
        let of_outer = || self.outer.as_ref().and_then(|outer| outer.trouble().1);
        let renewal = lock(&self.renewal);
        renewal.trouble.clone().or_else(of_outer).or_else(|| {
            let waiting = renewal.under_way.map(|since| since.elapsed()).filter(|waiting| *waiting >= LATE)?;
            let (what, waiting_ms) = (self.kind(), waiting.as_millis());
            Some(Error::new(
                ErrorKind::StoreUnavailable,
                format!("the renewal of its {what} has no answer for {waiting_ms} ms"),
            ))
        })
    }

    /// Returns how far this machine's clock is ahead of the store's, in ms.
    pub(crate) fn skew_ms(&self) -> Option<i64> {
        if self.is_open() { lock(&self.renewal).skew_ms } else { None }
    }

    /// Returns what a failover of the store could lose, as the last renewal found it.
    pub(crate) fn standby_risk(&self) -> Option<Error> {
        if self.is_open() { lock(&self.renewal).standby_risk.clone() } else { None }
    }

    /// Returns whether a call at `now_ms` may need a tick past the window.
    pub(crate) fn is_short(&self, now_ms: i64) -> bool {
        now_ms.saturating_add_unsigned(self.max_ahead_ms.load(Ordering::Acquire)) >= self.window().end_ms
    }

    /// Asks for a renewal, because a call found the window over at `now_ms`.
    pub(crate) fn ask(&self, now_ms: i64) {
        if let Some(asked_ms) = &self.asked_ms {
            asked_ms.fetch_max(now_ms, Ordering::AcqRel);
        }
        lock(&self.renewal).asked = true;
        self.wake.notify();
    }

    pub(crate) fn is_due(&self, now: Instant) -> bool {
        let renewal = lock(&self.renewal);
        renewal.under_way.is_none() && (now >= renewal.due || (renewal.asked && now >= renewal.not_before))
    }

    /// Returns whether a renewal is due or under way.
    pub(crate) fn is_renewing(&self) -> bool {
        let renewal = lock(&self.renewal);
        renewal.under_way.is_some() || Instant::now() >= renewal.due
    }

    /// Returns whether no generator fetched the lease for a whole window.
    pub(crate) fn is_forgotten(&self, since: Instant) -> bool {
        since.elapsed() > Duration::from_millis(self.window_ms)
    }

    /// Returns when the next renewal is due: up to half a window after the last one, or sooner after a failure.
    pub(crate) fn due(&self) -> Instant {
        let renewal = lock(&self.renewal);
        match (renewal.under_way.is_some(), renewal.asked) {
            // The end of the renewal wakes the renewing thread.
            (true, _) => Instant::now() + self.until_renewal(0),
            (false, true) => renewal.not_before.min(renewal.due),
            (false, false) => renewal.due,
        }
    }

    /// Begins to extend the window, in the file or store first. A slot that cannot be written, or belongs to another holder,
    /// is abandoned. A store that does not answer is asked again.
    pub(crate) fn renew(self: &Arc<Self>, now_ms: i64) {
        let now_ms = self.asked_ms.as_ref().map_or(now_ms, |asked_ms| asked_ms.load(Ordering::Acquire));
        let then = self.renewing();
        let Some(last_ms) = self.words().unused_from_ms(&self.layout) else {
            lock(&self.renewal).under_way = None;
            return;
        };
        let reach_ms = self.max_ahead_ms.load(Ordering::Acquire).saturating_add(self.window_ms);
        if let Err(error) = self.held.renew(now_ms, last_ms, reach_ms, then) {
            let why = format!("the system gives no thread to renew a {} on: {error}", self.kind());
            self.renewed(Outcome::Later(Error::new(ErrorKind::StoreUnavailable, why)));
        }
    }

    /// Notes that a renewal is under way, and returns what to do with its outcome.
    fn renewing(self: &Arc<Self>) -> impl FnOnce(Outcome) + Send + 'static {
        let now = Instant::now();
        {
            let mut renewal = lock(&self.renewal);
            (renewal.due, renewal.asked) = (now + self.until_renewal(0), false);
            renewal.under_way = Some(now);
        }
        let lease = Arc::downgrade(self);
        move |renewed| {
            if let Some(lease) = lease.upgrade() {
                lease.renewed(renewed);
            }
        }
    }

    /// Takes the outcome of a renewal.
    fn renewed(&self, outcome: Outcome) {
        let mut renewal = lock(&self.renewal);
        renewal.under_way = None;
        match outcome {
            Outcome::Window { window, skew_ms, standby_risk } => {
                (renewal.failures, renewal.trouble) = (0, None);
                (renewal.skew_ms, renewal.standby_risk) = (skew_ms, standby_risk);
                // Before the lock is free, so that no caller finds the renewal over and the window old.
                self.extend(window.end_ms);
                // The window may be shorter than the renewal asked for.
                let until = until_renewal(self.window_ms, self.left_ms(), 0, self.nonce);
                renewal.due = renewal.due.min(Instant::now() + until);
                drop(renewal);
            }
            // A store that loses writes grants no more time: when the window is over, the lease is lost.
            Outcome::Later(error) if self.is_over(&error) => {
                drop(renewal);
                self.lose(&error);
            }
            Outcome::Later(error) => {
                renewal.failures += 1;
                // Status and later errors repeat it: an exception of a host language must not live as long as the lease.
                renewal.trouble = Some(error.without_source());
                renewal.not_before = Instant::now() + self.until_renewal(renewal.failures);
                renewal.due = renewal.not_before;
                drop(renewal);
            }
            Outcome::Lost(error) => {
                drop(renewal);
                self.lose(&error);
            }
        }
        self.wake.notify();
    }

    /// Returns whether no renewal can follow: the store is unsafe, and the window is over.
    fn is_over(&self, error: &Error) -> bool {
        let asked_ms = || self.asked_ms.as_ref().map(|asked_ms| asked_ms.load(Ordering::Acquire));
        let now_ms = self.lessor_ms().or_else(asked_ms).unwrap_or_else(SystemHost::unix_ms);
        error.kind() == ErrorKind::UnsafeStore && now_ms >= self.window().end_ms
    }

    /// Returns the time from a renewal to the next one, after this number of failures, if the window is not cut.
    const fn until_renewal(&self, failures: u64) -> Duration {
        until_renewal(self.window_ms, self.window_ms, failures, self.nonce)
    }

    /// Returns the ms that are left of the window. By a clock of the caller's, which only calls read, all are left.
    fn left_ms(&self) -> u64 {
        if self.asked_ms.is_some() {
            return self.window_ms;
        }
        let now_ms = self.lessor_ms().unwrap_or_else(SystemHost::unix_ms);
        left_ms(self.window(), now_ms, self.max_ahead_ms.load(Ordering::Acquire))
    }

    /// Notes the durable end of the window.
    fn extend(&self, end_ms: i64) {
        self.end_ms.store(end_ms, Ordering::Release);
        self.words().extend(&self.layout, end_ms);
    }
}

pub(super) const fn until_renewal(window_ms: u64, left_ms: u64, failures: u64, nonce: u128) -> Duration {
    Duration::from_millis(renewal_pause_ms(window_ms, left_ms, failures, nonce))
}

/// Returns the ms from `now_ms` (Unix ms) to the end of a window, less `max_ahead_ms`; 0 after it.
pub(super) fn left_ms(window: Window, now_ms: i64, max_ahead_ms: u64) -> u64 {
    u64::try_from(window.end_ms.saturating_sub(now_ms)).unwrap_or_default().saturating_sub(max_ahead_ms)
}
