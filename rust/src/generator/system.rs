//! The operating system as the host of a call.

use snowmint_core::Host;
use snowmint_stores::Error;

/// The system's clock; a pause puts the thread to sleep. As core's, with the errors of this crate.
#[derive(Debug, Default)]
pub struct SystemHost(snowmint_core::SystemHost);

impl SystemHost {
    /// For one call.
    pub const fn new() -> Self {
        Self(snowmint_core::SystemHost::new())
    }
}

impl Host for SystemHost {
    type Error = Error;

    #[inline]
    fn now_ms(&mut self) -> Result<i64, Error> {
        Ok(snowmint_core::SystemHost::unix_ms())
    }

    fn pause(&mut self, ms: u64) -> Result<(), Error> {
        Ok(self.0.pause(ms)?)
    }

    fn paused_ms(&mut self) -> u64 {
        self.0.paused_ms()
    }
}
