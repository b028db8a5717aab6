//! The clock of a lessor between its answers.

use std::sync::atomic::{AtomicI64, Ordering};

use snowmint_stores::process::monotonic::monotonic_us;

/// The clock of a lessor: its last answers, continued by this machine's monotonic clock. Steps of the wall clock do not
/// matter, and time asleep counts on Linux.
#[derive(Debug)]
pub(crate) struct LessorClock(
    /// How far the lessor's clock is ahead of the monotonic one, in µs.
    AtomicI64,
);

impl LessorClock {
    /// Starts with a first answer: the lessor's clock (Unix ms) at some time between the request and now.
    pub(crate) fn new(clock_ms: i64, sent: Sent) -> Self {
        Self(AtomicI64::new(ahead_us(None, clock_ms, sent.0, monotonic_us())))
    }

    /// Corrects the clock by another answer.
    pub(crate) fn heed(&self, clock_ms: i64, sent: Sent) {
        let before = self.0.load(Ordering::Relaxed);
        self.0.store(ahead_us(Some(before), clock_ms, sent.0, monotonic_us()), Ordering::Relaxed);
    }

    /// Returns the lessor's time, Unix ms. The error is at most the time that an answer took, and 1 ms.
    #[inline]
    pub(crate) fn now_ms(&self) -> i64 {
        monotonic_us().saturating_add(self.0.load(Ordering::Relaxed)).div_euclid(1000)
    }
}

/// When a request was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent(i64);

impl Sent {
    pub(crate) fn now() -> Self {
        Self(monotonic_us())
    }
}

/// Returns how far the lessor's clock is ahead: as before where the answer allows it, otherwise the nearest allowed value.
/// At first the least value: the answer took no time.
fn ahead_us(before_us: Option<i64>, clock_ms: i64, sent_us: i64, heard_us: i64) -> i64 {
    let clock_us = clock_ms.saturating_mul(1000);
    let (least, most) = (clock_us.saturating_sub(heard_us), clock_us.saturating_add(999).saturating_sub(sent_us));
    before_us.map_or(least, |before| before.max(least).min(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_answer_is_taken_for_one_that_was_not_on_its_way() {
        assert_eq!(ahead_us(None, 5000, 1_000_000, 1_300_000), 3_700_000);
    }

    #[test]
    fn a_later_answer_moves_the_clock_only_as_far_as_it_has_to() {
        // Asked at 2.0 s, heard at 2.4 s: the service is 3.6 to 4.0 s ahead, and some of the ms that it told.
        let after = |before| ahead_us(Some(before), 6000, 2_000_000, 2_400_000);
        assert_eq!(after(3_700_000), 3_700_000);
        assert_eq!(after(4_000_999), 4_000_999);
        assert_eq!(after(3_000_000), 3_600_000);
        assert_eq!(after(9_000_000), 4_000_999);
    }

    #[test]
    fn no_answer_is_too_far_off_to_be_taken_in() {
        for clock_ms in [i64::MIN, i64::MAX] {
            let clock = LessorClock::new(clock_ms, Sent::now());
            clock.heed(-clock_ms.saturating_add(1), Sent::now());
            clock.now_ms();
        }
    }

    #[test]
    fn it_reads_what_was_told_and_goes_on_from_there() {
        let clock = LessorClock::new(1_000_000, Sent::now());
        let first = clock.now_ms();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let second = clock.now_ms();
        assert!(first >= 1_000_000 && second >= first + 20, "{first} {second}");
    }
}
