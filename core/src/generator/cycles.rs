//! A clock that a counter of cycles replaces until the ms ends: to read a counter costs a third of reading a clock.
//!
//! The host passes what it reads, as to every machine of core. A wrong counter can only make a time late, by at most
//! one ms as it counts. It never makes IDs repeat: window and sequence do not depend on the clock.

/// The ms that a clock has shown, and the values of the counter for which it still holds.
///
/// # Examples
/// ```
/// use snowmint_core::CycleClock;
/// let mut clock = CycleClock::new();
/// // Two measurements that agree: a counter of 2 million cycles a ms.
/// clock.learn([0, 9], 0);
/// clock.learn([80_000_000, 80_000_009], 40_000_000);
/// clock.learn([160_000_000, 160_000_009], 80_000_000);
/// // The clock shows 5 ms and a quarter of the next one.
/// clock.show(160_000_000, 5, 250_000);
/// assert_eq!((clock.unix_ms(161_000_000), clock.unix_ms(161_600_000)), (Some(5), None));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CycleClock {
    unix_ms: i64,
    /// The counter when the ms ends, a little early.
    end: u64,
    /// The counter at the last call.
    seen: u64,
    /// Cycles of a ms; 0 while they are not known.
    per_ms: u64,
    measured: Measured,
    /// The clock's time when the last measurement was due.
    learnt_ms: i64,
}

/// The counter at an instant, and how many cycles of a ms the last measurement has found.
#[derive(Clone, Copy, Debug)]
struct Measured {
    counter: u64,
    monotonic_ns: u64,
    per_ms: u64,
}

/// How long a measurement takes at least.
const MIN_MEASUREMENT_NS: u64 = 20_000_000;
/// Counters from 1 MHz to 10 GHz are used, in cycles a ms.
const PLAUSIBLE_CYCLES_PER_MS: core::ops::RangeInclusive<u64> = 1_000..=10_000_000;
/// By the counter a ms ends 1/64 early, since a measurement is not exact.
const MARGIN_PART: u64 = 64;

impl CycleClock {
    /// Makes a clock that shows nothing yet.
    pub const fn new() -> Self {
        let measured = Measured { counter: 0, monotonic_ns: 0, per_ms: 0 };
        Self { unix_ms: 0, end: 0, seen: 0, per_ms: 0, measured, learnt_ms: 0 }
    }

    /// Returns the ms that the clock has shown, if the counter shows that this ms has not ended.
    #[inline]
    pub const fn unix_ms(&mut self, counter: u64) -> Option<i64> {
        let since = counter.wrapping_sub(self.seen);
        self.seen = counter;
        // A counter that stands still, or jumps by a ms or more, in either direction, fails one of the two comparisons.
        let holds = since.wrapping_sub(1) < self.per_ms && self.end.wrapping_sub(counter) < self.per_ms;
        if holds { Some(self.unix_ms) } else { None }
    }

    /// Takes what the clock shows: the ms, and how much of it has passed. The counter was read before the clock. Returns
    /// whether it is time to [`learn`](Self::learn).
    pub const fn show(&mut self, counter: u64, unix_ms: i64, passed_ns: u64) -> bool {
        let left_ns = 1_000_000_u64.saturating_sub(passed_ns);
        self.unix_ms = unix_ms;
        self.seen = counter;
        self.end = counter.wrapping_add((self.per_ms - self.per_ms / MARGIN_PART) * left_ns / 1_000_000);
        let due = unix_ms.abs_diff(self.learnt_ms) >= MIN_MEASUREMENT_NS / 1_000_000;
        if due {
            self.learnt_ms = unix_ms;
        }
        due
    }

    /// Learns how fast the counter is, from a clock that no one sets: the counter before and after that clock was read.
    ///
    /// Two measurements in a row have to agree within 0.2 %. A reading that was interrupted is left out.
    pub fn learn(&mut self, [counter, after]: [u64; 2], monotonic_ns: u64) {
        let Measured { counter: before, monotonic_ns: before_ns, per_ms: expected } = self.measured;
        let (cycles, ns) = (counter.saturating_sub(before), monotonic_ns.saturating_sub(before_ns));
        let interrupted = cycles > 0 && after.wrapping_sub(counter) > cycles / 1000;
        if before != 0 && (ns < MIN_MEASUREMENT_NS || interrupted) {
            return;
        }
        let found = u64::try_from(u128::from(cycles) * 1_000_000 / u128::from(ns.max(1))).unwrap_or(0);
        let agrees = PLAUSIBLE_CYCLES_PER_MS.contains(&found) && found.abs_diff(expected) < found / 500;
        self.per_ms = if agrees { found } else { 0 };
        self.measured = Measured { counter, monotonic_ns, per_ms: found };
    }
}

impl Default for CycleClock {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PER_MS: u64 = 2_000_000;

    /// A clock that has learnt its counter by `counter`, and shows ms 7, just begun.
    fn shown(counter: u64) -> CycleClock {
        let mut clock = CycleClock::new();
        for back in [2, 1, 0] {
            let at = counter - back * 40 * PER_MS;
            clock.learn([at, at + 50], 1_000_000_000 - back * 40_000_000);
        }
        clock.show(counter, 7, 0);
        clock
    }

    const START: u64 = 1 << 40;

    #[test]
    fn a_ms_holds_until_shortly_before_its_end() {
        let mut clock = shown(START);
        assert_eq!(clock.unix_ms(START + 1), Some(7));
        assert_eq!(clock.unix_ms(START + PER_MS / 2), Some(7));
        assert_eq!(clock.unix_ms(START + PER_MS - PER_MS / MARGIN_PART), Some(7));
        assert_eq!(clock.unix_ms(START + PER_MS - PER_MS / MARGIN_PART + 1), None);
        clock.show(START + PER_MS / 2, 8, 500_000);
        assert_eq!(clock.unix_ms(START + PER_MS), None, "half a ms is left");
    }

    #[test]
    fn a_stopped_counter_gives_no_time() {
        let mut clock = shown(START);
        assert_eq!(clock.unix_ms(START), None);
        assert_eq!(clock.unix_ms(START + 5), Some(7));
        assert_eq!(clock.unix_ms(START + 5), None);
    }

    #[test]
    fn a_counter_that_jumps_gives_no_time() {
        for to in [0, 1, START - PER_MS, START - 1, START + PER_MS, START + 1000 * PER_MS, u64::MAX] {
            assert_eq!(shown(START).unix_ms(to), None, "{to}");
        }
        // It goes back again and again, and the ms does not last longer for it.
        let mut clock = shown(START);
        assert_eq!(clock.unix_ms(START + 1000), Some(7));
        assert_eq!(clock.unix_ms(START + 500), None);
    }

    #[test]
    fn a_counter_is_used_once_two_measurements_agree() {
        let mut clock = CycleClock::new();
        let mut is_used_after = |counter, ms: u64| {
            clock.learn([counter, counter + 50], ms * 1_000_000);
            clock.show(counter, 7, 0);
            clock.unix_ms(counter + 1).is_some()
        };
        assert!(!is_used_after(START, 1000));
        assert!(!is_used_after(START + 10 * PER_MS, 1010), "too soon to measure");
        assert!(!is_used_after(START + 40 * PER_MS, 1040), "one measurement");
        assert!(is_used_after(START + 80 * PER_MS, 1080));
        assert!(!is_used_after(START + 130 * PER_MS, 1120), "a quarter faster");
        assert!(!is_used_after(START + 130 * PER_MS, 1160), "it stands still");
        assert!(!is_used_after(START + 170 * PER_MS, 1200));
        assert!(is_used_after(START + 210 * PER_MS, 1240));
        assert!(!is_used_after(0, 1280), "it has begun anew");
    }

    #[test]
    fn a_measurement_that_was_interrupted_changes_nothing() {
        let mut clock = shown(START);
        let at = START + 100 * PER_MS;
        clock.learn([at, at + PER_MS], 1_200_000_000);
        clock.show(at, 8, 0);
        assert_eq!(clock.unix_ms(at + 1), Some(8));
    }
}
