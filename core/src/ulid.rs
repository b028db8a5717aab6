//! ULIDs: just enough to read one, and its time (`ulid/spec` on GitHub).

use crate::text::{TextForm, wide};

/// A ULID: 48 bits of Unix ms, then 80 random ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ulid(u128);

impl Ulid {
    /// The ULID of these bits, the first character's highest.
    pub const fn from_bits(bits: u128) -> Self {
        Self(bits)
    }

    /// The bits, the first character's highest.
    pub const fn to_bits(self) -> u128 {
        self.0
    }

    /// Reads 26 characters of Crockford's base 32, in either case; `None` also above `7ZZZZZZZZZZZZZZZZZZZZZZZZZ`.
    pub fn parse(text: impl AsRef<[u8]>) -> Option<Self> {
        let text = text.as_ref();
        // Twenty-six characters hold 130 bits.
        let head = wide(text.get(..1)?, TextForm::Base32, 5)?;
        if text.len() == 26 && head < 8 { wide(text, TextForm::Base32, 5).map(Self) } else { None }
    }

    /// The time, Unix ms.
    pub const fn timestamp_ms(self) -> i64 {
        (self.0 >> 80) as i64
    }

    /// The 80 random bits.
    pub const fn random(self) -> u128 {
        self.0 & ((1 << 80) - 1)
    }
}
