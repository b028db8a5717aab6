//! Names that users choose: of keys, segment tags, sequences, tickets and sets of users.
//!
//! A name is 1 to 128 bytes of text in Unicode's normal form NFC, without control and format characters. So two names that
//! look the same on a screen are one name, and no name ends a line. Namespaces have a narrower rule, which
//! [`NamespaceName`](crate::lease::NamespaceName) checks.
//!
//! The rule is for new names. A name that a store already has does not change, and can be read and used.

#[cfg(feature = "names")]
use unicode_normalization::is_nfc;

use crate::error::{Error, What};
use crate::forms::shown::place_of_hidden;

/// The most bytes of a name.
pub const MAX_BYTES: usize = super::MAX_NAME_BYTES;

/// Refuses a text that no name of a store can have been: the length is wrong.
///
/// # Errors
/// `InvalidText`.
///
/// # Examples
/// ```
/// use snowmint_core::names::refuse_length;
/// assert!(refuse_length("orders").is_ok() && refuse_length("").is_err());
/// ```
pub fn refuse_length(name: &str) -> Result<(), Error> {
    if (1..=MAX_BYTES).contains(&name.len()) {
        Ok(())
    } else {
        Err(Error::new(What::NameLength, 0, MAX_BYTES as u64, name.len() as u64))
    }
}

/// Refuses a text that cannot become a name; `is_nfc` is whether the text is in NFC, which some hosts know themselves.
///
/// # Errors
/// `InvalidText`.
///
/// # Examples
/// ```
/// use snowmint_core::names::refuse;
/// assert!(refuse("K\u{e4}se", true).is_ok());
/// assert!(refuse("Ka\u{308}se", false).is_err());
/// ```
pub fn refuse(name: &str, is_nfc: bool) -> Result<(), Error> {
    refuse_length(name)?;
    if let Some(place) = place_of_hidden(name) {
        return Err(Error::new(What::NameCharacter, 0, place, 0));
    }
    if is_nfc { Ok(()) } else { Err(Error::plain(What::NameForm)) }
}

/// Refuses a text that cannot become a name.
///
/// # Errors
/// `InvalidText`.
///
/// # Examples
/// ```
/// use snowmint_core::names::refuse_new;
/// assert!(refuse_new("Käse/1 kg").is_ok());
/// let error = refuse_new("orders\n").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "character 7 of the name is a control or format character, which a name cannot have: leave it out"
/// );
/// // The letter a and a combining diaeresis look like ä.
/// assert!(refuse_new("Ka\u{308}se").is_err());
/// ```
#[cfg(feature = "names")]
pub fn refuse_new(name: &str) -> Result<(), Error> {
    refuse(name, name.is_ascii() || is_nfc(name))
}
