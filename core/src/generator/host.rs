//! What a call that may wait needs from its host.

use crate::error::Error;

/// The clock and the waiting of one call. Make a new one for each call.
pub trait Host {
    /// What clock and wait can fail with, besides the generator's own errors.
    type Error: From<Error>;

    /// The time, Unix ms.
    ///
    /// # Errors
    /// The host's own: a clock may be the user's code.
    fn now_ms(&mut self) -> Result<i64, Self::Error>;

    /// Sleeps about `ms` ms: until the clock has moved on by as much, if it runs as it should.
    ///
    /// # Errors
    /// The host's own, such as an interrupt.
    fn pause(&mut self, ms: u64) -> Result<(), Self::Error>;

    /// The ms since the first pause of this call by a clock that never steps; 0 before it.
    fn paused_ms(&mut self) -> u64;
}

#[cfg(feature = "std")]
pub use self::system::SystemHost;

#[cfg(feature = "std")]
mod system {
    extern crate std;

    use std::thread;
    use std::time::{Duration, Instant, SystemTime};

    use super::{Error, Host};

    /// The operating system's clock; a pause puts the thread to sleep.
    #[derive(Debug, Default)]
    pub struct SystemHost {
        first_pause: Option<Instant>,
    }

    impl SystemHost {
        /// For one call.
        pub const fn new() -> Self {
            Self { first_pause: None }
        }

        /// The system's time, Unix ms.
        #[inline]
        pub fn unix_ms() -> i64 {
            match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
                Ok(since) => saturated(since),
                Err(before) => -saturated(before.duration()),
            }
        }
    }

    const NS_PER_MS: u32 = 1_000_000;

    fn saturated(duration: Duration) -> i64 {
        i64::try_from(duration.as_secs()).map_or(i64::MAX, |seconds| {
            seconds.saturating_mul(1000).saturating_add(i64::from(duration.subsec_millis()))
        })
    }

    impl Host for SystemHost {
        type Error = Error;

        #[inline]
        fn now_ms(&mut self) -> Result<i64, Error> {
            Ok(Self::unix_ms())
        }

        fn pause(&mut self, ms: u64) -> Result<(), Error> {
            self.first_pause.get_or_insert_with(Instant::now);
            // To the start of a ms, not to its middle: a saturated generator must not lose the ms in between.
            let into_ms = SystemTime::now()
                .duration_since(SystemTime::UNIX_EPOCH)
                .map_or(0, |now| now.subsec_nanos() % NS_PER_MS);
            thread::sleep(Duration::from_millis(ms).saturating_sub(Duration::from_nanos(into_ms.into())));
            Ok(())
        }

        fn paused_ms(&mut self) -> u64 {
            self.first_pause.map_or(0, |first| u64::try_from(first.elapsed().as_millis()).unwrap_or(u64::MAX))
        }
    }
}
