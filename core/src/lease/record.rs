//! The record of a node in a store.

use crate::error::{Error, What};
use crate::forms::shown::Shown;
use crate::layout::Layout;
use crate::mutant;
use crate::store::bytes::{Format, LABEL_BYTES, label_text};
use crate::window::Window;

/// Length of a record in bytes.
pub const RECORD_BYTES: usize = 124;

const FORMAT: Format = Format::new(b"snowmint", 1);

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
/// | 116 to 123 | identity of the layout, or zero |
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
    /// The [label](crate::bytes::label) of the holder, padded with zeros.
    pub label: [u8; LABEL_BYTES],
    /// The [identity](crate::layout::LayoutId::identity) of the layout; 0 in records of earlier versions.
    pub layout: u64,
}

impl Record {
    /// Returns the label without padding, for people. Empty, if it is not UTF-8.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Window;
    /// use snowmint_core::bytes::label;
    /// use snowmint_core::lease::Record;
    /// let window = Window { start_ms: 0, end_ms: 3000 };
    /// let record = Record { released: false, serial: 1, window, nonce: 0x5eed, label: label("host 7"), layout: 0 };
    /// assert_eq!(record.label_text().to_string(), "host 7");
    /// ```
    pub fn label_text(&self) -> Shown<&str> {
        label_text(&self.label)
    }

    /// Refuses a record of another layout: the two layouts could give the same ID.
    ///
    /// # Errors
    /// `InvalidLayout`.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Window;
    /// use snowmint_core::bytes::label;
    /// use snowmint_core::layouts::{LEAF, SNOWMINT};
    /// use snowmint_core::lease::Record;
    /// let (window, layout) = (Window { start_ms: 0, end_ms: 3000 }, SNOWMINT.layout_id().identity());
    /// let record = Record { released: false, serial: 1, window, nonce: 0x5eed, label: label("host 7"), layout };
    /// assert!(record.refuse_other_layout(&SNOWMINT).is_ok());
    /// assert!(record.refuse_other_layout(&LEAF).is_err());
    /// ```
    pub fn refuse_other_layout(&self, layout: &Layout) -> Result<(), Error> {
        if [0, layout.layout_id().identity()].contains(&self.layout) || mutant::removes("layout") {
            Ok(())
        } else {
            Err(Error::plain(What::OtherLayout))
        }
    }

    /// Returns the bytes of this record.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Window;
    /// use snowmint_core::bytes::label;
    /// use snowmint_core::lease::{RECORD_BYTES, Record};
    /// let window = Window { start_ms: 1_772_323_200_000, end_ms: 1_772_323_203_000 };
    /// let record = Record { released: false, serial: 1, window, nonce: 0x5eed, label: label("host 7"), layout: 0 };
    /// let bytes = record.to_bytes();
    /// assert_eq!(bytes.len(), RECORD_BYTES);
    /// assert_eq!(Record::from_bytes(&bytes)?, record);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn to_bytes(&self) -> [u8; RECORD_BYTES] {
        FORMAT
            .write()
            .part(u32::from(self.released).to_le_bytes())
            .part(self.serial.to_le_bytes())
            .part(self.window.start_ms.to_le_bytes())
            .part(self.window.end_ms.to_le_bytes())
            .part(self.nonce.to_le_bytes())
            .part(self.label)
            .part(self.layout.to_le_bytes())
            .finish()
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
        let mut parts = FORMAT.read::<RECORD_BYTES>(bytes)?;
        Ok(Self {
            released: u32::from_le_bytes(parts.part()?) != 0,
            serial: u64::from_le_bytes(parts.part()?),
            window: Window { start_ms: i64::from_le_bytes(parts.part()?), end_ms: i64::from_le_bytes(parts.part()?) },
            nonce: u128::from_le_bytes(parts.part()?),
            label: parts.part()?,
            layout: u64::from_le_bytes(parts.part()?),
        })
    }

    /// Returns whether a holder may mint with this record at `now_ms` (Unix ms): it did not give the node back, and its window
    /// is not over.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Window;
    /// use snowmint_core::bytes::label;
    /// use snowmint_core::lease::Record;
    /// let window = Window { start_ms: 0, end_ms: 3000 };
    /// let record = Record { released: false, serial: 1, window, nonce: 0x5eed, label: label("host 7"), layout: 0 };
    /// assert!(record.is_live(2999) && !record.is_live(3000));
    /// assert!(!Record { released: true, ..record }.is_live(2999));
    /// ```
    pub const fn is_live(&self, now_ms: i64) -> bool {
        !self.released && self.window.end_ms > now_ms
    }

    /// Returns whether the claimer with this nonce holds the node and has not released it.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Window;
    /// use snowmint_core::bytes::label;
    /// use snowmint_core::lease::Record;
    /// let window = Window { start_ms: 0, end_ms: 3000 };
    /// let record = Record { released: false, serial: 1, window, nonce: 0x5eed, label: label("host 7"), layout: 0 };
    /// assert!(record.is_held_by(0x5eed) && !record.is_held_by(0xbad));
    /// assert!(!Record { released: true, ..record }.is_held_by(0x5eed));
    /// ```
    pub const fn is_held_by(&self, nonce: u128) -> bool {
        self.nonce == nonce && !self.released
    }
}
