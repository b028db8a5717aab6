//! Settings that must never change, because numbers would repeat under other settings.
//!
//! The first process to start writes a [`Pin`] to the store. A process that starts later with other settings is
//! refused.
//!
//! ```
//! use snowmint_core::pin::Pin;
//! use snowmint_core::section::SIZE;
//! use snowmint_core::store::{Ask, Next, Reply};
//!
//! let pin = Pin::Sections(SIZE);
//! assert_eq!(pin.next(None)?, Next::Ask(Ask::Read));
//! assert_eq!(pin.next(Some(Reply::Record(None, 0)))?, Next::Ask(Ask::Write(pin, 0)));
//! assert_eq!(pin.next(Some(Reply::Written(1)))?, Next::Done(()));
//! // The next process finds the record.
//! assert_eq!(pin.next(Some(Reply::Record(Some(pin), 1)))?, Next::Done(()));
//! # Ok::<(), snowmint_core::Error>(())
//! ```

use core::num::NonZeroU32;

use crate::error::{Error, What};
use crate::mutant;
use crate::store::bytes::Format;
use crate::store::{Ask, Next, Reply};

/// The length of a record in bytes.
pub const RECORD_BYTES: usize = 32;

const FORMAT: Format = Format::new(b"settings", 1);
const SECTIONS: u32 = 1;
const TICKETS: u32 = 2;

/// Settings that are pinned in a store.
///
/// | bytes | content, little-endian |
/// | --- | --- |
/// | 0 to 7 | `settings` |
/// | 8 to 11 | the version of this format: 1 |
/// | 12 to 15 | 1 for sections of users, 2 for tickets |
/// | 16 to 23 | the users of a section, or the increment of tickets |
/// | 24 to 31 | 0, or the offset of this store's tickets |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pin {
    /// The number of users in a section.
    Sections(NonZeroU32),
    /// The stores of the tickets of a name.
    Tickets {
        /// The number of stores.
        increment: u32,
        /// The place of this store among them, from 1.
        offset: u32,
    },
}

impl Pin {
    /// Advances the check at the start of a process. Pass `None` on the first call, then the store's reply to the last
    /// request.
    ///
    /// After a write without a reply it reads the record again.
    ///
    /// # Errors
    /// `InvalidId`, if other settings are pinned; the message names both.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ErrorKind;
    /// use snowmint_core::pin::Pin;
    /// use snowmint_core::store::Reply;
    /// let (two, three) = (Pin::Tickets { increment: 2, offset: 1 }, Pin::Tickets { increment: 3, offset: 1 });
    /// // An earlier process wrote other settings.
    /// let error = three.next(Some(Reply::Record(Some(two), 1))).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::InvalidId);
    /// ```
    pub fn next(self, reply: Option<Reply<Self>>) -> Result<Next<(), Self>, Error> {
        match reply {
            Some(Reply::Record(Some(found), _)) => self.refuse_other(found).map(Next::Done),
            Some(Reply::Record(None, version)) => Ok(Next::Ask(Ask::Write(self, version))),
            Some(Reply::Written(_)) => Ok(Next::Done(())),
            _ => Ok(Next::Ask(Ask::Read)),
        }
    }

    /// Refuses these settings, if others are pinned.
    ///
    /// # Errors
    /// `InvalidId`; the message names both settings. `StoreUnavailable`, if the record pins settings of another kind.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::ErrorKind;
    /// use snowmint_core::pin::Pin;
    /// let two = Pin::Tickets { increment: 2, offset: 1 };
    /// assert_eq!(two.refuse_other(two), Ok(()));
    /// let three = Pin::Tickets { increment: 3, offset: 1 };
    /// assert_eq!(three.refuse_other(two).unwrap_err().kind(), ErrorKind::InvalidId);
    /// ```
    pub fn refuse_other(self, pinned: Self) -> Result<(), Error> {
        let refused = |what, pinned: u32, wanted: u32| Err(Error::new(what, 0, pinned.into(), wanted.into()));
        match (pinned, self) {
            _ if pinned == self || mutant::removes("pin") => Ok(()),
            (Self::Sections(pinned), Self::Sections(wanted)) => refused(What::PinnedSize, pinned.get(), wanted.get()),
            (Self::Tickets { increment: pinned, .. }, Self::Tickets { increment: wanted, .. }) if pinned != wanted => {
                refused(What::PinnedStores, pinned, wanted)
            }
            (Self::Tickets { offset: pinned, .. }, Self::Tickets { offset: wanted, .. }) => {
                refused(What::PinnedPlace, pinned, wanted)
            }
            _ => Err(Error::plain(What::NoRecord)),
        }
    }

    /// Returns the bytes of this record.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::pin::{Pin, RECORD_BYTES};
    /// let pin = Pin::Tickets { increment: 2, offset: 1 };
    /// assert_eq!(pin.to_bytes().len(), RECORD_BYTES);
    /// assert_eq!(Pin::from_bytes(&pin.to_bytes())?, pin);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn to_bytes(&self) -> [u8; RECORD_BYTES] {
        let (kind, first, second) = match *self {
            Self::Sections(size) => (SECTIONS, size.get(), 0),
            Self::Tickets { increment, offset } => (TICKETS, increment, offset),
        };
        let kind = FORMAT.write().part(kind.to_le_bytes());
        kind.part(u64::from(first).to_le_bytes()).part(u64::from(second).to_le_bytes()).finish()
    }

    /// Reads a record.
    ///
    /// # Errors
    /// `StoreUnavailable`, if the bytes are not a record, or have a later version of this format.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{ErrorKind, pin::Pin};
    /// assert_eq!(Pin::from_bytes(b"garbage").unwrap_err().kind(), ErrorKind::StoreUnavailable);
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut parts = FORMAT.read::<RECORD_BYTES>(bytes)?;
        let kind = u32::from_le_bytes(parts.part()?);
        let first = u32::try_from(u64::from_le_bytes(parts.part()?)).ok().and_then(NonZeroU32::new);
        let second = u32::try_from(u64::from_le_bytes(parts.part()?)).ok();
        match (kind, first, second) {
            (SECTIONS, Some(size), Some(0)) => Ok(Self::Sections(size)),
            (TICKETS, Some(increment), Some(offset)) if (1..=increment.get()).contains(&offset) => {
                Ok(Self::Tickets { increment: increment.get(), offset })
            }
            _ => Err(Error::plain(What::NoRecord)),
        }
    }
}
