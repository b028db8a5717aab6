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
