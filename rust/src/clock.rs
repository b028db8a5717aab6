//! Clocks of the caller.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use snowmint_core::Host;
use snowmint_stores::Error;

use crate::generator::system::SystemHost;
use crate::lease::key::ClockId;
use crate::lease::registry::forget_clock;

/// A clock of the caller, in place of the system's.
///
/// Two generators of a layout and node share one state only if they have the same clock: this value or a clone of it. The
/// state is kept as long as the clock: until its last clone is dropped.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicI64, Ordering};
/// use snowmint::{Clock, Options, Snowflake, layouts::TWITTER};
///
/// let now_ms = Arc::new(AtomicI64::new(1_700_000_000_000));
/// let clock = Clock::new({
///     let now_ms = Arc::clone(&now_ms);
///     move || now_ms.load(Ordering::Relaxed)
/// });
/// let generator = Snowflake::with(&TWITTER, 5, Options::DEFAULT, clock)?;
/// assert_eq!(TWITTER.decode(generator.next_id()?)?.timestamp_ms, 1_700_000_000_000);
/// now_ms.store(1_700_000_000_001, Ordering::Relaxed);
/// assert_eq!(TWITTER.decode(generator.next_id()?)?.timestamp_ms, 1_700_000_000_001);
/// # Ok::<(), snowmint::Error>(())
/// ```
#[derive(Clone)]
pub struct Clock(Arc<Numbered<dyn Fn() -> i64 + Send + Sync>>);

/// A function with the number of its clock.
struct Numbered<F: ?Sized> {
    id: ClockId,
    read: F,
}

impl<F: ?Sized> Drop for Numbered<F> {
    fn drop(&mut self) {
        forget_clock(self.id);
    }
}

impl Clock {
    /// Makes a clock of a function that returns the time, Unix ms.
    ///
    /// # Examples
    /// ```
    /// use std::time::UNIX_EPOCH;
    /// use snowmint::Clock;
    /// let clock = Clock::new(|| UNIX_EPOCH.elapsed().map_or(0, |since| since.as_millis() as i64));
    /// assert!(clock.now_ms() > 1_600_000_000_000);
    /// ```
    pub fn new(read: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        static CLOCKS: AtomicUsize = AtomicUsize::new(0);
        Self(Arc::new(Numbered { id: ClockId(CLOCKS.fetch_add(1, Ordering::Relaxed)), read }))
    }

    /// Reads the clock, Unix ms.
    ///
    /// # Examples
    /// ```
    /// use snowmint::Clock;
    /// assert_eq!(Clock::new(|| 1_700_000_000_000).now_ms(), 1_700_000_000_000);
    /// ```
    pub fn now_ms(&self) -> i64 {
        (self.0.read)()
    }

    pub(crate) fn id(&self) -> ClockId {
        self.0.id
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({})", self.0.id.0)
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

#[cfg(test)]
mod tests {
    use snowmint_core::Options;
    use snowmint_core::layouts::TWITTER;

    use super::*;
    use crate::generator::ProcessGenerator;
    use crate::lease::registry::registry;

    #[test]
    fn a_state_lives_as_long_as_its_clock() {
        let clock = Clock::new(|| 1_767_225_600_000);
        let next = |clock: &Clock| {
            let generator = ProcessGenerator::vouched(&TWITTER, 5, Options::DEFAULT, Some(clock.id())).expect("a node");
            generator.try_next_id(clock.now_ms()).expect("an ID")
        };
        let first = next(&clock);
        assert_eq!(next(&clock.clone()), first + 1);
        let id = clock.id();
        assert_eq!(registry().states_of(id), 1);
        drop(clock);
        assert_eq!(registry().states_of(id), 0);
    }
}
