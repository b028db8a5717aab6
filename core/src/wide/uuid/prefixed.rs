//! UUIDs after a prefix.

use super::Uuid;
use crate::forms::prefix::UUID_WIDTH;
use crate::forms::prefix::value::{Value, sealed::Sealed};

impl Sealed for Uuid {}

impl Value for Uuid {
    const WIDTH: usize = UUID_WIDTH;
    const LAST_LEAD: u8 = 7;

    fn to_wide(self) -> u128 {
        self.to_bits()
    }

    fn from_wide(bits: u128) -> Self {
        Self::from_bits(bits)
    }
}
