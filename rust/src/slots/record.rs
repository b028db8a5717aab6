//! The bytes of a slot file: the same record twice, each with a checksum.
//!
//! A record is written and synced at one place before it is written at the other, so at any moment at least one of them is
//! whole, and once both writes are done the loss of either loses nothing.

use std::fmt;

/// Length of a record in bytes.
pub const RECORD_BYTES: usize = 128;
/// The places of the two records, in separate blocks: a torn write tears one of them only.
pub const PLACES: [usize; 2] = [0, 4096];

const MAGIC: &[u8; 8] = b"snowmint";
const VERSION: u32 = 1;
const LABEL_BYTES: usize = 60;

/// The record that a holder writes before it mints.
///
/// | bytes | content, little-endian |
/// | --- | --- |
/// | 0 to 7 | `snowmint` |
/// | 8 to 11 | version of this format |
/// | 12 to 15 | zero |
/// | 16 to 23 | serial number: the record with the higher one counts |
/// | 24 to 31, 32 to 39 | start and end of the window, Unix ms |
/// | 40 to 55 | nonce of the holder |
/// | 56 to 115 | label of the holder, UTF-8 |
/// | 116 to 123 | zero |
/// | 124 to 127 | CRC-32 of the bytes before |
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Counts the records written.
    pub serial: u64,
    /// The start of the window, Unix ms.
    pub start_ms: i64,
    /// The end of the window, Unix ms: no ID of this node lies at or past it.
    pub end_ms: i64,
    /// The random identity of the holder, new for each claim.
    pub nonce: u128,
    /// A name of the holder that people can read, padded with zeros.
    pub label: [u8; LABEL_BYTES],
}

/// Why bytes are not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The bytes are torn, truncated or something else.
    Invalid,
    /// The bytes are a record of a later version.
    Newer(u32),
}

impl Record {
    /// Returns a label, cut to 60 bytes at the end of a character.
    pub fn label(text: &str) -> [u8; LABEL_BYTES] {
        let mut label = [0; LABEL_BYTES];
        let end = (0..=LABEL_BYTES).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
        label[..end].copy_from_slice(&text.as_bytes()[..end]);
        label
    }

    /// Returns the label as text.
    pub fn label_text(&self) -> String {
        String::from_utf8_lossy(&self.label).trim_end_matches('\0').to_owned()
    }

    /// Returns the bytes of this record.
    pub fn to_bytes(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.serial.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.start_ms.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.end_ms.to_le_bytes());
        bytes[40..56].copy_from_slice(&self.nonce.to_le_bytes());
        bytes[56..56 + LABEL_BYTES].copy_from_slice(&self.label);
        let sum = crc32fast::hash(&bytes[..124]);
        bytes[124..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads a record from the start of `bytes`.
    ///
    /// # Errors
    /// The fault of the bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Fault> {
        let bytes = bytes.first_chunk::<RECORD_BYTES>().ok_or(Fault::Invalid)?;
        if !bytes.starts_with(MAGIC) {
            return Err(Fault::Invalid);
        }
        let version = u32::from_le_bytes(part(bytes, 8));
        if version > VERSION {
            return Err(Fault::Newer(version));
        }
        if version < VERSION {
            return Err(Fault::Invalid);
        }
        if u32::from_le_bytes(part(bytes, 124)) != crc32fast::hash(&bytes[..124]) {
            return Err(Fault::Invalid);
        }
        Ok(Self {
            serial: u64::from_le_bytes(part(bytes, 16)),
            start_ms: i64::from_le_bytes(part(bytes, 24)),
            end_ms: i64::from_le_bytes(part(bytes, 32)),
            nonce: u128::from_le_bytes(part(bytes, 40)),
            label: part(bytes, 56),
        })
    }

    /// Returns the valid record with the higher serial number of a slot file, or `None` if the file is empty.
    ///
    /// # Errors
    /// The fault of a file without a valid record, or with one of a later version.
    pub fn latest(file: &[u8]) -> Result<Option<Self>, Fault> {
        if file.is_empty() {
            return Ok(None);
        }
        let read = |place: usize| Self::from_bytes(file.get(place..).unwrap_or_default());
        match PLACES.map(read) {
            [Err(newer @ Fault::Newer(_)), _] | [_, Err(newer @ Fault::Newer(_))] => Err(newer),
            [Ok(first), Ok(second)] => Ok(Some(if second.serial > first.serial { second } else { first })),
            [Ok(whole), Err(_)] | [Err(_), Ok(whole)] => Ok(Some(whole)),
            [Err(_), Err(_)] => Err(Fault::Invalid),
        }
    }
}

fn part<const N: usize>(bytes: &[u8; RECORD_BYTES], from: usize) -> [u8; N] {
    let mut part = [0; N];
    part.copy_from_slice(&bytes[from..from + N]);
    part
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { serial, start_ms, end_ms, .. } = self;
        write!(f, "Record({serial}: {start_ms} to {end_ms} by {})", self.label_text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(serial: u64, end_ms: i64) -> Record {
        Record { serial, start_ms: -1, end_ms, nonce: u128::MAX - 5, label: Record::label("gunicorn:4711") }
    }

    fn file(first: &[u8], second: &[u8]) -> Vec<u8> {
        let mut bytes = first.to_vec();
        bytes.resize(4096, 0);
        bytes.extend(second);
        bytes
    }

    #[test]
    fn a_record_survives_its_bytes_and_any_changed_bit_is_noticed() {
        let bytes = record(7, i64::MIN).to_bytes();
        assert_eq!(Record::from_bytes(&bytes), Ok(record(7, i64::MIN)));
        for bit in 0..RECORD_BYTES * 8 {
            let mut torn = bytes;
            torn[bit / 8] ^= 1 << (bit % 8);
            assert!(Record::from_bytes(&torn).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn the_later_whole_record_counts_and_one_may_be_torn() {
        let (old, new) = (record(7, 100).to_bytes(), record(8, 200).to_bytes());
        let latest = |bytes: &[u8]| Record::latest(bytes).map(|record| record.map(|record| record.end_ms));
        assert_eq!(latest(&[]), Ok(None));
        assert_eq!(latest(&file(&old, &new)), Ok(Some(200)));
        assert_eq!(latest(&file(&new, &old)), Ok(Some(200)));
        assert_eq!(latest(&file(&new[..60], &old)), Ok(Some(100)));
        assert_eq!(latest(&file(&old, &new[..60])), Ok(Some(100)));
        assert_eq!(latest(&old), Ok(Some(100)));
        assert_eq!(latest(&old[..127]), Err(Fault::Invalid));
        assert_eq!(latest(&[0; 8192]), Err(Fault::Invalid));
    }

    #[test]
    fn a_later_version_is_refused_whatever_its_checksum() {
        let mut bytes = record(1, 1).to_bytes();
        bytes[8] = 2;
        assert_eq!(Record::latest(&file(&record(9, 9).to_bytes(), &bytes)), Err(Fault::Newer(2)));
    }

    #[test]
    fn a_label_is_cut_between_characters() {
        let label = Record::label(&"é".repeat(40));
        assert_eq!(String::from_utf8_lossy(&label).trim_end_matches('\0').chars().count(), 30);
        assert_eq!(Record::label(&format!("x{}", "é".repeat(40)))[59], 0);
    }
}
