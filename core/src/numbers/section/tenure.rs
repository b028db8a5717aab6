//! How long the holder of a section may hand out numbers, and how long a successor waits.
//!
//! The versions of records already keep numbers unique. These rules make the numbers of each user increase while
//! sections change hands. They assume clocks that neither step nor stop while a machine sleeps, such as
//! `CLOCK_BOOTTIME`, and that no clock runs a third faster than another. The clocks need not agree.

use crate::mutant;
use crate::store::Version;

/// The holder's side: the time since when it certainly has the section.
///
/// A successor sees a renewal only after the holder has sent it, and then waits a whole window. So the holder is alone
/// for three quarters of a window; the last quarter makes up for clocks that differ in speed. The holder reads the time
/// after a user's request has arrived. If a successor began before the reply leaves, it began while the request was
/// open, so the order of their two numbers does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tenure {
    sent_ms: Option<u64>,
    window_ms: u64,
}

impl Tenure {
    /// Makes the tenure of a holder with windows of this length, in ms. `sent_ms` is the time when the last successful
    /// renewal was sent, `None` if it is not known.
    pub const fn new(sent_ms: Option<u64>, window_ms: u64) -> Self {
        Self { sent_ms, window_ms }
    }

    /// Returns whether a number may be handed out for a request that arrived before `now_ms`: while less than 3/4 of a
    /// window has passed.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::section::Tenure;
    /// let tenure = Tenure::new(Some(0), 10_000);
    /// assert!(tenure.holds(7499) && !tenure.holds(7500));
    /// ```
    pub fn holds(&self, now_ms: u64) -> bool {
        let part_ms = self.window_ms - self.window_ms.div_ceil(4);
        mutant::removes("tenure") || self.sent_ms.is_some_and(|sent_ms| now_ms.saturating_sub(sent_ms) < part_ms)
    }

    /// Returns whether it is time to renew: after half a window, busy or idle.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::section::Tenure;
    /// let tenure = Tenure::new(Some(0), 10_000);
    /// assert!(!tenure.is_due(4999) && tenure.is_due(5000));
    /// ```
    pub fn is_due(&self, now_ms: u64) -> bool {
        self.sent_ms.is_none_or(|sent_ms| now_ms.saturating_sub(sent_ms) >= self.window_ms / 2)
    }
}

/// The successor's side: the version that it saw, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    seen: Option<(Version, u64)>,
}

impl Watch {
    /// Makes a watch that has seen no version.
    pub const fn new() -> Self {
        Self { seen: None }
    }

    /// Notes the version of a record that was read at `now_ms` or before. Returns the ms until the section can be taken
    /// over by replacing that version, 0 for now.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::section::Watch;
    /// let mut watch = Watch::new();
    /// assert_eq!(watch.see(7, 10_000, 0), 10_000);
    /// assert_eq!(watch.see(7, 10_000, 9000), 1000);
    /// // The holder has written: the wait starts again.
    /// assert_eq!(watch.see(8, 10_000, 9500), 10_000);
    /// ```
    pub const fn see(&mut self, version: Version, window_ms: u64, now_ms: u64) -> u64 {
        match self.seen {
            Some((seen, since_ms)) if seen == version => window_ms.saturating_sub(now_ms.saturating_sub(since_ms)),
            _ => {
                self.seen = Some((version, now_ms));
                window_ms
            }
        }
    }
}

impl Default for Watch {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_renews_at_half_and_stops_before_three_quarters() {
        let tenure = Tenure::new(Some(500), 1000);
        assert_eq!([500, 1249, 1250].map(|now_ms| tenure.holds(now_ms)), [true, true, false]);
        assert_eq!([500, 999, 1000].map(|now_ms| tenure.is_due(now_ms)), [false, false, true]);
        let unknown = Tenure::new(None, 1000);
        assert!(!unknown.holds(0) && unknown.is_due(0));
        assert!(!Tenure::new(Some(0), 0).holds(0));
        assert!(Tenure::new(Some(0), u64::MAX).holds(u64::MAX / 4 * 3 - 1));
    }

    #[test]
    fn a_successor_waits_until_a_record_is_unchanged_for_a_window() {
        let mut watch = Watch::new();
        assert_eq!(watch.see(7, 1000, 500), 1000);
        assert_eq!(watch.see(7, 1000, 1499), 1);
        assert_eq!(watch.see(8, 1000, 1500), 1000, "a renewal");
        assert_eq!(watch.see(8, 1000, 2500), 0);
        assert_eq!(watch.see(7, 1000, 2500), 1000, "the store was restored");
    }
}
