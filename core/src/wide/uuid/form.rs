//! Short texts of a UUID, of fixed width.

use super::Uuid;
use crate::error::{Error, What};
use crate::forms::name::Name;
use crate::forms::text::{Case, IdText, Shape, TextForm};

/// A short text form of a UUID, or of other 128 bits.
///
/// | form | characters | alphabet | texts sort like UUIDs |
/// | --- | --- | --- | --- |
/// | `base32` | 26 | Crockford's, upper case, as of ULIDs; decodes either case, and `I L O` as `1 1 0` | yes |
/// | `base58` | 22 | Bitcoin's, whose zero is `1` | yes |
/// | `base62` | 22 | 0-9 A-Z a-z | yes |
/// | `base64url` | 22 | A-Z a-z 0-9 - _, without padding (RFC 4648, section 5): of the 16 bytes | no |
///
/// # Examples
/// ```
/// use snowmint_core::{Uuid, UuidForm};
/// let uuid: Uuid = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f".parse()?;
/// let texts = UuidForm::ALL.map(|form| form.encode(uuid).to_string());
/// assert_eq!(texts[1], "1BihbxwwQ4NZZpKRH9JDCz");
/// assert_eq!(texts[3], "AX8i4nmwfMOYxNwMDAc5jw");
/// assert_eq!(UuidForm::Base58.decode("1BihbxwwQ4NZZpKRH9JDCz")?, uuid);
/// # Ok::<(), snowmint_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UuidForm {
    /// 26 characters of Douglas Crockford's base 32.
    Base32,
    /// 22 characters of Bitcoin's base 58.
    Base58,
    /// 22 characters of base 62.
    Base62,
    /// 22 characters of base 64 for URLs.
    Base64url,
}

static BASE64URL: Shape = Shape {
    width: 22,
    alphabet: b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
    case: Case::Matters,
};

impl UuidForm {
    /// All forms.
    pub const ALL: [Self; 4] = [Self::Base32, Self::Base58, Self::Base62, Self::Base64url];

    /// Returns the form with this name.
    ///
    /// # Errors
    /// `InvalidText`, if no form has this name.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::UuidForm;
    /// assert_eq!(UuidForm::find("base58"), Ok(UuidForm::Base58));
    /// assert!(UuidForm::find("hex").is_err());
    /// ```
    pub fn find(name: impl AsRef<[u8]>) -> Result<Self, Error> {
        let mut forms = Self::ALL.into_iter();
        forms.find(|form| form.name().as_bytes() == name.as_ref()).ok_or(Error::plain(What::UuidForm))
    }

    /// Returns the name of this form in every language, such as `"base58"`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Base32 => "base32",
            Self::Base58 => "base58",
            Self::Base62 => "base62",
            Self::Base64url => "base64url",
        }
    }

    /// Returns the number of characters in each text of this form.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::UuidForm;
    /// assert_eq!(UuidForm::ALL.map(UuidForm::width), [26, 22, 22, 22]);
    /// ```
    pub const fn width(self) -> usize {
        if matches!(self, Self::Base32) { 26 } else { 22 }
    }

    fn shape(self) -> &'static Shape {
        match self {
            Self::Base32 => TextForm::Base32.shape(),
            Self::Base58 => TextForm::Base58.shape(),
            Self::Base62 => TextForm::Base62.shape(),
            Self::Base64url => &BASE64URL,
        }
    }

    /// Returns how many bits follow the UUID: base 64 of bytes is filled up to whole characters at the end.
    const fn padding(self) -> u32 {
        if matches!(self, Self::Base64url) { 4 } else { 0 }
    }

    /// Writes a UUID in this form.
    pub fn encode(self, uuid: Uuid) -> IdText {
        let alphabet = self.shape().alphabet;
        let base = alphabet.len() as u128;
        let mut rest = uuid.0;
        let mut text = [0; 26];
        let text = &mut text[..self.width()];
        // With the padding the number has more than 128 bits, so the last digit is written first.
        let (others, last) = text.split_at_mut(self.width() - 1);
        let base_of_last = base >> self.padding();
        last[0] = alphabet[((rest % base_of_last) << self.padding()) as usize];
        rest /= base_of_last;
        for place in others.iter_mut().rev() {
            *place = alphabet[(rest % base) as usize];
            rest /= base;
        }
        IdText::of(text)
    }

    /// Reads a UUID of this form.
    ///
    /// # Errors
    /// `InvalidText`: a wrong length, a character outside the alphabet, a number above 2^128-1, or padding that is not 0.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::UuidForm;
    /// let error = UuidForm::Base62.decode("too short").unwrap_err();
    /// assert_eq!(error.to_string(), "base62 of a UUID takes 22 characters of its alphabet, and is at most 2^128-1");
    /// ```
    pub fn decode(self, text: impl AsRef<[u8]>) -> Result<Uuid, Error> {
        let width = self.width() as u32;
        self.read(text.as_ref()).ok_or(Name::cut(self.name().as_bytes()).error(What::UuidShortText, width))
    }

    fn read(self, text: &[u8]) -> Option<Uuid> {
        let shape = self.shape();
        let base = shape.alphabet.len() as u128;
        let (last, others) = text.split_last()?;
        let mut bits = 0u128;
        for byte in others {
            bits = bits.checked_mul(base)?.checked_add(shape.digit(*byte)? as u128)?;
        }
        let last = shape.digit(*last)?;
        let (last, rest) = (last >> self.padding(), last & ((1 << self.padding()) - 1));
        bits = bits.checked_mul(base >> self.padding())?.checked_add(last as u128)?;
        (rest == 0 && text.len() == self.width()).then_some(Uuid(bits))
    }
}
