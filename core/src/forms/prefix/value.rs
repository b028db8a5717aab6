//! The values that can follow a prefix.

use crate::id::Id;

/// A value after a prefix: a 64-bit ID (an [`Id`] or a `u64`) or a [`Uuid`](crate::Uuid).
pub trait Value: sealed::Sealed + Copy {
    /// The number of characters.
    #[doc(hidden)]
    const WIDTH: usize;
    /// The largest number of the first character, so that the value fits its bits.
    #[doc(hidden)]
    const LAST_LEAD: u8;

    #[doc(hidden)]
    fn to_wide(self) -> u128;

    /// Takes bits that fit.
    #[doc(hidden)]
    fn from_wide(bits: u128) -> Self;
}

pub(crate) mod sealed {
    use crate::id::Id;

    pub trait Sealed {}
    impl Sealed for u64 {}
    impl Sealed for Id {}
}

impl Value for u64 {
    const WIDTH: usize = 13;
    const LAST_LEAD: u8 = 15;

    fn to_wide(self) -> u128 {
        self.into()
    }

    fn from_wide(bits: u128) -> Self {
        bits as Self
    }
}

impl Value for Id {
    const WIDTH: usize = u64::WIDTH;
    const LAST_LEAD: u8 = u64::LAST_LEAD;

    fn to_wide(self) -> u128 {
        self.get().to_wide()
    }

    fn from_wide(bits: u128) -> Self {
        Self::new(u64::from_wide(bits))
    }
}
