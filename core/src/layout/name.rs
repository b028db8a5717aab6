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

    pub(crate) const fn new(name: &[u8]) -> Option<Self> {
        if name.is_empty() || name.len() > CAPACITY || !name[0].is_ascii_lowercase() {
            return None;
        }
        let mut bytes = [0; CAPACITY];
        let mut i = 0;
        while i < name.len() {
            if !is_name_byte(name[i]) {
                return None;
            }
            bytes[i] = name[i];
            i += 1;
        }
        Some(Self { len: name.len() as u8, bytes })
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
        let mut same = self.len as usize == other.len();
        let mut i = 0;
        while same && i < other.len() {
            same = self.bytes[i] == other[i];
            i += 1;
        }
        same
    }
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
