//! UUIDs (RFC 9562): layouts, times, texts, and the steps that mint them.
//!
//! | version | made from its parts by | minted by |
//! | --- | --- | --- |
//! | 1, 6 | [`GregorianStamp::v1`], [`GregorianStamp::v6`] | [`GregorianState::next`] |
//! | 2 | not made, only read | not minted |
//! | 3, 5 | `Uuid::v3`, `Uuid::v5` (feature `uuid`) | the same functions: a name always has the same UUID |
//! | 4 | [`Uuid::v4`] | the same function, with random bits |
//! | 7 | [`Uuid::v7`] | [`V7State::next`] |
//! | 8 | [`Uuid::v8`] | a rule of the application |

mod form;
mod gregorian;
#[cfg(feature = "uuid")]
mod names;
mod prefixed;
mod v7;

use core::fmt;
use core::ops::RangeInclusive;
use core::str::FromStr;

pub use self::form::UuidForm;
pub use self::gregorian::{GregorianStamp, GregorianState};
pub use self::v7::V7State;

use self::gregorian::TO_1970;
use crate::error::{Error, What};
use crate::forms::name::Name;
use crate::forms::text::{IdText, TextForm, hex_digits, wide};

/// A UUID: 128 bits, of which two fields give the meaning of the others.
///
/// | version | content |
/// | --- | --- |
/// | 1, 6 | 100 ns since 1582, a clock sequence, a node (a MAC address, or random) |
/// | 2 | as 1, with the number of a local user or group instead of the low time bits (DCE) |
/// | 3, 5 | a hash of a name: MD5, SHA-1 |
/// | 4 | random bits |
/// | 7 | Unix ms, then random bits |
/// | 8 | defined by the minter |
///
/// UUIDs sort like their bytes and texts: versions 6 and 7 by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(u128);

/// The variant of a UUID (RFC 9562, section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UuidVariant {
    /// Apollo's Network Computing System of the 1980s, and the nil UUID.
    Ncs,
    /// RFC 9562, RFC 4122 and DCE: the variant with versions.
    Rfc,
    /// Microsoft's early COM.
    Microsoft,
    /// Reserved, and the max UUID.
    Future,
}

/// The last ms that fits 48 bits.
pub(crate) const LAST_MS: i64 = (1 << 48) - 1;

impl Uuid {
    /// All bits 0.
    pub const NIL: Self = Self(0);
    /// All bits 1.
    pub const MAX: Self = Self(u128::MAX);

    /// Makes the UUID with these bits. The first character has the highest bits.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// let uuid = Uuid::from_bits(0x123e_4567_e89b_12d3_a456_4266_1417_4000);
    /// assert_eq!(uuid.to_string(), "123e4567-e89b-12d3-a456-426614174000");
    /// ```
    pub const fn from_bits(bits: u128) -> Self {
        Self(bits)
    }

    /// Returns the bits. The first character has the highest bits.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// assert_eq!(Uuid::MAX.to_bits(), u128::MAX);
    /// ```
    pub const fn to_bits(self) -> u128 {
        self.0
    }

    /// Makes the UUID with these bytes, in the order of the text.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// let uuid = Uuid::from_bytes([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
    /// assert_eq!(uuid.to_string(), "00010203-0405-0607-0809-0a0b0c0d0e0f");
    /// ```
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }

    /// Returns the bytes, in the order of the text.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// let uuid: Uuid = "00010203-0405-0607-0809-0a0b0c0d0e0f".parse()?;
    /// assert_eq!(uuid.to_bytes()[..4], [0, 1, 2, 3]);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// Returns these bits with this version and the variant of RFC 9562.
    pub(crate) const fn versioned(bits: u128, version: u8) -> Self {
        Self(bits & !(0xf << 76 | 3 << 62) | (version as u128) << 76 | 2 << 62)
    }

    /// Makes a version 4 from 128 random bits, of which it keeps 122 (section 5.4).
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// // A program passes 128 bits of its random generator.
    /// assert_eq!(Uuid::v4(0).to_string(), "00000000-0000-4000-8000-000000000000");
    /// ```
    pub const fn v4(random: u128) -> Self {
        Self::versioned(random, 4)
    }

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

    /// Makes a version 8 (section 5.8) from 48, 12 and 62 bits of the caller, high to low.
    ///
    /// # Errors
    /// `InvalidId`, if a number does not fit.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// let uuid = Uuid::v8(0x1234_5678_9abc, 0xdef, 5)?;
    /// assert_eq!(uuid.to_string(), "12345678-9abc-8def-8000-000000000005");
    /// assert!(Uuid::v8(0, 0x1000, 0).is_err(), "13 bits");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn v8(a: u64, b: u16, c: u64) -> Result<Self, Error> {
        Self::v8_over(0, [Some(a), Some(b.into()), Some(c)])
    }

    /// Makes a version 8 from 128 bits of the caller; the version and the variant take the place of six of them. Each
    /// given part replaces the bits in its place: 48, 12 and 62 bits, high to low.
    ///
    /// # Errors
    /// As [`Uuid::v8`].
    pub fn v8_over(mut bits: u128, [a, b, c]: [Option<u64>; 3]) -> Result<Self, Error> {
        for (name, part, at, width) in [(b"a", a, 80, 48), (b"b", b, 64, 12), (b"c", c, 0, 62)] {
            let Some(part) = part else { continue };
            if part >> width > 0 {
                return Err(Name::cut(name).refused(What::IdField, width));
            }
            bits = bits & !(((1 << width) - 1) << at) | u128::from(part) << at;
        }
        Ok(Self::versioned(bits, 8))
    }

    /// Reads 36 characters, such as `123e4567-e89b-12d3-a456-426614174000`, in upper or lower case; `None` for any other
    /// text. [`FromStr`] also reads braces, `urn:uuid:` and texts without hyphens.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// assert_eq!(Uuid::parse("017f22e2-79b0-7cc3-98c4-dc0c0c07398f").and_then(Uuid::version), Some(7));
    /// assert_eq!(Uuid::parse("017f22e279b07cc398c4dc0c0c07398f"), None);
    /// ```
    pub fn parse(text: impl AsRef<[u8]>) -> Option<Self> {
        let text = text.as_ref();
        let mut digits = [0; 32];
        let mut places = digits.iter_mut();
        for (at, byte) in text.iter().enumerate() {
            match at {
                8 | 13 | 18 | 23 if *byte == b'-' => {}
                8 | 13 | 18 | 23 => return None,
                _ => *places.next()? = *byte,
            }
        }
        if text.len() == 36 { Self::parse_hex(digits) } else { None }
    }

    /// Reads 32 hexadecimal digits, in upper or lower case; `None` for any other text.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// let uuid = Uuid::parse_hex("017f22e279b07cc398c4dc0c0c07398f");
    /// assert_eq!(uuid, Uuid::parse("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"));
    /// ```
    pub fn parse_hex(digits: impl AsRef<[u8]>) -> Option<Self> {
        let digits = digits.as_ref();
        if digits.len() == 32 { wide(digits, TextForm::Hex, 4).map(Self) } else { None }
    }

    /// Returns the 36 characters, in lower case.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// assert_eq!(Uuid::NIL.text().as_str(), "00000000-0000-0000-0000-000000000000");
    /// ```
    #[inline]
    pub fn text(self) -> IdText {
        // Where the digits of each byte stand, with hyphens between them.
        const PLACES: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
        let mut text = [b'-'; 36];
        for (place, byte) in PLACES.into_iter().zip(self.to_bytes()) {
            [text[place], text[place + 1]] = hex_digits(byte);
        }
        IdText::full(text)
    }

    /// Swaps the time bits as `MySQL`'s `UUID_TO_BIN(uuid, 1)` does: the high time bits of a version 1 come before the
    /// low time bits, so that an index is in order of time. Any UUID can be swapped.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// // The example of MySQL's manual.
    /// let uuid: Uuid = "6ccd780c-baba-1026-9564-5b8c656024db".parse()?;
    /// assert_eq!(uuid.swapped().to_string(), "1026baba-6ccd-780c-9564-5b8c656024db");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    #[must_use]
    pub const fn swapped(self) -> Self {
        let (low, middle, high) = (self.0 >> 96, self.0 >> 80 & 0xffff, self.0 >> 64 & 0xffff);
        Self(high << 112 | middle << 96 | low << 64 | self.0 & u64::MAX as u128)
    }

    /// Undoes [`swapped`](Self::swapped), as `MySQL`'s `BIN_TO_UUID(bytes, 1)` does.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// let uuid: Uuid = "6ccd780c-baba-1026-9564-5b8c656024db".parse()?;
    /// assert_eq!(uuid.swapped().unswapped(), uuid);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    #[must_use]
    pub const fn unswapped(self) -> Self {
        let (high, middle, low) = (self.0 >> 112, self.0 >> 96 & 0xffff, self.0 >> 64 & 0xffff_ffff);
        Self(low << 96 | middle << 80 | high << 64 | self.0 & u64::MAX as u128)
    }

    /// Returns the variant.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Uuid, UuidVariant};
    /// assert_eq!(Uuid::v4(0).variant(), UuidVariant::Rfc);
    /// assert_eq!((Uuid::NIL.variant(), Uuid::MAX.variant()), (UuidVariant::Ncs, UuidVariant::Future));
    /// ```
    pub const fn variant(self) -> UuidVariant {
        match self.0 >> 61 & 7 {
            0..=3 => UuidVariant::Ncs,
            4 | 5 => UuidVariant::Rfc,
            6 => UuidVariant::Microsoft,
            _ => UuidVariant::Future,
        }
    }

    /// Returns the version, of which 1 to 8 are defined; `None` for other variants, which have no versions.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// assert_eq!((Uuid::v4(0).version(), Uuid::NIL.version()), (Some(4), None));
    /// ```
    pub const fn version(self) -> Option<u8> {
        match self.variant() {
            UuidVariant::Rfc => Some((self.0 >> 76 & 15) as u8),
            _ => None,
        }
    }

    /// Returns the time of versions 1, 2 and 6: 100 ns since 1582-10-15, 60 bits. Version 2 lacks the low 32 bits
    /// (seven minutes), which are 0. `None` for other versions.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// // Appendix A.1 of RFC 9562.
    /// let uuid: Uuid = "c232ab00-9414-11ec-b3c8-9f6bdeced846".parse()?;
    /// assert_eq!(uuid.gregorian_100ns(), Some(0x1ec_9414_c232_ab00));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn gregorian_100ns(self) -> Option<u64> {
        let high = (self.0 >> 64) as u64;
        match self.version() {
            // Low, middle, version, high.
            Some(1) => Some(high >> 32 | (high >> 16 & 0xffff) << 32 | (high & 0xfff) << 48),
            Some(2) => Some((high >> 16 & 0xffff) << 32 | (high & 0xfff) << 48),
            // High, middle, version, low.
            Some(6) => Some(high >> 16 << 12 | high & 0xfff),
            _ => None,
        }
    }

    /// Returns the time of versions 1, 2, 6 and 7, Unix ms, rounded down (version 2: to seven minutes); `None` for other
    /// versions.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// // Appendix A.6 of RFC 9562: 2022-02-22T19:22:22Z.
    /// let uuid: Uuid = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f".parse()?;
    /// assert_eq!(uuid.timestamp_ms(), Some(1_645_557_742_000));
    /// assert_eq!(Uuid::v4(0).timestamp_ms(), None);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn timestamp_ms(self) -> Option<i64> {
        match (self.version(), self.gregorian_100ns()) {
            (Some(7), _) => Some((self.0 >> 80) as i64),
            // 60 bits.
            (_, Some(since_1582)) => Some((since_1582.cast_signed() - TO_1970).div_euclid(10_000)),
            _ => None,
        }
    }

    /// Returns the clock sequence of versions 1 and 6 (14 bits) and version 2 (6 bits); `None` for other versions.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// let uuid: Uuid = "c232ab00-9414-11ec-b3c8-9f6bdeced846".parse()?;
    /// assert_eq!(uuid.clock_sequence(), Some(0x33c8));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn clock_sequence(self) -> Option<u16> {
        match self.version() {
            Some(1 | 6) => Some((self.0 >> 48 & 0x3fff) as u16),
            Some(2) => Some((self.0 >> 56 & 0x3f) as u16),
            _ => None,
        }
    }

    /// Returns the node of versions 1, 2 and 6, 48 bits; `None` for other versions.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// let uuid: Uuid = "c232ab00-9414-11ec-b3c8-9f6bdeced846".parse()?;
    /// assert_eq!(uuid.node(), Some(0x9f6b_dece_d846));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn node(self) -> Option<u64> {
        match self.version() {
            Some(1 | 2 | 6) => Some(self.0 as u64 & 0xffff_ffff_ffff),
            _ => None,
        }
    }

    /// Returns the owner of a version 2 (DCE 1.1: Authentication and Security Services, section 5.2.1.1): the domain (0
    /// for users, 1 for groups, 2 for organisations), and a number, such as the user id of POSIX. `None` for other
    /// versions.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// let uuid: Uuid = "000003e8-0e1f-21ec-8001-005056219395".parse()?;
    /// assert_eq!(uuid.local(), Some((1, 1000)), "group 1000");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn local(self) -> Option<(u8, u32)> {
        match self.version() {
            Some(2) => Some(((self.0 >> 48 & 0xff) as u8, (self.0 >> 96) as u32)),
            _ => None,
        }
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

impl FromStr for Uuid {
    type Err = Error;

    /// Reads 36 characters, also in braces or after `urn:uuid:`, or 32 without hyphens.
    fn from_str(text: &str) -> Result<Self, Error> {
        let bare = match text.as_bytes() {
            [b'{', bare @ .., b'}'] => bare,
            text => match text.split_at_checked(9) {
                Some((urn, bare)) if urn.eq_ignore_ascii_case(b"urn:uuid:") => bare,
                _ => text,
            },
        };
        Self::parse(bare).or_else(|| Self::parse_hex(text)).ok_or(Error::plain(What::UuidText))
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.text(), f)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::ErrorKind;
    use std::string::ToString;

    #[test]
    fn a_uuid_is_read_in_every_form() {
        let uuid = Uuid::from_bits(0x123e_4567_e89b_12d3_a456_4266_1417_4000);
        for text in [
            "123e4567-e89b-12d3-a456-426614174000",
            "123E4567-E89B-12D3-A456-426614174000",
            "{123e4567-e89b-12d3-a456-426614174000}",
            "URN:UUID:123e4567-e89b-12d3-a456-426614174000",
            "123e4567e89b12d3a456426614174000",
        ] {
            assert_eq!(text.parse(), Ok(uuid), "{text}");
        }
        assert_eq!(uuid.to_string(), "123e4567-e89b-12d3-a456-426614174000");
        assert_eq!("123e4567".parse::<Uuid>().expect_err("too short").kind(), ErrorKind::InvalidText);
    }

    #[test]
    fn a_version_2_has_a_domain_a_number_and_seven_minutes() {
        // The version 1 of the same instant, node and clock sequence is 8c45583a-0e1f-11ec-804d-005056219395.
        let uuid = Uuid::from_bits(0x0000_03e8_0e1f_21ec_8001_0050_5621_9395);
        assert_eq!(uuid.local(), Some((1, 1000)));
        assert_eq!((uuid.node(), uuid.clock_sequence()), (Some(0x50_5621_9395), Some(0)));
        let exact_ms = 1_630_828_920_177;
        let ms = uuid.timestamp_ms().expect("version 2 has a time");
        assert!((exact_ms - 429_497..=exact_ms).contains(&ms), "{ms}");
    }

    #[test]
    fn parts_that_do_not_fit_are_refused_by_name() {
        assert_eq!(Uuid::v7(-1, 0).map_err(|error| error.kind()), Err(ErrorKind::BeforeEpoch));
        assert_eq!(Uuid::v7(1 << 48, 0).map_err(|error| error.kind()), Err(ErrorKind::TimeOverflow));
        let error = Uuid::v8(0, 1 << 12, 0).expect_err("13 bits");
        assert_eq!(error.to_string(), "b does not fit: it takes 0 to 4095");
        assert_eq!(error.kind(), ErrorKind::InvalidId);
    }
}
