//! Versions 1 and 6: 100 ns since the Gregorian reform, a clock sequence and a node.

use super::Uuid;
use crate::error::{Error, What};
use crate::forms::name::Name;

/// Intervals of 100 ns from 1582-10-15, the epoch of versions 1 and 6, to 1970 (RFC 9562, section 5.1).
pub(super) const TO_1970: i64 = 0x01b2_1dd2_1381_4000;
/// The last interval that fits 60 bits, in the year 5236.
const LAST_TIME: i64 = (1 << 60) - 1;
const MAX_NODE: u64 = (1 << 48) - 1;
const MAX_CLOCK_SEQUENCE: u16 = (1 << 14) - 1;
/// The multicast bit of a node, which is 0 in the address of every network card (section 6.10).
const MULTICAST: u64 = 1 << 40;

/// The content of a version 1 or 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GregorianStamp {
    /// The time: 100 ns since 1582-10-15, 60 bits.
    pub time: u64,
    /// The clock sequence, 14 bits.
    pub clock_sequence: u16,
    /// The node, 48 bits.
    pub node: u64,
}

impl GregorianStamp {
    /// Makes a version 1 (RFC 9562, section 5.1), which starts with the low bits of the time.
    ///
    /// # Errors
    /// `InvalidId`, if a part does not fit.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::uuid::GregorianStamp;
    /// // Appendix A.1 of RFC 9562.
    /// let stamp = GregorianStamp { time: 0x1ec_9414_c232_ab00, clock_sequence: 0x33c8, node: 0x9f6b_dece_d846 };
    /// assert_eq!(stamp.v1()?.to_string(), "c232ab00-9414-11ec-b3c8-9f6bdeced846");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn v1(self) -> Result<Uuid, Error> {
        let rest = self.rest()?;
        let (low, middle, high) = (self.time & 0xffff_ffff, self.time >> 32 & 0xffff, self.time >> 48);
        Ok(Uuid::versioned(u128::from(low << 32 | middle << 16 | high) << 64 | rest, 1))
    }

    /// Makes a version 6 (section 5.6), which has the bits of the time in order.
    ///
    /// # Errors
    /// `InvalidId`, if a part does not fit.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::uuid::GregorianStamp;
    /// // Appendix A.5 of RFC 9562.
    /// let stamp = GregorianStamp { time: 0x1ec_9414_c232_ab00, clock_sequence: 0x33c8, node: 0x9f6b_dece_d846 };
    /// assert_eq!(stamp.v6()?.to_string(), "1ec9414c-232a-6b00-b3c8-9f6bdeced846");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn v6(self) -> Result<Uuid, Error> {
        let rest = self.rest()?;
        let (high, low) = (self.time >> 12, self.time & 0xfff);
        Ok(Uuid::versioned(u128::from(high << 16 | low) << 64 | rest, 6))
    }

    fn rest(self) -> Result<u128, Error> {
        if self.time > LAST_TIME.cast_unsigned() {
            return Err(Name::cut(b"time").refused(What::IdField, 60));
        }
        if self.clock_sequence > MAX_CLOCK_SEQUENCE {
            return Err(Name::cut(b"clock_seq").refused(What::IdField, 14));
        }
        if self.node > MAX_NODE {
            return Err(Name::cut(b"node").refused(What::IdField, 48));
        }
        Ok(u128::from(self.clock_sequence) << 48 | u128::from(self.node))
    }
}

/// The state of a process that mints versions 1 and 6: the last time, and a random node and clock sequence.
///
/// The time is the clock's time or one interval after the last time, whichever is later. So no time repeats and
/// versions 6 increase, even if the clock is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GregorianState(Option<GregorianStamp>);

impl GregorianState {
    /// Makes the state of a process that has minted nothing.
    pub const fn new() -> Self {
        Self(None)
    }

    /// Returns the next stamp at the time `now_100ns` (100 ns since 1970). `random` returns 32 random bits. It is
    /// called twice for the first stamp, and never later.
    ///
    /// # Errors
    /// `BeforeEpoch`, if the clock is before 1582 and this is the first stamp; `TimeOverflow` after the year 5236. A
    /// refused call changes nothing.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::uuid::GregorianState;
    /// let mut state = GregorianState::new();
    /// let first = state.next(16_455_577_420_000_000, || 7)?.v6()?;
    /// // The clock has gone back, and versions 6 still increase.
    /// assert!(state.next(0, || 7)?.v6()? > first);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn next(&mut self, now_100ns: i64, mut random: impl FnMut() -> u32) -> Result<GregorianStamp, Error> {
        let since_1582 = now_100ns.saturating_add(TO_1970);
        let earliest = self.0.map_or(0, |last| last.time.cast_signed() + 1);
        if self.0.is_none() && since_1582 < 0 {
            return Err(Error::before_epoch(now_100ns.div_euclid(10_000), -TO_1970 / 10_000));
        }
        let time = since_1582.max(earliest);
        if time > LAST_TIME {
            return Err(Error::time_overflow((time - TO_1970) / 10_000, (LAST_TIME - TO_1970) / 10_000));
        }
        let mut stamp = self.0.unwrap_or_else(|| {
            let (low, high) = (u64::from(random()), u64::from(random()));
            let node = (high & 0xffff) << 32 | low | MULTICAST;
            GregorianStamp { time: 0, clock_sequence: (high >> 16) as u16 & MAX_CLOCK_SEQUENCE, node }
        });
        stamp.time = time.cast_unsigned();
        self.0 = Some(stamp);
        Ok(stamp)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::ErrorKind;

    /// Returns the state after the first stamp at this time.
    fn begun(now_100ns: i64) -> GregorianState {
        let mut state = GregorianState::new();
        state.next(now_100ns, || 0x8123_4567).expect("a stamp");
        state
    }

    #[test]
    fn the_node_is_random_and_not_a_card_address() {
        for random in [0, u32::MAX, 0x8123_4567] {
            let stamp = GregorianState::new().next(0, || random).expect("1970");
            assert_eq!(stamp.node >> 40 & 1, 1);
            assert_eq!(stamp.node | MULTICAST, (u64::from(random) << 32 | u64::from(random)) & MAX_NODE | MULTICAST);
            assert!(stamp.clock_sequence <= MAX_CLOCK_SEQUENCE);
        }
    }

    #[test]
    fn stamps_increase_while_the_clock_stands_still_or_steps_back() {
        let mut state = begun(5);
        for (now_100ns, time) in [(5, 6), (-1_000_000, 7), (i64::MIN, 8), (8, 9), (100, 100), (100, 101)] {
            let stamp = state.next(now_100ns, || unreachable!("the node stays")).expect("in range");
            assert_eq!(stamp.time.cast_signed() - TO_1970, time);
        }
    }

    #[test]
    fn times_out_of_range_are_refused() {
        let refused = |state: &mut GregorianState, now_100ns| {
            let before = *state;
            let kind = state.next(now_100ns, || 0).expect_err("out of range").kind();
            assert_eq!(*state, before, "a refused call changes nothing");
            kind
        };
        assert_eq!(refused(&mut GregorianState::new(), -TO_1970 - 1), ErrorKind::BeforeEpoch);
        assert_eq!(refused(&mut GregorianState::new(), i64::MAX), ErrorKind::TimeOverflow);
        let mut last = begun(LAST_TIME - TO_1970);
        assert_eq!(refused(&mut last, 0), ErrorKind::TimeOverflow);
        assert_eq!(begun(-TO_1970).0.map(|stamp| stamp.time), Some(0));
    }
}
