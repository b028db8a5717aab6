//! Prefixed IDs, which say what they identify: `user_01h455vb4pex5vsknk084sn02q`.
//!
//! | value | characters after the prefix | text |
//! | --- | --- | --- |
//! | a 64-bit ID | 13 | `user_1asd13xh1f800` |
//! | a [`Uuid`](crate::Uuid) | 26 | a `TypeID`, as version 0.3 of its specification (`jetify-com/typeid` on GitHub) says |
//!
//! The value is written in Crockford's base 32, in lower case, with a fixed width. So texts with one prefix sort like
//! their values. Reading is strict: it refuses another prefix, upper case, the letters `i l o u`, and another length.

mod text;
pub(crate) mod value;

use core::fmt;
use core::str::FromStr;

pub use self::text::PrefixedText;
pub use self::value::Value;

use crate::error::{Error, What};

/// The most characters of a prefix.
pub const MAX_PREFIX_CHARS: usize = 63;

/// The number of characters of a UUID.
pub(crate) const UUID_WIDTH: usize = 26;

/// The prefix, the underscore and the characters of a UUID.
const MAX_TEXT_CHARS: usize = MAX_PREFIX_CHARS + 1 + UUID_WIDTH;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The prefix of an ID: 0 to 63 characters `a-z` and `_`, of which the first and the last are letters.
///
/// An ID with the empty prefix has no underscore either.
///
/// # Examples
/// ```
/// use snowmint_core::prefix::Prefix;
/// assert_eq!(Prefix::new("api_key")?.as_str(), "api_key");
/// assert!(Prefix::new("User").is_err() && Prefix::new("user_").is_err());
/// # Ok::<(), snowmint_core::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix {
    /// The characters, then zeros.
    bytes: [u8; MAX_PREFIX_CHARS],
    len: u8,
}

impl Prefix {
    /// Checks a prefix.
    ///
    /// # Errors
    /// `InvalidText`: another character, an underscore at an end, or more than 63 characters.
    pub fn new(text: impl AsRef<[u8]>) -> Result<Self, Error> {
        Self::checked(text.as_ref()).ok_or(Error::plain(What::PrefixText))
    }

    /// Makes a prefix in a constant.
    ///
    /// # Panics
    /// If it is not valid; in a constant that is an error of the compiler.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::prefix::Prefix;
    /// const USER: Prefix = Prefix::literal("user");
    /// assert_eq!(USER.as_str(), "user");
    /// ```
    pub const fn literal(text: &str) -> Self {
        match Self::checked(text.as_bytes()) {
            Some(prefix) => prefix,
            None => panic!("a prefix has at most 63 characters, a-z and _, and begins and ends with a letter"),
        }
    }

    const fn checked(text: &[u8]) -> Option<Self> {
        let len = text.len();
        if len > MAX_PREFIX_CHARS || (len > 0 && (text[0] == b'_' || text[len - 1] == b'_')) {
            return None;
        }
        let mut bytes = [0; MAX_PREFIX_CHARS];
        let mut at = 0;
        while at < len {
            if !matches!(text[at], b'a'..=b'z' | b'_') {
                return None;
            }
            bytes[at] = text[at];
            at += 1;
        }
        Some(Self { bytes, len: len as u8 })
    }

    /// Returns the characters.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::prefix::Prefix;
    /// assert_eq!(Prefix::new("")?.as_str(), "");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Writes a value after this prefix.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::prefix::Prefix;
    /// let user = Prefix::new("user")?;
    /// assert_eq!(user.encode(1_541_815_603_606_036_480).as_str(), "user_1asd13xh1f800");
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn encode<V: Value>(&self, value: V) -> PrefixedText {
        let mut text = PrefixedText::EMPTY;
        text.push(self.as_bytes());
        if self.len > 0 {
            text.push(b"_");
        }
        let bits = value.to_wide();
        for place in (0..V::WIDTH).rev() {
            text.push(&[ALPHABET[(bits >> (5 * place)) as usize & 31]]);
        }
        text
    }

    /// Reads the value of a text with this prefix.
    ///
    /// # Errors
    /// `InvalidText`: another prefix, another number of characters after it, a character that is not of the alphabet, or
    /// a number that is too large.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::prefix::Prefix;
    /// let user = Prefix::new("user")?;
    /// assert_eq!(user.decode::<u64>("user_1asd13xh1f800")?, 1_541_815_603_606_036_480);
    /// let error = user.decode::<u64>("order_1asd13xh1f800").unwrap_err();
    /// assert_eq!(error.to_string(), r#"the prefix of the ID is "order", and "user" is needed: pass an ID of that kind"#);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn decode<V: Value>(&self, text: impl AsRef<[u8]>) -> Result<V, Error> {
        let (prefix, suffix) = split(text.as_ref());
        // `_` before a value is not the empty prefix.
        if prefix.unwrap_or_default() != self.as_bytes() || prefix.is_some() != (self.len > 0) {
            return Err(Error::new(What::PrefixOther, 0, shown(prefix.unwrap_or_default()), shown(self.as_bytes())));
        }
        value(suffix)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl FromStr for Prefix {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::new(text)
    }
}

/// Writes a 64-bit ID or a UUID after a prefix.
///
/// # Errors
/// `InvalidText`, if the prefix is not valid.
///
/// # Examples
/// ```
/// use snowmint_core::{Uuid, prefix};
/// assert_eq!(prefix::encode("user", 1_541_815_603_606_036_480)?.as_str(), "user_1asd13xh1f800");
/// let uuid: Uuid = "01890a5d-ac96-774b-bcce-b302099a8057".parse()?;
/// assert_eq!(prefix::encode("user", uuid)?.as_str(), "user_01h455vb4pex5vsknk084sn02q");
/// # Ok::<(), snowmint_core::Error>(())
/// ```
pub fn encode<V: Value>(prefix: impl AsRef<[u8]>, value: V) -> Result<PrefixedText, Error> {
    Ok(Prefix::new(prefix)?.encode(value))
}

/// Reads the 64-bit ID or the UUID of a text with this prefix.
///
/// # Errors
/// As [`Prefix::new`] and [`Prefix::decode`].
///
/// # Examples
/// ```
/// use snowmint_core::{Uuid, prefix};
/// assert_eq!(prefix::decode::<u64>("user", "user_1asd13xh1f800")?, 1_541_815_603_606_036_480);
/// let uuid: Uuid = prefix::decode("user", "user_01h455vb4pex5vsknk084sn02q")?;
/// assert_eq!(uuid.to_string(), "01890a5d-ac96-774b-bcce-b302099a8057");
/// # Ok::<(), snowmint_core::Error>(())
/// ```
pub fn decode<V: Value>(prefix: impl AsRef<[u8]>, text: impl AsRef<[u8]>) -> Result<V, Error> {
    Prefix::new(prefix)?.decode(text)
}

/// Returns whether the part after the prefix is as long as a UUID. For hosts where IDs and UUIDs have the same type.
#[doc(hidden)]
pub fn is_uuid(text: impl AsRef<[u8]>) -> bool {
    split(text.as_ref()).1.len() == UUID_WIDTH
}

/// Returns the value of a text with any prefix but the empty one; `None` for any other text.
pub fn any_prefix<V: Value>(text: &[u8]) -> Option<V> {
    let (prefix, suffix) = split(text);
    let prefix = Prefix::checked(prefix?)?;
    if prefix.len == 0 { None } else { value(suffix).ok() }
}

/// Returns the part before the last underscore, if there is one, and the part after it.
pub(crate) fn split(text: &[u8]) -> (Option<&[u8]>, &[u8]) {
    match text.iter().rposition(|byte| *byte == b'_') {
        Some(at) => (Some(&text[..at]), &text[at + 1..]),
        None => (None, text),
    }
}

/// Reads the characters after a prefix.
pub(crate) fn value<V: Value>(suffix: &[u8]) -> Result<V, Error> {
    // A character of several bytes counts once: its later bytes are 0x80 to 0xbf.
    let len = suffix.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
    if len != V::WIDTH {
        return Err(Error::new(What::SuffixLength, 0, V::WIDTH as u64, len as u64));
    }
    let mut bits = 0u128;
    for (at, byte) in (1..).zip(suffix) {
        let Some(digit) = ALPHABET.iter().position(|each| each == byte) else {
            return Err(Error::new(What::SuffixCharacter, 0, at, 0));
        };
        if at == 1 && digit > usize::from(V::LAST_LEAD) {
            let most = ALPHABET[usize::from(V::LAST_LEAD)];
            return Err(Error::new(What::SuffixOverflow, 0, most.into(), 0));
        }
        bits = bits << 5 | digit as u128;
    }
    Ok(V::from_wide(bits))
}

/// Returns the start of a prefix as an error shows it: 8 characters. A longer prefix ends in `~`.
fn shown(prefix: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    for (to, from) in bytes.iter_mut().zip(prefix) {
        *to = if from.is_ascii_graphic() { *from } else { b'?' };
    }
    if prefix.len() > 8 {
        bytes[7] = b'~';
    }
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::{String, ToString};

    fn refusal<T: fmt::Debug>(result: Result<T, Error>) -> String {
        result.expect_err("an error").to_string()
    }

    #[test]
    fn errors_name_both_prefixes() {
        let user = Prefix::literal("user");
        let needed = |given: &str| refusal(user.decode::<u64>(given));
        assert!(needed("organizations_0000000000000").starts_with(r#"the prefix of the ID is "organiz~", and "user""#));
        assert!(needed("0000000000000").starts_with(r#"the prefix of the ID is "", and "user""#));
        assert!(needed("usér_0000000000000").starts_with(r#"the prefix of the ID is "us??r""#));
        let bare = Prefix::literal("");
        assert!(refusal(bare.decode::<u64>("user_0000000000000")).contains(r#"is "user", and "" is needed"#));
        assert!(bare.decode::<u64>("_0000000000000").is_err());
    }

    #[test]
    fn errors_of_the_value_say_what_is_needed() {
        let read = |text: &str| refusal(decode::<u64>("user", text));
        assert!(
            read("user_01h455vb4pex5vsknk084sn02q").starts_with("13 characters are needed after the prefix, not 26")
        );
        assert!(read("user_é000000000000").starts_with("character 1 after"));
        assert!(read("user_000000000000I").starts_with("character 13 after"));
        assert_eq!(
            read("user_g000000000000"),
            "the number after the prefix is too large: its first character is at most f"
        );
    }

    #[test]
    fn a_literal_is_checked_as_any_prefix() {
        assert_eq!(Prefix::literal("a"), Prefix::new("a").expect("a prefix"));
        for bad in ["_", "a_", "_a", "A", "a1", "a-b", "é", &"a".repeat(64)] {
            assert!(Prefix::new(bad).is_err(), "{bad}");
        }
        assert!(Prefix::new("a".repeat(63)).is_ok() && Prefix::new("a__b").is_ok());
    }

    #[test]
    fn texts_sort_like_their_values() {
        let numbers = [0, 1, 31, 32, u64::MAX >> 1, 1 << 63, u64::MAX];
        let texts: std::vec::Vec<_> = numbers.map(|id| encode("id", id).expect("a prefix").to_string()).into();
        assert!(texts.is_sorted_by(|a, b| a < b), "{texts:?}");
    }
}
