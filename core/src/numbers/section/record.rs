//! The record of a section in a store, and the users of a section.

use core::num::NonZeroU32;

use crate::error::{Error, What};
use crate::int::Integer;
use crate::numbers::segment::LAST;
use crate::store::bytes::{Format, LABEL_BYTES};

/// The default number of users in a section, as in `WeChat`'s seqsvr.
pub const SIZE: NonZeroU32 = NonZeroU32::new(100_000).expect("not zero");
/// The largest number of users in a section.
pub const MAX_SIZE: u32 = 1_000_000;
/// The default memory of an allocator for its users, in bytes.
pub const MEMORY_BYTES: u64 = 64 << 20;
/// The least memory of an allocator for its users, in bytes: some hundred sections with some users each.
pub const MIN_MEMORY_BYTES: u64 = 1 << 20;
/// The length of a record in bytes.
pub const RECORD_BYTES: usize = 128;

const FORMAT: Format = Format::new(b"sections", 1);

/// The users of one section: a range of ids.
///
/// # Examples
/// ```
/// use snowmint_core::Integer;
/// use snowmint_core::section::{SIZE, Users};
/// let users = Users::of(Integer::from(250_000), SIZE)?;
/// assert_eq!((users.number(), users.first(), users.last()), (2, 200_000, 299_999));
/// # Ok::<(), snowmint_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Users {
    first: u64,
    size: NonZeroU32,
}

impl Users {
    /// Returns the section of a user, if each section has `size` users. User ids are 0 to 2^64-1.
    ///
    /// # Errors
    /// `InvalidId` for any other user, and for a size above [`MAX_SIZE`].
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// use snowmint_core::section::{SIZE, Users};
    /// assert_eq!(Users::of(Integer::from(99_999), SIZE)?.last(), 99_999);
    /// assert_eq!(Users::of(Integer::from(100_000), SIZE)?.first(), 100_000);
    /// assert!(Users::of(Integer::from(-1), SIZE).is_err());
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn of(user: Integer, size: NonZeroU32) -> Result<Self, Error> {
        if size.get() > MAX_SIZE {
            return Err(Error::new(What::SectionSize, 0, MAX_SIZE as u64, size.get() as u64));
        }
        match user {
            Integer::Fits(user) => Ok(Self { first: user - user % size.get() as u64, size }),
            given => Err(given.refused(What::User, 0)),
        }
    }

    /// Returns the number of the section, from 0. It is part of the key of the record.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// use snowmint_core::section::{SIZE, Users};
    /// assert_eq!(Users::of(Integer::from(250_000), SIZE)?.number(), 2);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn number(&self) -> u64 {
        self.first / self.size.get() as u64
    }

    /// Returns the first user.
    pub const fn first(&self) -> u64 {
        self.first
    }

    /// Returns the last user.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::Integer;
    /// use snowmint_core::section::{SIZE, Users};
    /// let users = Users::of(Integer::from(250_000), SIZE)?;
    /// assert_eq!((users.first(), users.last()), (200_000, 299_999));
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub const fn last(&self) -> u64 {
        self.first.saturating_add(self.size.get() as u64 - 1)
    }

    /// Returns the number of users, which is also the length of a slice as a [`Section`](super::Section)'s memory.
    pub const fn size(&self) -> NonZeroU32 {
        self.size
    }

    /// Returns the place of a user in the section, from 0.
    pub(super) fn place(&self, user: Integer) -> Result<usize, Error> {
        match user {
            Integer::Fits(id) if (self.first..=self.last()).contains(&id) => Ok((id - self.first) as usize),
            given => Err(given.refused(What::User, 0)),
        }
    }
}

/// The record of a section in a store.
///
/// | bytes | content, little-endian |
/// | --- | --- |
/// | 0 to 7 | `sections` |
/// | 8 to 11 | the version of this format |
/// | 12 to 15 | 1 if the holder has given the section back, else 0 |
/// | 16 to 31 | the token of the holder |
/// | 32 to 39 | `max_seq` |
/// | 40 to 47 | `renewals` |
/// | 48 to 55 | `window_ms` |
/// | 56 to 63, 64 to 67 | the first user, and the number of users |
/// | 68 to 127 | the label of the holder, in UTF-8, for people and clients |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Whether the holder has given the section back.
    pub released: bool,
    /// The identity of the holder: random, and new for each claim.
    pub token: u128,
    /// The high-water mark: every number that users were given is at most this, 0 to 2^63-1.
    pub max_seq: u64,
    /// How often holders have tried to write. It makes all writes of a holder differ.
    pub renewals: u64,
    /// How long a successor waits for a holder that does not renew, in ms.
    pub window_ms: u64,
    /// The users.
    pub users: Users,
    /// The [label](crate::bytes::label) of the holder, such as its address, padded with zeros.
    pub label: [u8; LABEL_BYTES],
}

impl Record {
    /// Returns the bytes of this record.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{Integer, bytes};
    /// use snowmint_core::section::{RECORD_BYTES, Record, SIZE, Users};
    /// let record = Record {
    ///     released: false,
    ///     token: 0x5eed,
    ///     max_seq: 10_000,
    ///     renewals: 1,
    ///     window_ms: 10_000,
    ///     users: Users::of(Integer::from(42), SIZE)?,
    ///     label: bytes::label("allocator 1"),
    /// };
    /// let bytes = record.to_bytes();
    /// assert_eq!(bytes.len(), RECORD_BYTES);
    /// assert_eq!(Record::from_bytes(&bytes)?, record);
    /// # Ok::<(), snowmint_core::Error>(())
    /// ```
    pub fn to_bytes(&self) -> [u8; RECORD_BYTES] {
        FORMAT
            .write()
            .part(u32::from(self.released).to_le_bytes())
            .part(self.token.to_le_bytes())
            .part(self.max_seq.to_le_bytes())
            .part(self.renewals.to_le_bytes())
            .part(self.window_ms.to_le_bytes())
            .part(self.users.first.to_le_bytes())
            .part(self.users.size.get().to_le_bytes())
            .part(self.label)
            .finish()
    }

    /// Reads a record.
    ///
    /// # Errors
    /// `StoreUnavailable`, if the bytes are not a record, or have a later version of this format.
    ///
    /// # Examples
    /// ```
    /// use snowmint_core::{ErrorKind, section::Record};
    /// assert_eq!(Record::from_bytes(b"garbage").unwrap_err().kind(), ErrorKind::StoreUnavailable);
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let no_record = Error::plain(What::NoRecord);
        let mut parts = FORMAT.read::<RECORD_BYTES>(bytes)?;
        let released = u32::from_le_bytes(parts.part()?) != 0;
        let token = u128::from_le_bytes(parts.part()?);
        let max_seq = u64::from_le_bytes(parts.part()?);
        let renewals = u64::from_le_bytes(parts.part()?);
        let window_ms = u64::from_le_bytes(parts.part()?);
        let first = u64::from_le_bytes(parts.part()?);
        let size = NonZeroU32::new(u32::from_le_bytes(parts.part()?)).ok_or(no_record)?;
        let users = Users::of(Integer::Fits(first), size)?;
        if users.first != first || max_seq > LAST {
            return Err(no_record);
        }
        Ok(Self { released, token, max_seq, renewals, window_ms, users, label: parts.part()? })
    }
}
