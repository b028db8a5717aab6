//! The record of a sequence in a store.

use super::kind;
use crate::error::{Error, What};
use crate::store::bytes::Format;

/// The length of a record in bytes.
pub const STATE_BYTES: usize = 48;

const FORMAT: Format = Format::new(b"sequence", 1);

/// The record of a sequence in a store: how far the blocks of all sessions reach.
///
/// | bytes | content, little-endian |
/// | --- | --- |
/// | 0 to 7 | `sequence` |
/// | 8 to 11 | the version of this format |
/// | 12 to 15 | 1 if `last` is used, else 0 |
/// | 16 to 31 | `last`, signed |
/// | 32 to 39 | `round` |
/// | 40 to 47 | `sets` |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The last value of the last block, or the value that the sequence was set to; -2^63 to 2^64-1.
    pub last: i128,
    /// Whether `last` is used; otherwise it comes next. The word is `PostgreSQL`'s.
    pub is_called: bool,
    /// The number of completed cycles; `MariaDB`'s `cycle_count`.
    pub round: u64,
    /// How often the sequence has been set. A set whose reply was lost sees from it whether it was done.
    pub sets: u64,
}

impl State {
    /// Returns the bytes of this record.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::sequence::{STATE_BYTES, State};
    /// let state = State { last: 100, is_called: true, round: 0, sets: 0 };
    /// assert_eq!(state.to_bytes().len(), STATE_BYTES);
    /// assert_eq!(State::from_bytes(&state.to_bytes())?, state);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn to_bytes(&self) -> [u8; STATE_BYTES] {
        let state = FORMAT.write().part(u32::from(self.is_called).to_le_bytes()).part(self.last.to_le_bytes());
        state.part(self.round.to_le_bytes()).part(self.sets.to_le_bytes()).finish()
    }

    /// Reads a record.
    ///
    /// # Errors
    /// `StoreUnavailable`, if the bytes are not a record, or have a later version of this format.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{ErrorKind, sequence::State};
    /// assert_eq!(State::from_bytes(b"garbage").unwrap_err().kind(), ErrorKind::StoreUnavailable);
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut parts = FORMAT.read::<STATE_BYTES>(bytes)?;
        let is_called = u32::from_le_bytes(parts.part()?);
        let last = i128::from_le_bytes(parts.part()?);
        let (round, sets) = (u64::from_le_bytes(parts.part()?), u64::from_le_bytes(parts.part()?));
        if bytes.len() > STATE_BYTES || is_called > 1 || !kind::possible(last) {
            return Err(Error::plain(What::NoRecord));
        }
        Ok(Self { last, is_called: is_called == 1, round, sets })
    }
}
