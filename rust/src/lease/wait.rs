//! How a call waits for its lease.

use snowmint_core::Host;
#[cfg(feature = "tokio")]
use snowmint_core::host::whole_ms;
use snowmint_stores::Error;

/// The clock of a call, and its way to wait.
pub(crate) trait Wait {
    type Error: From<Error>;

    fn now_ms(&mut self) -> Result<i64, Self::Error>;

    /// Returns how long the call has waited, in ms.
    fn paused_ms(&mut self) -> u64;

    async fn pause(&mut self, ms: u64) -> Result<(), Self::Error>;
}

/// Blocks the thread as its host does.
pub(crate) struct Blocking<'a, H>(pub(crate) &'a mut H);

impl<H: Host> Wait for Blocking<'_, H>
where
    H::Error: From<Error>,
{
    type Error = H::Error;

    fn now_ms(&mut self) -> Result<i64, H::Error> {
        self.0.now_ms()
    }

    fn paused_ms(&mut self) -> u64 {
        self.0.paused_ms()
    }

    async fn pause(&mut self, ms: u64) -> Result<(), H::Error> {
        self.0.pause(ms)
    }
}

/// Waits on a runtime of tokio, by the clock of a host.
#[cfg(feature = "tokio")]
pub(crate) struct Asynchronous<'a, H> {
    host: &'a mut H,
    since: Option<std::time::Instant>,
}

#[cfg(feature = "tokio")]
impl<'a, H> Asynchronous<'a, H> {
    pub(crate) const fn new(host: &'a mut H) -> Self {
        Self { host, since: None }
    }
}

#[cfg(feature = "tokio")]
impl<H: Host> Wait for Asynchronous<'_, H>
where
    H::Error: From<Error>,
{
    type Error = H::Error;

    fn now_ms(&mut self) -> Result<i64, H::Error> {
        self.host.now_ms()
    }

    fn paused_ms(&mut self) -> u64 {
        self.since.map_or(0, |since| whole_ms(since.elapsed()))
    }

    async fn pause(&mut self, ms: u64) -> Result<(), H::Error> {
        self.since.get_or_insert_with(std::time::Instant::now);
        tokio::time::sleep(std::time::Duration::from_millis(ms)).await;
        Ok(())
    }
}
