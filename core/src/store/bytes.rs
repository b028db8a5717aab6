//! The bytes of records: a mark of 8 bytes, a version, and parts of fixed length, little-endian.
//!
//! All records follow one rule for versions. A later version is refused with a message that says so, whatever its length,
//! so that an old program never takes a new record for garbage. An earlier version is not valid: it was never released.
//!
//! ```
//! use snowmint_core::bytes::Format;
//!
//! const FORMAT: Format = Format::new(b"examples", 1);
//! let bytes: [u8; 24] = FORMAT.write().part(7u64.to_le_bytes()).finish();
//! let mut parts = FORMAT.read::<24>(&bytes)?;
//! assert_eq!(u64::from_le_bytes(parts.part()?), 7);
//! # Ok::<(), snowmint_core::Error>(())
//! ```

use core::fmt::{self, Write as _};

use crate::error::{Error, What};
use crate::forms::shown::{Showing, Shown, place_of_hidden};

/// The largest length of a label in bytes.
pub const LABEL_BYTES: usize = 60;

/// Returns a label of a record: the [escaped](Shown) text, filled up with zeros. A text that is too long is cut between
/// two characters.
///
/// # Examples
/// ```
/// use snowmint_core::bytes::label;
/// assert_eq!(label("host 7")[..8], *b"host 7\0\0");
/// assert_eq!(label("host\n7")[..8], *b"host\\n7\0");
/// ```
pub fn label(text: &str) -> [u8; LABEL_BYTES] {
    let mut label = Label { bytes: [0; LABEL_BYTES], len: 0 };
    // An error only says that the label is full.
    let _ = Showing(&mut label).write_str(text);
    label.bytes
}

/// Refuses a label from another party, if the label has a character that cannot be [shown](Shown) unescaped.
///
/// # Errors
/// `InvalidText`.
///
/// # Examples
/// ```
/// use snowmint_core::bytes::refuse_label;
/// assert!(refuse_label("web-3").is_ok());
/// assert_eq!(
///     refuse_label("web\u{1b}[2J").unwrap_err().to_string(),
///     "character 4 of the label is a control or format character, which a label cannot have: leave it out"
/// );
/// ```
pub fn refuse_label(text: &str) -> Result<(), Error> {
    place_of_hidden(text).map_or(Ok(()), |place| Err(Error::new(What::LabelCharacter, 0, place, 0)))
}

/// Returns the text of a label without padding. Empty, if it is not UTF-8.
pub fn label_text(label: &[u8; LABEL_BYTES]) -> Shown<&str> {
    Shown(str::from_utf8(label).unwrap_or_default().trim_end_matches('\0'))
}

/// A label that is being written. It takes whole characters until one does not fit.
struct Label {
    bytes: [u8; LABEL_BYTES],
    len: usize,
}

impl fmt::Write for Label {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|letter| {
            let room = self.bytes.get_mut(self.len..).filter(|room| room.len() >= letter.len_utf8());
            self.len += letter.encode_utf8(room.ok_or(fmt::Error)?).len();
            Ok(())
        })
    }
}

/// The first 12 bytes of a kind of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    mark: &'static [u8; 8],
    version: u32,
}

impl Format {
    /// Makes a format with this mark and version.
    pub const fn new(mark: &'static [u8; 8], version: u32) -> Self {
        Self { mark, version }
    }

    /// Begins a record of `N` bytes.
    pub fn write<const N: usize>(&self) -> Writer<N> {
        Writer { bytes: [0; N], len: 0 }.part(*self.mark).part(self.version.to_le_bytes())
    }

    /// Reads the mark and the version of a record of `N` bytes. More bytes may follow.
    ///
    /// # Errors
    /// `StoreUnavailable`, if the bytes are not a record of this format, or have a later version of it.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ErrorKind;
    /// use snowmint_core::bytes::Format;
    /// let format = Format::new(b"examples", 1);
    /// assert_eq!(format.read::<24>(b"garbage").unwrap_err().kind(), ErrorKind::StoreUnavailable);
    /// ```
    pub fn read<'a, const N: usize>(&self, bytes: &'a [u8]) -> Result<Reader<'a>, Error> {
        let rest = bytes.strip_prefix(self.mark).ok_or(NO_RECORD)?;
        let mut reader = Reader { rest };
        let version = u32::from_le_bytes(reader.part()?);
        if version > self.version {
            return Err(Error::new(What::LaterRecord, 0, u64::from(version), u64::from(self.version)));
        }
        if version < self.version || bytes.len() < N { Err(NO_RECORD) } else { Ok(reader) }
    }
}

const NO_RECORD: Error = Error::no_record();

/// A record that is being written.
#[derive(Clone, Copy, Debug)]
pub struct Writer<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Writer<N> {
    /// Appends a part.
    ///
    /// # Panics
    /// If the record has no room for the part.
    #[must_use]
    pub fn part<const L: usize>(mut self, part: [u8; L]) -> Self {
        self.bytes[self.len..self.len + L].copy_from_slice(&part);
        self.len += L;
        self
    }

    /// Returns the bytes of the record. Bytes after the last part are zero.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::bytes::Format;
    /// let bytes: [u8; 16] = Format::new(b"examples", 1).write().part([7, 8]).finish();
    /// assert_eq!(bytes, *b"examples\x01\0\0\0\x07\x08\0\0");
    /// ```
    pub const fn finish(self) -> [u8; N] {
        self.bytes
    }
}

/// The parts of a record that are not read yet.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    /// Reads the next part.
    ///
    /// # Errors
    /// `StoreUnavailable`, if the record ends before.
    pub fn part<const L: usize>(&mut self) -> Result<[u8; L], Error> {
        let (part, rest) = self.rest.split_first_chunk().ok_or(NO_RECORD)?;
        self.rest = rest;
        Ok(*part)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::{String, ToString};

    use super::*;

    const FORMAT: Format = Format::new(b"examples", 2);

    fn read(bytes: &[u8]) -> Result<u64, String> {
        let read = FORMAT.read::<20>(bytes).and_then(|mut parts| parts.part().map(u64::from_le_bytes));
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn parts_survive_and_the_rest_is_zero() {
        let bytes: [u8; 24] = FORMAT.write().part(7u64.to_le_bytes()).finish();
        assert_eq!(&bytes, b"examples\x02\0\0\0\x07\0\0\0\0\0\0\0\0\0\0\0");
        assert_eq!(read(&bytes), Ok(7));
        assert_eq!(read(&bytes[..20]), Ok(7), "more bytes may follow");
    }

    #[test]
    fn a_later_version_of_any_length_is_named() {
        let later = "the record has version 3, and this snowmint reads up to 2: update snowmint";
        assert_eq!(read(b"examples\x03\0\0\0"), Err(later.to_string()));
        assert_eq!(read(&[&b"examples\x03\0\0\0"[..], &[0; 100]].concat()), Err(later.to_string()));
    }

    #[test]
    fn other_bytes_are_not_a_record() {
        let other = Err("the value in the store is not a record of snowmint".to_string());
        for bytes in
            [&b""[..], b"examples", b"examples\x02\0\0", b"examples\x02\0\0\0\x07\0\0\0\0\0\0", b"Examples\x02\0\0\0"]
        {
            assert_eq!(read(bytes), other, "{bytes:?}");
        }
        let mut earlier: [u8; 20] = FORMAT.write().finish();
        earlier[8] = 1;
        assert_eq!(read(&earlier), other);
    }

    #[test]
    fn a_label_is_cut_between_characters() {
        let label_of = |text: &str| String::from_utf8(label(text).to_vec()).expect("whole characters");
        assert_eq!(label_of("a").trim_end_matches('\0'), "a");
        assert_eq!(label_of(&"é".repeat(40)), "é".repeat(30));
        assert_eq!(label_of(&std::format!("x{}", "é".repeat(40))).trim_end_matches('\0').len(), 59);
        assert_eq!(label_of("web\u{1b}[2J").trim_end_matches('\0'), r"web\u{1b}[2J");
    }

    #[test]
    fn a_label_of_another_program_is_shown_without_control_characters() {
        let mut label = [0; LABEL_BYTES];
        label[..8].copy_from_slice(b"web\x1b[2J\n");
        assert_eq!(label_text(&label).to_string(), r"web\u{1b}[2J\n");
        label[0] = 0xff;
        assert!(label_text(&label).is_empty());
    }
}
