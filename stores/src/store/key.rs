//! Names chosen by users, as parts of keys.

use std::fmt::Write as _;

use snowmint_core::names;
use snowmint_core::store::KeyPart;

use crate::error::Error;

/// Appends a name to a prefix, as [`KeyPart`] writes it. Takes every name that a store can have, new or not: see
/// [`refuse_new`].
///
/// # Errors
/// `InvalidText`, unless the name is 1 to 128 bytes long.
pub(crate) fn key(prefix: &str, name: &str) -> Result<String, Error> {
    names::refuse_length(name)?;
    let mut key = prefix.to_owned();
    // Writing to a string cannot fail.
    let _ = KeyPart::new(&mut key).write_str(name);
    Ok(key)
}

/// Refuses a key whose record is about to be written for the first time, if its last part is not an allowed name.
///
/// Callers that find a record do not ask this: a name that an earlier version allowed stays usable.
///
/// # Errors
/// `InvalidText`.
#[cfg(any(test, feature = "numbers"))]
pub(crate) fn refuse_new(key: &str) -> Result<(), Error> {
    let part = key.rsplit('/').next().unwrap_or(key);
    Ok(names::refuse_new(&name(part).unwrap_or_default())?)
}

/// Decodes a name. `None` if a `%` is not followed by two hexadecimal digits, or the bytes are not UTF-8.
#[cfg(any(test, feature = "numbers"))]
pub(crate) fn name(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == b'%' {
            let (digits, after) = rest.split_at_checked(2)?;
            rest = after;
            // The parser accepts a sign.
            let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use snowmint_core::ErrorKind;

    use super::*;

    #[test]
    fn names_survive_the_way_to_a_key_and_back() {
        for (given, part) in [
            ("orders", "orders"),
            ("a.b", "a.b"),
            (".", "%2E"),
            ("..", "%2E."),
            ("a/b", "a%2Fb"),
            ("a b", "a%20b"),
            ("100%", "100%25"),
            ("Käse", "K%C3%A4se"),
            ("'; DROP", "%27%3B%20DROP"),
        ] {
            assert_eq!(key("p/", given), Ok(format!("p/{part}")));
            assert_eq!(name(part).as_deref(), Some(given));
        }
    }

    #[test]
    fn a_new_name_is_checked_in_its_key() {
        for (given, is_allowed) in
            [("a/b.c", true), ("Käse", true), ("Ka\u{308}se", false), ("a\n", false), ("\0", false)]
        {
            let key = key("settings/tickets/", given).expect("a name that may be there");
            assert_eq!(refuse_new(&key).is_ok(), is_allowed, "{given:?}");
        }
    }

    #[test]
    fn a_name_has_1_to_128_bytes() {
        for given in [String::new(), "x".repeat(129)] {
            assert_eq!(key("p/", &given).expect_err("no name").kind(), ErrorKind::InvalidText);
        }
        assert!(key("sequences/", &"/".repeat(128)).expect("a key").len() < crate::store::MAX_KEY_BYTES);
    }
}
