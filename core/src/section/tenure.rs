//! How long a holder may go on, and how long a successor has to wait.
//!
//! Neither is needed for numbers to be unique, which the versions of records see to, but for those of a user to increase
//! while sections change hands. It assumes clocks that neither step nor stop while a machine sleeps, such as
//! `CLOCK_BOOTTIME`, and of which none runs a third faster than another. They need not agree.

use crate::mutant;
use crate::store::Version;

/// The holder's side: since when it has the section for certain.
///
/// A holder sends a renewal at a time by its clock. A successor cannot have seen that renewal before it was sent, and
/// then waits for a whole window; so for three quarters of one the holder is alone, and a quarter makes up for clocks
/// that differ in speed. The time to compare is read after a request has arrived: if there is a successor when the
/// answer leaves, then it began while the request was there, and the two were in no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tenure {
    sent_ms: Option<u64>,
    window_ms: u64,
}

impl Tenure {
    /// Of windows of this length, in ms; `sent_ms` is when the renewal was sent that came last of those known to be done,
    /// `None` if that is not known.
    pub const fn new(sent_ms: Option<u64>, window_ms: u64) -> Self {
        Self { sent_ms, window_ms }
    }

    /// Whether a number may be handed out for a request that arrived before `now_ms`: less than 3/4 of a window passed.
    pub fn holds(&self, now_ms: u64) -> bool {
        let part_ms = self.window_ms - self.window_ms.div_ceil(4);
        mutant::removes("tenure") || self.sent_ms.is_some_and(|sent_ms| now_ms.saturating_sub(sent_ms) < part_ms)
    }

    /// Whether it is time to renew, busy or idle: half a window passed.
    pub fn is_due(&self, now_ms: u64) -> bool {
        self.sent_ms.is_none_or(|sent_ms| now_ms.saturating_sub(sent_ms) >= self.window_ms / 2)
    }
}

/// The successor's side: which version it saw, since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    seen: Option<(Version, u64)>,
}

impl Watch {
    /// Nothing is seen yet.
    pub const fn new() -> Self {
        Self { seen: None }
    }

    /// Takes in the version that a record had when it was read, at `now_ms` or before; in how many ms it can be taken
    /// over in its place, 0 for now.
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
    fn a_holder_goes_on_for_less_than_three_quarters_and_renews_at_half() {
        let tenure = Tenure::new(Some(500), 1000);
        assert_eq!([500, 1249, 1250].map(|now_ms| tenure.holds(now_ms)), [true, true, false]);
        assert_eq!([500, 999, 1000].map(|now_ms| tenure.is_due(now_ms)), [false, false, true]);
        let unknown = Tenure::new(None, 1000);
        assert!(!unknown.holds(0) && unknown.is_due(0));
        assert!(!Tenure::new(Some(0), 0).holds(0));
        assert!(Tenure::new(Some(0), u64::MAX).holds(u64::MAX / 4 * 3 - 1));
    }

    #[test]
    fn a_successor_sees_the_record_unchanged_for_a_whole_window() {
        let mut watch = Watch::new();
        assert_eq!(watch.see(7, 1000, 500), 1000);
        assert_eq!(watch.see(7, 1000, 1499), 1);
        assert_eq!(watch.see(8, 1000, 1500), 1000, "a renewal");
        assert_eq!(watch.see(8, 1000, 2500), 0);
        assert_eq!(watch.see(7, 1000, 2500), 1000, "the store was restored");
    }
}
