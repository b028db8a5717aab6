//! Names of fields and options, stored inline so that layouts and errors need no allocator.

use core::fmt;

use crate::error::{Error, What};
use crate::int::Integer;

const MAX_NAME_BYTES: usize = 23;

/// The name of a field: `[a-z][a-z0-9_]*`, at most 23 characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Name {
    /// The characters, then one or more zeros.
    bytes: [u8; MAX_NAME_BYTES + 1],
}

impl Name {
    pub(crate) const EMPTY: Self = Self { bytes: [0; MAX_NAME_BYTES + 1] };

    /// Returns the start of a text as a name, with `?` for characters that are not printable ASCII. A text that is too
    /// long becomes a name that no field has.
    #[inline(never)]
    pub(crate) const fn cut(text: &[u8]) -> Self {
        let mut name = Self::EMPTY;
        let mut i = 0;
        while i <= MAX_NAME_BYTES && i < text.len() {
            name.bytes[i] = if text[i].is_ascii_graphic() { text[i] } else { b'?' };
            i += 1;
        }
        name
    }

    /// Returns whether the text was a name, if all its bytes pass [`is_name_byte`].
    pub(crate) const fn is_one(&self) -> bool {
        self.bytes[0].is_ascii_lowercase() && self.bytes[MAX_NAME_BYTES] == 0
    }

    /// Returns the first 16 characters, which an error shows.
    #[allow(clippy::many_single_char_names, reason = "a pattern needs no code that checks the length")]
    const fn start(&self) -> [u64; 2] {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, ..] = self.bytes;
        [u64::from_le_bytes([a, b, c, d, e, f, g, h]), u64::from_le_bytes([i, j, k, l, m, n, o, p])]
    }

    /// Returns the error about the field with this name, which has `width` bits. It shows the first 16 characters.
    #[cold]
    #[inline(never)]
    pub(crate) const fn refused(&self, what: What, width: u32) -> Error {
        self.error(what, width << 2)
    }

    /// Returns the error that shows the first 16 characters, and the mark as a number.
    pub(crate) const fn error(&self, what: What, mark: u32) -> Error {
        let [start, more] = self.start();
        Error::new(what, mark, start, more)
    }

    pub(crate) const fn as_bytes(&self) -> &[u8] {
        let mut len = 0;
        while self.bytes[len] != 0 && len < MAX_NAME_BYTES {
            len += 1;
        }
        self.bytes.split_at(len).0
    }

    /// Returns the name as a string.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::layouts::DISCORD;
    /// let (name, _) = DISCORD.fields().nth(1).expect("a layout of four fields");
    /// assert_eq!(name.as_str(), "worker");
    /// ```
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    /// Compares two names. Unlike `==` it works in constants, and wasm has its code once.
    #[inline(never)]
    pub(crate) const fn is(&self, other: &Self) -> bool {
        let mut i = 0;
        while i < MAX_NAME_BYTES + 1 && self.bytes[i] == other.bytes[i] {
            i += 1;
        }
        i == MAX_NAME_BYTES + 1
    }
}

impl Integer {
    /// Returns the integer as the value of an option with this name, a length of time in ms. The error shows the first 16
    /// characters of the name.
    ///
    /// # Errors
    /// `InvalidId` outside 0 to 2^64-1.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// assert_eq!(Integer::from(5).ms("max_wait_ms")?, 5);
    /// let error = Integer::from(-5).ms("max_wait_ms").unwrap_err();
    /// assert_eq!(error.to_string(), "max_wait_ms is a number of ms, 0 to 2^64-1");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn ms(self, option: &str) -> Result<u64, Error> {
        match self {
            Self::Fits(ms) => Ok(ms),
            _ => Err(Name::cut(option.as_bytes()).refused(What::OptionMs, 0)),
        }
    }
}

/// Returns whether all bytes pass [`is_name_byte`].
pub(crate) const fn has_name_bytes(text: &[u8]) -> bool {
    let mut i = 0;
    while i < text.len() && is_name_byte(text[i]) {
        i += 1;
    }
    i == text.len()
}

/// Returns whether a name can have this byte after its first.
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
