//! The clock of a service, told here between its answers.

use std::sync::atomic::{AtomicI64, Ordering};

use crate::steady::steady_us;

/// A service's clock as far as its answers tell it, carried on by this machine's steady clock: steps of the wall clock do
/// not matter, and time asleep counts on Linux.
#[derive(Debug)]
pub(crate) struct ServiceClock(
    /// How many µs the service's clock is ahead of the steady one.
    AtomicI64,
);

impl ServiceClock {
    /// By a first answer: what the service's clock read (Unix ms), at some time between the question and now.
    pub(crate) fn new(told_ms: i64, asked: Since) -> Self {
        Self(AtomicI64::new(ahead_us(None, told_ms, asked.0, steady_us())))
    }

    /// Takes in another answer.
    pub(crate) fn heed(&self, told_ms: i64, asked: Since) {
        let before = self.0.load(Ordering::Relaxed);
        self.0.store(ahead_us(Some(before), told_ms, asked.0, steady_us()), Ordering::Relaxed);
    }

    /// The service's time, Unix ms: never ahead of it by more than the time that an answer took, and by less than 1 ms.
    #[inline]
    pub(crate) fn now_ms(&self) -> i64 {
        steady_us().saturating_add(self.0.load(Ordering::Relaxed)).div_euclid(1000)
    }
}

/// When a question was asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Since(i64);

impl Since {
    pub(crate) fn now() -> Self {
        Self(steady_us())
    }
}

/// How far the service is ahead: as before, where the answer allows that, or else as near to it as the answer allows.
///
/// At first it is the least that can be: the answer was on its way for no time at all.
fn ahead_us(before_us: Option<i64>, told_ms: i64, asked_us: i64, heard_us: i64) -> i64 {
    let told_us = told_ms.saturating_mul(1000);
    let (least, most) = (told_us.saturating_sub(heard_us), told_us.saturating_add(999).saturating_sub(asked_us));
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
        for told_ms in [i64::MIN, i64::MAX] {
            let clock = ServiceClock::new(told_ms, Since::now());
            clock.heed(-told_ms.saturating_add(1), Since::now());
            clock.now_ms();
        }
    }

    #[test]
    fn it_reads_what_was_told_and_goes_on_from_there() {
        let clock = ServiceClock::new(1_000_000, Since::now());
        let first = clock.now_ms();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let second = clock.now_ms();
        assert!(first >= 1_000_000 && second >= first + 20, "{first} {second}");
    }
}
