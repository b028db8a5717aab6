//! `ObjectId`s of `MongoDB` (`mongodb/specifications` on GitHub, `source/bson-objectid`): layout, time, text, and the
//! step that mints them.

use core::fmt;
use core::str::FromStr;

use crate::error::{Error, What};
use crate::forms::name::Name;
use crate::forms::text::{IdText, TextForm, hex_text, wide};

/// An `ObjectId` of `MongoDB`: 96 bits.
///
/// ```text
/// bit  95 ... 64     63 ... 24                     23 ... 0
///      Unix seconds  random number of the process  counter from a random start
///                    or, up to 2018:
///                    63 ... 40    39 ... 24
///                    machine      process
/// ```
///
/// `ObjectId`s sort like their texts: by the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(u128);

const RANDOM_BITS: u32 = 40;
const COUNTER_BITS: u32 = 24;
const LAST_COUNT: u32 = (1 << COUNTER_BITS) - 1;

impl ObjectId {
    /// Makes the `ObjectId` with these bytes, in the order of the text.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ObjectId;
    /// let id = ObjectId::from_bytes(*b"twelve bytes");
    /// assert_eq!(id.to_string(), "7477656c7665206279746573");
    /// ```
    pub fn from_bytes(bytes: [u8; 12]) -> Self {
        Self(bytes.into_iter().fold(0, |bits, byte| bits << 8 | u128::from(byte)))
    }

    /// Returns the bytes, in the order of the text.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ObjectId;
    /// let id: ObjectId = "7477656c7665206279746573".parse()?;
    /// assert_eq!(id.to_bytes(), *b"twelve bytes");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn to_bytes(self) -> [u8; 12] {
        let [_, _, _, _, bytes @ ..] = self.0.to_be_bytes();
        bytes
    }

    /// Makes the `ObjectId` of an instant (Unix ms, rounded down to the second), 40 random bits and 24 bits of the
    /// counter.
    ///
    /// # Errors
    /// `BeforeEpoch` or `TimeOverflow`, if the seconds do not fit 32 bits, which end in the year 2106; `InvalidId`, if
    /// another number does not fit.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ObjectId;
    /// let id = ObjectId::from_parts(1_204_578_057_000, 0x34_7506_1e3d, 0x95_369d)?;
    /// assert_eq!(id.to_string(), "47cc67093475061e3d95369d");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn from_parts(unix_ms: i64, random: u64, counter: u32) -> Result<Self, Error> {
        let second = second(unix_ms)?;
        if random >> RANDOM_BITS > 0 {
            return Err(Name::cut(b"random").refused(What::IdField, RANDOM_BITS));
        }
        if counter > LAST_COUNT {
            return Err(Name::cut(b"counter").refused(What::IdField, COUNTER_BITS));
        }
        Ok(Self(u128::from(second) << 64 | u128::from(random) << COUNTER_BITS | u128::from(counter)))
    }

    /// Reads 24 hexadecimal digits, in upper or lower case; `None` for any other text.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ObjectId;
    /// assert_eq!(ObjectId::parse("507F1F77BCF86CD799439011").map(ObjectId::timestamp_ms), Some(1_350_508_407_000));
    /// assert_eq!(ObjectId::parse("507f1f77"), None);
    /// ```
    pub fn parse(digits: impl AsRef<[u8]>) -> Option<Self> {
        let digits = digits.as_ref();
        if digits.len() == 24 { wide(digits, TextForm::Hex, 4).map(Self) } else { None }
    }

    /// Returns the 24 hexadecimal digits, in lower case.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ObjectId;
    /// let id: ObjectId = "507F1F77BCF86CD799439011".parse()?;
    /// assert_eq!(id.text().as_str(), "507f1f77bcf86cd799439011");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn text(self) -> IdText {
        IdText::of(&hex_text(self.0)[8..])
    }

    /// Returns the 96 bits.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ObjectId;
    /// let id: ObjectId = "507f1f77bcf86cd799439011".parse()?;
    /// assert_eq!(id.to_bits(), 0x507f_1f77_bcf8_6cd7_9943_9011);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn to_bits(self) -> u128 {
        self.0
    }

    /// Returns the time in Unix ms: whole seconds, unsigned, up to the year 2106.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ObjectId;
    /// let id: ObjectId = "507f1f77bcf86cd799439011".parse()?;
    /// assert_eq!(id.timestamp_ms(), 1_350_508_407_000); // 2012-10-17T21:13:27Z
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn timestamp_ms(self) -> i64 {
        (self.0 >> 64) as i64 * 1000
    }

    /// Returns the middle, as present drivers make it: 40 random bits, the same for a whole process.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ObjectId;
    /// let id: ObjectId = "507f1f77bcf86cd799439011".parse()?;
    /// assert_eq!(id.random(), 0xbc_f86c_d799);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn random(self) -> u64 {
        (self.0 >> 24) as u64 & 0xff_ffff_ffff
    }

    /// Returns the machine, if an old driver made the middle: 24 bits.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ObjectId;
    /// let id: ObjectId = "47cc67093475061e3d95369d".parse()?;
    /// assert_eq!((id.machine(), id.process()), (0x34_7506, 7741));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn machine(self) -> u32 {
        (self.random() >> 16) as u32
    }

    /// Returns the process, if an old driver made the middle: 16 bits.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ObjectId;
    /// let id: ObjectId = "47cc67093475061e3d95369d".parse()?;
    /// assert_eq!(id.process(), 7741);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn process(self) -> u16 {
        (self.random() & 0xffff) as u16
    }

    /// Returns the counter, 24 bits.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ObjectId;
    /// let id: ObjectId = "507f1f77bcf86cd799439011".parse()?;
    /// assert_eq!(id.counter(), 0x43_9011);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn counter(self) -> u32 {
        (self.0 & 0xff_ffff) as u32
    }
}

/// Returns the second of an instant, in 32 bits.
fn second(unix_ms: i64) -> Result<u32, Error> {
    match u32::try_from(unix_ms.div_euclid(1000)) {
        Ok(second) => Ok(second),
        Err(_) if unix_ms < 0 => Err(Error::before_epoch(unix_ms, 0)),
        Err(_) => Err(Error::time_overflow(unix_ms, i64::from(u32::MAX) * 1000)),
    }
}

impl FromStr for ObjectId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text).ok_or(Error::plain(What::ObjectIdText))
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.text(), f)
    }
}

/// The state of a process that mints `ObjectId`s: its random number, the second and the counter.
///
/// The counter wraps after 2^24. When it returns to the number that the second began with, the second moves on by one.
/// The second never goes back with the clock. So all `ObjectId`s of a process differ, with any clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectIdState(Option<Last>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Last {
    random: u64,
    second: u32,
    /// The counter at the begin of the second.
    first: u32,
    counter: u32,
}

impl ObjectIdState {
    /// Makes the state of a process that has minted nothing.
    pub const fn new() -> Self {
        Self(None)
    }

    /// Returns the next `ObjectId` at the time `now_ms` (Unix ms). `random` returns 32 random bits. It is called twice
    /// for the first `ObjectId`, and never later.
    ///
    /// # Errors
    /// `BeforeEpoch`, if the clock is before 1970 and this is the first `ObjectId`; `TimeOverflow`, if the time exceeds
    /// 32 bits, in the year 2106. A refused call changes nothing.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::object_id::ObjectIdState;
    /// let mut state = ObjectIdState::new();
    /// let mut next = || state.next(1_350_508_407_000, || 0x0102_0304).map(|id| id.to_string());
    /// assert_eq!((next()?.as_str(), next()?.as_str()), ("507f1f770102030401020304", "507f1f770102030401020305"));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn next(&mut self, now_ms: i64, mut random: impl FnMut() -> u32) -> Result<ObjectId, Error> {
        let next = match self.0 {
            None => {
                let second = second(now_ms)?;
                let (high, low) = (random(), random());
                let (number, counter) = (u64::from(high) << 8 | u64::from(low >> COUNTER_BITS), low & LAST_COUNT);
                Last { random: number, second, first: counter, counter }
            }
            Some(last) => {
                let counter = (last.counter + 1) & LAST_COUNT;
                let earliest = i64::from(last.second) + i64::from(counter == last.first);
                let second = second(now_ms.div_euclid(1000).max(earliest) * 1000)?;
                let first = if second > last.second { counter } else { last.first };
                Last { second, first, counter, ..last }
            }
        };
        self.0 = Some(next);
        ObjectId::from_parts(i64::from(next.second) * 1000, next.random, next.counter)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::ErrorKind;
    use std::string::ToString;

    fn after(second: u32, first: u32, counter: u32) -> ObjectIdState {
        ObjectIdState(Some(Last { random: 5, second, first, counter }))
    }

    #[test]
    fn a_counter_that_wraps_within_a_second_moves_the_second_on() {
        let mut state = after(100, 7, 4);
        let mut next = |now_ms| state.next(now_ms, || 0).map(|id| (id.timestamp_ms() / 1000, id.counter()));
        assert_eq!(next(100_999), Ok((100, 5)));
        assert_eq!(next(100_999), Ok((100, 6)));
        assert_eq!(next(100_999), Ok((101, 7)));
        assert_eq!(next(99_000), Ok((101, 8)));
        assert_eq!(next(102_000), Ok((102, 9)));
    }

    #[test]
    fn the_counter_wraps_to_0() {
        let mut state = after(100, 5, LAST_COUNT);
        assert_eq!(state.next(100_000, || 0).map(ObjectId::counter), Ok(0));
    }

    #[test]
    fn seconds_are_unsigned_and_end() {
        let last = i64::from(u32::MAX) * 1000;
        let id = ObjectId::from_parts(last, 0, 0).expect("an ObjectId");
        assert_eq!((id.timestamp_ms(), id.to_string().as_str()), (last, "ffffffff0000000000000000"));
        let mut state = after(u32::MAX, 1, 0);
        for now_ms in [0, last + 1000] {
            let before = state;
            assert_eq!(state.next(now_ms, || 0).map_err(|error| error.kind()), Err(ErrorKind::TimeOverflow));
            assert_eq!(state, before, "a refused call changes nothing");
        }
        assert_eq!(ObjectIdState::new().next(-1, || 0).map_err(|error| error.kind()), Err(ErrorKind::BeforeEpoch));
        assert_eq!(ObjectId::from_parts(0, 1 << 40, 0).map_err(|error| error.kind()), Err(ErrorKind::InvalidId));
        assert_eq!(ObjectId::from_parts(0, 0, 1 << 24).map_err(|error| error.kind()), Err(ErrorKind::InvalidId));
    }
}
