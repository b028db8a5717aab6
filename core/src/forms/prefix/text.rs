//! The text of a prefixed ID.

use core::fmt;

use super::MAX_TEXT_CHARS;

/// The text of a prefixed ID, at most 90 characters. It needs no allocator.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PrefixedText {
    bytes: [u8; MAX_TEXT_CHARS],
    len: usize,
}

impl PrefixedText {
    pub(super) const EMPTY: Self = Self { bytes: [0; MAX_TEXT_CHARS], len: 0 };

    pub(super) fn push(&mut self, more: &[u8]) {
        self.bytes[self.len..self.len + more.len()].copy_from_slice(more);
        self.len += more.len();
    }

    /// Returns the characters, all ASCII.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::prefix;
    /// assert_eq!(prefix::encode("a", 0)?.as_bytes(), b"a_0000000000000");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Returns the text.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::prefix;
    /// assert_eq!(prefix::encode("", u64::MAX)?.as_str(), "fzzzzzzzzzzzz");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

impl fmt::Display for PrefixedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for PrefixedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
