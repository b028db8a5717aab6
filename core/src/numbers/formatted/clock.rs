//! The clock of a store, read once a minute.

use super::time_ms;
use crate::lease::lessor_ahead_us;

/// How long an answer of the store counts, in µs. A period is a day at least, and a clock that is off by 0.01 % drifts 6 ms in this
/// time. To read the clock for each number would double the requests.
const FRESH_US: i64 = 60_000_000;

/// The clock of a store, as its last answer showed it. Times in µs come from a clock that never steps.
///
/// # Examples
/// ```
/// use snowmint_core::formatted::StoreClock;
/// let mut clock = StoreClock::default();
/// assert!(clock.is_stale(0), "the store was not asked yet");
/// clock.heed(Some(5000), 1_000_000, 1_000_000);
/// assert_eq!(clock.time_ms(9000, 1_002_000), 5002, "this machine's clock is ahead");
/// assert_eq!(clock.time_ms(4000, 1_002_000), 4000);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct StoreClock {
    /// How far the store's clock is ahead. `None` without an answer, and if the store has no clock.
    ahead_us: Option<i64>,
    /// Until this time the last answer counts. `None` without an answer.
    fresh_until_us: Option<i64>,
}

impl StoreClock {
    /// Returns whether the clock should be read.
    pub fn is_stale(&self, now_us: i64) -> bool {
        self.fresh_until_us.is_none_or(|until_us| now_us >= until_us)
    }

    /// Returns whether the store has answered.
    pub const fn is_known(&self) -> bool {
        self.fresh_until_us.is_some()
    }

    /// Takes an answer of the store: Unix ms, or `None` if it has no clock.
    pub fn heed(&mut self, clock_ms: Option<i64>, sent_us: i64, heard_us: i64) {
        self.ahead_us = clock_ms.map(|clock_ms| lessor_ahead_us(self.ahead_us, clock_ms, sent_us, heard_us));
        self.fresh_until_us = Some(heard_us.saturating_add(FRESH_US));
    }

    /// Returns the time that a text shows, in Unix ms: see [`time_ms`]. `own_ms` is the time of this machine's clock.
    pub fn time_ms(&self, own_ms: i64, now_us: i64) -> i64 {
        time_ms(own_ms, self.now_ms(now_us))
    }

    /// Returns the store's time, in Unix ms. `None` if it has no clock.
    fn now_ms(&self, now_us: i64) -> Option<i64> {
        self.ahead_us.map(|ahead_us| now_us.saturating_add(ahead_us).div_euclid(1000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_read_once_a_minute_and_runs_between() {
        let mut clock = StoreClock::default();
        assert!(clock.is_stale(0) && !clock.is_known());
        clock.heed(Some(5000), 1_000_000, 1_000_000);
        assert!(clock.is_known() && !clock.is_stale(1_000_000 + FRESH_US - 1) && clock.is_stale(1_000_000 + FRESH_US));
        assert_eq!([1_000_000, 1_002_000, 61_000_000].map(|us| clock.now_ms(us)), [5000, 5002, 65_000].map(Some));
        // The operator has corrected the store's clock.
        clock.heed(Some(1000), 61_000_000, 61_000_000);
        assert_eq!(clock.now_ms(61_001_000), Some(1001));
    }

    #[test]
    fn a_store_without_a_clock_is_asked_once_a_minute_too() {
        let mut clock = StoreClock::default();
        clock.heed(None, 5, 6);
        assert_eq!((clock.now_ms(7), clock.is_stale(7), clock.is_stale(6 + FRESH_US)), (None, false, true));
    }
}
