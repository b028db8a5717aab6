//! Version 7: Unix ms and random bits, and its minting in increasing order.

use core::ops::RangeInclusive;

use super::Uuid;
use crate::error::Error;

/// The last ms that fits 48 bits.
const LAST_MS: i64 = (1 << 48) - 1;

/// The bits of the counter: the 12 after the version, and the 30 after the variant.
const COUNTER_BITS: u32 = 42;
const LAST_COUNT: u64 = (1 << COUNTER_BITS) - 1;

impl Uuid {
    /// Makes a version 7 (section 5.7): Unix ms, then the low 74 bits of `random`.
    ///
    /// # Errors
    /// `BeforeEpoch` or `TimeOverflow`, if the time does not fit 48 bits, which end in the year 10889.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// // Appendix A.6 of RFC 9562.
    /// let uuid = Uuid::v7(1_645_557_742_000, 0xcc3 << 62 | 0x18c4_dc0c_0c07_398f)?;
    /// assert_eq!(uuid.to_string(), "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn v7(unix_ms: i64, random: u128) -> Result<Self, Error> {
        let Ok(ms) = unix_ms_48(unix_ms) else { return Err(misplaced(unix_ms)) };
        let (high, low) = (random >> 62 & 0xfff, random & ((1 << 62) - 1));
        Ok(Self::versioned((ms as u128) << 80 | high << 64 | low, 7))
    }

    /// Returns the lowest and the highest version 7 between two instants (Unix ms), both included: for
    /// `WHERE id BETWEEN ? AND ?` on a key.
    ///
    /// # Errors
    /// `InvalidId`, if `to_ms` is before `from_ms`. Otherwise as [`Uuid::v7`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// let day = Uuid::v7_range(1_645_488_000_000, 1_645_574_399_999)?; // 2022-02-22, UTC
    /// assert_eq!(day.start().to_string(), "017f1eba-4c00-7000-8000-000000000000");
    /// assert!(day.contains(&"017f22e2-79b0-7cc3-98c4-dc0c0c07398f".parse()?));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn v7_range(from_ms: i64, to_ms: i64) -> Result<RangeInclusive<Self>, Error> {
        Error::refuse_reversed(from_ms, to_ms)?;
        Ok(Self::v7(from_ms, 0)?..=Self::v7(to_ms, u128::MAX)?)
    }
}

/// Returns Unix ms in 48 bits.
pub(crate) const fn unix_ms_48(unix_ms: i64) -> Result<u64, Error> {
    match unix_ms {
        0..=LAST_MS => Ok(unix_ms.cast_unsigned()),
        _ => Err(misplaced(unix_ms)),
    }
}

const fn misplaced(unix_ms: i64) -> Error {
    if unix_ms < 0 { Error::before_epoch(unix_ms, 0) } else { Error::time_overflow(unix_ms, LAST_MS) }
}

/// The state of a process that mints version 7 in order: the last ms, and a counter within it.
///
/// ```text
/// bit  127 ... 80   79 ... 76  75 ... 64     63 62  61 ... 32     31 ... 0
///      Unix ms      0111       counter high  10     counter low   random
/// ```
///
/// This is method 1 of RFC 9562, section 6.2: a counter of fixed length, which starts at a random number in each new
/// ms. Its highest bit starts as 0, so every ms has room for 2^41 UUIDs. When the counter is used up, the ms moves on
/// by one. The ms never goes back, also if the clock stands still or steps back. So UUIDs strictly increase with any
/// clock, and after a step back their time runs ahead until the clock has caught up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct V7State(Option<Last>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Last {
    /// Unix ms in 48 bits.
    ms: i64,
    counter: u64,
}

impl V7State {
    /// Makes the state of a process that has minted nothing.
    pub const fn new() -> Self {
        Self(None)
    }

    /// Makes the state of a process whose last UUID was `last`; `None` for another version than 7.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// use snowmint_core::uuid::V7State;
    /// let last = Uuid::v7(1_645_557_742_000, 5)?;
    /// let mut state = V7State::after(last).expect("a version 7");
    /// assert!(state.next(0, || 0)? > last);
    /// assert_eq!(V7State::after(Uuid::NIL), None);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn after(last: Uuid) -> Option<Self> {
        let Some(7) = last.version() else { return None };
        let bits = last.to_bits();
        let counter = (bits >> 64 & 0xfff) << 30 | bits >> 32 & ((1 << 30) - 1);
        Some(Self(Some(Last { ms: (bits >> 80) as i64, counter: counter as u64 })))
    }

    /// Returns the next UUID at the time `now_ms` (Unix ms). `random` returns 32 random bits. It is called once, or
    /// three times in a new ms.
    ///
    /// # Errors
    /// `BeforeEpoch`, if the clock is before 1970 and this is the first UUID; `TimeOverflow`, if the time exceeds 48
    /// bits, in the year 10889. A refused call changes nothing.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::uuid::V7State;
    /// let (mut state, mut random) = (V7State::new(), 0);
    /// let mut next = |now_ms| state.next(now_ms, || { random += 1; random }).map(|uuid| uuid.to_string());
    /// assert_eq!(next(1_645_557_742_000)?, "017f22e2-79b0-7004-8000-000200000003");
    /// // The clock has gone back.
    /// assert_eq!(next(1_645_557_741_999)?, "017f22e2-79b0-7004-8000-000300000004");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    #[inline]
    pub fn next(&mut self, now_ms: i64, mut random: impl FnMut() -> u32) -> Result<Uuid, Error> {
        let next = match self.0 {
            Some(last) if now_ms <= last.ms && last.counter < LAST_COUNT => {
                Last { ms: last.ms, counter: last.counter + 1 }
            }
            last => {
                let ms = last.map_or(now_ms, |last| now_ms.max(last.ms + 1));
                unix_ms_48(ms)?;
                let bits = u64::from(random()) << 32 | u64::from(random());
                Last { ms, counter: bits & (LAST_COUNT >> 1) }
            }
        };
        self.0 = Some(next);
        let (ms, counter) = (next.ms.cast_unsigned(), next.counter);
        let high = ms << 16 | counter >> 30;
        let low = (counter & ((1 << 30) - 1)) << 32 | u64::from(random());
        Ok(Uuid::versioned(u128::from(high) << 64 | u128::from(low), 7))
    }
}

const _: () = assert!(LAST_MS >> 48 == 0);

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::ErrorKind;

    fn at(ms: i64, counter: u64) -> V7State {
        V7State(Some(Last { ms, counter }))
    }

    #[test]
    fn a_used_up_counter_moves_the_time_on() {
        let mut state = at(1000, LAST_COUNT - 1);
        let mut next = |now_ms| state.next(now_ms, || u32::MAX).expect("a UUID");
        let (full, after, later) = (next(1000), next(1000), next(900));
        assert!(full < after && after < later);
        assert_eq!([full, after, later].map(Uuid::timestamp_ms), [1000, 1001, 1001].map(Some));
        // The counter's highest bit starts as 0.
        assert_eq!(after.to_bits() >> 64 & 0xfff, 0x7ff);
    }

    #[test]
    fn the_end_of_time_is_an_error() {
        let mut state = at(LAST_MS, LAST_COUNT);
        assert_eq!(state.next(0, || 0).map_err(|error| error.kind()), Err(ErrorKind::TimeOverflow));
        assert_eq!(state, at(LAST_MS, LAST_COUNT));
        let mut state = at(5, 5);
        assert_eq!(state.next(LAST_MS + 1, || 0).map_err(|error| error.kind()), Err(ErrorKind::TimeOverflow));
        assert_eq!(state, at(5, 5), "a refused call changes nothing");
    }

    #[test]
    fn a_clock_before_1970_is_an_error_only_at_first() {
        assert_eq!(V7State::new().next(-1, || 0).map_err(|error| error.kind()), Err(ErrorKind::BeforeEpoch));
        assert_eq!(at(7, 0).next(i64::MIN, || 0).expect("a UUID").timestamp_ms(), Some(7));
    }
}
