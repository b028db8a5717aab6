//! The clock of a leased generator.

use snowmint_core::{Error, Host};

use crate::lease::Lease;

/// The clock of a leased generator. While a call waits it asks for a renewal; it reads the lessor's clock if there is one.
/// It distinguishes core's refusals from errors of the host.
#[derive(Debug)]
pub(super) struct LeasedClock<'a, H> {
    host: &'a mut H,
    lease: Option<&'a Lease>,
    now_ms: i64,
    /// How long the call had waited for its lease, in ms.
    before_ms: u64,
}

/// The error that ended a call.
#[derive(Debug)]
pub(super) enum Stopped<E> {
    /// Core refused the call.
    Refused(Error),
    /// The host's clock or wait failed.
    Host(E),
    /// Core refused the call, and a new lease would not help.
    Final(Error),
}

impl<E> From<Error> for Stopped<E> {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl<'a, H> LeasedClock<'a, H> {
    pub(super) fn new(host: &'a mut H, lease: Option<&'a Lease>, before_ms: u64) -> Self {
        Self { host, lease, now_ms: i64::MIN, before_ms }
    }
}

impl<H: Host> Host for LeasedClock<'_, H> {
    type Error = Stopped<H::Error>;

    fn now_ms(&mut self) -> Result<i64, Self::Error> {
        self.now_ms = match self.lease.and_then(Lease::lessor_ms) {
            Some(now_ms) => now_ms,
            None => self.host.now_ms().map_err(Stopped::Host)?,
        };
        Ok(self.now_ms)
    }

    fn pause(&mut self, ms: u64) -> Result<(), Self::Error> {
        if let Some(lease) = self.lease.filter(|lease| lease.is_short(self.now_ms)) {
            lease.ask(self.now_ms);
        }
        self.host.pause(ms).map_err(Stopped::Host)
    }

    fn paused_ms(&mut self) -> u64 {
        self.host.paused_ms().saturating_sub(self.before_ms)
    }
}
