//! Clocks of the caller.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use snowmint_core::Host;
use snowmint_stores::Error;

use crate::generator::system::SystemHost;
use crate::lease::key::ClockId;

/// A clock of the caller, in place of the system's.
///
/// Two generators of a layout and node share one state only if they have the same clock: this value or a clone of it. The
/// state is kept until the process ends, so make a clock once, not for each generator.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicI64, Ordering};
/// use snowmint::{Clock, Snowflake, layouts::TWITTER};
///
/// let now_ms = Arc::new(AtomicI64::new(1_700_000_000_000));
/// let clock = Clock::new({
///     let now_ms = Arc::clone(&now_ms);
///     move || now_ms.load(Ordering::Relaxed)
/// });
/// let generator = Snowflake::with_clock(&TWITTER, 5, clock)?;
/// assert_eq!(TWITTER.decode(generator.next_id()?)?.timestamp_ms, 1_700_000_000_000);
/// now_ms.store(1_700_000_000_001, Ordering::Relaxed);
/// assert_eq!(TWITTER.decode(generator.next_id()?)?.timestamp_ms, 1_700_000_000_001);
/// # Ok::<(), snowmint::Error>(())
/// ```
#[derive(Clone)]
pub struct Clock {
    number: usize,
    read: Arc<dyn Fn() -> i64 + Send + Sync>,
}

impl Clock {
    /// Makes a clock of a function that returns the time, Unix ms.
    pub fn new(read: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        static CLOCKS: AtomicUsize = AtomicUsize::new(0);
        Self { number: CLOCKS.fetch_add(1, Ordering::Relaxed), read: Arc::new(read) }
    }

    /// Reads the clock, Unix ms.
    pub fn now_ms(&self) -> i64 {
        (self.read)()
    }

    pub(crate) const fn id(&self) -> ClockId {
        ClockId(self.number)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({})", self.number)
    }
}

/// The host of one call: the caller's clock, or else the system's. A pause puts the thread to sleep.
pub(crate) struct CallHost<'a> {
    clock: Option<&'a Clock>,
    system: SystemHost,
}

impl<'a> CallHost<'a> {
    pub(crate) const fn new(clock: Option<&'a Clock>) -> Self {
        Self { clock, system: SystemHost::new() }
    }
}

impl Host for CallHost<'_> {
    type Error = Error;

    #[inline]
    fn now_ms(&mut self) -> Result<i64, Error> {
        match self.clock {
            None => self.system.now_ms(),
            Some(clock) => Ok(clock.now_ms()),
        }
    }

    fn pause(&mut self, ms: u64) -> Result<(), Error> {
        self.system.pause(ms)
    }

    fn paused_ms(&mut self) -> u64 {
        self.system.paused_ms()
    }
}
