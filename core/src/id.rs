//! A 64-bit ID as a separate type.

#[cfg(feature = "serde")]
mod serde;

use core::fmt;
use core::str::FromStr;

use crate::error::{Error, What};
use crate::int::Integer;

/// A 64-bit ID as a separate type: for structs and APIs in which a bare `u64` says too little.
///
/// Functions that take an `impl Into<Id>` also take a `u64` or an integer literal. The text of an ID is the decimal number.
/// With the feature `serde` it is that text in human-readable formats, since JavaScript rounds numbers above 2^53, and a
/// `u64` in others.
///
/// # Examples
/// ```
/// use snowmint_core::{Id, layouts::TWITTER};
/// let id: Id = "1541815603606036480".parse()?;
/// assert_eq!(id.to_string(), "1541815603606036480");
/// assert_eq!(TWITTER.decode(id)?, TWITTER.decode(1_541_815_603_606_036_480)?);
/// # Ok::<(), snowmint_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Id(u64);

impl Id {
    /// Makes the ID of a number.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Id;
    /// const FIRST: Id = Id::new(1);
    /// assert_eq!(FIRST, Id::from(1));
    /// ```
    #[inline]
    pub const fn new(id: u64) -> Self {
        Self(id)
    }

    /// Returns the number.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Id;
    /// assert_eq!(Id::new(5).get(), 5);
    /// ```
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl From<u64> for Id {
    #[inline]
    fn from(id: u64) -> Self {
        Self(id)
    }
}

impl From<Id> for u64 {
    #[inline]
    fn from(id: Id) -> Self {
        id.0
    }
}

impl From<Id> for Integer {
    fn from(id: Id) -> Self {
        Self::Fits(id.0)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for Id {
    type Err = Error;

    /// Reads 1 to 20 decimal digits.
    ///
    /// # Errors
    /// `InvalidId` for a sign, other characters, and numbers above 2^64-1.
    fn from_str(text: &str) -> Result<Self, Error> {
        let digits = Some(text).filter(|text| text.len() <= 20 && text.bytes().all(|byte| byte.is_ascii_digit()));
        digits.and_then(|digits| digits.parse().ok()).map(Self).ok_or(Error::plain(What::IdText))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;
    use crate::ErrorKind;

    #[test]
    fn a_text_is_digits_of_64_bits() {
        for id in [0, 1, 1_541_815_603_606_036_480, u64::MAX] {
            assert_eq!(Id(id).to_string().parse(), Ok(Id(id)));
        }
        for text in ["", "+1", "-1", " 1", "0x10", "18446744073709551616", "000000000000000000001", "1_000"] {
            let error = text.parse::<Id>().expect_err(text);
            assert_eq!(error.kind(), ErrorKind::InvalidId);
            assert_eq!(error.to_string(), "an ID is 1 to 20 digits, at most 2^64-1");
        }
    }
}
