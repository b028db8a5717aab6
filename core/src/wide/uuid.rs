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
mod parts;
mod prefixed;
mod text;
pub(super) mod v7;

pub use self::form::UuidForm;
pub use self::gregorian::{GregorianStamp, GregorianState};
pub use self::v7::V7State;

use crate::error::{Error, What};
use crate::forms::name::Name;

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
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::ErrorKind;
    use std::string::ToString;

    #[test]
    fn parts_that_do_not_fit_are_refused_by_name() {
        assert_eq!(Uuid::v7(-1, 0).map_err(|error| error.kind()), Err(ErrorKind::BeforeEpoch));
        assert_eq!(Uuid::v7(1 << 48, 0).map_err(|error| error.kind()), Err(ErrorKind::TimeOverflow));
        let error = Uuid::v8(0, 1 << 12, 0).expect_err("13 bits");
        assert_eq!(error.to_string(), "b does not fit: it takes 0 to 4095");
        assert_eq!(error.kind(), ErrorKind::InvalidId);
    }
}
