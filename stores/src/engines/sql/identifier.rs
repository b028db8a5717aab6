//! Names of tables and sequences, which cannot be parameters of a statement.

use std::fmt;

use crate::error::Error;

const MAX_BYTES: usize = 64;

/// A name that is safe between quotes of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identifier(String);

impl Identifier {
    /// Checks a name.
    ///
    /// # Errors
    /// `InvalidStore`, naming the rule.
    pub(in crate::engines) fn new(store: &str, name: &str) -> Result<Self, Error> {
        let letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
        let fits = (1..=MAX_BYTES).contains(&name.len())
            && name.bytes().next().is_some_and(letter)
            && name.bytes().all(|byte| letter(byte) || byte.is_ascii_digit() || byte == b'$');
        if !fits {
            let rule =
                "the name of a table or sequence must be 1 to 64 of A-Z a-z 0-9 _ $, without a leading digit or $";
            return Err(Error::invalid_store(store, format_args!("{rule}, not {name:?}")));
        }
        Ok(Self(name.to_owned()))
    }

    pub(in crate::engines) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_end_their_quotes_are_refused() {
        for name in ["", "1a", "$a", "a b", "a\"b", "a`b", "a;b", "a.b", "ä", &"a".repeat(65)] {
            assert!(Identifier::new("db", name).is_err(), "{name}");
        }
        for name in ["Tickets64", "_", "a$1", &"a".repeat(64)] {
            assert_eq!(Identifier::new("db", name).expect("it fits").as_str(), name);
        }
    }
}
