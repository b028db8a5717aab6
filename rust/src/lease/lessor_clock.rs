//! The clock of a lessor between its answers.

use std::sync::atomic::{AtomicI64, Ordering};

use snowmint_core::lease::lessor_ahead_us;
use snowmint_stores::host::monotonic::monotonic_us;

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
        Self(AtomicI64::new(lessor_ahead_us(None, clock_ms, sent.0, monotonic_us())))
    }

    /// Corrects the clock by another answer.
    pub(crate) fn heed(&self, clock_ms: i64, sent: Sent) {
        let before = self.0.load(Ordering::Relaxed);
        self.0.store(lessor_ahead_us(Some(before), clock_ms, sent.0, monotonic_us()), Ordering::Relaxed);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_at_the_end_of_64_bits_does_not_overflow() {
        for clock_ms in [i64::MIN, i64::MAX] {
            let clock = LessorClock::new(clock_ms, Sent::now());
            clock.heed(-clock_ms.saturating_add(1), Sent::now());
            clock.now_ms();
        }
    }

    #[test]
    fn it_continues_from_the_lessors_time() {
        let clock = LessorClock::new(1_000_000, Sent::now());
        let first = clock.now_ms();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let second = clock.now_ms();
        assert!(first >= 1_000_000 && second >= first + 20, "{first} {second}");
    }
}
