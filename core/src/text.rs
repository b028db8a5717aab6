//! Fixed-width text forms of a 64-bit ID: zero-padded, so that text order is number order.

use core::fmt;

use crate::error::{Error, ErrorKind, What};
use crate::layout::Name;

const FORM: What = What(ErrorKind::InvalidText, "text forms are decimal, hex, base32, base36, base58 and base62");
const LENGTH: What = What(ErrorKind::InvalidText, "{n} text of an ID has {a} characters, not {b}");
const CHARACTER: What = What(ErrorKind::InvalidText, "character {a} is not one of {n}");
const OVERFLOW: What = What(ErrorKind::InvalidText, "this {n} text stands for more than 2^64-1");

/// The widest form, decimal.
const MAX_WIDTH: usize = 20;

/// How an ID is written.
///
/// | form | characters | alphabet |
/// | --- | --- | --- |
/// | `decimal` | 20 | 0-9 |
/// | `hex` | 16 | 0-9 a-f; decodes either case |
/// | `base32` | 13 | Crockford's, upper case; decodes either case, and `I L O` as `1 1 0` |
/// | `base36` | 13 | 0-9 a-z; decodes either case |
/// | `base58` | 11 | Bitcoin's, whose zero is `1` |
/// | `base62` | 11 | 0-9 A-Z a-z |
///
/// Decoding is strict: the exact length, no sign, no blank, nothing above 2^64-1.
///
/// # Examples
/// ```
/// use snowmint_core::TextForm;
/// assert_eq!(TextForm::Base62.encode(1_541_815_603_606_036_480).as_str(), "1ptWyK4WgZU");
/// assert_eq!(TextForm::Base62.decode("1ptWyK4WgZU"), Ok(1_541_815_603_606_036_480));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TextForm {
    /// 20 decimal digits.
    Decimal,
    /// 16 hexadecimal digits.
    Hex,
    /// 13 characters of Douglas Crockford's base 32.
    Base32,
    /// 13 characters of base 36.
    Base36,
    /// 11 characters of Bitcoin's base 58.
    Base58,
    /// 11 characters of base 62.
    Base62,
}

struct Shape {
    name: &'static str,
    width: usize,
    alphabet: &'static [u8],
    any_case: bool,
    /// Whether `I`, `L` and `O` are read as the digits they look like.
    crockford: bool,
}

const DIGITS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LOWER: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";

static SHAPES: [Shape; 6] = [
    Shape { name: "decimal", width: 20, alphabet: DIGITS.split_at(10).0, crockford: false, any_case: false },
    Shape { name: "hex", width: 16, alphabet: LOWER.split_at(16).0, crockford: false, any_case: true },
    Shape { name: "base32", width: 13, alphabet: b"0123456789ABCDEFGHJKMNPQRSTVWXYZ", crockford: true, any_case: true },
    Shape { name: "base36", width: 13, alphabet: LOWER, crockford: false, any_case: true },
    Shape {
        name: "base58",
        width: 11,
        alphabet: b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
        crockford: false,
        any_case: false,
    },
    Shape { name: "base62", width: 11, alphabet: DIGITS, crockford: false, any_case: false },
];

impl TextForm {
    /// Every form.
    pub const ALL: [Self; 6] = [Self::Decimal, Self::Hex, Self::Base32, Self::Base36, Self::Base58, Self::Base62];

    /// The form of that name.
    ///
    /// # Errors
    /// `InvalidText`, if there is none.
    pub fn find(name: impl AsRef<[u8]>) -> Result<Self, Error> {
        let found = SHAPES.iter().position(|shape| shape.name.as_bytes() == name.as_ref());
        found.map(|i| Self::ALL[i]).ok_or(Error::plain(&FORM))
    }

    /// The name of this form in every language, such as `"base62"`.
    pub fn name(self) -> &'static str {
        self.shape().name
    }

    /// How many characters every text of this form has.
    pub fn width(self) -> usize {
        self.shape().width
    }

    fn shape(self) -> &'static Shape {
        &SHAPES[self as usize]
    }

    /// Writes an ID in this form.
    pub fn encode(self, id: u64) -> IdText {
        let shape = self.shape();
        let base = shape.alphabet.len() as u64;
        let mut text = IdText { bytes: [0; MAX_WIDTH], width: shape.width };
        let mut rest = id;
        for place in text.bytes[..shape.width].iter_mut().rev() {
            *place = shape.alphabet[(rest % base) as usize];
            rest /= base;
        }
        text
    }

    /// Reads an ID of this form.
    ///
    /// # Errors
    /// `InvalidText`: a wrong length, a character of no meaning, or a value above 2^64-1.
    pub fn decode(self, text: impl AsRef<[u8]>) -> Result<u64, Error> {
        self.decode_bytes(text.as_ref())
    }

    fn decode_bytes(self, text: &[u8]) -> Result<u64, Error> {
        let shape = self.shape();
        let name = Name::cut(shape.name.as_bytes());
        // A character of several bytes counts once: the bytes that go on with one are 0x80 to 0xbf.
        let len = text.iter().filter(|byte| !(0x80..0xc0).contains(*byte)).count();
        if len != shape.width {
            return Err(Error::new(&LENGTH, [shape.width as u64, len as u64]).named(name));
        }
        let mut id = 0u64;
        for (at, byte) in (1..).zip(text) {
            let Some(digit) = shape.digit(*byte) else {
                return Err(Error::new(&CHARACTER, [at, 0]).named(name));
            };
            let shifted = id.checked_mul(shape.alphabet.len() as u64);
            id = shifted.and_then(|id| id.checked_add(digit)).ok_or(Error::plain(&OVERFLOW).named(name))?;
        }
        Ok(id)
    }
}

impl Shape {
    fn digit(&self, byte: u8) -> Option<u64> {
        let value = |byte: u8| self.alphabet.iter().position(|digit| *digit == byte).map(|value| value as u64);
        let upper = byte.to_ascii_uppercase();
        match upper {
            _ if !self.any_case => value(byte),
            b'I' | b'L' if self.crockford => Some(1),
            b'O' if self.crockford => Some(0),
            _ => value(upper).or_else(|| value(byte.to_ascii_lowercase())),
        }
    }
}

/// The text of an ID, without an allocator.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct IdText {
    bytes: [u8; MAX_WIDTH],
    width: usize,
}

impl IdText {
    /// The characters, all ASCII.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.width]
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

impl fmt::Display for IdText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for IdText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
