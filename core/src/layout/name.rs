//! Field names, kept inline so that layouts need no allocator.

use core::fmt;

const CAPACITY: usize = 23;

/// The name of a field: `[a-z][a-z0-9_]*`, at most 23 characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Name {
    len: u8,
    bytes: [u8; CAPACITY],
}

impl Name {
    pub(crate) const EMPTY: Self = Self { len: 0, bytes: [0; CAPACITY] };

    /// Becomes `name`, all of whose bytes pass [`is_name_byte`]; answers whether it is one.
    pub(crate) const fn set(&mut self, name: &[u8]) -> bool {
        if name.len() > CAPACITY {
            return false;
        }
        self.len = name.len() as u8;
        self.bytes.split_at_mut(name.len()).0.copy_from_slice(name);
        self.bytes[0].is_ascii_lowercase()
    }

    pub(crate) const fn as_bytes(&self) -> &[u8] {
        self.bytes.split_at(self.len as usize).0
    }

    /// The name as a string.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    /// Equality in constants.
    pub(crate) const fn is(&self, other: &[u8]) -> bool {
        same(self.as_bytes(), other)
    }
}

/// Equality of texts, in constants too, and in one place: where `==` is used it is compiled in, which counts in wasm.
#[inline(never)]
pub(super) const fn same(one: &[u8], other: &[u8]) -> bool {
    let mut same = one.len() == other.len();
    let mut i = 0;
    while same && i < other.len() {
        same = one[i] == other[i];
        i += 1;
    }
    same
}

/// Whether all bytes are such as names have.
pub(super) const fn has_name_bytes(text: &[u8]) -> bool {
    let mut i = 0;
    while i < text.len() && is_name_byte(text[i]) {
        i += 1;
    }
    i == text.len()
}

pub(crate) const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
