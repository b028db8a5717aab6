//! Texts and integers through the shared buffer.

use snowmint_core::Integer;

use crate::memory::{Buffer, TEXT, buffer};

impl Buffer {
    /// The text that JavaScript wrote. A text that did not fit becomes a blank, which no function accepts.
    pub fn text(&self, len: u32) -> &[u8] {
        self.text.get(..len as usize).unwrap_or(b" ")
    }

    /// The integer that JavaScript wrote: its magnitude, and whether it is 0: in range, 1: negative, 2: beyond 64 bits.
    #[inline(never)]
    pub fn integer(&self, at: usize) -> Integer {
        match self.words[at + 1] {
            0 => Integer::Fits(self.words[at]),
            1 => Integer::Negative(self.words[at]),
            _ => Integer::Beyond,
        }
    }
}

/// A copy of the text that JavaScript wrote, since the answer overwrites the buffer. A text that did not fit is empty.
pub struct Told {
    text: [u8; TEXT],
    len: usize,
}

impl Told {
    /// Copies the first `len` bytes of the buffer.
    pub fn take(len: u32) -> Self {
        let len = len as usize;
        Self { text: buffer().text, len: if len > TEXT { 0 } else { len } }
    }

    /// The text; empty if it is not UTF-8.
    pub fn text(&self) -> &str {
        core::str::from_utf8(self.bytes()).unwrap_or_default()
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.text[..self.len]
    }
}
