//! Texts and integers through the shared buffer.

#[cfg(any(feature = "mint", feature = "forms", feature = "inspect", feature = "wide"))]
use snowmint_core::Integer;

use crate::memory::Buffer;

impl Buffer {
    /// The text that JavaScript wrote; one that did not fit is one that nothing accepts.
    pub(crate) fn text(&self, len: u32) -> &[u8] {
        self.text.get(..len as usize).unwrap_or(b" ")
    }

    /// The integer that JavaScript wrote: its magnitude, and whether it is 0: in range, 1: negative, 2: beyond 64 bits.
    #[cfg(any(feature = "mint", feature = "forms", feature = "inspect", feature = "wide"))]
    #[inline(never)]
    pub(crate) fn integer(&self, at: usize) -> Integer {
        match self.words[at + 1] {
            0 => Integer::Fits(self.words[at]),
            1 => Integer::Negative(self.words[at]),
            _ => Integer::Beyond,
        }
    }
}
