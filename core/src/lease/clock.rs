//! The clock of a lessor, which the holders of its leases read.

/// Returns how far a lessor's clock is ahead of this machine's monotonic clock, in µs.
///
/// A lessor's answer shows its clock, `clock_ms` (Unix ms), at some time from `sent_us` to `heard_us`, when this machine's
/// monotonic clock showed these µs. The difference stays `before_us`, if the answer allows it, so that slow answers do not
/// move the clock; otherwise it becomes the nearest value that the answer allows. The first time it is the least value.
///
/// # Examples
/// ```
/// use snowmint_core::lease::lessor_ahead_us;
/// let first = lessor_ahead_us(None, 5000, 1_000_000, 1_300_000);
/// assert_eq!(first, 3_700_000);
/// // The next answer allows 3.6 s to 4.000999 s.
/// assert_eq!(lessor_ahead_us(Some(first), 6000, 2_000_000, 2_400_000), first);
/// ```
pub fn lessor_ahead_us(before_us: Option<i64>, clock_ms: i64, sent_us: i64, heard_us: i64) -> i64 {
    let clock_us = clock_ms.saturating_mul(1000);
    let (least, most) = (clock_us.saturating_sub(heard_us), clock_us.saturating_add(999).saturating_sub(sent_us));
    before_us.map_or(least, |before| before.max(least).min(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_answer_counts_as_an_answer_without_delay() {
        assert_eq!(lessor_ahead_us(None, 5000, 1_000_000, 1_300_000), 3_700_000);
    }

    #[test]
    fn a_later_answer_moves_the_clock_only_as_far_as_needed() {
        // Sent at 2.0 s, heard at 2.4 s: the lessor is 3.6 to 4.0 s ahead, plus the rest of its ms.
        let after = |before| lessor_ahead_us(Some(before), 6000, 2_000_000, 2_400_000);
        assert_eq!(after(3_700_000), 3_700_000);
        assert_eq!(after(4_000_999), 4_000_999);
        assert_eq!(after(3_000_000), 3_600_000);
        assert_eq!(after(9_000_000), 4_000_999);
    }

    #[test]
    fn an_answer_at_the_end_of_64_bits_does_not_overflow() {
        for clock_ms in [i64::MIN, i64::MAX] {
            let first = lessor_ahead_us(None, clock_ms, 1, 2);
            lessor_ahead_us(Some(first), -clock_ms.saturating_add(1), i64::MAX, i64::MIN);
        }
    }
}
