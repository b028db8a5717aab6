//! Integers of any size, as Python and JavaScript have them.

use crate::error::{BEYOND, Error, MINUS, PLUS, What};

/// The largest number of IDs in one batch.
pub const MAX_BATCH: u64 = 1 << 24;

/// An integer that a host handed in, of whatever size, so that core can refuse it in its own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integer {
    /// From 0 to 2^64-1.
    Fits(u64),
    /// Below 0, by its magnitude.
    Negative(u64),
    /// Beyond 64 bits on either side.
    Beyond,
}

impl Integer {
    /// As a 64-bit ID; a negative value is taken as the signed form of the same 64 bits.
    ///
    /// # Errors
    /// `InvalidId` outside -2^63 to 2^64-1.
    pub const fn id(self) -> Result<u64, Error> {
        match self {
            Self::Fits(id) => Ok(id),
            Self::Negative(magnitude) if magnitude <= 1 << 63 => Ok(magnitude.wrapping_neg()),
            _ => Err(Error::plain(What::Id)),
        }
    }

    /// As a batch size.
    ///
    /// # Errors
    /// `InvalidId` outside 0 to [`MAX_BATCH`].
    pub fn batch(self) -> Result<usize, Error> {
        match self {
            Self::Fits(n) if n <= MAX_BATCH => Ok(n as usize),
            given => Err(given.refused(What::Batch, 64)),
        }
    }

    /// As a small count of digits or bits; what is no `u32` becomes the largest, which is too many of either.
    pub const fn count(self) -> u32 {
        match self {
            Self::Fits(count) if count <= u32::MAX as u64 => count as u32,
            _ => u32::MAX,
        }
    }

    /// The value, if it fits a field of `width` bits, which are never all 64.
    #[inline]
    pub(crate) const fn fitting(self, width: u32) -> Option<u64> {
        match self {
            Self::Fits(value) if value >> width == 0 => Some(value),
            _ => None,
        }
    }

    /// Whether [`Self::fitting`] has a value. Out of line, as each use is then half as large in wasm.
    #[inline(never)]
    pub(crate) const fn misfits(self, width: u32) -> bool {
        self.fitting(width).is_none()
    }

    /// The bits of the magnitude.
    pub(crate) const fn magnitude(self) -> u64 {
        match self {
            Self::Fits(value) | Self::Negative(value) => value,
            Self::Beyond => 0,
        }
    }

    /// Returns the error that shows this integer, and the largest value of a field of `width` bits.
    #[cold]
    #[inline(never)]
    pub(crate) const fn refused(self, what: What, width: u32) -> Error {
        let sign = match self {
            Self::Fits(_) => PLUS,
            Self::Negative(_) => MINUS,
            Self::Beyond => BEYOND,
        };
        Error::new(what, (width << 2) | sign, self.magnitude(), 0)
    }

    /// Reads a decimal number; `None` if `digits` is not one (a minus sign is allowed, a plus sign is not).
    pub(crate) fn parse(digits: &[u8]) -> Option<Self> {
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
            None => Self::Beyond,
            Some(value) if negative && value > 0 => Self::Negative(value),
            Some(value) => Self::Fits(value),
        })
    }
}

/// `value` with one more digit, if 64 bits hold it. A checked multiplication takes 128 bits where there are no flags.
#[inline]
pub(crate) const fn append(value: u64, base: u64, digit: u64) -> Option<u64> {
    if value > (u64::MAX - digit) / base { None } else { Some(value * base + digit) }
}

impl From<u64> for Integer {
    fn from(value: u64) -> Self {
        Self::Fits(value)
    }
}

impl From<u32> for Integer {
    fn from(value: u32) -> Self {
        Self::Fits(u64::from(value))
    }
}

impl From<i64> for Integer {
    fn from(value: i64) -> Self {
        if value < 0 { Self::Negative(value.unsigned_abs()) } else { Self::Fits(value.unsigned_abs()) }
    }
}

impl From<i32> for Integer {
    fn from(value: i32) -> Self {
        Self::from(i64::from(value))
    }
}
