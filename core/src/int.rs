//! Integers of any size, as Python and JavaScript have them.

use core::fmt;

use crate::error::{BEYOND, Error, MINUS, PLUS, What};

/// The largest number of IDs in one batch.
pub const MAX_BATCH: u64 = 1 << 24;

/// An integer of any size, so that an argument out of range is an error that says so, in every language alike.
///
/// Every primitive integer of Rust converts to it.
///
/// # Examples
/// ```
/// use snowmint_core::Integer;
/// assert_eq!(Integer::from(5usize), Integer::Fits(5));
/// assert_eq!(Integer::from(-5i8), Integer::Negative(5));
/// assert_eq!(Integer::from(u128::MAX), Integer::Above);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integer {
    /// From 0 to 2^64-1.
    Fits(u64),
    /// Below 0: the magnitude, up to 2^64-1.
    Negative(u64),
    /// Above 2^64-1.
    Above,
    /// Below -(2^64-1).
    Below,
}

impl Integer {
    /// Returns the integer as a 64-bit ID. A negative integer is the signed form of the same 64 bits.
    ///
    /// # Errors
    /// `InvalidId` outside -2^63 to 2^64-1.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{ErrorKind, Integer};
    /// assert_eq!(Integer::from(5).id()?, 5);
    /// assert_eq!(Integer::from(-1).id()?, u64::MAX);
    /// assert_eq!(Integer::Above.id().unwrap_err().kind(), ErrorKind::InvalidId);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn id(self) -> Result<u64, Error> {
        match self {
            Self::Fits(id) => Ok(id),
            Self::Negative(magnitude) if magnitude <= 1 << 63 => Ok(magnitude.wrapping_neg()),
            _ => Err(Error::plain(What::Id)),
        }
    }

    /// Returns the integer as the size of a batch.
    ///
    /// # Errors
    /// `InvalidId` outside 0 to [`MAX_BATCH`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Integer, MAX_BATCH};
    /// assert_eq!(Integer::from(1000).batch()?, 1000);
    /// assert!(Integer::from(MAX_BATCH + 1).batch().is_err() && Integer::from(-1).batch().is_err());
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn batch(self) -> Result<usize, Error> {
        match self {
            Self::Fits(n) if n <= MAX_BATCH => Ok(n as usize),
            given => Err(given.refused(What::Batch, 64)),
        }
    }

    /// Returns the integer as a count of digits or bits. Any other integer becomes `u32::MAX`, which is too many of
    /// either.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// assert_eq!((Integer::from(3).count(), Integer::from(-3).count()), (3, u32::MAX));
    /// ```
    pub const fn count(self) -> u32 {
        match self {
            Self::Fits(count) if count <= u32::MAX as u64 => count as u32,
            _ => u32::MAX,
        }
    }

    /// Returns the integer as an instant, Unix ms or microseconds. Beyond 64 bits it becomes the nearest one, and no layout has a
    /// tick there: the error is `BeforeEpoch` or `TimeOverflow`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// assert_eq!([Integer::from(-5), Integer::Above, Integer::Below].map(Integer::instant), [-5, i64::MAX, i64::MIN]);
    /// ```
    pub const fn instant(self) -> i64 {
        match self {
            Self::Fits(ms) if ms <= i64::MAX as u64 => ms.cast_signed(),
            Self::Fits(_) | Self::Above => i64::MAX,
            Self::Negative(ms) if ms <= i64::MAX as u64 => -ms.cast_signed(),
            Self::Negative(_) | Self::Below => i64::MIN,
        }
    }

    /// Returns the value. Any other integer becomes `u64::MAX`, too large for every field of less than 64 bits.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// assert_eq!((Integer::from(3).or_too_large(), Integer::from(-3).or_too_large()), (3, u64::MAX));
    /// ```
    pub const fn or_too_large(self) -> u64 {
        match self {
            Self::Fits(value) => value,
            _ => u64::MAX,
        }
    }

    /// Returns the value, if it fits a field of `width` bits, 0 to 63.
    #[inline]
    pub(crate) const fn fitting(self, width: u32) -> Option<u64> {
        match self {
            Self::Fits(value) if value >> width == 0 => Some(value),
            _ => None,
        }
    }

    /// Returns whether the integer does not fit `width` bits. Out of line: that halves each use in wasm.
    #[inline(never)]
    pub(crate) const fn misfits(self, width: u32) -> bool {
        self.fitting(width).is_none()
    }

    /// Returns the magnitude; 0 beyond 64 bits.
    #[doc(hidden)]
    pub const fn magnitude(self) -> u64 {
        match self {
            Self::Fits(value) | Self::Negative(value) => value,
            Self::Above | Self::Below => 0,
        }
    }

    /// Returns the error that shows this integer, and the largest value of a field of `width` bits.
    #[cold]
    #[inline(never)]
    pub(crate) const fn refused(self, what: What, width: u32) -> Error {
        let sign = match self {
            Self::Fits(_) => PLUS,
            Self::Negative(_) => MINUS,
            Self::Above | Self::Below => BEYOND,
        };
        Error::new(what, (width << 2) | sign, self.magnitude(), 0)
    }

    /// Reads a decimal number, with a minus sign but no plus sign; `None` for any other text.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// assert_eq!(Integer::parse("-5"), Some(Integer::Negative(5)));
    /// assert_eq!(Integer::parse("+5"), None);
    /// ```
    pub fn parse(digits: impl AsRef<[u8]>) -> Option<Self> {
        Self::parse_bytes(digits.as_ref())
    }

    fn parse_bytes(digits: &[u8]) -> Option<Self> {
        let (negative, digits) = match digits {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, digits),
        };
        if digits.is_empty() {
            return None;
        }
        let mut value = Some(0);
        for digit in digits {
            if !digit.is_ascii_digit() {
                return None;
            }
            value = value.and_then(|value| append(value, 10, u64::from(digit - b'0')));
        }
        Some(match value {
            None if negative => Self::Below,
            None => Self::Above,
            Some(value) if negative && value > 0 => Self::Negative(value),
            Some(value) => Self::Fits(value),
        })
    }
}

/// Returns `value` with one more digit, if it fits 64 bits. Without flags, as in wasm, a checked multiplication would
/// take 128 bits.
#[inline]
pub(crate) const fn append(value: u64, base: u64, digit: u64) -> Option<u64> {
    if value > (u64::MAX - digit) / base { None } else { Some(value * base + digit) }
}

/// Writes decimal digits, at least `width` of them. The formatter of the standard library is larger than a small wasm module's
/// other code.
pub(crate) fn write_decimal(out: &mut impl fmt::Write, value: u64, width: usize) -> fmt::Result {
    if value > 9 || width > 1 {
        write_decimal(out, value / 10, width.saturating_sub(1))?;
    }
    out.write_char(char::from(b'0' + (value % 10) as u8))
}

macro_rules! from_unsigned {
    ($($unsigned:ident)+) => {
        $(impl From<$unsigned> for Integer {
            fn from(value: $unsigned) -> Self {
                u64::try_from(value).map_or(Self::Above, Self::Fits)
            }
        })+
    };
}

macro_rules! from_signed {
    ($($signed:ident)+) => {
        $(impl From<$signed> for Integer {
            fn from(value: $signed) -> Self {
                match u64::try_from(value.unsigned_abs()) {
                    Ok(magnitude) if value < 0 => Self::Negative(magnitude),
                    Ok(magnitude) => Self::Fits(magnitude),
                    Err(_) if value < 0 => Self::Below,
                    Err(_) => Self::Above,
                }
            }
        })+
    };
}

from_unsigned!(u8 u16 u32 u64 u128 usize);
from_signed!(i8 i16 i32 i64 i128 isize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_primitive_integer_converts() {
        let fives = [
            Integer::from(5u8),
            5u16.into(),
            5u32.into(),
            5u64.into(),
            5u128.into(),
            5usize.into(),
            5i8.into(),
            5i16.into(),
            5i32.into(),
            5i64.into(),
            5i128.into(),
            5isize.into(),
        ];
        assert_eq!(fives, [Integer::Fits(5); 12]);
        let negatives =
            [Integer::from(i8::MIN), i16::MIN.into(), i32::MIN.into(), i64::MIN.into(), Integer::from(-128i128)];
        assert_eq!(negatives, [1u64 << 7, 1 << 15, 1 << 31, 1 << 63, 1 << 7].map(Integer::Negative));
        assert_eq!(Integer::from(u128::from(u64::MAX)), Integer::Fits(u64::MAX));
        assert_eq!(Integer::from(u128::from(u64::MAX) + 1), Integer::Above);
        assert_eq!(Integer::from(i128::MAX), Integer::Above);
        assert_eq!(Integer::from(-i128::from(u64::MAX)), Integer::Negative(u64::MAX));
        assert_eq!(Integer::from(i128::MIN), Integer::Below);
    }
}
