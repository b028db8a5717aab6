//! The host of a call on a lease.

use snowmint_core::{Error, Host};

use crate::lease::Lease;

/// A host that has the window renewed while a call waits for it, goes by the clock of the lease if that has one, and tells
/// core's refusals from its own errors.
#[derive(Debug)]
pub(crate) struct Heeding<'a, H> {
    host: &'a mut H,
    lease: Option<&'a Lease>,
    now_ms: i64,
    /// How long the call had waited before, for its lease.
    before_ms: u64,
}

/// What ended a call.
#[derive(Debug)]
pub(crate) enum Caught<E> {
    /// Core.
    Refused(Error),
    /// The host's clock or wait.
    Host(E),
    /// Core, and a lease of this process would be no cure.
    Final(Error),
}

impl<E> From<Error> for Caught<E> {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl<'a, H> Heeding<'a, H> {
    pub(crate) fn new(host: &'a mut H, lease: Option<&'a Lease>, before_ms: u64) -> Self {
        Self { host, lease, now_ms: i64::MIN, before_ms }
    }
}

impl<H: Host> Host for Heeding<'_, H> {
    type Error = Caught<H::Error>;

    fn now_ms(&mut self) -> Result<i64, Self::Error> {
        self.now_ms = match self.lease.and_then(Lease::lessor_ms) {
            Some(now_ms) => now_ms,
            None => self.host.now_ms().map_err(Caught::Host)?,
        };
        Ok(self.now_ms)
    }

    fn pause(&mut self, ms: u64) -> Result<(), Self::Error> {
        if let Some(lease) = self.lease.filter(|lease| lease.is_short(self.now_ms)) {
            lease.ask(self.now_ms);
        }
        self.host.pause(ms).map_err(Caught::Host)
    }

    fn paused_ms(&mut self) -> u64 {
        self.host.paused_ms().saturating_sub(self.before_ms)
    }
}
