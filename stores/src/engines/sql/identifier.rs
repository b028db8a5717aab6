//! Names of tables and sequences, which cannot be parameters of a statement.

use std::fmt;

use snowmint_core::native;

use crate::error::Error;

/// A name that is safe between quotes of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identifier(String);

impl Identifier {
    /// Checks a name.
    ///
    /// # Errors
    /// `InvalidStore`, naming the rule.
    pub(in crate::engines) fn new(store: &str, name: &str) -> Result<Self, Error> {
        if !native::is_name(name) {
            return Err(Error::invalid_store(store, format_args!("{}, not {name:?}", native::NAME_RULE)));
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
