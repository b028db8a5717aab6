//! The host of a call that may wait: its clock and its sleep.

use crate::error::Error;

/// The clock and the sleep of one call. Make a new host for each call.
pub trait Host {
    /// The errors of clock and sleep, and of the generator.
    type Error: From<Error>;

    /// Reads the clock, Unix ms.
    ///
    /// # Errors
    /// An error of the host, whose clock may be the user's code.
    fn now_ms(&mut self) -> Result<i64, Self::Error>;

    /// Sleeps about `ms` ms.
    ///
    /// # Errors
    /// An error of the host, such as an interrupt.
    fn pause(&mut self, ms: u64) -> Result<(), Self::Error>;

    /// Returns the ms since the first pause of this call, by a clock that never steps; 0 before the first pause.
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

    /// The clock of the operating system. A pause puts the thread to sleep.
    #[derive(Debug, Default)]
    pub struct SystemHost {
        first_pause: Option<Instant>,
    }

    impl SystemHost {
        /// Makes a host for one call.
        pub const fn new() -> Self {
            Self { first_pause: None }
        }

        /// Reads the system's clock, Unix ms.
        ///
        /// # Examples
        /// ```
        /// use snowmint_core::SystemHost;
        /// assert!(SystemHost::unix_ms() > 1_735_689_600_000, "after 2025-01-01");
        /// ```
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
            // Sleeps to the start of a ms: a generator at full load would lose the part of a ms before a later wake-up.
            let into_ms = SystemTime::now()
                .duration_since(SystemTime::UNIX_EPOCH)
                .map_or(0, |now| now.subsec_nanos() % NS_PER_MS);
            thread::sleep(Duration::from_millis(ms).saturating_sub(Duration::from_nanos(into_ms.into())));
            Ok(())
        }

        fn paused_ms(&mut self) -> u64 {
            self.first_pause.map_or(0, |first| crate::generator::whole_ms(first.elapsed()))
        }
    }
}
