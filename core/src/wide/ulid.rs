//! ULIDs (`ulid/spec` on GitHub): layout, time, text, and the step that mints ULIDs.

use core::fmt;
use core::str::FromStr;

use crate::error::{Error, What};
use crate::forms::name::Name;
use crate::forms::text::{IdText, TextForm, base32_text, wide};
use crate::wide::uuid::v7::unix_ms_48;

/// A ULID: 48 bits of Unix ms, then 80 random bits. ULIDs sort like their texts: by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ulid(u128);

const RANDOM_BITS: u32 = 80;
const LAST_RANDOM: u128 = (1 << RANDOM_BITS) - 1;

impl Ulid {
    /// Makes the ULID with these bits. The first character has the highest bits.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Ulid;
    /// assert_eq!(Ulid::from_bits(1).to_string(), "00000000000000000000000001");
    /// ```
    pub const fn from_bits(bits: u128) -> Self {
        Self(bits)
    }

    /// Returns the bits. The first character has the highest bits.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Ulid;
    /// assert_eq!(Ulid::from_parts(1, 2)?.to_bits(), 1 << 80 | 2);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn to_bits(self) -> u128 {
        self.0
    }

    /// Makes the ULID with these bytes, in the order of the text.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Ulid;
    /// assert_eq!(Ulid::from_bytes([0xff; 16]).to_string(), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
    /// ```
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }

    /// Returns the bytes, in the order of the text.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Ulid;
    /// let ulid: Ulid = "7ZZZZZZZZZZZZZZZZZZZZZZZZZ".parse()?;
    /// assert_eq!(ulid.to_bytes(), [0xff; 16]);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// Makes the ULID of an instant, Unix ms, and 80 bits.
    ///
    /// # Errors
    /// `BeforeEpoch` or `TimeOverflow`, if the time does not fit 48 bits, which end in the year 10889; `InvalidId`, if
    /// `random` does not fit 80 bits.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Ulid;
    /// assert_eq!(Ulid::from_parts(1_469_918_176_385, 0)?.to_string(), "01ARYZ6S410000000000000000");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn from_parts(unix_ms: i64, random: u128) -> Result<Self, Error> {
        let ms = unix_ms_48(unix_ms)?;
        if random > LAST_RANDOM {
            return Err(Name::cut(b"randomness").refused(What::IdField, RANDOM_BITS));
        }
        Ok(Self(u128::from(ms) << RANDOM_BITS | random))
    }

    /// Reads 26 characters of Crockford's base 32, in upper or lower case; `None` above `7ZZZZZZZZZZZZZZZZZZZZZZZZZ`,
    /// and for any other text.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Ulid;
    /// let ulid = Ulid::parse("01aryz6s410000000000000000");
    /// assert_eq!(ulid.map(Ulid::timestamp_ms), Some(1_469_918_176_385));
    /// assert_eq!(Ulid::parse("80000000000000000000000000"), None, "more than 128 bits");
    /// ```
    pub fn parse(text: impl AsRef<[u8]>) -> Option<Self> {
        let text = text.as_ref();
        // 26 characters have 130 bits.
        let head = wide(text.get(..1)?, TextForm::Base32, 5)?;
        if text.len() == 26 && head < 8 { wide(text, TextForm::Base32, 5).map(Self) } else { None }
    }

    /// Returns the 26 characters, in upper case.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Ulid;
    /// assert_eq!(Ulid::from_bits(31).text().as_str(), "0000000000000000000000000Z");
    /// ```
    pub fn text(self) -> IdText {
        IdText::of(&base32_text(self.0))
    }

    /// Returns the time, Unix ms.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Ulid;
    /// let ulid: Ulid = "01ARYZ6S410000000000000000".parse()?;
    /// assert_eq!(ulid.timestamp_ms(), 1_469_918_176_385);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn timestamp_ms(self) -> i64 {
        (self.0 >> RANDOM_BITS) as i64
    }

    /// Returns the 80 random bits.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Ulid;
    /// assert_eq!(Ulid::from_parts(1_469_918_176_385, 0x5eed)?.random(), 0x5eed);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn random(self) -> u128 {
        self.0 & LAST_RANDOM
    }
}

impl FromStr for Ulid {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text).ok_or(Error::plain(What::UlidText))
    }
}

impl fmt::Display for Ulid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.text(), f)
    }
}

/// The state of a process that mints ULIDs in order: the last ULID.
///
/// In a new ms the 80 bits are random. Within a ms they are the last bits plus 1, as the specification demands of
/// monotonic generators. The same happens if the clock stands still or steps back: the ms never goes back, so ULIDs
/// strictly increase with any clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UlidState(Option<Ulid>);

impl UlidState {
    /// Makes the state of a process that has minted nothing.
    pub const fn new() -> Self {
        Self(None)
    }

    /// Makes the state of a process whose last ULID was `last`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Ulid;
    /// use snowmint_core::ulid::UlidState;
    /// let last: Ulid = "01ARYZ6S41003G00000W000007".parse()?;
    /// let next = UlidState::after(last).next(last.timestamp_ms(), || 0)?;
    /// assert_eq!(next.to_string(), "01ARYZ6S41003G00000W000008");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn after(last: Ulid) -> Self {
        Self(Some(last))
    }

    /// Returns the next ULID at the time `now_ms` (Unix ms). `random` returns 32 random bits. It is called three times
    /// in a new ms.
    ///
    /// # Errors
    /// `Exhausted`, if the 80 bits of the last ULID were all 1; `BeforeEpoch`, if the clock is before 1970 and this is
    /// the first ULID; `TimeOverflow`, if the time exceeds 48 bits. A refused call changes nothing.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ulid::UlidState;
    /// let mut state = UlidState::new();
    /// let mut next = |now_ms| state.next(now_ms, || 7).map(|ulid| ulid.to_string());
    /// assert_eq!(next(1_469_918_176_385)?, "01ARYZ6S41003G00000W000007");
    /// assert_eq!(next(1_469_918_176_385)?, "01ARYZ6S41003G00000W000008");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn next(&mut self, now_ms: i64, mut random: impl FnMut() -> u32) -> Result<Ulid, Error> {
        let next = match self.0 {
            Some(last) if now_ms <= last.timestamp_ms() => {
                if last.random() == LAST_RANDOM {
                    return Err(Error::ulids_over(last.timestamp_ms().abs_diff(now_ms) + 1));
                }
                Ulid(last.0 + 1)
            }
            _ => {
                let ms = unix_ms_48(now_ms)?;
                let bits = (0..3).fold(0, |bits, _| bits << 32 | u128::from(random()));
                Ulid(u128::from(ms) << RANDOM_BITS | bits & LAST_RANDOM)
            }
        };
        self.0 = Some(next);
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn a_used_up_ms_is_an_error_until_the_next_ms() {
        let last = Ulid(1000 << RANDOM_BITS | LAST_RANDOM);
        let mut state = UlidState::after(last);
        for (now_ms, wait_ms) in [(1000, 1), (999, 2), (0, 1001)] {
            let error = state.next(now_ms, || 0).expect_err("all bits are 1");
            assert_eq!((error.kind(), error.retry_after_ms()), (ErrorKind::Exhausted, Some(wait_ms)));
            assert_eq!(state, UlidState::after(last), "a refused call changes nothing");
        }
        assert!(state.next(1001, || 0).expect("a new ms") > last);
    }

    #[test]
    fn times_out_of_range_are_refused() {
        assert_eq!(UlidState::new().next(-1, || 0).map_err(|error| error.kind()), Err(ErrorKind::BeforeEpoch));
        assert_eq!(UlidState::new().next(1 << 48, || 0).map_err(|error| error.kind()), Err(ErrorKind::TimeOverflow));
        assert_eq!(Ulid::from_parts(0, 1 << 80).map_err(|error| error.kind()), Err(ErrorKind::InvalidId));
    }

    #[test]
    fn a_text_that_is_not_a_ulid_is_refused() {
        for text in [
            "",
            "01ARZ3NDEKTSV4RRFFQ69G5FA",
            "81ARZ3NDEKTSV4RRFFQ69G5FAV",
            "01ARZ3NDEKTSV4RRFFQ69G5FAU",
            "é1ARZ3NDEKTSV4RRFFQ69G5FA",
        ] {
            assert_eq!(text.parse::<Ulid>().map_err(|error| error.kind()), Err(ErrorKind::InvalidText), "{text}");
        }
    }
}
