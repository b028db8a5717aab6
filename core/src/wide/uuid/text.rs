//! The text of a UUID: 36 characters, and the other forms that are read.

use core::fmt;
use core::str::FromStr;

use super::Uuid;
use crate::error::{Error, What};
use crate::forms::text::{IdText, TextForm, hex_digits, wide};

impl Uuid {
    /// Reads 36 characters, such as `123e4567-e89b-12d3-a456-426614174000`, in upper or lower case; `None` for any other
    /// text. [`FromStr`] also reads braces, `urn:uuid:` and texts without hyphens.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// assert_eq!(Uuid::parse("017f22e2-79b0-7cc3-98c4-dc0c0c07398f").and_then(Uuid::version), Some(7));
    /// assert_eq!(Uuid::parse("017f22e279b07cc398c4dc0c0c07398f"), None);
    /// ```
    pub fn parse(text: impl AsRef<[u8]>) -> Option<Self> {
        let text = text.as_ref();
        let mut digits = [0; 32];
        let mut places = digits.iter_mut();
        for (at, byte) in text.iter().enumerate() {
            match at {
                8 | 13 | 18 | 23 if *byte == b'-' => {}
                8 | 13 | 18 | 23 => return None,
                _ => *places.next()? = *byte,
            }
        }
        if text.len() == 36 { Self::parse_hex(digits) } else { None }
    }

    /// Reads 32 hexadecimal digits, in upper or lower case; `None` for any other text.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// let uuid = Uuid::parse_hex("017f22e279b07cc398c4dc0c0c07398f");
    /// assert_eq!(uuid, Uuid::parse("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"));
    /// ```
    pub fn parse_hex(digits: impl AsRef<[u8]>) -> Option<Self> {
        let digits = digits.as_ref();
        if digits.len() == 32 { wide(digits, TextForm::Hex, 4).map(Self) } else { None }
    }

    /// Returns the 36 characters, in lower case.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Uuid;
    /// assert_eq!(Uuid::NIL.text().as_str(), "00000000-0000-0000-0000-000000000000");
    /// ```
    #[inline]
    pub fn text(self) -> IdText {
        // The places of the digits of each byte, with hyphens between them.
        const PLACES: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
        let mut text = [b'-'; 36];
        for (place, byte) in PLACES.into_iter().zip(self.to_bytes()) {
            [text[place], text[place + 1]] = hex_digits(byte);
        }
        IdText::full(text)
    }
}

impl FromStr for Uuid {
    type Err = Error;

    /// Reads 36 characters, also in braces or after `urn:uuid:`, or 32 without hyphens.
    fn from_str(text: &str) -> Result<Self, Error> {
        let bare = match text.as_bytes() {
            [b'{', bare @ .., b'}'] => bare,
            text => match text.split_at_checked(9) {
                Some((urn, bare)) if urn.eq_ignore_ascii_case(b"urn:uuid:") => bare,
                _ => text,
            },
        };
        Self::parse(bare).or_else(|| Self::parse_hex(text)).ok_or(Error::plain(What::UuidText))
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.text(), f)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::ErrorKind;
    use std::string::ToString;

    #[test]
    fn a_uuid_is_read_in_every_form() {
        let uuid = Uuid::from_bits(0x123e_4567_e89b_12d3_a456_4266_1417_4000);
        for text in [
            "123e4567-e89b-12d3-a456-426614174000",
            "123E4567-E89B-12D3-A456-426614174000",
            "{123e4567-e89b-12d3-a456-426614174000}",
            "URN:UUID:123e4567-e89b-12d3-a456-426614174000",
            "123e4567e89b12d3a456426614174000",
        ] {
            assert_eq!(text.parse(), Ok(uuid), "{text}");
        }
        assert_eq!(uuid.to_string(), "123e4567-e89b-12d3-a456-426614174000");
        assert_eq!("123e4567".parse::<Uuid>().expect_err("too short").kind(), ErrorKind::InvalidText);
    }
}
