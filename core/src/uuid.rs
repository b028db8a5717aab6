//! UUIDs: just enough to read one, and its time (RFC 9562).

use crate::text::{TextForm, wide};

/// 100 ns intervals from 1582-10-15, where versions 1 and 6 begin to count, to 1970 (RFC 9562, section 5.1).
const GREGORIAN_TO_1970: i64 = 0x01b2_1dd2_1381_4000;

/// A UUID: 128 bits, of which two fields say how the others came about.
///
/// | version | its bits are |
/// | --- | --- |
/// | 1, 6 | 100 ns since 1582, a clock sequence, a node (a MAC address, or random) |
/// | 2 | as 1, with a local number in the place of the low time bits (DCE) |
/// | 3, 5 | a hash of a name: MD5, SHA-1 |
/// | 4 | random |
/// | 7 | Unix ms, then random |
/// | 8 | the minter's own affair |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Uuid(u128);

/// Which family of UUIDs one belongs to (RFC 9562, section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UuidVariant {
    /// Apollo's Network Computing System of the 1980s; the nil UUID too.
    Ncs,
    /// RFC 9562, RFC 4122 and DCE: the one that has versions.
    Rfc,
    /// Microsoft's early COM.
    Microsoft,
    /// Reserved; the max UUID too.
    Future,
}

impl Uuid {
    /// All bits 0.
    pub const NIL: Self = Self(0);
    /// All bits 1.
    pub const MAX: Self = Self(u128::MAX);

    /// The UUID of these bits, the first character's highest.
    pub const fn from_bits(bits: u128) -> Self {
        Self(bits)
    }

    /// The bits, the first character's highest.
    pub const fn to_bits(self) -> u128 {
        self.0
    }

    /// Reads 36 characters, such as `123e4567-e89b-12d3-a456-426614174000`, in either case.
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

    /// Reads 32 hexadecimal digits, in either case.
    pub fn parse_hex(digits: impl AsRef<[u8]>) -> Option<Self> {
        let digits = digits.as_ref();
        if digits.len() == 32 { wide(digits, TextForm::Hex, 4).map(Self) } else { None }
    }

    /// The version 1 that `MySQL`'s `UUID_TO_BIN(uuid, 1)` stored as these bits, with its high time bits before its low
    /// ones; `None` if what comes out is no version 1.
    pub fn unswapped(self) -> Option<Self> {
        let (high, middle, low) = (self.0 >> 112, self.0 >> 96 & 0xffff, self.0 >> 64 & 0xffff_ffff);
        let uuid = Self(low << 96 | middle << 80 | high << 64 | self.0 & u128::from(u64::MAX));
        (uuid.version() == Some(1)).then_some(uuid)
    }

    /// The family.
    pub const fn variant(self) -> UuidVariant {
        match self.0 >> 61 & 7 {
            0..=3 => UuidVariant::Ncs,
            4 | 5 => UuidVariant::Rfc,
            6 => UuidVariant::Microsoft,
            _ => UuidVariant::Future,
        }
    }

    /// The version, of which 1 to 8 mean something; `None` in the other variants, which have none.
    pub const fn version(self) -> Option<u8> {
        match self.variant() {
            UuidVariant::Rfc => Some((self.0 >> 76 & 15) as u8),
            _ => None,
        }
    }

    /// The time of versions 1, 6 and 7, Unix ms, rounded down.
    pub const fn timestamp_ms(self) -> Option<i64> {
        let high = (self.0 >> 64) as u64;
        let since_1582 = match self.version() {
            // Low, middle, version, high.
            Some(1) => high >> 32 | (high >> 16 & 0xffff) << 32 | (high & 0xfff) << 48,
            // High, middle, version, low.
            Some(6) => high >> 16 << 12 | high & 0xfff,
            Some(7) => return Some((high >> 16).cast_signed()),
            _ => return None,
        };
        // 60 bits.
        Some((since_1582.cast_signed() - GREGORIAN_TO_1970).div_euclid(10_000))
    }

    /// The clock sequence of versions 1 and 6, 14 bits.
    pub const fn clock_sequence(self) -> Option<u16> {
        match self.version() {
            Some(1 | 6) => Some((self.0 >> 48 & 0x3fff) as u16),
            _ => None,
        }
    }

    /// The node of versions 1 and 6, 48 bits.
    pub const fn node(self) -> Option<u64> {
        match self.version() {
            Some(1 | 6) => Some(self.0 as u64 & 0xffff_ffff_ffff),
            _ => None,
        }
    }
}
