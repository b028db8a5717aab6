//! The requests of the machines of this crate to a store, and the replies.
//!
//! A machine ([`sequence`](crate::sequence), [`segment`](crate::segment), [`section`](crate::section) and so on) is
//! pure: it returns its next request, and its driver passes the reply to the next call. The driver, in any language,
//! knows the store and the key. A store makes a write durable before it replies.

pub mod bytes;
pub mod durability;
pub mod pin;
pub mod place;

use core::fmt::{self, Write};

use crate::int::Integer;
use crate::mutant;

/// The version of a record, greater than 0. Each write gives the record a new version. 0 means that the record is
/// missing.
///
/// **A version never comes back**, also after the store lost records or was restored from a backup. A counted version
/// could: a writer that was suspended meanwhile would find its version again, and overwrite its successor's record.
pub type Version = u64;

/// Returns the version of a write over the version `expected`, from a random number: 1 to 2^52, which the numbers of every
/// language hold.
///
/// # Examples
/// ```
/// use snowmint_core::store::new_version;
/// assert_eq!((new_version(0, 0), new_version(7, u64::MAX)), (1, 1 << 52));
/// ```
pub fn new_version(expected: Version, random: u64) -> Version {
    if mutant::removes("versions") { expected.saturating_add(1) } else { (random >> 12) + 1 }
}

/// Returns an integer that a store of the caller answers as the version of a record, `None` if it is not a version: 1 to 2^53-1,
/// which the numbers of every language hold, and another one than the write expected; of a read `expected` is 0.
///
/// # Examples
/// ```
/// use snowmint_core::Integer;
/// use snowmint_core::store::version;
/// assert_eq!([0, 5, 7, 1 << 53].map(|answer: u64| version(answer.into(), 7)), [None, Some(5), None, None]);
/// ```
pub const fn version(answer: Integer, expected: Version) -> Option<Version> {
    match answer {
        // Versions are random, not ascending.
        Integer::Fits(version) if version > 0 && version < 1 << 53 && version != expected => Some(version),
        _ => None,
    }
}

/// The message about an answer that is not a version; `{answer}` is the place of the answer.
pub const NOT_A_VERSION: &str =
    "it answered {answer} as a version: a version is an integer from 1 to 2^53-1, and a new one after each write";

/// The default time that a call waits for a store, in ms.
pub const MAX_WAIT_MS: u64 = 1000;

/// A request of a machine to its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask<R> {
    /// Read the record: [`Reply::Record`].
    Read,
    /// Write this record, if the present record has this version: [`Reply::Written`] or [`Reply::Conflict`].
    Write(R, Version),
    /// Raise the counter by this number: [`Reply::Sum`] or [`Reply::Full`].
    Add(u64),
}

/// The reply of a store to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply<R> {
    /// The record and its version; `None` and 0 if the store has no record.
    Record(Option<R>, Version),
    /// The record is written and durable, with this version.
    Written(Version),
    /// The present record has another version: nothing was written.
    Conflict,
    /// The counter after the addition, which is durable.
    Sum(u64),
    /// The sum would exceed the counter's limit: the counter is unchanged.
    Full,
    /// The store did not answer: the request may have been carried out or not.
    Unknown,
}

/// The next step of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<T, R> {
    /// The call is complete, with this result.
    Done(T),
    /// Send this request to the store, and call again with the reply.
    Ask(Ask<R>),
}

/// Writes text as a part of a key. `a-z A-Z 0-9 _ -` and every dot but a leading one stay; other bytes become `%XX`.
///
/// So different names are different keys in every store, whatever its collation does with blanks, slashes or capitals.
///
/// # Examples
/// ```
/// use core::fmt::Write;
/// use snowmint_core::store::KeyPart;
/// let mut key = String::from("tickets/");
/// write!(KeyPart::new(&mut key), "a b/{}", 5)?;
/// assert_eq!(key, "tickets/a%20b%2F5");
/// # Ok::<(), core::fmt::Error>(())
/// ```
#[derive(Debug)]
pub struct KeyPart<'a, W> {
    key: &'a mut W,
    is_begun: bool,
}

impl<'a, W: Write> KeyPart<'a, W> {
    /// Begins a part at the end of the key.
    pub const fn new(key: &'a mut W) -> Self {
        Self { key, is_begun: false }
    }
}

impl<W: Write> Write for KeyPart<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' || (byte == b'.' && self.is_begun) {
                self.key.write_char(char::from(byte))?;
            } else {
                write!(self.key, "%{byte:02X}")?;
            }
            self.is_begun = true;
        }
        Ok(())
    }
}
