//! Fixed-width text forms of a 64-bit ID: zero-padded, so that text order is number order.

use core::fmt;

use crate::error::{Error, What};
use crate::id::Id;
use crate::int::{Integer, append};

/// The width of the widest text: a UUID.
const MAX_WIDTH: usize = 36;

/// A text form of an ID.
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
/// Decoding is strict: it refuses another length, signs, blanks, and numbers above 2^64-1.
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

/// How a form reads upper and lower case.
#[derive(Clone, Copy)]
pub(crate) enum Case {
    Matters,
    Lower,
    /// As upper case, with Crockford's rule: `I` and `L` are 1, `O` is 0.
    Upper,
}

/// The width, the alphabet and the reading of a form.
pub(crate) struct Shape {
    pub(crate) width: usize,
    pub(crate) alphabet: &'static [u8],
    pub(crate) case: Case,
}

const DIGITS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const CROCKFORD: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LOWER: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";

static SHAPES: [Shape; 6] = [
    Shape { width: 20, alphabet: DIGITS.split_at(10).0, case: Case::Matters },
    Shape { width: 16, alphabet: LOWER.split_at(16).0, case: Case::Lower },
    Shape { width: 13, alphabet: CROCKFORD, case: Case::Upper },
    Shape { width: 13, alphabet: LOWER, case: Case::Lower },
    Shape { width: 11, alphabet: b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", case: Case::Matters },
    Shape { width: 11, alphabet: DIGITS, case: Case::Matters },
];

impl TextForm {
    /// All forms.
    pub const ALL: [Self; 6] = [Self::Decimal, Self::Hex, Self::Base32, Self::Base36, Self::Base58, Self::Base62];

    /// Returns the form with this name.
    ///
    /// # Errors
    /// `InvalidText`, if no form has this name.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::TextForm;
    /// assert_eq!(TextForm::find("base58"), Ok(TextForm::Base58));
    /// assert!(TextForm::find("base57").is_err());
    /// ```
    pub fn find(name: impl AsRef<[u8]>) -> Result<Self, Error> {
        let mut forms = Self::ALL.into_iter();
        forms.find(|form| form.name().as_bytes() == name.as_ref()).ok_or(Error::plain(What::Form))
    }

    /// Returns the name of this form in every language, such as `"base62"`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::TextForm;
    /// let names = TextForm::ALL.map(TextForm::name);
    /// assert_eq!(names, ["decimal", "hex", "base32", "base36", "base58", "base62"]);
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Decimal => "decimal",
            Self::Hex => "hex",
            Self::Base32 => "base32",
            Self::Base36 => "base36",
            Self::Base58 => "base58",
            Self::Base62 => "base62",
        }
    }

    /// Returns the number of characters in each text of this form.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::TextForm;
    /// assert_eq!(TextForm::ALL.map(TextForm::width), [20, 16, 13, 13, 11, 11]);
    /// ```
    pub fn width(self) -> usize {
        self.shape().width
    }

    pub(crate) fn shape(self) -> &'static Shape {
        &SHAPES[self as usize]
    }

    /// Writes an ID in the form with this name. The form is checked before the ID.
    ///
    /// # Errors
    /// `InvalidText`, if no form has this name; `InvalidId`, if the integer is not a 64-bit ID.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{ErrorKind, Integer, TextForm};
    /// assert_eq!(TextForm::write("hex", Integer::from(-1))?.as_str(), "ffffffffffffffff");
    /// assert_eq!(TextForm::write("base57", Integer::Above).unwrap_err().kind(), ErrorKind::InvalidText);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn write(form: impl AsRef<[u8]>, id: Integer) -> Result<IdText, Error> {
        Ok(Self::find(form)?.encode(id.id()?))
    }

    /// Reads a text of the form with this name. The form is checked before the text.
    ///
    /// # Errors
    /// `InvalidText`, if no form has this name; as [`Self::decode`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::TextForm;
    /// assert_eq!(TextForm::read("hex", "00000000000000ff"), Ok(255));
    /// assert_eq!(TextForm::read("base57", "?"), Err(TextForm::find("base57").unwrap_err()));
    /// ```
    pub fn read(form: impl AsRef<[u8]>, text: impl AsRef<[u8]>) -> Result<u64, Error> {
        Self::find(form)?.decode(text)
    }

    /// Writes an ID in this form.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::TextForm;
    /// assert_eq!(TextForm::Hex.encode(255).as_str(), "00000000000000ff");
    /// assert!(TextForm::Base62.encode(9).as_str() < TextForm::Base62.encode(10).as_str());
    /// ```
    #[inline]
    pub fn encode(self, id: impl Into<Id>) -> IdText {
        self.encode_bits(id.into().get())
    }

    fn encode_bits(self, id: u64) -> IdText {
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
    /// `InvalidText`: a wrong length, a character outside the alphabet, or a number above 2^64-1.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{ErrorKind, TextForm};
    /// assert_eq!(TextForm::Hex.decode("00000000000000FF"), Ok(255));
    /// let error = TextForm::Hex.decode("ff").unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::InvalidText);
    /// assert_eq!(error.to_string(), "hex takes 16 characters, not 2");
    /// ```
    pub fn decode(self, text: impl AsRef<[u8]>) -> Result<u64, Error> {
        self.decode_bytes(text.as_ref())
    }

    fn decode_bytes(self, text: &[u8]) -> Result<u64, Error> {
        let shape = self.shape();
        // A character of several bytes counts once: its later bytes are 0x80 to 0xbf.
        let len = text.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        let fail = |what, a, b| Err(Error::new(what, self as u32, a, b));
        if len != shape.width {
            return Err(Error::new(What::Length, self as u32, self.shape().width as u64, len as u64));
        }
        let mut id = 0u64;
        for (at, byte) in (1..).zip(text) {
            let Some(digit) = shape.digit(*byte) else {
                return fail(What::Character, at, 0);
            };
            let Some(longer) = append(id, shape.alphabet.len() as u64, digit as u64) else {
                return fail(What::Overflow, 0, 0);
            };
            id = longer;
        }
        Ok(id)
    }
}

/// Reads a number of up to 128 bits with `bits` bits per character: 4 in `hex`, 5 in `base32`. Higher bits are lost.
pub fn wide(text: &[u8], form: TextForm, bits: u32) -> Option<u128> {
    text.iter().try_fold(0, |value, byte| Some((value << bits) | form.shape().digit(*byte)? as u128))
}

/// Returns the character of a digit of base 62, 0 to 61.
pub(crate) const fn base62_digit(value: usize) -> u8 {
    DIGITS[value]
}

/// Returns the value of a digit of base 62.
pub(crate) fn base62_value(byte: u8) -> Option<u32> {
    TextForm::Base62.shape().digit(byte).map(|digit| digit as u32)
}

/// Returns the 26 digits of a number in Crockford's base 32.
#[inline]
pub(crate) fn base32_text(value: u128) -> [u8; 26] {
    let mut digits = [0; 26];
    // Each digit for itself: the processor works on several at once.
    for (digit, place) in digits.iter_mut().rev().zip(0..) {
        *digit = CROCKFORD[(value >> (5 * place)) as usize & 31];
    }
    digits
}

/// Returns the 32 hexadecimal digits of a number, in lower case.
#[inline]
pub(crate) fn hex_text(value: u128) -> [u8; 32] {
    let mut digits = [0; 32];
    for (pair, byte) in digits.as_chunks_mut().0.iter_mut().zip(value.to_be_bytes()) {
        *pair = hex_digits(byte);
    }
    digits
}

/// Returns the two hexadecimal digits of a byte, in lower case.
#[inline]
pub(crate) fn hex_digits(byte: u8) -> [u8; 2] {
    // The digits of all bytes: to look up two at once takes a third off the time of a UUID's text.
    static ALL: [[u8; 2]; 256] = {
        let mut all = [[0; 2]; 256];
        let mut byte = 0;
        while byte < all.len() {
            all[byte] = [LOWER[byte >> 4], LOWER[byte & 15]];
            byte += 1;
        }
        all
    };
    ALL[usize::from(byte)]
}

impl Shape {
    /// Returns the value of a character.
    pub(crate) fn digit(&self, byte: u8) -> Option<usize> {
        let byte = self.canonical(byte);
        self.alphabet.iter().position(|digit| *digit == byte)
    }

    /// Returns the character of the alphabet that a character is read as.
    const fn canonical(&self, byte: u8) -> u8 {
        match (self.case, byte.to_ascii_uppercase()) {
            (Case::Lower, _) => byte.to_ascii_lowercase(),
            (Case::Upper, b'I' | b'L') => b'1',
            (Case::Upper, b'O') => b'0',
            (Case::Upper, upper) => upper,
            (Case::Matters, _) => byte,
        }
    }
}

/// The text of an ID. It needs no allocator.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct IdText {
    bytes: [u8; MAX_WIDTH],
    width: usize,
}

impl IdText {
    /// Makes a text of at most [`MAX_WIDTH`] characters, all ASCII.
    #[inline]
    pub(crate) fn of(text: &[u8]) -> Self {
        let mut bytes = [0; MAX_WIDTH];
        bytes[..text.len()].copy_from_slice(text);
        Self { bytes, width: text.len() }
    }

    /// Makes a text of the greatest width, all ASCII.
    #[inline]
    pub(crate) const fn full(bytes: [u8; MAX_WIDTH]) -> Self {
        Self { bytes, width: MAX_WIDTH }
    }

    /// Returns the characters, all ASCII.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::TextForm;
    /// assert_eq!(TextForm::Base36.encode(35).as_bytes(), b"000000000000z");
    /// ```
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.width]
    }

    /// Returns the text.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::TextForm;
    /// assert_eq!(TextForm::Decimal.encode(42).as_str(), "00000000000000000042");
    /// ```
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
