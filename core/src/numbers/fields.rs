//! Definitions: records of text that every language reads. The first line names the kind and the version of a record.

use core::str::FromStr;

use crate::error::{Error, What};

/// The lines `name=value` of a definition.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(&'a str);

impl<'a> Fields<'a> {
    /// Reads the text after the first line, which is `kind` and the version 1.
    ///
    /// # Errors
    /// `StoreUnavailable`, also for a later version.
    pub fn read(record: &'a [u8], kind: &str) -> Result<Self, Error> {
        let text = str::from_utf8(record).ok().and_then(|text| text.strip_prefix(kind)?.strip_prefix(' '));
        let (version, text) = text.and_then(|text| text.split_once('\n')).ok_or(UNDEFINED)?;
        match version.parse() {
            Ok(1) => Ok(Self(text)),
            Ok(later @ 2u64..) => Err(Error::new(What::LaterRecord, 0, later, 1)),
            _ => Err(UNDEFINED),
        }
    }

    /// Splits off a text that may contain several lines, and so comes last.
    ///
    /// # Errors
    /// `StoreUnavailable`, if the definition lacks it.
    pub fn split_last(self, name: &str) -> Result<(Self, &'a str), Error> {
        self.0.split_once(name).map(|(fields, text)| (Self(fields), text)).ok_or(UNDEFINED)
    }

    /// Returns the text of a line.
    pub fn get(self, name: &str) -> Option<&'a str> {
        self.0.lines().filter_map(|line| line.split_once('=')).find(|(given, _)| *given == name).map(|(_, value)| value)
    }

    /// Returns the value of a line, if it can be read.
    pub fn value<T: FromStr>(self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }
}

/// The error about a record of another form.
pub const UNDEFINED: Error = Error::plain(What::NoRecord);

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    #[test]
    fn a_later_version_is_named_and_other_text_is_no_record() {
        let says = |text: &str| Fields::read(text.as_bytes(), "segment").map(drop).map_err(|error| error.to_string());
        assert_eq!(says("segment 1\nstep=5\n"), Ok(()));
        let later = "the record has version 2, and this snowmint reads up to 1: update snowmint";
        assert_eq!(says("segment 2\nstep=5\n"), Err(later.to_string()));
        for text in ["", "segment 1", "segment 0\n", "segment x\n", "segments 1\n", "sequence 1\n", "segment1\n"] {
            assert_eq!(says(text), Err(UNDEFINED.to_string()), "{text:?}");
        }
    }

    #[test]
    fn a_line_is_found_by_its_name() {
        let fields = Fields::read(b"segment 1\nstep=5\nnext=x=y\n", "segment").expect("a definition");
        assert_eq!((fields.value::<u64>("step"), fields.get("next"), fields.get("x")), (Some(5), Some("x=y"), None));
        assert_eq!(fields.value::<u64>("next"), None);
    }
}
