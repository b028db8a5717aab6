//! The definition of a sequence, as a record of text.

use core::fmt;

use super::dialect::Dialect;
use super::kind::Kind;
use super::options::Options;
use crate::error::Error;
use crate::numbers::fields::{Fields, UNDEFINED};

/// The record: the line `sequence 1`, then a line for each option with a value.
impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dialect, kind) = (self.dialect.name(), self.kind.name());
        writeln!(f, "sequence 1\ndialect={dialect}\nkind={kind}\nincrement={}\ncycle={}", self.increment, self.cycle)?;
        for (name, given) in [("min", self.min), ("max", self.max), ("start", self.start), ("cache", self.cache)] {
            if let Some(given) = given {
                writeln!(f, "{name}={given}")?;
            }
        }
        Ok(())
    }
}

impl Options {
    /// Reads a definition, which [`Display`](fmt::Display) writes.
    ///
    /// # Errors
    /// `StoreUnavailable`, if the bytes are not a definition of a sequence, or have a later version of this format.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::Options;
    /// let options = Options { start: Some(3), ..Options::DEFAULT };
    /// assert_eq!(Options::read(options.to_string().as_bytes())?, options);
    /// assert!(Options::read(b"garbage").is_err());
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn read(record: &[u8]) -> Result<Self, Error> {
        let fields = Fields::read(record, "sequence")?;
        let named =
            fields.get("dialect").zip(fields.get("kind")).zip(fields.value("increment").zip(fields.value("cycle")));
        let ((dialect, kind), (increment, cycle)) = named.ok_or(UNDEFINED)?;
        let (dialect, kind) =
            (Dialect::find(dialect).map_err(|_| UNDEFINED)?, Kind::find(kind).map_err(|_| UNDEFINED)?);
        Ok(Self {
            dialect,
            kind,
            increment,
            cycle,
            min: fields.value("min"),
            max: fields.value("max"),
            start: fields.value("start"),
            cache: fields.value("cache"),
        })
    }
}
