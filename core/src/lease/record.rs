//! The record of a node in a store.

use crate::error::{Error, What};
use crate::window::Window;

/// Length of a record in bytes.
pub const RECORD_BYTES: usize = 124;
/// Most bytes of a label.
pub const LABEL_BYTES: usize = 60;

const MAGIC: &[u8; 8] = b"snowmint";
const VERSION: u32 = 1;

/// The holder of a node, and the end of its window.
///
/// | bytes | content, little-endian |
/// | --- | --- |
/// | 0 to 7 | `snowmint` |
/// | 8 to 11 | version of this format |
/// | 12 to 15 | 1 if the holder has released the node, else 0 |
/// | 16 to 23 | count of writes of this record |
/// | 24 to 31, 32 to 39 | start and end of the window, Unix ms |
/// | 40 to 55 | nonce of the holder |
/// | 56 to 115 | label of the holder, UTF-8 |
/// | 116 to 123 | zero |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Whether the holder has released the node.
    pub released: bool,
    /// Count of writes of this record.
    pub serial: u64,
    /// The window. No ID of this node lies at or past its end.
    pub window: Window,
    /// The random identity of the holder, new for each claim.
    pub nonce: u128,
    /// A name of the holder that people can read, padded with zeros.
    pub label: [u8; LABEL_BYTES],
}

impl Record {
    /// Returns a label, cut to [`LABEL_BYTES`] at the end of a character.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::lease::Record;
    /// assert_eq!(Record::label("host 7")[..8], *b"host 7\0\0");
    /// ```
    pub fn label(text: &str) -> [u8; LABEL_BYTES] {
        let mut label = [0; LABEL_BYTES];
        let end = (0..=LABEL_BYTES).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
        label[..end].copy_from_slice(&text.as_bytes()[..end]);
        label
    }

    /// Returns the label without padding. Empty, if it is not UTF-8.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Window;
    /// use snowmint_core::lease::Record;
    /// let window = Window { start_ms: 0, end_ms: 3000 };
    /// let record = Record { released: false, serial: 1, window, nonce: 0x5eed, label: Record::label("host 7") };
    /// assert_eq!(record.label_text(), "host 7");
    /// ```
    pub fn label_text(&self) -> &str {
        str::from_utf8(&self.label).unwrap_or_default().trim_end_matches('\0')
    }

    /// Returns the bytes of this record.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Window;
    /// use snowmint_core::lease::{RECORD_BYTES, Record};
    /// let window = Window { start_ms: 1_772_323_200_000, end_ms: 1_772_323_203_000 };
    /// let record = Record { released: false, serial: 1, window, nonce: 0x5eed, label: Record::label("host 7") };
    /// let bytes = record.to_bytes();
    /// assert_eq!(bytes.len(), RECORD_BYTES);
    /// assert_eq!(Record::from_bytes(&bytes)?, record);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn to_bytes(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&u32::from(self.released).to_le_bytes());
        bytes[16..24].copy_from_slice(&self.serial.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.window.start_ms.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.window.end_ms.to_le_bytes());
        bytes[40..56].copy_from_slice(&self.nonce.to_le_bytes());
        bytes[56..56 + LABEL_BYTES].copy_from_slice(&self.label);
        bytes
    }

    /// Reads a record.
    ///
    /// # Errors
    /// `StoreUnavailable`, if the bytes are not a record, or a record of a later version.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{ErrorKind, lease::Record};
    /// assert_eq!(Record::from_bytes(b"garbage").unwrap_err().kind(), ErrorKind::StoreUnavailable);
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let Some(bytes) = bytes.first_chunk::<RECORD_BYTES>().filter(|bytes| bytes.starts_with(MAGIC)) else {
            return Err(Error::plain(What::NoRecord));
        };
        let version = u32::from_le_bytes(part(bytes, 8));
        if version != VERSION {
            return Err(Error::new(What::LaterRecord, 0, u64::from(version), u64::from(VERSION)));
        }
        Ok(Self {
            released: u32::from_le_bytes(part(bytes, 12)) != 0,
            serial: u64::from_le_bytes(part(bytes, 16)),
            window: Window {
                start_ms: i64::from_le_bytes(part(bytes, 24)),
                end_ms: i64::from_le_bytes(part(bytes, 32)),
            },
            nonce: u128::from_le_bytes(part(bytes, 40)),
            label: part(bytes, 56),
        })
    }

    /// Returns whether the claimer with this nonce holds the node and has not released it.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Window;
    /// use snowmint_core::lease::Record;
    /// let window = Window { start_ms: 0, end_ms: 3000 };
    /// let record = Record { released: false, serial: 1, window, nonce: 0x5eed, label: Record::label("host 7") };
    /// assert!(record.is_held_by(0x5eed) && !record.is_held_by(0xbad));
    /// assert!(!Record { released: true, ..record }.is_held_by(0x5eed));
    /// ```
    pub const fn is_held_by(&self, nonce: u128) -> bool {
        self.nonce == nonce && !self.released
    }
}

fn part<const N: usize>(bytes: &[u8; RECORD_BYTES], from: usize) -> [u8; N] {
    let mut part = [0; N];
    part.copy_from_slice(&bytes[from..from + N]);
    part
}
